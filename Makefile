# SPDX-License-Identifier: MIT
# Perch: build rules. `make help` lists the targets and the knobs; qemu.mk has everything that runs QEMU.
#
# The kernel is every source file under arch/arm64, drivers, kernel and lib: a new file needs no edit here.
# `make` downloads nothing. What it needs from outside is in the cache that scripts/setup fills.

MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
SHELL := /bin/bash

BUILD ?= build
CROSS_COMPILE ?= aarch64-linux-gnu-
CC := $(CROSS_COMPILE)gcc
LD := $(CROSS_COMPILE)ld
AR := $(CROSS_COMPILE)ar
NM := $(CROSS_COMPILE)nm
OBJCOPY := $(CROSS_COMPILE)objcopy
OBJDUMP := $(CROSS_COMPILE)objdump

XDG_CACHE_HOME ?= $(HOME)/.cache
PERCH_CACHE ?= $(XDG_CACHE_HOME)/perch
# The kernel's third-party code: string and printf functions (picolibc), libfdt, zlib and zstd decompression.
THIRD := $(PERCH_CACHE)/third

# V=1 shows the commands.
ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-7s %s\n' $(1) $(2)
MAKEFLAGS += --no-print-directory
endif

# --- flags -------------------------------------------------------------------------------------------------

INCLUDES := -I. -Iinclude -Iinclude/libc -Iinclude/uapi -Iarch/arm64/include
WARN := -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare
# -nostdinc keeps the build machine's C library headers out; the compiler's own (stdint.h, stdarg.h) stay.
KFLAGS := -std=gnu11 -O2 -g -ffreestanding -mgeneral-regs-only -fno-pie -no-pie -mcmodel=small \
	-fno-omit-frame-pointer -fno-strict-aliasing -fno-common -fno-stack-protector -mno-outline-atomics \
	-fno-asynchronous-unwind-tables -fno-unwind-tables -march=armv8-a $(WARN) \
	-nostdinc $(INCLUDES) -isystem $(THIRD)/include -isystem $(shell $(CC) -print-file-name=include 2>/dev/null) \
	-D__PERCH__ -fmacro-prefix-map=$(CURDIR)/=
# DEBUG=1: every detector (kernel/debug/README.md). Use a build directory of its own: make DEBUG=1 BUILD=build/debug
# No check of alignment and pointer arithmetic: a pointer into user memory may be anything, and so &pointer->member.
ifeq ($(DEBUG),1)
KFLAGS += -DPERCH_DEBUG -DPERCH_LOCKCHECK -DPERCH_KASAN -fstack-protector-strong \
	-fsanitize=undefined -fno-sanitize=alignment,pointer-overflow -fsanitize=kernel-address --param=asan-instrumentation-with-call-threshold=0 --param=asan-stack=0 \
	--param=asan-globals=0
endif
KFLAGS += $(KCFLAGS)
DEPFLAGS = -MMD -MP -MF $(@:.o=.d)

KLDFLAGS := -static -nostdlib --build-id=sha1 -z max-page-size=4096 -z noexecstack \
	--no-warn-rwx-segments --fatal-warnings $(if $(filter 1,$(DEBUG)),--wrap=memcpy --wrap=memmove --wrap=memset)
THIRD_LIBS := $(addprefix $(THIRD)/lib/,libfdt.a libz.a libzstd.a libc.a)
KLIBS := --start-group $(THIRD_LIBS) $(shell $(CC) -print-libgcc-file-name 2>/dev/null) --end-group

# --- sources -----------------------------------------------------------------------------------------------

