/* SPDX-License-Identifier: MIT */
/*
 * perch.selftest=NAME: commit one fault on purpose; its detector must end the machine with the right
 * words (scripts/test-selftest knows them). So each detector is seen red in every run of the tests.
 */
#include <perch/boot.h>
#include <perch/debug.h>
#include <perch/errno.h>
#include <perch/kasan.h>
#include <perch/page.h>
#include <perch/sched.h>
#include <perch/smp.h>
#include <perch/spinlock.h>
#include <perch/uaccess.h>
#include <string.h>

#include "debug.h"

/* Values and pointers of which the compiler knows nothing. */
#define HIDE(x) ({ __typeof__(x) _h = (x); __asm__ volatile("" : "+r"(_h)); _h; })

static spinlock lock_a = SPINLOCK_INIT, lock_b = SPINLOCK_INIT, lock_c = SPINLOCK_INIT;
static struct mutex mutex_a = MUTEX_INIT(mutex_a), mutex_b = MUTEX_INIT(mutex_b);

static void both(spinlock *first, spinlock *second)
{
	spin_lock(first);
	spin_lock(second);
	spin_unlock(second);
	spin_unlock(first);
}

/* a before b, b before c, and then c before a. */
static void lock_order(void)
{
	both(&lock_a, &lock_b);
	both(&lock_b, &lock_c);
	both(&lock_c, &lock_a);
}

static void mutex_order(void)
{
	mutex_lock(&mutex_a);
	mutex_lock(&mutex_b);
	mutex_unlock(&mutex_b);
	mutex_unlock(&mutex_a);
	mutex_lock(&mutex_b);
	mutex_lock(&mutex_a);
}

static void lock_twice(void)
{
	spin_lock(&lock_a);
	spin_lock(&lock_a);
}

static void lock_class(void)
{
	spinlock l[2];

	for (int i = 0; i < 2; i++)
		spin_init(&l[i]);
	both(&l[0], &l[1]);
}

static void lock_unborn(void)
{
	spinlock *l = kzalloc(sizeof(*l));

	spin_lock(l);
}

static void unlock_free(void)
{
	spin_unlock(&lock_a);
}

static void take_a(struct irq_work *w)
{
	spin_lock(&lock_a);
	spin_unlock(&lock_a);
}

static void take_in_irq(void)
{
	static struct irq_work work = { .fn = take_a };

	irq_work_queue(&work);
	irq_work_sync(&work);
}

/* An interrupt takes a, and somebody holds a with IRQs on. */
static void irq_lock(void)
{
	take_in_irq();
	spin_lock(&lock_a);
}

/* An interrupt takes a; under a somebody takes b; b is held with IRQs on. */
static void irq_chain(void)
{
	u64 flags;

	take_in_irq();
	spin_lock(&lock_b);
	spin_unlock(&lock_b);
	flags = spin_lock_irqsave(&lock_a);
	spin_lock(&lock_b);
	spin_unlock(&lock_b);
	spin_unlock_irqrestore(&lock_a, flags);
}

static void sleep_spin(void)
{
	spin_lock(&lock_a);
	mutex_lock(&mutex_a);
}

static void sleep_irq_off(void)
{
	irq_disable();
	mutex_lock(&mutex_a);
}

static void lock_mutex(struct irq_work *w)
{
	mutex_lock(&mutex_a);
}

static void sleep_irq(void)
{
	static struct irq_work work = { .fn = lock_mutex };

	irq_work_queue(&work);
	irq_work_sync(&work);
}

static void user_spin(void)
{
	char c;

	spin_lock(&lock_a);
	(void)!copy_from_user(&c, (const void __user *)0x10000UL, 1);
}

static void irq_state(void)
{
	u64 flags = spin_lock_irqsave(&lock_a);

	irq_enable();
	spin_unlock_irqrestore(&lock_a, flags);
}

static void use_after_free(void)
{
	char *p = kmalloc(100);

	kfree(p);
	HIDE(p)[10] = 1;
}

static void free_twice(void)
{
	char *p = kmalloc(100);

	kfree(p);
	kfree(HIDE(p));
}

static void overflow(void)
{
	char *p = kmalloc(100);

	HIDE(p)[100] = 1;
}

static void copy_overflow(void)
{
	char *p = kzalloc(40), *q = kmalloc(39);

	memcpy(q, p, HIDE(40));
}

static void free_page(void)
{
	struct page *p = alloc_page();
	u64 *mem = page_address(p);

	free_pages(p, 0);
	HIDE(mem)[5] = 1;
}

/* By assembly, which the compiler does not check: seen when the page is given out again. */
static void stale_write(void)
{
	struct page *p = alloc_page();
	u64 *mem = page_address(p);

	free_pages(p, 0);
	__asm__ volatile("str %0, [%0, #64]" :: "r"(mem) : "memory");
	alloc_page();
}

static void shift(void)
{
	pr_info("%d\n", 1 << HIDE(32));
}

static void signed_overflow(void)
{
	pr_info("%d\n", HIDE(0x7fffffff) + 1);
}

static void array_index(void)
{
	static const int a[4];

	pr_info("%d\n", a[HIDE(4)]);
}

static void null_member(void)
{
	pr_info("%u\n", HIDE((struct task *)NULL)->pid);
}

static noinline void stack(void)
{
	char a[16];
	char *p = HIDE(&a[0]);

	for (int i = 0; i < 64; i++)
		*(volatile char *)(p + i) = 1;
}

/* Until there is no stack left. */
static noinline u64 deep(u64 n)
{
	volatile u64 a[8] = { n };

	return HIDE(n) ? deep(n + 1) + a[0] : 0;
}

static void stack_end(void)
{
	deep(1);
}

static void ref_zero(void)
{
	refcount r;

	ref_init(&r, 1);
	(void)!ref_put(&r);
	ref_get(&r);
}

static void ref_huge(void)
{
	refcount r;

	ref_init(&r, 0x7fffffff);
	ref_get(&r);
}

static const struct {
	const char *name;
	void (*fn)(void);
} tests[] = {
	{ "lockorder", lock_order }, { "mutexorder", mutex_order }, { "locktwice", lock_twice },
	{ "lockclass", lock_class }, { "lockunborn", lock_unborn }, { "unlock", unlock_free },
	{ "irqlock", irq_lock }, { "irqchain", irq_chain },
	{ "sleep", sleep_spin }, { "sleepirqoff", sleep_irq_off }, { "sleepirq", sleep_irq },
	{ "user", user_spin }, { "irqstate", irq_state },
	{ "uaf", use_after_free }, { "doublefree", free_twice }, { "overflow", overflow },
	{ "copy", copy_overflow }, { "freepage", free_page }, { "stalewrite", stale_write },
	{ "shift", shift }, { "signed", signed_overflow }, { "index", array_index },
	{ "null", null_member }, { "stack", stack }, { "stackend", stack_end }, { "refzero", ref_zero }, { "refhuge", ref_huge },
};

void selftest_run(const char *name)
{
	for (u32 i = 0; i < ARRAY_SIZE(tests); i++)
		if (!strcmp(tests[i].name, name)) {
			tests[i].fn();
			pr_err("selftest %s: not noticed\n", name);
			return;
		}
	pr_err("selftest %s: there is none of that name\n", name);
}

void debug_init(void)
{
	static char name[32];

	failpoint_init();
	live_init();
	pause_init();
	if (cmdline_get("perch.selftest", name, sizeof(name)))
		selftest_run(name);
}
