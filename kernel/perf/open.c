/* SPDX-License-Identifier: MIT */
/*
 * perf_event_open(2).
 *
 * The checks come in Linux's order, because a call with two mistakes must get the errno of the
 * first. The steps are few: attribute, permission by attribute, fd number, group file, task; then the
 * event with its PMU; then permission on the target; then, under perf_mutex, context, group and
 * attachment. What is taken is given back in reverse order at one place.
 *
 * Most events only count. Whether this one does is asked once (attr_is_plain); if so, the checks of what it could have
 * asked for have nothing to refuse, and are passed over.
 */
#include "sample.h"

#define FLAGS_ALL (PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT | PERF_FLAG_PID_CGROUP | \
		   PERF_FLAG_FD_CLOEXEC)

struct open_call {
	int pid, cpu, group_fd;
	u64 flags;
	struct perf_why *why;
	/* known and taken so far */
	int fd;
	bool plain;			/* attr_is_plain, and flags say no more than NO_GROUP and CLOEXEC */
	bool guarded;
	struct host_fd group_file;
	struct perf_event *group;	/* of group_fd, NULL: none or NO_GROUP */
	struct perf_event *output;	/* of group_fd */
	struct task *task;		/* with a reference, unless pid is 0: current */
	struct perf_event *event;	/* its attr is the attribute, in the making until make_event */
};

static int get_group(struct open_call *o)
{
	void *priv;

	if (o->group_fd == -1)
		return 0;
	o->group_file = host_fd_get(o->group_fd, &perf_file_ops, &priv);
	if (!o->group_file.file)
		return perf_refuse(o->why, -EBADF, "group_fd", (u64)o->group_fd, "not a perf event");
	o->output = priv;
	if (READ_ONCE(o->output->state) == PERF_GONE)
		return perf_refuse(o->why, -ENODEV, "group_fd", (u64)o->group_fd, "its task is gone");
	if (!(o->flags & PERF_FLAG_FD_NO_GROUP))
		o->group = priv;
	return 0;
}

static int get_task(struct open_call *o)
{
	if (o->pid == -1 || o->flags & PERF_FLAG_PID_CGROUP)
		return 0;
	if (!o->pid)
		o->task = host_current();
	else if (o->pid > 0)
		o->task = host_task_find(o->pid);
	if (!o->task)
		return perf_refuse(o->why, -ESRCH, "pid", (u64)o->pid, "no such thread");
	if (o->group && o->group->attr.inherit != o->event->attr.inherit)
		return perf_refuse(o->why, -EINVAL, "inherit", o->event->attr.inherit,
				   "differs from the group's");
	return 0;
}

/* What no PMU here has: records of AUX data, and cgroups. Linux looks for both when the PMU is known. */
static int check_absent(struct open_call *o)
{
	const struct perf_event_attr *a = &o->event->attr;

	if (a->aux_output)
		return perf_refuse(o->why, -EOPNOTSUPP, "aux_output", 1, "no PMU writes AUX data");
	if (a->aux_action & PERF_AUX_PAUSE && a->aux_action & PERF_AUX_RESUME)
		return perf_refuse(o->why, -EINVAL, "aux_pause", 1, "excludes aux_resume");
	if (a->aux_action & PERF_AUX_START_PAUSED)
		return perf_refuse(o->why, -EOPNOTSUPP, "aux_start_paused", 1, "no PMU writes AUX data");
	if (o->flags & PERF_FLAG_PID_CGROUP)
		return perf_refuse(o->why, -EBADF, "pid", (u64)o->pid, "there are no cgroups");
	return 0;
}

static int call_chains(struct perf_event *e)
{
	int err;

	host_mutex_lock(&perf_mutex);
	err = callchain_born(e);
	host_mutex_unlock(&perf_mutex);
	return err;
}

/* What the sampling part of the attribute asks of the PMU. */
static int check_sampling(struct open_call *o, struct perf_event *e)
{
	const struct perf_event_attr *a = &e->attr;
	int err;

	err = a->sample_type & PERF_SAMPLE_CALLCHAIN ? call_chains(e) : 0;
	if (err)
		return perf_refuse(o->why, err, "sample_max_stack", a->sample_max_stack,
				   err == -ENOMEM ? "no memory for call chains" : "above perf_event_max_stack");
	if (is_sampling(e) && e->pmu && e->pmu->caps & PMU_NO_INTERRUPT)
		return perf_refuse(o->why, -EOPNOTSUPP, "sample_period", e->sample_period,
				   "the PMU has no interrupt");
	if (a->use_clockid) {
		bool fine = a->clockid == 1 || a->clockid == 4;		/* MONOTONIC, _RAW */
		bool soft = a->clockid == 0 || a->clockid == 7 || a->clockid == 11;	/* REAL, BOOT, TAI */

		if (!fine && !(soft && e->kind != PERF_KIND_HW))
			return perf_refuse(o->why, -EINVAL, "clockid", (u64)a->clockid,
					   "not a clock for this event");
	}
	return 0;
}

