/* SPDX-License-Identifier: MIT */
/*
 * The task object: allocation, references, release and freeing.
 *
 * A task starts with two references: the pid table's, dropped when it is reaped, and the
 * scheduler's, dropped after the last switch away from its stack. Whichever goes last finds nobody left
 * to run on the stack. Freeing wants process context (perf and the kernel stack), but the scheduler drops
 * its reference with IRQs off, so dead tasks go on a list that is emptied at places where sleeping is
 * fine: on the way to user space of whoever dropped it, and in fork, wait and exit.
 */
#include <perch/atomic.h>
#include <perch/mm.h>
#include <perch/perf.h>
#include <perch/printk.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

u32 nr_tasks, total_forks;

static struct task *dead_tasks;	/* lock-free stack: pushed anywhere, taken whole */

struct task *task_alloc(void)
{
	struct task *t = kzalloc(sizeof(*t));

	if (!t)
		return NULL;
	t->stack = kstack_alloc();
	if (!t->stack) {
		kfree(t);
		return NULL;
	}
	t->syscalls = syscall_table;
	ref_init(&t->refs, 2);
	spin_init(&t->alloc_lock);
	list_init(&t->thread_node);
	list_init(&t->pid_node);
	list_init(&t->timer_list);
	list_init(&t->se.node);
	sigpending_init(&t->pending);
	return t;
}

void task_free(struct task *t)
{
	ASSERT(list_empty(&t->pid_node) && list_empty(&t->thread_node));
	perf_task_free(t);
	sigpending_flush(&t->pending);
	if (t->sighand)
		sighand_put(t->sighand);
	if (t->user)
		user_put(t->user);
	if (t->proc)
		process_put(t->proc);
	seccomp_free(t);
	kfree(t->perf_refusal);
	kstack_free(t->stack);
	kfree(t);
}

void free_dead_tasks(void)
{
	struct task *t = READ_ONCE(dead_tasks) ? atomic_xchg(&dead_tasks, NULL) : NULL;

	while (t) {
		struct task *next = t->free_next;

		task_free(t);
		t = next;
	}
}

void task_get(struct task *t)
{
	ref_get(&t->refs);
}

void task_put(struct task *t)
{
	struct task *head;

	if (!ref_put(&t->refs))
		return;
	ASSERT(t->exit_state == EXIT_REAPED);
	head = READ_ONCE(dead_tasks);
	do
		t->free_next = head;
	while (!__atomic_compare_exchange_n(&dead_tasks, &head, t, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED));
	if (!(current->flags & (TF_KTHREAD | TF_IDLE)))
		set_task_flag(current, TIF_NOTIFY);
}

void task_release_locked(struct task *t)
{
	struct process *p = t->proc;
	bool leader = p->leader == t;

	ASSERT(spin_is_locked(&task_lock) && t->exit_state != EXIT_REAPED);
	ASSERT(!leader || p->nr_threads == 1);
	t->exit_state = EXIT_REAPED;
	task_account(t);
	rusage_add(&p->dead_threads, &t->ru);
	list_del(&t->thread_node);
	p->nr_threads--;
	nr_tasks--;
	atomic_dec(&t->user->nproc);
	pid_unhash_locked(t);
	pid_drop_locked(t->pid);
	spin_lock(&t->sighand->lock);
	sigpending_flush(&t->pending);
	if (leader)
		sigpending_flush(&p->shared_pending);
	spin_unlock(&t->sighand->lock);
	if (leader)
		process_unlink_locked(p);
	task_put(t);
}

void task_write_comm(struct task *t, const char *comm)
{
	char padded[TASK_COMM_LEN] = { 0 };

	/* Padded, so that a reader without a lock always finds a NUL. */
	strncpy(padded, comm, TASK_COMM_LEN - 1);
	memcpy(t->comm, padded, TASK_COMM_LEN);
}

void task_set_comm(struct task *t, const char *comm)
{
	task_write_comm(t, comm);
	perf_comm(t);
}

void task_notify(void)
{
	atomic_and(&current->flags, ~TIF_NOTIFY);
	free_dead_tasks();
	perf_user_return();
}
