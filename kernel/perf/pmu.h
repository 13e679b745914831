/* SPDX-License-Identifier: MIT */
/*
 * The interface between the perf core and a PMU driver.
 *
 * A driver knows one kind of PMU: how an event is encoded, which counters may carry it, and how
 * to touch the counters of the CPU it runs on. The core knows everything else: who counts, when,
 * on which CPU, widths, periods, groups, times. A driver never crosses CPUs, takes no lock, keeps
 * no per-event state outside struct perf_hw and includes nothing of the core but this header.
 *
 * Counters are numbered 0..63 (the driver's own numbers) and sets of them are u64 masks.
 *
 * Life of an event in the driver:
 *   event_init                    at open (process context)
 *   choose                        whenever the core wants to know whether it fits (pure)
 *   program .. read/write .. stop one stay on one counter of one CPU, IRQs off, any CPU in cpus
 *
 * Counters start and stop only together: the core pauses the PMU, programs and stops what it has to, and
 * resume says which counters run from then on. So a context switch costs a driver the event and the value of
 * each counter, and one write of each register that holds a bit for every counter.
 *
 * Counting and the width. A counter counts up modulo 2^width. Between two looks of the core it
 * must advance by less than 2^width: the core loads a start value so that the counter overflows
 * after at most half its range, and the driver's interrupt makes the core look. So a driver needs
 * no software extension: it reports raw values, the core adds differences.
 */
#ifndef PERF_PMU_H
#define PERF_PMU_H

#include <perch/list.h>
#include <perch/types.h>
#include <linux/perf_event.h>

struct pmu;
struct pt_regs;

/*
 * Why an open was refused (/proc/self/perf_refusal). event_init fills it with perf_refuse and
 * returns that function's result:  return perf_refuse(why, -EINVAL, "config", attr->config, "CHAIN
 * cannot be asked for");   field and reason are string constants. why may be NULL.
 */
struct perf_why {
	int err;
	const char *field;
	u64 value;
	const char *reason;
};
void perf_note_refusal(struct perf_why *why, int err, const char *field, u64 value, const char *reason)
	__attribute__((cold));
static inline int perf_refuse(struct perf_why *why, int err, const char *field, u64 value, const char *reason)
{
	perf_note_refusal(why, err, field, value, reason);
	return err;	/* the compiler knows which, and need not ask whether it is one */
}

/* An event as the driver sees it. The memory is the core's. */
struct perf_hw {
	/* Written by event_init, constant afterwards. */
	u64 config;		/* driver's encoding of event and filters */
	u64 counters;		/* which counters may carry it: for the user and the tests; choose decides */
	u32 flags;		/* PERF_HW_x below, driver's private bits from bit 16 up */
	/* Written by the core while the event is on a counter. */
	s16 counter;		/* its number, -1 if none */
	u8 width;		/* bits, from pmu->width, on the counter width_on */
	s8 width_on;		/* -1: not asked yet */
	u64 taken;		/* what choose returned */
	u64 prev;		/* raw value at the last look */
};
#define PERF_HW_USER_READ	1u	/* config asks for user-space reads (rdpmc) */
#define PERF_HW_WIDE		2u	/* a 64-bit event */

/* What runs after a pause. interrupts and forget are about the counters' overflows. */
struct pmu_run {
	u64 counters;		/* these count; 0: nothing does, the PMU may stay paused */
	u64 interrupts;		/* of these, the ones that interrupt (not the low half of a pair) */
	u64 forget;		/* programmed or taken off since the pause: stale overflow flags of these */
};

/* What the event is going to be opened on. */
struct perf_hw_target {
	bool task;		/* follows a task */
	int cpu;		/* -1: any */
};

struct pmu_ops {
	/*
	 * Is attr an event of this PMU, and which? attr->type is HARDWARE, HW_CACHE (extended type
	 * already removed from config), RAW, or pmu->type. Fills hw. Returns 0;
	 * -ENOENT if the event does not exist here (perf prints <not supported>), -EOPNOTSUPP for a
	 * filter or feature the hardware lacks, -EINVAL for nonsense. Process context.
	 * For PERF_TYPE_RAW and HARDWARE with an extended type the core calls the named PMU only;
	 * otherwise it asks every PMU in order of registration until one does not say -ENOENT.
	 */
	int (*event_init)(struct pmu *pmu, struct perf_hw *hw, const struct perf_event_attr *attr,
			  const struct perf_hw_target *target, struct perf_why *why);
	/*
	 * Pure: choose a counter for hw among the free ones. Returns its number and sets *taken to
	 * every counter it uses up (two for a chained pair), a subset of free; or -1 if it does not
	 * fit. Must be monotonic: what fits into a set fits into every larger one. Any context.
	 */
	int (*choose)(const struct pmu *pmu, const struct perf_hw *hw, u64 free, u64 *taken);
	/* Pure: width in bits (1..64) that hw has on this counter. Any context. */
	u8 (*width)(const struct pmu *pmu, const struct perf_hw *hw, int counter);

