/* SPDX-License-Identifier: MIT */
/*
 * Messages between AF_UNIX sockets. A message is one allocation: what was written (a piece of it,
 * for streams) and what travels beside it. It is charged to the sender until it is read; a sender
 * with more than sndbuf bytes under way waits. Readers take turns by rx_lock, so the first message
 * stays in place while its bytes are copied to the user without a spinlock.
 */
#include "socket.h"

#include <perch/signal.h>
#include <string.h>

#define STREAM_PIECE	16384U
#define DGRAM_QUEUE	10	/* messages a datagram socket holds for strangers */

/* --- messages -------------------------------------------------------------------------------- */

static struct umsg *umsg_make(struct usock *from, struct uio *u, u32 len)
{
	struct umsg *m = kmalloc(sizeof(*m) + len);

	if (!m)
		return ERR_PTR(-ENOBUFS);
	memset(m, 0, sizeof(*m));
	list_init(&m->node);
	if (uio_read(u, m->data, len) < len) {
		kfree(m);
		return ERR_PTR(-EFAULT);
	}
	m->len = len;
	ref_get(&from->refs);
	m->from = from;
	m->scm.cred = scm_own_cred();
	return m;
}

/* The charge: data plus what the message itself takes, so that empty ones count, too. */
static u32 charge_of(const struct umsg *m)
{
	return m->len + sizeof(*m);
}

/* The message is in no queue any more. */
void umsg_free(struct umsg *m)
{
	LIST_HEAD(one);

	list_add_tail(&m->node, &one);
	umsg_free_list(&one);
}

static void free_one(struct umsg *m)
{
	struct usock *from = m->from;

	spin_lock(&unix_lock);
	from->tx_bytes -= charge_of(m);
	scm_count(&m->scm, -1);
	spin_unlock(&unix_lock);
	if (!from->dead)
		unix_wake(from, POLLOUT | POLLWRNORM);
	scm_put(&m->scm);
	usock_put(from);
	kfree(m);
}

/*
 * Freeing a message may close a socket whose queue holds messages with sockets, and so on: whoever
 * gets here while somebody is at it only adds to the list, and the first one works it off.
 */
void umsg_free_list(struct list *l)
{
	static LIST_HEAD(graveyard);	/* unix_lock */
	static bool busy;		/* unix_lock */

	if (list_empty(l))
		return;
	spin_lock(&unix_lock);
	list_splice_tail(l, &graveyard);
	if (busy) {
		spin_unlock(&unix_lock);
		return;
	}
	busy = true;
	while (!list_empty(&graveyard)) {
		struct umsg *m = list_first(&graveyard, struct umsg, node);

		list_del(&m->node);
		spin_unlock(&unix_lock);
		free_one(m);
		spin_lock(&unix_lock);
	}
	busy = false;
	spin_unlock(&unix_lock);
}

/* --- sending --------------------------------------------------------------------------------- */

static bool may_send_more(const struct usock *s)
{
	return READ_ONCE(s->tx_bytes) < s->sndbuf;
}

static ktime deadline_after(ktime timeo)
{
	return timeo ? ktime_now() + timeo : KTIME_MAX;
}

static long wait_room(struct usock *s, ktime deadline, bool nonblock)
{
	long err;

	if (may_send_more(s))
		return 0;
	if (nonblock)
		return -EAGAIN;
	err = wait_event_interruptible_until(&s->wq, may_send_more(s) || READ_ONCE(s->wr_shut),
					     deadline);
	return err == -ETIMEDOUT ? -EAGAIN : err;
}

static void queue_locked(struct usock *to, struct umsg *m)
{
	m->from->tx_bytes += charge_of(m);
	scm_count(&m->scm, 1);
	list_add_tail(&m->node, &to->rx);
	to->rx_bytes += m->len;
	to->rx_count++;
}

static int stream_error_locked(struct usock *s)
{
	if (s->wr_shut)
		return -EPIPE;
	if (s->err) {
		int err = -s->err;

		s->err = 0;
		return err;
	}
	if (s->state != US_CONNECTED || !s->peer)
		return -ENOTCONN;
	return s->peer->dead || s->peer->rd_shut ? -EPIPE : 0;
}

/* Takes over m on success. *to: the receiver, reference, to be woken. */
static int stream_queue(struct usock *s, struct umsg *m, struct usock **to)
{
	int err;

	spin_lock(&unix_lock);
	err = stream_error_locked(s);
	if (!err) {
		*to = s->peer;
		ref_get(&(*to)->refs);
		queue_locked(*to, m);
	}
	spin_unlock(&unix_lock);
	return err;
}

