/* SPDX-License-Identifier: MIT */
/* Records: samples, identity trailers and the loss of both. Theory: sample.c, record.c. */
#ifndef PERF_SAMPLE_H
#define PERF_SAMPLE_H

#include "core.h"

/* Bits of sample_type that also make up the trailer of other records (sample_id_all). */
#define SAMPLE_IDS (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | \
		    PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* What a sample says; only what type asks for is filled in. Lives on the stack of the overflow path. */
struct perf_sample {
	struct perf_event *e;
	struct task *task;		/* whom it is about */
	const struct pt_regs *regs;	/* interrupted */
	u64 type;			/* sample_type */
	u64 addr, period, time;
	const struct pt_regs *uregs;	/* user registers of current, NULL: it has none */
	u64 *chain;			/* with its PERF_CONTEXT_ marks */
	u32 nr_chain;
	u32 stack_size;			/* bytes of user stack to copy */
	u64 phys, data_page, code_page;
};

/* sample.c */
/* Bytes of a sample with header and all fields of a fixed length. */
u16 sample_fixed_size(const struct perf_event_attr *attr);
/* How they are made: with whatever fields; with fields that most have; with these and a call chain. */
enum sample_kind { SAMPLE_ANY, SAMPLE_COMMON, SAMPLE_CHAIN };
enum sample_kind sample_kind(const struct perf_event_attr *attr);
/* IRQs off, owner of e. task: record_subject(); addr: data address or 0; now: host_now(). */
void sample_output(struct perf_event *e, const struct pt_regs *regs, struct task *task, u64 addr, u64 period,
		   u64 now);
/* sample.c: c, owner of child: a READ record. */
void sample_read_output(struct perf_event *child);

/* record.c: IRQs off. */
/* Whom records of this moment are about: current, or in the switch to a task already that task. */
static inline struct task *record_subject(void)
{
	struct task *as = this_perf_cpu()->as;

	return as ? as : host_current();
}
static inline u64 record_time(const struct perf_event *e)
{
	return unlikely(e->attr.use_clockid) ? host_clock(e->attr.clockid) : host_now();
}
/* Size of e's trailer behind records that are no samples: 0 without sample_id_all. */
u32 trailer_size(const struct perf_event *e);
void trailer_put(struct ring_write *w, const struct perf_event *e);
/* Reserve a record in e's ring, behind a LOST record if one is due. Accounts for what gets lost.
 * False: nothing is to be written. */
bool record_begin(struct perf_event *e, struct ring_write *w, u32 size);
/* Publish it, wake pollers and signal if a watermark was passed. */
void record_end(const struct ring_write *w);
/* Pollers of r have to look; root: whose record it was. */
void record_wake(struct perf_ring *r, struct perf_event *root);
/* A whole record: header, n bytes of body (a multiple of 8), trailer. */
void record_output(struct perf_event *e, u32 type, u16 misc, const void *body, u32 n);

/* callchain.c */
#define CHAIN_CONTEXTS 2u	/* marks in a chain at most */
/* The chain of regs, at most room (>= CHAIN_CONTEXTS) entries; their number. o. */
u32 callchain_get(const struct perf_event *e, const struct pt_regs *regs, u64 *to, u32 room);
/* This CPU's buffer for one. O. */
u64 *callchain_buffer(void);
/* A root is being opened: 0, -ENOMEM, or -EOVERFLOW if it asks for longer chains than are allowed. P, m. */
int callchain_born(struct perf_event *e);
/* It ends; also if it was refused. P, m. */
void callchain_dies(struct perf_event *e);
/* There are events with call chains. P, m. */
bool callchain_in_use(void);

#endif
