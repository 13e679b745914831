/* SPDX-License-Identifier: MIT */
/* Files and directories on the root file system (tmpfs). */
#include "check.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>

static int make(const char *name, const char *text)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);

	need(name, fd);
	need("write", write(fd, text, strlen(text)));
	return fd;
}

static void show(int fd)
{
	char buf[256];
	ssize_t n = pread(fd, buf, sizeof(buf) - 1, 0);

	need("pread", n);
	buf[n] = 0;
	say("content: \"%s\"", buf);
}

CHECK(open_flags)
{
	ok("missing", open("missing", O_RDONLY));
	ok("create", open("a", O_WRONLY | O_CREAT | O_EXCL, 0600));
	ok("exclusive", open("a", O_WRONLY | O_CREAT | O_EXCL, 0600));
	ok("directory flag on a file", open("a", O_RDONLY | O_DIRECTORY));
	ok("through a file", open("a/b", O_RDONLY));
	ok("write a directory", open(".", O_WRONLY));
	ok("create a directory name", open("dir/", O_CREAT | O_WRONLY, 0600));
	ok("empty path", open("", O_RDONLY));
	ok("bad pointer", open((char *)8, O_RDONLY));
	need("symlink", symlink("a", "l"));
	ok("nofollow", open("l", O_RDONLY | O_NOFOLLOW));
	int fd = ok("path fd", open("l", O_PATH | O_NOFOLLOW));
	ok("read a path fd", read(fd, (char[4]){0}, 1));
	need("loop", symlink("loop", "loop"));
	ok("symlink loop", open("loop", O_RDONLY));
	char longname[300];
	memset(longname, 'x', sizeof(longname) - 1);
	longname[299] = 0;
	ok("name too long", open(longname, O_RDONLY));
}

CHECK(read_write_seek)
{
	int fd = make("f", "hello world");
	char buf[32] = {0};

	val("seek set", lseek(fd, 6, SEEK_SET));
	val("read", read(fd, buf, 5));
	say("%s", buf);
	val("seek cur", lseek(fd, -2, SEEK_CUR));
	val("seek end", lseek(fd, 5, SEEK_END));
	val("write behind the end", write(fd, "!", 1));
	val("size", lseek(fd, 0, SEEK_END));
	val("read the hole", pread(fd, buf, 5, 11));
	is("hole is zero", !memcmp(buf, "\0\0\0\0\0", 5));
	val("negative seek", lseek(fd, -1, SEEK_SET));
	val("bad whence", lseek(fd, 0, 99));
	val("read at the end", read(fd, buf, 5));
	val("zero bytes", read(fd, buf, 0));
	val("bad buffer", pread(fd, (void *)8, 5, 0));
	val("bad fd", read(77, buf, 1));
	val("negative offset", pread(fd, buf, 1, -1));
}

CHECK(append_truncate)
{
	int fd = make("f", "0123456789"), ap = open("f", O_WRONLY | O_APPEND);

	need("open", ap);
	val("append", write(ap, "ab", 2));
	val("position", lseek(ap, 0, SEEK_CUR));
	show(fd);
	ok("shorter", ftruncate(fd, 4));
	show(fd);
	ok("longer", truncate("f", 6));
	val("size", lseek(fd, 0, SEEK_END));
	ok("negative", ftruncate(fd, -1));
	int rd = open("f", O_RDONLY);
	ok("read only", ftruncate(rd, 0));
	val("write read only", write(rd, "x", 1));
	val("read write only", read(ap, (char[1]){0}, 1));
}

CHECK(vectors)
{
	int fd = make("f", "");
	char a[4] = {0}, b[8] = {0};
	struct iovec out[3] = {{"one", 3}, {"", 0}, {"two-three", 9}};
	struct iovec in[2] = {{a, 3}, {b, 7}};

	val("writev", writev(fd, out, 3));
	val("preadv", preadv(fd, in, 2, 0));
	say("%s %s", a, b);
	val("pwritev", pwritev(fd, out, 1, 3));
	show(fd);
	val("no vectors", writev(fd, out, 0));
	val("too many", writev(fd, out, 100000));
	out[0].iov_len = -1;
	val("negative length", writev(fd, out, 1));
	val("bad array", writev(fd, (void *)8, 1));
}

