/* SPDX-License-Identifier: MIT */
/*
 * From the boot loader to C.
 *
 * The image follows the arm64 Linux boot protocol (Documentation/arch/arm64/booting.rst): a 64-byte
 * header, entry with the MMU off at EL2 or EL1, x0 = physical address of the device tree, the image
 * cleaned to the point of coherency. All code up to enable_mmu runs at physical addresses, so it
 * addresses relative to the PC only.
 *
 * Early tables: TTBR0 maps the first 2 MiB of the image one to one (for the instructions around the
 * switch), TTBR1 maps the image at KIMAGE_VADDR and the 2 MiB block in which the device tree begins
 * at FDT_VADDR. arch_boot() replaces them by the final ones (mmu.c). No more is mapped than the
 * protocol says is memory: a CPU may fetch speculatively from whatever a valid entry maps, and on a
 * board there may be a device, or nothing that answers, behind the end of RAM.
 *
 * Registers that live through boot: x19 device tree, x20 physical address of _text.
 */
#include <asm/offsets.h>
#include <asm/sysreg.h>

	.section .head.text, "ax"
	.globl _head
_head:
	b	primary_entry
	.long	0
	.quad	0			/* text_offset: any multiple of 2 MiB */
	.quad	_image_size		/* including .bss and page tables */
	.quad	0xa			/* little endian, 4 KiB pages, anywhere in memory */
	.quad	0, 0, 0
	.ascii	"ARM\x64"
	.long	0

	.section .idmap.text, "ax"
	.balign	4

/* x0: device tree */
primary_entry:
	mov	x19, x0
	bl	enter_el1
	adrp	x20, _text
	bl	make_early_tables
	adrp	x1, early_pg_dir
	bl	enable_mmu
	ldr	x8, =primary_mapped
	br	x8

/*
 * Every other CPU, from PSCI CPU_ON or the spin table; nothing is expected in registers. The caches
 * are off, so nothing but code may be read from memory here; the tables are read by the walker,
 * which is coherent.
 */
	.globl	secondary_entry
	.type	secondary_entry, %function
secondary_entry:
	bl	enter_el1
	adrp	x1, kernel_pg_dir
	bl	enable_mmu
	ldr	x8, =secondary_mapped
	br	x8

/*
 * Leave EL2 if we are there, with every trap to it off. Clobbers x0-x2. At EL1 only SCTLR_EL1 is
 * set.
 */
	.type	enter_el1, %function
enter_el1:
	ldr	x0, =SCTLR_RES1
	msr	sctlr_el1, x0
	isb
	mrs	x0, CurrentEL
	cmp	x0, #(2 << 2)
	b.eq	1f
	msr	daifset, #0xf
	ret
1:	mov	x0, #(1 << 31)			/* EL1 is AArch64; no traps, no stage 2 */
	mrs	x1, id_aa64isar1_el1		/* pointer authentication (either algorithm) ... */
	ldr	x2, =0xff000ff0
	and	x1, x1, x2
	mrs	x2, ID_AA64ISAR2_EL1
	and	x2, x2, #0xff00			/* ... or the third */
	orr	x1, x1, x2
	cbz	x1, 6f
	orr	x0, x0, #(3 << 40)		/* API, APK: PACGA at EL0 must not trap to EL2 */
6:	msr	hcr_el2, x0
	isb
	mov	x0, #3				/* EL1 may use the physical counter and timer */
	msr	cnthctl_el2, x0
	msr	cntvoff_el2, xzr
	mov	x0, #0x33ff			/* no FP traps; RES1 bits */
	msr	cptr_el2, x0
	msr	hstr_el2, xzr
	msr	vttbr_el2, xzr
	mrs	x0, midr_el1
	msr	vpidr_el2, x0
	mrs	x0, mpidr_el1
	msr	vmpidr_el2, x0

	/* Debug and PMU: no traps, all event counters belong to EL1 (HPMN = PMCR.N). */
	mov	x2, xzr
	mrs	x0, id_aa64dfr0_el1
	ubfx	x1, x0, #8, #4			/* PMUVer: 0 none, 15 not architected */
	cbz	x1, 2f
	cmp	x1, #15
	b.eq	2f
	mrs	x2, pmcr_el0
	ubfx	x2, x2, #11, #5
2:	msr	mdcr_el2, x2

	mrs	x0, id_aa64pfr0_el1
	ubfx	x1, x0, #24, #4			/* GIC system registers? */
	cbz	x1, 3f
	mrs	x0, ICC_SRE_EL2
	orr	x0, x0, #1			/* SRE */
	orr	x0, x0, #8			/* EL1 may set its own */
	msr	ICC_SRE_EL2, x0
	isb
	mrs	x0, ICC_SRE_EL2
	tbz	x0, #0, 3f
	msr	ICH_HCR_EL2, xzr
