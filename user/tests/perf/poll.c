/* SPDX-License-Identifier: MIT */
/* poll: when readiness comes, who sees it, and the end. */
#include "ring.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

static int poll_now(int fd)
{
	struct pollfd p = { fd, POLLIN | POLLRDNORM, 0 };

	poll(&p, 1, 0);
	return p.revents;
}

/* data_head at the first readiness, looked for after every switch; 0: never. */
static u64 head_at_wakeup(struct perf_event_attr a)
{
	int fd = open_attr(&a), p[2];
	struct ring r = ring_map(fd, 1, PROT_READ | PROT_WRITE);
	u64 before, head = 0;

	pin(0);
	NEED(pipe(p));
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 600 && !head; i++) {
		before = r.page->data_head;
		/* On a busy machine the time may be over before the task has gone to sleep: no switch. */
		for (int nap = 0; nap < 20 && r.page->data_head == before; nap++)
			nap_ms(1);
		EXPECT(r.page->data_head > before, "no record at a switch");
		if (poll_now(fd) & POLLIN)
			head = r.page->data_head;
	}
	close(fd);
	return head;
}

TEST("poll/half", "poll", "PB-24")
{
	EXPECT_IN(head_at_wakeup(sampling(SWITCHES, 1, PERF_SAMPLE_TID)), 2064, 2096);
}

TEST("poll/watermark", "attr.watermark attr.wakeup_watermark poll", "PB-24")
{
	struct perf_event_attr a = sampling(SWITCHES, 1, PERF_SAMPLE_TID);

	a.watermark = 1;
	a.wakeup_watermark = 1000;
	EXPECT_IN(head_at_wakeup(a), 1008, 1040);
}

TEST("poll/events", "attr.wakeup_events poll", "PB-24")
{
	struct perf_event_attr a = sampling(SWITCHES, 1, PERF_SAMPLE_TID);

	a.wakeup_events = 3;
	EXPECT_IN(head_at_wakeup(a), 48, 64);
}

TEST("poll/taken", "poll", "Linux perf_poll")
{
	struct perf_event_attr a = sampling(SWITCHES, 1, PERF_SAMPLE_TID);
	int fd;

	a.wakeup_events = 1;
	fd = open_attr(&a);
	EXPECT_EQ(poll_now(fd), POLLHUP);		/* no ring */
	ring_map(fd, 1, PROT_READ | PROT_WRITE);
	EXPECT_EQ(poll_now(fd), 0);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	yields(2);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	EXPECT_EQ(poll_now(fd), POLLIN | POLLRDNORM);
	EXPECT_EQ(poll_now(fd), 0);			/* the first one took it */
}

/* Readiness belongs to the ring: who polls first takes it, whichever event it is. */
TEST("poll/shared_ring", "poll ioctl.SET_OUTPUT", "Linux perf_poll")
{
	struct perf_event_attr a = sampling(SWITCHES, 1, PERF_SAMPLE_TID);
	int fd, other;

	a.wakeup_events = 1;
	fd = open_attr(&a);
	other = open_attr(&a);
	ring_map(fd, 1, PROT_READ | PROT_WRITE);
	ioc(other, PERF_EVENT_IOC_SET_OUTPUT, fd);
	ioc(other, PERF_EVENT_IOC_ENABLE, 0);
	yields(2);
	ioc(other, PERF_EVENT_IOC_DISABLE, 0);
	EXPECT_EQ(poll_now(other), POLLIN | POLLRDNORM);
	EXPECT_EQ(poll_now(fd), 0);
}

/* A sleeper on either event of a shared ring is woken. */
TEST("poll/shared_sleep", "poll ioctl.SET_OUTPUT", "hazard 40")
{
	struct perf_event_attr a = sampling(TASK_CLOCK, 1000000, PERF_SAMPLE_TID);

	a.wakeup_events = 1;
	for (int which = 0; which < 2; which++) {
		pid_t kid = fork();
		struct pollfd p;
		int fd, other;
		u64 start;

		if (!kid) {
			spin_ms(4000);
			_exit(0);
		}
		NEED(fd = perf_open(&a, kid, -1, -1, 0));
		NEED(other = perf_open(&a, kid, -1, -1, 0));
		ring_map(fd, 1, PROT_READ | PROT_WRITE);
		ioc(other, PERF_EVENT_IOC_SET_OUTPUT, fd);
		p = (struct pollfd){ which ? other : fd, POLLIN, 0 };
		start = now_ns();
		ioc(other, PERF_EVENT_IOC_ENABLE, 0);
		EXPECT_EQ(poll(&p, 1, 3000), 1);
		EXPECT_EQ(p.revents, POLLIN);
		EXPECT(now_ns() - start < 1500000000, "woken late");
		kill(kid, 9);
		waitpid(kid, NULL, 0);
	}
}

