/* SPDX-License-Identifier: MIT */
/* What programs see of the machine: uname, auxv, registers, sysinfo, unknown calls, odds and ends. */
#include "check.h"
#include <elf.h>
#include <fcntl.h>
#include <linux/reboot.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>

CHECK(uname_fields)
{
	struct utsname u;

	ok("uname", uname(&u));
	is("6.12", !strncmp(u.release, "6.12", 4));
	say("%s %s", u.machine, u.nodename);
	ok("sethostname", sethostname("other", 5));
	uname(&u);
	say("%s", u.nodename);
	ok("back", sethostname("perch", 5));
	ok("too long", sethostname(u.nodename, 100));
	ok("bad pointer", syscall(SYS_uname, 8));
}

CHECK(auxv)
{
	static const struct {
		int type;
		const char *name;
	} t[] = {{AT_PHDR, "PHDR"}, {AT_PHENT, "PHENT"}, {AT_PHNUM, "PHNUM"}, {AT_PAGESZ, "PAGESZ"}, {AT_ENTRY, "ENTRY"},
		{AT_RANDOM, "RANDOM"}, {AT_EXECFN, "EXECFN"}, {AT_PLATFORM, "PLATFORM"}, {AT_SYSINFO_EHDR, "VDSO"},
		{AT_HWCAP, "HWCAP"}};

	for (int i = 0; i < sizeof(t) / sizeof(*t); i++)
		is(t[i].name, getauxval(t[i].type) != 0);
	say("pagesz %ld clktck %ld phent %ld", getauxval(AT_PAGESZ), getauxval(AT_CLKTCK), getauxval(AT_PHENT));
	say("uid %ld secure %ld", getauxval(AT_UID), getauxval(AT_SECURE));
	say("platform %s", (char *)getauxval(AT_PLATFORM));
	is("execfn", strstr((char *)getauxval(AT_EXECFN), "checks") != NULL);
	say("hwcap %lx", getauxval(AT_HWCAP));
	say("hwcap2 %lx", getauxval(AT_HWCAP2));
	is("minsigstksz", getauxval(AT_MINSIGSTKSZ) >= 4688);
}

CHECK(vdso_image)
{
	const Elf64_Ehdr *e = (void *)getauxval(AT_SYSINFO_EHDR);

	if (!e) {
		say("none");
		return;
	}
	is("elf", !memcmp(e->e_ident, ELFMAG, 4));
	say("type %d machine %d", e->e_type, e->e_machine);
	const Elf64_Phdr *ph = (void *)((char *)e + e->e_phoff);
	const Elf64_Dyn *dyn = NULL;
	int note = 0;
	unsigned long base = 0;
	for (int i = 0; i < e->e_phnum; i++) {
		if (ph[i].p_type == PT_LOAD)
			base = (unsigned long)e - ph[i].p_vaddr + ph[i].p_offset;
		if (ph[i].p_type == PT_DYNAMIC)
			dyn = (void *)((char *)e + ph[i].p_offset);
		note |= ph[i].p_type == PT_NOTE;
	}
	is("note", note);
	const char *str = NULL;
	const Elf64_Sym *sym = NULL;
	const unsigned int *hash = NULL;
	for (; dyn && dyn->d_tag; dyn++) {
		if (dyn->d_tag == DT_STRTAB)
			str = (char *)(base + dyn->d_un.d_ptr);
		if (dyn->d_tag == DT_SYMTAB)
			sym = (void *)(base + dyn->d_un.d_ptr);
		if (dyn->d_tag == DT_HASH)
			hash = (void *)(base + dyn->d_un.d_ptr);
	}
	static const char *const want[] = {"__kernel_rt_sigreturn", "__kernel_gettimeofday", "__kernel_clock_gettime", "__kernel_clock_getres"};
	for (int w = 0; w < 4; w++) {
		int found = 0;
		/* the table's length: DT_HASH if it is there, else it ends where the strings begin */
		long n = hash ? hash[1] : ((char *)str - (char *)sym) / (long)sizeof(*sym);
		for (long i = 0; str && sym && i < n; i++)
			found |= !strcmp(str + sym[i].st_name, want[w]);
		is(want[w], found);
	}
}

