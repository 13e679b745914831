/* SPDX-License-Identifier: MIT */
/*
 * Random bytes: a ChaCha20 key stream (RFC 8439, section 2.3) whose key is replaced by its own output
 * after every request, so that old output cannot be computed from a later state. Seeds from the
 * device tree, the RTC and timers are mixed into the key. On a virtual machine without a seed the
 * numbers are only as good as the timers: fine for what Perch is for, not for secrets.
 */
#include <perch/fs.h>
#include <perch/random.h>
#include <perch/spinlock.h>
#include <perch/time.h>
#include <perch/uaccess.h>
#include <string.h>

static spinlock random_lock;		/* irqsave */
static u32 key[8];			/* random_lock */
static u32 counter;			/* random_lock: blocks since boot */

static u32 rotl(u32 x, int n)
{
	return x << n | x >> (32 - n);
}

static void quarter_round(u32 *s, int a, int b, int c, int d)
{
	s[a] += s[b]; s[d] = rotl(s[d] ^ s[a], 16);
	s[c] += s[d]; s[b] = rotl(s[b] ^ s[c], 12);
	s[a] += s[b]; s[d] = rotl(s[d] ^ s[a], 8);
	s[c] += s[d]; s[b] = rotl(s[b] ^ s[c], 7);
}

/* random_lock held: 64 bytes of key stream. */
static void next_block(u32 out[16])
{
	u32 in[16] = { 0x61707865, 0x3320646e, 0x79622d32, 0x6b206574 };
	u64 t = timer_counter();

	memcpy(in + 4, key, sizeof(key));
	in[12] = counter++;
	memcpy(in + 13, &t, sizeof(t));
	memcpy(out, in, sizeof(in));
	for (int i = 0; i < 10; i++) {
		quarter_round(out, 0, 4, 8, 12);
		quarter_round(out, 1, 5, 9, 13);
		quarter_round(out, 2, 6, 10, 14);
		quarter_round(out, 3, 7, 11, 15);
		quarter_round(out, 0, 5, 10, 15);
		quarter_round(out, 1, 6, 11, 12);
		quarter_round(out, 2, 7, 8, 13);
		quarter_round(out, 3, 4, 9, 14);
	}
	for (int i = 0; i < 16; i++)
		out[i] += in[i];
}

/* random_lock held. */
static void rekey(void)
{
	u32 block[16];

	next_block(block);
	memcpy(key, block, sizeof(key));
}

void random_add(const void *seed, size_t n)
{
	const u8 *p = seed;
	u64 flags = spin_lock_irqsave(&random_lock);

	for (size_t i = 0; i < n; i++) {
		((u8 *)key)[i % sizeof(key)] ^= p[i];
		if (i % sizeof(key) == sizeof(key) - 1)
			rekey();
	}
	rekey();
	spin_unlock_irqrestore(&random_lock, flags);
}

void random_bytes(void *buf, size_t n)
{
	u32 block[16];
	u8 *p = buf;

	while (n) {
		size_t k = min_t(size_t, n, sizeof(block));
		u64 flags = spin_lock_irqsave(&random_lock);

		next_block(block);
		if (k == n)
			rekey();
		spin_unlock_irqrestore(&random_lock, flags);
		memcpy(p, block, k);
		p += k;
		n -= k;
	}
}

u64 random_u64(void)
{
	u64 v;

	random_bytes(&v, sizeof(v));
	return v;
}

#define GRND_NONBLOCK	1
#define GRND_RANDOM	2
#define GRND_INSECURE	4

long sys_getrandom(char __user *buf, size_t n, u32 flags)
{
	size_t done = 0;
	u8 block[256];

	if (flags & ~(GRND_NONBLOCK | GRND_RANDOM | GRND_INSECURE))
		return -EINVAL;
	if ((flags & (GRND_INSECURE | GRND_RANDOM)) == (GRND_INSECURE | GRND_RANDOM))
		return -EINVAL;
	if (n > INT32_MAX)
		n = INT32_MAX;
	while (done < n) {
		size_t k = min_t(size_t, n - done, sizeof(block));

		random_bytes(block, k);
		if (copy_to_user(buf + done, block, k))
			return done ? (long)done : -EFAULT;
		done += k;
	}
	return (long)done;
}