	/* The rest touches this CPU's registers: IRQs off, on a CPU of pmu->cpus. */

	/*
	 * Put hw on a counter that is not in use: event, filters and start value. That is minus what is left until
	 * the overflow, so a counter that is wider than what width said overflows as one of that width.
	 * PMU paused; it counts from resume on.
	 */
	void (*program)(struct pmu *pmu, struct perf_hw *hw, u64 start);
	/* Take it off: returns the last raw value, as read. PMU paused; hw->counter is still set. */
	u64 (*stop)(struct pmu *pmu, struct perf_hw *hw);
	/* Raw value of a programmed counter: only its low width bits mean something. read: paused or not. */
	u64 (*read)(struct pmu *pmu, struct perf_hw *hw);
	u64 (*read_paused)(struct pmu *pmu, struct perf_hw *hw);
	/* Give a programmed counter another start value. Its overflow flag has been taken before. PMU paused. */
	void (*write)(struct pmu *pmu, struct perf_hw *hw, u64 value);
	/* Stop all counters of this CPU together, and let those of run go on, without loss of values. Not
	 * nested; several resumes with no counters may follow one pause. The PMU is paused after cpu_online
	 * until the first resume. */
	void (*pause)(struct pmu *pmu);
	void (*resume)(struct pmu *pmu, const struct pmu_run *run);
	/* Once for each CPU of cpus, on it, before anything else: reset, user access off, paused. */
	void (*cpu_online)(struct pmu *pmu);
	/*
	 * open: user code of this CPU may read the counters from now on; used are the running task's, nobody
	 * else has any, and all others must read as 0. Else such reads trap. NULL if the PMU cannot.
	 */
	void (*user_access)(struct pmu *pmu, bool open, u64 used);
	/* User page: index of the counter that hw is on, and the width of all its counters in bits, for events
	 * with PERF_HW_USER_READ. NULL if user_access is. */
	u32 (*user_index)(const struct pmu *pmu, const struct perf_hw *hw);
	u8 (*user_width)(const struct pmu *pmu, const struct perf_hw *hw);
};

/* A file below /sys/bus/event_source/devices/NAME/. */
struct pmu_attr {
	const char *dir;	/* "format", "events", "caps", or NULL for the top */
	const char *name;
	const char *text;	/* contents with the final \n */
};

struct pmu {
	/* The driver fills these before pmu_register and does not change them afterwards. */
	const char *name;	/* as in sysfs: "armv8_pmuv3" */
	const struct pmu_ops *ops;
	u64 cpus;		/* CPUs that have it */
	u64 counters;		/* all counters */
	u32 plain;		/* so many events fit, whichever they are, if their flags are 0 (0: none is promised) */
	u32 caps;		/* PMU_x */
	const struct pmu_attr *attrs;
	u32 nr_attrs;
	void *priv;		/* driver's */
	/* The core fills these. */
	u32 type;		/* attr.type that names it */
	u32 index;		/* position among hardware PMUs */
	u32 mux_interval_ms;	/* perf_event_mux_interval_ms */
};
#define PMU_NO_INTERRUPT	1u	/* no overflow interrupt: sampling is EOPNOTSUPP; the core looks at
					 * the counters at each tick instead */
#define PMU_NO_EXCLUDE		2u	/* no exclude_* bit can be honoured */
#define PMU_EXTENDED_TYPE	4u	/* HARDWARE/HW_CACHE may name it in config[63:32] */
#define PMU_EXTENDED_REGS	8u	/* samples may ask for host_regs_extended() */
#define PMU_MAX			4	/* hardware PMUs */

/*
 * Make the PMU known: boot, before perf_init or after, but before the first event of a task, process context, one at
 * a time. The core calls cpu_online on every CPU of cpus that is online, and later from perf_cpu_online.
 * Returns 0, -ENOSPC if there are PMU_MAX already, -EINVAL if an op is missing, -EBUSY once tasks have had events.
 */
int pmu_register(struct pmu *pmu);

/* The PMU of this CPU as the core knows it. O; of a registered PMU. */
struct perf_cpu_pmu;
struct perf_cpu_pmu *perf_pmu_here(struct pmu *pmu);
/*
 * The driver's interrupt handler: counters (at least one) overflowed on this CPU. Before the call the driver has
 * stopped all counters, as pause does, and read and cleared the overflow flags of all of them (clear before
 * the core reloads: QEMU wants that order). True: the same counters are to go on, and the driver sees to it.
 * False: the core has called resume. A counter without an event is ignored.
 * pp: perf_pmu_here. regs: the interrupted registers. IRQs off, interrupt context.
 */
bool perf_pmu_overflow(struct perf_cpu_pmu *pp, u64 counters, const struct pt_regs *regs);

#endif
