/* SPDX-License-Identifier: MIT */
/*
 * System registers that the assembler may not know by name, and the values that boot code gives to
 * the control registers. Encodings and bits: Arm ARM (DDI 0487) chapter D24.
 */
#ifndef ASM_SYSREG_H
#define ASM_SYSREG_H

/* GIC CPU interface (IHI 0069, chapter 12) */
#define ICC_PMR		S3_0_C4_C6_0
#define ICC_DIR		S3_0_C12_C11_1
#define ICC_SGI1R	S3_0_C12_C11_5
#define ICC_IAR1	S3_0_C12_C12_0
#define ICC_EOIR1	S3_0_C12_C12_1
#define ICC_BPR1	S3_0_C12_C12_3
#define ICC_CTLR	S3_0_C12_C12_4
#define ICC_SRE		S3_0_C12_C12_5
#define ICC_IGRPEN1	S3_0_C12_C12_7
#define ICC_SRE_EL2	S3_4_C12_C9_5
#define ICH_HCR_EL2	S3_4_C12_C11_0

#define ID_AA64ISAR2_EL1 S3_0_C0_C6_2
#define HCRX_EL2	S3_4_C1_C2_2
#define HFGRTR_EL2	S3_4_C1_C1_4
#define HFGWTR_EL2	S3_4_C1_C1_5
#define HFGITR_EL2	S3_4_C1_C1_6
#define HDFGRTR_EL2	S3_4_C3_C1_4
#define HDFGWTR_EL2	S3_4_C3_C1_5
#define AMUSERENR_EL0	S3_3_C13_C2_3

#define CPACR_FPEN	(3 << 20)	/* FP and SIMD at EL0 and EL1; SVE and SME trap */

/* SCTLR_EL1: the bits that are RES1 on ARMv8.0; PAN-less CPUs want SPAN (23) set. */
#define SCTLR_RES1	0x30d00800
#define SCTLR_M		(1 << 0)
#define SCTLR_C		(1 << 2)
#define SCTLR_SA	(1 << 3)	/* SP alignment checked at EL1 */
#define SCTLR_SA0	(1 << 4)	/* and at EL0 */
#define SCTLR_I		(1 << 12)
#define SCTLR_DZE	(1 << 14)	/* EL0: DC ZVA */
#define SCTLR_UCT	(1 << 15)	/* EL0: CTR_EL0 */
#define SCTLR_NTWI	(1 << 16)	/* EL0: WFI, WFE do not trap */
#define SCTLR_NTWE	(1 << 18)
#define SCTLR_SPAN	(1 << 23)	/* 0: exceptions set PAN */
#define SCTLR_UCI	(1 << 26)	/* EL0: cache maintenance */
#define SCTLR_ON	(SCTLR_RES1 | SCTLR_M | SCTLR_C | SCTLR_SA | SCTLR_SA0 | SCTLR_I | \
			 SCTLR_DZE | SCTLR_UCT | SCTLR_NTWI | SCTLR_NTWE | SCTLR_UCI)

/* Memory types, in MAIR_EL1 order */
#define MT_NORMAL	0	/* write-back, allocating */
#define MT_DEVICE	1	/* nGnRE */
#define MT_NORMAL_NC	2
#define MAIR_VALUE	0x4404ff

/* 48-bit halves, 4 KiB pages, tables cacheable and inner shareable, top byte of user addresses
 * ignored. The physical size and 16-bit ASIDs are added from ID_AA64MMFR0_EL1. */
#define TCR_T0SZ	(16 << 0)
#define TCR_WALK0	((1 << 8) | (1 << 10) | (3 << 12))
#define TCR_T1SZ	(16 << 16)
#define TCR_WALK1	((1 << 24) | (1 << 26) | (3 << 28))
#define TCR_TG1_4K	(2 << 30)
#define TCR_AS16_BIT	36
#define TCR_TBI0_BIT	37

/* Table entries that head.S and mmu.c share */
#define PTE_TABLE_BITS	3
#define PTE_BLOCK_RWX	((1 << 10) | (3 << 8) | (MT_NORMAL << 2) | 1)	/* AF, inner shareable */
#define PTE_NEVER_EXEC	(3 << 53)	/* PXN, UXN */

#endif
