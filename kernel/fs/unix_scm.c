/* SPDX-License-Identifier: MIT */
/*
 * What travels beside the data of a message: open files (SCM_RIGHTS) and the sender's identity.
 *
 * A socket may be sent through a socket, even through itself; when all fds are closed, sockets that
 * sit in each other's queues would keep each other alive for ever. unix_collect finds them: a
 * socket whose file is held by messages only (refs == inflight) is suspect; those that sit in the
 * queue of a socket that is not suspect, directly or over others, are reachable; the queues of the
 * rest are emptied.
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

u32 scm_inflight(void)
{
	return READ_ONCE(total_inflight);
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

static void mark(struct usock *s, struct list *todo)
{
	if (s->reachable)
		return;
	s->reachable = true;
	list_add_tail(&s->mark_node, todo);
}

/* What the messages in a reachable queue carry is reachable, and connections that wait to be
 * accepted. */
static void mark_from(struct usock *s, struct list *todo)
{
	struct usock *e;
	struct umsg *m;

	list_for_each(m, &s->rx, node) {
		for (u32 i = 0; i < m->scm.nr; i++) {
			e = sock_of(m->scm.files[i]);
			if (e)
				mark(e, todo);
		}
	}
	list_for_each(e, &s->pending, pending_node)
		mark(e, todo);
}

/* Each socket and each message is looked at once. */
static void mark_locked(void)
{
	LIST_HEAD(todo);
	struct usock *s;

	list_for_each(s, &unix_all, all)
		s->reachable = false;
	list_for_each(s, &unix_all, all)
		if (s->file ? !suspect(s) : list_empty(&s->pending_node))
			mark(s, &todo);
	while (!list_empty(&todo)) {
		s = list_first(&todo, struct usock, mark_node);
		list_del(&s->mark_node);
		mark_from(s, &todo);
	}
}

/* A round costs O(sockets): it is worth one when that many closings have had a chance to leave
 * some. */
static bool worth_it_locked(void)
{
	static u32 closed;

	if (!total_inflight || ++closed * 8 < nr_unix)
		return false;
	closed = 0;
	return true;
}

void unix_collect(void)
{
	LIST_HEAD(garbage);
	struct usock *s;

	if (!READ_ONCE(total_inflight))
		return;
	spin_lock(&unix_lock);
	if (!worth_it_locked()) {
		spin_unlock(&unix_lock);
		return;
	}
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
