/* SPDX-License-Identifier: MIT */
/* prctl(2) and personality(2). Options of hardware and kernel parts that Perch has not are EINVAL. */
#include <perch/errno.h>
#include <perch/mm.h>
#include <perch/perf.h>
#include <perch/printk.h>
#include <perch/syscall.h>
#include <perch/uaccess.h>
#include <string.h>

#include "creds.h"
#include "internal.h"

#define PR_SET_PDEATHSIG	1
#define PR_GET_PDEATHSIG	2
#define PR_GET_DUMPABLE		3
#define PR_SET_DUMPABLE		4
#define PR_GET_KEEPCAPS		7
#define PR_SET_KEEPCAPS		8
#define PR_GET_TIMING		13
#define PR_SET_TIMING		14
#define PR_SET_NAME		15
#define PR_GET_NAME		16
#define PR_GET_SECCOMP		21
#define PR_SET_SECCOMP		22
#define PR_CAPBSET_READ		23
#define PR_CAPBSET_DROP		24
#define PR_GET_SECUREBITS	27
#define PR_SET_SECUREBITS	28
#define PR_SET_TIMERSLACK	29
#define PR_GET_TIMERSLACK	30
#define PR_TASK_PERF_EVENTS_DISABLE 31
#define PR_TASK_PERF_EVENTS_ENABLE 32
#define PR_SET_MM		35
#define PR_SET_CHILD_SUBREAPER	36
#define PR_GET_CHILD_SUBREAPER	37
#define PR_SET_NO_NEW_PRIVS	38
#define PR_GET_NO_NEW_PRIVS	39
#define PR_GET_TID_ADDRESS	40
#define PR_GET_THP_DISABLE	42
#define PR_CAP_AMBIENT		47
#define PR_CAP_AMBIENT_IS_SET	1
#define PR_CAP_AMBIENT_RAISE	2
#define PR_CAP_AMBIENT_LOWER	3
#define PR_CAP_AMBIENT_CLEAR_ALL 4

#define SLACK_DEFAULT (50 * NSEC_PER_USEC)

static long set_name(const char __user *uname)
{
	char comm[TASK_COMM_LEN] = { 0 };

	if (strncpy_from_user(comm, uname, TASK_COMM_LEN - 1) < 0)
		return -EFAULT;
	comm[TASK_COMM_LEN - 1] = '\0';
	task_set_comm(current, comm);
	return 0;
}

static long set_pdeathsig(u64 sig)
{
	if (sig > NSIG)
		return -EINVAL;
	current->pdeath_signal = (int)sig;
	return 0;
}

static long set_dumpable(u64 v)
{
	if (v > 1)
		return -EINVAL;
	current->mm->dumpable = v;
	return 0;
}

/* --- capability options */

static long set_keepcaps(u64 v)
{
	struct cred *c = &current->cred;

	if (v > 1)
		return -EINVAL;
	if (c->securebits & SECBIT_KEEP_CAPS_LOCKED)
		return -EPERM;
	c->securebits = (c->securebits & ~SECBIT_KEEP_CAPS) | (v ? SECBIT_KEEP_CAPS : 0);
	return 0;
}

static long set_securebits(u64 v)
{
	struct cred *c = &current->cred;
	u32 locked = (c->securebits & SECBITS_LOCKS) >> 1;	/* the bits under a set lock */

	if ((locked & (c->securebits ^ v)) || ((c->securebits & SECBITS_LOCKS) & ~v) ||
	    (v & ~(u64)SECBITS_ALL) || !capable(CAP_SETPCAP))
		return -EPERM;
	c->securebits = (u32)v;
	return 0;
}

static long capbset(u64 cap, bool drop)
{
	if (cap > CAP_LAST)
		return -EINVAL;
	if (!drop)
		return !!(current->cred.cap_bounding & BIT(cap));
	if (!capable(CAP_SETPCAP))
		return -EPERM;
	current->cred.cap_bounding &= ~BIT(cap);
	return 0;
}

static long cap_ambient(u64 op, u64 cap)
{
	struct cred *c = &current->cred;

	if (op == PR_CAP_AMBIENT_CLEAR_ALL) {
		if (cap)
			return -EINVAL;
		c->cap_ambient = 0;
		return 0;
	}
	if (op < PR_CAP_AMBIENT_IS_SET || op > PR_CAP_AMBIENT_LOWER || cap > CAP_LAST)
		return -EINVAL;
	if (op == PR_CAP_AMBIENT_IS_SET)
		return !!(c->cap_ambient & BIT(cap));
	if (op == PR_CAP_AMBIENT_LOWER) {
		c->cap_ambient &= ~BIT(cap);
		return 0;
	}
	if (!(c->cap_permitted & c->cap_inheritable & BIT(cap)) ||
	    (c->securebits & SECBIT_NO_CAP_AMBIENT_RAISE))
		return -EPERM;
	c->cap_ambient |= BIT(cap);
	return 0;
}

