/* SPDX-License-Identifier: MIT */
/*
 * failsteps [NAME...]: every fallible step of the general system calls fails once.
 *
 * A DEBUG kernel lets the n-th fallible step (an allocation, a copy from or to user memory, a descriptor number) of the
 * caller's next call of one number fail (/proc/perch/failpoints). For each call below n runs until nothing is left to
 * fail. Each time the call must say what is right for the step that failed, or succeed where a comment says why it may;
 * and when its success is taken back, exactly as many objects and pages are in use as before (/proc/perch/live).
 * Prints TAP; without a DEBUG kernel one line that says so. The perf calls: user/tests/perf/faults.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "../failpoint.h"

#define MAX_STEPS 2000
#define PAGE 4096

struct call {
	const char *name;
	long nr;
	enum { FAILS, MAY_SUCCEED, LEAVES } kind;
	void (*setup)(void);	/* once, before */
	long (*op)(void);	/* the call; below 0 with errno when it fails */
	void (*undo)(long r);	/* takes the success r of op back (LEAVES: a failure, too) */
};

#define ENTRY(id, nr, kind, setup, op, undo)								\
	static void setup_##id(void) { setup; }								\
	static long op_##id(void) { return (long)(op); }						\
	static void undo_##id(long r) { undo; }								\
	static const struct call call_##id = { #id, nr, kind, setup_##id, op_##id, undo_##id };	\
	static const struct call *const p_##id __attribute__((used, section("calls"))) = &call_##id;
/*
 * CALL: it fails when a step fails, and leaves nothing. QUIET: it may find another way, or do the part before that step
 * and say so. PARTIAL: it may also fail after it did a part, as on Linux: undo takes that back.
 */
#define CALL(id, nr, setup, op, undo) ENTRY(id, nr, FAILS, setup, op, undo)
#define QUIET(id, nr, setup, op, undo) ENTRY(id, nr, MAY_SUCCEED, setup, op, undo)
#define PARTIAL(id, nr, setup, op, undo) ENTRY(id, nr, LEAVES, setup, op, undo)

static int fd, fd2, pair[2];
static char buf[2 * PAGE], *area;
static pid_t child;

static void need(const char *what, long r)
{
	if (r >= 0)
		return;
	printf("# cannot %s: %s\n", what, strerror(errno));
	exit(1);
}
#define NEED(x) need(#x, (long)(x))

/* mmap says failure in its own way. */
static long mapped(void *p)
{
	return p == MAP_FAILED ? -1 : (long)p;
}

static char *map(size_t n, int prot)
{
	void *p = mmap(NULL, n, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	NEED(mapped(p));
	if (prot & PROT_WRITE)
		memset(p, 1, n);
	return p;
}

static int make_file(const char *name, size_t size)
{
	int f = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);

	NEED(f);
	for (size_t done = 0; done < size; done += sizeof(buf))
		NEED(pwrite(f, buf, sizeof(buf), (off_t)done));
	return f;
}

static void close_two(const int *f)
{
	close(f[0]);
	close(f[1]);
}

/* --- processes */

static long fork_exit(int flags)
{
	pid_t pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);

	if (!pid)
		_exit(0);
	return pid;
}

static void reap(long pid)
{
	waitpid((pid_t)pid, NULL, 0);
}

static volatile pid_t thread_id;

static int no_work(void *arg)
{
	syscall(SYS_exit, 0);
	return 0;
}

static long make_thread(void)
{
	static char stack[16384] __attribute__((aligned(16)));

	return clone(no_work, stack + sizeof(stack),
		     CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_SETTID |
		     CLONE_CHILD_CLEARTID, NULL, NULL, NULL, &thread_id);
}

static void join_thread(void)
{
	while (thread_id)
		usleep(1000);
}

struct clone3_args {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup;
};
static int pidfd;

static long clone3_pidfd(void)
{
	struct clone3_args a = { .flags = CLONE_PIDFD | CLONE_PARENT_SETTID, .pidfd = (uintptr_t)&pidfd,
				 .parent_tid = (uintptr_t)&fd2, .exit_signal = SIGCHLD };
	long pid = syscall(SYS_clone3, &a, sizeof(a));

	if (!pid)
		_exit(0);
	return pid;
}

static void start_sleeper(void)
{
	child = fork();
	NEED(child);
	if (!child)
		for (;;)
			pause();
}

CALL(fork, SYS_clone, area = map(64 * PAGE, PROT_READ | PROT_WRITE), fork_exit(0), reap(r))
CALL(fork_many_maps, SYS_clone, (area = map(200 * PAGE, PROT_READ), ({ for (int i = 0; i < 200;
     i += 2) mprotect(area + i * PAGE, PAGE, PROT_NONE); })),
     fork_exit(0), reap(r))
