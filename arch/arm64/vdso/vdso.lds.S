/* SPDX-License-Identifier: MIT */
/* The vDSO: one segment, position independent, no writable data. The data page lies one page below
 * it. */
OUTPUT_FORMAT("elf64-littleaarch64")
OUTPUT_ARCH(aarch64)

PHDRS
{
	text PT_LOAD FILEHDR PHDRS FLAGS(5);
	dynamic PT_DYNAMIC FLAGS(4);
	note PT_NOTE FLAGS(4);
	eh_frame_hdr PT_GNU_EH_FRAME;
}

SECTIONS
{
	PROVIDE_HIDDEN(vdso_data_page = -4096);
	. = SIZEOF_HEADERS;
	.hash : { *(.hash) } :text
	.gnu.hash : { *(.gnu.hash) }
	.dynsym : { *(.dynsym) }
	.dynstr : { *(.dynstr) }
	.gnu.version : { *(.gnu.version) }
	.gnu.version_d : { *(.gnu.version_d) }
	.gnu.version_r : { *(.gnu.version_r) }
	.note : { *(.note.*) } :text :note
	. = ALIGN(16);
	.text : { *(.text*) } :text
	.rodata : { *(.rodata*) *(.got) *(.got.plt) } :text
	.eh_frame_hdr : { *(.eh_frame_hdr) } :text :eh_frame_hdr
	.eh_frame : { KEEP(*(.eh_frame)) } :text
	.dynamic : { *(.dynamic) } :text :dynamic
	.rela.dyn : ALIGN(8) { *(.rela .rela*) } :text
	/DISCARD/ : {
		*(.data .data.* .bss .bss.* .plt .comment .note.GNU-stack .note.gnu.property)
	}
}

VERSION
{
	LINUX_2.6.39 {
	global:
		__kernel_rt_sigreturn;
		__kernel_gettimeofday;
		__kernel_clock_gettime;
		__kernel_clock_getres;
	local: *;
	};
}
