/* SPDX-License-Identifier: MIT */
/*
 * Sockets as files, and the calls that make, name and connect them. Other families than AF_UNIX are
 * EAFNOSUPPORT: there is no network.
 */
#include "socket.h"

#include <string.h>

#define SOCK_TYPE_MASK	0xf
#define SOCK_MAX	11
#define AF_INET		2
#define AF_INET6	10
#define AF_MAX		46
#define FIONREAD	0x541B
#define TIOCOUTQ	0x5411

static struct fs_type sock_type = { .name = "sockfs", .nodev = true };
static struct mount *sock_mount;

void sock_init(void)
{
	sock_mount = kern_mount(&sock_type);
	sock_mount->sb->magic = SOCKFS_MAGIC;
	strlcpy(sock_mount->sb->source, "socket", sizeof(sock_mount->sb->source));
}

struct usock *sock_of(struct file *f)
{
	return f->ops == &sock_ops ? f->priv : NULL;
}

/* --- the file -------------------------------------------------------------------------------- */

static ssize_t sock_read(struct file *f, struct uio *u, loff *pos)
{
	struct recv_info info;
	ssize_t ret = unix_recv(f->priv, u, &info, 0, f->flags & O_NONBLOCK);

	scm_put(&info.scm);	/* read(2) has no place for files */
	return ret;
}

static ssize_t sock_write(struct file *f, struct uio *u, loff *pos)
{
	struct scm scm = { .cred = scm_own_cred() };

	return unix_send(f->priv, u, NULL, 0, &scm, 0, f->flags & O_NONBLOCK);
}

static u32 sock_poll(struct file *f, struct poll_table *pt)
{
	struct usock *s = f->priv;

	poll_wait(f, &s->wq, pt);
	return unix_poll(s);
}

static long sock_ioctl(struct file *f, u32 cmd, u64 arg)
{
	struct usock *s = f->priv;
	int n;

	switch (cmd) {
	case FIONREAD:
		if (s->state == US_LISTENING)
			return -EINVAL;
		spin_lock(&unix_lock);
		n = s->rx_bytes;
		if (!is_stream(s) || s->type == SOCK_SEQPACKET)
			n = list_empty(&s->rx) ? 0 : list_first(&s->rx, struct umsg, node)->len;
		spin_unlock(&unix_lock);
		return put_user(n, (int __user *)arg);
	case TIOCOUTQ:
		n = READ_ONCE(s->tx_bytes);
		return put_user(n, (int __user *)arg);
	default:
		return -ENOTTY;
	}
}

static void sock_release(struct file *f)
{
	usock_release(f->priv);
}

static int sock_fasync(struct file *f, bool on)
{
	return fasync_set(&((struct usock *)f->priv)->fasync, f, on);
}

const struct file_ops sock_ops = {
	.read = sock_read, .write = sock_write, .poll = sock_poll, .ioctl = sock_ioctl,
	.release = sock_release, .fasync = sock_fasync,
};

/* A file for s, whose reference it takes over (also on failure). ERR_PTR. */
static struct file *sock_file(struct usock *s, u32 flags)
{
	struct path p = { sock_mount, NULL };
	struct inode *i = inode_alloc(sock_mount->sb, S_IFSOCK | 0777);
	struct file *f = NULL;

	if (i) {
		inode_init_owner(i, NULL);
		p.dentry = dentry_alloc_pseudo(sock_mount->sb, NULL, i);
		if (!p.dentry)
			inode_put(i);
	}
	if (p.dentry) {
		mount_get(p.mnt);
		f = file_new(&p, O_RDWR | (flags & O_NONBLOCK), &sock_ops);
	}
	if (!f) {
		usock_release(s);
		return ERR_PTR(-ENOMEM);
	}
	f->priv = s;
	spin_lock(&unix_lock);
	s->file = f;
	spin_unlock(&unix_lock);
	return f;
}

static struct file *sock_open(int type, u32 flags)
{
	struct usock *s = usock_alloc(type);

