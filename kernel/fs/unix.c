/* SPDX-License-Identifier: MIT */
/*
 * AF_UNIX: names and connections. A stream connection is two sockets that point at each other; a
 * datagram socket may point at one that does not point back. unix_lock guards all of that: sections
 * are short, bytes are copied outside. A closed socket lives on as a dead one while others point at
 * it.
 */
#include "socket.h"

#include <stdio.h>
#include <string.h>

#define SOMAXCONN 4096

spinlock unix_lock = SPINLOCK_INIT;
struct list unix_all = LIST_INIT(unix_all);
u32 nr_unix;

/* --- life ------------------------------------------------------------------------------------ */

struct usock *usock_alloc(int type)
{
	struct usock *s = kzalloc(sizeof(*s));

	if (!s)
		return NULL;
	ref_init(&s->refs, 1);
	s->type = type;
	mutex_init(&s->rx_lock);
	list_init(&s->rx);
	list_init(&s->pending);
	list_init(&s->pending_node);
	list_init(&s->mark_node);
	waitq_init(&s->wq);
	fasync_init(&s->fasync);
	s->sndbuf = s->rcvbuf = DEFAULT_BUF;
	s->addr.family = AF_UNIX;
	s->cred = scm_own_cred();
	spin_lock(&unix_lock);
	list_add_tail(&s->all, &unix_all);
	nr_unix++;
	spin_unlock(&unix_lock);
	return s;
}

void usock_put(struct usock *s)
{
	if (!s || !ref_put(&s->refs))
		return;
	ASSERT(list_empty(&s->rx) && list_empty(&s->pending) && !s->peer);
	spin_lock(&unix_lock);
	list_del(&s->all);
	nr_unix--;
	spin_unlock(&unix_lock);
	inode_put(s->inode);
	kfree(s);
}

void unix_wake(struct usock *s, u32 events)
{
	wake_up_nr(&s->wq, 0, (void *)(unsigned long)events);
	if (events & POLLIN)
		fasync_kill(&s->fasync, POLL_IN, POLLIN | POLLRDNORM);
	if (events & POLLOUT)
		fasync_kill(&s->fasync, POLL_OUT, POLLOUT | POLLWRNORM);
}

/* Tell a stream's other end that nothing comes any more. unread: data was lost. unix_lock held. */
static void hang_up_locked(struct usock *peer, bool unread)
{
	peer->rd_shut = peer->wr_shut = true;
	if (unread)
		peer->err = ECONNRESET;
}

void usock_release(struct usock *s)
{
	LIST_HEAD(msgs);
	LIST_HEAD(pending);
	struct usock *peer, *e, *next;

	spin_lock(&unix_lock);
	s->dead = true;
	s->file = NULL;
	peer = s->peer;
	s->peer = NULL;
	if (peer && is_stream(s))
		hang_up_locked(peer, !list_empty(&s->rx));
	list_splice_tail(&s->rx, &msgs);
	s->rx_bytes = s->rx_count = 0;
	list_splice_tail(&s->pending, &pending);
	s->nr_pending = 0;
	spin_unlock(&unix_lock);
	if (peer)
		unix_wake(peer, POLLIN | POLLOUT | POLLHUP | POLLERR | POLLRDHUP);
	/* those who wait to connect to us, or for room in our queue */
	unix_wake(s, POLLHUP);
	list_for_each_safe(e, next, &pending, pending_node) {
		list_del(&e->pending_node);
		spin_lock(&unix_lock);
		if (e->peer)
			e->peer->err = ECONNRESET;
		spin_unlock(&unix_lock);
		usock_release(e);	/* not recursive further: it was never listening */
	}
	umsg_free_list(&msgs);
	usock_put(peer);
	usock_put(s);
	unix_collect();
}

/* --- names ----------------------------------------------------------------------------------- */

static bool is_abstract(const struct sock_addr *a, u32 len)
{
	return len > sizeof(a->family) && !a->path[0];
}

static int check_addr(const struct sock_addr *a, u32 len)
{
	if (len <= sizeof(a->family) || len > sizeof(*a) || a->family != AF_UNIX)
		return -EINVAL;
	return 0;
}

/* The path as a string. */
static void addr_path(const struct sock_addr *a, u32 len, char out[SUN_PATH + 1])
{
	size_t n = len - sizeof(a->family);

	memcpy(out, a->path, n);
	out[n] = '\0';
}

static struct usock *find_abstract_locked(const struct sock_addr *a, u32 len)
{
	struct usock *s;

	list_for_each(s, &unix_all, all)
		if (!s->dead && !s->inode && s->addr_len == len && !memcmp(&s->addr, a, len) &&
		    is_abstract(&s->addr, len))
			return s;
	return NULL;
}

static struct usock *find_inode_locked(const struct inode *i)
{
	struct usock *s;

	list_for_each(s, &unix_all, all)
		if (s->inode == i && !s->dead)
			return s;
	return NULL;
}

static struct usock *get_if_type(struct usock *s, int type)
{
	if (!s || !ref_get_unless_zero(&s->refs))
		return ERR_PTR(-ECONNREFUSED);
	if (s->type == type)
		return s;
	return ERR_PTR(-EPROTOTYPE);
}

