/* SPDX-License-Identifier: MIT */
/*
 * sendmsg, recvmsg and their simpler and plural forms: taking apart and putting together struct
 * msghdr and its control messages. The kernel never trusts the lengths in them.
 */
#include "socket.h"

#include <perch/signal.h>
#include <string.h>

#define SOL_SOCKET	1
#define SCM_RIGHTS	1
#define SCM_CREDENTIALS	2
#define MAX_CONTROL	65536
#define CMSG_HEAD	sizeof(struct cmsghdr_abi)

#define ETOOMANYREFS	109

struct msghdr_abi {
	u64 name;
	u32 namelen, pad;
	u64 iov, iovlen, control, controllen;
	u32 flags, pad2;
};
_Static_assert(sizeof(struct msghdr_abi) == 56, "struct msghdr");
struct mmsghdr_abi { struct msghdr_abi hdr; u32 len, pad; };
struct cmsghdr_abi { u64 len; s32 level, type; };

/* A message whose buffers are in kernel reach. */
struct msg { struct msghdr_abi h; struct iovec_abi fast[8], *iov; struct uio u; };

static int msg_import(struct msg *m, uaddr umsg)
{
	ssize_t total;

	if (copy_from_user(&m->h, (void __user *)umsg, sizeof(m->h)))
		return -EFAULT;
	if ((s32)m->h.namelen < 0)
		return -EINVAL;
	if (m->h.iovlen > IOV_MAX)
		return -EMSGSIZE;
	total = iov_import(m->h.iov, m->h.iovlen, m->fast, ARRAY_SIZE(m->fast), &m->iov);
	if (total < 0)
		return total;
	uio_init_vec(&m->u, m->iov, m->h.iovlen, total);
	return 0;
}

static void msg_end(struct msg *m)
{
	if (m->iov != m->fast)
		kfree(m->iov);
}

static struct usock *get(int fd, struct file **f)
{
	struct usock *s;

	*f = fd_get_io(fd);
	if (!*f)
		return ERR_PTR(-EBADF);
	s = sock_of(*f);
	if (s)
		return s;
	file_put(*f);
	return ERR_PTR(-ENOTSOCK);
}

/* --- control messages out of the user's buffer ----------------------------------------------- */

static int take_fds(struct scm *scm, const int *fds, u32 n)
{
	if (scm->nr + n > SCM_MAX_FDS)
		return -EINVAL;
	if (scm_inflight() > fd_limit() && !capable(CAP_SYS_RESOURCE) && !capable(CAP_SYS_ADMIN))
		return -ETOOMANYREFS;
	if (!scm->files) {
		scm->files = kcalloc(SCM_MAX_FDS, sizeof(scm->files[0]));
		if (!scm->files)
			return -ENOMEM;
	}
	for (u32 i = 0; i < n; i++) {
		struct file *f = fd_get_io(fds[i]);

		if (!f)
			return -EBADF;
		scm->files[scm->nr++] = f;
	}
	return 0;
}

static bool is_own_id(u32 id, u32 real, u32 effective, u32 saved)
{
	return id == real || id == effective || id == saved;
}

