/* SPDX-License-Identifier: MIT */
/*
 * sendmsg, recvmsg and their relatives: vectors, addresses and control messages (cmsg(3)) in and out.
 * Descriptors that arrive are installed as far as the caller's buffer has room for their numbers; the
 * others are closed and MSG_CTRUNC says so.
 */
#include "socket.h"

#include <string.h>

struct msghdr_abi {
	u64 name;
	s32 namelen, pad;
	u64 iov, iovlen;
	u64 control, controllen;
	s32 flags, pad2;
};
_Static_assert(sizeof(struct msghdr_abi) == 56, "struct msghdr of 64-bit Linux");
struct mmsghdr_abi { struct msghdr_abi hdr; u32 len, pad; };
struct cmsghdr_abi { u64 len; s32 level, type; };

#define SOL_SOCKET	1
#define SCM_RIGHTS	1
#define SCM_CREDENTIALS	2

/* --- sending ----------------------------------------------------------------------------------------------- */

static int get_rights(struct scm *scm, const u8 *data, size_t n)
{
	u32 nr = (u32)(n / sizeof(int));

	if (scm->files)
		return -EINVAL;
	if (nr > SCM_MAX_FDS)
		return -EINVAL;
	scm->files = kcalloc(nr ? nr : 1, sizeof(*scm->files));
	if (!scm->files)
		return -ENOMEM;
	for (u32 i = 0; i < nr; i++) {
		int fd;

		memcpy(&fd, data + i * sizeof(int), sizeof(fd));
		scm->files[i] = fd_get(fd);
		if (!scm->files[i])
			return -EBADF;
		scm->nr++;
	}
	return 0;
}

static int get_cred(struct scm *scm, const u8 *data, size_t n)
{
	struct ucred_abi c;

	if (n != sizeof(c))
		return -EINVAL;
	memcpy(&c, data, sizeof(c));
	if ((c.pid != (s32)current->tgid && !capable(CAP_SYS_ADMIN)) ||
	    (c.uid != current->cred.uid && c.uid != current->cred.euid && c.uid != current->cred.suid &&
	     !capable(CAP_SETUID)) ||
	    (c.gid != current->cred.gid && c.gid != current->cred.egid && c.gid != current->cred.sgid &&
	     !capable(CAP_SETGID)))
		return -EPERM;
	scm->cred = c;
	return 0;
}

static int get_control(struct scm *scm, const u8 *ctl, size_t n)
{
	size_t at = 0;
	int err = 0;

	while (!err && n - at >= sizeof(struct cmsghdr_abi)) {
		struct cmsghdr_abi h;
		const u8 *data = ctl + at + sizeof(h);

		memcpy(&h, ctl + at, sizeof(h));
		if (h.len < sizeof(h) || h.len > n - at)
			return -EINVAL;
		if (h.level == SOL_SOCKET && h.type == SCM_RIGHTS)
			err = get_rights(scm, data, h.len - sizeof(h));
		else if (h.level == SOL_SOCKET && h.type == SCM_CREDENTIALS)
			err = get_cred(scm, data, h.len - sizeof(h));
		else if (h.level == SOL_SOCKET)
			err = -EINVAL;
		at += min_t(size_t, ALIGN_UP(h.len, 8UL), n - at);
	}
	return err;
}

static int import_control(const struct msghdr_abi *m, struct scm *scm)
{
	u8 *ctl;
	int err;

	if (!m->controllen)
		return 0;
	if (m->controllen > 20480)
		return -ENOBUFS;
	ctl = kmalloc(m->controllen);
	if (!ctl)
		return -ENOMEM;
	err = copy_from_user(ctl, (void __user *)m->control, m->controllen) ? -EFAULT :
		get_control(scm, ctl, m->controllen);
	kfree(ctl);
	return err;
}

static ssize_t do_send(struct file *f, struct usock *s, const void __user *ua, int ulen, struct uio *u,
		       struct scm *scm, u32 flags)
{
	struct sock_addr a;
	int err;

	if (!ua)
		ulen = 0;
	err = ulen ? get_addr(&a, ua, ulen) : 0;
	if (err)
		return err;
	return unix_send(s, u, ulen ? &a : NULL, (u32)ulen, scm, flags,
			 nonblocking(f) || flags & MSG_DONTWAIT);
}