CHECK(stat_fields)
{
	struct stat st;
	int fd = make("f", "12345");

	need("fstat", fstat(fd, &st));
	say("mode %o size %ld nlink %ld uid %d blksize %ld blocks %ld", st.st_mode, (long)st.st_size,
		(long)st.st_nlink, st.st_uid, (long)st.st_blksize, (long)st.st_blocks);
	need("chmod", chmod("f", 04751));
	need("chown", chown("f", 1000, 5));
	need("stat", stat("f", &st));
	say("mode %o uid %d gid %d", st.st_mode, st.st_uid, st.st_gid);
	need("mkdir", mkdir("d", 0700));
	need("stat", stat("d", &st));
	say("directory mode %o nlink %ld", st.st_mode, (long)st.st_nlink);
	need("mkdir", mkdir("d/sub", 0700));
	need("stat", stat("d", &st));
	say("nlink with a subdirectory %ld", (long)st.st_nlink);
	need("symlink", symlink("some/where", "l"));
	need("lstat", lstat("l", &st));
	say("link mode %o size %ld", st.st_mode, (long)st.st_size);
	ok("stat missing", stat("nope", &st));
	ok("dangling", stat("l", &st));
	need("null", stat("/dev/null", &st));
	say("/dev/null mode %o rdev %lx", st.st_mode, (long)st.st_rdev);
	ok("empty path", fstatat(fd, "", &st, AT_EMPTY_PATH));
	ok("bad flag", fstatat(fd, "f", &st, 0x40000000));
	ok("bad buffer", syscall(SYS_fstat, fd, 8));
}

CHECK(statx_fields)
{
	struct statx sx;

	close(make("f", "123"));
	need("statx", statx(AT_FDCWD, "f", 0, STATX_BASIC_STATS | STATX_BTIME, &sx));
	is("has basic stats", (sx.stx_mask & STATX_BASIC_STATS) == STATX_BASIC_STATS);
	say("mode %o size %lld nlink %d", sx.stx_mode, (long long)sx.stx_size, sx.stx_nlink);
	ok("missing", statx(AT_FDCWD, "nope", 0, STATX_BASIC_STATS, &sx));
	ok("reserved mask", statx(AT_FDCWD, "f", 0, 0x80000000, &sx));
}

CHECK(link_rename_unlink)
{
	struct stat st;

	close(make("a", "A"));
	ok("link", link("a", "b"));
	need("stat", stat("a", &st));
	val("links", st.st_nlink);
	ok("link over", link("a", "b"));
	ok("link a directory", link(".", "c"));
	ok("rename to itself", rename("a", "a"));
	ok("rename between links", rename("a", "b"));
	ok("a is still there", access("a", F_OK));
	close(make("c", "C"));
	ok("rename over", rename("c", "b"));
	show(open("b", O_RDONLY));
	need("mkdir", mkdir("d", 0755));
	need("mkdir", mkdir("d/e", 0755));
	ok("directory into itself", rename("d", "d/e/f"));
	ok("file over directory", rename("a", "d"));
	ok("directory over file", rename("d", "a"));
	need("mkdir", mkdir("g", 0755));
	ok("directory over a full one", rename("g", "d"));
	ok("directory over an empty one", rename("d", "g"));
	ok("noreplace", renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_NOREPLACE));
	ok("exchange", renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_EXCHANGE));
	show(open("a", O_RDONLY));
	ok("bad flag", renameat2(AT_FDCWD, "a", AT_FDCWD, "b", 64));
	ok("unlink", unlink("a"));
	ok("unlink again", unlink("a"));
	ok("unlink a directory", unlink("g"));
	ok("rmdir a file", rmdir("b"));
	ok("rmdir full", rmdir("g"));
	ok("rmdir", rmdir("g/e"));
	ok("rmdir dot", rmdir("g/."));
}

CHECK(unlinked_file_lives)
{
	struct stat st;
	int fd = make("f", "ghost");

	ok("unlink", unlink("f"));
	show(fd);
	need("fstat", fstat(fd, &st));
	val("links", st.st_nlink);
	val("write", write(fd, "s", 1));
	show(fd);
}

