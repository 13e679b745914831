/* SPDX-License-Identifier: MIT */
/*
 * epoll. An instance holds items: (file, fd) pairs with the events asked for. Each item sits on the
 * wait queues of its file; a wake-up there puts the item on the instance's ready list and wakes a
 * waiter. epoll_wait takes items off the list and asks each file for its state: level-triggered
 * items go back to the list's end, edge-triggered ones wait for the next wake-up, one-shot ones are
 * disarmed.
 *
 * An item does not hold its file: the file's last put removes it (epoll_file_gone). Locks, in
 * order: epoll_mutex (which items exist, of all instances), ep->mtx (one harvest at a time),
 * ep->lock (spin, IRQs off: the ready list, because wake-ups come from anywhere). User memory is
 * touched under none.
 *
 * Instances watch instances, MAX_NESTS deep and never in a circle. Asking goes down: the mtx of the
 * instance above is held when the one below is taken. Waking goes up: the poll_wq of the instance below
 * is held when the one above is woken.
 */
#include "internal.h"

#include <perch/signal.h>

#define EPOLLEXCLUSIVE	(1U << 28)
#define EPOLLWAKEUP	(1U << 29)
#define EPOLLONESHOT	(1U << 30)
#define EPOLLET		(1U << 31)
#define CONTROL_BITS	(EPOLLEXCLUSIVE | EPOLLWAKEUP | EPOLLONESHOT | EPOLLET)
#define EXCLUSIVE_OK	(POLLIN | POLLOUT | POLLERR | POLLHUP | CONTROL_BITS)
#define CTL_ADD	1
#define CTL_DEL	2
#define CTL_MOD	3
#define MAX_NESTS 4
#define BUCKETS	64
#define MAX_HARVEST 1024

struct epoll_event_abi { u32 events; u32 pad; u64 data; };

struct epoll {
	struct file *file;
	struct mutex mtx;
	spinlock lock;
	struct waitq wq;		/* epoll_wait sleeps here */
	struct waitq poll_wq;		/* those who poll the instance itself */
	struct list ready;		/* of item.ready; lock */
	bool taken;			/* what was there is being looked at; lock */
	struct list items[BUCKETS];	/* of item.hash; epoll_mutex and mtx to change */
};

/* The item's place on one wait queue of its file. */
struct hook { struct wait_entry w; struct waitq *q; struct item *item; struct hook *next; };

struct item {
	struct epoll *ep;
	struct file *file;
	int fd;
	u32 events;		/* mtx and lock to change */
	u64 data;		/* mtx */
	struct list hash;	/* ep->items */
	struct list file_node;	/* file->epitems; epoll_mutex */
	struct list ready;	/* ep->ready or a harvest's list; ep->lock */
	struct hook *hooks;
	bool no_memory;		/* a hook could not be made */
};

static struct mutex epoll_mutex = MUTEX_INIT(epoll_mutex);
static u8 wake_depth[NR_CPUS];	/* hooks that run one in the other; own CPU, IRQs off */
static const struct file_ops epoll_ops;

static void ep_lock(struct epoll *ep)
{
	mutex_lock_nested(&ep->mtx, current->epoll_depth);
	current->epoll_depth++;
}

static void ep_unlock(struct epoll *ep)
{
	current->epoll_depth--;
	mutex_unlock(&ep->mtx);
}

static struct list *bucket(struct epoll *ep, struct file *f, int fd)
{
	return &ep->items[((u64)f >> 6 ^ (u32)fd) % BUCKETS];
}

static struct item *find(struct epoll *ep, struct file *f, int fd)
{
	struct list *b = bucket(ep, f, fd);
	struct item *it;

	list_for_each(it, b, hash)
		if (it->file == f && it->fd == fd)
			return it;
	return NULL;
}

/* --- wake-ups -------------------------------------------------------------------------------- */

