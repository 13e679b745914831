/* SPDX-License-Identifier: MIT */
/*
 * Instructions that may fault, for assembly: fault.c looks for the entry of the one that did.
 *
 *	user flag, to, instruction	0: the page is brought in if that is possible, else the code goes on at "to".
 *					EX_NOFAULT: it goes on there at once.
 */
#ifndef ASM_EXTABLE_H
#define ASM_EXTABLE_H

#define EX_NOFAULT	1

#ifdef __ASSEMBLY__
.macro	user flag, to, insn:vararg
9999:	\insn
	.pushsection __ex_table, "a"
	.long	9999b - ., \to - . + \flag
	.popsection
.endm
#endif
#endif
