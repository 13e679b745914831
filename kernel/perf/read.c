/* SPDX-License-Identifier: MIT */
/*
 * read(2): the value of an event, or of a group, in the layout that attr.read_format asks for.
 *
 * Totals are the event's own, those of its live copies, and what exited copies left. Each context
 * is asked once, as its owner: all values and times of a group are one snapshot of that context. A read
 * changes nothing: it adds what has come since an event was last settled and its counter last looked at.
 * Exits and forks wait at perf_mutex meanwhile, so nobody is counted twice or missed.
 *
 * A program that reads what it counts itself goes a shorter way: without copies the only context is the one
 * that is in on this CPU, which owns it while IRQs are off, and no lock is taken.
 */
#include "core.h"

/* Bytes of a read with this format and nr events (nr is ignored without GROUP). */
size_t read_size_for(u64 read_format, u32 nr)
{
	size_t head = 0, each = 8;

	head += read_format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 8 : 0;
	head += read_format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 8 : 0;
	each += read_format & PERF_FORMAT_ID ? 8 : 0;
	each += read_format & PERF_FORMAT_LOST ? 8 : 0;
	return read_format & PERF_FORMAT_GROUP ? 8 + head + nr * each : head + each;
}

/* --- one event ----------------------------------------------------------------------------------------- */

struct read_one {
	struct perf_event *e;
	u64 count, enabled, running;
};

static inline __attribute__((always_inline)) void add_now(struct read_one *r)
{
	u64 enabled, running;

	event_times_now(r->e, &enabled, &running);
	r->enabled += enabled;
	r->running += running;
	r->count += event_count_now(r->e);
}

static void one_in_ctx(struct perf_ctx *ctx, void *arg)
{
	if (ctx)
		ctx_clock(ctx);
	add_now(arg);
}

static void add_one(struct read_one *r, struct perf_event *e)
{
	r->e = e;
	event_do(e, one_in_ctx, r);
}

/* Number of u64 put into out (at least 5). */
static inline __attribute__((always_inline)) u32 put_one(const struct read_one *r, const struct perf_event *e, u64 *out)
{
	u64 rf = e->attr.read_format;
	u32 n = 0;

	out[n++] = r->count;
	if (rf & PERF_FORMAT_TOTAL_TIME_ENABLED)
		out[n++] = r->enabled;
	if (rf & PERF_FORMAT_TOTAL_TIME_RUNNING)
		out[n++] = r->running;
	if (rf & PERF_FORMAT_ID)
		out[n++] = e->id;
	if (rf & PERF_FORMAT_LOST)
		out[n++] = __atomic_load_n(&e->lost, __ATOMIC_RELAXED);
	return n;
}

/* Number of u64 put into out. m. */
static u32 read_single(struct perf_event *e, u64 *out)
{
	struct read_one r = { e, e->child_count, e->child_enabled, e->child_running };
	struct perf_event *c;

	add_one(&r, e);
	HOST_PAUSE("read");
	list_for_each(c, &e->children, child_node)
		add_one(&r, c);
	return put_one(&r, e, out);
}

/* --- a group --------------------------------------------------------------------------------------------- */

struct read_group {
	struct perf_event *leader;	/* of this member of the family */
	u64 read_format;
	u64 *out;			/* the group's values go here */
	u32 n;				/* words of them */
};

/* Of the times the leader's are shown. sum: add to what stands there, the values of other members of the family;
 * else it is the first. */
static inline __attribute__((always_inline)) void put_group(struct read_group *r, bool sum)
{
	struct perf_event *e, *leader = r->leader;
	u64 rf = r->read_format, *out = r->out + 1, enabled, running;

#define PUT(v) (*out = (v) + (sum ? *out : 0), out++)
	event_times_now(leader, &enabled, &running);
	r->out[0] = leader->group.nr;
	if (rf & PERF_FORMAT_TOTAL_TIME_ENABLED)
		PUT(enabled + leader->child_enabled);
	if (rf & PERF_FORMAT_TOTAL_TIME_RUNNING)
		PUT(running + leader->child_running);
	for_each_member(e, leader) {
		PUT(event_count_now(e) + e->child_count);
		if (rf & PERF_FORMAT_ID)
			*out++ = e->root->id;
		if (rf & PERF_FORMAT_LOST)
			*out++ = __atomic_load_n(&e->root->lost, __ATOMIC_RELAXED);
	}
#undef PUT
	r->n = (u32)(out - r->out);
}