CALL(fork_many_fds, SYS_clone, ({ for (int i = 0; i < 300; i++) dup(0); }), fork_exit(0), reap(r))
CALL(fork_shared_files, SYS_clone, , fork_exit(CLONE_FILES | CLONE_FS), reap(r))
CALL(thread, SYS_clone, , make_thread(), join_thread())
/* The parent's copy of the thread id need not arrive. */
QUIET(clone3_pidfd, SYS_clone3, , clone3_pidfd(), (close(pidfd), reap(r)))
CALL(pidfd_open, SYS_pidfd_open, start_sleeper(), syscall(SYS_pidfd_open, child, 0), close(r))
CALL(pidfd_getfd, SYS_pidfd_getfd, (start_sleeper(), fd = syscall(SYS_pidfd_open, child, 0)),
     syscall(SYS_pidfd_getfd, fd, 0, 0), close(r))
CALL(wait4, SYS_wait4, , ({ int st; struct rusage ru; pid_t p = fork_exit(0); long x = wait4(p, &st, 0, &ru);
     int e = errno; waitpid(p, NULL, 0); errno = e; x; }), )
CALL(waitid, SYS_waitid, , ({ siginfo_t si; pid_t p = fork_exit(0); long x = waitid(P_PID, p, &si, WEXITED);
     int e = errno; waitpid(p, NULL, 0); errno = e; x; }), )
CALL(prctl_name, SYS_prctl, , prctl(PR_SET_NAME, "fail"), )
CALL(getrusage, SYS_getrusage, , getrusage(RUSAGE_SELF, (struct rusage *)buf), )
CALL(prlimit, SYS_prlimit64, , prlimit(0, RLIMIT_NOFILE, NULL, (struct rlimit *)buf), )
CALL(setgroups, SYS_setgroups, , syscall(SYS_setgroups, 3, ((gid_t[]){ 1, 2, 3 })), )
CALL(getgroups, SYS_getgroups, syscall(SYS_setgroups, 2, ((gid_t[]){ 1, 2 })), syscall(SYS_getgroups, 32, buf), )
CALL(capget, SYS_capget, , syscall(SYS_capget, ((uint32_t[]){ 0x20080522, 0 }), buf), )
CALL(sched_setaffinity, SYS_sched_setaffinity, , syscall(SYS_sched_setaffinity, 0, 8, ((uint64_t[]){ 1 })), )
CALL(sched_getaffinity, SYS_sched_getaffinity, , syscall(SYS_sched_getaffinity, 0, 64, buf), )
CALL(sched_setscheduler, SYS_sched_setscheduler, , syscall(SYS_sched_setscheduler, 0, 0, ((int[]){ 0 })), )
CALL(uname, SYS_uname, , uname((struct utsname *)buf), )
CALL(sysinfo, SYS_sysinfo, , sysinfo((struct sysinfo *)buf), )
QUIET(getrandom, SYS_getrandom, , syscall(SYS_getrandom, buf, 600, 0), )
CALL(set_robust_list, SYS_get_robust_list, , syscall(SYS_get_robust_list, 0, buf, buf + 8), )
CALL(process_vm_readv, SYS_process_vm_readv, start_sleeper(),
     process_vm_readv(child, &(struct iovec){ buf, 100 }, 1, &(struct iovec){ buf, 100 }, 1, 0), )

/* --- memory */

CALL(mmap_anonymous, SYS_mmap, , mapped(mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
     -1, 0)), munmap((void *)r, 16 * PAGE))
/* What cannot be filled now is filled when it is used. */
QUIET(mmap_populate, SYS_mmap, , mapped(mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0)), munmap((void *)r, 16 * PAGE))
CALL(mmap_shared, SYS_mmap, , mapped(mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
     0)), munmap((void *)r, 16 * PAGE))
CALL(mmap_file, SYS_mmap, fd = make_file("f", 65536), mapped(mmap(NULL, 16 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0)),
     munmap((void *)r, 16 * PAGE))
/* The old pages are gone first. */
PARTIAL(mmap_fixed_inside, SYS_mmap, area = map(3 * PAGE, PROT_READ), mapped(mmap(area + PAGE, PAGE, PROT_NONE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)),
	(munmap(area, 3 * PAGE), mmap(area, 3 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)))
PARTIAL(munmap_inside, SYS_munmap, area = map(3 * PAGE, PROT_READ), munmap(area + PAGE, PAGE),
     mmap(area + PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0))
PARTIAL(mprotect_inside, SYS_mprotect, area = map(3 * PAGE, PROT_READ), mprotect(area + PAGE, PAGE, PROT_NONE),
        (mprotect(area, 3 * PAGE, PROT_NONE), mprotect(area, 3 * PAGE, PROT_READ)))
PARTIAL(mremap_grow, SYS_mremap, (area = map(2 * PAGE, PROT_READ)), mapped(mremap(area, PAGE, 4 * PAGE,
        MREMAP_MAYMOVE)),
     (r > 0 ? munmap((void *)r, 4 * PAGE) : 0, mmap(area, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
     -1, 0)))
PARTIAL(madvise_inside, SYS_madvise, area = map(3 * PAGE, PROT_READ), madvise(area + PAGE, PAGE, MADV_DONTFORK),
        (madvise(area + PAGE, PAGE, MADV_DONTFORK), madvise(area + PAGE, PAGE, MADV_DOFORK)))
PARTIAL(mlock_inside, SYS_mlock, area = map(3 * PAGE, PROT_READ | PROT_WRITE), mlock(area + PAGE, PAGE),
        (mlock(area + PAGE, PAGE), munlock(area + PAGE, PAGE)))
