/* SPDX-License-Identifier: MIT */
#ifndef PERCH_LIBC_STRINGS_H
#define PERCH_LIBC_STRINGS_H

#include <string.h>

#endif
