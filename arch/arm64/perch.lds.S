/* SPDX-License-Identifier: MIT */
/*
 * The kernel image. Linked at its high address, loaded anywhere at a multiple of 2 MiB. Each
 * segment with its own rights starts on a page: text (read, execute), read-only data, data (read,
 * write); see mmu.c.
 */
#include <asm/offsets.h>

OUTPUT_ARCH(aarch64)
ENTRY(_text)

PHDRS
{
	text PT_LOAD FLAGS(5);
	rodata PT_LOAD FLAGS(4);
	data PT_LOAD FLAGS(6);
	note PT_NOTE FLAGS(4);
}

SECTIONS
{
	. = KIMAGE_VADDR;
	_text = .;
	.head.text : { KEEP(*(.head.text)) } :text
	.text : ALIGN(4096) {
		_stext = .;
		*(.vectors)
		*(.idmap.text)
		*(.text .text.*)
		_etext = .;
	} :text

	. = ALIGN(4096);
	__start_rodata = .;
	.rodata : {
		*(.rodata .rodata.str* .rodata.cst*)
		*(EXCLUDE_FILE(*kallsyms.o) .rodata.*)
	} :rodata
	__ex_table : ALIGN(8) {
		__start_ex_table = .;
		KEEP(*(__ex_table))
		__stop_ex_table = .;
	} :rodata
	/* Addresses of weak symbols. Without a place of its own it would land behind __bss_start
	 * and be cleared. */
	.got : { *(.got .got.plt) } :rodata
	.notes : ALIGN(4) {
		__start_notes = .;
		KEEP(*(.note.gnu.build-id))
		__stop_notes = .;
	} :rodata :note
	/* Last, so that its growth between link passes moves as little as possible. */
	.kallsyms : ALIGN(8) { KEEP(*(.rodata.kallsyms)) } :rodata

	. = ALIGN(4096);
	_sdata = .;
	.data : { *(.data .data.*) . = ALIGN(16); } :data
	_edata = .;

	__bss_start = .;
	.bss (NOLOAD) : { *(.bss .bss.*) *(COMMON) . = ALIGN(16); } :data
	__bss_stop = .;

	/* Page tables of early boot: written before .bss is cleared. */
	.pgtables (NOLOAD) : ALIGN(4096) { *(.pgtables) } :data
	. = ALIGN(4096);
	_end = .;
	_image_size = _end - _text;

	/DISCARD/ : { *(.comment) *(.eh_frame*) *(.note.GNU-stack) *(.note.gnu.property) }
	.stab 0 : { *(.stab) }
}
ASSERT(_image_size < 0x4000000, "the early map covers 64 MiB")
ASSERT((__idmap_end & ~0x1fffff) == (_text & ~0x1fffff), "the identity map is one 2 MiB block")
