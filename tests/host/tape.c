/* SPDX-License-Identifier: MIT */
/* The reader and the judge of tape.h. */
#include "tape.h"

static u64 word_at(const struct tape *t, u64 pos)
{
	u64 at = pos % t->size;

	return ((u64 *)t->pages[1 + at / PAGE])[at % PAGE / 8];
}

bool take(struct tape *t, struct rec *r)
{
	u64 head = __atomic_load_n(&head_page(t)->data_head, __ATOMIC_ACQUIRE);

	if (head == t->tail)
		return false;
	CHECK(head - t->tail < t->size);
	r->w[0] = word_at(t, t->tail);
	r->type = (u32)r->w[0];
	r->misc = r->w[0] >> 32 & 0xffff;
	r->size = (u32)(r->w[0] >> 48);
	CHECK(r->size >= 8 && r->size % 8 == 0 && r->size <= head - t->tail);
	for (u32 i = 1; i < r->size / 8; i++)
		r->w[i] = word_at(t, t->tail + 8 * i);
	t->tail += r->size;
	__atomic_store_n(&head_page(t)->data_tail, t->tail, __ATOMIC_RELEASE);
	return true;
}

int map_try(int fd, u32 total, bool writable, struct tape *t)
{
	int err;

	*t = (struct tape){ .file = sim.fds[fd], .req = { 0, total, true, writable } };
	err = t->file->ops->mmap(t->file->priv, &t->req, &t->pages);
	if (err)
		return err;
	t->file->refs++;
	t->size = (total - 1) * PAGE;
	return 0;
}
struct tape map(int fd, u32 total)
{
	struct tape t;

	CHECK_EQ(map_try(fd, total, true, &t), 0);
	return t;
}
void unmap(struct tape *t)
{
	t->file->ops->munmap(t->file->priv, &t->req);
	host_file_put(t->file);
	t->file = NULL;
}

