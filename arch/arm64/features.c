/* SPDX-License-Identifier: MIT */
/*
 * What user programs may know about the CPU: the AT_HWCAP bits, the words in /proc/cpuinfo, and the
 * ID registers that an EL0 program reads by MRS (it traps; HWCAP_CPUID promises that the kernel
 * answers). All three come from one masked copy of the registers, so they cannot contradict each
 * other. A field is shown only if using the feature needs nothing from the kernel: SVE, SME,
 * pointer authentication, BTI, MTE and MOPS need saved state or control bits that Perch does not
 * have, so they read as absent.
 *
 * Bit numbers and words: the uapi of Linux 6.12 (asm/hwcap.h, arm64/elf_hwcaps.rst); fields: Arm
 * ARM D24.2.
 */
#include <asm/cpu.h>
#include <asm/ptrace.h>
#include <perch/boot.h>
#include <perch/cpu.h>
#include <perch/fs.h>

#include "arch.h"

enum { PFR0, PFR1, ISAR0, ISAR1, ISAR2, MMFR0, MMFR1, MMFR2, NR_REGS };

#define FIELD(shift) (0xfUL << (shift))

static struct {
	u64 visible;		/* fields that user mode may see */
	u64 fixed;		/* what the others read as */
	u8 crm, op2;		/* MRS encoding: S3_0_C0_Ccrm_op2 */
	u64 value;		/* set at boot */
} idreg[NR_REGS] = {
	[PFR0] = { FIELD(16) | FIELD(20) | FIELD(48), 0x11, 4, 0, 0 },
	[PFR1] = { FIELD(4), 0, 4, 1, 0 },
	[ISAR0] = { ~(FIELD(0) | FIELD(24) | FIELD(56)), 0, 6, 0, 0 },
	[ISAR1] = { FIELD(0) | FIELD(12) | FIELD(16) | FIELD(20) | FIELD(32) | FIELD(36) |
		    FIELD(44) | FIELD(48) | FIELD(52), 0, 6, 1, 0 },
	[ISAR2] = { FIELD(0) | FIELD(4) | FIELD(20) | FIELD(48) | FIELD(52), 0, 6, 2, 0 },
	[MMFR0] = { FIELD(60), 0x111ff000000, 7, 0, 0 },
	[MMFR1] = { FIELD(44), 0, 7, 1, 0 },
	[MMFR2] = { FIELD(32), 0, 7, 2, 0 },
};
#define DFR0_USER 6		/* S3_0_C0_C5_0: debug architecture, nothing else */

static const struct {
	u8 bit;			/* in AT_HWCAP; from 64 on in AT_HWCAP2 */
	u8 reg, shift, min;
	const char *name;
} feature[] = {
	{ 0, PFR0, 16, 0, "fp" },	{ 1, PFR0, 20, 0, "asimd" },
	{ 3, ISAR0, 4, 1, "aes" },	{ 4, ISAR0, 4, 2, "pmull" },
	{ 5, ISAR0, 8, 1, "sha1" },	{ 6, ISAR0, 12, 1, "sha2" },
	{ 7, ISAR0, 16, 1, "crc32" },	{ 8, ISAR0, 20, 2, "atomics" },
	{ 9, PFR0, 16, 1, "fphp" },	{ 10, PFR0, 20, 1, "asimdhp" },
	{ 12, ISAR0, 28, 1, "asimdrdm" }, { 13, ISAR1, 12, 1, "jscvt" },
	{ 14, ISAR1, 16, 1, "fcma" },	{ 15, ISAR1, 20, 1, "lrcpc" },
	{ 16, ISAR1, 0, 1, "dcpop" },	{ 17, ISAR0, 32, 1, "sha3" },
	{ 18, ISAR0, 36, 1, "sm3" },	{ 19, ISAR0, 40, 1, "sm4" },
	{ 20, ISAR0, 44, 1, "asimddp" }, { 21, ISAR0, 12, 2, "sha512" },
	{ 23, ISAR0, 48, 1, "asimdfhm" }, { 24, PFR0, 48, 1, "dit" },
	{ 25, MMFR2, 32, 1, "uscat" },	{ 26, ISAR1, 20, 2, "ilrcpc" },
	{ 27, ISAR0, 52, 1, "flagm" },	{ 28, PFR1, 4, 2, "ssbs" },
	{ 29, ISAR1, 36, 1, "sb" },
	{ 64 + 0, ISAR1, 0, 2, "dcpodp" }, { 64 + 7, ISAR0, 52, 2, "flagm2" },
	{ 64 + 8, ISAR1, 32, 1, "frint" }, { 64 + 13, ISAR1, 52, 1, "i8mm" },
	{ 64 + 14, ISAR1, 44, 1, "bf16" }, { 64 + 15, ISAR1, 48, 1, "dgh" },
	{ 64 + 16, ISAR0, 60, 1, "rng" }, { 64 + 19, MMFR0, 60, 1, "ecv" },
	{ 64 + 20, MMFR1, 44, 1, "afp" }, { 64 + 21, ISAR2, 4, 1, "rpres" },
	{ 64 + 31, ISAR2, 0, 2, "wfxt" }, { 64 + 32, ISAR1, 44, 2, "ebf16" },
	{ 64 + 34, ISAR2, 52, 1, "cssc" }, { 64 + 35, ISAR2, 48, 1, "rprfm" },
	{ 64 + 44, ISAR2, 20, 1, "hbc" },
};