CHECK(symlinks)
{
	char buf[16] = {0};

	ok("symlink", symlink("target", "l"));
	ok("again", symlink("target", "l"));
	val("readlink", readlink("l", buf, sizeof(buf)));
	say("%s", buf);
	val("short buffer", readlink("l", buf, 3));
	val("zero buffer", readlink("l", buf, 0));
	close(make("f", "x"));
	val("readlink of a file", readlink("f", buf, 16));
	val("missing", readlink("nope", buf, 16));
	ok("empty target", symlink("", "e"));
	ok("create through a link", open("l", O_CREAT | O_WRONLY, 0600));
	ok("target exists", access("target", F_OK));
	need("mkdir", mkdir("d", 0755));
	need("symlink", symlink("../f", "d/up"));
	show(open("d/up", O_RDONLY));
	ok("trailing slash", open("l/", O_RDONLY));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

CHECK(directory_listing)
{
	char name[16], *list[64];
	int n = 0;
	struct dirent *e;

	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "f%02d", i);
		close(make(name, ""));
	}
	need("mkdir", mkdir("sub", 0755));
	DIR *d = opendir(".");
	while ((e = readdir(d)) && n < 64) {
		char line[300];
		snprintf(line, sizeof(line), "%s/%d", e->d_name, e->d_type);
		list[n++] = strdup(line);
	}
	qsort(list, n, sizeof(*list), by_name);
	for (int i = 0; i < n; i++)
		say("%s", list[i]);
	rewinddir(d);
	int again = 0;
	while (readdir(d))
		again++;
	is("rewind gives as many", again == n);
	ok("getdents of a file", syscall(SYS_getdents64, open("f00", O_RDONLY), name, 16));
	ok("tiny buffer", syscall(SYS_getdents64, open(".", O_RDONLY), name, 4));
}

CHECK(directory_changes_while_reading)
{
	char name[16];
	int seen = 0;
	struct dirent *e;

	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "f%03d", i);
		close(make(name, ""));
	}
	DIR *d = opendir(".");
	while ((e = readdir(d)))
		if (e->d_name[0] == 'f') {
			seen++;
			unlink(e->d_name);
		}
	val("seen", seen);
	rewinddir(d);
	seen = 0;
	while (readdir(d))
		seen++;
	val("left", seen);
}

CHECK(getcwd_chdir)
{
	char buf[256];

	need("mkdir", mkdir("d", 0755));
	ok("chdir", chdir("d"));
	is("in d", getcwd(buf, sizeof(buf)) && !strcmp(strrchr(buf, '/'), "/d"));
	ok("short buffer", syscall(SYS_getcwd, buf, 2));
	ok("to a file", chdir("/etc/passwd"));
	ok("missing", chdir("nope"));
	int fd = open("..", O_RDONLY | O_DIRECTORY);
	ok("fchdir", fchdir(fd));
	ok("d is here", access("d", F_OK));
	ok("root", chdir("/../.."));
	say("%s", getcwd(buf, sizeof(buf)));
	ok("deleted", chdir("/tmp"));
	need("mkdir", mkdir("gone", 0755));
	need("chdir", chdir("gone"));
	need("rmdir", rmdir("/tmp/gone"));
	ok("getcwd of a deleted directory", syscall(SYS_getcwd, buf, sizeof(buf)));
	ok("create there", open("x", O_CREAT | O_WRONLY, 0600));
}

CHECK(at_calls)
{
	int d;

	need("mkdir", mkdir("d", 0755));
	d = open("d", O_RDONLY | O_DIRECTORY);
	ok("mkdirat", mkdirat(d, "e", 0755));
	ok("openat", openat(d, "f", O_CREAT | O_RDWR, 0644));
	ok("linkat", linkat(d, "f", d, "g", 0));
	ok("symlinkat", symlinkat("f", d, "s"));
	ok("faccessat", faccessat(d, "s", R_OK, 0));
	ok("fchmodat", fchmodat(d, "f", 0600, 0));
	ok("renameat", renameat(d, "g", AT_FDCWD, "top"));
	ok("unlinkat", unlinkat(d, "f", 0));
	ok("unlinkat of a directory", unlinkat(d, "e", 0));
	ok("removedir", unlinkat(d, "e", AT_REMOVEDIR));
	ok("bad dirfd", openat(99, "x", O_RDONLY));
	ok("file as dirfd", openat(open("top", O_RDONLY), "x", O_RDONLY));
	ok("absolute path ignores dirfd", openat(99, "/etc/passwd", O_RDONLY));
}

