/* SPDX-License-Identifier: MIT */
/*
 * The socket system calls: arguments in and out. Only AF_UNIX exists; what it does is in unix.c and
 * unix_queue.c. A socket's file lives on sockfs, its inode shows as socket:[number]. Messages with their
 * control data are in sockmsg.c, options in sockopt.c.
 */
#include "socket.h"

#include <string.h>

static struct fs_type sock_type = { .name = "sockfs", .nodev = true };
static struct mount *sock_mount;

#define TYPE_MASK	0xf	/* of a type argument; the rest are O_CLOEXEC and O_NONBLOCK */
#define SOCK_RAW	3	/* AF_UNIX takes it for SOCK_DGRAM */

struct usock *sock_of(struct file *f)
{
	return f->ops == &sock_ops ? f->priv : NULL;
}

/* --- files ------------------------------------------------------------------------------------------ */

void sock_init(void)
{
	sock_mount = kern_mount(&sock_type);
	sock_mount->sb->magic = SOCKFS_MAGIC;
	strlcpy(sock_mount->sb->source, "socket", sizeof(sock_mount->sb->source));
}

/* A file for s, whose reference it takes over when it succeeds. */
static struct file *sock_file(struct usock *s, u32 flags)
{
	struct inode *i = inode_alloc(sock_mount->sb, S_IFSOCK | 0777);
	struct dentry *d = i ? dentry_alloc_pseudo(sock_mount->sb, NULL, i) : NULL;
	struct path path;
	struct file *f;

	if (!d) {
		if (i)
			inode_put(i);
		return ERR_PTR(-ENOMEM);
	}
	inode_init_owner(i, NULL);
	path = (struct path){ mount_get(sock_mount), d };
	f = file_new(&path, O_RDWR | (flags & O_NONBLOCK), &sock_ops);
	if (!f) {
		path_put(&path);
		return ERR_PTR(-ENOMEM);
	}
	f->priv = s;
	spin_lock(&unix_lock);
	s->file = f;
	spin_unlock(&unix_lock);
	return f;
}

static long sock_fd(struct usock *s, u32 flags)
{
	struct file *f = sock_file(s, flags);

	if (IS_ERR(f)) {
		usock_release(s);
		return PTR_ERR(f);
	}
	return fd_new(f, flags & O_CLOEXEC);
}

static void sock_release(struct file *f)
{
	usock_release(f->priv);
}

bool nonblocking(const struct file *f)
{
	return f->flags & O_NONBLOCK;
}

static ssize_t sock_read(struct file *f, struct uio *u, loff *pos)
{
	struct recv_info info;
	ssize_t n = unix_recv(f->priv, u, &info, 0, nonblocking(f));

	if (n >= 0)
		scm_put(&info.scm);
	return n;
}

static ssize_t sock_write(struct file *f, struct uio *u, loff *pos)
{
	struct scm scm = { .cred = scm_own_cred() };

	return unix_send(f->priv, u, NULL, 0, &scm, 0, nonblocking(f));
}

static u32 sock_poll(struct file *f, struct poll_table *pt)
{
	struct usock *s = f->priv;

	poll_wait(f, &s->wq, pt);
	return unix_poll(s);
}

/* FIONREAD: what one read could give; a datagram's is the first one. */
static u32 bytes_waiting(struct usock *s)
{
	u32 n;

	spin_lock(&unix_lock);
	n = s->rx_bytes;
	if (s->type != SOCK_STREAM)
		n = list_empty(&s->rx) ? 0 : list_first(&s->rx, struct umsg, node)->len;
	spin_unlock(&unix_lock);
	return n;
}

#define SIOCINQ		0x541b
#define SIOCOUTQ	0x5411

static long sock_ioctl(struct file *f, u32 cmd, u64 arg)
{
	struct usock *s = f->priv;
	int n;

	switch (cmd) {
	case SIOCINQ:
		if (READ_ONCE(s->state) == US_LISTENING)
			return -EINVAL;
		n = (int)bytes_waiting(s);
		break;
	case SIOCOUTQ:
		n = (int)READ_ONCE(s->tx_bytes);
		break;
	default:
		return -ENOTTY;
	}
	return put_user(n, (int __user *)arg);
}

