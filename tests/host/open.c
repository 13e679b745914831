/* SPDX-License-Identifier: MIT */
/*
 * Opening: attributes, permission, targets, refusals, ioctls, sysfs.
 */
#include "testlib.h"

#include <string.h>

TEST(attr_sizes)	/* PB-37 */
{
	static const u32 good[] = { 0, 64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 4096 };
	static const u32 bad[] = { 1, 63, 4097 };
	union { struct perf_event_attr a; u8 raw[8192]; } u;
	long fd;

	begin(32);
	for (u32 i = 0; i < ARRAY_SIZE(good); i++) {
		memset(&u, 0, sizeof(u));
		u.a = raw(CYC);
		u.a.size = good[i];
		fd = sim_open(&u.a, 0, -1, -1, 0);
		CHECK(fd >= 0);
		CHECK_EQ(sim_event((int)fd)->attr.size, good[i] ? good[i] : 64);
		sim_close((int)fd);
	}
	for (u32 i = 0; i < ARRAY_SIZE(bad); i++) {
		memset(&u, 0, sizeof(u));
		u.a = raw(CYC);
		u.a.size = bad[i];
		CHECK_EQ(sim_open(&u.a, 0, -1, -1, 0), -E2BIG);
		CHECK_EQ(u.a.size, 136);
	}
	memset(&u, 0, sizeof(u));
	u.a = raw(CYC);
	u.a.size = 200;
	u.raw[199] = 1;
	CHECK_EQ(sim_open(&u.a, 0, -1, -1, 0), -E2BIG);
	CHECK_EQ(u.a.size, 136);
	u.a.size = 199;
	fd = sim_open(&u.a, 0, -1, -1, 0);
	CHECK(fd >= 0);
	/* What an old program did not give is 0, whatever lies behind it in memory. */
	u.a = raw(CYC);
	u.a.size = 64;
	u.a.branch_sample_type = 1;
	fd = sim_open(&u.a, 0, -1, -1, 0);
	CHECK_EQ(sim_event((int)fd)->attr.branch_sample_type, 0);
	CHECK_EQ(sys_perf_event_open(8, 0, -1, -1, 0), -EFAULT);
	sim_end();
}

#define REFUSED(errno, set) do { struct perf_event_attr a = raw(CYC); set;			\
	CHECK_EQ(try_open(a, 0, -1, -1), -(errno)); } while (0)
#define ACCEPTED(set) do { struct perf_event_attr a = raw(CYC); set;				\
	long _fd = try_open(a, 0, -1, -1); CHECK(_fd >= 0); sim_close((int)_fd); } while (0)

TEST(attr_bits)
{
	begin(32);
	REFUSED(EINVAL, a.__reserved_1 = 1);
	REFUSED(EINVAL, a.__reserved_2 = 1);
	REFUSED(EINVAL, a.aux_action = 8);
	REFUSED(EOPNOTSUPP, a.aux_action = 1);
	REFUSED(EINVAL, a.aux_action = 6);
	REFUSED(EINVAL, a.sample_type = 1u << 25);
	REFUSED(EINVAL, a.read_format = 1u << 5);
	REFUSED(EINVAL, a.inherit_thread = 1);
	REFUSED(EINVAL, (a.remove_on_exec = 1, a.enable_on_exec = 1));
	REFUSED(EINVAL, a.sigtrap = 1);
	REFUSED(EINVAL, a.sample_period = 1ULL << 63);
	REFUSED(EINVAL, (a.freq = 1, a.sample_freq = 100001));
	REFUSED(EINVAL, (a.inherit = 1, a.sample_type = PERF_SAMPLE_READ));
	REFUSED(EINVAL, (a.sample_type = PERF_SAMPLE_STACK_USER, a.sample_stack_user = 12));
	REFUSED(EINVAL, a.sample_type = PERF_SAMPLE_REGS_USER);
	REFUSED(EOVERFLOW, (a.sample_type = PERF_SAMPLE_CALLCHAIN, a.sample_max_stack = 200));
	REFUSED(EINVAL, (a.use_clockid = 1, a.clockid = 0));
	REFUSED(EINVAL, (a.type = PERF_TYPE_SOFTWARE, a.config = 0, a.use_clockid = 1, a.clockid = 2));
	ACCEPTED((a.type = PERF_TYPE_SOFTWARE, a.config = 0, a.use_clockid = 1, a.clockid = 11));
	ACCEPTED((a.use_clockid = 1, a.clockid = 4));
	ACCEPTED((a.ksymbol = 1, a.bpf_event = 1, a.comm_exec = 1, a.precise_ip = 3, a.mmap2 = 1));
	ACCEPTED((a.inherit = 1, a.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID));
	REFUSED(ENOENT, (a.type = PERF_TYPE_HARDWARE, a.config = 1));	/* PB-39 */
	REFUSED(ENOENT, (a.type = PERF_TYPE_SOFTWARE, a.config = 12));
	REFUSED(ENOENT, a.type = PERF_TYPE_TRACEPOINT);
	REFUSED(ENOENT, a.type = 77);
	CHECK_EQ(sim_open(&(struct perf_event_attr){ .size = 64 }, 0, -1, -1, 1ul << 4), -EINVAL);
	sim_end();
}