3:	mrs	x0, id_aa64mmfr0_el1
	ubfx	x1, x0, #56, #4			/* fine-grained traps */
	cbz	x1, 4f
	msr	HFGRTR_EL2, xzr
	msr	HFGWTR_EL2, xzr
	msr	HFGITR_EL2, xzr
	msr	HDFGRTR_EL2, xzr
	msr	HDFGWTR_EL2, xzr
4:	mrs	x0, id_aa64mmfr1_el1
	ubfx	x1, x0, #40, #4			/* HCRX_EL2 */
	cbz	x1, 5f
	msr	HCRX_EL2, xzr
5:	mov	x0, #0x3c5			/* EL1h, everything masked */
	msr	spsr_el2, x0
	msr	elr_el2, x30
	eret

/* Invalidate the data cache lines of the early tables to the point of coherency. Clobbers x2-x5. */
	.macro	invalidate_early_tables
	adrp	x2, early_tables_start
	adrp	x3, early_tables_end
	mrs	x4, ctr_el0
	ubfx	x4, x4, #16, #4			/* log2 of words in the smallest data line */
	mov	x5, #4
	lsl	x4, x5, x4
1:	dc	ivac, x2
	add	x2, x2, x4
	cmp	x2, x3
	b.lo	1b
	dsb	sy
	.endm

/*
 * Fill the early tables. The stores go to memory past the caches, which are off; the table walks
 * will look into them. So they may hold nothing of the tables: not before, for a dirty line that
 * the boot loader left could be written back over the stores, and not afterwards, for a clean line
 * that was fetched speculatively meanwhile would hide them. QEMU has no caches and needs neither.
 * Clobbers x0-x9.
 */
make_early_tables:
	invalidate_early_tables
	adrp	x0, early_tables_start
	adrp	x1, early_tables_end
	mov	x2, x0
