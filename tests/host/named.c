/* SPDX-License-Identifier: MIT */
#include "sim.h"
const struct test named_tests[] = { { NULL, NULL } };