CHECK(el0_registers)
{
	unsigned long v;

	__asm__ volatile("mrs %0, ctr_el0" : "=r"(v));
	say("ctr %lx", v);
	__asm__ volatile("mrs %0, dczid_el0" : "=r"(v));
	say("dczid %lx", v);
	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(v));
	say("cntfrq %ld", v);
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	is("cntvct runs", v > 0);
	__asm__ volatile("mrs %0, midr_el1" : "=r"(v));
	say("midr %lx", v);
	__asm__ volatile("mrs %0, id_aa64isar0_el1" : "=r"(v));
	say("isar0 %lx", v);
	__asm__ volatile("mrs %0, id_aa64pfr0_el1" : "=r"(v));
	say("pfr0 %lx", v);
	__asm__ volatile("mrs %0, id_aa64mmfr0_el1" : "=r"(v));
	say("mmfr0 %lx", v);
}

CHECK(cache_instructions)
{
	static char buf[4096] __attribute__((aligned(4096)));

	memset(buf, 1, sizeof(buf));
	__asm__ volatile("dc zva, %0" : : "r"(buf) : "memory");
	say("%d %d", buf[0], buf[63]);
	__asm__ volatile("dc cvau, %0\n dc civac, %0\n dsb ish\n ic ivau, %0\n isb" : : "r"(buf) : "memory");
	say("ok");
}

static void rd_ttbr(void)
{
	unsigned long v;
	__asm__ volatile("mrs %0, ttbr0_el1" : "=r"(v));
}

static void rd_pmccntr(void)
{
	unsigned long v;
	__asm__ volatile("mrs %0, pmccntr_el0" : "=r"(v));
}

static void wfi(void)
{
	__asm__ volatile("wfi\n wfe\n yield");
}

static void hvc(void)
{
	__asm__ volatile("hvc #0");
}

static void jump_odd(void)
{
	((void (*)(void))((unsigned long)wfi | 2))();
}

static void exclusive_unaligned(void)
{
	static long v[2];
	unsigned long r;
	__asm__ volatile("ldaxr %0, [%1]" : "=r"(r) : "r"((char *)v + 1));
}

CHECK(trapped_instructions)
{
	in_child("mrs ttbr0", rd_ttbr);
	in_child("mrs pmccntr", rd_pmccntr);
	in_child("wfi", wfi);
	in_child("hvc", hvc);
	in_child("jump to an odd address", jump_odd);
	in_child("unaligned exclusive", exclusive_unaligned);
}

CHECK(unknown_system_calls)
{
	val("1000", syscall(1000));
	val("-1", syscall(-1));
	val("huge", syscall(0x7fffffff));
	val("244", syscall(244));
}

CHECK(sysinfo_numbers)
{
	struct sysinfo si;

	ok("sysinfo", sysinfo(&si));
	is("memory", si.totalram * si.mem_unit > 32 << 20);
	is("free", si.freeram > 0 && si.freeram <= si.totalram);
	is("processes", si.procs > 0);
	val("swap", si.totalswap);
	val("cpus", sysconf(_SC_NPROCESSORS_ONLN));
	val("configured", sysconf(_SC_NPROCESSORS_CONF));
	is("pages", sysconf(_SC_PHYS_PAGES) > 1000);
	val("open files", sysconf(_SC_OPEN_MAX));
	val("clock ticks", sysconf(_SC_CLK_TCK));
}

CHECK(random_bytes)
{
	unsigned char a[32] = {0}, b[32] = {0};

	val("getrandom", getrandom(a, 32, 0));
	val("nonblock", getrandom(b, 32, GRND_NONBLOCK));
	is("differ", memcmp(a, b, 32) != 0);
	val("bad flags", getrandom(a, 32, 0x100));
	val("bad pointer", getrandom((void *)8, 32, 0));
}

CHECK(getcpu_call)
{
	unsigned int cpu = 99, node = 99;

	ok("getcpu", syscall(SYS_getcpu, &cpu, &node, NULL));
	is("cpu", cpu < 8);
	val("node", node);
}