1:	stp	xzr, xzr, [x2], #16
	cmp	x2, x1
	b.lo	1b

	/* identity: level 0, 1 and one block in level 2 */
	adrp	x2, idmap_pg_dir
	adrp	x3, idmap_l1
	adrp	x4, idmap_l2
	ubfx	x5, x20, #39, #9
	orr	x6, x3, #PTE_TABLE_BITS
	str	x6, [x2, x5, lsl #3]
	ubfx	x5, x20, #30, #9
	orr	x6, x4, #PTE_TABLE_BITS
	str	x6, [x3, x5, lsl #3]
	ubfx	x5, x20, #21, #9
	ldr	x7, =PTE_BLOCK_RWX
	orr	x6, x20, x7
	str	x6, [x4, x5, lsl #3]

	/* image, with .bss and tables */
	adrp	x2, early_pg_dir
	adrp	x3, early_l1
	adrp	x4, early_l2
	orr	x6, x3, #PTE_TABLE_BITS
	str	x6, [x2, #((KIMAGE_VADDR >> 39) & 511) * 8]
	orr	x6, x4, #PTE_TABLE_BITS
	str	x6, [x3, #((KIMAGE_VADDR >> 30) & 511) * 8]
	orr	x6, x20, x7
	ldr	x5, =_image_size
	add	x5, x5, x6
2:	str	x6, [x4], #8
	add	x6, x6, #0x200000
	cmp	x6, x5
	b.lo	2b

	/* device tree: the block it starts in. Data only: nothing may be fetched from there. */
	adrp	x4, early_fdt_l2
	orr	x6, x4, #PTE_TABLE_BITS
	str	x6, [x3, #((FDT_VADDR >> 30) & 511) * 8]
	and	x6, x19, #~0x1fffff
	orr	x6, x6, x7
	orr	x6, x6, #PTE_NEVER_EXEC
	str	x6, [x4]

	dmb	sy				/* the stores, before the lines go */
	invalidate_early_tables
	ret

/*
 * Turn the MMU and the caches on with x1 = root for TTBR1. Clobbers x0-x5. The instruction cache
 * may hold what was there before the image was loaded.
 */
enable_mmu:
	ic	iallu
	tlbi	vmalle1
	dsb	nsh
	isb
	ldr	x0, =MAIR_VALUE
	msr	mair_el1, x0
	ldr	x0, =(TCR_T0SZ | TCR_WALK0 | TCR_T1SZ | TCR_WALK1 | TCR_TG1_4K)
	mrs	x2, id_aa64mmfr0_el1
	and	x3, x2, #15			/* physical address size, at most 48 bits */
	mov	x4, #5
	cmp	x3, x4
	csel	x3, x3, x4, lo
	bfi	x0, x3, #32, #3
	ubfx	x3, x2, #4, #4
	cmp	x3, #2				/* 16-bit ASIDs */
	cset	x3, eq
	bfi	x0, x3, #TCR_AS16_BIT, #1
	mov	x3, #1
	bfi	x0, x3, #TCR_TBI0_BIT, #1
	msr	tcr_el1, x0
	adrp	x0, idmap_pg_dir
	msr	ttbr0_el1, x0
	msr	ttbr1_el1, x1
	isb
	mov	x0, #CPACR_FPEN
	msr	cpacr_el1, x0
	ldr	x0, =SCTLR_ON
	mrs	x2, id_aa64mmfr1_el1
	ubfx	x2, x2, #20, #4			/* PAN: let exceptions set it */
	cbz	x2, 1f
	and	x0, x0, #~SCTLR_SPAN
	.inst	0xd500419f			/* msr pan, #1 */
1:	msr	sctlr_el1, x0
	isb
	ret

/*
 * void idmap_replace_ttbr1(u64 root): change the kernel's tables under its feet. Runs in the
 * identity map. Goes through an empty table and a flush, because old and new tables map the same
 * addresses with different sizes.
 */
	.globl	idmap_replace_ttbr1
	.type	idmap_replace_ttbr1, %function
idmap_replace_ttbr1:
	adrp	x1, empty_pg_dir
	msr	ttbr1_el1, x1
	isb
	tlbi	vmalle1
	dsb	nsh
	isb
	msr	ttbr1_el1, x0
	isb
	ret
	.ltorg
	.globl	__idmap_end
__idmap_end:

	.text
	.type	primary_mapped, %function
primary_mapped:
	ldr	x0, =vectors
	msr	vbar_el1, x0
	ldr	x0, =boot_stack + KERNEL_STACK
	mov	sp, x0
	mov	x29, xzr
	mov	x30, xzr
	ldr	x0, =__bss_start
	ldr	x1, =__bss_stop
1:	stp	xzr, xzr, [x0], #16
	cmp	x0, x1
	b.lo	1b
	ldr	x0, =cpus
	msr	tpidr_el1, x0
	msr	sp_el0, xzr
	isb
	mov	x0, x19
	mov	x1, x20
	bl	arch_boot
	b	.

/* Find our struct cpu by MPIDR; a CPU that is not in the table, or has no idle task, stays here. */
	.type	secondary_mapped, %function
secondary_mapped:
	ldr	x0, =vectors
	msr	vbar_el1, x0
	isb
	mrs	x1, mpidr_el1
	ldr	x2, =0xff00ffffff
	and	x1, x1, x2
	ldr	x0, =cpus
	ldr	x2, =nr_cpus
	ldr	w2, [x2]
1:	cbz	w2, 3f
	ldr	x3, [x0, #CPU_MPIDR]
	cmp	x3, x1
	b.eq	2f
	add	x0, x0, #CPU_SIZE
	sub	w2, w2, #1
	b	1b
2:	msr	tpidr_el1, x0
	ldr	x1, [x0, #CPU_IDLE]
	cbz	x1, 3f
	msr	sp_el0, x1
	ldr	x2, [x1, #TASK_STACK]
	add	x2, x2, #KERNEL_STACK
	mov	sp, x2
	mov	x29, xzr
	mov	x30, xzr
	bl	arch_secondary
3:	wfi
	b	3b

	.section .pgtables, "aw", %nobits
	.balign	4096
early_tables_start:
	.globl	idmap_pg_dir, empty_pg_dir, kernel_pg_dir, pt_pool, pt_pool_end, early_tables_start
	.globl	early_fdt_l2
idmap_pg_dir:	.space	4096
idmap_l1:	.space	4096
idmap_l2:	.space	4096
early_pg_dir:	.space	4096
early_l1:	.space	4096
early_l2:	.space	4096
early_fdt_l2:	.space	4096
empty_pg_dir:	.space	4096
kernel_pg_dir:	.space	4096
early_tables_end:
/* Tables that mmu.c needs before there is an allocator; zeroed when taken. */
pt_pool:	.space	4096 * 48
pt_pool_end:

	.bss
	/* Like the other stacks: bit 14 of its addresses is set (check_stack in vectors.S). The space
	 * below is where a stack overflow is reported. */
	.balign	2 * KERNEL_STACK
	.globl	overflow_stack, boot_stack
overflow_stack:	.space	KERNEL_STACK
boot_stack:	.space	KERNEL_STACK
