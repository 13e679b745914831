/* SPDX-License-Identifier: MIT */
/* The parts of sysfs; each adds its files once. */
#ifndef SYSFS_INTERNAL_H
#define SYSFS_INTERNAL_H

#include "../proc/internal.h"

/* A read-only file at path below /sys with a constant line, or with what show makes of arg. */
void sysfs_text(const char *path, const char *line);
void sysfs_show(const char *path, const struct knode_ops *ops, void *arg);

void sysfs_cpu_init(void);
void sysfs_node_init(void);
void sysfs_class_init(void);
void sysfs_pmu_init(void);	/* at the first mount: all PMU drivers have registered by then */

#endif