CALL(mincore, SYS_mincore, area = map(3 * PAGE, PROT_READ), mincore(area, 3 * PAGE, (unsigned char *)buf), )
CALL(mbind, SYS_mbind, area = map(3 * PAGE, PROT_READ), syscall(SYS_mbind, area, PAGE, 2, ((unsigned long[]){ 1 }),
     64, 0), syscall(SYS_mbind, area, PAGE, 0, NULL, 0, 0))
CALL(get_mempolicy, SYS_get_mempolicy, , syscall(SYS_get_mempolicy, buf, buf + 64, 64, 0, 0), )
CALL(memfd_create, SYS_memfd_create, , memfd_create("m", 0), close(r))

/* --- files by name */

CALL(open_new, SYS_openat, , open("new", O_RDWR | O_CREAT | O_EXCL, 0600), (r >= 0 ? close((int)r) : 0,
        unlink("new")))
CALL(open_old, SYS_openat, close(make_file("old", 0)), open("old", O_RDWR), close(r))
CALL(open_dir, SYS_openat, , open("/", O_RDONLY | O_DIRECTORY), close(r))
CALL(open_link, SYS_openat, symlink("/proc/self/../self/stat", "link"), open("link", O_RDONLY), close(r))
CALL(open_proc, SYS_openat, , open("/proc/self/maps", O_RDONLY), close(r))
CALL(open_proc_fd, SYS_openat, fd = make_file("viafd", 0), ({ char n[32]; snprintf(n, 32, "/proc/self/fd/%d", fd);
     open(n, O_RDONLY); }), close(r))
CALL(open_sysfs, SYS_openat, , open("/sys/devices/system/cpu/online", O_RDONLY), close(r))
CALL(open_ptmx, SYS_openat, , open("/dev/ptmx", O_RDWR | O_NOCTTY), close(r))
CALL(open_fifo, SYS_openat, mkfifo("fifo", 0600), open("fifo", O_RDWR), close(r))
CALL(open_tmpfile, SYS_openat, , open(".", O_TMPFILE | O_RDWR, 0600), close(r))
CALL(openat2, SYS_openat2, , syscall(SYS_openat2, AT_FDCWD, ".", ((uint64_t[3]){ O_RDONLY }), 24), close(r))
CALL(mkdir, SYS_mkdirat, , mkdir("dir", 0700), rmdir("dir"))
CALL(mknod, SYS_mknodat, , mknod("node", S_IFIFO | 0600, 0), unlink("node"))
CALL(symlink, SYS_symlinkat, , symlink("a/rather/long/target/that/needs/memory", "sym"), unlink("sym"))
CALL(link, SYS_linkat, close(make_file("orig", 0)), link("orig", "hard"), unlink("hard"))
CALL(rename, SYS_renameat, close(make_file("from", 0)), rename("from", "to"), rename("to", "from"))
PARTIAL(rename_over, SYS_renameat, close(make_file("over", 0)), (close(open("src", O_CREAT | O_WRONLY, 0600)),
        rename("src", "over")), unlink("src"))