static long set_no_new_privs(u64 v)
{
	if (v != 1)
		return -EINVAL;
	current->cred.no_new_privs = true;
	return 0;
}

static long set_timerslack(u64 v)
{
	/* Real-time tasks have none. */
	if (!current->rt_prio)
		current->slack_ns = (s64)v > 0 ? (ktime)v : SLACK_DEFAULT;
	return 0;
}

/* Options that take one argument and want the others to be 0 refuse anything else. */
static bool extra_args(int option, u64 a2, u64 a3, u64 a4, u64 a5)
{
	switch (option) {
	case PR_SET_NO_NEW_PRIVS:
		return a3 || a4 || a5;
	case PR_GET_NO_NEW_PRIVS:
	case PR_GET_THP_DISABLE:
		return a2 || a3 || a4 || a5;
	case PR_CAP_AMBIENT:
		return a4 || a5;
	}
	return false;
}

static long prctl_caps(int option, u64 a2, u64 a3)
{
	switch (option) {
	case PR_GET_KEEPCAPS:
		return !!(current->cred.securebits & SECBIT_KEEP_CAPS);
	case PR_SET_KEEPCAPS:
		return set_keepcaps(a2);
	case PR_CAPBSET_READ:
		return capbset(a2, false);
	case PR_CAPBSET_DROP:
		return capbset(a2, true);
	case PR_GET_SECUREBITS:
		return current->cred.securebits;
	case PR_SET_SECUREBITS:
		return set_securebits(a2);
	case PR_CAP_AMBIENT:
		return cap_ambient(a2, a3);
	case PR_SET_NO_NEW_PRIVS:
		return set_no_new_privs(a2);
	case PR_GET_NO_NEW_PRIVS:
		return current->cred.no_new_privs;
	}
	return -EINVAL;
}

long sys_prctl(int option, u64 a2, u64 a3, u64 a4, u64 a5)
{
	if (extra_args(option, a2, a3, a4, a5))
		return -EINVAL;
	switch (option) {
	case PR_SET_NAME:
		return set_name((const char __user *)a2);
	case PR_GET_NAME:
		return copy_to_user((void __user *)a2, current->comm, TASK_COMM_LEN) ? -EFAULT : 0;
	case PR_SET_PDEATHSIG:
		return set_pdeathsig(a2);
	case PR_GET_PDEATHSIG:
		return put_user(current->pdeath_signal, (int __user *)a2);
	case PR_GET_DUMPABLE:
		return (long)current->mm->dumpable;
	case PR_SET_DUMPABLE:
		return set_dumpable(a2);
	case PR_GET_TIMING:
		return 0;	/* statistical */
	case PR_SET_TIMING:
		return a2 ? -EINVAL : 0;
	case PR_GET_SECCOMP:
		return current->seccomp.mode;
	case PR_SET_SECCOMP:
		return seccomp_prctl(a2, (const void __user *)a3);
	case PR_SET_TIMERSLACK:
		return set_timerslack(a2);
	case PR_GET_TIMERSLACK:
		return current->slack_ns;
	case PR_TASK_PERF_EVENTS_DISABLE:
		return perf_prctl(false);
	case PR_TASK_PERF_EVENTS_ENABLE:
		return perf_prctl(true);
	case PR_SET_MM:
		return capable(CAP_SYS_RESOURCE) ? -EINVAL : -EPERM;
	case PR_SET_CHILD_SUBREAPER:
		current->proc->subreaper = a2 != 0;
		return 0;
	case PR_GET_CHILD_SUBREAPER:
		return put_user((int)current->proc->subreaper, (int __user *)a2);
	case PR_GET_TID_ADDRESS:
		return put_user((u64)current->clear_child_tid, (u64 __user *)a2);
	case PR_GET_THP_DISABLE:
		return 0;
	}
	return prctl_caps(option, a2, a3);
}

/* The value is kept; ADDR_NO_RANDOMIZE is the part that has an effect (kernel/mm). */
long sys_personality(u32 persona)
{
	u32 old = (u32)current->personality;

	if (persona != 0xffffffff)
		current->personality = persona;
	return old;
}
