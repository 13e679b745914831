/* SPDX-License-Identifier: MIT */
/*
 * What the compiler calls when it meets undefined behaviour (-fsanitize=undefined, GCC 12): each handler
 * says in words what happened and where in the source, and ends the machine. The layouts of the
 * arguments are the compiler's (an ABI shared with LLVM's compiler-rt): a location, types, and the
 * values, which are in the argument itself when they fit into a register.
 */
#include <perch/printk.h>
#include <perch/types.h>
#include <stdio.h>

struct location {
	const char *file;
	u32 line, column;
};

struct type {
	u16 kind;		/* 0: integer, 1: floating point, else unknown */
	u16 info;		/* integer: bit 0 signed, the rest log2 of the width */
	char name[];		/* with quotes */
};

struct overflow_data { struct location loc; struct type *type; };
struct shift_data { struct location loc; struct type *left, *right; };
struct index_data { struct location loc; struct type *array, *index; };
struct mismatch_data { struct location loc; struct type *type; u8 log_align, kind; };
struct value_data { struct location loc; struct type *type; };
struct place_data { struct location loc; };
struct nonnull_data { struct location loc, attr; int arg; };

static const char *const access_name[] = {
	"load of", "store to", "reference binding to", "member access within", "member call on",
	"constructor call on", "downcast of", "downcast of", "upcast of", "cast to virtual base of",
	"_Nonnull binding to", "dynamic operation on",
};

#define HANDLER(name, ...)						\
	void __ubsan_handle_##name(__VA_ARGS__);			\
	void __ubsan_handle_##name(__VA_ARGS__)

#define REPORT(loc, fmt, ...)						\
	panic("UBSAN: %s:%u:%u: " fmt, (loc).file, (loc).line, (loc).column, ##__VA_ARGS__)

/* A value of type t as decimal text. Wider than a register: only that it is so. */
static const char *text(char buf[24], const struct type *t, u64 v)
{
	u32 bits = 1u << (t->info >> 1);

	if (t->kind)
		snprintf(buf, 24, "%#lx", (unsigned long)v);
	else if (bits > 64)
		snprintf(buf, 24, "(%u bits)", bits);
	else if (t->info & 1)
		snprintf(buf, 24, "%ld", (long)(s64)(v << (64 - bits)) >> (64 - bits));
	else
		snprintf(buf, 24, "%lu", (unsigned long)v);
	return buf;
}

static void overflow(struct overflow_data *d, const char *op, u64 a, u64 b)
{
	char x[24], y[24];

	REPORT(d->loc, "signed overflow: %s %s %s does not fit in %s", text(x, d->type, a), op,
	       text(y, d->type, b), d->type->name);
}

HANDLER(add_overflow, struct overflow_data *d, u64 a, u64 b) { overflow(d, "+", a, b); }
HANDLER(sub_overflow, struct overflow_data *d, u64 a, u64 b) { overflow(d, "-", a, b); }
HANDLER(mul_overflow, struct overflow_data *d, u64 a, u64 b) { overflow(d, "*", a, b); }
HANDLER(divrem_overflow, struct overflow_data *d, u64 a, u64 b) { overflow(d, "/", a, b); }

HANDLER(negate_overflow, struct overflow_data *d, u64 a)
{
	char x[24];

	REPORT(d->loc, "signed overflow: -(%s) does not fit in %s", text(x, d->type, a), d->type->name);
}

HANDLER(shift_out_of_bounds, struct shift_data *d, u64 a, u64 b)
{
	char x[24], y[24];

	REPORT(d->loc, "shift of %s (%s) by %s", text(x, d->left, a), d->left->name,
	       text(y, d->right, b));
}

HANDLER(out_of_bounds, struct index_data *d, u64 index)
{
	char x[24];

	REPORT(d->loc, "index %s is outside of %s", text(x, d->index, index), d->array->name);
}

HANDLER(type_mismatch_v1, struct mismatch_data *d, u64 ptr)
{
	u64 align = 1UL << d->log_align;
	const char *what = d->kind < ARRAY_SIZE(access_name) ? access_name[d->kind] : "use of";

	if (!ptr)
		REPORT(d->loc, "%s null pointer of type %s", what, d->type->name);
	if (ptr & (align - 1))
		REPORT(d->loc, "%s misaligned address %#lx for type %s, which wants %lu", what,
		       (unsigned long)ptr, d->type->name, (unsigned long)align);
	REPORT(d->loc, "%s address %#lx with too little space for %s", what, (unsigned long)ptr,
	       d->type->name);
}

HANDLER(pointer_overflow, struct place_data *d, u64 base, u64 result)
{
	REPORT(d->loc, "pointer %#lx wraps around to %#lx", (unsigned long)base, (unsigned long)result);
}

HANDLER(vla_bound_not_positive, struct value_data *d, u64 bound)
{
	char x[24];

	REPORT(d->loc, "an array of %s elements", text(x, d->type, bound));
}

HANDLER(load_invalid_value, struct value_data *d, u64 v)
{
	char x[24];

	REPORT(d->loc, "load of value %s, which is none of type %s", text(x, d->type, v),
	       d->type->name);
}

HANDLER(nonnull_arg, struct nonnull_data *d)
{
	REPORT(d->loc, "null pointer for argument %d, which must not be null", d->arg);
}

HANDLER(nonnull_return_v1, struct place_data *d, struct location *loc)
{
	REPORT(*loc, "null pointer returned where none may be");
}

HANDLER(builtin_unreachable, struct place_data *d)
{
	REPORT(d->loc, "code that cannot be reached was reached");
}

HANDLER(invalid_builtin, struct place_data *d)
{
	REPORT(d->loc, "zero given to a builtin that does not take it");
}
