/* SPDX-License-Identifier: MIT */
/* Memory: mmap and its relatives, brk, copy on write, shared mappings, protection. */
#include "check.h"
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define PAGE 4096UL

static sigjmp_buf out;
static volatile int fault_sig, fault_code;
static void *volatile fault_addr;

static void on_fault(int sig, siginfo_t *si, void *uc)
{
	fault_sig = sig;
	fault_code = si->si_code;
	fault_addr = si->si_addr;
	siglongjmp(out, 1);
}

static void catch_faults(void)
{
	struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
}

/* Touches a byte and says what came of it. */
static void touch(const char *what, volatile char *p, int write)
{
	if (sigsetjmp(out, 1)) {
		say("%s: signal %d code %d at %ld", what, fault_sig, fault_code, (long)((char *)fault_addr - (char *)p));
		return;
	}
	if (write)
		*p = 'w';
	else
		(void)*p;
	say("%s: ok", what);
}

static char *map(size_t len, int prot, int flags, int fd)
{
	char *p = mmap(NULL, len, prot, flags, fd, 0);

	need("mmap", p == MAP_FAILED ? -1 : 0);
	return p;
}

static void mapped(const char *what, void *p)
{
	ok(what, p == MAP_FAILED ? -1 : 0);
}

CHECK(mmap_anonymous)
{
	char *p = map(16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	int zero = 1;

	for (size_t i = 0; i < 16 * PAGE; i++)
		zero &= !p[i];
	is("zeroed", zero);
	is("page aligned", !((unsigned long)p & (PAGE - 1)));
	p[5] = 1;
	ok("unmap the middle", munmap(p + 4 * PAGE, 4 * PAGE));
	catch_faults();
	touch("before the hole", p + 4 * PAGE - 1, 1);
	touch("in the hole", p + 4 * PAGE, 1);
	touch("after the hole", p + 8 * PAGE, 1);
	ok("unmap across", munmap(p, 16 * PAGE));
	ok("unmap nothing", munmap(p, PAGE));
	ok("unmap unaligned", munmap(p + 1, PAGE));
	ok("unmap zero", munmap(p, 0));
}

CHECK(mmap_errors)
{
	int fd = open("f", O_RDWR | O_CREAT, 0600), rd = open("/etc/passwd", O_RDONLY);

	mapped("zero length", mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	mapped("huge", mmap(NULL, 1UL << 60, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	mapped("no type", mmap(NULL, PAGE, PROT_READ, MAP_ANONYMOUS, -1, 0));
	mapped("bad fd", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, 99, 0));
	mapped("unaligned offset", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 100));
	mapped("shared write of a read-only fd", mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, rd, 0));
	mapped("private write of a read-only fd", mmap(NULL, PAGE, PROT_WRITE, MAP_PRIVATE, rd, 0));
	mapped("directory", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, open(".", O_RDONLY), 0));
	mapped("fixed unaligned", mmap((void *)(1UL << 30 | 1), PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	mapped("above user space", mmap((void *)(1UL << 50), PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	int p[2];
	need("pipe", pipe(p));
	mapped("pipe", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, p[0], 0));
}

CHECK(mmap_fixed)
{
	char *p = map(4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	memset(p, 'a', 4 * PAGE);
	char *q = mmap(p + PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	is("where asked", q == p + PAGE);
	say("%d %d %d", p[0], q[0], p[2 * PAGE]);
	mapped("noreplace over", mmap(p, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
	need("munmap", munmap(p, 4 * PAGE));
	q = mmap(p, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	is("noreplace free", q == p);
	q = mmap((void *)0x20000000, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	is("hint", q == (void *)0x20000000);
}

CHECK(mmap_file_private)
{
	int fd = open("f", O_RDWR | O_CREAT, 0600);
	char buf[8] = {0};

	need("write", write(fd, "content", 7));
	char *p = map(PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd);
	say("%.7s", p);
	is("tail is zero", !p[7] && !p[PAGE - 1]);
	p[0] = 'X';
	need("pread", pread(fd, buf, 7, 0));
	say("file: %s mapping: %.7s", buf, p);
	close(fd);
	say("after close: %.7s", p);
}

CHECK(mmap_file_shared)
{
	int fd = open("f", O_RDWR | O_CREAT, 0600);
	char buf[8] = {0};

	need("ftruncate", ftruncate(fd, 2 * PAGE));
	char *p = map(2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	char *q = map(2 * PAGE, PROT_READ, MAP_SHARED, fd);
	strcpy(p + PAGE, "shared");
	say("other mapping: %s", q + PAGE);
	need("pread", pread(fd, buf, 6, PAGE));
	say("file: %s", buf);
	need("pwrite", pwrite(fd, "WRITE", 5, 0));
	say("after write: %.5s", q);
	pid_t pid = fork();
	if (pid == 0) {
		strcpy(p, "child");
		_exit(0);
	}
	reap("child", pid);
	say("from the child: %s", q);
	ok("msync", msync(p, 2 * PAGE, MS_SYNC));
	ok("msync unaligned", msync(p + 1, PAGE, MS_SYNC));
	ok("msync bad flags", msync(p, PAGE, MS_SYNC | MS_ASYNC));
	catch_faults();
	touch("write read-only mapping", q, 1);
}

CHECK(mmap_behind_the_end)
{
	int fd = open("f", O_RDWR | O_CREAT, 0600);

	need("write", write(fd, "x", 1));
	char *p = map(3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	catch_faults();
	touch("last page", p + PAGE - 1, 0);
	touch("behind", p + PAGE, 0);
	need("ftruncate", ftruncate(fd, 2 * PAGE));
	touch("after growing", p + PAGE, 1);
	need("ftruncate", ftruncate(fd, 0));
	touch("after shrinking", p, 0);
}

CHECK(mprotect_changes)
{
	char *p = map(4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	catch_faults();
	p[PAGE] = 1;
	ok("read only", mprotect(p + PAGE, PAGE, PROT_READ));
	touch("read", p + PAGE, 0);
	touch("write", p + PAGE, 1);
	touch("neighbour", p + 2 * PAGE, 1);
	ok("none", mprotect(p, 4 * PAGE, PROT_NONE));
	touch("read none", p + PAGE, 0);
	ok("write again", mprotect(p, 4 * PAGE, PROT_READ | PROT_WRITE));
	is("content kept", p[PAGE] == 1);
	touch("write", p + PAGE, 1);
	ok("unaligned", mprotect(p + 1, PAGE, PROT_READ));
	ok("zero length", mprotect(p, 0, PROT_READ));
	need("munmap", munmap(p + 2 * PAGE, PAGE));
	ok("over a hole", mprotect(p, 4 * PAGE, PROT_READ));
	ok("bad bits", mprotect(p, PAGE, 0x100));
}

CHECK(execute_protection)
{
	/* mov w0, #42; ret */
	static const unsigned int code[] = {0x52800540, 0xd65f03c0};
	char *p = map(PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	memcpy(p, code, sizeof(code));
	catch_faults();
	if (sigsetjmp(out, 1))
		say("not executable: signal %d code %d", fault_sig, fault_code);
	else
		say("returned %d", ((int (*)(void))p)());
	ok("mprotect", mprotect(p, PAGE, PROT_READ | PROT_EXEC));
	__builtin___clear_cache(p, p + sizeof(code));
	say("returned %d", ((int (*)(void))p)());
}

CHECK(mremap_moves)
{
	char *p = map(2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	strcpy(p, "moved");
	char *q = mremap(p, 2 * PAGE, 64 * PAGE, MREMAP_MAYMOVE);
	mapped("grow", q);
	say("%s", q);
	q[64 * PAGE - 1] = 1;
	char *s = mremap(q, 64 * PAGE, PAGE, 0);
	is("shrink stays", s == q);
	catch_faults();
	touch("cut off", q + PAGE, 0);
	char *a = map(8 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	char *f = mremap(q, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, a + 2 * PAGE);
	is("fixed", f == a + 2 * PAGE);
	say("%s", f);
	touch("old place", q, 0);
	mapped("unaligned", mremap(f + 1, PAGE, PAGE, 0));
	mapped("zero", mremap(f, PAGE, 0, 0));
	mapped("not mapped", mremap(q, PAGE, 2 * PAGE, MREMAP_MAYMOVE));
	mapped("bad flags", mremap(f, PAGE, PAGE, 64));
	mapped("no room in place", mremap(f, PAGE, 2 * PAGE, 0));
}

CHECK(brk_moves)
{
	char *start = sbrk(0);

	need("sbrk", sbrk(100000) == (void *)-1 ? -1 : 0);
	is("grew", (char *)sbrk(0) == start + 100000);
	memset(start, 7, 100000);
	need("shrink", brk(start));
	need("grow again", brk(start + 50000));
	is("zero again", start[PAGE * 3] == 0);
	is("below the start is refused", syscall(SYS_brk, 1UL) == (long)(start + 50000));
	is("huge is refused", syscall(SYS_brk, 1UL << 50) == (long)(start + 50000));
	struct rlimit rl = {1 << 20, 1 << 20};
	need("setrlimit", setrlimit(RLIMIT_DATA, &rl));
	ok("beyond RLIMIT_DATA", brk(start + (8 << 20)));
}

CHECK(fork_copies_on_write)
{
	char *priv = map(PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	char *shared = map(PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
	static int data = 1;
	int stack = 1;

	priv[0] = shared[0] = 1;
	pid_t pid = fork();
	if (pid == 0) {
		priv[0] = shared[0] = data = stack = 2;
		say("child sees %d %d %d %d", priv[0], shared[0], data, stack);
		_exit(0);
	}
	reap("child", pid);
	say("parent sees %d %d %d %d", priv[0], shared[0], data, stack);
	priv[0] = 3;
	pid = fork();
	if (pid == 0) {
		pid_t inner = fork();
		if (inner == 0) {
			priv[0]++;
			_exit(priv[0]);
		}
		reap("grandchild", inner);
		_exit(priv[0]);
	}
	reap("child", pid);
}

CHECK(madvise_advice)
{
	char *p = map(4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	memset(p, 1, 4 * PAGE);
	ok("dontneed", madvise(p + PAGE, PAGE, MADV_DONTNEED));
	say("%d %d %d", p[0], p[PAGE], p[2 * PAGE]);
	ok("free", madvise(p, PAGE, MADV_FREE));
	ok("willneed", madvise(p, PAGE, MADV_WILLNEED));
	ok("sequential", madvise(p, PAGE, MADV_SEQUENTIAL));
	ok("nohugepage", madvise(p, PAGE, MADV_NOHUGEPAGE));
	ok("bad advice", madvise(p, PAGE, 9999));
	ok("unaligned", madvise(p + 1, PAGE, MADV_DONTNEED));
	need("munmap", munmap(p + PAGE, PAGE));
	ok("hole", madvise(p, 4 * PAGE, MADV_DONTNEED));
}

CHECK(mincore_residency)
{
	char *p = map(3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	unsigned char vec[3];

	p[PAGE] = 1;
	ok("mincore", mincore(p, 3 * PAGE, vec));
	say("%d %d %d", vec[0] & 1, vec[1] & 1, vec[2] & 1);
	ok("unaligned", mincore(p + 1, PAGE, vec));
	need("munmap", munmap(p, PAGE));
	ok("hole", mincore(p, PAGE, vec));
}

CHECK(mlock_calls)
{
	char *p = map(4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	ok("mlock", mlock(p, PAGE));
	ok("munlock", munlock(p, PAGE));
	ok("mlockall", mlockall(MCL_CURRENT));
	ok("munlockall", munlockall());
	need("munmap", munmap(p, PAGE));
	ok("hole", mlock(p, 2 * PAGE));
	ok("bad flags", mlockall(99));
}

/* Uses a kilobyte of stack per level; the pointer keeps the compiler from making a loop of it. */
static __attribute__((noinline)) int deep(int n, volatile char *caller)
{
	volatile char frame[1024];

	frame[0] = n;
	if (!n)
		return 0;
	n = deep(n - 1, frame) + 1;
	*caller = frame[0];
	return n;
}

CHECK(stack_grows)
{
	val("frames", deep(4000, &(char){0}));
	pid_t pid = fork();
	if (pid == 0) {
		struct rlimit rl = {1 << 20, 1 << 20};
		setrlimit(RLIMIT_STACK, &rl);
		deep(100000, &(char){0});
		_exit(0);
	}
	reap("endless recursion", pid);
}

CHECK(segv_details)
{
	catch_faults();
	touch("null", NULL, 0);
	touch("low", (char *)0x100, 1);
	touch("kernel", (char *)0xffff000000000000, 0);
	touch("not canonical", (char *)0x00ff000000000000, 0);
	touch("code", (char *)segv_details, 1);
	pid_t pid = fork();
	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL);
		*(volatile int *)0 = 1;
		_exit(0);
	}
	reap("without a handler", pid);
	pid = fork();
	if (pid == 0) {
		signal(SIGSEGV, SIG_IGN);
		*(volatile int *)0 = 1;
		_exit(0);
	}
	reap("ignored", pid);
}

CHECK(user_pointers_from_kernel)
{
	char *p = map(2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	int fd = open("/etc/passwd", O_RDONLY), null = open("/dev/null", O_WRONLY), f = open("f", O_CREAT | O_RDWR, 0600);

	need("munmap", munmap(p + PAGE, PAGE));
	val("read over the end", read(fd, p + PAGE - 4, 8));
	val("write over the end", write(f, p + PAGE - 4, 8));
	val("write unmapped", write(f, p + PAGE, 8));
	val("null does not look", write(null, p + PAGE, 8));
	ok("path at the end", open(memcpy(p + PAGE - 4, "/tmp", 4), O_RDONLY));
	val("kernel address", read(fd, (void *)0xffff000000000000, 8));
	mprotect(p, PAGE, PROT_READ);
	val("read-only buffer", read(fd, p, 8));
}

CHECK(memfd)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	struct stat st;

	need("memfd", fd);
	val("flags", fcntl(fd, F_GETFD));
	val("write", write(fd, "mem", 3));
	need("fstat", fstat(fd, &st));
	say("mode %o size %ld links %ld", st.st_mode, (long)st.st_size, (long)st.st_nlink);
	char *p = map(PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	say("%s", p);
	ok("bad flags", memfd_create("x", 0x1000));
}

CHECK(address_space_limit)
{
	struct rlimit rl = {64 << 20, 64 << 20};

	need("setrlimit", setrlimit(RLIMIT_AS, &rl));
	mapped("small", mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	mapped("large", mmap(NULL, 128 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

/* A limit that refuses the new mapping leaves the old one. */
CHECK(fixed_over_limit)
{
	char *p = map(6 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
	struct rlimit rl = {PAGE, PAGE};

	strcpy(p + PAGE, "still here");
	need("setrlimit", setrlimit(RLIMIT_DATA, &rl));
	mapped("data", mmap(p, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	say("%s", p + PAGE);
	need("setrlimit", setrlimit(RLIMIT_AS, &rl));
	mapped("address space", mmap(p, 4 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	say("%s", p + PAGE);
}

CHECK(many_mappings)
{
	char *p = map(512 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	int bad = 0;

	for (int i = 0; i < 512; i += 2)
		need("mprotect", mprotect(p + i * PAGE, PAGE, PROT_READ));
	for (int i = 1; i < 512; i += 2)
		p[i * PAGE] = i;
	for (int i = 0; i < 512; i += 2)
		need("mprotect", mprotect(p + i * PAGE, PAGE, PROT_READ | PROT_WRITE));
	for (int i = 0; i < 512; i++)
		bad += p[i * PAGE] != (char)(i & 1 ? i : 0);
	val("wrong bytes", bad);
	ok("unmap all", munmap(p, 512 * PAGE));
}
