/* SPDX-License-Identifier: MIT */
/* Options of sockets (socket(7), SOL_SOCKET only: AF_UNIX has none of its own). */
#include "socket.h"

#include <string.h>

#define SOL_SOCKET	1
#define SO_DEBUG	1
#define SO_REUSEADDR	2
#define SO_TYPE		3
#define SO_ERROR	4
#define SO_DONTROUTE	5
#define SO_BROADCAST	6
#define SO_SNDBUF	7
#define SO_RCVBUF	8
#define SO_KEEPALIVE	9
#define SO_OOBINLINE	10
#define SO_PRIORITY	12
#define SO_LINGER	13
#define SO_REUSEPORT	15
#define SO_PASSCRED	16
#define SO_PEERCRED	17
#define SO_RCVLOWAT	18
#define SO_SNDLOWAT	19
#define SO_RCVTIMEO	20
#define SO_SNDTIMEO	21
#define SO_ACCEPTCONN	30
#define SO_SNDBUFFORCE	32
#define SO_RCVBUFFORCE	33
#define SO_PROTOCOL	38
#define SO_DOMAIN	39
#define MIN_SNDBUF	4608
#define MIN_RCVBUF	2304
#define MAX_BUF		DEFAULT_BUF

/* The kernel doubles what is asked for: half of it is for bookkeeping. */
static u32 buffer_size(int asked, u32 least, bool force)
{
	u32 n = asked < 0 ? 0 : asked;

	if (!force)
		n = min_t(u32, n, MAX_BUF);
	n = min_t(u32, n, INT32_MAX / 2);
	return max_t(u32, n * 2, least);
}

static long set_timeout(ktime *slot, uaddr val, u32 len)
{
	struct timeval64 tv;

	if (len < sizeof(tv))
		return -EINVAL;
	if (copy_from_user(&tv, (void __user *)val, sizeof(tv)))
		return -EFAULT;
	if (tv.tv_usec < 0 || tv.tv_usec >= 1000000)
		return -EDOM;
	if (tv.tv_sec < 0 || tv.tv_sec > INT32_MAX)
		*slot = 0;
	else
		*slot = tv.tv_sec * NSEC_PER_SEC + tv.tv_usec * NSEC_PER_USEC;
	return 0;
}

static long set_linger(struct usock *s, uaddr val, u32 len)
{
	int v[2];

	if (len < sizeof(v))
		return -EINVAL;
	if (copy_from_user(v, (void __user *)val, sizeof(v)))
		return -EFAULT;
	s->linger.on = !!v[0];
	s->linger.seconds = v[1];
	return 0;
}

static long set_int(struct usock *s, int name, int v)
{
	switch (name) {
	case SO_REUSEADDR:
		s->reuseaddr = v;
		return 0;
	case SO_KEEPALIVE:
		s->keepalive = v;
		return 0;
	case SO_BROADCAST:
		s->broadcast = v;
		return 0;
	case SO_PASSCRED:
		s->passcred = v;
		return 0;
	case SO_SNDBUFFORCE:
	case SO_RCVBUFFORCE:
		if (!capable(CAP_NET_ADMIN))
			return -EPERM;
		/* fall through */
	case SO_SNDBUF:
	case SO_RCVBUF:
		if (name == SO_SNDBUF || name == SO_SNDBUFFORCE)
			s->sndbuf = buffer_size(v, MIN_SNDBUF, name == SO_SNDBUFFORCE);
		else
			s->rcvbuf = buffer_size(v, MIN_RCVBUF, name == SO_RCVBUFFORCE);
		unix_wake(s, POLLOUT);
		return 0;
	case SO_DEBUG:
		return v && !capable(CAP_NET_ADMIN) ? -EACCES : 0;
	case SO_DONTROUTE: case SO_OOBINLINE: case SO_PRIORITY: case SO_REUSEPORT: case SO_RCVLOWAT:
		return 0;	/* accepted as on Linux; nothing on AF_UNIX looks at them */
	default:
		return -ENOPROTOOPT;
	}
}

