/* SPDX-License-Identifier: MIT */
/* Threads and futexes. */
#include "check.h"
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

static long futex(void *addr, int op, unsigned int v, const struct timespec *ts, void *addr2, unsigned int v3)
{
	return syscall(SYS_futex, addr, op, v, ts, addr2, v3);
}

static volatile int go, arrived, counter;
static int word;

static void *return_arg(void *arg)
{
	return (char *)arg + 1;
}

CHECK(create_and_join)
{
	pthread_t t[20];
	void *res;
	long sum = 0;

	for (long i = 0; i < 20; i++)
		need("create", -pthread_create(&t[i], NULL, return_arg, (void *)i));
	for (int i = 0; i < 20; i++) {
		need("join", -pthread_join(t[i], &res));
		sum += (long)res;
	}
	val("sum", sum);
}

static __thread int tls = 5;

static void *own_things(void *arg)
{
	tls += (int)(long)arg;
	is("same process", getpid() == *(pid_t *)&counter);
	is("own tid", gettid() != getpid());
	val("thread local", tls);
	return NULL;
}

CHECK(thread_identity)
{
	pthread_t t;

	counter = getpid();
	pthread_create(&t, NULL, own_things, (void *)2);
	pthread_join(t, NULL);
	val("mine", tls);
	is("main tid is pid", gettid() == getpid());
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *count_up(void *arg)
{
	for (int i = 0; i < 20000; i++) {
		pthread_mutex_lock(&mutex);
		counter++;
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

CHECK(mutex_counter)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, count_up, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	val("counter", counter);
}

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void *ping(void *arg)
{
	int me = (int)(long)arg;

	pthread_mutex_lock(&mutex);
	while (counter < 2000) {
		if (counter % 2 == me) {
			counter++;
			pthread_cond_broadcast(&cond);
		} else {
			pthread_cond_wait(&cond, &mutex);
		}
	}
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

CHECK(condition_ping_pong)
{
	pthread_t t[2];

	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, ping, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	val("turns", counter);
}

CHECK(condition_timeout)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_nsec += 50000000;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&mutex);
	is("times out", pthread_cond_timedwait(&cond, &mutex, &ts) == ETIMEDOUT);
}

static pthread_barrier_t barrier;

static void *at_barrier(void *arg)
{
	long serial = 0;

	for (int i = 0; i < 50; i++)
		serial += pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
	return (void *)serial;
}

CHECK(barriers)
{
	pthread_t t[5];
	void *res;
	long sum = 0;

	pthread_barrier_init(&barrier, NULL, 5);
	for (int i = 0; i < 5; i++)
		pthread_create(&t[i], NULL, at_barrier, NULL);
	for (int i = 0; i < 5; i++) {
		pthread_join(t[i], &res);
		sum += (long)res;
	}
	val("serial threads", sum);
}

static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static volatile long pair[2];

static void *reader(void *arg)
{
	long bad = 0;

	for (int i = 0; i < 3000; i++) {
		pthread_rwlock_rdlock(&rw);
		bad += pair[0] != pair[1];
		pthread_rwlock_unlock(&rw);
	}
	return (void *)bad;
}

CHECK(read_write_lock)
{
	pthread_t t[3];
	void *res;
	long bad = 0;

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, reader, NULL);
	for (int i = 0; i < 3000; i++) {
		pthread_rwlock_wrlock(&rw);
		pair[0]++;
		pair[1]++;
		pthread_rwlock_unlock(&rw);
	}
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], &res);
		bad += (long)res;
	}
	val("torn pairs", bad);
}

