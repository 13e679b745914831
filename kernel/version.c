/* SPDX-License-Identifier: MIT */
/* Perch's own version; what uname(2) says to programs is in kernel/task/uts.c. */
#include "init.h"

const char perch_version[] = "0.1";
