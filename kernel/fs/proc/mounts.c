/* SPDX-License-Identifier: MIT */
/* /proc/PID/mounts, mountinfo, mountstats and net/: there is one mount tree and one network for
 * all. */
#include "internal.h"

PID_SHOW(pid_mounts_show)
{
	mounts_show(b, MOUNTS_MOUNTS);
	return 0;
}

PID_SHOW(pid_mountinfo_show)
{
	mounts_show(b, MOUNTS_MOUNTINFO);
	return 0;
}

PID_SHOW(pid_mountstats_show)
{
	mounts_show(b, MOUNTS_MOUNTSTATS);
	return 0;
}

/* There are no interfaces: the heading is all. */
static PID_SHOW(net_dev_show)
{
	text_puts(b, "Inter-|   Receive                                                "
		  "|  Transmit\n"
		  " face |bytes    packets errs drop fifo frame compressed multicast"
		  "|bytes    packets errs drop fifo colls carrier compressed\n");
	return 0;
}

const struct pid_entry pid_net_entries[] = {
	{ .name = "dev", .mode = S_IFREG | 0444, .where = IN_BOTH, .show = net_dev_show },
	{ .name = NULL },
};