long sys_sendto(int fd, uaddr buf, size_t len, u32 flags, const void __user *ua, int ulen)
{
	struct scm scm = { .cred = scm_own_cred() };
	struct iovec_abi one;
	struct file *f;
	struct usock *s = get_sock(fd, &f);
	struct uio u;
	ssize_t n;

	if (IS_ERR(s))
		return PTR_ERR(s);
	uio_init_user(&u, buf, min_t(size_t, len, MAX_RW_COUNT), &one);
	n = do_send(f, s, ua, ulen, &u, &scm, flags);
	scm_put(&scm);
	file_put(f);
	return n;
}

static ssize_t send_msg(struct file *f, struct usock *s, const struct msghdr_abi *m, u32 flags)
{
	struct iovec_abi fast[8], *v;
	struct scm scm = { .cred = scm_own_cred() };
	struct uio u;
	ssize_t n = iov_import(m->iov, m->iovlen, fast, ARRAY_SIZE(fast), &v);

	if (n < 0)
		return n == -EINVAL && m->iovlen > IOV_MAX ? -EMSGSIZE : n;
	u = (struct uio){ .user = true, .iov = v, .nr_iov = (u32)m->iovlen, .left = (size_t)n };
	n = import_control(m, &scm);
	if (!n)
		n = do_send(f, s, (const void __user *)m->name, m->name ? m->namelen : 0, &u, &scm, flags);
	scm_put(&scm);
	if (v != fast)
		kfree(v);
	return n;
}

long sys_sendmsg(int fd, const struct msghdr_abi __user *um, u32 flags)
{
	struct msghdr_abi m;
	struct file *f;
	struct usock *s = get_sock(fd, &f);
	ssize_t n;

	if (IS_ERR(s))
		return PTR_ERR(s);
	n = copy_from_user(&m, um, sizeof(m)) ? -EFAULT : send_msg(f, s, &m, flags);
	file_put(f);
	return n;
}

long sys_sendmmsg(int fd, struct mmsghdr_abi __user *um, u32 nr, u32 flags)
{
	struct file *f;
	struct usock *s = get_sock(fd, &f);
	long done = 0, err = 0;

	if (IS_ERR(s))
		return PTR_ERR(s);
	nr = min(nr, (u32)IOV_MAX);
	while (!err && done < (long)nr) {
		struct msghdr_abi m;
		ssize_t n = copy_from_user(&m, &um[done].hdr, sizeof(m)) ? -EFAULT : send_msg(f, s, &m, flags);
		u32 len = (u32)n;

		err = n < 0 ? n : put_user(len, &um[done].len);
		done += !err;
	}
	file_put(f);
	return done ? done : err;
}

/* --- receiving -------------------------------------------------------------------------------------------- */

struct control { u8 buf[sizeof(struct cmsghdr_abi) * 2 + 16 + 4 * SCM_MAX_FDS + 16]; size_t len, room; bool cut; };

static void put_control(struct control *c, int type, const void *data, size_t n)
{
	struct cmsghdr_abi h = { sizeof(h) + n, SOL_SOCKET, type };
	size_t space = ALIGN_UP(h.len, 8UL);

	if (c->room - c->len < h.len) {
		c->cut = true;
		return;
	}
	space = min(space, c->room - c->len);
	memset(c->buf + c->len, 0, space);
	memcpy(c->buf + c->len, &h, sizeof(h));
	memcpy(c->buf + c->len + sizeof(h), data, n);
	c->len += space;
}

/* Install what came along, as many as the caller's buffer has room for. */
static void put_rights(struct control *c, struct recv_info *r, bool cloexec)
{
	int fds[SCM_MAX_FDS];
	size_t room = c->room - c->len;
	u32 fit = room > sizeof(struct cmsghdr_abi) ? (u32)((room - sizeof(struct cmsghdr_abi)) / sizeof(int)) : 0, n = 0;

	while (n < r->scm.nr && n < fit) {
		int fd = fd_alloc(cloexec ? O_CLOEXEC : 0);

		if (fd < 0)
			break;
		fd_install(fd, file_get(r->scm.files[n]));
		fds[n++] = fd;
	}
	if (n)
		put_control(c, SCM_RIGHTS, fds, n * sizeof(int));
	c->cut |= n < r->scm.nr;
}

