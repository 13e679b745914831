/* SPDX-License-Identifier: MIT */
/* ESR_EL1: why an exception was taken (Arm ARM D24.2.37). */
#ifndef ARCH_ESR_H
#define ARCH_ESR_H

#define ESR_EC_SHIFT	26
#define EC_UNKNOWN	0x00
#define EC_FP_TRAP	0x07
#define EC_ILL_STATE	0x0e
#define EC_SVC64	0x15
#define EC_SYSREG	0x18
#define EC_IABT_EL0	0x20
#define EC_IABT_EL1	0x21
#define EC_PC_ALIGN	0x22
#define EC_DABT_EL0	0x24
#define EC_DABT_EL1	0x25
#define EC_SP_ALIGN	0x26
#define EC_FP_EXC	0x2c
#define EC_SERROR	0x2f
#define EC_BREAK_EL0	0x30	/* hardware breakpoint */
#define EC_STEP_EL0	0x32
#define EC_WATCH_EL0	0x34
#define EC_BRK		0x3c

#define ESR_FSC		0x3f
#define ESR_WNR		(1u << 6)
#define ESR_CM		(1u << 8)

#endif
