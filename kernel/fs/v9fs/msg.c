/* SPDX-License-Identifier: MIT */
/*
 * 9P messages as bytes: size[4] type[1] tag[2], then values of 1, 2, 4 or 8 bytes and strings with
 * a 2-byte length. Putting beyond the room and getting beyond the answer's end set m->bad, so that
 * callers check once and not each value.
 */
#include "p9.h"

#include <string.h>

int msg_begin(struct p9_msg *m, u8 type, u32 tx_room, u32 rx_room)
{
	*m = (struct p9_msg){ .type = type, .tx_room = tx_room, .rx_room = rx_room };
	m->buf = kmalloc(tx_room + rx_room);
	if (!m->buf)
		return -ENOMEM;
	m->tx_len = P9_HEADER;	/* filled in when it is sent */
	return 0;
}

void msg_end(struct p9_msg *m)
{
	kfree(m->buf);
	m->buf = NULL;
}

static void put(struct p9_msg *m, const void *p, u32 len)
{
	if (len > m->tx_room - m->tx_len) {
		m->bad = true;
		return;
	}
	memcpy(m->buf + m->tx_len, p, len);
	m->tx_len += len;
}

void put_u8(struct p9_msg *m, u8 v)
{
	put(m, &v, sizeof(v));
}

void put_u16(struct p9_msg *m, u16 v)
{
	put(m, &v, sizeof(v));
}

void put_u32(struct p9_msg *m, u32 v)
{
	put(m, &v, sizeof(v));
}

void put_u64(struct p9_msg *m, u64 v)
{
	put(m, &v, sizeof(v));
}

void put_str(struct p9_msg *m, const char *s, u32 len)
{
	put_u16(m, len);
	put(m, s, len);
}

const char *get_bytes(struct p9_msg *m, u32 len)
{
	const u8 *p = m->buf + m->tx_room + m->rx_at;

	if (m->bad || len > m->rx_len - m->rx_at) {
		m->bad = true;
		return NULL;
	}
	m->rx_at += len;
	return (const char *)p;
}

static u64 get(struct p9_msg *m, u32 len)
{
	const char *p = get_bytes(m, len);
	u64 v = 0;

	if (p)
		memcpy(&v, p, len);
	return v;
}

u8 get_u8(struct p9_msg *m)
{
	return get(m, 1);
}

u16 get_u16(struct p9_msg *m)
{
	return get(m, 2);
}

u32 get_u32(struct p9_msg *m)
{
	return get(m, 4);
}

u64 get_u64(struct p9_msg *m)
{
	return get(m, 8);
}
