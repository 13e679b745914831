/* SPDX-License-Identifier: MIT */
/*
 * Random bytes: a ChaCha20 key stream (RFC 8439, section 2.3). A few blocks are made at a time; their
 * first 32 bytes become the next key, the rest is a stock that is given out and erased. So what was
 * given out cannot be computed from a later state, and a request of a few bytes costs a copy. Seeds from
 * the device tree, the RTC and timers are mixed into the key. On a virtual machine without a seed the
 * numbers are only as good as the timers: fine for what Perch is for, not for secrets.
 */
#include <perch/fs.h>
#include <perch/random.h>
#include <perch/spinlock.h>
#include <perch/time.h>
#include <perch/uaccess.h>
#include <string.h>

#define BLOCK_WORDS	16
#define BLOCKS		4		/* of a refill */

static spinlock random_lock;		/* irqsave */
static u32 key[8];			/* random_lock */
static u32 counter;			/* random_lock: blocks since boot */
static u8 stock[BLOCKS * BLOCK_WORDS * 4];	/* random_lock: the last `left` bytes are unused */
static size_t left;			/* random_lock */

static inline u32 rotl(u32 x, int n)
{
	return x << n | x >> (32 - n);
}

/* Inlined with constant places, the whole state lives in registers. */
static inline __attribute__((always_inline)) void quarter_round(u32 *s, int a, int b, int c, int d)
{
	s[a] += s[b]; s[d] = rotl(s[d] ^ s[a], 16);
	s[c] += s[d]; s[b] = rotl(s[b] ^ s[c], 12);
	s[a] += s[b]; s[d] = rotl(s[d] ^ s[a], 8);
	s[c] += s[d]; s[b] = rotl(s[b] ^ s[c], 7);
}

static void chacha_block(const u32 in[BLOCK_WORDS], u32 out[BLOCK_WORDS])
{
	u32 s[BLOCK_WORDS];

#pragma GCC unroll 16
	for (int i = 0; i < BLOCK_WORDS; i++)
		s[i] = in[i];
	for (int i = 0; i < 10; i++) {
		quarter_round(s, 0, 4, 8, 12);
		quarter_round(s, 1, 5, 9, 13);
		quarter_round(s, 2, 6, 10, 14);
		quarter_round(s, 3, 7, 11, 15);
		quarter_round(s, 0, 5, 10, 15);
		quarter_round(s, 1, 6, 11, 12);
		quarter_round(s, 2, 7, 8, 13);
		quarter_round(s, 3, 4, 9, 14);
	}
#pragma GCC unroll 16
	for (int i = 0; i < BLOCK_WORDS; i++)
		out[i] = s[i] + in[i];
}

/* random_lock held: a new key and a full stock. */
static noinline void refill(void)
{
	u32 in[BLOCK_WORDS] = { 0x61707865, 0x3320646e, 0x79622d32, 0x6b206574 };
	u32 block[BLOCKS][BLOCK_WORDS];
	u64 t = timer_counter();

	memcpy(in + 4, key, sizeof(key));
	memcpy(in + 13, &t, sizeof(t));
	for (int i = 0; i < BLOCKS; i++) {
		in[12] = counter++;
		chacha_block(in, block[i]);
	}
	memcpy(key, block, sizeof(key));
	memcpy(stock, block, sizeof(stock));
	left = sizeof(stock) - sizeof(key);
}

/* What is given out afterwards depends on the seed. */
void random_add(const void *seed, size_t n)
{
	const u8 *p = seed;
	u64 flags = spin_lock_irqsave(&random_lock);

	for (size_t i = 0; i < n; i++) {
		((u8 *)key)[i % sizeof(key)] ^= p[i];
		if (i % sizeof(key) == sizeof(key) - 1)
			refill();
	}
	refill();
	spin_unlock_irqrestore(&random_lock, flags);
}

void random_bytes(void *buf, size_t n)
{
	u8 *p = buf;

	while (n) {
		u64 flags = spin_lock_irqsave(&random_lock);
		size_t k;
		u8 *from;

		if (!left)
			refill();
		k = min(n, left);
		from = stock + sizeof(stock) - left;
		memcpy(p, from, k);
		memset(from, 0, k);
		left -= k;
		spin_unlock_irqrestore(&random_lock, flags);
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
