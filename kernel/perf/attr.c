/* SPDX-License-Identifier: MIT */
/*
 * struct perf_event_attr from user space.
 *
 * The structure has grown over the years and says its own size. Old programs pass a short one:
 * what they do not know is 0. New programs pass a long one: what we do not know must be 0, else
 * E2BIG, and our size is written back so that the caller can try again.
 */
#include "core.h"

#include <string.h>

#define ATTR_MAX 4096u

static int size_refused(u64 uattr, u32 size, struct perf_why *why)
{
	u32 ours = sizeof(struct perf_event_attr);

	/* Best effort, as on Linux: the error is E2BIG even if this fails. */
	(void)host_copy_to_user(uattr + offsetof(struct perf_event_attr, size), &ours, sizeof(ours));
	return perf_refuse(why, -E2BIG, "size", size, "unknown size or non-zero tail");
}

/* Bytes of the user's structure beyond ours: 0, -E2BIG if one is not zero, -EFAULT. */
static int tail_is_zero(u64 from, u64 to)
{
	u8 buf[64];

	while (from < to) {
		size_t n = min_t(u64, to - from, sizeof(buf));

		if (host_copy_from_user(buf, from, n))
			return -EFAULT;
		for (size_t i = 0; i < n; i++)
			if (buf[i])
				return -E2BIG;
		from += n;
	}
	return 0;
}

/* The same for one that is longer than ours or too short, or not all in memory now. */
static noinline int copy_by_size(u64 uattr, struct perf_event_attr *attr, struct perf_why *why)
{
	u32 size;
	int err;

	*attr = (struct perf_event_attr){ 0 };
	if (host_copy_from_user(&size, uattr + offsetof(struct perf_event_attr, size), sizeof(size)))
		return perf_refuse(why, -EFAULT, "attr", uattr, "cannot be read");
	if (!size)
		size = PERF_ATTR_SIZE_VER0;	/* very old programs */
	if (size < PERF_ATTR_SIZE_VER0 || size > ATTR_MAX)
		return size_refused(uattr, size, why);
	err = tail_is_zero(uattr + sizeof(*attr), uattr + size);
	if (err == -E2BIG)
		return size_refused(uattr, size, why);
	if (err || host_copy_from_user(attr, uattr, min_t(size_t, size, sizeof(*attr))))
		return perf_refuse(why, -EFAULT, "attr", uattr, "cannot be read");
	attr->size = size;
	return 0;
}

/* Read the structure at uattr into attr. 0 or -errno. P, no mutex. Nearly all can be read at once, before their size is
 * known: what there is behind a short one does not matter. */
int attr_copy_in(u64 uattr, struct perf_event_attr *attr, struct perf_why *why)
{
	size_t n = host_copy_from_user_nofault(attr, uattr, sizeof(*attr)), size = attr->size;

	if (unlikely(n < sizeof(*attr) || size < PERF_ATTR_SIZE_VER0 || size > sizeof(*attr)))
		return copy_by_size(uattr, attr, why);
	if (size < sizeof(*attr))
		memset((char *)attr + size, 0, sizeof(*attr) - size);
	return 0;
}

static int validate_branch(struct perf_event_attr *attr, struct perf_why *why)
{
	u64 mask = attr->branch_sample_type;

	if (mask & ~(u64)(PERF_SAMPLE_BRANCH_MAX - 1) || !(mask & ~(u64)PERF_SAMPLE_BRANCH_PLM_ALL))
		return perf_refuse(why, -EINVAL, "branch_sample_type", mask,
				   "unknown bit or no branch type");
	if (!(mask & PERF_SAMPLE_BRANCH_PLM_ALL)) {
		if (!attr->exclude_kernel)
			mask |= PERF_SAMPLE_BRANCH_KERNEL;
		if (!attr->exclude_user)
			mask |= PERF_SAMPLE_BRANCH_USER;
		if (!attr->exclude_hv)
			mask |= PERF_SAMPLE_BRANCH_HV;
		attr->branch_sample_type = mask;
	}
	if (mask & (PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV) && sysctl_paranoid() > 1 &&
	    !access_privileged())
		return perf_refuse(why, -EACCES, "branch_sample_type", mask, "kernel branches");
	return 0;
}

static int validate_regs(const char *field, u64 mask, struct perf_why *why)
{
	if (!mask || mask & ~host_regs_mask())
		return perf_refuse(why, -EINVAL, field, mask, "no or unknown register");
	return 0;
}

static int validate_sample(struct perf_event_attr *attr, struct perf_why *why)
{
	int err = 0;

	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
		err = validate_branch(attr, why);
	if (!err && attr->sample_type & PERF_SAMPLE_REGS_USER)
		err = validate_regs("sample_regs_user", attr->sample_regs_user, why);
	if (err)
		return err;
	if (attr->sample_type & PERF_SAMPLE_STACK_USER &&
	    (attr->sample_stack_user >= UINT16_MAX || attr->sample_stack_user & 7))
		return perf_refuse(why, -EINVAL, "sample_stack_user", attr->sample_stack_user,
				   "must be a multiple of 8 below 65535");
	if (!attr->sample_max_stack)
		attr->sample_max_stack = (u16)sysctl_max_stack();
	if (attr->sample_type & PERF_SAMPLE_REGS_INTR)
		err = validate_regs("sample_regs_intr", attr->sample_regs_intr, why);
	if (!err && attr->sample_type & PERF_SAMPLE_WEIGHT &&
	    attr->sample_type & PERF_SAMPLE_WEIGHT_STRUCT)
		err = perf_refuse(why, -EINVAL, "sample_type", attr->sample_type,
				  "WEIGHT excludes WEIGHT_STRUCT");
	return err;
}

/* What can be said without knowing the PMU or the target, in Linux's order. 0 or -errno. */
int attr_validate(struct perf_event_attr *attr, struct perf_why *why)
{
	int err;

	if (attr->__reserved_1 || attr->__reserved_2 || attr->aux_action > PERF_AUX_ALL)
		return perf_refuse(why, -EINVAL, "reserved", attr->__reserved_1,
				   "a reserved bit is set");
	if (attr->sample_type & ~(u64)(PERF_SAMPLE_MAX - 1))
		return perf_refuse(why, -EINVAL, "sample_type", attr->sample_type, "unknown bit");
	if (attr->read_format & ~(u64)(PERF_FORMAT_MAX - 1))
		return perf_refuse(why, -EINVAL, "read_format", attr->read_format, "unknown bit");
	err = attr->sample_type ? validate_sample(attr, why) : 0;
	if (err)
		return err;
	if (attr->inherit_thread && !attr->inherit)
		return perf_refuse(why, -EINVAL, "inherit_thread", 1, "needs inherit");
	if (attr->remove_on_exec && attr->enable_on_exec)
		return perf_refuse(why, -EINVAL, "remove_on_exec", 1, "excludes enable_on_exec");
	if (attr->sigtrap && !attr->remove_on_exec)
		return perf_refuse(why, -EINVAL, "sigtrap", 1, "needs remove_on_exec");
	return 0;
}
