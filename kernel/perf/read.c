/* SPDX-License-Identifier: MIT */
/*
 * read(2): the value of an event, or of a group, in the layout that attr.read_format asks for.
 *
 * Totals are the event's own, those of its live copies, and what exited copies left. Each context
 * is asked once, as its owner: all values and times of a group are one snapshot of that context.
 * Exits and forks wait at perf_mutex meanwhile, so nobody is counted twice or missed.
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

struct read_one {
	struct perf_event *e;
	u64 count, enabled, running;
};

static void refresh(struct perf_event *e)
{
	event_settle(e);
	if (is_placed(e))
		count_read(e);
}

static void one_in_ctx(struct perf_ctx *ctx, void *arg)
{
	struct read_one *r = arg;

	if (ctx) {
		ctx_clock(ctx);
		refresh(r->e);
	}
	r->count += r->e->count;
	r->enabled += r->e->enabled;
	r->running += r->e->running;
}

static void add_one(struct read_one *r, struct perf_event *e)
{
	r->e = e;
	if (e->ctx)
		ctx_call(e->ctx, one_in_ctx, r);
	else
		one_in_ctx(NULL, r);
}

/* Number of u64 put into out (at least 5). m. */
static u32 read_single(struct perf_event *e, u64 *out)
{
	struct read_one r = { e, e->child_count, e->child_enabled, e->child_running };
	u64 rf = e->attr.read_format;
	struct perf_event *c;
	u32 n = 0;

	add_one(&r, e);
	HOST_PAUSE("read");
	list_for_each(c, &e->children, child_node)
		add_one(&r, c);
	out[n++] = r.count;
	if (rf & PERF_FORMAT_TOTAL_TIME_ENABLED)
		out[n++] = r.enabled;
	if (rf & PERF_FORMAT_TOTAL_TIME_RUNNING)
		out[n++] = r.running;
	if (rf & PERF_FORMAT_ID)
		out[n++] = e->id;
	if (rf & PERF_FORMAT_LOST)
		out[n++] = __atomic_load_n(&e->lost, __ATOMIC_RELAXED);
	return n;
}

struct read_group {
	struct perf_event *leader;	/* of this member of the family */
	u64 read_format;
	u64 *out;			/* the group's values are added here */
	u32 n;
};

static void group_in_ctx(struct perf_ctx *ctx, void *arg)
{
	struct read_group *r = arg;
	struct perf_event *e, *leader = r->leader;
	u64 rf = r->read_format;
	u32 n = 1;

	if (ctx) {
		ctx_clock(ctx);
		for_each_member(e, leader)
			refresh(e);
	}
	if (rf & PERF_FORMAT_TOTAL_TIME_ENABLED)
		r->out[n++] += leader->enabled + leader->child_enabled;
	if (rf & PERF_FORMAT_TOTAL_TIME_RUNNING)
		r->out[n++] += leader->running + leader->child_running;
	for_each_member(e, leader) {
		r->out[n++] += e->count + e->child_count;
		if (rf & PERF_FORMAT_ID)
			r->out[n++] = e->root->id;
		if (rf & PERF_FORMAT_LOST)
			r->out[n++] = __atomic_load_n(&e->root->lost, __ATOMIC_RELAXED);
	}
	r->n = n;
}

static int add_group(struct read_group *r, struct perf_event *leader)
{
	struct perf_event *root = leader->root;

	/* A copy made before the group changed: its positions mean something else. */
	if (leader != root && (leader->group.generation != root->group.generation ||
			       leader->group.nr != root->group.nr))
		return -ECHILD;
	r->leader = leader;
	if (leader->ctx)
		ctx_call(leader->ctx, group_in_ctx, r);
	else
		group_in_ctx(NULL, r);
	return 0;
}

/* Number of u64 put into out, or -ECHILD. m. */
static long read_whole_group(struct perf_event *e, u64 *out)
{
	struct read_group r = { e->leader, e->attr.read_format, out, 0 };
	struct perf_event *leader = e->leader, *c;
	int err;

	out[0] = leader->group.nr;
	err = add_group(&r, leader);
	list_for_each(c, &leader->children, child_node)
		err = err ? err : add_group(&r, c);
	return err ? err : (long)r.n;
}

#define SMALL 32	/* u64 that fit on the stack */

/* Bytes read, 0 for a pinned event in ERROR, or -errno. P, without the mutex. */
long read_event(struct perf_event *e, u64 buf, size_t size)
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
