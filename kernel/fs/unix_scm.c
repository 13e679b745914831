/* SPDX-License-Identifier: MIT */
/*
 * What travels beside the data of a message: open files (SCM_RIGHTS) and the sender's identity.
 *
 * A socket may be sent through a socket, even through itself; when all fds are closed, sockets that
 * sit in each other's queues would keep each other alive for ever. unix_collect finds them: a socket
 * whose file is held by messages only (refs == inflight) is suspect; those that sit in the queue of a
 * socket that is not suspect, directly or over others, are reachable; the queues of the rest are emptied.
 */
#include "socket.h"

#include <string.h>

static u32 total_inflight;		/* sockets in messages; unix_lock */

struct ucred_abi scm_own_cred(void)
{
	const struct cred *c = &current->cred;

	return (struct ucred_abi){ current->tgid, c->euid, c->egid };
}

void scm_put(struct scm *scm)
{
	for (u32 i = 0; i < scm->nr; i++)
		file_put(scm->files[i]);
	kfree(scm->files);
	scm->files = NULL;
	scm->nr = 0;
}

void scm_count(const struct scm *scm, int change)
{
	for (u32 i = 0; i < scm->nr; i++) {
		struct usock *s = sock_of(scm->files[i]);

		if (s) {
			s->inflight += change;
			total_inflight += change;
		}
	}
}

/* --- collecting ------------------------------------------------------------------------------ */

static bool suspect(const struct usock *s)
{
	return s->inflight && s->file && ref_read(&s->file->refs) == (int)s->inflight;
}

/* Mark what the messages of one queue carry. True if something was newly marked. */
static bool mark_queue(struct list *rx)
{
	bool more = false;
	struct umsg *m;

	list_for_each(m, rx, node) {
		for (u32 i = 0; i < m->scm.nr; i++) {
			struct usock *s = sock_of(m->scm.files[i]);

			if (s && !s->reachable) {
				s->reachable = true;
				more = true;
			}
		}
	}
	return more;
}

/* Connections that wait to be accepted (no file, in a list) are as reachable as their listener. */
static bool mark_pending(struct usock *s)
{
	bool more = false;
	struct usock *e;

	list_for_each(e, &s->pending, pending_node) {
		if (!e->reachable) {
			e->reachable = true;
			more = true;
		}
	}
	return more;
}

static void mark_locked(void)
{
	struct usock *s;
	bool more = true;

	list_for_each(s, &unix_all, all)
		s->reachable = s->file ? !suspect(s) : list_empty(&s->pending_node);
	while (more) {
		more = false;
		list_for_each(s, &unix_all, all) {
			if (s->reachable) {
				more |= mark_queue(&s->rx);
				more |= mark_pending(s);
			}
		}
	}
}

void unix_collect(void)
{
	LIST_HEAD(garbage);
	struct usock *s;

	if (!READ_ONCE(total_inflight))
		return;
	spin_lock(&unix_lock);
	mark_locked();
	list_for_each(s, &unix_all, all) {
		if (s->reachable || s->dead || (s->file && !suspect(s)))
			continue;
		list_splice_tail(&s->rx, &garbage);
		s->rx_bytes = s->rx_count = 0;
	}
	spin_unlock(&unix_lock);
	umsg_free_list(&garbage);
}
