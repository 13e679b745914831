/* SPDX-License-Identifier: MIT */
/*
 * Signal frames as arm64 Linux lays them out (asm/sigcontext.h, asm/ucontext.h of the uapi), on the
 * user stack from low to high: siginfo, ucontext with sigcontext, a frame record (fp, lr) that
 * links an unwinder to the interrupted code. sigcontext ends in 4 KiB of records: fpsimd, for
 * faults esr, then the terminator. The handler gets x0 = signal (with SA_SIGINFO also x1 =
 * &siginfo, x2 = &ucontext) and returns to the vDSO's sigreturn trampoline (or sa_restorer).
 */
#include <asm/ptrace.h>
#include <perch/cpu.h>
#include <perch/mm.h>
#include <perch/signal.h>
#include <perch/task.h>
#include <perch/uaccess.h>
#include <string.h>

#include "arch.h"
#include "vdso.h"

struct record_head { u32 magic, size; };

struct fpsimd_record {
	struct record_head head;
	u32 fpsr, fpcr;
	__uint128_t v[32];
};
#define FPSIMD_MAGIC	0x46508001

struct esr_record {
	struct record_head head;
	u64 esr;
};
#define ESR_MAGIC	0x45535201

#define RESERVED_SIZE	4096

struct sigcontext_abi {
	u64 fault_address;
	u64 regs[31];
	u64 sp, pc, pstate;
	u8 reserved[RESERVED_SIZE] __aligned(16);
};

struct ucontext_abi {
	u64 flags, link;
	struct stack_abi stack;
	u64 sigmask;
	u8 unused[120];
	struct sigcontext_abi mc;
};

struct rt_sigframe {
	struct siginfo_abi info;
	struct ucontext_abi uc;
};
_Static_assert(offsetof(struct ucontext_abi, mc) == 176, "uc_mcontext");
_Static_assert(offsetof(struct sigcontext_abi, reserved) == 288, "sigcontext.__reserved");
_Static_assert(sizeof(struct fpsimd_record) == 528, "fpsimd_context");
_Static_assert(sizeof(struct rt_sigframe) == 4688, "the frame of Linux");

#define FRAME_RECORD	16
/* What a program may set in PSTATE: flags, DIT, SSBS. */
#define PSTATE_USER	(0xf0000000UL | 1UL << 24 | 1UL << 12)

/* --- building ---------------------------------------------------------------------------- */

static bool in_altstack(u64 sp)
{
	return current->altstack.size && sp - current->altstack.sp - 1 < current->altstack.size;
}

static bool on_altstack(u64 sp)
{
	return in_altstack(sp) && !(current->altstack.flags & SS_AUTODISARM);
}

static uaddr frame_top(const struct sigaction_abi *sa, const struct pt_regs *regs)
{
	struct task *t = current;

	if ((sa->flags & SA_ONSTACK) && t->altstack.size && !on_altstack(regs->sp))
		return t->altstack.sp + t->altstack.size;
	return regs->sp;
}

/* Would the frame leave the alternative stack that it belongs to? */
static bool overflows_altstack(uaddr top, uaddr frame)
{
	return in_altstack(top) && frame - current->altstack.sp >= current->altstack.size;
}

static int put_fpsimd(u8 __user *at)
{
	const struct fpsimd_state *s = &current->thread.fpsimd;
	struct record_head head = { FPSIMD_MAGIC, sizeof(struct fpsimd_record) };
	u64 flags = irq_save();

	fpsimd_save(&current->thread.fpsimd);
	irq_restore(flags);
	if (copy_to_user(at, &head, sizeof(head)) ||
	    copy_to_user(at + offsetof(struct fpsimd_record, fpsr), &s->fpsr, 8) ||
	    copy_to_user(at + offsetof(struct fpsimd_record, v), s->v, sizeof(s->v)))
		return -EFAULT;
	return 0;
}

/* Records and their terminator. */
static int put_records(u8 __user *at)
{
	struct esr_record esr = { { ESR_MAGIC, sizeof(esr) }, current->thread.fault_esr };
	struct record_head end = { 0, 0 };

	if (put_fpsimd(at))
		return -EFAULT;
	at += sizeof(struct fpsimd_record);
	if (esr.esr) {
		if (copy_to_user(at, &esr, sizeof(esr)))
			return -EFAULT;
		at += sizeof(esr);
	}
	return copy_to_user(at, &end, sizeof(end)) ? -EFAULT : 0;
}

/* Everything of ucontext up to the records in one piece. */
static int put_ucontext(struct ucontext_abi __user *uc, const struct pt_regs *regs, sigset saved)
{
	struct task *t = current;
	struct {
		u64 flags, link;
		struct stack_abi stack;
		u64 sigmask;
		u8 unused[120];
		u64 pad;
		u64 fault_address;
		u64 regs[31];
		u64 sp, pc, pstate;
	} head = {
		.stack.sp = t->altstack.sp,
		.stack.flags = (s32)(t->altstack.flags & SS_AUTODISARM),
		.stack.size = t->altstack.size,
		.sigmask = saved,
		.fault_address = t->thread.fault_address,
		.sp = regs->sp, .pc = regs->pc, .pstate = regs->pstate,
	};

	_Static_assert(offsetof(__typeof__(head), fault_address) == 176, "as in ucontext_abi");
	if (!t->altstack.size)
		head.stack.flags |= SS_DISABLE;
	else if (on_altstack(regs->sp))
		head.stack.flags |= SS_ONSTACK;
	memcpy(head.regs, regs->regs, sizeof(head.regs));
	return copy_to_user(uc, &head, sizeof(head)) || put_records(uc->mc.reserved) ? -EFAULT : 0;
}