static void drop_unsent(struct umsg *m, struct scm *scm)
{
	if (scm) {		/* the files stay the caller's */
		*scm = m->scm;
		m->scm.nr = 0;
		m->scm.files = NULL;
	}
	usock_put(m->from);
	kfree(m);
}

/* One piece of a stream (the whole message of a seqpacket). Bytes or -errno. */
static ssize_t stream_piece(struct usock *s, struct uio *u, struct scm *scm, ktime deadline,
			    bool nonblock)
{
	u32 len = s->type == SOCK_STREAM ? min_t(size_t, u->left, STREAM_PIECE) : u->left;
	struct usock *to = NULL;
	struct umsg *m;
	long err = READ_ONCE(s->wr_shut) ? 0 : wait_room(s, deadline, nonblock);

	if (err)
		return err;
	m = umsg_make(s, u, len);
	if (IS_ERR(m))
		return PTR_ERR(m);
	m->scm = *scm;
	err = stream_queue(s, m, &to);
	if (err) {
		drop_unsent(m, scm);
		return err;
	}
	scm->nr = 0;
	scm->files = NULL;
	unix_wake(to, POLLIN | POLLRDNORM);
	usock_put(to);
	return len;
}

static int check_connected(struct usock *s)
{
	int err;

	spin_lock(&unix_lock);
	err = s->wr_shut ? -EPIPE : s->state == US_CONNECTED ? 0 : -ENOTCONN;
	spin_unlock(&unix_lock);
	return err;
}

static ssize_t stream_send(struct usock *s, struct uio *u, struct scm *scm, u32 flags,
			   bool nonblock)
{
	ktime deadline = deadline_after(s->sndtimeo);
	ssize_t total = 0, n = check_connected(s);

	if (!n && s->type == SOCK_SEQPACKET && u->left > s->sndbuf - 32)
		return -EMSGSIZE;
	while (!n && (u->left || (!total && s->type == SOCK_SEQPACKET))) {
		n = stream_piece(s, u, scm, deadline, nonblock);
		if (n < 0)
			break;
		total += n;
		n = 0;
		if (s->type == SOCK_SEQPACKET)
			break;
	}
	if (n == -EPIPE && !(flags & MSG_NOSIGNAL) && !total)
		send_signal_task(current, SIGPIPE, NULL);
	return total ? total : n;
}

/* --- datagrams ------------------------------------------------------------------------------- */

static struct usock *dgram_target(struct usock *s, const struct sock_addr *to, u32 len)
{
	struct usock *t;

	if (len)
		return unix_find(to, len, SOCK_DGRAM);
	spin_lock(&unix_lock);
	t = s->peer;
	if (t)
		ref_get(&t->refs);
	spin_unlock(&unix_lock);
	return t ? t : ERR_PTR(-ENOTCONN);
}

static bool queue_full(const struct usock *s, const struct usock *to)
{
	return to->peer != s && to->rx_count > DGRAM_QUEUE;
}

/* 0, -EAGAIN: the queue is full, other: give up. */
static int dgram_queue(struct usock *s, struct usock *to, struct umsg *m)
{
	int err = 0;

	spin_lock(&unix_lock);
	if (s->wr_shut)
		err = -EPIPE;
	else if (to->dead)
		err = -ECONNREFUSED;
	else if (to->peer && to->peer != s)
		err = -EPERM;
	else if (to->rd_shut)
		err = -EPIPE;
	else if (queue_full(s, to))
		err = -EAGAIN;
	else
		queue_locked(to, m);
	spin_unlock(&unix_lock);
	return err;
}

static bool dgram_can_go(const struct usock *s, const struct usock *to)
{
	return !queue_full(s, to) || READ_ONCE(to->dead) || READ_ONCE(s->wr_shut);
}

/* The partner has gone: the next send says ENOTCONN. */
static void forget_peer(struct usock *s, struct usock *gone)
{
	bool forgot = false;

	spin_lock(&unix_lock);
	if (s->peer == gone) {
		s->peer = NULL;
		s->state = US_FREE;
		forgot = true;
	}
	spin_unlock(&unix_lock);
	if (forgot)
		usock_put(gone);
}

static ssize_t dgram_deliver(struct usock *s, struct usock *to, struct umsg *m, bool nonblock)
{
	ktime deadline = deadline_after(s->sndtimeo);
	long err;

	for (;;) {
		err = dgram_queue(s, to, m);
		if (err != -EAGAIN || nonblock)
			return err;
		err = wait_event_interruptible_until(&to->wq, dgram_can_go(s, to), deadline);
		if (err)
			return err == -ETIMEDOUT ? -EAGAIN : err;
	}
}