TEST(permission)	/* PB-48 */
{
	struct task *t = begin(32), *other;
	struct perf_event_attr k = raw(CYC), u = raw(CYC), cc = raw(CYC);
	struct perf_sysctl *paranoid = perf_sysctls;

	u.exclude_kernel = 1;
	cc.exclude_kernel = 1;
	cc.sample_type = PERF_SAMPLE_CALLCHAIN;
	other = sim_task();
	other->uid = 7;
	sim.capable = false;
	CHECK_EQ(try_open(u, 0, -1, -1), -EACCES);	/* 3 */
	perf_sysctl_set(paranoid, 2);
	sim_close((int)try_open(u, 0, -1, -1));
	CHECK_EQ(try_open(k, 0, -1, -1), -EACCES);
	CHECK_EQ(try_open(cc, 0, -1, -1), -EACCES);
	cc.exclude_callchain_kernel = 1;
	sim_close((int)try_open(cc, 0, -1, -1));
	perf_sysctl_set(paranoid, 1);
	sim_close((int)try_open(k, 0, -1, -1));
	CHECK_EQ(try_open(k, -1, 0, -1), -EACCES);
	perf_sysctl_set(paranoid, 0);
	sim_close((int)try_open(k, -1, 0, -1));
	perf_sysctl_set(paranoid, -1);
	CHECK_EQ(try_open(k, (int)other->tid, -1, -1), -EACCES);
	sim.capable = true;
	perf_sysctl_set(paranoid, 3);
	sim_close((int)try_open(k, (int)other->tid, -1, -1));
	sim_close((int)try_open(k, -1, 1, -1));
	/* Debian's level wants CAP_SYS_ADMIN; signals to others want CAP_KILL. */
	sim.lacks = BIT(HOST_CAP_SYS_ADMIN);
	CHECK_EQ(try_open(k, 0, -1, -1), -EACCES);
	perf_sysctl_set(paranoid, 2);
	sim_close((int)try_open(k, (int)other->tid, -1, -1));
	k.sigtrap = k.remove_on_exec = 1;
	sim_close((int)try_open(k, (int)other->tid, -1, -1));
	sim.lacks |= BIT(HOST_CAP_KILL);
	CHECK_EQ(try_open(k, (int)other->tid, -1, -1), -EACCES);
	sim_close((int)try_open(k, 0, -1, -1));
	sim.lacks = BIT(HOST_CAP_PERFMON);
	k.sigtrap = 0;
	sim_close((int)try_open(k, -1, 1, -1));
	(void)t;
	sim_end();
}

TEST(targets)
{
	begin(32);
	CHECK_EQ(try_open(raw(CYC), -1, -1, -1), -EINVAL);
	CHECK_EQ(try_open(raw(CYC), -1, SIM_CPUS, -1), -EINVAL);
	CHECK_EQ(try_open(raw(CYC), 0, SIM_CPUS, -1), -EINVAL);
	CHECK_EQ(try_open(raw(CYC), 9999, -1, -1), -ESRCH);
	CHECK_EQ(try_open(raw(CYC), -2, -1, -1), -ESRCH);
	CHECK_EQ(try_open(raw(CYC), 0, -1, 77), -EBADF);
	sim.cpus_online = 7;
	CHECK_EQ(try_open(raw(CYC), -1, 3, -1), -ENODEV);
	sim.cpus_online = 15;
	sim_close((int)try_open(raw(CYC), 0, 3, -1));
	sim_end();
}