rwildcard = $(foreach d,$(wildcard $(1:=/*)),$(call rwildcard,$d,$2) $(filter $(subst *,%,$2),$d))
KSRC := $(filter-out arch/arm64/vdso/%,$(sort $(call rwildcard,arch/arm64 drivers kernel lib,*.c *.S)))
KSRC := $(filter-out %.lds.S $(if $(filter 1,$(DEBUG)),,kernel/debug/%),$(KSRC))
KOBJ := $(patsubst %,$(BUILD)/%.o,$(KSRC))
LDS := $(BUILD)/perch.lds

VDSO_SRC := $(filter-out %.lds.S,$(sort $(wildcard arch/arm64/vdso/*.c arch/arm64/vdso/*.S)))
VDSO_OBJ := $(patsubst %,$(BUILD)/%.o,$(VDSO_SRC))
VDSO_LDS := $(patsubst arch/arm64/vdso/%.lds.S,$(BUILD)/%.lds,$(wildcard arch/arm64/vdso/*.lds.S))

.PHONY: all kernel user clean check-simd
all: kernel user
kernel: $(BUILD)/Image $(BUILD)/perch

$(THIRD_LIBS):
	@echo "Perch's build needs $@: run scripts/setup" >&2; exit 1
$(KOBJ): | $(THIRD_LIBS)

# --- kernel ------------------------------------------------------------------------------------------------

# Changed flags rebuild everything: the stamp's time moves only when its text does.
FLAGTEXT := $(CC) $(KFLAGS)
$(BUILD)/.flags: FORCE
	@mkdir -p $(BUILD); printf '%s\n' '$(FLAGTEXT)' | cmp -s - $@ || printf '%s\n' '$(FLAGTEXT)' >$@
.PHONY: FORCE
FORCE:

# The detectors do not detect themselves.
$(BUILD)/kernel/debug/%.c.o: FILE_FLAGS := -fno-sanitize=all -fno-stack-protector
$(BUILD)/kernel/debug/selftest.c.o: FILE_FLAGS :=
$(BUILD)/kernel/mm/page.c.o $(BUILD)/kernel/mm/slab.c.o $(BUILD)/kernel/mm/bootmem.c.o: \
	FILE_FLAGS := -fno-sanitize=kernel-address
$(BUILD)/%.c.o: %.c $(BUILD)/.flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(KFLAGS) $(FILE_FLAGS) $(DEPFLAGS) -c -o $@ $<

$(BUILD)/%.S.o: %.S $(BUILD)/.flags
	$(call say,AS,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(KFLAGS) -D__ASSEMBLY__ $(DEPFLAGS) -Wa,-I$(BUILD) -c -o $@ $<

$(BUILD)/arch/arm64/vdso.S.o: $(BUILD)/vdso.so

$(LDS): arch/arm64/perch.lds.S $(BUILD)/.flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(KFLAGS) -D__ASSEMBLY__ -D__LINKER__ -E -P -MMD -MP -MT $@ -MF $@.d -x c -o $@ $<

# Linked more than once: the table behind /proc/kallsyms and the backtraces is made from the link before.
$(BUILD)/perch: $(KOBJ) $(LDS) $(THIRD_LIBS) scripts/link-kernel scripts/kallsyms.py
	$(call say,LD,$@)
	$(Q)CC='$(CC)' LD='$(LD)' NM='$(NM)' scripts/link-kernel $@ $(LDS) '$(KLDFLAGS)' '$(KOBJ)' '$(KLIBS)'

$(BUILD)/Image: $(BUILD)/perch
	$(call say,OBJCOPY,$@)
	$(Q)$(OBJCOPY) -O binary $< $@

# --- vDSO: a small shared object, embedded by arch/arm64/vdso.S --------------------------------------------

VDSO_FLAGS = $(filter-out -fno-pie -no-pie -mcmodel=small \
	-fno-asynchronous-unwind-tables -fsanitize=% --param=% -fstack-protector-strong \
	-DPERCH_LOCKCHECK -DPERCH_KASAN,$(KFLAGS)) -fPIC -fvisibility=hidden -fasynchronous-unwind-tables -DPERCH_VDSO
$(BUILD)/arch/arm64/vdso/%.c.o: arch/arm64/vdso/%.c $(BUILD)/.flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(VDSO_FLAGS) $(DEPFLAGS) -c -o $@ $<
$(BUILD)/arch/arm64/vdso/%.S.o: arch/arm64/vdso/%.S $(BUILD)/.flags
	$(call say,AS,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(VDSO_FLAGS) -D__ASSEMBLY__ $(DEPFLAGS) -c -o $@ $<
$(VDSO_LDS): $(BUILD)/%.lds: arch/arm64/vdso/%.lds.S $(BUILD)/.flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(VDSO_FLAGS) -D__ASSEMBLY__ -D__LINKER__ -E -P -MMD -MP -MT $@ -MF $@.d -x c -o $@ $<
$(BUILD)/vdso.so: $(VDSO_OBJ) $(VDSO_LDS)
	$(call say,VDSO,$@)
	$(Q)$(LD) -shared -nostdlib -soname linux-vdso.so.1 --hash-style=both --build-id=sha1 --eh-frame-hdr \
		-z max-page-size=4096 -z noexecstack -Bsymbolic $(patsubst %,-T %,$(VDSO_LDS)) -o $@ $(VDSO_OBJ)
	$(Q)$(OBJCOPY) --strip-debug $@

# --- what a Raspberry Pi 4 boots from: see scripts/rpi4/README -----------------------------------------------

RPI4 := $(BUILD)/rpi4
RPI4_TEXT := $(addprefix $(RPI4)/,config.txt cmdline.txt README)
.PHONY: rpi4
rpi4: $(RPI4)/kernel8.img $(RPI4)/initramfs.cpio $(RPI4_TEXT)
	@echo "$(RPI4): copy it to the card; the other steps are in $(RPI4)/README"
$(RPI4)/kernel8.img: $(BUILD)/Image
$(RPI4)/initramfs.cpio: $(BUILD)/initramfs.cpio
$(RPI4_TEXT): $(RPI4)/%: scripts/rpi4/%
$(RPI4)/kernel8.img $(RPI4)/initramfs.cpio $(RPI4_TEXT):
	$(call say,COPY,$@)
	@mkdir -p $(@D)
	$(Q)cp $< $@

# --- checks ------------------------------------------------------------------------------------------------

check-simd: $(BUILD)/perch
	$(Q)OBJDUMP='$(OBJDUMP)' scripts/check-simd $<

clean:
	rm -rf $(BUILD)

-include $(KOBJ:.o=.d) $(VDSO_OBJ:.o=.d) $(LDS).d $(VDSO_LDS:=.d)
include qemu.mk