static u64 hwcap[2];
#define HWCAP_EVTSTRM	2
#define HWCAP_CPUID	11

static u64 read_raw(int r)
{
	switch (r) {
	case PFR0: return read_sysreg(id_aa64pfr0_el1);
	case PFR1: return read_sysreg(id_aa64pfr1_el1);
	case ISAR0: return read_sysreg(id_aa64isar0_el1);
	case ISAR1: return read_sysreg(id_aa64isar1_el1);
	case ISAR2: return read_sysreg(S3_0_C0_C6_2);
	case MMFR0: return read_sysreg(id_aa64mmfr0_el1);
	case MMFR1: return read_sysreg(id_aa64mmfr1_el1);
	default: return read_sysreg(S3_0_C0_C7_2);
	}
}

/* FP and AdvSIMD are the signed fields: 15 is absent, 0 present. */
static bool field_at_least(int reg, u32 shift, u32 min)
{
	u32 v = idreg[reg].value >> shift & 15;

	if (reg == PFR0 && shift < 24)
		return v != 15 && v >= min;
	return v >= min;
}

void features_init(void)
{
	for (int r = 0; r < NR_REGS; r++)
		idreg[r].value = (read_raw(r) & idreg[r].visible) | idreg[r].fixed;
	hwcap[0] = BIT(HWCAP_EVTSTRM) | BIT(HWCAP_CPUID);
	for (size_t i = 0; i < ARRAY_SIZE(feature); i++)
		if (field_at_least(feature[i].reg, feature[i].shift, feature[i].min))
			hwcap[feature[i].bit / 64] |= BIT(feature[i].bit % 64);
}

u64 arch_hwcap(void)
{
	return hwcap[0];
}

u64 arch_hwcap2(void)
{
	return hwcap[1];
}

u32 asid_bits(void)
{
	return (read_sysreg(id_aa64mmfr0_el1) >> 4 & 15) == 2 ? 16 : 8;
}

/* Each word with a blank before it, in the order of the bits. */
void features_show(struct textbuf *b)
{
	size_t i = 0;

	for (u32 bit = 0; bit < 128; bit++) {
		while (i < ARRAY_SIZE(feature) && feature[i].bit < bit)
			i++;
		if (bit == HWCAP_EVTSTRM)
			text_puts(b, " evtstrm");
		else if (bit == HWCAP_CPUID)
			text_puts(b, " cpuid");
		else if (i < ARRAY_SIZE(feature) && feature[i].bit == bit &&
			 hwcap[bit / 64] & BIT(bit % 64))
			text_printf(b, " %s", feature[i].name);
	}
}

/* The ID space is S3_0_C0_C0..C7; C1 is left to the undefined instruction. */
static bool id_value(u32 crm, u32 op2, u64 *v)
{
	*v = 0;
	if (crm == 0) {
		if (op2 != 0 && op2 != 5 && op2 != 6)
			return false;
		*v = op2 == 5 ? BIT(31)		/* MPIDR: says nothing */
		   : op2 == 6 ? arch_cpu_revidr(cpu_id()) : arch_cpu_midr(cpu_id());
		return true;
	}
	if (crm == 1 || crm > 7)
		return false;
	if (crm == 5 && op2 == 0)
		*v = DFR0_USER;
	for (int r = 0; r < NR_REGS; r++)
		if (idreg[r].crm == crm && idreg[r].op2 == op2)
			*v = idreg[r].value;
	return true;
}

/* MRS: 1101 0101 0011 op0-2 op1 CRn CRm op2 Rt. */
bool emulate_mrs(struct pt_regs *regs, u32 insn)
{
	u64 v;

	if ((insn & 0xfffff000) != 0xd5380000)	/* S3_0_C0_... */
		return false;
	if (!id_value(insn >> 8 & 15, insn >> 5 & 7, &v))
		return false;
	if ((insn & 31) != 31)
		regs->regs[insn & 31] = v;
	return true;
}
