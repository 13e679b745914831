/* SPDX-License-Identifier: MIT */
/* The kernel's own symbols, put into the image by the build (scripts/kallsyms). Any context. */
#ifndef PERCH_KALLSYMS_H
#define PERCH_KALLSYMS_H

#include <perch/types.h>

/* The i-th symbol by address: its nm(1) type letter and name. False past the last. */
bool kallsyms_get(u32 i, u64 *addr, char *type, const char **name);
/* The text symbol that contains addr: name, start and size (to the next symbol). NULL if none. */
const char *kallsyms_lookup(u64 addr, u64 *start, u64 *size);

#endif
