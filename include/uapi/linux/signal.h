/* SPDX-License-Identifier: MIT */
/* Signal numbers and layouts of the arm64 Linux ABI (signal(7), sigaction(2); sizes measured with glibc). */
#ifndef UAPI_SIGNAL_H
#define UAPI_SIGNAL_H

#include <perch/types.h>

#define NSIG 64
#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGBUS 7
#define SIGFPE 8
#define SIGKILL 9
#define SIGUSR1 10
#define SIGSEGV 11
#define SIGUSR2 12
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGSTKFLT 16
#define SIGCHLD 17
#define SIGCONT 18
#define SIGSTOP 19
#define SIGTSTP 20
#define SIGTTIN 21
#define SIGTTOU 22
#define SIGURG 23
#define SIGXCPU 24
#define SIGXFSZ 25
#define SIGVTALRM 26
#define SIGPROF 27
#define SIGWINCH 28
#define SIGIO 29
#define SIGPWR 30
#define SIGSYS 31
#define SIGRTMIN 32

#define SIG_DFL 0UL
#define SIG_IGN 1UL

#define SA_NOCLDSTOP	0x00000001
#define SA_NOCLDWAIT	0x00000002
#define SA_SIGINFO	0x00000004
#define SA_UNSUPPORTED	0x00000400
#define SA_EXPOSE_TAGBITS 0x00000800
#define SA_RESTORER	0x04000000
#define SA_ONSTACK	0x08000000
#define SA_RESTART	0x10000000
#define SA_NODEFER	0x40000000
#define SA_RESETHAND	0x80000000

#define SIG_BLOCK 0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2

#define SS_ONSTACK 1
#define SS_DISABLE 2
#define SS_AUTODISARM (1U << 31)
#define MINSIGSTKSZ 5120

struct sigaction_abi {
	u64 handler;
	u64 flags;
	u64 restorer;
	u64 mask;
};

struct stack_abi { u64 sp; s32 flags; u32 pad; u64 size; };

/* 128 bytes; which member of the union counts depends on signo and code. */
struct siginfo_abi {
	s32 signo, error, code, pad;
	union {
		s32 raw[28];
		struct { s32 pid; u32 uid; u64 value; } rt;		/* kill, sigqueue */
		struct { s32 tid, overrun; u64 value; s32 sys_private; } timer;
		struct { s32 pid; u32 uid; s32 status; s32 pad; s64 utime, stime; } chld;
		struct { u64 addr; u64 perf_data; u32 perf_type, perf_flags; } fault;
		struct { s64 band; s32 fd; } poll;
		struct { u64 call_addr; s32 syscall; u32 arch; } sys;
	};
};
_Static_assert(sizeof(struct siginfo_abi) == 128, "siginfo is 128 bytes");

#define SI_USER		0
#define SI_KERNEL	0x80
#define SI_QUEUE	-1
#define SI_TIMER	-2
#define SI_MESGQ	-3
#define SI_ASYNCIO	-4
#define SI_SIGIO	-5
#define SI_TKILL	-6
#define ILL_ILLOPC	1
#define FPE_INTDIV	1
#define SEGV_MAPERR	1
#define SEGV_ACCERR	2
#define BUS_ADRALN	1
#define BUS_ADRERR	2
#define TRAP_BRKPT	1
#define TRAP_TRACE	2
#define TRAP_HWBKPT	4
#define TRAP_PERF	6
#define CLD_EXITED	1
#define CLD_KILLED	2
#define CLD_DUMPED	3
#define CLD_TRAPPED	4
#define CLD_STOPPED	5
#define CLD_CONTINUED	6
#define POLL_IN		1
#define POLL_OUT	2
#define POLL_MSG	3
#define POLL_ERR	4
#define POLL_PRI	5
#define POLL_HUP	6

#define SIGEV_SIGNAL	0
#define SIGEV_NONE	1
#define SIGEV_THREAD	2
#define SIGEV_THREAD_ID	4

#endif