static struct usock *find_path(const char *name, int type)
{
	struct usock *s, *r;
	struct path p;
	int err = path_lookup(AT_FDCWD, name, LOOKUP_FOLLOW, &p);

	if (err)
		return ERR_PTR(err);
	err = inode_permission(p.dentry->inode, MAY_WRITE);
	if (!err && !S_ISSOCK(p.dentry->inode->mode))
		err = -ECONNREFUSED;
	if (err) {
		path_put(&p);
		return ERR_PTR(err);
	}
	spin_lock(&unix_lock);
	s = find_inode_locked(p.dentry->inode);
	r = get_if_type(s, type);
	spin_unlock(&unix_lock);
	if (PTR_ERR(r) == -EPROTOTYPE)
		usock_put(s);
	path_put(&p);
	return r;
}

struct usock *unix_find(const struct sock_addr *a, u32 len, int type)
{
	char name[SUN_PATH + 1];
	struct usock *s, *r;
	int err = check_addr(a, len);

	if (err)
		return ERR_PTR(err);
	if (!is_abstract(a, len)) {
		addr_path(a, len, name);
		return find_path(name, type);
	}
	spin_lock(&unix_lock);
	s = find_abstract_locked(a, len);
	r = get_if_type(s, type);
	spin_unlock(&unix_lock);
	if (PTR_ERR(r) == -EPROTOTYPE)
		usock_put(s);
	return r;
}

static int bind_abstract(struct usock *s, const struct sock_addr *a, u32 len)
{
	int err = 0;

	spin_lock(&unix_lock);
	if (s->addr_len)
		err = -EINVAL;
	else if (find_abstract_locked(a, len))
		err = -EADDRINUSE;
	if (!err) {
		s->addr = *a;
		s->addr_len = len;
	}
	spin_unlock(&unix_lock);
	return err;
}

/* An address of the family alone asks for any free abstract name. */
static int autobind(struct usock *s)
{
	static u32 next;	/* atomic */
	struct sock_addr a = { .family = AF_UNIX };
	char text[8];
	int err;

	do {
		u32 n = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) & 0xfffff;

		snprintf(text, sizeof(text), "%05x", n);
		memcpy(a.path + 1, text, 5);
		err = bind_abstract(s, &a, sizeof(a.family) + 6);
	} while (err == -EADDRINUSE);
	return err;
}

static int bind_path(struct usock *s, const struct sock_addr *a, u32 len)
{
	char name[SUN_PATH + 1];
	struct path p;
	int err;

	addr_path(a, len, name);
	err = vfs_mknod(AT_FDCWD, name, S_IFSOCK | 0777, 0);
	if (err)
		return err == -EEXIST ? -EADDRINUSE : err;
	err = path_lookup(AT_FDCWD, name, 0, &p);
	if (err)
		return err;
	inode_get(p.dentry->inode);
	spin_lock(&unix_lock);
	if (s->addr_len) {
		err = -EINVAL;
	} else {
		s->inode = p.dentry->inode;
		s->addr = *a;
		/* The length shown includes the terminating NUL. */
		s->addr_len = min_t(u32, sizeof(a->family) + strlen(name) + 1, sizeof(*a));
		memset(s->addr.path + strlen(name), 0, SUN_PATH - strlen(name));
	}
	spin_unlock(&unix_lock);
	if (err) {
		inode_put(p.dentry->inode);
		vfs_unlink(AT_FDCWD, name);
	}
	path_put(&p);
	return err;
}

int unix_bind(struct usock *s, const struct sock_addr *a, u32 len)
{
	int err;

	if (len == sizeof(a->family) && a->family == AF_UNIX)
		return autobind(s);
	err = check_addr(a, len);
	if (err)
		return err;
	return is_abstract(a, len) ? bind_abstract(s, a, len) : bind_path(s, a, len);
}

/* --- connections ----------------------------------------------------------------------------- */

int unix_listen(struct usock *s, int backlog)
{
	int err = 0;

	if (!is_stream(s))
		return -EOPNOTSUPP;
	spin_lock(&unix_lock);
	if (!s->addr_len || (s->state != US_FREE && s->state != US_LISTENING)) {
		err = -EINVAL;
	} else {
		s->state = US_LISTENING;
		s->backlog = min_t(u32, backlog, SOMAXCONN);
		s->cred = scm_own_cred();
	}
	spin_unlock(&unix_lock);
	if (!err)
		unix_wake(s, POLLOUT);
	return err;
}

static void join_locked(struct usock *a, struct usock *b)
{
	ref_get(&a->refs);
	ref_get(&b->refs);
	a->peer = b;
	b->peer = a;
	a->state = b->state = US_CONNECTED;
	a->peer_cred = b->cred;
	b->peer_cred = a->cred;
}

void unix_pair(struct usock *a, struct usock *b)
{
	spin_lock(&unix_lock);
	join_locked(a, b);
	spin_unlock(&unix_lock);
}

