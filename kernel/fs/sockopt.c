/* SPDX-License-Identifier: MIT */
/* Socket options (socket(7)): those that mean something for AF_UNIX, and those that programs set anyway. */
#include "socket.h"

#include <string.h>

#define SOL_SOCKET	1
#define SO_REUSEADDR	2
#define SO_TYPE		3
#define SO_ERROR	4
#define SO_BROADCAST	6
#define SO_SNDBUF	7
#define SO_RCVBUF	8
#define SO_KEEPALIVE	9
#define SO_LINGER	13
#define SO_PASSCRED	16
#define SO_PEERCRED	17
#define SO_RCVTIMEO	20
#define SO_SNDTIMEO	21
#define SO_ACCEPTCONN	30
#define SO_PROTOCOL	38
#define SO_DOMAIN	39

static int set_timeout(ktime *t, uaddr val, u32 len)
{
	struct timeval64 tv;

	if (len < sizeof(tv))
		return -EINVAL;
	if (copy_from_user(&tv, (void __user *)val, sizeof(tv)))
		return -EFAULT;
	if (tv.tv_usec < 0 || tv.tv_usec >= 1000000)
		return -EDOM;
	if (tv.tv_sec < 0 || tv.tv_sec > KTIME_MAX / NSEC_PER_SEC / 2)
		tv.tv_sec = 0;
	*t = tv.tv_sec * NSEC_PER_SEC + tv.tv_usec * NSEC_PER_USEC;
	return 0;
}

/* Linux doubles what is asked for, within its limits. */
static u32 buffer_size(int v)
{
	return (u32)clamp_t(s64, 2LL * v, 4608, 2 * DEFAULT_BUF);
}

static int set_option(struct usock *s, int name, int v)
{
	switch (name) {
	case SO_PASSCRED: s->passcred = v; return 0;
	case SO_SNDBUF: s->sndbuf = buffer_size(v); return 0;
	case SO_RCVBUF: s->rcvbuf = buffer_size(v); return 0;
	case SO_REUSEADDR: s->reuseaddr = v; return 0;
	case SO_BROADCAST: s->broadcast = v; return 0;
	case SO_KEEPALIVE: s->keepalive = v; return 0;
	default: return -ENOPROTOOPT;
	}
}

static long set_linger(struct usock *s, uaddr val, u32 len)
{
	if (len < sizeof(s->linger))
		return -EINVAL;
	return copy_from_user(&s->linger, (void __user *)val, sizeof(s->linger)) ? -EFAULT : 0;
}

long sock_setopt(struct usock *s, int level, int name, uaddr val, u32 len)
{
	int v;

	if (level != SOL_SOCKET)
		return -EOPNOTSUPP;
	if (name == SO_RCVTIMEO)
		return set_timeout(&s->rcvtimeo, val, len);
	if (name == SO_SNDTIMEO)
		return set_timeout(&s->sndtimeo, val, len);
	if (name == SO_LINGER)
		return set_linger(s, val, len);
	if (len < sizeof(v))
		return -EINVAL;
	if (copy_from_user(&v, (void __user *)val, sizeof(v)))
		return -EFAULT;
	return set_option(s, name, v);
}

/* Value of an option into buf (16 bytes): its length or -errno. */
static int get_option(struct usock *s, int name, void *buf)
{
	struct timeval64 tv;
	int v = 0;

	switch (name) {
	case SO_TYPE: v = (int)s->type; break;
	case SO_ERROR: v = atomic_xchg(&s->err, 0); break;
	case SO_SNDBUF: v = (int)s->sndbuf; break;
	case SO_RCVBUF: v = (int)s->rcvbuf; break;
	case SO_REUSEADDR: v = s->reuseaddr; break;
	case SO_BROADCAST: v = s->broadcast; break;
	case SO_KEEPALIVE: v = s->keepalive; break;
	case SO_PASSCRED: v = s->passcred; break;
	case SO_ACCEPTCONN: v = READ_ONCE(s->state) == US_LISTENING; break;
	case SO_PROTOCOL: v = 0; break;
	case SO_DOMAIN: v = AF_UNIX; break;
	case SO_PEERCRED:
		memcpy(buf, s->peer ? &s->peer_cred : &(struct ucred_abi){ 0, -1U, -1U }, sizeof(struct ucred_abi));
		return sizeof(struct ucred_abi);
	case SO_RCVTIMEO:
	case SO_SNDTIMEO: {
		ktime t = name == SO_RCVTIMEO ? s->rcvtimeo : s->sndtimeo;

		tv = (struct timeval64){ t / NSEC_PER_SEC, t % NSEC_PER_SEC / NSEC_PER_USEC };
		memcpy(buf, &tv, sizeof(tv));
		return sizeof(tv);
	}
	case SO_LINGER:
		memcpy(buf, &s->linger, sizeof(s->linger));
		return sizeof(s->linger);
	default: return -ENOPROTOOPT;
	}
	memcpy(buf, &v, sizeof(v));
	return sizeof(v);
}

long sock_getopt(struct usock *s, int level, int name, uaddr val, uaddr ulen)
{
	u8 buf[16] = { 0 };
	int len, n;

	if (get_user(len, (int __user *)ulen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	n = level == SOL_SOCKET ? get_option(s, name, buf) : -EOPNOTSUPP;
	if (n < 0)
		return n;
	len = min(len, n);
	if (copy_to_user((void __user *)val, buf, (size_t)len))
		return -EFAULT;
	return put_user(len, (int __user *)ulen);
}