PARTIAL(unlink, SYS_unlinkat, , (close(open("gone", O_CREAT | O_WRONLY, 0600)), unlink("gone")), unlink("gone"))
PARTIAL(rmdir, SYS_unlinkat, , (mkdir("gonedir", 0700), rmdir("gonedir")), rmdir("gonedir"))
CALL(stat, SYS_newfstatat, , syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/stat", buf, 0), )
CALL(statx, SYS_statx, , syscall(SYS_statx, AT_FDCWD, "/", 0, 0xfff, buf), )
CALL(statfs, SYS_statfs, , statfs("/", (struct statfs *)buf), )
CALL(readlink, SYS_readlinkat, symlink("target", "rl"), readlink("rl", buf, 100), )
CALL(readlink_proc, SYS_readlinkat, , readlink("/proc/self/exe", buf, 100), )
CALL(getcwd, SYS_getcwd, , syscall(SYS_getcwd, buf, PAGE), )
CALL(chdir, SYS_chdir, , chdir("."), )
CALL(faccessat, SYS_faccessat, , syscall(SYS_faccessat, AT_FDCWD, "/tmp", R_OK), )
CALL(chmod, SYS_fchmodat, close(make_file("ch", 0)), chmod("ch", 0600), )
CALL(chown, SYS_fchownat, close(make_file("ch2", 0)), chown("ch2", 0, 0), )
CALL(utimens, SYS_utimensat, close(make_file("ut", 0)), utimensat(AT_FDCWD, "ut", ((struct timespec[2]){ { 1, 0 },
     { 2, 0 } }), 0), )
CALL(truncate, SYS_truncate, close(make_file("tr", 65536)), truncate("tr", 5000), )
CALL(setxattr, SYS_setxattr, close(make_file("xa", 0)), ({ long x = setxattr("xa", "user.a", "value", 5, 0);
     x < 0 && errno == EOPNOTSUPP ? 0 : x; }), )
CALL(listxattr, SYS_listxattr, close(make_file("xl", 0)), ({ long x = listxattr("xl", buf, 100);
     x < 0 && errno == EOPNOTSUPP ? 0 : x; }), )
CALL(mount, SYS_mount, mkdir("mnt", 0700), mount("none", "mnt", "tmpfs", 0, "size=1m"), umount("mnt"))
CALL(mount_proc, SYS_mount, mkdir("mntp", 0700), mount("none", "mntp", "proc", 0, NULL), umount("mntp"))
CALL(bind_mount, SYS_mount, (mkdir("mb1", 0700), mkdir("mb2", 0700)), mount("mb1", "mb2", NULL, MS_BIND, NULL),
     umount("mb2"))
CALL(umount, SYS_umount2, mkdir("mu", 0700), ({ mount("none", "mu", "tmpfs", 0, NULL); long x = umount("mu");
     int e = errno; if (x < 0) umount("mu"); errno = e; x; }), )

/* --- files by descriptor */

/* What was done before the step that failed counts. */
QUIET(read_file, SYS_read, fd = make_file("rd", 65536), (lseek(fd, 0, SEEK_SET), read(fd, buf, sizeof(buf))), )
CALL(read_maps, SYS_pread64, fd = open("/proc/self/maps", O_RDONLY), pread(fd, buf, PAGE, 0), )
CALL(read_status, SYS_pread64, fd = open("/proc/self/status", O_RDONLY), pread(fd, buf, PAGE, 0), )
CALL(read_stat, SYS_pread64, fd = open("/proc/stat", O_RDONLY), pread(fd, buf, PAGE, 0), )
CALL(read_mounts, SYS_pread64, fd = open("/proc/mounts", O_RDONLY), pread(fd, buf, PAGE, 0), )
CALL(read_cmdline, SYS_pread64, fd = open("/proc/self/cmdline", O_RDONLY), pread(fd, buf, PAGE, 0), )
QUIET(read_kallsyms, SYS_pread64, fd = open("/proc/kallsyms", O_RDONLY), pread(fd, buf, PAGE, 0), )
QUIET(getdents, SYS_getdents64, ({ close(make_file("d1", 0)); fd = open(".", O_RDONLY); }), (lseek(fd, 0, SEEK_SET),
      syscall(SYS_getdents64, fd, buf, 48)), )
QUIET(getdents_proc, SYS_getdents64, fd = open("/proc/self/task", O_RDONLY), (lseek(fd, 0, SEEK_SET),
      syscall(SYS_getdents64, fd, buf, sizeof(buf))), )
PARTIAL(write_new, SYS_pwrite64, fd = make_file("wr", 0), pwrite(fd, buf, sizeof(buf), 100), ftruncate(fd, 0))
PARTIAL(writev, SYS_writev, fd = make_file("wv", 0), (lseek(fd, 0, SEEK_SET), writev(fd, ((struct iovec[3]){ { buf,
        10 }, { buf, PAGE }, { buf, 5 } }), 3)), ftruncate(fd, 0))
CALL(write_sysctl, SYS_pwrite64, fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDWR), (pread(fd, buf, 3, 0),
     pwrite(fd, buf, 2, 0)), )
PARTIAL(fallocate, SYS_fallocate, fd = make_file("fa", 0), fallocate(fd, 0, 0, 4 * PAGE), ftruncate(fd, 0))
PARTIAL(sendfile, SYS_sendfile, (fd = make_file("sf", 65536), fd2 = make_file("st", 0)), sendfile(fd2, fd,
        ((off_t[]){ 0 }), 3 * PAGE), (ftruncate(fd2, 0), lseek(fd2, 0, SEEK_SET)))
PARTIAL(copy_file_range, SYS_copy_file_range, (fd = make_file("cf", 65536), fd2 = make_file("ct", 0)),
      syscall(SYS_copy_file_range, fd, ((loff_t[]){ 0 }), fd2, ((loff_t[]){ 0 }), 3 * PAGE, 0), ftruncate(fd2, 0))
PARTIAL(splice, SYS_splice, (fd = make_file("sp", 65536), pipe2(pair, O_NONBLOCK)), splice(fd, ((loff_t[]){ 0 }),
        pair[1], NULL, PAGE, 0), read(pair[0], buf, PAGE))
CALL(fstat, SYS_fstat, , syscall(SYS_fstat, 0, buf), )
CALL(dup, SYS_dup, , dup(0), close(r))
CALL(dupfd, SYS_fcntl, , fcntl(0, F_DUPFD, 30), close(r))
CALL(setlk, SYS_fcntl, fd = make_file("lk", 10), fcntl(fd, F_SETLK, &(struct flock){ .l_type = F_WRLCK,
     .l_len = 5 }), fcntl(fd, F_SETLK, &(struct flock){ .l_type = F_UNLCK }))
CALL(setlk_split, SYS_fcntl, ({ fd = make_file("ls", 10); fcntl(fd, F_SETLK, &(struct flock){ .l_type = F_WRLCK,
     .l_len = 5 }); }),
     fcntl(fd, F_SETLK, &(struct flock){ .l_type = F_UNLCK, .l_start = 2, .l_len = 1 }), fcntl(fd, F_SETLK,
     &(struct flock){ .l_type = F_WRLCK, .l_len = 5 }))