static ssize_t dgram_send(struct usock *s, struct uio *u, const struct sock_addr *to, u32 to_len,
			  struct scm *scm, u32 flags, bool nonblock)
{
	struct usock *t;
	struct umsg *m;
	u32 len = u->left;
	long err;

	if (u->left > s->sndbuf - 32)
		return -EMSGSIZE;
	t = dgram_target(s, to, to_len);
	if (IS_ERR(t))
		return PTR_ERR(t);
	err = wait_room(s, deadline_after(s->sndtimeo), nonblock);
	m = err ? ERR_PTR(err) : umsg_make(s, u, len);
	if (IS_ERR(m)) {
		usock_put(t);
		return PTR_ERR(m);
	}
	m->scm = *scm;
	m->addr = s->addr;
	m->addr_len = s->addr_len;
	err = dgram_deliver(s, t, m, nonblock);
	if (err) {
		drop_unsent(m, scm);
		if (err == -ECONNREFUSED)
			forget_peer(s, t);
		if (err == -EPIPE && !(flags & MSG_NOSIGNAL))
			send_signal_task(current, SIGPIPE, NULL);
	} else {
		scm->nr = 0;
		scm->files = NULL;
		unix_wake(t, POLLIN | POLLRDNORM);
	}
	usock_put(t);
	return err ? err : (ssize_t)len;
}

ssize_t unix_send(struct usock *s, struct uio *u, const struct sock_addr *to, u32 to_len,
		  struct scm *scm, u32 flags, bool nonblock)
{
	if (flags & MSG_OOB)
		return -EOPNOTSUPP;
	if (!is_stream(s))
		return dgram_send(s, u, to, to_len, scm, flags, nonblock);
	if (to_len && s->type == SOCK_STREAM)
		return s->state == US_CONNECTED ? -EISCONN : -EOPNOTSUPP;
	return stream_send(s, u, scm, flags, nonblock);
}

/* --- receiving (rx_lock held) ---------------------------------------------------------------- */

static struct umsg *first_msg(struct usock *s, u32 skip)
{
	struct umsg *m, *found = NULL;

	spin_lock(&unix_lock);
	list_for_each(m, &s->rx, node) {
		if (!skip--) {
			found = m;
			break;
		}
	}
	spin_unlock(&unix_lock);
	return found;
}

/* Nothing to read: 0 is the end of the stream, -EAGAIN means wait. */
static long why_empty(struct usock *s)
{
	long ret = -EAGAIN;

	spin_lock(&unix_lock);
	if (s->err) {
		ret = -s->err;
		s->err = 0;
	} else if (s->rd_shut) {
		ret = 0;
	} else if (is_stream(s) && s->state != US_CONNECTED) {
		ret = s->type == SOCK_STREAM ? -EINVAL : -ENOTCONN;
	}
	spin_unlock(&unix_lock);
	return ret;
}

static bool something_to_say(struct usock *s)
{
	return !list_empty(&s->rx) || READ_ONCE(s->rd_shut) || READ_ONCE(s->err);
}

/* The first message; NULL with *ret set when there is none. Drops rx_lock while asleep. */
static struct umsg *await_msg(struct usock *s, ktime deadline, bool nonblock, long *ret)
{
	for (;;) {
		struct umsg *m = first_msg(s, 0);

		if (m)
			return m;
		*ret = why_empty(s);
		if (*ret != -EAGAIN || nonblock)
			return NULL;
		mutex_unlock(&s->rx_lock);
		*ret = wait_event_interruptible_until(&s->wq, something_to_say(s), deadline);
		mutex_lock(&s->rx_lock);
		if (*ret) {
			*ret = *ret == -ETIMEDOUT ? -EAGAIN : *ret;
			return NULL;
		}
	}
}

static void consume(struct usock *s, struct umsg *m)
{
	spin_lock(&unix_lock);
	list_del(&m->node);
	s->rx_count--;
	s->rx_bytes -= m->len - m->off;
	spin_unlock(&unix_lock);
	umsg_free(m);
	unix_wake(s, POLLOUT);		/* datagram senders wait on the receiver's queue */
}

/* Files go to the reader (or, when it peeks, copies of the references). */
static void take_scm(struct umsg *m, struct recv_info *info, bool peek)
{
	info->scm.cred = m->scm.cred;
	info->addr = m->addr;
	info->addr_len = m->addr_len;
	if (!m->scm.nr)
		return;
	if (!peek) {
		spin_lock(&unix_lock);
		scm_count(&m->scm, -1);
		info->scm = m->scm;
		m->scm.nr = 0;
		m->scm.files = NULL;
		spin_unlock(&unix_lock);
		return;
	}
	info->scm.files = kcalloc(m->scm.nr, sizeof(struct file *));
	if (!info->scm.files) {
		info->flags |= MSG_CTRUNC;
		return;
	}
	for (u32 i = 0; i < m->scm.nr; i++)
		info->scm.files[i] = file_get(m->scm.files[i]);
	info->scm.nr = m->scm.nr;
}