/* Why to cannot be connected to now; -EAGAIN: its queue is full. unix_lock held. */
static int refuse_locked(const struct usock *s, const struct usock *to)
{
	if (to->dead || to->state != US_LISTENING || to->rd_shut)
		return -ECONNREFUSED;
	if (to->nr_pending > to->backlog)
		return -EAGAIN;
	if (s->state == US_CONNECTED)
		return -EISCONN;
	return s->state == US_FREE ? 0 : -EINVAL;
}

/* One attempt; fresh becomes the server's end. */
static int try_connect(struct usock *s, struct usock *to, struct usock *fresh)
{
	int err;

	spin_lock(&unix_lock);
	err = refuse_locked(s, to);
	if (!err) {
		s->cred = scm_own_cred();
		fresh->cred = to->cred;
		fresh->addr = to->addr;
		fresh->addr_len = to->addr_len;
		join_locked(s, fresh);
		list_add_tail(&fresh->pending_node, &to->pending);
		to->nr_pending++;
	}
	spin_unlock(&unix_lock);
	return err;
}

static bool has_room(struct usock *to)
{
	return READ_ONCE(to->nr_pending) <= READ_ONCE(to->backlog) || READ_ONCE(to->dead) ||
	       READ_ONCE(to->rd_shut);
}

static ktime deadline_after(ktime timeo)
{
	return timeo ? ktime_now() + timeo : KTIME_MAX;
}

static int connect_stream(struct usock *s, struct usock *to, bool nonblock)
{
	struct usock *fresh = usock_alloc(s->type);
	ktime deadline = deadline_after(s->sndtimeo);
	long err;

	if (!fresh)
		return -ENOMEM;
	for (;;) {
		err = try_connect(s, to, fresh);
		if (err != -EAGAIN || nonblock)
			break;
		err = wait_event_interruptible_until(&to->wq, has_room(to), deadline);
		if (err) {
			err = err == -ETIMEDOUT ? -EAGAIN : err;
			break;
		}
	}
	if (err)
		usock_put(fresh);
	else
		unix_wake(to, POLLIN | POLLRDNORM);
	return err;
}

static int connect_dgram(struct usock *s, struct usock *to)
{
	struct usock *old;
	int err = 0;

	spin_lock(&unix_lock);
	old = s->peer;
	/* A socket that has chosen its partner takes nothing from others. */
	if (to && to->peer && to->peer != s) {
		err = -EPERM;
		old = NULL;
	} else {
		if (to)
			ref_get(&to->refs);
		s->peer = to;
		s->state = to ? US_CONNECTED : US_FREE;
		if (to)
			s->peer_cred = to->cred;
	}
	spin_unlock(&unix_lock);
	usock_put(old);
	return err;
}

int unix_connect(struct usock *s, const struct sock_addr *a, u32 len, bool nonblock)
{
	struct usock *to;
	int err;

	if (!is_stream(s) && len >= sizeof(a->family) && a->family == 0)
		return connect_dgram(s, NULL);
	to = unix_find(a, len, s->type);
	if (IS_ERR(to))
		return PTR_ERR(to);
	err = is_stream(s) ? connect_stream(s, to, nonblock) : connect_dgram(s, to);
	usock_put(to);
	return err;
}

static bool try_accept(struct usock *s, struct usock **out)
{
	spin_lock(&unix_lock);
	*out = NULL;
	if (s->state != US_LISTENING || s->rd_shut) {
		*out = ERR_PTR(-EINVAL);
	} else if (!list_empty(&s->pending)) {
		*out = list_first(&s->pending, struct usock, pending_node);
		list_del(&(*out)->pending_node);
		s->nr_pending--;
	}
	spin_unlock(&unix_lock);
	return *out;
}

struct usock *unix_accept(struct usock *s, bool nonblock)
{
	struct usock *c;
	long err;

	if (!is_stream(s))
		return ERR_PTR(-EOPNOTSUPP);
	if (!try_accept(s, &c)) {
		if (nonblock)
			return ERR_PTR(-EAGAIN);
		err = wait_event_interruptible_until(&s->wq, try_accept(s, &c),
						     deadline_after(s->rcvtimeo));
		if (err)
			return ERR_PTR(err == -ETIMEDOUT ? -EAGAIN : err);
	}
	if (!IS_ERR(c))
		unix_wake(s, POLLOUT);	/* room for one more connection */
	return c;
}

int unix_shutdown(struct usock *s, int how)
{
	struct usock *peer;
	bool rd = how == 0 || how == 2, wr = how == 1 || how == 2;

	if (how < 0 || how > 2)
		return -EINVAL;
	spin_lock(&unix_lock);
	s->rd_shut |= rd;
	s->wr_shut |= wr;
	peer = is_stream(s) ? s->peer : NULL;
	if (peer) {
		ref_get(&peer->refs);
		peer->rd_shut |= wr;
		peer->wr_shut |= rd;
	}
	spin_unlock(&unix_lock);
	unix_wake(s, POLLIN | POLLOUT | POLLHUP | POLLRDHUP);
	if (peer)
		unix_wake(peer, POLLIN | POLLOUT | POLLHUP | POLLRDHUP);
	usock_put(peer);
	return 0;
}
