/* SPDX-License-Identifier: MIT */
/*
 * perfdiff's attributes: one that opens, and then none to four fields changed to values at the edge of what is
 * allowed. So most calls get past the first checks, and many have exactly one mistake or two, whose order counts.
 */
#ifndef PERFDIFF_ATTR_H
#define PERFDIFF_ATTR_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint64_t u64;
typedef uint32_t u32;

/* The build machine's header may be older than Linux 6.12: the structure has 136 bytes, the last 8 are config3. */
#define ATTR_WORDS 17
union wide {
	struct perf_event_attr a;
	u64 word[ATTR_WORDS];
};

static u64 rng;

static u64 next(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng;
}

static u64 below(u64 n)
{
	return (next() >> 11) % n;
}

static int one_in(u64 n)
{
	return !below(n);
}

#define PICK(array) ((array)[below(sizeof(array) / sizeof((array)[0]))])

/* config and types: hardware that QEMU has and has not, raw, cache, software, the PMU's own, nobody's. */
static void random_event(struct perf_event_attr *a)
{
	static const u64 raw[] = { 0x11, 0x11, 0x11, 0x8, 0x3f, 0x1e, 0x0, 0xffff, 0x10011, 0x4004 };
	static const u32 other[] = { 10, 10, 10, 6, 7, 11, 12, 999, 0xffffffff };
	static const u64 cache[] = { 0, 0x10001, 0x000002, 0x10003, 0x010000, 0x20000, 0xff, 0x0300, 0x7 };

	switch (below(10)) {
	case 0: case 1: case 2:
		a->type = PERF_TYPE_RAW, a->config = PICK(raw);
		break;
	case 3:
		a->type = PERF_TYPE_HARDWARE, a->config = below(11);
		if (one_in(4))
			a->config |= PICK(other) * (1ull << 32);
		break;
	case 4:
		a->type = PERF_TYPE_HW_CACHE, a->config = PICK(cache);
		break;
	case 5:
		a->type = PICK(other), a->config = PICK(raw);
		break;
	default:
		a->type = PERF_TYPE_SOFTWARE, a->config = below(13);
	}
}

/* Bits 0..40 of the flags: the 39 that are known and two that are reserved. */
static void flip_flag(struct perf_event_attr *a)
{
	u64 *flags = (u64 *)((char *)a + 40);

	*flags ^= 1ull << below(41);
}

static void random_sampling(struct perf_event_attr *a)
{
	static const u64 period[] = { 1000000, 10000000, 1ull << 40, 1ull << 62, 1ull << 63, ~0ull };
	static const u64 freq[] = { 0, 100, 1000, 99999, 100000, 100001, ~0ull };

	a->freq = one_in(3);
	a->sample_period = a->freq ? PICK(freq) : PICK(period);
	a->sample_type |= 1ull << below(9);
}

/* The bits of sample_type, one above the last, and sets that belong together. */
static void random_sample_type(struct perf_event_attr *a)
{
	static const u64 regs[] = { 0, 1ull << 30, (1ull << 33) - 1, 1ull << 33, 1ull << 46, 1ull << 63, ~0ull };
	static const u32 stack[] = { 0, 8, 1024, 4, 65528, 65535, 65536 };

	a->sample_type |= 1ull << below(26);
	if (one_in(3))
		a->sample_type |= 1ull << below(26);
	if (one_in(2))
		a->sample_regs_user = PICK(regs), a->sample_regs_intr = PICK(regs);
	if (one_in(2))
		a->sample_stack_user = PICK(stack);
	if (one_in(2))
		a->branch_sample_type = one_in(3) ? next() : 1ull << below(20);
}