/* Only the privileged may claim to be somebody else. */
static int take_cred(struct scm *scm, const struct ucred_abi *c)
{
	const struct cred *own = &current->cred;

	if (c->pid != (s32)current->tgid && !capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (!is_own_id(c->uid, own->uid, own->euid, own->suid) && !capable(CAP_SETUID))
		return -EPERM;
	if (!is_own_id(c->gid, own->gid, own->egid, own->sgid) && !capable(CAP_SETGID))
		return -EPERM;
	scm->cred = *c;
	return 0;
}

static int take_cmsg(struct scm *scm, const struct cmsghdr_abi *c, const void *data, u64 size)
{
	if (c->level != SOL_SOCKET)
		return 0;
	if (c->type == SCM_RIGHTS)
		return take_fds(scm, data, size / sizeof(int));
	if (c->type == SCM_CREDENTIALS)
		return size == sizeof(struct ucred_abi) ? take_cred(scm, data) : -EINVAL;
	return -EINVAL;
}

static int parse_control(struct scm *scm, const char *buf, u64 len)
{
	u64 at = 0;

	while (at + CMSG_HEAD <= len) {
		struct cmsghdr_abi c;
		int err;

		memcpy(&c, buf + at, sizeof(c));
		if (c.len < CMSG_HEAD || c.len > len - at)
			return -EINVAL;
		err = take_cmsg(scm, &c, buf + at + CMSG_HEAD, c.len - CMSG_HEAD);
		if (err)
			return err;
		at += ALIGN_UP(c.len, 8UL);
	}
	return 0;
}

static int import_control(struct scm *scm, uaddr control, u64 len)
{
	char *buf;
	int err;

	if (!len)
		return 0;
	if (len > MAX_CONTROL)
		return -ENOBUFS;
	buf = kmalloc(len);
	if (!buf)
		return -ENOBUFS;
	if (copy_from_user(buf, (void __user *)control, len))
		err = -EFAULT;
	else
		err = parse_control(scm, buf, len);
	kfree(buf);
	return err;
}

/* --- control messages into the user's buffer ------------------------------------------------- */

struct control_out { uaddr start, at; u64 left; u32 flags; };

/* Room for a control message with size bytes of data: the bytes that fit, or 0. */
static u64 control_room(struct control_out *o, u64 size)
{
	u64 n = CMSG_HEAD + size;

	if (o->left < n) {
		o->flags |= MSG_CTRUNC;
		n = o->left;
	}
	return n > CMSG_HEAD ? n - CMSG_HEAD : 0;
}

static int put_cmsg(struct control_out *o, int type, const void *data, u64 size)
{
	struct cmsghdr_abi c = { CMSG_HEAD + size, SOL_SOCKET, type };
	u64 space = min_t(u64, ALIGN_UP(c.len, 8UL), o->left);

	if (copy_to_user((void __user *)o->at, &c, sizeof(c)) ||
	    copy_to_user((void __user *)(o->at + CMSG_HEAD), data, size))
		return -EFAULT;
	o->at += space;
	o->left -= space;
	return 0;
}

/* Install as many files as there is room (and are numbers) for; the others are dropped. */
static int put_files(struct control_out *o, struct scm *scm, u32 flags)
{
	u32 n = control_room(o, scm->nr * sizeof(int)) / sizeof(int), done = 0;
	int fds[SCM_MAX_FDS];
	int err;

	while (done < n) {
		int fd = fd_alloc(flags & MSG_CMSG_CLOEXEC ? O_CLOEXEC : 0);

		if (fd < 0)
			break;
		fds[done++] = fd;
	}
	if (done < scm->nr)
		o->flags |= MSG_CTRUNC;
	err = done ? put_cmsg(o, SCM_RIGHTS, fds, done * sizeof(int)) : 0;
	for (u32 i = 0; i < done; i++) {
		if (err)
			fd_release(fds[i]);
		else
			fd_install(fds[i], file_get(scm->files[i]));
	}
	return err;
}

static int export_control(struct control_out *o, struct usock *s, struct scm *scm, u32 flags)
{
	int err = 0;

	if (s->passcred && control_room(o, sizeof(scm->cred)) == sizeof(scm->cred))
		err = put_cmsg(o, SCM_CREDENTIALS, &scm->cred, sizeof(scm->cred));
	if (!err && scm->nr)
		err = put_files(o, scm, flags);
	return err;
}

/* --- sending --------------------------------------------------------------------------------- */

static ssize_t send_msg(struct file *f, struct msg *m, u32 flags)
{
	struct scm scm = { .cred = scm_own_cred() };
	struct sock_addr to;
	u32 to_len = m->h.name ? m->h.namelen : 0;
	ssize_t ret = 0;

	if (to_len)
		ret = sock_addr_import(m->h.name, to_len, &to);
	if (!ret)
		ret = import_control(&scm, m->h.control, m->h.controllen);
	if (!ret)
		ret = unix_send(f->priv, &m->u, &to, to_len, &scm, flags,
				(f->flags & O_NONBLOCK) || (flags & MSG_DONTWAIT));
	scm_put(&scm);
	return ret;
}

static ssize_t send_user(struct file *f, uaddr umsg, u32 flags)
{
	struct msg m;
	ssize_t ret = msg_import(&m, umsg);

	if (ret)
		return ret;
	ret = send_msg(f, &m, flags);
	msg_end(&m);
	return ret;
}

long sys_sendmsg(int fd, uaddr umsg, u32 flags)
{
	struct file *f;
	struct usock *s = get(fd, &f);
	long ret;

	if (IS_ERR(s))
		return PTR_ERR(s);
	ret = send_user(f, umsg, flags);
	file_put(f);
	return ret;
}

long sys_sendto(int fd, uaddr buf, size_t len, u32 flags, uaddr addr, int alen)
{
	struct file *f;
	struct usock *s = get(fd, &f);
	struct msg m = { .h = { .name = addr, .namelen = alen }, .iov = m.fast };
	long ret = -EFAULT;

	if (IS_ERR(s))
		return PTR_ERR(s);
	len = min_t(size_t, len, MAX_RW_COUNT);
	uio_init_user(&m.u, buf, len);
	if (alen < 0)
		ret = -EINVAL;
	else if (access_ok((void __user *)buf, len))
		ret = send_msg(f, &m, flags);
	file_put(f);
	return ret;
}

long sys_sendmmsg(int fd, uaddr uvec, u32 n, u32 flags)
{
	struct file *f;
	struct usock *s = get(fd, &f);
	u32 done = 0;
	long ret = 0;

	if (IS_ERR(s))
		return PTR_ERR(s);
	for (n = min_t(u32, n, IOV_MAX); done < n; done++) {
		struct mmsghdr_abi __user *v = (struct mmsghdr_abi __user *)uvec + done;

		ret = send_user(f, (uaddr)&v->hdr, flags);
		if (ret >= 0)
			ret = put_user((u32)ret, &v->len);
		if (ret < 0)
			break;
	}
	file_put(f);
	return done ? (long)done : ret;
}

/* --- receiving ------------------------------------------------------------------------------- */

static ssize_t recv_msg(struct file *f, struct msg *m, struct recv_info *info, u32 flags)
{
	return unix_recv(f->priv, &m->u, info, flags,
			 (f->flags & O_NONBLOCK) || (flags & MSG_DONTWAIT));
}

static int export_name(const struct msg *m, const struct recv_info *info, uaddr umsg)
{
	u32 len = info->addr_len;

	if (!m->h.name)
		return 0;
	if (copy_to_user((void __user *)m->h.name, &info->addr, min(len, m->h.namelen)))
		return -EFAULT;
	return put_user(len, &((struct msghdr_abi __user *)umsg)->namelen);
}

static int export_header(struct msg *m, struct usock *s, struct recv_info *info, uaddr umsg,
			 u32 flags)
{
	struct msghdr_abi __user *u = (struct msghdr_abi __user *)umsg;
	struct control_out o = { m->h.control, m->h.control, m->h.controllen, info->flags };
	int err = export_name(m, info, umsg);

	if (!err)
		err = export_control(&o, s, &info->scm, flags);
	if (err)
		return err;
	o.flags |= flags & MSG_CMSG_CLOEXEC;
	if (put_user(o.flags, &u->flags) || put_user(o.at - o.start, &u->controllen))
		return -EFAULT;
	return 0;
}

static ssize_t recv_user(struct file *f, uaddr umsg, u32 flags)
{
	struct recv_info info;
	struct msg m;
	ssize_t ret = msg_import(&m, umsg);
	int err;

	if (ret)
		return ret;
	ret = recv_msg(f, &m, &info, flags);
	if (ret >= 0) {
		err = export_header(&m, f->priv, &info, umsg, flags);
		scm_put(&info.scm);
		ret = err ? err : ret;
	}
	msg_end(&m);
	return ret;
}

long sys_recvmsg(int fd, uaddr umsg, u32 flags)
{
	struct file *f;
	struct usock *s = get(fd, &f);
	long ret;

	if (IS_ERR(s))
		return PTR_ERR(s);
	ret = recv_user(f, umsg, flags);
	file_put(f);
	return ret;
}

long sys_recvfrom(int fd, uaddr buf, size_t len, u32 flags, uaddr addr, uaddr ulen)
{
	struct file *f;
	struct usock *s = get(fd, &f);
	struct recv_info info;
	struct msg m = { .iov = m.fast };
	long ret = -EFAULT;

	if (IS_ERR(s))
		return PTR_ERR(s);
	len = min_t(size_t, len, MAX_RW_COUNT);
	uio_init_user(&m.u, buf, len);
	if (access_ok((void __user *)buf, len)) {
		ret = recv_msg(f, &m, &info, flags);
		if (ret >= 0) {
			int err = addr ? sock_addr_export(&info.addr, info.addr_len, addr,
							  ulen) : 0;

			scm_put(&info.scm);
			ret = err ? err : ret;
		}
	}
	file_put(f);
	return ret;
}

static long recv_many(struct file *f, uaddr uvec, u32 n, u32 flags, ktime deadline)
{
	u32 done = 0;
	long ret = 0;

	while (done < n) {
		struct mmsghdr_abi __user *v = (struct mmsghdr_abi __user *)uvec + done;

		ret = recv_user(f, (uaddr)&v->hdr, flags & ~MSG_WAITFORONE);
		if (ret >= 0)
			ret = put_user((u32)ret, &v->len);
		if (ret < 0)
			break;
		done++;
		if (flags & MSG_WAITFORONE)
			flags |= MSG_DONTWAIT;
		if (ktime_now() >= deadline)	/* looked at after each message, as on Linux */
			break;
	}
	return done ? (long)done : ret;
}

long sys_recvmmsg(int fd, uaddr uvec, u32 n, u32 flags, const struct timespec64 __user *uts)
{
	struct file *f;
	struct usock *s;
	ktime deadline;
	long ret = poll_deadline(uts, &deadline);

	if (ret)
		return ret;
	s = get(fd, &f);
	if (IS_ERR(s))
		return PTR_ERR(s);
	ret = recv_many(f, uvec, min_t(u32, n, IOV_MAX), flags, deadline);
	file_put(f);
	return ret;
}
