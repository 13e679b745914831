/* SPDX-License-Identifier: MIT */
/*
 * The file of an event: ioctl, poll, mmap, release; read is in read.c.
 *
 * Everything that changes an event of a family is done to the root and to every live copy.
 * perf_mutex is held over the whole operation, so no fork can slip in between. An event that is never copied
 * and whose context is in on this CPU needs neither (event_try_here).
 */
#include "core.h"

static void for_group_or_one(struct perf_event *e, bool whole, event_fn *fn)
{
	struct perf_event *m, *leader = e->leader;

	if (!whole)
		family_do(e, fn);
	else
		for_each_member(m, leader)
			family_do(m, fn);
}

static long ioctl_period(struct perf_event *e, u64 arg)
{
	struct perf_event *c;
	u64 value;

	if (host_copy_from_user(&value, arg, sizeof(value)))
		return -EFAULT;
	if (!is_sampling(e) || !value)
		return -EINVAL;
	if (e->attr.freq ? value > (u64)sysctl_max_sample_rate() : value >> 63)
		return -EINVAL;
	host_mutex_lock(&perf_mutex);
	event_set_period(e, value);
	list_for_each(c, &e->children, child_node)
		event_set_period(c, value);
	host_mutex_unlock(&perf_mutex);
	return 0;
}

/* The type that Linux gives the event: a clock's is that of its own PMU, whichever was asked for. */
static u32 type_of(const struct perf_event *e)
{
	return e->kind == PERF_KIND_CLOCK ? PERF_TYPE_CPU_CLOCK + (u32)e->attr.config : e->attr.type;
}

static long ioctl_modify(struct perf_event *e, u64 arg)
{
	struct perf_event_attr attr = { 0 };
	int err = attr_copy_in(arg, &attr, NULL);

	if (!err)
		err = attr_validate(&attr, NULL);
	if (err)
		return err;
	return attr.type != type_of(e) ? -EINVAL : -EOPNOTSUPP;	/* breakpoints only, on Linux */
}

static long ioctl_state(struct perf_event *e, u64 arg, event_fn *fn)
{
	if (!(arg & PERF_IOC_FLAG_GROUP) && event_try_here(e, fn, e))
		return 0;
	host_mutex_lock(&perf_mutex);
	for_group_or_one(e, arg & PERF_IOC_FLAG_GROUP, fn);
	host_mutex_unlock(&perf_mutex);
	return 0;
}

/* Counting events have nothing to refresh; with inherit Linux refuses, too. */
static long ioctl_refresh(struct perf_event *e, u64 arg)
{
	if (e->attr.inherit || !is_sampling(e))
		return -EINVAL;
	host_mutex_lock(&perf_mutex);
	event_refresh(e, (u32)arg);
	host_mutex_unlock(&perf_mutex);
	return 0;
}

/* arg: the fd of the event whose ring to use, -1 (as a long) for none. */
static long ioctl_output(struct perf_event *e, u64 arg)
{
	struct host_fd f = { NULL, false };
	void *to = NULL;
	long err;

	if (arg != UINT64_MAX) {
		if (arg <= INT32_MAX)
			f = host_fd_get((int)arg, &perf_file_ops, &to);
		if (!f.file)
			return -EBADF;
	}
	host_mutex_lock(&perf_mutex);
	err = output_redirect(e, to);
	host_mutex_unlock(&perf_mutex);
	if (f.file)
		host_fd_put(f);
	return err;
}

static long ioctl_pause(struct perf_event *e, u64 arg)
{
	long err;

	host_mutex_lock(&perf_mutex);
	err = output_pause(e, arg);
	host_mutex_unlock(&perf_mutex);
	return err;
}

/* No event here has filters: all that is left to say is what is wrong with the text. */
static long ioctl_filter(u64 text)
{
	char c;

	for (u32 i = 0; i < 4096; i++) {
		if (host_copy_from_user(&c, text + i, 1))
			return -EFAULT;
		if (!c)
			break;
	}
	return -EINVAL;
}

/* There are no BPF programs, so no descriptor is one. */
static long ioctl_bpf(u64 fd)
{
	return host_fd_open((int)fd) ? -EINVAL : -EBADF;
}

static long perf_ioctl(void *priv, u32 cmd, u64 arg)
{
	struct perf_event *e = priv;

	switch (cmd) {
	case PERF_EVENT_IOC_ENABLE:
		return ioctl_state(e, arg, event_enable);
	case PERF_EVENT_IOC_DISABLE:
		return ioctl_state(e, arg, event_disable);
	case PERF_EVENT_IOC_RESET:
		return ioctl_state(e, arg, event_reset);
	case PERF_EVENT_IOC_ID:
		return host_copy_to_user(arg, &e->id, sizeof(e->id));
	case PERF_EVENT_IOC_PERIOD:
		return ioctl_period(e, arg);
	case PERF_EVENT_IOC_MODIFY_ATTRIBUTES:
		return ioctl_modify(e, arg);
	case PERF_EVENT_IOC_REFRESH:
		return ioctl_refresh(e, arg);
	case PERF_EVENT_IOC_SET_OUTPUT:
		return ioctl_output(e, arg);
	case PERF_EVENT_IOC_PAUSE_OUTPUT:
		return ioctl_pause(e, arg);
	case PERF_EVENT_IOC_SET_FILTER:
		return ioctl_filter(arg);
	case PERF_EVENT_IOC_SET_BPF:
		return ioctl_bpf(arg);
	case PERF_EVENT_IOC_QUERY_BPF:
		return access_privileged() ? -EINVAL : -EPERM;
	default:
		return -ENOTTY;
	}
}

static u32 perf_poll(void *priv, struct host_poll *p)
{
	return output_poll(priv, p);
}

static long perf_read(void *priv, u64 buf, size_t n)
{
	return read_event(priv, buf, n);
}

static int perf_map(void *priv, const struct host_map_req *req, void *const **pages)
{
	int err;

	host_mutex_lock(&perf_mutex);
	err = output_map(priv, req, pages);
	host_mutex_unlock(&perf_mutex);
	return err;
}

static void perf_unmap(void *priv, const struct host_map_req *req)
{
	(void)req;
	host_mutex_lock(&perf_mutex);
	output_unmap(priv);
	host_mutex_unlock(&perf_mutex);
}

static void perf_release(void *priv)
{
	struct perf_event *e = priv;
	struct perf_ctx *ctx;

	HOST_PAUSE("close");
	host_mutex_lock(&perf_mutex);
	ctx = e->ctx;
	list_del(&e->owner_node);
	if (!list_empty(&e->children))
		family_kill(e);
	HOST_PAUSE("close_locked");
	event_detach(e);
	if (ctx)
		ctx_drop_if_empty(ctx);
	if (e->ring)
		output_set(e, NULL);
	event_free(e);
	host_mutex_unlock(&perf_mutex);
}

const struct host_file_ops perf_file_ops = {
	.name = "[perf_event]",
	.read = perf_read,
	.ioctl = perf_ioctl,
	.poll = perf_poll,
	.mmap = perf_map,
	.munmap = perf_unmap,
	.release = perf_release,
};