/* Would e and what is in its group already (NULL: it has none) fit on the PMU? */
static bool could_open(struct perf_event *group, struct perf_event *e)
{
	bool fits;

	if (likely(group_surely_fits(group, e)))
		return true;
	if (!group)
		return group_could_open(e, e);
	host_mutex_lock(&perf_mutex);
	fits = group_could_open(group->leader, e);
	host_mutex_unlock(&perf_mutex);
	return fits;
}

/* What can be said of the target and what is rare in the attribute. */
static int check_rare(struct open_call *o)
{
	const struct perf_event_attr *a = &o->event->attr;

	if (a->sigtrap && !o->task)
		return perf_refuse(o->why, -EINVAL, "sigtrap", 1, "needs a task");
	if (a->inherit && a->sample_type & PERF_SAMPLE_READ && !(a->sample_type & PERF_SAMPLE_TID))
		return perf_refuse(o->why, -EINVAL, "sample_type", a->sample_type,
				   "READ with inherit needs TID");
	return 0;
}

static int make_event(struct open_call *o)
{
	struct perf_event *e = o->event;
	int err = 0;

	if ((u32)o->cpu >= host_nr_cpus() && (!o->task || o->cpu != -1))
		return perf_refuse(o->why, -EINVAL, "cpu", (u64)o->cpu, "no such CPU");
	if (!o->plain)
		err = check_rare(o);
	if (err)
		return err;
	event_init(e, o->cpu, NULL);
	err = pmu_event_init(e, o->task != NULL, o->why);
	if (err)
		return err;
	sw_event_born(e);
	if (!o->plain)
		sideband_born(e);
	if (e->kind == PERF_KIND_HW && !could_open(o->group, e))
		return perf_refuse(o->why, -EINVAL, "group_fd", (u64)o->group_fd,
				   "the group would not fit on the PMU");
	if (o->plain)
		return 0;
	err = check_absent(o);
	return err ? err : check_sampling(o, e);
}

/* May current count everything on a CPU, or observe the task? Itself it may. */
static int check_target(struct open_call *o)
{
	int err;

	if (!o->task && !access_allowed(0))
		return perf_refuse(o->why, -EACCES, "pid", (u64)-1,
				   "CPU-wide events need perf_event_paranoid < 1 or CAP_PERFMON");
	if (!o->task || o->task == host_current())	/* nobody executes a program in whose place we are running */
		return 0;
	err = host_exec_guard(o->task);
	if (err)
		return perf_refuse(o->why, err, "pid", (u64)o->pid, "interrupted");
	o->guarded = true;
	return access_task(&o->event->attr, o->task, o->why);
}

static struct perf_ctx *cpu_ctx(struct open_call *o, int *err)
{
	bool online = READ_ONCE(perf_cpus[o->cpu].online) && host_cpu_online((u32)o->cpu);

	if (!online)
		*err = perf_refuse(o->why, -ENODEV, "cpu", (u64)o->cpu, "the CPU is not online");
	return online ? &perf_cpus[o->cpu].ctx : NULL;
}

/* The context to attach to; a task's comes pinned. self: current's. NULL with *err. m. */
static struct perf_ctx *target_ctx(struct open_call *o, struct perf_task *self, int *err)
{
	struct perf_ctx *ctx;

	if (!o->task)
		return cpu_ctx(o, err);
	*err = -ENOMEM;
	ctx = o->task == host_current() ? ctx_of_self(self) : ctx_of_task(o->task, err);
	if (!ctx)
		perf_refuse(o->why, *err, "pid", (u64)o->pid, "the thread is gone, or no memory");
	return ctx;
}

static int refuse_attach(struct open_call *o, int err)
{
	if (o->event->ring)
		output_set(o->event, NULL);
	return err;
}

/* Where its records go; and what only a group that traces could give. */
static int set_output(struct open_call *o)
{
	struct perf_event *e = o->event;
	int err;

	if (e->attr.aux_sample_size)
		return perf_refuse(o->why, -EINVAL, "aux_sample_size", e->attr.aux_sample_size,
				   "the group's leader traces nothing");
	if (o->flags & PERF_FLAG_FD_OUTPUT && o->output) {
		err = output_redirect(e, o->output);
		if (err)
			return perf_refuse(o->why, err, "flags", o->flags, "its records cannot go to group_fd's ring");
	}
	if (e->attr.aux_action)
		return refuse_attach(o, perf_refuse(o->why, -EINVAL, "aux_action", e->attr.aux_action,
						    "the group has no AUX event"));
	return 0;
}

