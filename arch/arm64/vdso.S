/* SPDX-License-Identifier: MIT */
/* The vDSO's ELF image (build/vdso.so), a whole number of pages. */
	.section .rodata.vdso, "a"
	.balign	4096
	.globl	vdso_image, vdso_image_end
vdso_image:
	.incbin	"vdso.so"
	.balign	4096
vdso_image_end:
