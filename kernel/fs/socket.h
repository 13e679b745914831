/* SPDX-License-Identifier: MIT */
/*
 * AF_UNIX sockets, the only family there is. socket.c: the calls; sockmsg.c: msghdr and control
 * messages; sockopt.c: options; unix.c: addresses and connections; unix_queue.c: moving messages;
 * unix_scm.c: what travels beside the data, and collecting sockets that only travel.
 */
#ifndef KERNEL_FS_SOCKET_H
#define KERNEL_FS_SOCKET_H

#include "internal.h"

#define AF_UNIX		1
#define SOCK_STREAM	1
#define SOCK_DGRAM	2
#define SOCK_SEQPACKET	5

#define MSG_OOB		1
#define MSG_PEEK	2
#define MSG_CTRUNC	8
#define MSG_TRUNC	0x20
#define MSG_DONTWAIT	0x40
#define MSG_EOR		0x80
#define MSG_WAITALL	0x100
#define MSG_NOSIGNAL	0x4000
#define MSG_WAITFORONE	0x10000
#define MSG_CMSG_CLOEXEC 0x40000000

#define SUN_PATH	108
#define SCM_MAX_FDS	253
#define DEFAULT_BUF	212992

struct sock_addr { u16 family; char path[SUN_PATH]; } __packed;
struct ucred_abi { s32 pid; u32 uid, gid; };

/* What travels with a message: open files and who sent it. */
struct scm { u32 nr; struct file **files; struct ucred_abi cred; };

struct usock;
struct umsg {
	struct list node;	/* receiver's rx, or a list of the dead */
	struct usock *from;	/* charged for it; reference */
	u32 len, off;		/* bytes, and how many of them were read (rx_lock) */
	struct scm scm;
	struct sock_addr addr;	/* the sender's, for recvfrom; datagrams */
	u32 addr_len;
	char data[];
};

enum usock_state { US_FREE, US_LISTENING, US_CONNECTED };

/* Everything without a mark is guarded by unix_lock. */
struct usock {
	refcount refs;		/* the file or the accept queue, peers, messages sent */
	int type;		/* immutable */
	enum usock_state state;
	bool dead;		/* its file has gone */
	bool rd_shut, wr_shut;
	struct usock *peer;	/* reference */
	struct list all;	/* all sockets */
	struct file *file;	/* NULL before accept; no reference */

	struct mutex rx_lock;	/* one reader at a time; before unix_lock */
	struct list rx;		/* of umsg */
	u32 rx_bytes, rx_count;
	u32 tx_bytes;		/* sent and not yet read */
	struct waitq wq;
	struct fasync fasync;

	struct list pending;	/* listening: connections to accept, by .pending_node */
	struct list pending_node;
	u32 nr_pending, backlog;

	struct sock_addr addr;
	u32 addr_len;		/* 0: not bound */
	struct inode *inode;	/* of a path name; reference */
	struct ucred_abi cred, peer_cred;

	int err;		/* SO_ERROR, once */
	u32 sndbuf, rcvbuf;
	ktime rcvtimeo, sndtimeo;	/* 0: for ever */
	bool passcred, reuseaddr, keepalive, broadcast;
	struct { int on, seconds; } linger;
	u32 inflight;		/* messages that carry our file */
	bool reachable;		/* collector's mark */
	struct list mark_node;	/* marked, its queue not looked at yet */
};

extern spinlock unix_lock;
extern struct list unix_all;
extern u32 nr_unix;			/* sockets in unix_all; unix_lock */
extern const struct file_ops sock_ops;

static inline bool is_stream(const struct usock *s)
{
	return s->type != SOCK_DGRAM;
}
struct usock *sock_of(struct file *f);		/* NULL: not a socket */
/* socket.c: the socket behind fd, ERR_PTR(-EBADF, -ENOTSOCK); *f has a reference then. */
struct usock *get_sock(int fd, struct file **f);
bool nonblocking(const struct file *f);
int get_addr(struct sock_addr *a, const void __user *ua, int len);
int put_addr(const struct sock_addr *addr, u32 addr_len, void __user *ua, int __user *ulen);

/* A user's address / to a user's buffer with its length word. 0 or -errno. */
int sock_addr_import(uaddr buf, int len, struct sock_addr *a);
int sock_addr_export(const struct sock_addr *a, u32 len, uaddr buf, uaddr ulen);

/* --- unix.c: life, names, connections ------------------------------------------------------ */
struct usock *usock_alloc(int type);
void usock_put(struct usock *s);
void usock_release(struct usock *s);		/* its file has gone */
int unix_bind(struct usock *s, const struct sock_addr *a, u32 len);
int unix_listen(struct usock *s, int backlog);
int unix_connect(struct usock *s, const struct sock_addr *a, u32 len, bool nonblock);
/* The next connection (reference), or ERR_PTR. */
struct usock *unix_accept(struct usock *s, bool nonblock);
void unix_pair(struct usock *a, struct usock *b);
int unix_shutdown(struct usock *s, int how);
/* The socket an address names, with a reference; ERR_PTR. */
struct usock *unix_find(const struct sock_addr *a, u32 len, int type);
void unix_wake(struct usock *s, u32 events);	/* sleepers, pollers and SIGIO */

/* --- unix_queue.c --------------------------------------------------------------------------- */
struct recv_info { struct scm scm; struct sock_addr addr; u32 addr_len; u32 flags; };
/* scm's files are taken over on success (then scm->nr is 0). */
ssize_t unix_send(struct usock *s, struct uio *u, const struct sock_addr *to, u32 to_len,
		  struct scm *scm, u32 flags, bool nonblock);
ssize_t unix_recv(struct usock *s, struct uio *u, struct recv_info *info, u32 flags, bool nonblock);
u32 unix_poll(struct usock *s);
void umsg_free(struct umsg *m);
/* iterative: messages may carry sockets that hold messages */
void umsg_free_list(struct list *l);

/* --- unix_scm.c ------------------------------------------------------------------------------ */
void scm_put(struct scm *scm);
struct ucred_abi scm_own_cred(void);
void scm_count(const struct scm *scm, int change);	/* files of sockets in flight; unix_lock */
u32 scm_inflight(void);
void unix_collect(void);		/* free sockets that only messages refer to */

/* --- sockopt.c ------------------------------------------------------------------------------- */
long sock_setopt(struct usock *s, int level, int name, uaddr val, u32 len);
long sock_getopt(struct usock *s, int level, int name, uaddr val, uaddr ulen);

#endif
