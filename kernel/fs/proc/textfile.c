/* SPDX-License-Identifier: MIT */
/*
 * Files whose contents are text made on demand. The text is made at a read from position 0 (or the
 * first read at all) and kept for the reads that follow, so a reader that takes it in small pieces
 * still sees one moment. Programs that poll a file either open it again or seek back to 0.
 */
#include "internal.h"
#include <perch/page.h>
#include <string.h>

struct text_file {
	struct mutex lock;	/* readers of one open file may be threads */
	struct textbuf text;	/* lock */
	bool made;		/* lock */
	int (*show)(struct file *f, struct textbuf *b);		/* immutable */
};

int text_open(struct file *f, int (*show)(struct file *f, struct textbuf *b))
{
	struct text_file *t = kzalloc(sizeof(*t));

	if (!t)
		return -ENOMEM;
	mutex_init(&t->lock);
	t->show = show;
	f->priv = t;
	return 0;
}

/* t->lock held. */
static int text_make(struct file *f, struct text_file *t)
{
	int err;

	ASSERT(mutex_held(&t->lock));
	t->text.len = 0;
	t->text.failed = false;
	t->made = false;
	err = t->show(f, &t->text);
	if (!err && t->text.failed)
		err = -ENOMEM;
	t->made = !err;
	return err;
}

ssize_t text_serve(struct uio *u, loff *pos, const void *mem, size_t len)
{
	size_t n;

	if (*pos < 0)
		return -EINVAL;
	if ((u64)*pos >= len)
		return 0;
	n = min(len - (size_t)*pos, u->left);
	if (!n)
		return 0;
	n = uio_write(u, (const char *)mem + *pos, n);
	if (!n)
		return -EFAULT;
	*pos += (loff)n;
	return (ssize_t)n;
}

ssize_t text_read(struct file *f, struct uio *u, loff *pos)
{
	struct text_file *t = f->priv;
	ssize_t ret = 0;

	if (mutex_lock_killable(&t->lock))
		return -ERESTARTSYS;
	if (*pos == 0 || !t->made)
		ret = text_make(f, t);
	if (!ret)
		ret = text_serve(u, pos, t->text.buf, t->text.len);
	mutex_unlock(&t->lock);
	return ret;
}

loff text_llseek(struct file *f, loff off, int whence)
{
	if (whence == SEEK_CUR) {
		if (__builtin_add_overflow(off, f->pos, &off))
			return -EINVAL;
	} else if (whence != SEEK_SET) {
		return -EINVAL;
	}
	if (off < 0)
		return -EINVAL;
	f->pos = off;
	return off;
}

void text_release(struct file *f)
{
	struct text_file *t = f->priv;

	if (!t)
		return;
	text_free(&t->text);
	kfree(t);
}

char *text_write_copy(struct uio *u, size_t *len)
{
	size_t want = min_t(size_t, u->left, PAGE_SIZE - 1), n;
	char *s = kmalloc(want + 1);

	if (!s)
		return ERR_PTR(-ENOMEM);
	n = uio_read(u, s, want);
	if (n < want) {
		kfree(s);
		return ERR_PTR(-EFAULT);
	}
	s[n] = 0;
	*len = n;
	return s;
}
