/* SPDX-License-Identifier: MIT */
/*
 * Side-band records: what happened to tasks and mappings, so that a reader can make sense of the
 * addresses and ids in samples.
 *
 * A record goes to every event that asks for its kind, is on, and looks at this CPU: those of the
 * running task's context and those of the CPU's. The body is put together first, where sleeping is
 * allowed; then it is copied to the rings with IRQs off. As long as nobody asks, a hook costs one
 * load and a branch.
 */
#include "sample.h"

u32 perf_mmap_users, perf_build_id_users;
static u32 task_users, comm_users, ns_users;	/* a */

struct news {
	void (*put)(struct perf_event *e, const struct news *n);
	const void *data;	/* put's */
};

/* --- who asks -------------------------------------------------------------------------------------- */

static bool wants_mmap(const struct perf_event_attr *a)
{
	return a->mmap || a->mmap2 || a->mmap_data;
}

static bool wants_task(const struct perf_event_attr *a)
{
	return a->task || a->comm || wants_mmap(a);
}

static void add(u32 *users, int n)
{
	__atomic_fetch_add(users, (u32)n, __ATOMIC_SEQ_CST);
}

static void account(struct perf_event *e, int n)
{
	if (e->root != e || !(wants_task(&e->attr) || e->attr.namespaces || e->attr.context_switch))
		return;
	if (wants_mmap(&e->attr))
		add(&perf_mmap_users, n);
	if (wants_mmap(&e->attr) && e->attr.build_id)
		add(&perf_build_id_users, n);
	if (wants_task(&e->attr))
		add(&task_users, n);
	if (e->attr.comm)
		add(&comm_users, n);
	if (e->attr.namespaces)
		add(&ns_users, n);
	if (e->attr.context_switch)
		switch_watch((u32)n);
}

void sideband_born(struct perf_event *e)
{
	e->sideband = true;
	account(e, 1);
}

void sideband_dies(struct perf_event *e)
{
	if (e->sideband)
		account(e, -1);
}

/* --- delivery ---------------------------------------------------------------------------------------- */

static void tell_ctx(struct perf_ctx *ctx, const struct news *n)
{
	struct perf_event *e;

	list_for_each(e, &ctx->events, ctx_node)
		if (e->state >= PERF_ON && (e->cpu < 0 || e->cpu == (int)host_cpu()))
			n->put(e, n);
}

/* To the events of this CPU and of the running task. */
static void tell(const struct news *n)
{
	u64 flags = host_irq_save();
	struct perf_cpu *pc = this_perf_cpu();

	if (pc->online) {
		tell_ctx(&pc->ctx, n);
		if (pc->task_ctx)
			tell_ctx(pc->task_ctx, n);
	}
	host_irq_restore(flags);
}

/* --- NAMESPACES --------------------------------------------------------------------------------------- */

struct ns_body {
	u32 pid, tid;
	u64 nr;
	struct host_ns ns[HOST_NR_NS];
};

static void put_ns(struct perf_event *e, const struct news *n)
{
	if (e->attr.namespaces)
		record_output(e, PERF_RECORD_NAMESPACES, 0, n->data, sizeof(struct ns_body));
}

/* Of a new task. There are only the first ones, so nothing ever changes. P. */
static void tell_namespaces(struct task *t)
{
	struct ns_body body = { host_task_tgid(t), host_task_tid(t), HOST_NR_NS, { { 0, 0 } } };
	struct news n = { put_ns, &body };

	host_task_ns(body.ns);
	tell(&n);
}

/* --- FORK, EXIT ---------------------------------------------------------------------------------------- */

struct task_body {
	u32 pid, ppid, tid, ptid;
	u64 time;
};

struct task_news {
	struct task_body body;
	u32 type;
};

static void put_task(struct perf_event *e, const struct news *n)
{
	const struct task_news *t = n->data;
	struct task_body body = t->body;

	if (!wants_task(&e->attr))
		return;
	body.time = record_time(e);
	record_output(e, t->type, 0, &body, sizeof(body));
}

void perf_forked(struct task *child)
{
	struct task_news t = { .type = PERF_RECORD_FORK };
	struct news n = { put_task, &t };
	struct task *self = host_current();

	t.body = (struct task_body){ host_task_tgid(child), host_task_tgid(self), host_task_tid(child),
				     host_task_tid(self), 0 };
	if (unlikely(READ_ONCE(task_users)))
		tell(&n);
	if (unlikely(READ_ONCE(ns_users)))
		tell_namespaces(child);
}

static void exit_in_ctx(struct perf_ctx *ctx, void *arg)
{
	tell_ctx(ctx, arg);
}

void sideband_exit(struct task *t, struct perf_ctx *ctx)
{
	struct task_news x = { .type = PERF_RECORD_EXIT };
	struct news n = { put_task, &x };
	u32 ptgid, ptid;

	if (likely(!READ_ONCE(task_users)))
		return;
	host_task_parent(t, &ptgid, &ptid);
	x.body = (struct task_body){ host_task_tgid(t), ptgid, host_task_tid(t), ptid, 0 };
	tell(&n);
	if (ctx)
		ctx_call(ctx, exit_in_ctx, &n);
}

/* --- COMM ------------------------------------------------------------------------------------------------ */

struct comm_news {
	struct { u32 pid, tid; char comm[16]; } body;
	u32 size;
	bool exec;
};