/* Put the item on the ready list. True if somebody sleeps in epoll_wait. */
static bool make_ready(struct item *it)
{
	struct epoll *ep = it->ep;
	u64 flags = spin_lock_irqsave(&ep->lock);

	if (list_empty(&it->ready))
		list_add_tail(&it->ready, &ep->ready);
	spin_unlock_irqrestore(&ep->lock, flags);
	return waitq_active(&ep->wq);
}

/* depth: hooks around this one. */
static void wake_waiters(struct epoll *ep, u32 depth)
{
	wake_up_one(&ep->wq);
	wake_up_nested(&ep->poll_wq, 1, (void *)(unsigned long)(POLLIN | POLLRDNORM), depth);
}

static bool hook_wake(struct wait_entry *w, void *key)
{
	struct item *it = container_of(w, struct hook, w)->item;
	u32 events = READ_ONCE(it->events), depth;
	bool woke;

	if (!(events & ~CONTROL_BITS))
		return false;		/* disarmed */
	if (key && !((unsigned long)key & events))
		return false;
	woke = make_ready(it);
	depth = wake_depth[cpu_id()]++;
	wake_waiters(it->ep, depth);
	wake_depth[cpu_id()]--;
	return woke || !w->exclusive;
}

/* --- hooks: the item on its file's queues ---------------------------------------------------- */

struct hook_table { struct poll_table pt; struct item *item; };

static void hook_queue(struct poll_table *pt, struct file *f, struct waitq *q)
{
	struct item *it = container_of(pt, struct hook_table, pt)->item;
	struct hook *h = kzalloc(sizeof(*h));

	if (!h) {
		it->no_memory = true;
		return;
	}
	h->q = q;
	h->item = it;
	h->w.func = hook_wake;
	h->w.exclusive = it->events & EPOLLEXCLUSIVE;
	list_init(&h->w.node);
	h->next = it->hooks;
	it->hooks = h;
	waitq_add(q, &h->w);
}

static void unhook(struct item *it)
{
	while (it->hooks) {
		struct hook *h = it->hooks;

		waitq_remove(h->q, &h->w);
		it->hooks = h->next;
		kfree(h);
	}
}

static u32 item_state(struct item *it)
{
	return file_poll(it->file, NULL) & it->events & ~CONTROL_BITS;
}

/* --- items (epoll_mutex and ep->mtx held) ---------------------------------------------------- */

static void remove_item(struct item *it)
{
	u64 flags;

	unhook(it);
	list_del(&it->hash);
	flags = spin_lock_irqsave(&it->ep->lock);
	list_del(&it->ready);
	spin_unlock_irqrestore(&it->ep->lock, flags);
	/* The file may be freed as soon as its list is seen empty: nothing of it is used after
	 * this. */
	smp_mb();
	list_del(&it->file_node);
	kfree(it);
}

static int add_item(struct epoll *ep, struct file *f, int fd, const struct epoll_event_abi *ev)
{
	struct hook_table t = { { hook_queue }, NULL };
	struct item *it;

	if (find(ep, f, fd))
		return -EEXIST;
	it = kzalloc(sizeof(*it));
	if (!it)
		return -ENOMEM;
	*it = (struct item){ .ep = ep, .file = f, .fd = fd, .data = ev->data,
			     .events = ev->events | POLLERR | POLLHUP };
	list_init(&it->ready);
	list_add_tail(&it->hash, bucket(ep, f, fd));
	list_add_tail(&it->file_node, &f->epitems);
	t.item = it;
	if (file_poll(f, &t.pt) & it->events & ~CONTROL_BITS) {
		make_ready(it);
		wake_waiters(ep, 0);
	}
	if (!it->no_memory)
		return 0;
	remove_item(it);
	return -ENOMEM;
}

static int modify_item(struct epoll *ep, struct file *f, int fd, const struct epoll_event_abi *ev)
{
	struct item *it = find(ep, f, fd);

	if (!it)
		return -ENOENT;
	if (it->events & EPOLLEXCLUSIVE)
		return -EINVAL;
	it->data = ev->data;
	WRITE_ONCE(it->events, ev->events | POLLERR | POLLHUP);
	/* a wake-up from now on sees the new events; those before are seen by asking */
	smp_mb();
	if (item_state(it)) {
		make_ready(it);
		wake_waiters(ep, 0);
	}
	return 0;
}