long sock_setopt(struct usock *s, int level, int name, uaddr val, u32 len)
{
	int v;

	if (level != SOL_SOCKET)
		return -EOPNOTSUPP;
	if (len < sizeof(v))
		return -EINVAL;
	if (get_user(v, (int __user *)val))
		return -EFAULT;
	switch (name) {
	case SO_LINGER:
		return set_linger(s, val, len);
	case SO_RCVTIMEO:
		return set_timeout(&s->rcvtimeo, val, len);
	case SO_SNDTIMEO:
		return set_timeout(&s->sndtimeo, val, len);
	case SO_TYPE: case SO_PROTOCOL: case SO_DOMAIN: case SO_ERROR: case SO_ACCEPTCONN:
	case SO_PEERCRED: case SO_SNDLOWAT:
		return -ENOPROTOOPT;
	default:
		return set_int(s, name, v);
	}
}

/* --- reading --------------------------------------------------------------------------------- */

static long store(uaddr val, uaddr ulen, const void *data, int size)
{
	int room;

	if (get_user(room, (int __user *)ulen))
		return -EFAULT;
	if (room < 0)
		return -EINVAL;
	room = min(room, size);
	if (copy_to_user((void __user *)val, data, room))
		return -EFAULT;
	return put_user(room, (int __user *)ulen);
}

static int take_error(struct usock *s)
{
	int err;

	spin_lock(&unix_lock);
	err = s->err;
	s->err = 0;
	spin_unlock(&unix_lock);
	return err;
}

/* False: no such option. */
static bool get_int(struct usock *s, int name, int *v)
{
	switch (name) {
	case SO_TYPE:
		*v = s->type;
		break;
	case SO_DOMAIN:
		*v = AF_UNIX;
		break;
	case SO_ERROR:
		*v = take_error(s);
		break;
	case SO_SNDBUF:
		*v = s->sndbuf;
		break;
	case SO_RCVBUF:
		*v = s->rcvbuf;
		break;
	case SO_REUSEADDR:
		*v = s->reuseaddr;
		break;
	case SO_KEEPALIVE:
		*v = s->keepalive;
		break;
	case SO_BROADCAST:
		*v = s->broadcast;
		break;
	case SO_PASSCRED:
		*v = s->passcred;
		break;
	case SO_ACCEPTCONN:
		*v = s->state == US_LISTENING;
		break;
	case SO_RCVLOWAT: case SO_SNDLOWAT:
		*v = 1;
		break;
	case SO_DEBUG: case SO_DONTROUTE: case SO_OOBINLINE: case SO_PRIORITY: case SO_REUSEPORT:
	case SO_PROTOCOL:
		*v = 0;
		break;
	default:
		return false;
	}
	return true;
}

static long get_timeout(ktime t, uaddr val, uaddr ulen)
{
	struct timeval64 tv = { t / NSEC_PER_SEC, t % NSEC_PER_SEC / NSEC_PER_USEC };

	return store(val, ulen, &tv, sizeof(tv));
}

static long get_peercred(struct usock *s, uaddr val, uaddr ulen)
{
	struct ucred_abi c = { 0, UINT32_MAX, UINT32_MAX };

	spin_lock(&unix_lock);
	if (s->state == US_CONNECTED)
		c = s->peer_cred;
	else if (s->state == US_LISTENING)
		c = s->cred;
	spin_unlock(&unix_lock);
	return store(val, ulen, &c, sizeof(c));
}

long sock_getopt(struct usock *s, int level, int name, uaddr val, uaddr ulen)
{
	int v, room;

	if (level != SOL_SOCKET)
		return -EOPNOTSUPP;
	if (get_user(room, (int __user *)ulen))
		return -EFAULT;
	if (room < 0)
		return -EINVAL;
	switch (name) {
	case SO_LINGER:
		return store(val, ulen, &s->linger, sizeof(s->linger));
	case SO_RCVTIMEO:
		return get_timeout(s->rcvtimeo, val, ulen);
	case SO_SNDTIMEO:
		return get_timeout(s->sndtimeo, val, ulen);
	case SO_PEERCRED:
		return get_peercred(s, val, ulen);
	default:
		return get_int(s, name, &v) ? store(val, ulen, &v, sizeof(v)) : -ENOPROTOOPT;
	}
}
