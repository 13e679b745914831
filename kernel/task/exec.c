/* SPDX-License-Identifier: MIT */
/*
 * execve: another program in the same process.
 *
 *   1. find the file and its format (ELF, or #! which leads to another file), copy the strings, read
 *      all headers, make an empty address space: whatever fails here is an errno for the caller;
 *   2. kill the other threads, change memory, credentials, signals, name, and close what is to be
 *      closed on exec: from here on there is nothing to return to;
 *   3. tell perf, load the image, build the stack: a failure ends in SIGSEGV.
 *
 * perf hears of the exec before the new mappings are made, so that events which the exec
 * enables see them. proc->exec_lock is held from the credentials to that point.
 */
#include <perch/atomic.h>
#include <perch/errno.h>
#include <perch/fs.h>
#include <perch/futex.h>
#include <perch/mm.h>
#include <perch/perf.h>
#include <perch/printk.h>
#include <perch/syscall.h>
#include <perch/uaccess.h>
#include <stdio.h>
#include <string.h>

#include "exec.h"
#include "internal.h"

#define MS_NOSUID 2
#define MS_NOEXEC 8
/* READ_IMPLIES_EXEC, ADDR_COMPAT_LAYOUT, MMAP_PAGE_ZERO, ADDR_NO_RANDOMIZE */
#define PERSONALITY_SETID_CLEARS 0x0740000UL

/* --- 1: the file */

/* Execute permission does not imply read permission, but the kernel reads the file all the same. */
static struct file *open_unchecked(const struct path *p)
{
	u64 *caps = &current->cred.cap_effective, saved = *caps;
	struct file *f;

	*caps |= BIT(CAP_DAC_OVERRIDE);
	f = path_open(p, O_RDONLY | O_LARGEFILE);
	*caps = saved;
	return f;
}

static struct file *open_path(const struct path *p)
{
	struct inode *i = p->dentry->inode;
	int err;

	if (S_ISLNK(i->mode))
		return ERR_PTR(-ELOOP);
	if (!S_ISREG(i->mode) || (p->mnt->flags & MS_NOEXEC))
		return ERR_PTR(-EACCES);
	err = inode_permission(i, MAY_EXEC);
	return err ? ERR_PTR(err) : open_unchecked(p);
}

/* flags: AT_EMPTY_PATH, AT_SYMLINK_NOFOLLOW. */
struct file *exec_open(int dirfd, const char *name, int flags)
{
	struct path p;
	struct file *f;
	u32 lookup = 0;
	int err;

	if (!(flags & AT_SYMLINK_NOFOLLOW))
		lookup |= LOOKUP_FOLLOW;
	if (flags & AT_EMPTY_PATH)
		lookup |= LOOKUP_EMPTY;
	err = path_lookup(dirfd, name, lookup, &p);
	if (err)
		return ERR_PTR(err);
	f = open_path(&p);
	path_put(&p);
	if (IS_ERR(f))
		return f;
	err = deny_write_access(f);
	if (err) {
		file_put(f);
		return ERR_PTR(err);
	}
	/* Somebody writes to it now, so it is refused; later writers are kept out by mm_set_exe. */
	allow_write_access(f);
	return f;
}

static int read_head(struct exec *x)
{
	ssize_t n;

	memset(x->head, 0, sizeof(x->head));
	n = file_read_kernel(x->file, x->head, sizeof(x->head), 0);
	return n < 0 ? (int)n : 0;
}

/* --- 1: scripts */