CALL(flock, SYS_flock, fd = make_file("fl", 10), flock(fd, LOCK_EX), flock(fd, LOCK_UN))
CALL(setown, SYS_fcntl, pipe(pair), fcntl(pair[0], F_SETOWN_EX, ((int[]){ 0, (int)syscall(SYS_gettid) })), )
CALL(o_async, SYS_fcntl, socketpair(AF_UNIX, SOCK_STREAM, 0, pair), fcntl(pair[0], F_SETFL, O_ASYNC), fcntl(pair[0],
     F_SETFL, 0))

/* --- pipes, sockets, terminals */

CALL(pipe, SYS_pipe2, , pipe(pair), close_two(pair))
QUIET(pipe_write, SYS_write, pipe(pair), write(pair[1], buf, PAGE + 10), read(pair[0], buf, r))
QUIET(pipe_read, SYS_read, pipe(pair), (write(pair[1], buf, 100), read(pair[0], buf, 100)), )
CALL(pipe_size, SYS_fcntl, pipe(pair), fcntl(pair[0], F_SETPIPE_SZ, 1 << 18), fcntl(pair[0], F_SETPIPE_SZ, 65536))
CALL(socketpair, SYS_socketpair, , socketpair(AF_UNIX, SOCK_STREAM, 0, pair), close_two(pair))
CALL(socket, SYS_socket, , socket(AF_UNIX, SOCK_DGRAM, 0), close(r))

static const struct sockaddr_un server = { AF_UNIX, "server" };

static void listen_here(void)
{
	unlink("server");
	NEED(fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
	NEED(bind(fd, (const void *)&server, sizeof(server)));
	NEED(listen(fd, 5));
}

static long connect_once(void)
{
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), e;
	long r = connect(s, (const void *)&server, sizeof(server));

	e = errno;
	close(s);
	close(accept(fd, NULL, NULL));
	errno = e;
	return r;
}

static long accept_once(void)
{
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), e;
	struct sockaddr_un a;
	socklen_t n = sizeof(a);
	long r;

	NEED(connect(s, (const void *)&server, sizeof(server)));
	r = accept4(fd, (void *)&a, &n, 0);
	e = errno;
	if (r < 0)
		close(accept(fd, NULL, NULL));
	close(s);
	errno = e;
	return r;
}

static long bind_once(void)
{
	int s = socket(AF_UNIX, SOCK_STREAM, 0), e;
	struct sockaddr_un a = { AF_UNIX, "bound" };
	long r = bind(s, (void *)&a, sizeof(a));

	e = errno;
	close(s);
	unlink("bound");
	errno = e;
	return r;
}

union control {
	struct cmsghdr h;
	char space[CMSG_SPACE(2 * sizeof(int))];
};

/* A byte and two descriptors through pair. */
static struct msghdr *message(bool with_fds)
{
	static struct iovec v = { buf, 1 };
	static union control c;
	static struct msghdr m;

	m = (struct msghdr){ .msg_iov = &v, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c) };
	if (with_fds) {
		c.h = (struct cmsghdr){ .cmsg_len = CMSG_LEN(2 * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&c.h), ((int[]){ 0, 1 }), 2 * sizeof(int));
	}
	return &m;
}

static void close_received(void)
{
	struct msghdr *m = message(false);
	int f[2];

	if (recvmsg(pair[1], m, MSG_DONTWAIT) == 1 && m->msg_controllen >= sizeof(struct cmsghdr)) {
		struct cmsghdr *c = CMSG_FIRSTHDR(m);
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		memcpy(f, CMSG_DATA(c), n * sizeof(int));
		while (n--)
			close(f[n]);
	}
}

static long receive_fds(void)
{
	struct msghdr *m;
	long r;
	int e;

	NEED(sendmsg(pair[0], message(true), 0));
	m = message(false);
	r = recvmsg(pair[1], m, MSG_DONTWAIT);
	e = errno;
	if (r < 0) {	/* it may have been taken, or not */
		close_received();
	} else {
		for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = NULL) {
			int f[2], n = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));

			memcpy(f, CMSG_DATA(c), n * sizeof(int));
			while (n--)
				close(f[n]);
		}
	}
	errno = e;
	return r;
}

CALL(connect, SYS_connect, listen_here(), connect_once(), )
CALL(accept, SYS_accept4, listen_here(), accept_once(), close(r))
CALL(bind, SYS_bind, , bind_once(), )
CALL(getsockname, SYS_getsockname, listen_here(), getsockname(fd, (void *)buf, ((socklen_t[]){ 110 })), )
CALL(sockopt, SYS_getsockopt, socketpair(AF_UNIX, SOCK_STREAM, 0, pair), getsockopt(pair[0], SOL_SOCKET, SO_PEERCRED,
     buf, ((socklen_t[]){ 12 })), )
QUIET(sendto, SYS_sendto, socketpair(AF_UNIX, SOCK_STREAM, 0, pair), send(pair[0], buf, 5000, 0), recv(pair[1], buf,
      5000, MSG_WAITALL))
CALL(send_dgram, SYS_sendto, socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), send(pair[0], buf, 500, 0), recv(pair[1], buf,
     500, 0))
CALL(sendmsg_fds, SYS_sendmsg, socketpair(AF_UNIX, SOCK_STREAM, 0, pair), sendmsg(pair[0], message(true), 0),
     close_received())
