/* SPDX-License-Identifier: MIT */
/*
 * A PMU in memory: six programmable counters of sim.width bits and a 64-bit cycle counter (31), as an
 * Arm core has. It obeys pmu.h and checks that the core does, too: nothing is touched from another
 * CPU or with interrupts on, no counter is programmed twice.
 *
 * Events count a fixed number per nanosecond, so the tests know the truth: count == rate * time.
 * config1 bit 0: a 64-bit event, which needs a pair of counters, or the cycle counter.
 */
#include "sim.h"

#define NPROG 6
#define CYCLE 31
#define CYCLES 0x11
#define ALL (((1ULL << NPROG) - 1) | BIT(CYCLE))

struct counter {
	u64 value;
	struct perf_hw *hw;	/* programmed */
	u32 width;
};
static struct regs {
	struct counter c[32];
	u64 overflow;
	u64 run, irq;		/* counters enabled, interrupts enabled */
	bool running;
	bool reset;
	bool user;		/* open to user code */
} regs[SIM_CPUS][2];

static struct regs *mine(struct pmu *pmu)
{
	HOST_ASSERT(host_irqs_off());
	HOST_ASSERT(pmu->cpus & BIT(sim.cpu));
	sim.reg_writes++;
	return &regs[sim.cpu][pmu->index];
}

u32 sim_rate(u64 config)
{
	return config == CYCLES ? 1 : 1 + config % 3;
}

static u64 mask(u32 width)
{
	return width >= 64 ? UINT64_MAX : (1ULL << width) - 1;
}

static int s_event_init(struct pmu *pmu, struct perf_hw *hw, const struct perf_event_attr *a,
			const struct perf_hw_target *t, struct perf_why *why)
{
	if (a->type == PERF_TYPE_HARDWARE) {
		if (a->config != PERF_COUNT_HW_CPU_CYCLES)
			return perf_refuse(why, -ENOENT, "config", a->config, "not in the simulator");
		hw->config = CYCLES;
	} else if (a->type == PERF_TYPE_RAW || a->type == pmu->type) {
		hw->config = a->config & 0xffff;
	} else {
		return perf_refuse(why, -ENOENT, "type", a->type, "not this PMU");
	}
	hw->flags = (a->config1 & 1 ? PERF_HW_WIDE : 0) | (a->config1 & 2 ? PERF_HW_USER_READ : 0);
	if (a->config1 & 2 && !t->task)
		return perf_refuse(why, -EINVAL, "config1", a->config1, "needs a task");
	hw->counters = hw->config == CYCLES ? ALL : ALL & ~BIT(CYCLE);
	return 0;
}

static int s_choose(const struct pmu *pmu, const struct perf_hw *hw, u64 free, u64 *taken)
{
	(void)pmu;
	if (hw->config == CYCLES && free & BIT(CYCLE)) {
		*taken = BIT(CYCLE);
		return CYCLE;
	}
	for (int i = 0; i < NPROG; i++) {
		if (hw->flags & PERF_HW_WIDE) {
			if (i & 1 || (free >> i & 3) != 3)
				continue;
			*taken = 3ULL << i;
			return i;
		}
		if (free & BIT(i)) {
			*taken = BIT(i);
			return i;
		}
	}
	return -1;
}

static u8 s_width(const struct pmu *pmu, const struct perf_hw *hw, int counter)
{
	(void)pmu;
	if (counter == CYCLE && hw->flags & PERF_HW_USER_READ && !(hw->flags & PERF_HW_WIDE))
		return (u8)sim.width;	/* as an Arm core's driver has it */
	return counter == CYCLE || hw->flags & PERF_HW_WIDE ? 64 : (u8)sim.width;
}

static void s_program(struct pmu *pmu, struct perf_hw *hw, u64 start)
{
	struct regs *r = mine(pmu);
	struct counter *c = &r->c[hw->counter];

	HOST_ASSERT(r->reset && !c->hw && !r->running);
	c->hw = hw;
	c->width = hw->width;
	c->value = start & mask(c->width);
}

/* What stands above a counter's width is nobody's business. */
static u64 raw_value(const struct counter *c)
{
	return c->value | (0xa5a5a5a5a5a5a5a5ULL & ~mask(c->width));
}

static u64 s_stop(struct pmu *pmu, struct perf_hw *hw)
{
	struct regs *r = mine(pmu);
	struct counter *c = &r->c[hw->counter];

	HOST_ASSERT(c->hw == hw && !r->running);
	c->hw = NULL;
	return raw_value(c);
}

static u64 s_read(struct pmu *pmu, struct perf_hw *hw)
{
	HOST_ASSERT(mine(pmu)->c[hw->counter].hw == hw);
	return raw_value(&mine(pmu)->c[hw->counter]);
}

static u64 s_read_paused(struct pmu *pmu, struct perf_hw *hw)
{
	HOST_ASSERT(!mine(pmu)->running);
	return s_read(pmu, hw);
}

static void s_write(struct pmu *pmu, struct perf_hw *hw, u64 v)
{
	HOST_ASSERT(mine(pmu)->c[hw->counter].hw == hw && !mine(pmu)->running);
	mine(pmu)->c[hw->counter].value = v & mask(hw->width);
}