static void put_comm(struct perf_event *e, const struct news *n)
{
	const struct comm_news *c = n->data;

	if (e->attr.comm)
		record_output(e, PERF_RECORD_COMM, c->exec ? PERF_RECORD_MISC_COMM_EXEC : 0,
			      &c->body, c->size);
}

static void tell_comm(struct task *t, bool exec)
{
	struct comm_news c = { .exec = exec };
	struct news n = { put_comm, &c };

	if (likely(!READ_ONCE(comm_users)))
		return;
	c.body.pid = host_task_tgid(t);
	c.body.tid = host_task_tid(t);
	host_task_comm(t, c.body.comm);
	c.size = 8 + (((u32)__builtin_strlen(c.body.comm) + 8) & ~7u);	/* with at least one 0 */
	tell(&n);
}

void perf_comm(struct task *t)
{
	tell_comm(t, false);
}

void sideband_exec(void)
{
	tell_comm(host_current(), true);
}

/* --- MMAP, MMAP2 --------------------------------------------------------------------------------------------- */

#define PROT_EXEC 4

struct mmap2_head {
	u32 pid, tid;
	u64 addr, len, pgoff;
	union {
		struct {
			u32 maj, min;
			u64 ino, ino_generation;
		};
		struct {	/* with MISC_MMAP_BUILD_ID */
			u8 id_size, zero[3];
			u8 id[20];
		};
	};
	u32 prot, flags;
};
#define MMAP_HEAD 32	/* bytes of it that MMAP has, too */

struct mmap_news {
	const struct perf_mapping *m;
	struct mmap2_head head;
	struct mmap2_head id_head;	/* with the build id; id_size 0: there is none */
	const char *name;	/* padded with 0 */
	u32 name_size;		/* a multiple of 8 */
};

static void put_mmap(struct perf_event *e, const struct news *n)
{
	const struct mmap_news *m = n->data;
	bool exec = m->head.prot & PROT_EXEC;
	u16 misc = PERF_RECORD_MISC_USER | (exec ? 0 : PERF_RECORD_MISC_MMAP_DATA);
	u32 head = e->attr.mmap2 ? sizeof(m->head) : MMAP_HEAD, size;
	bool id = e->attr.mmap2 && e->attr.build_id && m->id_head.id_size;
	struct ring_write w;

	if (exec ? !(e->attr.mmap || e->attr.mmap2) : !e->attr.mmap_data)
		return;
	size = 8 + head + m->name_size + trailer_size(e);
	if (!record_begin(e, &w, size))
		return;
	ring_header(&w, e->attr.mmap2 ? PERF_RECORD_MMAP2 : PERF_RECORD_MMAP,
		    id ? misc | PERF_RECORD_MISC_MMAP_BUILD_ID : misc, size);
	ring_bytes(&w, id ? &m->id_head : &m->head, head);
	ring_bytes(&w, m->name, m->name_size);
	trailer_put(&w, e);
	record_end(&w);
}

#define NAME_MAX_BYTES 4096u

void perf_mmap(const struct perf_mapping *m)
{
	u32 len = min_t(u32, (u32)__builtin_strlen(m->path), NAME_MAX_BYTES - 1), size = (len + 8) & ~7u;
	char *name = host_zalloc(size);
	struct mmap_news x = { m, { 0 }, { 0 }, name ? name : "//enomem\0\0\0\0\0\0\0", name ? size : 16 };
	struct news n = { put_mmap, &x };

	x.head = (struct mmap2_head){
		.pid = host_task_tgid(host_current()), .tid = host_task_tid(host_current()),
		.addr = m->start, .len = m->len, .pgoff = m->pgoff, .maj = m->dev_major,
		.min = m->dev_minor, .ino = m->ino, .ino_generation = m->ino_generation,
		.prot = m->prot, .flags = m->flags,
	};
	x.id_head = x.head;
	x.id_head.ino = x.id_head.ino_generation = x.id_head.maj = x.id_head.min = 0;
	x.id_head.id_size = (u8)m->build_id_size;
	__builtin_memcpy(x.id_head.id, m->build_id, m->build_id_size);
	if (name)
		__builtin_memcpy(name, m->path, len);
	tell(&n);
	host_free(name);
}

/* --- SWITCH, SWITCH_CPU_WIDE ----------------------------------------------------------------------------------- */

struct switch_news {
	struct task *other;
	u16 misc;
};

static void put_switch(struct perf_event *e, const struct news *n)
{
	const struct switch_news *s = n->data;
	struct { u32 pid, tid; } body = { host_task_tgid(s->other), host_task_tid(s->other) };

	if (!e->attr.context_switch)
		return;
	if (is_tasks(e->ctx))
		record_output(e, PERF_RECORD_SWITCH, s->misc, NULL, 0);
	else
		record_output(e, PERF_RECORD_SWITCH_CPU_WIDE, s->misc, &body, sizeof(body));
}

/* out: prev is about to leave this CPU; else: next has come, current is still prev. o. */
void sideband_switch(struct perf_cpu *pc, struct task *prev, struct task *next, bool out, bool preempt)
{
	struct switch_news s = { out ? next : prev, out ? PERF_RECORD_MISC_SWITCH_OUT : 0 };
	struct news n = { put_switch, &s };

	if (out && preempt)
		s.misc |= PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	pc->as = out ? prev : next;
	if (pc->ctx.nr_switch)
		tell_ctx(&pc->ctx, &n);
	if (pc->task_ctx && pc->task_ctx->nr_switch)
		tell_ctx(pc->task_ctx, &n);
	pc->as = NULL;
}