	return s ? sock_file(s, flags) : ERR_PTR(-ENOMEM);
}

/* --- socket, socketpair ---------------------------------------------------------------------- */

/* The kind of socket to make: SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET or -errno. */
static int check_kind(int family, int type, int protocol)
{
	if (type & ~(SOCK_TYPE_MASK | O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	type &= SOCK_TYPE_MASK;
	if (family < 0 || family >= AF_MAX)
		return -EAFNOSUPPORT;
	if (type >= SOCK_MAX)
		return -EINVAL;
	if (family != AF_UNIX)
		return -EAFNOSUPPORT;
	if (protocol && protocol != AF_UNIX)
		return -EPROTONOSUPPORT;
	if (type == 3)		/* SOCK_RAW: an old name for datagrams */
		return SOCK_DGRAM;
	if (type != SOCK_STREAM && type != SOCK_DGRAM && type != SOCK_SEQPACKET)
		return -ESOCKTNOSUPPORT;
	return type;
}

long sys_socket(int family, int type, int protocol)
{
	int kind = check_kind(family, type, protocol);

	return kind < 0 ? kind : fd_new(sock_open(kind, type), type);
}

static long pair_fds(struct file *f[2], u32 flags, int __user *ufds)
{
	int fds[2];
	long err = 0;

	fds[0] = fd_alloc(flags);
	fds[1] = fds[0] < 0 ? fds[0] : fd_alloc(flags);
	if (fds[1] < 0)
		err = fds[1];
	else if (copy_to_user(ufds, fds, sizeof(fds)))
		err = -EFAULT;
	for (int k = 0; k < 2; k++) {
		if (!err) {
			fd_install(fds[k], f[k]);
			continue;
		}
		if (fds[k] >= 0)
			fd_release(fds[k]);
		file_put(f[k]);
	}
	return err;
}

long sys_socketpair(int family, int type, int protocol, int __user *ufds)
{
	int kind = check_kind(family, type, protocol);
	struct file *f[2];

	if (family == AF_INET || family == AF_INET6)
		return -EOPNOTSUPP;	/* no kernel has pairs of them */
	if (kind < 0)
		return kind;
	f[0] = sock_open(kind, type);
	if (IS_ERR(f[0]))
		return PTR_ERR(f[0]);
	f[1] = sock_open(kind, type);
	if (IS_ERR(f[1])) {
		file_put(f[0]);
		return PTR_ERR(f[1]);
	}
	unix_pair(f[0]->priv, f[1]->priv);
	return pair_fds(f, type, ufds);
}

/* --- names and connections ------------------------------------------------------------------- */

/* The socket behind fd and its file's reference; ERR_PTR. */
static struct usock *sock_get(int fd, struct file **f)
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

int sock_addr_import(uaddr buf, int len, struct sock_addr *a)
{
	memset(a, 0, sizeof(*a));
	if (len < 0 || len > 128)
		return -EINVAL;
	/* More than a sockaddr_un is an error of its family's, not of the copy. */
	return copy_from_user(a, (void __user *)buf, min_t(u32, len, sizeof(*a))) ? -EFAULT : 0;
}

int sock_addr_export(const struct sock_addr *a, u32 len, uaddr buf, uaddr ulen)
{
	int room;

	if (get_user(room, (int __user *)ulen))
		return -EFAULT;
	if (room < 0)
		return -EINVAL;
	if (copy_to_user((void __user *)buf, a, min_t(u32, room, len)))
		return -EFAULT;
	return put_user((int)len, (int __user *)ulen);
}

long sys_bind(int fd, uaddr addr, int len)
{
	struct sock_addr a;
	struct file *f;
	struct usock *s = sock_get(fd, &f);
	long err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = sock_addr_import(addr, len, &a);
	if (!err)
		err = unix_bind(s, &a, len);
	file_put(f);
	return err;
}

long sys_listen(int fd, int backlog)
{
	struct file *f;
	struct usock *s = sock_get(fd, &f);
	long err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = unix_listen(s, backlog);
	file_put(f);
	return err;
}

long sys_connect(int fd, uaddr addr, int len)
{
	struct sock_addr a;
	struct file *f;
	struct usock *s = sock_get(fd, &f);
	long err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = sock_addr_import(addr, len, &a);
	if (!err)
		err = unix_connect(s, &a, len, f->flags & O_NONBLOCK);
	file_put(f);
	return err;
}

/* The address of s (or of who it is connected to): its length, at least the family's. */
static u32 name_of(struct usock *s, struct sock_addr *a)
{
	u32 len;

	spin_lock(&unix_lock);
	*a = s->addr;
	len = s->addr_len;
	spin_unlock(&unix_lock);
	a->family = AF_UNIX;
	return len ? len : sizeof(a->family);
}

static long accept_fd(struct usock *s, bool nonblock, uaddr addr, uaddr ulen, u32 flags)
{
	struct usock *c = unix_accept(s, nonblock);
	struct sock_addr a;
	struct file *f;
	u32 len;
	long err = 0;

	if (IS_ERR(c))
		return PTR_ERR(c);
	f = sock_file(c, flags);
	if (IS_ERR(f))
		return PTR_ERR(f);
	if (addr) {
		len = c->peer ? name_of(c->peer, &a) : sizeof(a.family);
		a.family = AF_UNIX;
		err = sock_addr_export(&a, len, addr, ulen);
	}
	if (err) {
		file_put(f);
		return err;
	}
	return fd_new(f, flags);
}

long sys_accept4(int fd, uaddr addr, uaddr ulen, u32 flags)
{
	struct file *f;
	struct usock *s;
	long ret;

	if (flags & ~(O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	s = sock_get(fd, &f);
	if (IS_ERR(s))
		return PTR_ERR(s);
	ret = accept_fd(s, f->flags & O_NONBLOCK, addr, ulen, flags);
	file_put(f);
	return ret;
}

long sys_accept(int fd, uaddr addr, uaddr ulen)
{
	return sys_accept4(fd, addr, ulen, 0);
}

long sys_getsockname(int fd, uaddr addr, uaddr ulen)
{
	struct sock_addr a;
	struct file *f;
	struct usock *s = sock_get(fd, &f);
	long err;
	u32 len;

	if (IS_ERR(s))
		return PTR_ERR(s);
	len = name_of(s, &a);
	err = sock_addr_export(&a, len, addr, ulen);
	file_put(f);
	return err;
}

long sys_getpeername(int fd, uaddr addr, uaddr ulen)
{
	struct sock_addr a;
	struct file *f;
	struct usock *s = sock_get(fd, &f), *peer;
	long err = -ENOTCONN;
	u32 len;

	if (IS_ERR(s))
		return PTR_ERR(s);
	spin_lock(&unix_lock);
	peer = s->peer;
	if (peer)
		ref_get(&peer->refs);
	spin_unlock(&unix_lock);
	if (peer) {
		len = name_of(peer, &a);
		err = sock_addr_export(&a, len, addr, ulen);
		usock_put(peer);
	}
	file_put(f);
	return err;
}

long sys_shutdown(int fd, int how)
{
	struct file *f;
	struct usock *s = sock_get(fd, &f);
	long err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = unix_shutdown(s, how);
	file_put(f);
	return err;
}

long sys_setsockopt(int fd, int level, int name, uaddr val, int len)
{
	struct file *f;
	struct usock *s;
	long err;

	if (len < 0)
		return -EINVAL;
	s = sock_get(fd, &f);
	if (IS_ERR(s))
		return PTR_ERR(s);
	err = sock_setopt(s, level, name, val, len);
	file_put(f);
	return err;
}

long sys_getsockopt(int fd, int level, int name, uaddr val, uaddr ulen)
{
	struct file *f;
	struct usock *s = sock_get(fd, &f);
	long err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = sock_getopt(s, level, name, val, ulen);
	file_put(f);
	return err;
}