/* Words of a sample behind the header; checks what is known. The list is the man page's. */
void decode_sample(const struct rec *r, const struct perf_event_attr *a, u64 id, u32 nr_group)
{
	const u64 *w = r->w + 1;
	u64 st = a->sample_type, rf = a->read_format;

	CHECK(r->misc == PERF_RECORD_MISC_KERNEL || r->misc == PERF_RECORD_MISC_USER);
	if (st & PERF_SAMPLE_IDENTIFIER)
		CHECK_EQ(*w++, id);
	if (st & PERF_SAMPLE_IP)
		CHECK_EQ(*w++, 0x1000);
	if (st & PERF_SAMPLE_TID)
		CHECK(*w++ >> 32 < 1u << 20);
	if (st & PERF_SAMPLE_TIME)
		CHECK(*w++ != 0);
	if (st & PERF_SAMPLE_ADDR)
		w++;
	if (st & PERF_SAMPLE_ID)
		CHECK_EQ(*w++, id);
	if (st & PERF_SAMPLE_STREAM_ID)
		CHECK(*w++ >= id);	/* of a copy: younger */
	if (st & PERF_SAMPLE_CPU)
		CHECK(*w++ < SIM_CPUS);
	if (st & PERF_SAMPLE_PERIOD)
		CHECK(*w++ > 0);
	if (st & PERF_SAMPLE_READ) {
		u64 nr = 1;

		if (rf & PERF_FORMAT_GROUP) {
			nr = *w++;
			CHECK(!nr_group || nr == nr_group);
		} else {
			w++;
		}
		if (rf & PERF_FORMAT_TOTAL_TIME_ENABLED && rf & PERF_FORMAT_TOTAL_TIME_RUNNING)
			CHECK(w[1] <= w[0]);
		w += !!(rf & PERF_FORMAT_TOTAL_TIME_ENABLED) + !!(rf & PERF_FORMAT_TOTAL_TIME_RUNNING);
		for (u64 i = 0; i < nr; i++) {
			w += !!(rf & PERF_FORMAT_GROUP);
			if (rf & PERF_FORMAT_ID && i == 0 && !(rf & PERF_FORMAT_GROUP))
				CHECK_EQ(*w, id);
			w += !!(rf & PERF_FORMAT_ID) + !!(rf & PERF_FORMAT_LOST);
		}
	}
	if (st & PERF_SAMPLE_CALLCHAIN) {
		u64 nr = *w++;

		CHECK(nr <= (sim.user_frames ? 5 + sim.user_frames : 7));
		w += nr;
	}
	if (st & PERF_SAMPLE_RAW)
		CHECK_EQ(*w++, 4);
	if (st & PERF_SAMPLE_REGS_USER)
		w += *w ? 1 + __builtin_popcountll(a->sample_regs_user) : 1;
	if (st & PERF_SAMPLE_STACK_USER)
		w += *w ? 2 + *w / 8 : 1;
	if (st & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		CHECK_EQ(*w++, 0);
	if (st & PERF_SAMPLE_DATA_SRC)
		CHECK_EQ(*w++, 0x1e05080021);
	if (st & PERF_SAMPLE_TRANSACTION)
		CHECK_EQ(*w++, 0);
	if (st & PERF_SAMPLE_REGS_INTR) {
		CHECK_EQ(*w++, 2);	/* 64 bits, in the kernel, too */
		w += __builtin_popcountll(a->sample_regs_intr);
	}
	w += !!(st & PERF_SAMPLE_PHYS_ADDR) + !!(st & PERF_SAMPLE_CGROUP);
	w += !!(st & PERF_SAMPLE_DATA_PAGE_SIZE) + !!(st & PERF_SAMPLE_CODE_PAGE_SIZE);
	if (st & PERF_SAMPLE_AUX)
		CHECK_EQ(*w++, 0);
	CHECK_EQ((w - r->w) * 8, r->size);
}

/* Bytes of the trailer, from the man page. */
static u32 trailer(const struct perf_event_attr *a)
{
	static const u64 ids[] = { PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID,
				   PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER };
	u32 n = 0;

	for (u32 i = 0; a->sample_id_all && i < ARRAY_SIZE(ids); i++)
		n += a->sample_type & ids[i] ? 8 : 0;
	return n;
}

void decode_other(const struct rec *r, const struct perf_event_attr *a)
{
	u32 body = r->size - 8 - trailer(a);

	switch (r->type) {
	case PERF_RECORD_LOST: CHECK_EQ(body, 16); CHECK(r->w[2]); break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE: CHECK_EQ(body, 24); break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT: CHECK_EQ(body, 24); break;
	case PERF_RECORD_COMM: CHECK(body >= 16 && body <= 24 && memchr(r->w + 2, 0, body - 8)); break;
	case PERF_RECORD_SWITCH: CHECK_EQ(body, 0); break;
	case PERF_RECORD_SWITCH_CPU_WIDE: CHECK_EQ(body, 8); break;
	case PERF_RECORD_MMAP: CHECK(body > 32); break;
	case PERF_RECORD_MMAP2: CHECK(body > 64); break;
	case PERF_RECORD_READ: CHECK(body >= 16); break;
	case PERF_RECORD_NAMESPACES: CHECK_EQ(body, 16 + 7 * 16); break;
	default: fail("record of type %u", r->type);
	}
}

/* --- events -------------------------------------------------------------------------------------------- */

struct perf_event_attr attr(u32 type, u64 config, u64 period, u64 sample_type)
{
	return (struct perf_event_attr){ .type = type, .size = sizeof(struct perf_event_attr), .config = config,
					 .sample_period = period, .sample_type = sample_type };
}

void adv(u64 ns)
{
	for (; ns; ns -= min_t(u64, ns, US)) {
		sim_advance(min_t(u64, ns, US));
		host_irq_restore(host_irq_save());	/* irq work that an interrupt has left */
	}
}

void happen(u32 n)
{
	while (n--)
		perf_sw_event(PERF_COUNT_SW_ALIGNMENT_FAULTS, 1, NULL, 0x123);
}
void ioc(int fd, u32 cmd, u64 arg) { CHECK_EQ(sim_ioctl(fd, cmd, arg), 0); }

u32 drain_type(struct tape *t, u32 type)
{
	static struct rec r;
	u32 n = 0;

	while (take(t, &r))
		n += r.type == type;
	return n;
}