/* Descriptors that do not fit are left out: MSG_CTRUNC. */
QUIET(recvmsg_fds, SYS_recvmsg, socketpair(AF_UNIX, SOCK_STREAM, 0, pair), receive_fds(), )
CALL(tty_get, SYS_ioctl, openpty(&pair[0], &pair[1], NULL, NULL, NULL), ioctl(pair[1], TCGETS, buf), )
CALL(tty_set, SYS_ioctl, ({ openpty(&pair[0], &pair[1], NULL, NULL, NULL); ioctl(pair[1], TCGETS, buf); }),
     ioctl(pair[1], TCSETS, buf), )
QUIET(tty_write, SYS_write, openpty(&pair[0], &pair[1], NULL, NULL, NULL), write(pair[1], "abc", 3), read(pair[0],
      buf, 100))
CALL(tty_winsize, SYS_ioctl, openpty(&pair[0], &pair[1], NULL, NULL, NULL), ioctl(pair[1], TIOCSWINSZ,
     ((short[4]){ 24, 80 })), )

/* --- waiting for files */

static struct epoll_event ev = { .events = EPOLLIN };

CALL(epoll_create, SYS_epoll_create1, , epoll_create1(0), close(r))
CALL(epoll_add, SYS_epoll_ctl, (fd = epoll_create1(0), pipe(pair)), epoll_ctl(fd, EPOLL_CTL_ADD, pair[0], &ev),
     epoll_ctl(fd, EPOLL_CTL_DEL, pair[0], NULL))
CALL(epoll_in_epoll, SYS_epoll_ctl, (fd = epoll_create1(0), fd2 = epoll_create1(0)), epoll_ctl(fd, EPOLL_CTL_ADD,
     fd2, &ev), epoll_ctl(fd, EPOLL_CTL_DEL, fd2, NULL))
CALL(epoll_wait, SYS_epoll_pwait, ({ fd = epoll_create1(0); pipe(pair); write(pair[1], buf, 1); epoll_ctl(fd,
     EPOLL_CTL_ADD, pair[0], &ev); }),
     epoll_pwait(fd, (void *)buf, 8, 0, ((sigset_t[1]){})), )
/* The time that remains need not arrive. */
QUIET(ppoll, SYS_ppoll, pipe(pair), ppoll(((struct pollfd[40]){ { pair[0], POLLIN, 0 }, { pair[1], POLLOUT, 0 } }),
      40, ((struct timespec[]){ { 0, 1000 } }), NULL), )
QUIET(pselect, SYS_pselect6, pipe(pair), ({ fd_set s; FD_ZERO(&s); FD_SET(pair[0], &s); pselect(pair[0] + 1, &s,
      NULL, NULL, ((struct timespec[]){ { 0, 1000 } }), ((sigset_t[1]){})); }), )
CALL(eventfd, SYS_eventfd2, , eventfd(0, 0), close(r))
CALL(eventfd_read, SYS_read, fd = eventfd(0, 0), (write(fd, ((uint64_t[]){ 1 }), 8), read(fd, buf, 8)), )
CALL(timerfd_create, SYS_timerfd_create, , timerfd_create(CLOCK_MONOTONIC, 0), close(r))
CALL(timerfd_settime, SYS_timerfd_settime, fd = timerfd_create(CLOCK_MONOTONIC, 0), timerfd_settime(fd, 0,
     &(struct itimerspec){ .it_value = { 100, 0 } }, (void *)buf), )
CALL(timerfd_gettime, SYS_timerfd_gettime, fd = timerfd_create(CLOCK_MONOTONIC, 0), timerfd_gettime(fd, (void *)buf),
     )
CALL(signalfd, SYS_signalfd4, , signalfd(-1, ((sigset_t[1]){}), 0), close(r))

/* --- signals, timers, futexes */

static void no_handler(int sig)
{
}

static void block_usr1(void)
{
	sigset_t s;

	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	sigaddset(&s, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &s, NULL);
}

static void take_signals(void)
{
	sigset_t s;

	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	sigaddset(&s, SIGRTMIN);
	while (sigtimedwait(&s, NULL, ((struct timespec[]){ { 0, 0 } })) > 0)
		;
}

static long take_one(void)
{
	sigset_t s;
	long r;
	int e;

	kill(getpid(), SIGUSR1);
	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	r = sigtimedwait(&s, (siginfo_t *)buf, ((struct timespec[]){ { 1, 0 } }));
	e = errno;
	if (r < 0)
		take_signals();
	errno = e;
	return r;
}

static siginfo_t queued = { .si_code = SI_QUEUE };

CALL(sigaction, SYS_rt_sigaction, , sigaction(SIGUSR2, &(struct sigaction){ .sa_handler = no_handler },
     (struct sigaction *)buf), )