/* --- nesting --------------------------------------------------------------------------------- */

static struct epoll *as_epoll(struct file *f)
{
	return f->ops == &epoll_ops ? f->priv : NULL;
}

/* How deep instances are nested below ep; more than MAX_NESTS when target is among them. */
static int depth_below(struct epoll *ep, struct epoll *target, int level)
{
	int deepest = level;

	if (ep == target || level > MAX_NESTS)
		return MAX_NESTS + 1;
	for (u32 b = 0; b < BUCKETS && deepest <= MAX_NESTS; b++) {
		struct item *it;

		list_for_each(it, &ep->items[b], hash) {
			struct epoll *sub = as_epoll(it->file);

			if (sub)
				deepest = max(deepest, depth_below(sub, target, level + 1));
		}
	}
	return deepest;
}

/* How many instances watch ep, one above the other. */
static int depth_above(struct epoll *ep, int level)
{
	struct item *it;
	int highest = level;

	if (level > MAX_NESTS)
		return level;
	list_for_each(it, &ep->file->epitems, file_node)
		highest = max(highest, depth_above(it->ep, level + 1));
	return highest;
}

static int check_nesting(struct epoll *ep, struct file *f)
{
	struct epoll *sub = as_epoll(f);

	if (!sub)
		return 0;
	return depth_below(sub, ep, 1) + depth_above(ep, 0) > MAX_NESTS ? -ELOOP : 0;
}

/* --- harvest --------------------------------------------------------------------------------- */

static struct item *pop(struct epoll *ep, struct list *from)
{
	struct item *it = NULL;
	u64 flags = spin_lock_irqsave(&ep->lock);

	if (!list_empty(from)) {
		it = list_first(from, struct item, ready);
		list_del(&it->ready);
	}
	spin_unlock_irqrestore(&ep->lock, flags);
	return it;
}

static void take_ready(struct epoll *ep, struct list *to)
{
	u64 flags = spin_lock_irqsave(&ep->lock);

	list_init(to);
	list_splice_tail(&ep->ready, to);
	ep->taken = true;
	spin_unlock_irqrestore(&ep->lock, flags);
}

/* What was not looked at goes back to the front. */
static void give_back(struct epoll *ep, struct list *rest)
{
	u64 flags = spin_lock_irqsave(&ep->lock);

	list_splice_tail(&ep->ready, rest);
	list_splice_tail(rest, &ep->ready);
	ep->taken = false;
	spin_unlock_irqrestore(&ep->lock, flags);
}

/* False: nothing is ready. While somebody else looks, ask him, by mtx: what he finds ready may stay so. */
static bool maybe_ready(struct epoll *ep)
{
	u64 flags = spin_lock_irqsave(&ep->lock);
	bool yes = ep->taken || !list_empty(&ep->ready);

	spin_unlock_irqrestore(&ep->lock, flags);
	return yes;
}

static int harvest(struct epoll *ep, struct epoll_event_abi *out, int max)
{
	struct list todo;
	struct item *it;
	int n = 0;

	ep_lock(ep);
	take_ready(ep, &todo);
	while (n < max && (it = pop(ep, &todo))) {
		u32 events = item_state(it);

		if (!events)
			continue;
		out[n++] = (struct epoll_event_abi){ .events = events, .data = it->data };
		if (it->events & EPOLLONESHOT)
			WRITE_ONCE(it->events, it->events & CONTROL_BITS);
		else if (!(it->events & EPOLLET))
			make_ready(it);
	}
	give_back(ep, &todo);
	ep_unlock(ep);
	if (!list_empty(&ep->ready))
		wake_up_one(&ep->wq);
	return n;
}

