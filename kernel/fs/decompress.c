/* SPDX-License-Identifier: MIT */
/*
 * gzip and zstd streams, by zlib and libzstd. Output goes through a fixed buffer, so memory use
 * does not depend on the size of the archive. zstd's window can be larger than the largest block of
 * the page allocator; at boot, blocks that are handed out one after the other lie side by side, so
 * a run of neighbours serves.
 */
#define ZSTD_STATIC_LINKING_ONLY
#include "initramfs.h"

#include <perch/errno.h>
#include <perch/page.h>
#include <perch/printk.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define OUT_SIZE	65536U
#define BLOCK_ORDER	10
#define BLOCK_SIZE	(PAGE_SIZE << BLOCK_ORDER)
#define MAX_WINDOW_LOG	27	/* 128 MiB, as much as Linux takes */

/* --- memory for the decompressors ---------------------------------------------------------- */

#define MAX_BLOCKS 96

/* Sort the pages of blocks by address: insertion, they mostly are in order. */
static void sort_blocks(struct page **b, u32 n)
{
	for (u32 i = 1; i < n; i++)
		for (u32 k = i; k && b[k] < b[k - 1]; k--) {
			struct page *t = b[k];

			b[k] = b[k - 1];
			b[k - 1] = t;
		}
}

/* The first of want neighbouring blocks, or -1. */
static int find_run(struct page **b, u32 n, u32 want)
{
	u32 run = 1;

	for (u32 i = 1; i <= n; i++) {
		if (run == want)
			return i - want;
		if (i < n && page_to_pfn(b[i]) == page_to_pfn(b[i - 1]) + (1U << BLOCK_ORDER))
			run++;
		else
			run = 1;
	}
	return -1;
}

static void *run_alloc(u32 want)
{
	static struct page *b[MAX_BLOCKS];	/* boot only: one caller */
	u32 n = 0;
	int first = -1;

	while (n < MAX_BLOCKS && first < 0) {
		struct page *p = alloc_pages(BLOCK_ORDER);

		if (!p)
			break;
		b[n++] = p;
		if (n < want)
			continue;
		sort_blocks(b, n);
		first = find_run(b, n, want);
	}
	for (u32 i = 0; i < n; i++)
		if (first < 0 || i < first || i >= first + want)
			free_pages(b[i], BLOCK_ORDER);
	return first < 0 ? NULL : page_address(b[first]);
}

/* Each allocation starts with its size in blocks (0: from kmalloc), in 64 bytes to keep
 * alignment. */
static void *big_alloc(void *opaque, size_t size)
{
	u32 blocks = 0;
	u8 *p;

	size += 64;
	if (size <= BLOCK_SIZE) {
		p = kmalloc(size);
	} else {
		blocks = DIV_ROUND_UP(size, BLOCK_SIZE);
		p = run_alloc(blocks);
	}
	if (!p)
		return NULL;
	*(u32 *)p = blocks;
	return p + 64;
}

static void big_free(void *opaque, void *addr)
{
	u8 *p = addr;
	u32 blocks;

	if (!p)
		return;
	p -= 64;
	blocks = *(u32 *)p;
	if (!blocks)
		kfree(p);
	for (u32 i = 0; i < blocks; i++)
		free_pages(virt_to_page(p + i * BLOCK_SIZE), BLOCK_ORDER);
}

/* --- gzip ------------------------------------------------------------------------------------ */

static void *z_alloc(void *opaque, uInt n, uInt size)
{
	return big_alloc(opaque, (size_t)n * size);
}

static int inflate_all(z_stream *z, u8 *out, sink_fn sink, void *arg)
{
	int ret, err;

	do {
		z->next_out = out;
		z->avail_out = OUT_SIZE;
		ret = inflate(z, Z_NO_FLUSH);
		if (ret != Z_OK && ret != Z_STREAM_END)
			return ret == Z_MEM_ERROR ? -ENOMEM : -EIO;
		err = sink(arg, out, OUT_SIZE - z->avail_out);
		if (err)
			return err;
	} while (ret != Z_STREAM_END);
	return 0;
}

int gunzip_stream(const u8 *src, size_t n, size_t *used, sink_fn sink, void *arg)
{
	z_stream z = { .zalloc = z_alloc, .zfree = big_free };
	u8 *out = kmalloc(OUT_SIZE);
	int err = -ENOMEM;

	if (!out)
		return -ENOMEM;
	z.next_in = (u8 *)src;
	z.avail_in = min_t(size_t, n, UINT32_MAX);
	if (inflateInit2(&z, 16 + MAX_WBITS) == Z_OK) {
		err = inflate_all(&z, out, sink, arg);
		*used = z.next_in - src;
		inflateEnd(&z);
	}
	kfree(out);
	return err;
}

/* --- zstd ------------------------------------------------------------------------------------ */

static int zstd_all(ZSTD_DStream *s, ZSTD_inBuffer *in, u8 *buf, sink_fn sink, void *arg)
{
	size_t left;
	int err;

	do {
		ZSTD_outBuffer out = { buf, OUT_SIZE, 0 };

		left = ZSTD_decompressStream(s, &out, in);
		if (ZSTD_isError(left))
			return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation ?
			       -ENOMEM : -EIO;
		err = sink(arg, buf, out.pos);
		if (err)
			return err;
		if (left && !out.pos && in->pos == in->size)
			return -EIO;	/* the stream is cut short */
	} while (left);
	return 0;
}

int unzstd_stream(const u8 *src, size_t n, size_t *used, sink_fn sink, void *arg)
{
	ZSTD_customMem mem = { big_alloc, big_free, NULL };
	ZSTD_inBuffer in = { src, n, 0 };
	ZSTD_DStream *s = ZSTD_createDStream_advanced(mem);
	u8 *buf = kmalloc(OUT_SIZE);
	int err = -ENOMEM;

	if (s && buf) {
		ZSTD_DCtx_setParameter(s, ZSTD_d_windowLogMax, MAX_WINDOW_LOG);
		err = zstd_all(s, &in, buf, sink, arg);
		*used = in.pos;
	}
	ZSTD_freeDStream(s);
	kfree(buf);
	return err;
}