TEST("poll/end_of_task", "poll", "perf record ends by POLLHUP")
{
	struct perf_event_attr a = sampling(TASK_CLOCK, 1000000, PERF_SAMPLE_TID);
	pid_t kid = fork();
	struct pollfd p;
	int fd;

	if (!kid) {
		nap_ms(100);
		_exit(0);
	}
	NEED(fd = perf_open(&a, kid, -1, -1, 0));
	ring_map(fd, 1, PROT_READ | PROT_WRITE);
	p = (struct pollfd){ fd, POLLIN, 0 };
	EXPECT_EQ(poll(&p, 1, 0), 0);
	EXPECT_EQ(poll(&p, 1, 3000), 1);
	EXPECT_EQ(p.revents, POLLHUP);
	reap(kid);
	EXPECT_EQ(poll_now(fd), POLLHUP);
}

/* A family is over when the last of it is. */
TEST("poll/end_of_family", "poll attr.inherit", "Linux is_event_hup")
{
	struct perf_event_attr a = sampling(TASK_CLOCK, 1000000, PERF_SAMPLE_TID);
	int go[2], fd;
	pid_t kid;
	struct pollfd p;
	char c = 0;
	u64 start;

	a.inherit = 1;
	NEED(pipe(go));
	kid = fork();
	if (!kid) {
		if (read(go[0], &c, 1) != 1)
			_exit(1);
		if (!fork())
			nap_ms(300);
		_exit(0);
	}
	NEED(fd = perf_open(&a, kid, 0, -1, 0));
	ring_map(fd, 1, PROT_READ | PROT_WRITE);
	NEED(write(go[1], &c, 1));
	reap(kid);
	start = now_ns();
	EXPECT_EQ(poll_now(fd), 0);	/* the grandchild lives */
	p = (struct pollfd){ fd, POLLIN, 0 };
	EXPECT_EQ(poll(&p, 1, 3000), 1);
	EXPECT_EQ(p.revents, POLLHUP);
	EXPECT(now_ns() - start > 100000000, "too early");
}

/* An event that an exec removes is over like one whose task has ended. */
TEST("poll/removed_by_exec", "poll attr.remove_on_exec", "Linux 6.12")
{
	struct perf_event_attr a = sampling(TASK_CLOCK, 1000000, PERF_SAMPLE_TID);
	int go[2], fd;
	char c = 0;
	pid_t kid;

	NEED(pipe(go));
	kid = fork();
	if (!kid) {
		char *const argv[] = { "ptest-helper", "1500", NULL };
		char *const env[] = { NULL };

		if (read(go[0], &c, 1) != 1)
			_exit(1);
		nap_ms(50);
		execve("/proc/self/exe", argv, env);
		_exit(1);
	}
	a.remove_on_exec = 1;
	NEED(fd = perf_open(&a, kid, -1, -1, 0));
	ring_map(fd, 1, PROT_READ | PROT_WRITE);
	u64 start = now_ns();

	NEED(write(go[1], &c, 1));
	struct pollfd p = { fd, POLLIN, 0 };

	EXPECT_EQ(poll(&p, 1, 4000), 1);
	EXPECT_EQ(p.revents, POLLHUP);
	EXPECT(now_ns() - start < 1300000000, "only when the task ended");
	reap(kid);
}

TEST("poll/epoll", "epoll", "perf record uses poll, others epoll")
{
	struct perf_event_attr a = sampling(TASK_CLOCK, 1000000, PERF_SAMPLE_TID);
	struct epoll_event ev = { .events = EPOLLIN }, got;
	int ep = epoll_create1(0), fd;

	a.wakeup_events = 1;
	fd = open_attr(&a);
	ring_map(fd, 1, PROT_READ | PROT_WRITE);
	NEED(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev));
	EXPECT_EQ(epoll_wait(ep, &got, 1, 0), 0);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	spin_ms(20);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	EXPECT_EQ(epoll_wait(ep, &got, 1, 1000), 1);
	EXPECT_EQ(got.events, EPOLLIN);
	EXPECT_EQ(epoll_wait(ep, &got, 1, 0), 0);
}

static int select_now(int fd)
{
	struct timeval none = { 0, 0 };
	fd_set r, w, x;
	int n;

	FD_ZERO(&r);
	FD_ZERO(&w);
	FD_ZERO(&x);
	FD_SET(fd, &r);
	FD_SET(fd, &w);
	FD_SET(fd, &x);
	n = select(fd + 1, &r, &w, &x, &none);
	EXPECT_EQ(n, FD_ISSET(fd, &r) + FD_ISSET(fd, &w) + FD_ISSET(fd, &x));
	return FD_ISSET(fd, &r) | FD_ISSET(fd, &w) << 1 | FD_ISSET(fd, &x) << 2;
}

TEST("poll/select", "poll", "Linux fs/select.c: POLLHUP is readable")
{
	struct perf_event_attr a = sampling(SWITCHES, 1, PERF_SAMPLE_TID);
	int fd;

	a.wakeup_events = 1;
	fd = open_attr(&a);
	EXPECT_EQ(select_now(fd), 1);			/* no ring: POLLHUP */
	ring_map(fd, 1, PROT_READ | PROT_WRITE);
	EXPECT_EQ(select_now(fd), 0);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	yields(2);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	EXPECT_EQ(select_now(fd), 1);
	EXPECT_EQ(select_now(fd), 0);
}