static void change(union wide *w)
{
	struct perf_event_attr *a = &w->a;
	static const u32 size[] = { 0, 63, 64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 4096, 4097, 0xffffffff };
	static const u32 clock[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 0xffffffff };
	static const u32 edge[] = { 0, 1, 2, 8, 100, 127, 128, 640, 4096, 65535, 0xffffffff };

	switch (below(16)) {
	case 0: case 1: case 2: case 3:
		flip_flag(a);
		break;
	case 4: case 5:
		random_sampling(a);
		break;
	case 6: case 7:
		random_sample_type(a);
		break;
	case 8: case 9:
		a->read_format ^= 1ull << below(6);
		break;
	case 10:
		a->size = PICK(size);
		break;
	case 11:
		a->use_clockid = 1, a->clockid = (int)PICK(clock);
		break;
	case 12:
		a->config1 = one_in(4) ? next() : below(8);
		break;
	case 13:
		a->config2 = PICK(edge), w->word[ATTR_WORDS - 1] = one_in(2) ? PICK(edge) : 0;
		break;
	case 14:
		a->wakeup_events = PICK(edge), a->sample_max_stack = (uint16_t)PICK(edge);
		break;
	default:
		a->aux_watermark = one_in(2) ? PICK(edge) : 0, a->aux_sample_size = one_in(2) ? PICK(edge) : 0;
		a->sig_data = PICK(edge);
		if (one_in(3))
			a->__reserved_2 = (uint16_t)PICK(edge);
		if (one_in(3))
			a->__reserved_3 = one_in(4) ? PICK(edge) : (u32)below(9);
	}
}

static union wide random_attr(void)
{
	union wide w = { .word = { 0 } };
	struct perf_event_attr *a = &w.a;

	a->size = sizeof(w.word);
	random_event(a);
	if (one_in(8)) {	/* a sample at each page fault: what do_sample looks at */
		a->type = PERF_TYPE_SOFTWARE, a->config = PERF_COUNT_SW_PAGE_FAULTS, a->sample_period = 1;
		for (int n = 0; n < 6; n++)
			a->sample_type |= 1ull << below(25);
		a->sample_regs_user = (1ull << 33) - 1, a->sample_regs_intr = 1ull << 32, a->sample_stack_user = 256;
		a->sample_type &= ~(u64)(one_in(4) ? 0 : PERF_SAMPLE_BRANCH_STACK);
	}
	a->disabled = one_in(2);
	a->exclude_kernel = one_in(3);
	a->inherit = one_in(5);
	if (one_in(2))
		a->read_format = below(32);
	if (one_in(4))
		a->comm = a->mmap = a->task = a->sample_id_all = 1;
	for (u64 n = one_in(4) ? 0 : 1 + below(4); n; n--)
		change(&w);
	return w;
}

/* What is not 0, in the order of the structure. */
static void print_attr(const union wide *w)
{
	const struct perf_event_attr *a = &w->a;

	printf(" type=%u config=%#llx", a->type, (unsigned long long)a->config);
#define SHOW(field) do { if (a->field) printf(" " #field "=%#llx", (unsigned long long)a->field); } while (0)
	if (a->size != sizeof(w->word))
		printf(" size=%u", a->size);
	SHOW(sample_period);
	SHOW(sample_type);
	SHOW(read_format);
#define BIT_(field) do { if (a->field) printf(" " #field); } while (0)
	BIT_(disabled); BIT_(inherit); BIT_(pinned); BIT_(exclusive); BIT_(exclude_user); BIT_(exclude_kernel);
	BIT_(exclude_hv); BIT_(exclude_idle); BIT_(mmap); BIT_(comm); BIT_(freq); BIT_(inherit_stat);
	BIT_(enable_on_exec); BIT_(task); BIT_(watermark); SHOW(precise_ip); BIT_(mmap_data); BIT_(sample_id_all);
	BIT_(exclude_host); BIT_(exclude_guest); BIT_(exclude_callchain_kernel); BIT_(exclude_callchain_user);
	BIT_(mmap2); BIT_(comm_exec); BIT_(use_clockid); BIT_(context_switch); BIT_(write_backward);
	BIT_(namespaces); BIT_(ksymbol); BIT_(bpf_event); BIT_(aux_output); BIT_(cgroup); BIT_(text_poke);
	BIT_(build_id); BIT_(inherit_thread); BIT_(remove_on_exec); BIT_(sigtrap);
	SHOW(__reserved_1);
	SHOW(wakeup_events);
	SHOW(config1);
	SHOW(config2);
	SHOW(branch_sample_type);
	SHOW(sample_regs_user);
	SHOW(sample_stack_user);
	SHOW(clockid);
	SHOW(sample_regs_intr);
	SHOW(aux_watermark);
	SHOW(sample_max_stack);
	SHOW(__reserved_2);
	SHOW(aux_sample_size);
	SHOW(__reserved_3);
	SHOW(sig_data);
	if (w->word[ATTR_WORDS - 1])
		printf(" config3=%#llx", (unsigned long long)w->word[ATTR_WORDS - 1]);
}

#endif