CHECK(umask_modes)
{
	struct stat st;

	umask(027);
	close(open("f", O_CREAT | O_WRONLY, 0777));
	need("stat", stat("f", &st));
	say("%o", st.st_mode & 07777);
	need("mkdir", mkdir("d", 0777));
	need("stat", stat("d", &st));
	say("%o", st.st_mode & 07777);
	val("old mask", umask(0));
}

CHECK(permissions_as_user)
{
	close(make("secret", "x"));
	close(make("public", "x"));
	chmod("secret", 0600);
	chmod("public", 0644);
	mkdir("closed", 0700);
	chmod(".", 0755);
	need("setuid", setresuid(1000, 1000, 1000));
	ok("read secret", open("secret", O_RDONLY));
	ok("read public", open("public", O_RDONLY));
	ok("write public", open("public", O_WRONLY));
	ok("create here", open("new", O_CREAT | O_WRONLY, 0600));
	ok("unlink here", unlink("public"));
	ok("into closed", open("closed/x", O_RDONLY));
	ok("access", access("secret", R_OK));
	ok("chmod", chmod("public", 0777));
	ok("chown", chown("public", 1000, 1000));
	ok("list closed", open("closed", O_RDONLY));
	ok("in /tmp", open("/tmp/mine", O_CREAT | O_WRONLY, 0600));
	ok("unlink in /tmp", unlink("/tmp/mine"));
	ok("back to root", setuid(0));
}

CHECK(times)
{
	struct timespec ts[2] = {{1000000000, 5}, {1234567890, 123456789}};
	struct stat st;
	int fd = make("f", "x");

	ok("futimens", futimens(fd, ts));
	need("fstat", fstat(fd, &st));
	say("%ld.%09ld %ld.%09ld", st.st_atim.tv_sec, st.st_atim.tv_nsec, st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	ts[0].tv_nsec = UTIME_OMIT;
	ts[1].tv_nsec = UTIME_NOW;
	ok("omit and now", utimensat(AT_FDCWD, "f", ts, 0));
	need("fstat", fstat(fd, &st));
	is("atime kept", st.st_atim.tv_sec == 1000000000);
	is("mtime moved", st.st_mtim.tv_sec != 1234567890);
	ts[0].tv_nsec = 2000000000;
	ok("bad nanoseconds", utimensat(AT_FDCWD, "f", ts, 0));
}

CHECK(fallocate_holes)
{
	int fd = make("f", "abcdefgh");
	struct stat st;

	ok("extend", posix_fallocate(fd, 0, 10000) ? -1 : 0);
	need("fstat", fstat(fd, &st));
	val("size", st.st_size);
	ok("keep size", fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 50000));
	need("fstat", fstat(fd, &st));
	val("size", st.st_size);
	ok("negative", fallocate(fd, 0, -1, 10));
	ok("zero length", fallocate(fd, 0, 0, 0));
}

CHECK(sendfile_copy)
{
	int in = make("in", "the quick brown fox"), out = make("out", "");
	off_t off = 4;

	val("sendfile", sendfile(out, in, &off, 5));
	val("offset", off);
	show(out);
	val("at the end", sendfile(out, in, NULL, 100));
	val("to a directory", sendfile(open(".", O_RDONLY), in, NULL, 1));
}

CHECK(shared_offset)
{
	int fd = make("f", "abcdef"), other = open("f", O_RDONLY);
	int two = dup(fd);
	char c;

	lseek(fd, 2, SEEK_SET);
	need("read", read(two, &c, 1));
	say("dup shares: %c", c);
	need("read", read(other, &c, 1));
	say("open does not: %c", c);
	if (fork() == 0) {
		need("read", read(fd, &c, 1));
		_exit(0);
	}
	sleep_ms(200);
	val("fork shares", lseek(fd, 0, SEEK_CUR));
}