/* Split "#! interpreter [argument]" in place. The argument is the rest of the line as one string. */
static int parse_script(char *line, char **interp, char **arg)
{
	char *end = memchr(line, '\n', EXEC_HEAD), *p;

	if (!end)
		end = line + EXEC_HEAD - 1;	/* cut: fine if the interpreter's name is whole */
	*end = '\0';
	while (end > line + 2 && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = '\0';
	p = line + 2 + strspn(line + 2, " \t");
	if (!*p)
		return -ENOEXEC;
	*interp = p;
	p += strcspn(p, " \t");
	if (!*p) {
		*arg = NULL;
		return p == line + EXEC_HEAD - 1 ? -ENOEXEC : 0;
	}
	*p++ = '\0';
	p += strspn(p, " \t");
	*arg = *p ? p : NULL;
	return 0;
}

/* The interpreter becomes the file; [interpreter, argument, script] replace argv[0]. */
static int run_script(struct exec *x, char **name)
{
	char line[EXEC_HEAD], *interp, *arg, *copy;
	const char *front[3];
	struct file *f;
	int err;

	memcpy(line, x->head, sizeof(line));
	err = parse_script(line, &interp, &arg);
	if (err)
		return err;
	front[0] = interp;
	front[1] = arg ? arg : *name;
	front[2] = arg ? *name : NULL;
	err = strings_replace_first(x, &x->args, front, 3);
	if (err)
		return err;
	f = exec_open(AT_FDCWD, interp, 0);
	if (IS_ERR(f))
		return (int)PTR_ERR(f);
	file_put(x->file);
	x->file = f;
	copy = kstrdup(interp);
	if (!copy)
		return -ENOMEM;
	kfree(*name);
	*name = copy;
	return read_head(x);
}

/* Follow #! until x->file is something else. */
static int resolve_scripts(struct exec *x)
{
	char *name = kstrdup(x->filename);	/* of the file looked at: what a script's interpreter is given */
	int err = name ? read_head(x) : -ENOMEM;

	for (int depth = 0; !err && x->head[0] == '#' && x->head[1] == '!'; depth++)
		err = depth == EXEC_MAX_SCRIPTS ? -ELOOP : run_script(x, &name);
	kfree(name);
	return err;
}

/* --- 1: all of it */

static char *program_name(int dirfd, const char *path)
{
	if (path[0] == '/' || dirfd == AT_FDCWD)
		return kstrdup(path);
	return *path ? kasprintf("/dev/fd/%d/%s", dirfd, path) : kasprintf("/dev/fd/%d", dirfd);
}

static int copy_strings(struct exec *x, struct strvec argv, struct strvec envp)
{
	int err;

	x->limit = exec_arg_limit();
	err = strings_add_vec(x, &x->args, argv);
	/* A program may take argv[0] for granted. */
	if (!err && !x->args.count)
		err = strings_add(x, &x->args, "");
	if (!err)
		err = strings_add_vec(x, &x->envs, envp);
	return err;
}

static int exec_prepare(struct exec *x, int dirfd, const char *path, struct strvec argv,
			struct strvec envp, int flags)
{
	int err;

	x->filename = program_name(dirfd, path);
	if (!x->filename)
		return -ENOMEM;
	x->file = exec_open(dirfd, path, flags);
	if (IS_ERR(x->file)) {
		err = (int)PTR_ERR(x->file);
		x->file = NULL;
		return err;
	}
	err = copy_strings(x, argv, envp);
	if (!err)
		err = resolve_scripts(x);
	if (!err)
		err = elf_prepare(x);
	if (err)
		return err;
	x->mm = mm_create();
	return x->mm ? mm_set_exe(x->mm, x->file) : -ENOMEM;
}

static void exec_free(struct exec *x)
{
	if (x->mm)
		mm_put(x->mm);
	elf_free(&x->prog);
	elf_free(&x->interp);
	strings_free(&x->args);
	strings_free(&x->envs);
	if (x->file)
		file_put(x->file);
	kfree(x->filename);
	kfree(x);
}

/* --- 2: the change */

static void prepare_creds(struct exec *x)
{
	const struct inode *i = x->file->inode;
	const struct cred *old = &current->cred;
	struct cred *c = &x->cred;

	*c = *old;
	creds_exec(c, i->mode, i->uid, i->gid, x->file->path.mnt->flags & MS_NOSUID, &x->secure);
	x->privileged = c->euid != old->euid || c->egid != old->egid ||
			(c->cap_permitted & ~old->cap_permitted);
}

static void swap_mm(struct exec *x)
{
	struct task *t = current;
	struct mm *old = t->mm;
	u64 flags = irq_save();

	spin_lock(&t->alloc_lock);
	t->mm = x->mm;
	spin_unlock(&t->alloc_lock);
	x->mm = NULL;
	arch_mm_switch(t->mm);
	irq_restore(flags);
	flags = spin_lock_irqsave(&task_lock);
	complete_vfork_locked(t);
	spin_unlock_irqrestore(&task_lock, flags);
	if (old) {
		mm_note_peak(old);
		t->ru.maxrss = max(t->ru.maxrss, old->hiwater_rss);
		mm_put(old);
	}
}

static void set_name(const struct exec *x)
{
	const char *slash = strrchr(x->filename, '/');

	task_write_comm(current, slash ? slash + 1 : x->filename);
}

static void reset_task(struct exec *x)
{
	struct task *t = current;
	struct process *p = t->proc;
	u64 flags;

	atomic_and(&t->flags, ~(TF_FORKNOEXEC | TF_KTHREAD));
	t->clear_child_tid = NULL;
	t->set_child_tid = NULL;
	t->robust_list = 0;
	t->restart.fn = NULL;
	if (x->secure) {
		t->pdeath_signal = 0;
		t->personality &= ~PERSONALITY_SETID_CLEARS;
	}
	t->mm->dumpable = x->privileged || x->secure ? 0 : 1;
	flags = spin_lock_irqsave(&task_lock);
	p->exec_done = true;
	p->exec_id++;
	spin_unlock_irqrestore(&task_lock, flags);
	itimers_exec(p);
	signals_exec(t);
	arch_flush_thread(t);
}

static int exec_commit(struct exec *x)
{
	if (current->mm)
		futex_exit(current);
	swap_mm(x);
	files_exec();
	reset_task(x);
	set_name(x);
	if (task_set_user(current, x->cred.uid))
		return -EAGAIN;
	current->cred = x->cred;
	perf_exec(x->privileged);
	return 0;
}

/* --- 3: the new program */

static int exec_start(struct exec *x, struct pt_regs *regs)
{
	long sp;
	int err;

	err = elf_load(x);
	if (err)
		return err;
	sp = exec_build_stack(x);
	if (sp < 0)
		return (int)sp;
	arch_exec_thread(regs, x->has_interp ? x->interp.entry : x->prog.entry, (uaddr)sp);
	return 0;
}

/* Nothing to go back to: the process dies of SIGSEGV, unless something killed it before. */
static int exec_lost(int err)
{
	u64 flags;

	if (fatal_signal_pending(current) || (current->flags & TF_KTHREAD))
		return err;
	flags = spin_lock_irqsave(&current->sighand->lock);
	current->sighand->action[SIGSEGV - 1].handler = SIG_DFL;
	spin_unlock_irqrestore(&current->sighand->lock, flags);
	force_signal(SIGSEGV, SI_KERNEL, 0);
	return err;
}

static int exec_locked(struct exec *x, bool *lost)
{
	int err;

	prepare_creds(x);
	err = exec_dethread();
	if (err)
		return err;
	*lost = true;
	err = exec_own_sighand();
	return err ? err : exec_commit(x);
}

static int exec_run(struct exec *x)
{
	struct process *p = current->proc;
	bool lost = false;
	int err = mutex_lock_killable(&p->exec_lock);

	if (err)
		return -ERESTARTNOINTR;	/* only a fatal signal: it is not seen */
	current->in_execve = true;
	err = exec_locked(x, &lost);
	mutex_unlock(&p->exec_lock);
	if (!err)
		err = exec_start(x, task_pt_regs(current));
	current->in_execve = false;
	if (!lost)
		return err;
	if (err)
		return exec_lost(err);
	return 0;
}

static int execve_common(int dirfd, const char *path, struct strvec argv, struct strvec envp, int flags)
{
	struct exec *x = kzalloc(sizeof(*x));
	int err;

	if (!x)
		return -ENOMEM;
	err = exec_prepare(x, dirfd, path, argv, envp, flags);
	if (!err)
		err = exec_run(x);
	exec_free(x);
	free_dead_tasks();
	return err;
}

/* --- entries */

int do_execve(int dirfd, const char *kpath, const char __user *const __user *argv,
	      const char __user *const __user *envp, int flags)
{
	return execve_common(dirfd, kpath, (struct strvec){ false, argv }, (struct strvec){ false, envp },
			     flags);
}

/* The first program: also gives the kernel thread what a program needs beside memory. */
int kernel_execve(const char *path, const char *const argv[], const char *const envp[])
{
	ASSERT(current->flags & TF_KTHREAD);
	if (!current->fs)
		current->fs = fs_fork(NULL);
	if (!current->files)
		current->files = files_create();
	if (!current->fs || !current->files)
		return -ENOMEM;
	return execve_common(AT_FDCWD, path, (struct strvec){ true, argv }, (struct strvec){ true, envp }, 0);
}

static long execve_user(int dirfd, const char __user *upath, const char __user *const __user *argv,
			const char __user *const __user *envp, int flags)
{
	char *path = getname(upath, flags & AT_EMPTY_PATH);
	long ret;

	if (IS_ERR(path))
		return PTR_ERR(path);
	ret = do_execve(dirfd, path, argv, envp, flags);
	kfree(path);
	return ret;
}

long sys_execve(const char __user *path, const char __user *const __user *argv,
		const char __user *const __user *envp)
{
	return execve_user(AT_FDCWD, path, argv, envp, 0);
}

long sys_execveat(int dirfd, const char __user *path, const char __user *const __user *argv,
		  const char __user *const __user *envp, int flags)
{
	if (flags & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))
		return -EINVAL;
	return execve_user(dirfd, path, argv, envp, flags);
}
