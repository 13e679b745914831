/* SPDX-License-Identifier: MIT */
/*
 * 9P calls with data. The bytes go through single pages of our own that the device reads or writes
 * directly behind the message's header: no contiguous memory is needed, and a fault in the user's
 * buffer happens before the request or after the answer, never in between.
 *
 * The headers of Rread and of Rlerror have the same length, so an error fits in where the device
 * expects to put one.
 */
#include "p9.h"

#include <string.h>

static void free_buffers(struct page **pages, u32 n)
{
	while (n)
		page_put(pages[--n]);
}

/* Pages for len bytes (at most P9_IO_MAX): their number or -ENOMEM. */
static int alloc_buffers(struct page **pages, u32 len)
{
	u32 n;

	for (n = 0; n * PAGE_SIZE < len; n++) {
		pages[n] = alloc_page_user();
		if (!pages[n]) {
			free_buffers(pages, n);
			return -ENOMEM;
		}
	}
	return n;
}

/* Tread and Treaddir (in: into pages), Twrite (out of them). Bytes, or -errno. */
static ssize_t io_pages(struct p9 *c, u8 type, u32 fid, u64 off, struct page **pages, u32 len,
			bool in)
{
	struct p9_msg m;
	ssize_t ret = msg_begin(&m, type, P9_WRITE_HEADER, P9_IO_HEADER);

	if (!ret) {
		put_u32(&m, fid);
		put_u64(&m, off);
		put_u32(&m, len);
		ret = p9_call_data(c, &m, pages, len, in);
	}
	if (!ret) {
		ret = get_u32(&m);
		if (m.bad || ret > len)
			ret = -EPROTO;
	}
	msg_end(&m);
	return ret;
}

/* Move len bytes between the pages and u: bytes moved, or -EFAULT if none could be. */
static ssize_t copy_pages(struct page **pages, struct uio *u, u32 len, bool out)
{
	u32 done = 0, n, moved;

	while (done < len) {
		char *p = page_address(pages[done / PAGE_SIZE]);

		n = min_t(u32, len - done, PAGE_SIZE);
		moved = out ? uio_write(u, p, n) : uio_read(u, p, n);
		done += moved;
		if (moved < n)
			break;
	}
	return done || !len ? done : -EFAULT;
}

ssize_t p9_read(struct p9 *c, u32 fid, u64 off, struct uio *u, size_t n)
{
	struct page *pages[P9_IO_PAGES];
	u32 len = min_t(size_t, n, c->max_io);
	int nr = alloc_buffers(pages, len);
	ssize_t ret;

	if (nr < 0)
		return nr;
	ret = io_pages(c, P9_TREAD, fid, off, pages, len, true);
	if (ret > 0)
		ret = copy_pages(pages, u, ret, true);
	free_buffers(pages, nr);
	return ret;
}

ssize_t p9_write(struct p9 *c, u32 fid, u64 off, struct uio *u, size_t n)
{
	struct page *pages[P9_IO_PAGES];
	u32 len = min_t(size_t, n, c->max_io);
	int nr = alloc_buffers(pages, len);
	ssize_t ret;

	if (nr < 0)
		return nr;
	ret = copy_pages(pages, u, len, false);
	if (ret > 0)
		ret = io_pages(c, P9_TWRITE, fid, off, pages, ret, false);
	free_buffers(pages, nr);
	return ret;
}

ssize_t p9_read_page(struct p9 *c, u32 fid, u64 off, struct page *page)
{
	ssize_t n = io_pages(c, P9_TREAD, fid, off, &page, PAGE_SIZE, true);

	if (n >= 0)
		memset((char *)page_address(page) + n, 0, PAGE_SIZE - n);
	return n;
}

ssize_t p9_readdir(struct p9 *c, u32 fid, u64 off, struct page *page)
{
	return io_pages(c, P9_TREADDIR, fid, off, &page, PAGE_SIZE, true);
}