CHECK(futex_errors)
{
	struct timespec ts = {0, 20000000}, bad = {0, -1};

	val("value differs", futex(&word, FUTEX_WAIT, 1, NULL, NULL, 0));
	val("timeout", futex(&word, FUTEX_WAIT, 0, &ts, NULL, 0));
	val("private timeout", futex(&word, FUTEX_WAIT_PRIVATE, 0, &ts, NULL, 0));
	val("bad time", futex(&word, FUTEX_WAIT, 0, &bad, NULL, 0));
	val("wake nobody", futex(&word, FUTEX_WAKE, 1, NULL, NULL, 0));
	val("unaligned", futex((char *)&word + 1, FUTEX_WAIT, 0, NULL, NULL, 0));
	val("bad address", futex((void *)8, FUTEX_WAIT, 0, &ts, NULL, 0));
	val("bad command", futex(&word, 99, 0, NULL, NULL, 0));
	val("bitset zero", futex(&word, FUTEX_WAIT_BITSET, 0, &ts, NULL, 0));
	clock_gettime(CLOCK_MONOTONIC, &ts);
	val("absolute in the past", futex(&word, FUTEX_WAIT_BITSET, 0, &ts, NULL, ~0u));
	clock_gettime(CLOCK_REALTIME, &ts);
	val("realtime in the past", futex(&word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, &ts, NULL, ~0u));
}

static void *futex_waiter(void *arg)
{
	__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
	long r = futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL, (unsigned int)(long)arg);
	__atomic_add_fetch(&counter, 1, __ATOMIC_SEQ_CST);
	return (void *)r;
}

static volatile unsigned int sleepy[1024], reached;
#define SLEEPS 5000

/* Waits for each of the words in turn; it says how often nobody woke it. */
static void *sleeper(void *arg)
{
	const struct timespec limit = {1, 0};
	long lost = 0;

	for (unsigned int i = 0; i < SLEEPS; i++) {
		volatile unsigned int *w = &sleepy[i % 1024];
		unsigned int round = i / 1024;

		while (*w == round)
			if (futex((void *)w, FUTEX_WAIT_PRIVATE, round, &limit, NULL, 0) < 0 && errno == ETIMEDOUT)
				lost++;
		__atomic_store_n(&reached, i + 1, __ATOMIC_RELEASE);
	}
	return (void *)lost;
}

/* The word is changed, and the waiter woken, at about the time when it goes to sleep. */
CHECK(futex_wake_meets_wait)
{
	unsigned int seed = 1;
	pthread_t t;
	void *lost;

	need("thread", -pthread_create(&t, NULL, sleeper, NULL));
	for (unsigned int i = 0; i < SLEEPS; i++) {
		while (__atomic_load_n(&reached, __ATOMIC_ACQUIRE) != i)
			;
		seed = seed * 1103515245 + 12345;
		for (volatile unsigned int k = seed >> 24; k; k--)
			;
		sleepy[i % 1024]++;
		futex((void *)&sleepy[i % 1024], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	pthread_join(t, &lost);
	val("lost", (long)lost);
}

CHECK(futex_wake_counts)
{
	pthread_t t[6];
	static int other;

	for (long i = 0; i < 6; i++)
		pthread_create(&t[i], NULL, futex_waiter, (void *)(i < 3 ? 1L : 2L));
	wait_for(&arrived, 6);
	sleep_ms(100);
	val("bitset 4", futex(&word, FUTEX_WAKE_BITSET_PRIVATE, 10, NULL, NULL, 4));
	val("bitset 2", futex(&word, FUTEX_WAKE_BITSET_PRIVATE, 2, NULL, NULL, 2));
	wait_for(&counter, 2);
	val("woken", counter);
	val("wrong value", futex(&word, FUTEX_CMP_REQUEUE_PRIVATE, 1, (void *)10, &other, 5));
	val("requeue", futex(&word, FUTEX_CMP_REQUEUE_PRIVATE, 1, (void *)10, &other, 0));
	wait_for(&counter, 3);
	val("none left here", futex(&word, FUTEX_WAKE_PRIVATE, 10, NULL, NULL, 0));
	val("there", futex(&other, FUTEX_WAKE_PRIVATE, 10, NULL, NULL, 0));
	for (int i = 0; i < 6; i++)
		pthread_join(t[i], NULL);
	val("all", counter);
}

CHECK(futex_between_processes)
{
	int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = fork();

	if (pid == 0) {
		while (__atomic_load_n(shared, __ATOMIC_SEQ_CST) == 0)
			futex(shared, FUTEX_WAIT, 0, NULL, NULL, 0);
		_exit(shared[0]);
	}
	sleep_ms(50);
	__atomic_store_n(shared, 7, __ATOMIC_SEQ_CST);
	val("woken", futex(shared, FUTEX_WAKE, 10, NULL, NULL, 0));
	reap("child", pid);
}

/* --- waiting on a word and being moved to a PI lock */

static unsigned int cond_word, pi_word;
static unsigned int order[4];
static volatile int turns;

static long wait_requeue_pi(unsigned int v, const struct timespec *ts)
{
	return futex(&cond_word, FUTEX_WAIT_REQUEUE_PI_PRIVATE, v, ts, &pi_word, 0);
}

static long requeue_pi(long nr, unsigned int v)
{
	return futex(&cond_word, FUTEX_CMP_REQUEUE_PI_PRIVATE, 1, (void *)nr, &pi_word, v);
}

static long lock_pi(void)
{
	return futex(&pi_word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0);
}

static long unlock_pi(void)
{
	return futex(&pi_word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0);
}

/* Says of the PI lock what does not depend on thread ids. */
static void say_lock(const char *what, unsigned int tid)
{
	unsigned int w = __atomic_load_n(&pi_word, __ATOMIC_SEQ_CST);

	say("%s: owner %s%s%s", what, !(w & FUTEX_TID_MASK) ? "nobody" : (w & FUTEX_TID_MASK) == tid ? "right" : "wrong",
	    w & FUTEX_WAITERS ? " waiters" : "", w & FUTEX_OWNER_DIED ? " died" : "");
}

static struct timespec after_ms(long ms)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_sec += ms / 1000;
	ts.tv_nsec += ms % 1000 * 1000000;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000;
	}
	return ts;
}