CALL(sigprocmask, SYS_rt_sigprocmask, , sigprocmask(SIG_BLOCK, ((sigset_t[1]){}), (sigset_t *)buf), )
CALL(sigpending, SYS_rt_sigpending, , sigpending((sigset_t *)buf), )
CALL(sigaltstack, SYS_sigaltstack, , sigaltstack(&(stack_t){ .ss_sp = buf, .ss_size = 8192 }, NULL), )
/* Without memory a signal below SIGRTMIN arrives without its information. */
QUIET(kill, SYS_kill, block_usr1(), kill(getpid(), SIGUSR1), take_signals())
CALL(sigqueue, SYS_rt_sigqueueinfo, block_usr1(), syscall(SYS_rt_sigqueueinfo, getpid(), SIGRTMIN, &queued),
     take_signals())
CALL(sigtimedwait, SYS_rt_sigtimedwait, block_usr1(), take_one(), )
CALL(timer_create, SYS_timer_create, , ({ timer_t t; long x = timer_create(CLOCK_MONOTONIC, NULL, &t);
     *(timer_t *)buf = t; x; }), timer_delete(*(timer_t *)buf))
CALL(timer_settime, SYS_timer_settime, timer_create(CLOCK_MONOTONIC, NULL, (timer_t *)buf),
     timer_settime(*(timer_t *)buf, 0, &(struct itimerspec){ .it_value = { 100, 0 } }, (void *)(buf + 64)), )
CALL(setitimer, SYS_setitimer, , setitimer(ITIMER_REAL, &(struct itimerval){ .it_value = { 100, 0 } }, (void *)buf),
     setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL))
CALL(getitimer, SYS_getitimer, , getitimer(ITIMER_REAL, (void *)buf), )
CALL(nanosleep, SYS_clock_nanosleep, , clock_nanosleep(CLOCK_MONOTONIC, 0, ((struct timespec[]){ { 0, 1000 } }),
     NULL) ? (errno = EFAULT, -1) : 0, )
CALL(clock_gettime, SYS_clock_gettime, , syscall(SYS_clock_gettime, CLOCK_MONOTONIC, buf), )
CALL(times, SYS_times, , syscall(SYS_times, buf), )
CALL(gettimeofday, SYS_gettimeofday, , syscall(SYS_gettimeofday, buf, NULL), )

static uint32_t word;

static long waitv(void)
{
	struct { uint64_t val, uaddr; uint32_t flags, reserved; } v[3] = {
		{ 0, (uintptr_t)&word, 2, 0 }, { 0, (uintptr_t)buf, 2, 0 }, { 1, (uintptr_t)&word, 2, 0 } };
	long r = syscall(SYS_futex_waitv, v, 3, 0, NULL, 0);

	return r < 0 && errno == EAGAIN ? 0 : r;
}

CALL(futex_wait, SYS_futex, , ({ long x = syscall(SYS_futex, &word, FUTEX_WAIT, 0, ((struct timespec[]){ { 0,
     1000 } })); x < 0 && errno == ETIMEDOUT ? 0 : x; }), )
CALL(futex_waitv, SYS_futex_waitv, word = 0, waitv(), )

/* --- exec: in a child, whose exit says the errno */

static int fail_fd, step;

static void arm(int n, long nr)
{
	step = n;
	failpoint_arm(fail_fd, n, nr);
}

/* The new program is this one and tells by its exit whether the step was met (MET) or not (NOT_MET). */
enum { MET = 200, NOT_MET };
static bool exec_met;

static long exec_once(const char *path)
{
	pid_t pid = fork();
	int st;

	if (!pid) {
		char *argv[] = { (char *)path, "--met", NULL }, *envp[] = { "A=B", NULL };
		int n = step;

		fcntl(fail_fd, F_SETFD, 0);
		arm(n, SYS_execve);
		execve(path, argv, envp);
		_exit(errno);
	}
	NEED(pid);
	waitpid(pid, &st, 0);
	exec_met = !(WIFEXITED(st) && WEXITSTATUS(st) == NOT_MET);
	if (WIFSIGNALED(st)) {	/* there was nothing to go back to */
		errno = WTERMSIG(st) == SIGSEGV || WTERMSIG(st) == SIGKILL ? ENOMEM : ENOTRECOVERABLE;
		return -1;
	}
	errno = WEXITSTATUS(st);
	return WEXITSTATUS(st) >= MET ? 0 : -1;
}

static void make_script(void)
{
	static const char text[] = "#!/bin/failsteps --met\n";

	fd = make_file("script", 0);
	NEED(write(fd, text, sizeof(text) - 1));
	NEED(fchmod(fd, 0755));
	close(fd);
}

/* QUIET: what the process did not need is not missed. */
QUIET(exec, SYS_execve, , exec_once("/bin/failsteps"), )
QUIET(exec_script, SYS_execve, make_script(), exec_once("script"), )

/* --- the loop */

static bool right_errno(const struct fired *f, int err)
{
	/* ENOBUFS: sockets. ENOLCK: locks. ENOSPC: a new name of tmpfs. As on Linux. */
	if (!strcmp(f->kind, "memory"))
		return err == ENOMEM || err == EAGAIN || err == ENOBUFS || err == ENOLCK || err == ENOSPC;
	if (!strcmp(f->kind, "copy"))
		return err == EFAULT;
	if (!strcmp(f->kind, "fd"))
		return err == EMFILE;
	return err == EINTR;
}

/* Nobody can say which kind of step failed in an exec: what goes with the errno. */
static const char *errno_kind(int err)
{
	return err == EFAULT ? "copy" : err == EMFILE ? "fd" : "memory";
}

