/* SPDX-License-Identifier: MIT */
/*
 * Process and thread numbers.
 *
 * A number is taken while a task has it, and as long as a process group or session is named after
 * it: otherwise a new process could find itself in a stranger's group. So each number has a count,
 * and allocation takes the next one that nobody counts on. Numbers are handed out in rising order and wrap
 * at PID_MAX, which gives the longest delay before a number means somebody else.
 *
 * Tasks are found by number through a hash. A process has no entry of its own: it is the process
 * of the task whose pid is its tgid, and that task stays in the table, as a zombie if need be, until
 * the process is reaped. A bitmap of processes gives the walk in order of pid.
 */
#include <perch/errno.h>
#include <perch/printk.h>

#include "internal.h"

#define HASH_SIZE 1024
#define HASH(pid) ((pid) & (HASH_SIZE - 1))

spinlock task_lock = SPINLOCK_INIT;

static u16 pid_count[PID_MAX];		/* uses of each number; task_lock */
static u64 leader_map[PID_MAX / 64];	/* numbers that are processes; task_lock */
static struct list pid_hash[HASH_SIZE];	/* of task.pid_node; task_lock */
u32 last_pid;				/* task_lock */

/* kernel/init.h: before the first task. */
void task_init(void);
void task_init(void)
{
	for (u32 i = 0; i < HASH_SIZE; i++)
		list_init(&pid_hash[i]);
	signals_init();
}

int pid_alloc(void)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	u32 pid = last_pid;
	int ret = -EAGAIN;

	for (u32 tries = 0; tries < PID_MAX; tries++) {
		pid = pid + 1 < PID_MAX ? pid + 1 : PID_RESERVED;
		if (!pid_count[pid]) {
			pid_count[pid] = 1;
			last_pid = pid;
			ret = (int)pid;
			break;
		}
	}
	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

void pid_hold_locked(u32 pid)
{
	ASSERT(spin_is_locked(&task_lock));
	if (!pid)
		return;		/* kernel threads: group and session 0 */
	ASSERT(pid < PID_MAX && pid_count[pid] < UINT16_MAX);
	pid_count[pid]++;
}

void pid_drop_locked(u32 pid)
{
	ASSERT(spin_is_locked(&task_lock));
	if (!pid)
		return;
	ASSERT(pid < PID_MAX && pid_count[pid] > 0);
	pid_count[pid]--;
}

void pid_hash_locked(struct task *t)
{
	ASSERT(spin_is_locked(&task_lock));
	list_add(&t->pid_node, &pid_hash[HASH(t->pid)]);
	if (t->pid == t->tgid)
		leader_map[t->pid / 64] |= BIT(t->pid % 64);
}

void pid_unhash_locked(struct task *t)
{
	ASSERT(spin_is_locked(&task_lock));
	list_del(&t->pid_node);
	if (t->pid == t->tgid)
		leader_map[t->pid / 64] &= ~BIT(t->pid % 64);
}

struct task *task_find_locked(u32 pid)
{
	struct list *head = &pid_hash[HASH(pid)];
	struct task *t;

	ASSERT(spin_is_locked(&task_lock));
	list_for_each(t, head, pid_node)
		if (t->pid == pid)
			return t;
	return NULL;
}

struct process *process_find_locked(u32 pid)
{
	struct task *t = task_find_locked(pid);

	return t && t->tgid == pid ? t->proc : NULL;
}

struct process *process_next(u32 pid_min)
{
	ASSERT(spin_is_locked(&task_lock));
	if (pid_min >= PID_MAX)
		return NULL;
	for (u32 w = pid_min / 64; w < ARRAY_SIZE(leader_map); w++) {
		u64 bits = leader_map[w];

		if (w == pid_min / 64)
			bits &= ~0ULL << (pid_min % 64);
		if (bits)
			return process_find_locked(w * 64 + (u32)__builtin_ctzll(bits));
	}
	return NULL;
}

struct task *task_find_get(u32 pid)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	struct task *t = task_find_locked(pid);

	if (t)
		task_get(t);
	spin_unlock_irqrestore(&task_lock, flags);
	return t;
}

struct process *process_find_get(u32 pid)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	struct process *p = process_find_locked(pid);

	if (p)
		ref_get(&p->refs);
	spin_unlock_irqrestore(&task_lock, flags);
	return p;
}