CHECK(requeue_pi_errors)
{
	static unsigned int *const nowhere = (unsigned int *)8;
	struct timespec past = {0, 0}, bad = {0, -1};

	val("wait: the same word", futex(&cond_word, FUTEX_WAIT_REQUEUE_PI_PRIVATE, 0, &past, &cond_word, 0));
	val("wait: value differs", wait_requeue_pi(1, NULL));
	val("wait: too late", wait_requeue_pi(0, &past));
	val("wait: too late, wall clock",
	    futex(&cond_word, FUTEX_WAIT_REQUEUE_PI | FUTEX_CLOCK_REALTIME, 0, &past, &pi_word, 0));
	val("wait: bad time", wait_requeue_pi(0, &bad));
	val("wait: unaligned", futex((char *)&cond_word + 1, FUTEX_WAIT_REQUEUE_PI_PRIVATE, 0, &past, &pi_word, 0));
	val("wait: lock unaligned", futex(&cond_word, FUTEX_WAIT_REQUEUE_PI_PRIVATE, 0, &past, (char *)&pi_word + 1, 0));
	val("wait: bad address", futex(nowhere, FUTEX_WAIT_REQUEUE_PI_PRIVATE, 0, &past, &pi_word, 0));
	val("nobody waits", requeue_pi(10, 0));
	val("value differs", requeue_pi(10, 1));
	val("the same word", futex(&cond_word, FUTEX_CMP_REQUEUE_PI_PRIVATE, 1, (void *)1, &cond_word, 0));
	val("wake none", futex(&cond_word, FUTEX_CMP_REQUEUE_PI_PRIVATE, 0, (void *)1, &pi_word, 0));
	val("wake two", futex(&cond_word, FUTEX_CMP_REQUEUE_PI_PRIVATE, 2, (void *)1, &pi_word, 0));
	val("requeue -1", requeue_pi(-1, 0));
	val("bad address", futex(nowhere, FUTEX_CMP_REQUEUE_PI_PRIVATE, 1, (void *)1, &pi_word, 0));
	val("lock unaligned", futex(&cond_word, FUTEX_CMP_REQUEUE_PI_PRIVATE, 1, (void *)1, (char *)&pi_word + 1, 0));
	val("with a clock", futex(&cond_word, FUTEX_CMP_REQUEUE_PI | FUTEX_CLOCK_REALTIME, 1, (void *)1, &pi_word, 0));
}