CHECK(flock_locks)
{
	int a = make("f", ""), b = open("f", O_RDWR);

	ok("lock", flock(a, LOCK_EX));
	ok("second", flock(b, LOCK_EX | LOCK_NB));
	ok("unlock", flock(a, LOCK_UN));
	ok("second again", flock(b, LOCK_EX | LOCK_NB));
	ok("bad", flock(a, 16));
}

CHECK(record_locks)
{
	int fd = make("f", "0123456789");
	struct flock fl = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 2, .l_len = 4};

	ok("lock", fcntl(fd, F_SETLK, &fl));
	if (fork() == 0) {
		struct flock q = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0};

		ok("child asks", fcntl(fd, F_GETLK, &q));
		say("type %d start %ld len %ld parent %d", q.l_type, (long)q.l_start, (long)q.l_len, q.l_pid == getppid());
		ok("child locks", fcntl(fd, F_SETLK, &(struct flock){.l_type = F_WRLCK, .l_start = 3, .l_len = 1}));
		ok("child elsewhere", fcntl(fd, F_SETLK, &(struct flock){.l_type = F_WRLCK, .l_start = 7, .l_len = 1}));
		_exit(0);
	}
	reap("child", -1);
}

CHECK(statfs_magics)
{
	static const char *const path[] = {"/", "/proc", "/sys", "/dev/null", "/tmp"};
	struct statfs sf;

	for (int i = 0; i < 5; i++) {
		need(path[i], statfs(path[i], &sf));
		say("%s: type %lx bsize %ld namelen %ld", path[i], (long)sf.f_type, (long)sf.f_bsize, (long)sf.f_namelen);
	}
	ok("missing", statfs("/nope", &sf));
	int p[2];
	need("pipe", pipe(p));
	need("fstatfs", fstatfs(p[0], &sf));
	say("pipe: type %lx", (long)sf.f_type);
}

CHECK(device_files)
{
	char buf[64];
	int null = open("/dev/null", O_RDWR), zero = open("/dev/zero", O_RDWR), full = open("/dev/full", O_RDWR);

	val("null read", read(null, buf, 10));
	val("null write", write(null, buf, 10));
	memset(buf, 1, sizeof(buf));
	val("zero read", read(zero, buf, 64));
	is("zero", buf[0] == 0 && buf[63] == 0);
	val("full read", read(full, buf, 10));
	val("full write", write(full, buf, 10));
	val("random read", read(open("/dev/urandom", O_RDONLY), buf, 64));
	ok("mknod", mknod("n", S_IFCHR | 0666, 0x103));
	val("made null", write(open("n", O_WRONLY), "x", 1));
	ok("no such device", open("/dev/nope", O_RDONLY));
	ok("fifo", mkfifo("p", 0600));
	ok("fifo without reader", open("p", O_WRONLY | O_NONBLOCK));
	ok("fifo nonblocking reader", open("p", O_RDONLY | O_NONBLOCK));
	ok("fifo writer now", open("p", O_WRONLY | O_NONBLOCK));
}

CHECK(big_file)
{
	int fd = make("big", "");
	char block[4096];
	unsigned long sum = 0;

	for (int i = 0; i < 512; i++) {
		memset(block, i, sizeof(block));
		need("write", write(fd, block, sizeof(block)) == sizeof(block) ? 0 : -1);
	}
	val("size", lseek(fd, 0, SEEK_END));
	lseek(fd, 0, SEEK_SET);
	while (read(fd, block, 1000) > 0)
		sum = sum * 31 + (unsigned char)block[500];
	say("sum %lu", sum);
	val("sparse end", pwrite(fd, "x", 1, 1L << 33));
	val("size", lseek(fd, 0, SEEK_END));
	ok("truncate", ftruncate(fd, 0));
}

