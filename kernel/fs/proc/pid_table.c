/* SPDX-License-Identifier: MIT */
/* The names in /proc/PID and /proc/PID/task/TID with their modes and makers, as Linux 6.12 has
 * them. */
#include "internal.h"

#define REG(nm, md, wh, ck, sh)	\
	{ .name = nm, .mode = S_IFREG | (md), .where = wh, .check = ck, .show = sh }
#define REGW(nm, md, wh, sh, st)	\
	{ .name = nm, .mode = S_IFREG | (md), .where = wh, .show = sh, .store = st }
#define DIR(nm, md, wh, io, fo)	\
	{ .name = nm, .mode = S_IFDIR | (md), .where = wh, .iops = io, .fops = fo }
#define LNK(nm, fn)	\
	{ .name = nm, .mode = S_IFLNK | 0777, .where = IN_BOTH, .iops = &pid_link_iops, .link = fn }

const struct pid_entry pid_entries[] = {
	DIR("task", 0555, IN_PROC, &pid_task_iops, &pid_task_fops),
	DIR("fd", 0500, IN_BOTH, &pid_fd_iops, &pid_fd_fops),
	DIR("fdinfo", 0555, IN_BOTH, &pid_fdinfo_iops, &pid_fdinfo_fops),
	{ .name = "ns", .mode = S_IFDIR | 0511, .where = IN_BOTH, .iops = &pid_subdir_iops,
	  .fops = &pid_subdir_fops, .sub = pid_ns_entries },
	{ .name = "net", .mode = S_IFDIR | 0555, .where = IN_BOTH, .iops = &pid_subdir_iops,
	  .fops = &pid_subdir_fops, .sub = pid_net_entries },
	REG("environ", 0400, IN_BOTH, CHECK_OPEN, pid_environ_show),
	REG("auxv", 0400, IN_BOTH, CHECK_OPEN, pid_auxv_show),
	REG("status", 0444, IN_BOTH, CHECK_NONE, pid_status_show),
	REG("personality", 0400, IN_BOTH, CHECK_READ_EPERM, pid_personality_show),
	REG("limits", 0444, IN_BOTH, CHECK_NONE, pid_limits_show),
	REG("sched", 0644, IN_BOTH, CHECK_NONE, pid_sched_show),
	REGW("comm", 0644, IN_BOTH, pid_comm_show, pid_comm_store),
	REG("syscall", 0400, IN_BOTH, CHECK_READ_EPERM, pid_syscall_show),
	REG("cmdline", 0444, IN_BOTH, CHECK_NONE, pid_cmdline_show),
	REG("stat", 0444, IN_BOTH, CHECK_NONE, pid_stat_show),
	REG("statm", 0444, IN_BOTH, CHECK_NONE, pid_statm_show),
	REG("maps", 0444, IN_BOTH, CHECK_OPEN, pid_maps_show),
	REG("children", 0444, IN_TASK, CHECK_NONE, pid_children_show),
	REG("numa_maps", 0444, IN_BOTH, CHECK_OPEN, pid_numa_maps_show),
	{ .name = "mem", .mode = S_IFREG | 0600, .where = IN_BOTH, .fops = &pid_mem_fops },
	LNK("cwd", pid_link_cwd),
	LNK("root", pid_link_root),
	LNK("exe", pid_link_exe),
	REG("mounts", 0444, IN_BOTH, CHECK_NONE, pid_mounts_show),
	REG("mountinfo", 0444, IN_BOTH, CHECK_NONE, pid_mountinfo_show),
	REG("mountstats", 0400, IN_PROC, CHECK_NONE, pid_mountstats_show),
	REGW("clear_refs", 0200, IN_BOTH, NULL, pid_clear_refs_store),
	REG("smaps", 0444, IN_BOTH, CHECK_OPEN, pid_smaps_show),
	REG("smaps_rollup", 0444, IN_BOTH, CHECK_OPEN, pid_smaps_rollup_show),
	{ .name = "pagemap", .mode = S_IFREG | 0400, .where = IN_BOTH, .fops = &pid_pagemap_fops },
	REG("wchan", 0444, IN_BOTH, CHECK_NONE, pid_wchan_show),
	REG("stack", 0400, IN_BOTH, CHECK_NONE, pid_stack_show),
	REG("schedstat", 0444, IN_BOTH, CHECK_NONE, pid_schedstat_show),
	REG("cpuset", 0444, IN_BOTH, CHECK_NONE, pid_cpuset_show),
	REG("cgroup", 0444, IN_BOTH, CHECK_NONE, pid_cgroup_show),
	REG("oom_score", 0444, IN_BOTH, CHECK_NONE, pid_oom_score_show),
	REGW("oom_adj", 0644, IN_BOTH, pid_oom_adj_show, pid_oom_adj_store),
	REGW("oom_score_adj", 0644, IN_BOTH, pid_oom_score_adj_show, pid_oom_score_adj_store),
	REG("loginuid", 0644, IN_BOTH, CHECK_NONE, pid_loginuid_show),
	REG("sessionid", 0444, IN_BOTH, CHECK_NONE, pid_sessionid_show),
	REG("coredump_filter", 0644, IN_PROC, CHECK_NONE, pid_coredump_filter_show),
	REG("io", 0400, IN_BOTH, CHECK_READ, pid_io_show),
	REG("uid_map", 0644, IN_BOTH, CHECK_NONE, pid_id_map_show),
	REG("gid_map", 0644, IN_BOTH, CHECK_NONE, pid_id_map_show),
	REG("projid_map", 0644, IN_BOTH, CHECK_NONE, pid_id_map_show),
	REG("setgroups", 0644, IN_BOTH, CHECK_NONE, pid_setgroups_show),
	REGW("timerslack_ns", 0666, IN_PROC, pid_timerslack_show, pid_timerslack_store),
	REG("perf_refusal", 0444, IN_BOTH, CHECK_NONE, pid_perf_refusal_show),
	{ .name = NULL },
};