static void *pi_waiter(void *arg)
{
	long me = (long)arg, r;

	order[me] = gettid();
	__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
	r = wait_requeue_pi(0, NULL);
	if (r)
		return (void *)(long)errno;
	if ((pi_word & FUTEX_TID_MASK) != order[me])
		return (void *)1000L;
	r = __atomic_fetch_add(&turns, 1, __ATOMIC_SEQ_CST) == me ? 0 : 2000;
	unlock_pi();
	return (void *)r;
}

/* They come one after the other. */
static void start_waiters(pthread_t *t, int n, void *(*fn)(void *))
{
	for (long i = 0; i < n; i++) {
		pthread_create(&t[i], NULL, fn, (void *)i);
		wait_for(&arrived, (int)i + 1);
		sleep_ms(50);
	}
}

static void join_all(pthread_t *t, int n)
{
	void *res;

	for (int i = 0; i < n; i++) {
		pthread_join(t[i], &res);
		val("waiter", (long)res);
	}
}

CHECK(requeue_pi_held_lock)
{
	pthread_t t[4];

	start_waiters(t, 4, pi_waiter);
	val("lock", lock_pi());
	val("requeue", requeue_pi(10, 0));
	say_lock("lock", gettid());
	val("nobody here", requeue_pi(10, 0));
	val("unlock", unlock_pi());
	join_all(t, 4);
	say_lock("at the end", 0);
}

static void *pi_holder(void *arg)
{
	order[(long)arg] = gettid();
	__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
	if (wait_requeue_pi(0, NULL))
		return (void *)(long)errno;
	counter = 1;
	wait_for(&go, 1);
	unlock_pi();
	return NULL;
}

CHECK(requeue_pi_free_lock)
{
	pthread_t t[3];

	start_waiters(t, 1, pi_holder);
	for (long i = 1; i < 3; i++) {
		pthread_create(&t[i], NULL, pi_waiter, (void *)i);
		wait_for(&arrived, (int)i + 1);
		sleep_ms(50);
	}
	turns = 1;
	val("one", requeue_pi(0, 0));
	wait_for(&counter, 1);
	say_lock("one has it", order[0]);
	val("one more", requeue_pi(0, 0));
	val("another", requeue_pi(1, 0));
	say_lock("still", order[0]);
	go = 1;
	join_all(t, 3);
}