CHECK(mount_calls)
{
	struct stat a, b;

	need("mkdir", mkdir("m", 0755));
	ok("tmpfs", mount("none", "m", "tmpfs", 0, "size=1m"));
	stat("m", &a);
	stat(".", &b);
	is("another device", a.st_dev != b.st_dev);
	int fd = open("m/f", O_CREAT | O_WRONLY, 0600);
	ok("create", fd);
	static char big[64 * 1024];
	long total = 0, n;
	while ((n = write(fd, big, sizeof(big))) > 0)
		total += n;
	say("full after %ld: %s", total, strerrorname_np(errno));
	ok("busy", umount("m"));
	close(fd);
	ok("umount", umount("m"));
	ok("gone", access("m/f", F_OK));
	ok("umount again", umount("m"));
	ok("unknown type", mount("none", "m", "nopefs", 0, NULL));
	ok("missing target", mount("none", "nope", "tmpfs", 0, NULL));
	ok("bind", mount("/etc", "m", NULL, MS_BIND, NULL));
	ok("bound", access("m/passwd", F_OK));
	ok("umount", umount("m"));
	ok("rename over a mount", (mount("none", "m", "tmpfs", 0, NULL), rename("m", "n")));
	ok("across devices", (close(open("f", O_CREAT | O_WRONLY, 0600)), rename("f", "m/f")));
	ok("link across", link("f", "m/f"));
	ok("umount", umount("m"));
	setuid(1000);
	ok("as user", mount("none", "m", "tmpfs", 0, NULL));
}

CHECK(chroot_and_pivot)
{
	pid_t pid = fork();

	need("mkdir", mkdir("r", 0755) && errno != EEXIST ? -1 : 0);
	if (pid == 0) {
		ok("chroot", chroot("/etc"));
		ok("chdir", chdir("/"));
		ok("inside", access("/passwd", F_OK));
		ok("no way up", access("/../bin", F_OK));
		_exit(0);
	}
	reap("child", pid);
}

CHECK(membarrier_call)
{
	is("query", syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0) > 0);
	ok("register", syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0));
	ok("expedited", syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0));
	ok("bad", syscall(SYS_membarrier, 1 << 20, 0, 0));
}

CHECK(memory_policy)
{
	int mode = 99;
	unsigned long mask = 1;

	ok("get", syscall(SYS_get_mempolicy, &mode, NULL, 0, NULL, 0));
	val("default", mode);
	ok("bind", syscall(SYS_set_mempolicy, 2, &mask, 64));
	ok("get", syscall(SYS_get_mempolicy, &mode, NULL, 0, NULL, 0));
	val("mode", mode);
	ok("default again", syscall(SYS_set_mempolicy, 0, NULL, 0));
	ok("bad mode", syscall(SYS_set_mempolicy, 77, &mask, 64));
	void *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ok("mbind", syscall(SYS_mbind, p, 4096, 2, &mask, 64, 0));
}

CHECK(reboot_magic)
{
	ok("bad magic", syscall(SYS_reboot, 1, 2, LINUX_REBOOT_CMD_RESTART, NULL));
	ok("cad off", reboot(RB_DISABLE_CAD));
	setuid(1000);
	ok("as user", reboot(RB_AUTOBOOT));
}

CHECK(pty_pair)
{
	int m = posix_openpt(O_RDWR | O_NOCTTY);
	char buf[64] = {0}, *name;
	struct winsize ws = {24, 80, 0, 0}, got;

	ok("posix_openpt", m);
	ok("grantpt", grantpt(m));
	ok("unlockpt", unlockpt(m));
	name = ptsname(m);
	is("name", name && !strncmp(name, "/dev/pts/", 9));
	int s = name ? open(name, O_RDWR | O_NOCTTY) : -1;
	ok("open", s);
	is("isatty", isatty(s));
	val("write", write(m, "hello\n", 6));
	val("canonical read", read(s, buf, 64));
	val("echo and output", (memset(buf, 0, 64), read(m, buf, 64)));
	is("crlf", !memcmp(buf, "hello\r\n", 7));
	ok("set size", ioctl(m, TIOCSWINSZ, &ws));
	ok("get size", ioctl(s, TIOCGWINSZ, &got));
	say("%dx%d", got.ws_row, got.ws_col);
	val("type and erase", write(m, "ab\177c\025xy\n", 8));
	val("read", (memset(buf, 0, 64), read(s, buf, 64)));
	say("%.*s", (int)strcspn(buf, "\n"), buf);
	close(s);
	val("after hang-up", read(m, buf, 0));
}