static bool same_sender(const struct umsg *m, const struct recv_info *info)
{
	return !memcmp(&m->scm.cred, &info->scm.cred, sizeof(m->scm.cred));
}

static void advance(struct usock *s, struct umsg *m, u32 n)
{
	spin_lock(&unix_lock);
	m->off += n;
	s->rx_bytes -= n;
	spin_unlock(&unix_lock);
	if (m->off == m->len)
		consume(s, m);
}

/* Bytes of as many messages as fit, up to one that carries files or comes from somebody else. */
static ssize_t stream_take(struct usock *s, struct umsg *m, struct uio *u, struct recv_info *info,
			   bool peek)
{
	ssize_t total = 0;
	u32 skip = 0;

	take_scm(m, info, peek);
	while (m && u->left && !u->fault) {
		bool files = info->scm.nr;
		u32 n = uio_write(u, m->data + m->off, m->len - m->off);

		total += n;
		if (peek)
			skip++;
		else
			advance(s, m, n);
		if (files)
			break;
		m = first_msg(s, skip);
		if (m && (m->scm.nr || (s->passcred && !same_sender(m, info))))
			break;
	}
	return total ? total : u->fault ? -EFAULT : 0;
}

static ssize_t packet_take(struct usock *s, struct umsg *m, struct uio *u, struct recv_info *info,
			   u32 flags)
{
	u32 want = min_t(size_t, u->left, m->len), n = uio_write(u, m->data, want), len = m->len;

	if (n < want)
		return -EFAULT;
	if (want < len)
		info->flags |= MSG_TRUNC;
	take_scm(m, info, flags & MSG_PEEK);
	if (!(flags & MSG_PEEK))
		consume(s, m);
	return flags & MSG_TRUNC ? len : n;
}

static ssize_t recv_locked(struct usock *s, struct uio *u, struct recv_info *info, u32 flags,
			   bool nonblock)
{
	ktime deadline = deadline_after(s->rcvtimeo);
	ssize_t total = 0, n;
	struct umsg *m;
	long why = 0;

	for (;;) {
		m = await_msg(s, deadline, nonblock || (total && !(flags & MSG_WAITALL)), &why);
		if (!m)
			return total ? total : why;
		if (s->type != SOCK_STREAM)
			return packet_take(s, m, u, info, flags);
		if (total && (m->scm.nr || info->scm.nr))
			return total;
		n = stream_take(s, m, u, info, flags & MSG_PEEK);
		if (n <= 0)
			return total ? total : n;
		total += n;
		if (!(flags & MSG_WAITALL) || (flags & MSG_PEEK) || !u->left)
			return total;
	}
}

ssize_t unix_recv(struct usock *s, struct uio *u, struct recv_info *info, u32 flags, bool nonblock)
{
	ssize_t ret;

	memset(info, 0, sizeof(*info));
	if (flags & MSG_OOB)
		return -EOPNOTSUPP;
	if (s->type == SOCK_STREAM && !u->left)
		return READ_ONCE(s->state) == US_CONNECTED ? 0 : -EINVAL;
	mutex_lock(&s->rx_lock);
	ret = recv_locked(s, u, info, flags, nonblock);
	mutex_unlock(&s->rx_lock);
	if (ret < 0)
		scm_put(&info->scm);
	return ret;
}

u32 unix_poll(struct usock *s)
{
	u32 mask = 0;

	spin_lock(&unix_lock);
	if (s->err)
		mask |= POLLERR;
	if (s->rd_shut && s->wr_shut)
		mask |= POLLHUP;
	if (s->rd_shut)
		mask |= POLLRDHUP | POLLIN | POLLRDNORM;
	if (!list_empty(&s->rx) || !list_empty(&s->pending))
		mask |= POLLIN | POLLRDNORM;
	if (is_stream(s) && s->state == US_FREE)
		mask |= POLLHUP;
	if (s->state != US_LISTENING && s->tx_bytes * 4 <= s->sndbuf &&
	    !(s->peer && !is_stream(s) && queue_full(s, s->peer)))
		mask |= POLLOUT | POLLWRNORM | POLLWRBAND;
	spin_unlock(&unix_lock);
	return mask;
}