struct live { long objects, pages; };
static int live_fd;

static struct live live(void)
{
	struct live l = { 0, 0 };
	char b[100] = "";

	NEED(preadv(live_fd, &(struct iovec){ b, sizeof(b) - 1 }, 1, 0));
	if (sscanf(b, "objects %ld\npages %ld", &l.objects, &l.pages) != 2)
		NEED(-1);
	return l;
}

/* The last part of a dead task goes when somebody forks or waits. */
static bool live_is(const struct live *want, struct live *got)
{
	for (int i = 0; i < 10; i++) {
		*got = live();
		if (got->objects == want->objects && got->pages == want->pages)
			return true;
		if (i > 1) {
			reap(fork_exit(0));
			usleep(2000);
		}
	}
	return false;
}

static int bad;

static void complain(const struct call *c, int n, const struct fired *f, const char *what)
{
	bad++;
	printf("# %s step %d (%s in %s): %s\n", c->name, n, f->kind, f->where, what);
}

static void judge(const struct call *c, int n, const struct fired *f, long r, int err)
{
	char text[80];

	if (!f->fired)
		return;
	if (r >= 0 && c->kind == FAILS)
		complain(c, n, f, "the call did not fail");
	if (r < 0 && !right_errno(f, err)) {
		snprintf(text, sizeof(text), "errno %d (%s)", err, strerror(err));
		complain(c, n, f, text);
	}
}

/* What is made once and stays: memory of this program that it touches for the first time, too. */
static void warm_up(const struct call *c)
{
	struct live l;

	printf("# %s:\n", c->name);
	for (int i = 0; i < 3; i++) {
		long r;

		arm(MAX_STEPS, c->nr);
		r = c->op();
		failpoint_fired(fail_fd);
		arm(0, 0);
		NEED(r);
		c->undo(r);
		live_is(&(struct live){ 0, 0 }, &l);
	}
}

/* Steps until nothing is left to fail; the number of them. */
static int loop(const struct call *c)
{
	struct live before, after;
	char text[80];
	int n;

	c->setup();
	warm_up(c);
	before = live();
	for (n = 1; n < MAX_STEPS; n++) {
		struct fired f;
		bool same;
		long r;
		int err;

		arm(n, c->nr);
		r = c->op();
		err = errno;
		f = failpoint_fired(fail_fd);
		if (c->nr == SYS_execve) {
			f.fired = exec_met;
			strcpy(f.kind, errno_kind(err));
		}
		arm(0, 0);
		if (r >= 0 || c->kind == LEAVES)
			c->undo(r);
		same = live_is(&before, &after);
		judge(c, n, &f, r, err);
		if (!same) {
			snprintf(text, sizeof(text), "%ld objects and %ld pages are left behind", after.objects - before.objects,
				 after.pages - before.pages);
			complain(c, n, &f, text);
			before = live();
		}
		if (!f.fired)
			break;
	}
	return n - 1;
}

static int run(const struct call *c)
{
	pid_t pid = fork();
	int st, n;

	if (!pid) {
		cpu_set_t one;

		CPU_ZERO(&one);
		CPU_SET(0, &one);
		sched_setaffinity(0, sizeof(one), &one);
		alarm(60);	/* hung */
		n = loop(c);
		printf("# %s: %d steps\n", c->name, n);
		if (child)
			kill(child, SIGKILL);
		fflush(stdout);
		_exit(bad || !n || n + 1 >= MAX_STEPS);
	}
	NEED(pid);
	waitpid(pid, &st, 0);
	return st;
}

/* fail_fd is 3, the first one that main opens. */
static int fired_in_exec(void)
{
	fail_fd = 3;
	return failpoint_fired(fail_fd).fired ? MET : NOT_MET;
}

extern const struct call *const __start_calls[], *const __stop_calls[];

static bool wanted(const char *name, char **list)
{
	if (!*list)
		return true;
	for (; *list; list++)
		if (!strcmp(*list, name))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/failsteps.XXXXXX";
	int failed = 0, n = 0;

	if (argc > 1 && !strcmp(argv[1], "--met"))
		return fired_in_exec();
	setvbuf(stdout, NULL, _IOLBF, 0);
	fail_fd = open("/proc/perch/failpoints", O_RDWR | O_CLOEXEC);
	live_fd = open("/proc/perch/live", O_RDONLY | O_CLOEXEC);
	if (fail_fd < 0 || live_fd < 0) {
		printf("1..0 # skip: needs a DEBUG kernel\n");
		return 0;
	}
	NEED(mkdtemp(dir) ? 0 : -1);
	NEED(chdir(dir));
	for (const struct call *const *c = __start_calls; c < __stop_calls; c++) {
		int st;

		if (!wanted((*c)->name, argv + 1))
			continue;
		st = run(*c);
		if (WIFSIGNALED(st))
			printf("# %s: signal %d\n", (*c)->name, WTERMSIG(st));
		printf("%s %d - %s\n", st ? "not ok" : "ok", ++n, (*c)->name);
		failed += !!st;
	}
	printf("1..%d\n", n);
	return failed || !n;
}
