/* SPDX-License-Identifier: MIT */
/*
 * The kernel log: a ring of records with fixed slots. A line goes into the ring and, if its level is
 * urgent enough, to the console at once by polling, so that the last words before a crash are seen.
 *
 * log_lock (irqsave) guards everything here and is a leaf: nothing is called under it but the
 * console's putc. Readers are woken by irq work, because printk may run under any lock.
 */
#include <perch/boot.h>
#include <perch/kmsg.h>
#include <perch/printk.h>
#include <perch/smp.h>
#include <perch/spinlock.h>
#include <perch/time.h>
#include <perch/tty.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#undef putc		/* stdio makes it a macro; here it is a member of uart_ops */

#define LOG_RECORDS	2048U		/* power of two */
#define LOG_TEXT	232U

struct record {
	u64 ts;			/* ns since boot */
	u16 len;
	u8 level;
	char text[LOG_TEXT];
};

int console_loglevel = 7;
struct waitq kmsg_wq = WAITQ_INIT(kmsg_wq);

static spinlock log_lock;
static struct record ring[LOG_RECORDS];
static u64 next_seq;			/* log_lock: records written since boot */
static char line[LOG_TEXT];		/* log_lock: the line being put together */
static u32 line_len;
static int line_level;
static const struct uart_ops *console;
static bool log_awake;			/* clocks and irq work can be used */

static void wake_readers(struct irq_work *w)
{
	wake_up_all(&kmsg_wq);
}
static struct irq_work log_work[NR_CPUS];

static void console_puts(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\n')
			console->putc('\r');
		console->putc(s[i]);
	}
}

static int stamp(char *buf, size_t size, u64 ts)
{
	return snprintf(buf, size, "[%5lu.%06lu] ", (long)(ts / NSEC_PER_SEC),
			(long)(ts % NSEC_PER_SEC / 1000));
}

static void console_record(const struct record *r)
{
	char head[32];

	if (!console || r->level >= console_loglevel)
		return;
	console_puts(head, (size_t)stamp(head, sizeof(head), r->ts));
	console_puts(r->text, r->len);
	console_puts("\n", 1);
}

/* log_lock held: the line is complete. */
static void commit_line(void)
{
	struct record *r = &ring[next_seq % LOG_RECORDS];

	r->ts = log_awake ? (u64)ktime_now() : 0;
	r->len = (u16)line_len;
	r->level = (u8)line_level;
	memcpy(r->text, line, line_len);
	next_seq++;
	line_len = 0;
	console_record(r);
}

/* log_lock held. A level mark only counts at the start of a line. */
static void add_text(const char *s)
{
	if (!line_len)
		line_level = 6;
	if (!line_len && s[0] == '<' && s[1] >= '0' && s[1] <= '7' && s[2] == '>') {
		line_level = s[1] - '0';
		s += 3;
	}
	for (; *s; s++) {
		if (*s == '\n' || line_len == LOG_TEXT)
			commit_line();
		if (*s != '\n')
			line[line_len++] = *s;
	}
}

int printk(const char *fmt, ...)
{
	char buf[512];
	va_list ap;
	u64 flags;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	flags = spin_lock_irqsave(&log_lock);
	add_text(buf);
	spin_unlock_irqrestore(&log_lock, flags);
	if (log_awake && waitq_active(&kmsg_wq)) {
		flags = irq_save();
		log_work[cpu_id()].fn = wake_readers;
		irq_work_queue(&log_work[cpu_id()]);
		irq_restore(flags);
	}
	return n;
}

/* Called once clocks and interrupts work: from now on lines have times. */
void printk_clock_ready(void)
{
	log_awake = true;
}

/* A panicking CPU must not wait for a lock that a stopped CPU holds. */
void printk_panic_mode(void)
{
	spin_init(&log_lock);
	console_loglevel = 8;
}

void console_register(const struct uart_ops *ops)
{
	u64 flags = spin_lock_irqsave(&log_lock);
	u64 first = next_seq > LOG_RECORDS ? next_seq - LOG_RECORDS : 0;

	console = ops;
	for (u64 s = first; s < next_seq; s++)
		console_record(&ring[s % LOG_RECORDS]);
	spin_unlock_irqrestore(&log_lock, flags);
}

const struct uart_ops *console_uart(void)
{
	return READ_ONCE(console);
}

u64 kmsg_next(void)
{
	return atomic_read(&next_seq);
}

u64 kmsg_first(void)
{
	u64 n = kmsg_next();

	return n > LOG_RECORDS ? n - LOG_RECORDS : 0;
}

static bool get_record(u64 *seq, struct record *out)
{
	u64 flags = spin_lock_irqsave(&log_lock);
	u64 first = kmsg_first();
	bool found;

	if (*seq < first)
		*seq = first;
	found = *seq < next_seq;
	if (found)
		*out = ring[*seq % LOG_RECORDS];
	spin_unlock_irqrestore(&log_lock, flags);
	return found;
}

size_t kmsg_read(u64 *seq, char *buf, size_t size)
{
	struct record r;
	int n;

	if (!get_record(seq, &r))
		return 0;
	n = snprintf(buf, size, "%u,%lu,%lu,-;%.*s\n", r.level, (long)*seq, (long)(r.ts / 1000),
		     r.len, r.text);
	(*seq)++;
	return min_t(size_t, (size_t)n, size - 1);
}

size_t kmsg_read_syslog(u64 *seq, char *buf, size_t size)
{
	struct record r;
	char head[32];
	int n;

	if (!get_record(seq, &r))
		return 0;
	stamp(head, sizeof(head), r.ts);
	n = snprintf(buf, size, "<%u>%s%.*s\n", r.level, head, r.len, r.text);
	(*seq)++;
	return min_t(size_t, (size_t)n, size - 1);
}