static int sock_fasync(struct file *f, bool on)
{
	return fasync_set(&((struct usock *)f->priv)->fasync, f, on);
}

const struct file_ops sock_ops = {
	.read = sock_read, .write = sock_write, .poll = sock_poll, .ioctl = sock_ioctl,
	.release = sock_release, .fasync = sock_fasync,
};

/* --- calls without data -------------------------------------------------------------------------------- */

static int check_kind(int domain, int type, int protocol)
{
	u32 flags = (u32)type & ~(u32)TYPE_MASK, t = (u32)type & TYPE_MASK;

	if (flags & ~(u32)(O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	if (domain < 0 || domain >= 46)
		return -EAFNOSUPPORT;
	if (t >= 11)
		return -EINVAL;
	if (domain != AF_UNIX)
		return -EAFNOSUPPORT;
	if (protocol && protocol != AF_UNIX)
		return -EPROTONOSUPPORT;
	return t == SOCK_STREAM || t == SOCK_DGRAM || t == SOCK_SEQPACKET || t == SOCK_RAW ? 0 : -ESOCKTNOSUPPORT;
}

static struct usock *new_sock(int type)
{
	u32 t = (u32)type & TYPE_MASK;

	return usock_alloc(t == SOCK_RAW ? SOCK_DGRAM : (int)t);
}

long sys_socket(int domain, int type, int protocol)
{
	int err = check_kind(domain, type, protocol);
	struct usock *s;

	if (err)
		return err;
	s = new_sock(type);
	return s ? sock_fd(s, (u32)type & ~TYPE_MASK) : -ENOMEM;
}

static int pair_files(int type, struct file *f[2])
{
	struct usock *a = new_sock(type), *b = new_sock(type);

	f[0] = f[1] = ERR_PTR(-ENOMEM);
	if (a && b)
		unix_pair(a, b);
	if (a)
		f[0] = b ? sock_file(a, (u32)type) : f[0];
	if (b)
		f[1] = a ? sock_file(b, (u32)type) : f[1];
	if (!IS_ERR(f[0]) && !IS_ERR(f[1]))
		return 0;
	if (!IS_ERR(f[0]))
		file_put(f[0]);
	else if (a)
		usock_release(a);
	if (!IS_ERR(f[1]))
		file_put(f[1]);
	else if (b)
		usock_release(b);
	return -ENOMEM;
}

long sys_socketpair(int domain, int type, int protocol, int __user *ufds)
{
	struct file *f[2];
	int fds[2], err = check_kind(domain, type, protocol);

	if (err == -EAFNOSUPPORT && domain == 2)
		return -EOPNOTSUPP;	/* internet sockets have no pairs, Linux says */
	if (err)
		return err;
	err = pair_files(type, f);
	if (err)
		return err;
	fds[0] = fd_alloc((u32)type & O_CLOEXEC);
	fds[1] = fds[0] < 0 ? fds[0] : fd_alloc((u32)type & O_CLOEXEC);
	err = fds[1] < 0 ? fds[1] : copy_to_user(ufds, fds, sizeof(fds)) ? -EFAULT : 0;
	for (int i = 0; i < 2; i++) {
		if (!err) {
			fd_install(fds[i], f[i]);
			continue;
		}
		if (fds[i] >= 0)
			fd_release(fds[i]);
		file_put(f[i]);
	}
	return err;
}

/* The socket behind fd; *f has a reference then. ERR_PTR. */
struct usock *get_sock(int fd, struct file **f)
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

int get_addr(struct sock_addr *a, const void __user *ua, int len)
{
	memset(a, 0, sizeof(*a));
	if (len < 0 || (u32)len > sizeof(*a))
		return -EINVAL;
	return copy_from_user(a, ua, (size_t)len) ? -EFAULT : 0;
}

/* Give out an address as getsockname does: cut to the caller's length, the true one reported. */
int put_addr(const struct sock_addr *addr, u32 addr_len, void __user *ua, int __user *ulen)
{
	struct sock_addr none = { .family = AF_UNIX };
	int len, full = addr_len ? (int)addr_len : (int)sizeof(none.family);

	if (get_user(len, ulen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	if (copy_to_user(ua, addr_len ? addr : &none, (size_t)min(len, full)))
		return -EFAULT;
	return put_user(full, ulen);
}

/* s's own address or, with peer, its partner's. -ENOTCONN. */
static int put_name(struct usock *s, bool peer, void __user *ua, int __user *ulen)
{
	struct sock_addr a;
	u32 len = 0;
	int err = 0;

	spin_lock(&unix_lock);
	if (peer && !s->peer) {
		err = -ENOTCONN;
	} else {
		const struct usock *of = peer ? s->peer : s;

		a = of->addr;
		len = of->addr_len;
	}
	spin_unlock(&unix_lock);
	return err ? err : put_addr(&a, len, ua, ulen);
}

long sys_bind(int fd, const void __user *ua, int len)
{
	struct sock_addr a;
	struct file *f;
	struct usock *s = get_sock(fd, &f);
	int err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = get_addr(&a, ua, len);
	if (!err)
		err = unix_bind(s, &a, (u32)len);
	file_put(f);
	return err;
}

long sys_connect(int fd, const void __user *ua, int len)
{
	struct sock_addr a;
	struct file *f;
	struct usock *s = get_sock(fd, &f);
	int err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = get_addr(&a, ua, len);
	if (!err)
		err = unix_connect(s, &a, (u32)len, f->flags & O_NONBLOCK);
	file_put(f);
	return err;
}

long sys_listen(int fd, int backlog)
{
	struct file *f;
	struct usock *s = get_sock(fd, &f);
	int err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = unix_listen(s, backlog);
	file_put(f);
	return err;
}

long sys_accept4(int fd, void __user *ua, int __user *ulen, u32 flags)
{
	struct file *f;
	struct usock *s, *c;
	long ret;

	if (flags & ~(u32)(O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	s = get_sock(fd, &f);
	if (IS_ERR(s))
		return PTR_ERR(s);
	c = unix_accept(s, f->flags & O_NONBLOCK);
	file_put(f);
	if (IS_ERR(c))
		return PTR_ERR(c);
	ret = ua ? put_name(c, true, ua, ulen) : 0;
	if (ret) {
		usock_release(c);
		return ret;
	}
	return sock_fd(c, flags);
}

long sys_accept(int fd, void __user *ua, int __user *ulen)
{
	return sys_accept4(fd, ua, ulen, 0);
}

long sys_getsockname(int fd, void __user *ua, int __user *ulen)
{
	struct file *f;
	struct usock *s = get_sock(fd, &f);
	int err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = put_name(s, false, ua, ulen);
	file_put(f);
	return err;
}

long sys_getpeername(int fd, void __user *ua, int __user *ulen)
{
	struct file *f;
	struct usock *s = get_sock(fd, &f);
	int err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = put_name(s, true, ua, ulen);
	file_put(f);
	return err;
}

long sys_shutdown(int fd, int how)
{
	struct file *f;
	struct usock *s = get_sock(fd, &f);
	int err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = how < 0 || how > 2 ? -EINVAL : unix_shutdown(s, how);
	file_put(f);
	return err;
}

long sys_setsockopt(int fd, int level, int name, uaddr val, u32 len)
{
	struct file *f;
	struct usock *s = get_sock(fd, &f);
	long err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = (s32)len < 0 ? -EINVAL : sock_setopt(s, level, name, val, len);
	file_put(f);
	return err;
}

long sys_getsockopt(int fd, int level, int name, uaddr val, uaddr ulen)
{
	struct file *f;
	struct usock *s = get_sock(fd, &f);
	long err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = sock_getopt(s, level, name, val, ulen);
	file_put(f);
	return err;
}