static u32 epoll_poll(struct file *f, struct poll_table *pt)
{
	struct epoll *ep = f->priv;
	struct list todo;
	struct item *it;
	u32 mask = 0;

	poll_wait(f, &ep->poll_wq, pt);
	ep_lock(ep);
	take_ready(ep, &todo);
	while (!mask && (it = pop(ep, &todo))) {
		if (item_state(it)) {
			make_ready(it);
			mask = POLLIN | POLLRDNORM;
		}
	}
	give_back(ep, &todo);
	ep_unlock(ep);
	return mask;
}

/* --- life ------------------------------------------------------------------------------------ */

static void epoll_release(struct file *f)
{
	struct epoll *ep = f->priv;

	mutex_lock(&epoll_mutex);
	ep_lock(ep);
	for (u32 b = 0; b < BUCKETS; b++)
		while (!list_empty(&ep->items[b]))
			remove_item(list_first(&ep->items[b], struct item, hash));
	ep_unlock(ep);
	mutex_unlock(&epoll_mutex);
	kfree(ep);
}

void epoll_file_gone(struct file *f)
{
	mutex_lock(&epoll_mutex);
	while (!list_empty(&f->epitems)) {
		struct item *it = list_first(&f->epitems, struct item, file_node);
		struct epoll *ep = it->ep;

		ep_lock(ep);
		remove_item(it);
		ep_unlock(ep);
	}
	mutex_unlock(&epoll_mutex);
}

static void epoll_fdinfo(struct file *f, struct textbuf *b)
{
	struct epoll *ep = f->priv;

	mutex_lock(&epoll_mutex);
	for (u32 k = 0; k < BUCKETS; k++) {
		struct item *it;

		list_for_each(it, &ep->items[k], hash)
			text_printf(b,
				    "tfd: %8d events: %8x data: %16lx  pos:%ld ino:%lx sdev:%lx\n",
				    it->fd, it->events, it->data, it->file->pos,
				    it->file->inode->ino, it->file->inode->sb->dev);
	}
	mutex_unlock(&epoll_mutex);
}

static const struct file_ops epoll_ops = {
	.poll = epoll_poll, .release = epoll_release, .show_fdinfo = epoll_fdinfo,
};

long sys_epoll_create1(u32 flags)
{
	struct epoll *ep;
	struct file *f;

	if (flags & ~O_CLOEXEC)
		return -EINVAL;
	ep = kzalloc(sizeof(*ep));
	if (!ep)
		return -ENOMEM;
	mutex_init(&ep->mtx);
	spin_init(&ep->lock);
	waitq_init(&ep->wq);
	waitq_init(&ep->poll_wq);
	list_init(&ep->ready);
	for (u32 b = 0; b < BUCKETS; b++)
		list_init(&ep->items[b]);
	f = anon_file("anon_inode:[eventpoll]", &epoll_ops, ep, O_RDWR);
	if (IS_ERR(f))
		kfree(ep);
	else
		ep->file = f;
	return fd_new(f, flags);
}

/* --- epoll_ctl ------------------------------------------------------------------------------- */

static int check_exclusive(int op, struct file *f, const struct epoll_event_abi *ev)
{
	if (op == CTL_DEL || !(ev->events & EPOLLEXCLUSIVE))
		return 0;
	if (op == CTL_MOD || as_epoll(f) || (ev->events & ~EXCLUSIVE_OK))
		return -EINVAL;
	return 0;
}

static int change_locked(struct epoll *ep, int op, struct file *f, int fd,
			 const struct epoll_event_abi *ev)
{
	struct item *it;

	switch (op) {
	case CTL_ADD:
		return add_item(ep, f, fd, ev);
	case CTL_MOD:
		return modify_item(ep, f, fd, ev);
	case CTL_DEL:
		it = find(ep, f, fd);
		if (it)
			remove_item(it);
		return it ? 0 : -ENOENT;
	default:
		return -EINVAL;
	}
}