static int join_and_attach(struct open_call *o, struct perf_ctx *ctx)
{
	struct perf_event *e = o->event, *leader = o->group;
	struct perf_bucket *b;
	int err = 0;

	if (leader) {
		if (is_leader(leader) && leader->ctx != ctx)
			return perf_refuse(o->why, -EINVAL, "group_fd", (u64)o->group_fd,
					   "the group is on another task or CPU");
		err = group_check(leader, e, o->why);
	}
	e->target = o->task ? (*host_task_slot(o->task))->id : 0;
	if (!err && !o->plain)
		err = set_output(o);
	if (err)
		return err;
	b = ctx_bucket(ctx, o->cpu);
	e->file = b ? host_file_new(&perf_file_ops, e) : NULL;
	if (!e->file)
		return refuse_attach(o, perf_refuse(o->why, -ENOMEM, "memory", 0, "no memory for the file"));
	event_attach(ctx, e, b, leader);
	return 0;
}

static int attach_to(struct open_call *o, struct perf_ctx *ctx, struct perf_task *self)
{
	int err = join_and_attach(o, ctx);

	if (!err)
		list_add_tail(&o->event->owner_node, &self->owned);
	if (!o->task)
		return err;
	ctx_unpin(ctx);
	if (err)
		ctx_drop_if_empty(ctx);
	return err;
}

static int attach(struct open_call *o)
{
	struct perf_task *self;
	struct perf_ctx *ctx;
	int err = -ENOMEM;

	HOST_PAUSE("attach");
	host_mutex_lock(&perf_mutex);
	self = perf_task_get(host_current());
	ctx = self ? target_ctx(o, self, &err) : NULL;
	if (ctx)
		err = attach_to(o, ctx, self);
	host_mutex_unlock(&perf_mutex);
	return err;
}

/* Everything up to the finished, not yet visible file. */
static int build(struct open_call *o)
{
	int err;

	if ((o->flags & PERF_FLAG_PID_CGROUP) && (o->pid == -1 || o->cpu == -1))
		return perf_refuse(o->why, -EINVAL, "flags", o->flags, "PID_CGROUP needs pid and cpu");
	o->fd = host_fd_reserve(o->flags & PERF_FLAG_FD_CLOEXEC);
	if (o->fd < 0)
		return perf_refuse(o->why, o->fd, "fd", 0, "no free file descriptor");
	err = get_group(o);
	if (!err)
		err = get_task(o);
	if (!err)
		err = make_event(o);
	if (!err)
		err = check_target(o);
	return err ? err : attach(o);
}

static void give_back(struct open_call *o, bool failed)
{
	if (o->guarded)
		host_exec_unguard(o->task);
	if (failed && o->event) {
		host_mutex_lock(&perf_mutex);
		event_free(o->event);
		host_mutex_unlock(&perf_mutex);
	}
	if (o->task && o->pid)
		host_task_put(o->task);
	if (o->group_file.file)
		host_fd_put(o->group_file);
	if (failed && o->fd >= 0)
		host_fd_unreserve(o->fd);
}

static int check_attr(struct open_call *o, struct perf_event_attr *a)
{
	int err = o->plain ? 0 : attr_validate(a, o->why);

	if (err)
		return err;
	if (!a->exclude_kernel && !access_allowed(1))
		return perf_refuse(o->why, -EACCES, "exclude_kernel", 0,
				   "kernel counting needs perf_event_paranoid < 2 or CAP_PERFMON");
	return o->plain ? 0 : access_rare(a, o->why);
}

static int get_attr(struct open_call *o, u64 attr)
{
	int err;

	o->event = event_alloc();
	if (!o->event)
		return perf_refuse(o->why, -ENOMEM, "memory", 0, "no memory for the event");
	err = attr_copy_in(attr, &o->event->attr, o->why);
	if (err)
		return err;
	o->plain = !(o->flags & (PERF_FLAG_FD_OUTPUT | PERF_FLAG_PID_CGROUP)) && attr_is_plain(&o->event->attr);
	return check_attr(o, &o->event->attr);
}

long sys_perf_event_open(u64 attr, int pid, int cpu, int group_fd, u64 flags)
{
	struct perf_why why;	/* err says whether the rest is filled in */
	/* All members are named: then the compiler keeps them in registers. */
	struct open_call o = { pid, cpu, group_fd, flags, &why, -1, false, false, { NULL, false }, NULL, NULL, NULL, NULL };
	int err = 0;

	why.err = 0;
	STAT_INC(opens);
	if (flags & ~FLAGS_ALL)
		err = perf_refuse(&why, -EINVAL, "flags", flags, "unknown flag");
	else if (access_closed())
		err = perf_refuse(&why, -EACCES, "paranoid", 3, "perf_event_paranoid is above 2");
	if (!err)
		err = get_attr(&o, attr);
	if (!err)
		err = build(&o);
	give_back(&o, err != 0);
	if (err) {
		if (!why.err)
			perf_refuse(&why, err, "memory", 0, "out of memory");
		refusal_note(&why);
		return err;
	}
	host_fd_install(o.fd, o.event->file);
	return o.fd;
}