int arch_setup_frame(int sig, const struct sigaction_abi *sa, const struct siginfo_abi *info,
		     sigset saved, struct pt_regs *regs)
{
	uaddr top = frame_top(sa, regs);
	uaddr record = ALIGN_DOWN(top - FRAME_RECORD, 16UL);
	struct rt_sigframe __user *f = (void *)(record - sizeof(*f));
	u64 link[2] = { regs->regs[29], regs->regs[30] };

	if (overflows_altstack(top, (uaddr)f) || put_ucontext(&f->uc, regs, saved) ||
	    copy_to_user((void *)record, link, sizeof(link)))
		return -EFAULT;
	if (sa->flags & SA_SIGINFO) {
		if (copy_to_user(&f->info, info, sizeof(*info)))
			return -EFAULT;
		regs->regs[1] = (u64)&f->info;
		regs->regs[2] = (u64)&f->uc;
	}
	regs->regs[0] = (u64)sig;
	regs->regs[29] = record;
	regs->regs[30] = sa->flags & SA_RESTORER ? sa->restorer
						 : current->mm->vdso + vdso_sigreturn_offset();
	regs->sp = (u64)f;
	regs->pc = sa->handler;
	regs->pstate &= ~0xc00UL;	/* BTYPE: a handler needs no landing pad */
	return 0;
}

/* --- taking down ------------------------------------------------------------------------- */

/* A switch in between would save the live registers over the task's copy: so fetch everything
 * first, then make it the task's and the CPU's in one step. */
static int get_fpsimd(const u8 __user *at)
{
	struct fpsimd_state *s = &current->thread.fpsimd;
	struct fpsimd_record r;
	u64 flags;

	if (copy_from_user(&r, at, sizeof(r)))
		return -EFAULT;
	flags = irq_save();
	memcpy(s->v, r.v, sizeof(s->v));
	s->fpsr = r.fpsr;
	s->fpcr = r.fpcr;
	fpsimd_reload_current();
	irq_restore(flags);
	return 0;
}

/* Walk the records; the FP state must be among them, what we did not write is refused. */
static int get_records(const u8 __user *base)
{
	const u8 __user *fp = NULL;
	u32 off = 0;

	for (;;) {
		struct record_head h;

		if (off > RESERVED_SIZE - sizeof(h) || copy_from_user(&h, base + off, sizeof(h)))
			return -EFAULT;
		if (!h.magic && !h.size)
			break;
		if (h.size < sizeof(h) || h.size % 16 || h.size > RESERVED_SIZE - off)
			return -EINVAL;
		if (h.magic == FPSIMD_MAGIC) {
			if (fp || h.size != sizeof(struct fpsimd_record))
				return -EINVAL;
			fp = base + off;
		} else if (h.magic != ESR_MAGIC) {
			return -EINVAL;
		}
		off += h.size;
	}
	return fp ? get_fpsimd(fp) : -EINVAL;
}

static int restore_frame(struct pt_regs *regs, const struct rt_sigframe __user *f, sigset *blocked)
{
	u64 r[34];

	if ((u64)f & 15 || get_user(*blocked, &f->uc.sigmask) ||
	    copy_from_user(r, &f->uc.mc.regs, sizeof(r)))
		return -EFAULT;
	/* Anything but 64-bit EL0 with nothing masked is a forgery. */
	if (r[33] & (PSR_MODE_MASK | 0x3c0))
		return -EINVAL;
	memcpy(regs->regs, r, sizeof(regs->regs));
	regs->sp = r[31];
	regs->pc = r[32];
	regs->pstate = r[33] & PSTATE_USER;
	regs->syscallno = -1;
	return get_records(f->uc.mc.reserved);
}

/* As sigaltstack(2) with the restored stack pointer would; what it would refuse is ignored. */
static void restore_altstack(const struct rt_sigframe __user *f, u64 sp)
{
	struct task *t = current;
	struct stack_abi s;
	u32 mode;

	if (copy_from_user(&s, &f->uc.stack, sizeof(s)) || on_altstack(sp))
		return;
	mode = (u32)s.flags & ~SS_AUTODISARM;
	if (mode == SS_DISABLE)
		s.sp = s.size = 0;
	else if (mode > SS_ONSTACK || s.size < MINSIGSTKSZ)
		return;
	t->altstack.sp = s.sp;
	t->altstack.size = s.size;
	t->altstack.flags = (u32)s.flags;
}

long arch_sigreturn(struct pt_regs *regs, sigset *blocked)
{
	const struct rt_sigframe __user *f = (void *)regs->sp;

	*blocked = current->blocked;
	if (restore_frame(regs, f, blocked)) {
		*blocked = current->blocked;
		force_signal(SIGSEGV, SEGV_MAPERR, regs->sp);
		return (long)regs->regs[0];
	}
	restore_altstack(f, regs->sp);
	return (long)regs->regs[0];
}