static int epoll_change(struct file *epf, int op, struct file *f, int fd,
			const struct epoll_event_abi *ev)
{
	struct epoll *ep = as_epoll(epf);
	int err;

	if (!f->ops->poll)
		return -EPERM;
	if (!ep || epf == f)
		return -EINVAL;
	err = check_exclusive(op, f, ev);
	if (err)
		return err;
	mutex_lock(&epoll_mutex);
	err = op == CTL_ADD ? check_nesting(ep, f) : 0;
	if (!err) {
		ep_lock(ep);
		err = change_locked(ep, op, f, fd, ev);
		ep_unlock(ep);
	}
	mutex_unlock(&epoll_mutex);
	return err;
}

long sys_epoll_ctl(int epfd, int op, int fd, const struct epoll_event_abi __user *uev)
{
	struct epoll_event_abi ev = { 0 };
	struct file *epf, *f;
	long err = -EBADF;

	if (op != CTL_DEL && copy_from_user(&ev, uev, sizeof(ev)))
		return -EFAULT;
	epf = fd_get_io(epfd);
	f = fd_get_io(fd);
	if (epf && f)
		err = epoll_change(epf, op, f, fd, &ev);
	file_put(f);
	file_put(epf);
	return err;
}

/* --- epoll_wait ------------------------------------------------------------------------------ */

static long wait_ready(struct epoll *ep, ktime deadline)
{
	long err = wait_event_interruptible_until(&ep->wq, maybe_ready(ep), deadline);

	return err == -ERESTARTSYS ? -EINTR : err;
}

static long collect(struct epoll *ep, struct epoll_event_abi *out, int max, ktime deadline)
{
	for (;;) {
		long n = maybe_ready(ep) ? harvest(ep, out, max) : 0, err;

		if (n || !deadline)
			return n;
		err = wait_ready(ep, deadline);
		if (err == -ETIMEDOUT)
			return maybe_ready(ep) ? harvest(ep, out, max) : 0;
		if (err)
			return err;
	}
}

static long wait_user(struct epoll *ep, uaddr uev, int max, ktime deadline)
{
	struct epoll_event_abi few[8], *out = few;
	long n;

	max = min(max, MAX_HARVEST);
	if (max > (int)ARRAY_SIZE(few)) {
		out = kmalloc(max * sizeof(*out));
		if (!out)
			return -ENOMEM;
	}
	n = collect(ep, out, max, deadline);
	for (long i = 0; i < n; i++)
		out[i].pad = 0;
	if (n > 0 && copy_to_user((void __user *)uev, out, n * sizeof(*out)))
		n = -EFAULT;
	if (out != few)
		kfree(out);
	return n;
}

static long do_wait(int epfd, uaddr uev, int max, ktime deadline, uaddr mask, size_t size)
{
	struct file *f;
	long ret;

	if (max <= 0 || max > INT32_MAX / (int)sizeof(struct epoll_event_abi))
		return -EINVAL;
	if (!access_ok((void __user *)uev, max * sizeof(struct epoll_event_abi)))
		return -EFAULT;
	f = fd_get_io(epfd);
	if (!f)
		return -EBADF;
	ret = as_epoll(f) ? sigmask_enter(mask, size) : -EINVAL;
	if (!ret) {
		ret = wait_user(f->priv, uev, max, deadline);
		sigmask_leave(mask, ret);
	}
	file_put(f);
	return ret;
}

long sys_epoll_pwait(int epfd, uaddr events, int max, int timeout_ms, uaddr mask, size_t size)
{
	ktime deadline = KTIME_MAX;

	if (timeout_ms == 0)
		deadline = 0;
	else if (timeout_ms > 0)
		deadline = ktime_now() + timeout_ms * NSEC_PER_MSEC;
	return do_wait(epfd, events, max, deadline, mask, size);
}

long sys_epoll_pwait2(int epfd, uaddr events, int max, const struct timespec64 __user *uts,
		      uaddr mask,
		      size_t size)
{
	ktime deadline;
	int err = poll_deadline(uts, &deadline);

	return err ? err : do_wait(epfd, events, max, deadline, mask, size);
}