CHECK(path_walk)
{
	need("mkdir", mkdir("a", 0755));
	need("mkdir", mkdir("a/b", 0755));
	close(make("a/b/c", "deep"));
	ok("dots", access("./a/../a/./b//c", F_OK));
	ok("trailing slash on a directory", access("a/b/", F_OK));
	ok("trailing slash on a file", access("a/b/c/", F_OK));
	ok("dotdot from a file", access("a/b/c/..", F_OK));
	need("symlink", symlink("a/b", "s"));
	ok("through a link", access("s/c", F_OK));
	ok("link then dotdot", access("s/../b/c", F_OK));
	char path[5000];
	memset(path, '/', sizeof(path) - 1);
	path[4999] = 0;
	ok("path too long", access(path, F_OK));
	for (int i = 0; i < 4094; i += 2)
		memcpy(path + i, "./", 2);
	strcpy(path + 4090, "a");
	ok("path just fits", access(path, F_OK));
}

CHECK(fcntl_files)
{
	int fd = make("f", "");

	val("status", fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND | O_NONBLOCK));
	ok("set append", fcntl(fd, F_SETFL, O_APPEND | O_NONBLOCK));
	say("flags %o", fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND | O_NONBLOCK));
	val("fd flags", fcntl(fd, F_GETFD));
	ok("cloexec", fcntl(fd, F_SETFD, FD_CLOEXEC));
	val("fd flags", fcntl(fd, F_GETFD));
	val("dupfd", fcntl(fd, F_DUPFD, 50));
	val("dupfd cloexec", fcntl(fd, F_DUPFD_CLOEXEC, 50));
	val("its flags", fcntl(51, F_GETFD));
	val("bad command", fcntl(fd, 9999));
	val("bad fd", fcntl(88, F_GETFD));
	val("dupfd too high", fcntl(fd, F_DUPFD, 10000000));
}

CHECK(access_and_sync)
{
	int fd = make("f", "x");

	ok("fsync", fsync(fd));
	ok("fdatasync", fdatasync(fd));
	ok("sync", (sync(), 0));
	chmod("f", 0);
	ok("root reads", access("f", R_OK));
	ok("root executes", access("f", X_OK));
	ok("bad mode", access("f", 64));
	ok("fadvise", posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL) ? -1 : 0);
	ok("fsync of a bad fd", fsync(99));
	ok("copy_file_range", copy_file_range(open("/etc/passwd", O_RDONLY), NULL, open("g", O_CREAT | O_RDWR, 0600), NULL, 4, 0));
}

static void show_blocks(const char *what, int fd)
{
	struct stat st;
	struct statfs fs;

	need("fstat", fstat(fd, &st));
	need("fstatfs", fstatfs(fd, &fs));
	say("%s: %ld bytes in %ld pages, %ld free", what, (long)st.st_size, (long)st.st_blocks / 8, (long)fs.f_bfree);
}

/* What a fallocate made before it ran out of space goes again; what was there, or is used, stays. */
CHECK(fallocate_no_space)
{
	char *p;
	int fd, other;

	need("mkdir", mkdir("m", 0755));
	need("mount", mount("none", "m", "tmpfs", 0, "size=256k"));
	fd = open("m/a", O_RDWR | O_CREAT, 0644);
	other = open("m/b", O_RDWR | O_CREAT, 0644);
	need("open", other);
	ok("fits", fallocate(other, 0, 0, 128 << 10));
	show_blocks("other", other);
	ok("never fits", fallocate(fd, 0, 0, 512 << 10));
	ok("does not fit", fallocate(fd, 0, 0, 160 << 10));
	show_blocks("all gone", fd);
	need("write", pwrite(fd, "x", 1, 5 * 4096));
	ok("around a page", fallocate(fd, 0, 0, 160 << 10));
	show_blocks("that page", fd);
	ok("keep size", fallocate(fd, FALLOC_FL_KEEP_SIZE, 64 << 10, 140 << 10));
	show_blocks("that page", fd);
	p = mmap(NULL, 6 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	need("mmap", p == MAP_FAILED ? -1 : 0);
	p[2 * 4096] = 'y';
	ok("with a mapping", fallocate(fd, 0, 0, 160 << 10));
	show_blocks("two pages", fd);
	say("%c %c", p[2 * 4096], p[5 * 4096]);
	ok("what fits", fallocate(fd, 0, 0, 120 << 10));
	show_blocks("a", fd);
	munmap(p, 6 * 4096);
	close(fd);
	close(other);
	ok("umount", umount("m"));
}