TEST(refusal)
{
	struct task *t = begin(32);
	char buf[128];

	CHECK_EQ(perf_refusal_text(t, buf, sizeof(buf)), 0);
	REFUSED(EINVAL, a.inherit_thread = 1);
	CHECK(perf_refusal_text(t, buf, sizeof(buf)) > 0);
	CHECK(strstr(buf, "22 inherit_thread 0x1 needs inherit"));
	sim_end();
}

TEST(ioctls)
{
	u64 v = 0;
	int fd, s;

	begin(32);
	fd = self(raw(CYC));
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_ID, (u64)&v), 0);
	CHECK_EQ(v, sim_event(fd)->id);
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_ID, 8), -EFAULT);
	CHECK_EQ(sim_ioctl(fd, 0x1234, 0), -ENOTTY);
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_PERIOD, (u64)&v), -EINVAL);
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_REFRESH, 1), -EINVAL);
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (u64)-1), 0);
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_SET_FILTER, 8), -EFAULT);
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_SET_FILTER, (u64)"x"), -EINVAL);
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_SET_BPF, (u64)-1), -EBADF);
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_SET_BPF, (u64)fd), -EINVAL);
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_QUERY_BPF, 0), -EINVAL);
	sim.capable = false;
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_QUERY_BPF, 0), -EPERM);
	sim.capable = true;
	struct perf_event_attr a = raw(CYC);

	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, (u64)&a), -EOPNOTSUPP);
	a.type = PERF_TYPE_SOFTWARE;
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, (u64)&a), -EINVAL);
	a = raw(CYC);
	a.sample_period = 5000;
	s = self(a);
	v = 70000;
	CHECK_EQ(sim_ioctl(s, PERF_EVENT_IOC_PERIOD, (u64)&v), 0);
	CHECK_EQ(sim_event(s)->sample_period, 70000);
	v = 0;
	CHECK_EQ(sim_ioctl(s, PERF_EVENT_IOC_PERIOD, (u64)&v), -EINVAL);
	CHECK_EQ(sim.fds[fd]->ops->poll(sim.fds[fd]->priv, NULL), HOST_POLLHUP);
	sim_end();
}

TEST(sysfs)
{
	const char *dir, *name;
	char buf[64];
	u32 mode;

	begin(32);
	CHECK(!strcmp(perf_sysfs_pmu(0), "software") && !strcmp(perf_sysfs_pmu(1), "sim_pmu"));
	CHECK(!perf_sysfs_pmu(2));
	CHECK(perf_sysfs_file(1, 0, &dir, &name, &mode) && !dir && !strcmp(name, "type"));
	CHECK(perf_sysfs_read(1, 0, buf, sizeof(buf)) == 3 && !strcmp(buf, "10\n"));
	CHECK(perf_sysfs_file(1, 3, &dir, &name, &mode) && !strcmp(dir, "format"));
	CHECK(perf_sysfs_file(0, 1, &dir, &name, &mode) && mode == 0644);
	CHECK(!perf_sysfs_file(0, 2, &dir, &name, &mode) && !perf_sysfs_file(1, 5, &dir, &name, &mode));
	CHECK_EQ(perf_sysfs_write(1, 1, "10\n"), 0);
	CHECK_EQ(perf_pmus[0]->mux_interval_ms, 10);
	CHECK_EQ(perf_sysfs_write(1, 1, "0"), -EINVAL);
	CHECK_EQ(perf_sysfs_write(1, 1, "x"), -EINVAL);
	CHECK_EQ(perf_sysfs_write(1, 0, "1"), -EACCES);
	CHECK(perf_sysfs_read(1, 2, buf, sizeof(buf)) == 4 && !strcmp(buf, "0-3\n"));
	sim_end();
}