static int export_control(struct usock *s, struct msghdr_abi *m, struct recv_info *r, u32 flags)
{
	struct control *c = kmalloc(sizeof(*c));
	int err = 0;

	if (!c)
		return -ENOMEM;
	c->len = 0;
	c->cut = false;
	c->room = min_t(size_t, m->control ? m->controllen : 0, sizeof(c->buf));
	if (s->passcred)
		put_control(c, SCM_CREDENTIALS, &r->scm.cred, sizeof(r->scm.cred));
	if (r->scm.nr)
		put_rights(c, r, flags & MSG_CMSG_CLOEXEC);
	if (c->len && copy_to_user((void __user *)m->control, c->buf, c->len))
		err = -EFAULT;
	m->controllen = c->len;
	if (c->cut)
		m->flags |= MSG_CTRUNC;
	kfree(c);
	return err;
}

static int export_name(struct msghdr_abi *m, const struct recv_info *r)
{
	if (!m->name)
		return 0;
	if (r->addr_len && copy_to_user((void __user *)m->name, &r->addr, (size_t)min(m->namelen, (s32)r->addr_len)))
		return -EFAULT;
	m->namelen = (s32)r->addr_len;
	return 0;
}

static ssize_t recv_msg(struct file *f, struct usock *s, struct msghdr_abi *m, u32 flags)
{
	struct iovec_abi fast[8], *v;
	struct recv_info r;
	struct uio u;
	ssize_t n;
	int err;

	if (m->namelen < 0)
		return -EINVAL;
	n = iov_import(m->iov, m->iovlen, fast, ARRAY_SIZE(fast), &v);
	if (n < 0)
		return n;
	u = (struct uio){ .user = true, .iov = v, .nr_iov = (u32)m->iovlen, .left = (size_t)n };
	m->flags = 0;
	n = unix_recv(s, &u, &r, flags, nonblocking(f) || flags & MSG_DONTWAIT);
	if (n >= 0) {
		m->flags |= (s32)r.flags;
		err = export_control(s, m, &r, flags);
		err = err ? err : export_name(m, &r);
		n = err ? err : n;
		scm_put(&r.scm);
	}
	if (v != fast)
		kfree(v);
	return n;
}

static ssize_t recv_msg_user(struct file *f, struct usock *s, struct msghdr_abi __user *um, u32 flags)
{
	struct msghdr_abi m;
	ssize_t n;

	if (copy_from_user(&m, um, sizeof(m)))
		return -EFAULT;
	n = recv_msg(f, s, &m, flags);
	if (n >= 0 && copy_to_user(um, &m, sizeof(m)))
		return -EFAULT;
	return n;
}

long sys_recvmsg(int fd, struct msghdr_abi __user *um, u32 flags)
{
	struct file *f;
	struct usock *s = get_sock(fd, &f);
	ssize_t n;

	if (IS_ERR(s))
		return PTR_ERR(s);
	n = recv_msg_user(f, s, um, flags);
	file_put(f);
	return n;
}

long sys_recvmmsg(int fd, struct mmsghdr_abi __user *um, u32 nr, u32 flags, void __user *timeout)
{
	struct file *f;
	struct usock *s = get_sock(fd, &f);
	long done = 0, err = 0;

	if (IS_ERR(s))
		return PTR_ERR(s);
	(void)timeout;	/* Linux looks at it only between messages; a blocked receive waits on */
	nr = min(nr, (u32)IOV_MAX);
	while (!err && done < (long)nr) {
		ssize_t n = recv_msg_user(f, s, &um[done].hdr, done ? flags | MSG_DONTWAIT : flags);
		u32 len = (u32)n;

		err = n < 0 ? n : put_user(len, &um[done].len);
		done += !err;
	}
	file_put(f);
	return done ? done : err;
}

long sys_recvfrom(int fd, uaddr buf, size_t len, u32 flags, void __user *ua, int __user *ulen)
{
	struct recv_info r;
	struct iovec_abi one;
	struct file *f;
	struct usock *s = get_sock(fd, &f);
	struct uio u;
	ssize_t n;
	int err = 0;

	if (IS_ERR(s))
		return PTR_ERR(s);
	uio_init_user(&u, buf, min_t(size_t, len, MAX_RW_COUNT), &one);
	n = unix_recv(s, &u, &r, flags, nonblocking(f) || flags & MSG_DONTWAIT);
	if (n >= 0) {
		if (ua)
			err = put_addr(&r.addr, r.addr_len, ua, ulen);
		scm_put(&r.scm);
	}
	file_put(f);
	return err ? err : n;
}