static void group_in_ctx(struct perf_ctx *ctx, void *arg)
{
	struct read_group *r = arg;

	if (ctx)
		ctx_clock(ctx);
	put_group(r, true);
}

static int add_group(struct read_group *r, struct perf_event *leader)
{
	struct perf_event *root = leader->root;

	/* A copy made before the group changed: its positions mean something else. */
	if (leader != root && (leader->group.generation != root->group.generation ||
			       leader->group.nr != root->group.nr))
		return -ECHILD;
	r->leader = leader;
	event_do(leader, group_in_ctx, r);
	return 0;
}

/* Number of u64 put into out, which is zeroed, or -ECHILD. m. */
static long read_whole_group(struct perf_event *e, u64 *out)
{
	struct read_group r = { e->leader, e->attr.read_format, out, 0 };
	struct perf_event *leader = e->leader, *c;
	int err;

	err = add_group(&r, leader);
	list_for_each(c, &leader->children, child_node)
		err = err ? err : add_group(&r, c);
	return err ? err : (long)r.n;
}

/* --- read(2) --------------------------------------------------------------------------------------------- */

#define SMALL 32	/* u64 that fit on the stack */
#define SMALL_GROUP ((SMALL - 3) / 3)	/* members whose values fit there in every format */
#define AWAY 1		/* it takes the mutex; no read is of one byte */

static void one_here(struct perf_ctx *ctx, void *arg)
{
	ctx_clock(ctx);
	add_now(arg);
}

static void group_here(struct perf_ctx *ctx, void *arg)
{
	struct read_group *r = arg;

	r->leader = r->leader->leader;
	if (unlikely(r->leader->group.nr > SMALL_GROUP))
		return;
	ctx_clock(ctx);
	put_group(r, false);
}

/* The short way, as read_event without the copy to the user; AWAY: there is none. P. */
static long read_here(struct perf_event *e, u64 *out, size_t size)
{
	struct read_group g = { e, e->attr.read_format, out, 0 };
	struct read_one r = { e, 0, 0, 0 };
	bool group = e->attr.read_format & PERF_FORMAT_GROUP;
	u32 n;

	if (READ_ONCE(e->state) == PERF_ERROR)
		return 0;
	if (!(group ? event_try_here(e, group_here, &g) : event_try_here(e, one_here, &r)))
		return AWAY;
	n = group ? g.n : put_one(&r, e, out);
	if (unlikely(!n))
		return AWAY;	/* a large group */
	return n * 8 <= size ? (long)n * 8 : -ENOSPC;
}

/* The long way: a family, or a context that is not in on this CPU. */
static noinline long read_anywhere(struct perf_event *e, u64 buf, size_t size)
{
	bool group = e->attr.read_format & PERF_FORMAT_GROUP;
	u64 small[SMALL] = { 0 }, *out = small;
	size_t want, have = sizeof(small);
	bool error;
	long n;

	for (;;) {
		host_mutex_lock(&perf_mutex);
		want = read_size_for(e->attr.read_format, e->leader->group.nr);
		error = READ_ONCE(e->state) == PERF_ERROR;
		if (error || size < want || want <= have)
			break;
		host_mutex_unlock(&perf_mutex);	/* the group may grow while we allocate */
		if (out != small)
			host_free(out);
		have = want;
		out = host_zalloc(have);
		if (!out)
			return -ENOMEM;
	}
	if (error)
		n = 0;
	else if (size < want)
		n = -ENOSPC;
	else
		n = group ? read_whole_group(e, out) : (long)read_single(e, out);
	host_mutex_unlock(&perf_mutex);
	if (n > 0) {
		ASSERT_PERF((size_t)n * 8 == want);
		n = host_copy_to_user(buf, out, want) ? -EFAULT : (long)want;
	}
	if (out != small)
		host_free(out);
	return n;
}

/* Bytes read, 0 for a pinned event in ERROR, or -errno. P, without the mutex. */
long read_event(struct perf_event *e, u64 buf, size_t size)
{
	u64 small[SMALL];
	long n = read_here(e, small, size);

	if (unlikely(n == AWAY))
		return read_anywhere(e, buf, size);
	return n > 0 && host_copy_to_user(buf, small, (size_t)n) ? -EFAULT : n;
}
