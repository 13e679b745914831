/* SPDX-License-Identifier: MIT */
/* Device registers, mapped by ioremap(). Single plain loads and stores: forms that a hypervisor can
 * emulate. Device memory keeps the order of accesses to one device; against normal memory the
 * caller uses dsb(). */
#ifndef ASM_IO_H
#define ASM_IO_H

#include <perch/types.h>

static inline u32 mmio_read(const volatile void *base, u64 off)
{
	u32 v;

	__asm__ volatile("ldr %w0, [%1]" : "=r"(v) : "r"((u64)base + off) : "memory");
	return v;
}

static inline void mmio_write(volatile void *base, u64 off, u32 v)
{
	__asm__ volatile("str %w0, [%1]" :: "rZ"(v), "r"((u64)base + off) : "memory");
}

static inline u64 mmio_read64(const volatile void *base, u64 off)
{
	u64 v;

	__asm__ volatile("ldr %0, [%1]" : "=r"(v) : "r"((u64)base + off) : "memory");
	return v;
}

static inline void mmio_write64(volatile void *base, u64 off, u64 v)
{
	__asm__ volatile("str %x0, [%1]" :: "rZ"(v), "r"((u64)base + off) : "memory");
}

#endif