static void *plain_waiter(void *arg)
{
	__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
	return (void *)futex(&cond_word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

CHECK(requeue_pi_mixed)
{
	static unsigned int other;
	pthread_t t;

	start_waiters(&t, 1, plain_waiter);
	val("a plain waiter", requeue_pi(1, 0));
	val("wake it", futex(&cond_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
	pthread_join(t, NULL);
	arrived = 0;
	start_waiters(&t, 1, pi_waiter);
	val("plain wake", futex(&cond_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
	val("plain requeue", futex(&cond_word, FUTEX_CMP_REQUEUE_PRIVATE, 0, (void *)1, &other, 0));
	val("other lock", futex(&cond_word, FUTEX_CMP_REQUEUE_PI_PRIVATE, 1, (void *)1, &other, 0));
	other = 0x3ffffff0;
	val("lock of nobody", (pi_word = other, requeue_pi(1, 0)));
	pi_word = 0;
	val("right", requeue_pi(1, 0));
	join_all(&t, 1);
}

static void *timed_waiter(void *arg)
{
	struct timespec ts = after_ms(400);

	__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
	return wait_requeue_pi(0, &ts) ? (void *)(long)errno : NULL;
}

static void no_op(int sig)
{
	counter++;
}

static void *untimed_waiter(void *arg)
{
	__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
	return wait_requeue_pi(0, NULL) ? (void *)(long)errno : NULL;
}

CHECK(requeue_pi_early_end)
{
	struct sigaction sa = {.sa_handler = no_op};
	pthread_t t[2];

	sigaction(SIGUSR1, &sa, NULL);
	val("lock", lock_pi());
	start_waiters(t, 1, timed_waiter);
	pthread_create(&t[1], NULL, untimed_waiter, NULL);
	wait_for(&arrived, 2);
	sleep_ms(50);
	pthread_kill(t[1], SIGUSR1);	/* not moved yet: goes on waiting */
	wait_for(&counter, 1);
	sleep_ms(50);
	val("requeue", requeue_pi(10, 0));
	pthread_kill(t[1], SIGUSR1);
	say("the first times out, the second is interrupted");
	join_all(t, 2);
	val("unlock", unlock_pi());
	say_lock("free", 0);
	/* a signal before it is moved, when the word has another value: restarted, and refused */
	arrived = 0;
	start_waiters(t, 1, untimed_waiter);
	cond_word = 1;
	pthread_kill(t[0], SIGUSR1);
	join_all(t, 1);
}

static void *dying_owner(void *arg)
{
	lock_pi();
	arrived++;
	wait_for(&go, 1);
	return NULL;
}

static void *heir(void *arg)
{
	arrived++;
	val("heir", wait_requeue_pi(0, NULL));
	say_lock("heir", gettid());
	return (void *)(long)unlock_pi();
}

CHECK(requeue_pi_owner_dies)
{
	pthread_t t[2];

	pthread_create(&t[0], NULL, heir, NULL);
	wait_for(&arrived, 1);
	sleep_ms(50);
	pthread_create(&t[1], NULL, dying_owner, NULL);
	wait_for(&arrived, 2);
	val("requeue", requeue_pi(1, 0));
	go = 1;
	join_all(t, 2);
}

CHECK(robust_mutex)
{
	pthread_mutexattr_t a;
	pthread_mutex_t *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(m, &a);
	pid_t pid = fork();
	if (pid == 0) {
		pthread_mutex_lock(m);
		kill(getpid(), SIGKILL);
	}
	reap("owner", pid);
	is("owner died", pthread_mutex_lock(m) == EOWNERDEAD);
	is("consistent", pthread_mutex_consistent(m) == 0);
	is("unlock", pthread_mutex_unlock(m) == 0);
	is("lock again", pthread_mutex_lock(m) == 0);
}

static void *exit_holding(void *arg)
{
	pthread_mutex_lock(arg);
	return NULL;
}

CHECK(robust_mutex_thread)
{
	pthread_mutexattr_t a;
	pthread_mutex_t m;
	pthread_t t;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&m, &a);
	pthread_create(&t, NULL, exit_holding, &m);
	pthread_join(t, NULL);
	is("owner died", pthread_mutex_lock(&m) == EOWNERDEAD);
	is("unlock without consistent", pthread_mutex_unlock(&m) == 0);
	is("not recoverable", pthread_mutex_lock(&m) == ENOTRECOVERABLE);
}

CHECK(semaphores)
{
	sem_t *s = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	sem_init(s, 1, 0);
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 100; i++)
			sem_post(s);
		_exit(0);
	}
	int n = 0;
	while (n < 100 && sem_wait(s) == 0)
		n++;
	val("taken", n);
	val("try", sem_trywait(s));
	reap("child", pid);
	sem_t *named = sem_open("/perch-check", O_CREAT | O_EXCL, 0600, 2);
	is("named", named != SEM_FAILED);
	ok("unlink", sem_unlink("/perch-check"));
}

static void *spin(void *arg)
{
	__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
	for (;;)
		counter++;
	return NULL;
}

CHECK(exit_group_ends_threads)
{
	pid_t pid = fork();

	if (pid == 0) {
		pthread_t t;
		for (int i = 0; i < 5; i++)
			pthread_create(&t, NULL, spin, NULL);
		wait_for(&arrived, 5);
		exit(12);
	}
	reap("exit", pid);
	pid = fork();
	if (pid == 0) {
		pthread_t t;
		for (int i = 0; i < 5; i++)
			pthread_create(&t, NULL, spin, NULL);
		for (;;)
			pause();
	}
	sleep_ms(100);
	kill(pid, SIGKILL);
	reap("kill", pid);
}

static void *exec_true(void *arg)
{
	execl("/bin/sh", "sh", "-c", "exit 33", NULL);
	return NULL;
}

CHECK(exec_from_a_thread)
{
	pid_t pid = fork();

	if (pid == 0) {
		pthread_t t;
		for (int i = 0; i < 3; i++)
			pthread_create(&t, NULL, spin, NULL);
		pthread_create(&t, NULL, exec_true, NULL);
		for (;;)
			pause();
	}
	reap("exec", pid);
}

static void *late_exit(void *arg)
{
	sleep_ms(100);
	syscall(SYS_exit_group, 5);
	return NULL;
}

CHECK(leader_exits_first)
{
	pid_t pid = fork();

	if (pid == 0) {
		pthread_t t;
		pthread_create(&t, NULL, late_exit, NULL);
		syscall(SYS_exit, 3);
	}
	reap("process", pid);
}

static volatile pthread_t handled_by;

static void on_usr1(int sig)
{
	handled_by = pthread_self();
	counter++;
}

static void *wait_signal(void *arg)
{
	arrived = 1;
	while (!counter)
		sleep_ms(1);
	return NULL;
}

CHECK(signals_and_threads)
{
	pthread_t t;
	sigset_t set;

	signal(SIGUSR1, on_usr1);
	pthread_create(&t, NULL, wait_signal, NULL);
	wait_for(&arrived, 1);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGUSR1);
	pthread_join(t, NULL);
	is("the thread that does not block it", pthread_equal(handled_by, t));
	counter = arrived = 0;
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	pthread_create(&t, NULL, wait_signal, NULL);
	wait_for(&arrived, 1);
	pthread_kill(t, SIGUSR1);
	pthread_join(t, NULL);
	is("the thread that is meant", pthread_equal(handled_by, t));
	pid_t pid = fork();
	if (pid == 0) {
		pthread_create(&t, NULL, spin, NULL);
		arrived = 0;
		sleep_ms(10);
		pthread_kill(t, SIGTERM);
		for (;;)
			pause();
	}
	reap("fatal in a thread ends the process", pid);
}

static void *cancel_me(void *arg)
{
	arrived = 1;
	for (;;)
		sleep_ms(1000);
	return NULL;
}

CHECK(cancel_thread)
{
	pthread_t t;
	void *res;

	pthread_create(&t, NULL, cancel_me, NULL);
	wait_for(&arrived, 1);
	is("cancel", pthread_cancel(t) == 0);
	pthread_join(t, &res);
	is("cancelled", res == PTHREAD_CANCELED);
}

static void *nothing(void *arg)
{
	return NULL;
}

CHECK(many_short_threads)
{
	pthread_t t;
	int made = 0;

	for (int i = 0; i < 500; i++) {
		if (pthread_create(&t, NULL, nothing, NULL))
			break;
		pthread_join(t, NULL);
		made++;
	}
	val("made", made);
	pthread_attr_t a;
	pthread_attr_init(&a);
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	for (made = 0; made < 100 && !pthread_create(&t, &a, nothing, NULL); made++)
		;
	val("detached", made);
}

static void *fp_work(void *arg)
{
	double x = (long)arg, y = 1.0;
	long bad = 0;

	for (int i = 1; i < 200000; i++) {
		y = y * 1.0000001 + x / i;
		if (i % 1000 == 0)
			sched_yield();
	}
	double again = 1.0;
	for (int i = 1; i < 200000; i++)
		again = again * 1.0000001 + x / i;
	bad += again != y;
	return (void *)bad;
}

CHECK(fp_state_per_thread)
{
	pthread_t t[8];
	void *res;
	long bad = 0;

	for (long i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, fp_work, (void *)(i * 3 + 1));
	for (int i = 0; i < 8; i++) {
		pthread_join(t[i], &res);
		bad += (long)res;
	}
	val("wrong results", bad);
}
