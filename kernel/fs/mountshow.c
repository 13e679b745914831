/* SPDX-License-Identifier: MIT */
/* The table of mounts as text: /proc/mounts, mountinfo, mountstats. */
#include "mount.h"

#include <string.h>

static void show_flags(struct textbuf *b, u32 flags)
{
	static const struct { u32 flag; const char *name; } names[] = {
		{ MS_NOSUID, ",nosuid" }, { MS_NODEV, ",nodev" }, { MS_NOEXEC, ",noexec" },
		{ MS_NOATIME, ",noatime" }, { MS_NODIRATIME, ",nodiratime" },
		{ MS_RELATIME, ",relatime" }, { MS_NOSYMFOLLOW, ",nosymfollow" },
	};

	text_puts(b, flags & MS_RDONLY ? "ro" : "rw");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (flags & names[i].flag)
			text_puts(b, names[i].name);
}

static void show_options(struct textbuf *b, const struct super *sb)
{
	if (sb->options[0] && strncmp(sb->options, "rw", 2))
		text_printf(b, ",%s", sb->options);
}

static void show_mount(struct textbuf *b, struct mount *m, const char *where,
		       enum mounts_format format)
{
	if (format == MOUNTS_MOUNTSTATS) {
		text_printf(b, "device %s mounted on %s with fstype %s\n", m->source, where,
			    m->sb->type->name);
		return;
	}
	if (format == MOUNTS_MOUNTINFO)
		text_printf(b, "%u %u 0:%u / ", m->id, m->parent ? m->parent->id : m->id,
			    (u32)(m->sb->dev & 0xff));
	else {
		text_escape(b, m->source, " \t\n\\#");
		text_puts(b, " ");
	}
	text_escape(b, where, " \t\n\\");
	if (format == MOUNTS_MOUNTINFO) {
		text_puts(b, " ");
		show_flags(b, m->flags);
		text_printf(b, " - %s %s rw", m->sb->type->name, m->source);
		show_options(b, m->sb);
		text_puts(b, "\n");
		return;
	}
	text_printf(b, " %s ", m->parent ? m->sb->type->name : "rootfs");
	show_flags(b, m->flags);
	show_options(b, m->sb);
	text_puts(b, " 0 0\n");
}

/* The next attached mount after id, with a reference. */
static struct mount *next_mount(u32 id)
{
	struct mount *m, *best = NULL;

	spin_lock(&mount_lock);
	list_for_each(m, &mounts, node)
		if (m->id > id && (!best || m->id < best->id))
			best = m;
	if (best)
		mount_get(best);
	spin_unlock(&mount_lock);
	return best;
}

void mounts_show(struct textbuf *b, enum mounts_format format)
{
	char *buf = kmalloc(PATH_MAX);
	struct mount *m;
	u32 id = 0;

	if (!buf) {
		b->failed = true;
		return;
	}
	while ((m = next_mount(id))) {
		struct path p = { m, m->root };
		char *where = path_name(&p, buf, PATH_MAX);

		if (!IS_ERR(where))
			show_mount(b, m, where, format);
		id = m->id;
		mount_put(m);
	}
	kfree(buf);
}