static void s_pause(struct pmu *pmu) { HOST_ASSERT(mine(pmu)->running); mine(pmu)->running = false; }
static void s_resume(struct pmu *pmu, const struct pmu_run *run)
{
	struct regs *r = mine(pmu);

	HOST_ASSERT(!r->running && !(run->interrupts & ~run->counters));
	r->run = run->counters;
	r->irq = run->interrupts;
	r->overflow &= ~run->forget;
	r->running = run->counters != 0;
	for (u32 i = 0; i < 32; i++)
		HOST_ASSERT(!(r->irq & BIT(i)) || r->c[i].hw);
}

static void s_user_access(struct pmu *pmu, bool open, u64 used)
{
	struct regs *r = mine(pmu);

	r->user = open;
	for (u32 i = 0; open && i < 32; i++)
		if (!(used & BIT(i)))
			r->c[i].value = 0;
}
static u32 s_user_index(const struct pmu *pmu, const struct perf_hw *hw)
{
	(void)pmu;
	return (u32)hw->counter + 1;
}
static u8 s_user_width(const struct pmu *pmu, const struct perf_hw *hw)
{
	(void)pmu;
	return hw->flags & PERF_HW_WIDE ? 64 : (u8)sim.width;
}

/* What user code on this CPU reads: false is a trap. */
bool sim_user_read(u32 cpu, u32 counter, u64 *value)
{
	*value = regs[cpu][0].c[counter].value;
	return regs[cpu][0].user;
}
static void s_online(struct pmu *pmu)
{
	HOST_ASSERT(!mine(pmu)->reset);
	mine(pmu)->reset = true;
}

static const struct pmu_ops ops = {
	.event_init = s_event_init, .choose = s_choose, .width = s_width, .program = s_program,
	.stop = s_stop, .read = s_read, .read_paused = s_read_paused, .write = s_write, .pause = s_pause, .resume = s_resume,
	.cpu_online = s_online, .user_access = s_user_access, .user_index = s_user_index,
	.user_width = s_user_width,
};
static const struct pmu_attr attrs[] = {
	{ "format", "event", "config:0-15\n" }, { "events", "cpu_cycles", "event=0x0011\n" },
};
static struct pmu pmus[2];

static void reg(int i, const char *name, u64 cpus)
{
	pmus[i] = (struct pmu){ .name = name, .ops = &ops, .cpus = cpus, .counters = ALL, .plain = NPROG,
				.caps = sim.pmu_caps, .attrs = attrs, .nr_attrs = 2 };
	CHECK_EQ(pmu_register(&pmus[i]), 0);
}

void simpmu_reset(void)
{
	for (u32 c = 0; c < SIM_CPUS; c++)
		regs[c][0] = regs[c][1] = (struct regs){ 0 };
}

void simpmu_register(void)
{
	reg(0, "sim_pmu", BIT(SIM_CPUS) - 1);
}

/* Another kind of PMU, on some CPUs. After sim_start. */
void sim_second_pmu(u64 cpus)
{
	reg(1, "sim_little", cpus);
}

/* Longest time without an unseen second wrap, leaving room for late interrupts. */
u64 simpmu_step(void)
{
	return sim.width >= 40 ? 1ULL << 40 : max_t(u64, (1ULL << sim.width) / 16, 1);
}

void simpmu_advance(u64 ns)
{
	for (u32 cpu = 0; cpu < SIM_CPUS; cpu++)
		for (u32 p = 0; p < perf_nr_pmus; p++) {
			struct regs *r = &regs[cpu][p];

			for (u32 i = 0; r->running && i < 32; i++) {
				struct counter *c = &r->c[i];
				u64 add = c->hw && r->run & BIT(i) ? ns * sim_rate(c->hw->config) : 0;

				if (c->value + add > mask(c->width) || c->value + add < c->value)
					r->overflow |= add ? BIT(i) : 0;
				c->value = (c->value + add) & mask(c->width);
			}
		}
}

/* An interrupt may be late, but not so late that a counter could go round unseen. */
static bool can_wait(const struct regs *r)
{
	for (u32 i = 0; i < 32; i++)
		if (r->overflow & BIT(i) && r->c[i].hw && r->c[i].value > mask(r->c[i].width) / 4)
			return false;
	return true;
}

/* Deliver the overflow interrupt of this CPU if it is due. late_irq: sometimes it takes its time. */
bool simpmu_interrupt(u32 cpu, bool force)
{
	for (u32 p = 0; p < perf_nr_pmus; p++) {
		struct regs *r = &regs[cpu][p];
		u64 flags, set = r->overflow;

		if (!set || sim.irq_off[cpu] || sim.cpu != cpu || sim.pmu_caps & PMU_NO_INTERRUPT)
			continue;
		if (!force && sim.late_irq && can_wait(r) && sim_rand(3))
			continue;
		flags = host_irq_save();
		r->overflow = 0;
		r->running = false;
		if (perf_pmu_overflow(perf_pmu_here(&pmus[p]), set, sim.in_kernel ? KERNEL_REGS : USER_REGS)) {
			HOST_ASSERT(!r->running && r->run);
			r->running = true;
		}
		sim.irq_off[cpu] = flags;
	}
	return true;
}

/* For tests: an overflow flag that nobody has asked for. */
void sim_spurious(u32 cpu, u32 counter)
{
	regs[cpu][0].overflow |= BIT(counter);
}
