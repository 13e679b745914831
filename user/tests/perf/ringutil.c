/* SPDX-License-Identifier: MIT */
/* The reader of ring.h. */
#include "ring.h"

#include <time.h>

void *map_pages(int fd, unsigned total, int prot)
{
	return mmap(NULL, total * PAGE, prot, MAP_SHARED, fd, 0);
}

struct ring ring_map(int fd, unsigned pages, int prot)
{
	void *p = map_pages(fd, pages + 1, prot);

	NEED(p == MAP_FAILED ? -1 : 0);
	return (struct ring){ p, (char *)p + PAGE, pages * PAGE };
}

bool ring_next(struct ring *r, union record *out)
{
	u64 head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE), tail = r->page->data_tail;
	u32 size;

	if (head == tail)
		return false;
	memcpy(&out->h, r->data + tail % r->size, sizeof(out->h));
	size = out->h.size;
	if (size < 8 || size % 8 || size > head - tail) {
		test_fail(__FILE__, __LINE__, "record of %u bytes, type %u, %llu in the ring", size, out->h.type,
			  (unsigned long long)(head - tail));
		_exit(1);
	}
	for (u32 i = 0; i < size; i += 8)
		memcpy(out->bytes + i, r->data + (tail + i) % r->size, 8);
	__atomic_store_n(&r->page->data_tail, tail + size, __ATOMIC_RELEASE);
	return true;
}

unsigned ring_count(struct ring *r, u32 type)
{
	static union record rec;
	unsigned n = 0;

	while (ring_next(r, &rec))
		n += rec.h.type == type;
	return n;
}

bool spin_filled(struct ring *r, u64 bytes)
{
	u64 end = now_ns() + 5000000000ull;

	while (__atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE) - r->page->data_tail < bytes) {
		if (now_ns() > end)
			return false;
		spin_ms(1);
	}
	return true;
}

struct perf_event_attr sampling(u32 type, u64 config, u64 period, u64 sample_type)
{
	struct perf_event_attr a = attr_of(type, config);

	a.sample_period = period;
	a.sample_type = sample_type;
	a.disabled = 1;
	return a;
}

int open_attr(const struct perf_event_attr *a)
{
	int fd = perf_open(a, 0, -1, -1, 0);

	NEED(fd);
	return fd;
}

void ioc(int fd, unsigned long cmd, unsigned long arg)
{
	NEED(ioctl(fd, cmd, arg));
}

/* Ping-pong with a child over pipes on one CPU: each read sleeps. */
void yields(unsigned n)
{
	int a[2], b[2];
	char c = 0;
	pid_t pid;

	pin(0);
	NEED(pipe(a));
	NEED(pipe(b));
	pid = fork();
	NEED(pid);
	if (!pid) {
		close(a[1]);
		while (read(a[0], &c, 1) == 1)
			if (write(b[1], &c, 1) != 1)
				break;
		_exit(0);
	}
	for (unsigned i = 0; i < n; i++)
		if (write(a[1], &c, 1) != 1 || read(b[0], &c, 1) != 1)
			break;
	close(a[1]);
	close(a[0]);
	close(b[0]);
	close(b[1]);
	reap(pid);
}

u64 event_id(int fd)
{
	u64 id = 0;

	NEED(ioctl(fd, PERF_EVENT_IOC_ID, &id));
	return id;
}

u64 clock_of(int id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}
