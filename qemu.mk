# SPDX-License-Identifier: MIT
# Everything that runs QEMU, and the knobs of the machine. Included by the Makefile.

export PERCH_CACHE
# --- knobs: make run SMP=8 GIC=2 -----------------------------------------------------------------------------
KERNEL ?= perch#	perch, linux (the reference kernel) or a file
MACHINE ?= virt#	virt or raspi4b
SMP ?=#			CPUs (4; 1 with ICOUNT=1)
MEM ?=#			memory (1G; raspi4b 2G)
CPU ?=#			cortex-a72, cortex-a53, neoverse-n1, max
GIC ?= 3#		interrupt controller, 2 or 3
ICOUNT ?=#		1: one instruction is one nanosecond, exact and repeatable
INITRD ?= $(BUILD)/initramfs.cpio
APPEND ?=#		more kernel command line
TIMEOUT ?=#		seconds for a scripted run
T ?=#			test-guest: only these tests or areas (T=ring, T=ring/lost)
SHARE ?= build/share#	folder of this machine that the guest of make run and make gdb sees at /mnt
FLAME ?= mixed#	make flamegraph: the program, with its arguments
export KERNEL MACHINE SMP MEM CPU GIC ICOUNT INITRD APPEND TIMEOUT

# With KERNEL=linux nothing of Perch's kernel need build.
BOOT := $(if $(filter perch,$(KERNEL)),$(BUILD)/Image) $(BUILD)/initramfs.cpio

.PHONY: setup run gdb demo flamegraph test test-host mutants test-guest test-checks test-perf test-clients test-debug test-soak soak record-expected bench bench-check help
setup:
	$(Q)scripts/setup

run: setup
	$(Q)$(MAKE) $(BOOT) $(BUILD)/objdump.cpio
	$(Q)scripts/qemu-run --add $(BUILD)/objdump.cpio --share '$(SHARE)'

gdb: setup
	$(Q)$(MAKE) $(BOOT)
	$(Q)scripts/qemu-run --share '$(SHARE)' --gdb

# The first command of a newcomer.
demo: setup
	$(Q)$(MAKE) $(BOOT)
	$(Q)scripts/demo

# What a program and the kernel below it spend their time on, as a picture.
flamegraph: setup
	$(Q)$(MAKE) $(BOOT)
	$(Q)scripts/qemu-run --body --append quiet --share '$(SHARE)' --cmd 'perf record -q -F 999 -g -o /mnt/flame.data $(FLAME) && \
		perf script -i /mnt/flame.data >/mnt/flame.txt'
	$(Q)scripts/flamegraph --title '$(FLAME) on Perch: cycles' '$(SHARE)/flame.txt' >$(BUILD)/flame.svg.tmp
	$(Q)mv $(BUILD)/flame.svg.tmp $(BUILD)/flame.svg
	@echo '$(BUILD)/flame.svg is ready: open it in a browser'

# The second. Every lane prints its own lines; the last line is the sum.
test: setup
	$(Q)$(MAKE) all $(BUILD)/debian.cpio $(BUILD)/objdump.cpio $(BUILD)/tools.cpio
	$(Q)$(MAKE) DEBUG=1 BUILD=$(BUILD)/debug kernel
	$(Q)scripts/test-all

test-host:
	$(Q)scripts/test-all host

# Does the host lane notice when the perf core is broken in a hundred named ways?
mutants:
	$(Q)$(MAKE) -s -C tests/host mutants

# The suite of the perf system calls, one boot; T=ring/lost runs one test, KERNEL=linux asks the reference.
test-guest: setup
	$(Q)$(MAKE) $(BOOT)
	$(Q)scripts/test-guest $(T)

test-checks: setup
	$(Q)$(MAKE) $(BOOT) $(BUILD)/debian.cpio
	$(Q)scripts/test-all guest

test-perf: setup
	$(Q)$(MAKE) $(BOOT) $(BUILD)/debian.cpio $(BUILD)/tools.cpio
	$(Q)scripts/test-all perf

test-debug: setup
	$(Q)$(MAKE) $(BOOT)
	$(Q)$(MAKE) DEBUG=1 BUILD=$(BUILD)/debug kernel
	$(Q)scripts/test-all debug

# Not part of test: two more sources to download, and minutes to build.
test-clients:
	$(Q)scripts/setup --clients
	$(Q)$(MAKE) $(BOOT) $(BUILD)/debian.cpio $(BUILD)/clients.cpio
	$(Q)scripts/test-all clients

soak: test-soak
test-soak: setup
	$(Q)$(MAKE) $(BOOT) $(BUILD)/debian.cpio
	$(Q)$(MAKE) DEBUG=1 BUILD=$(BUILD)/debug kernel
	$(Q)scripts/test-all soak

# Perch beside Linux: two tables, build/bench.json and build/bench.svg. RUNS=N: boots of each kernel.
bench: setup
	$(Q)$(MAKE) $(BUILD)/Image $(BUILD)/initramfs.cpio
	$(Q)scripts/bench $(if $(RUNS),--runs $(RUNS))

bench-check: setup
	$(Q)$(MAKE) $(BUILD)/Image $(BUILD)/initramfs.cpio
	$(Q)scripts/bench --check

# What Linux answers, recorded again: user/tests/expected. Review the difference before you commit it.
record-expected: setup
	$(Q)$(MAKE) $(BUILD)/initramfs.cpio
	$(Q)scripts/run-checks --record
	$(Q)scripts/run-perf --record
	$(Q)scripts/run-perf tools --record
	$(Q)ICOUNT=1 scripts/run-perf --record

# --- guest programs and initramfs ---------------------------------------------------------------------------
# One program each: user/*.c, user/demo/*.c, user/tests/soak/*.c. Together one program: user/tests/c/*.c (checks),
# user/tests/perf/*.c (ptest) and user/bench/*.c (pbench).
USER_CFLAGS := -std=gnu11 -O2 -g -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-stringop-overread -Wno-stringop-overflow -Wno-unused-value -Wno-infinite-recursion -Wno-nonnull \
	-pthread -static \
	-fno-omit-frame-pointer -Iuser/include
USER_PROG_SRC := $(sort $(wildcard user/*.c user/demo/*.c user/tests/soak/*.c))
USER_PROGS := $(patsubst %.c,$(BUILD)/user/%,$(notdir $(USER_PROG_SRC)))
CHECKS_OBJ := $(patsubst %.c,$(BUILD)/%.uo,$(sort $(wildcard user/tests/c/*.c)))
PTEST_OBJ := $(patsubst %.c,$(BUILD)/%.uo,$(sort $(wildcard user/tests/perf/*.c)))
PBENCH_OBJ := $(patsubst %.c,$(BUILD)/%.uo,$(sort $(wildcard user/bench/*.c)))
vpath %.c user user/demo user/tests/soak

user: $(BUILD)/initramfs.cpio

$(USER_PROGS): $(BUILD)/user/%: %.c qemu.mk
	$(call say,USER,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(USER_CFLAGS) -MMD -MP -MF $@.d -o $@ $< -lm -lrt
$(BUILD)/%.uo: %.c qemu.mk
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(USER_CFLAGS) -MMD -MP -MF $@.d -c -o $@ $<
# What docs/USING.md shows, taken out of the page: programs and a shell script.
USING_PROGS := $(addprefix $(BUILD)/user/using_,count sample rdpmc)
$(USING_PROGS): $(BUILD)/user/using_%: docs/USING.md scripts/docs-code qemu.mk
	$(call say,USER,$@)
	@mkdir -p $(@D) $(BUILD)/docs
	$(Q)scripts/docs-code $< $* >$(BUILD)/docs/$*.c
	$(Q)$(CC) $(USER_CFLAGS) -o $@ $(BUILD)/docs/$*.c
$(BUILD)/user/using_perf: docs/USING.md scripts/docs-code
	@mkdir -p $(@D)
	$(Q)scripts/docs-code $< perf >$@ && chmod +x $@

$(BUILD)/user/checks: $(CHECKS_OBJ)
$(BUILD)/user/ptest: $(PTEST_OBJ)
$(BUILD)/user/pbench: $(PBENCH_OBJ)
$(BUILD)/user/checks $(BUILD)/user/ptest $(BUILD)/user/pbench:
	$(call say,USER,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(USER_CFLAGS) -o $@.debug $^ -lrt -lm
	$(Q)$(CROSS_COMPILE)strip -o $@ $@.debug

USER_FILES := $(shell find user -type f -not -name '*.[ch]' -not -path 'user/tests/expected/*')
$(BUILD)/initramfs.cpio: $(USER_PROGS) $(BUILD)/user/checks $(BUILD)/user/ptest $(BUILD)/user/pbench $(USING_PROGS) $(BUILD)/user/using_perf $(USER_FILES) scripts/mkinitramfs qemu.mk \
		$(wildcard $(PERCH_CACHE)/stamps/perf $(PERCH_CACHE)/stamps/sysroot)
	@test -e $(PERCH_CACHE)/guest/usr/bin/busybox || { echo "The guest's busybox is missing: run scripts/setup" >&2; exit 1; }
	$(call say,CPIO,$@)
	$(Q)scripts/mkinitramfs main $@ --cache $(PERCH_CACHE) --build $(BUILD)
$(BUILD)/objdump.cpio: scripts/mkinitramfs $(wildcard $(PERCH_CACHE)/stamps/objdump)
	$(call say,CPIO,$@)
	$(Q)scripts/mkinitramfs objdump $@ --cache $(PERCH_CACHE)
$(BUILD)/debian.cpio: scripts/mkinitramfs $(wildcard $(PERCH_CACHE)/stamps/sysroot)
	$(call say,CPIO,$@)
	$(Q)scripts/mkinitramfs debian $@ --cache $(PERCH_CACHE)
$(BUILD)/tools.cpio: scripts/mkinitramfs $(wildcard $(PERCH_CACHE)/stamps/perf $(PERCH_CACHE)/stamps/selftests)
	$(call say,CPIO,$@)
	$(Q)scripts/mkinitramfs tools $@ --cache $(PERCH_CACHE)
$(BUILD)/clients.cpio: scripts/mkinitramfs $(wildcard $(PERCH_CACHE)/stamps/clients)
	$(call say,CPIO,$@)
	$(Q)scripts/mkinitramfs clients $@ --cache $(PERCH_CACHE)

-include $(USER_PROGS:=.d) $(CHECKS_OBJ:=.d) $(PTEST_OBJ:=.d) $(PBENCH_OBJ:=.d)

help:
	@echo 'Perch: targets'
	@echo '  make             build/Image, build/perch (ELF with symbols), guest programs, build/initramfs.cpio; downloads nothing'
	@echo '  make kernel, make user   one half of it'
	@echo '  make demo        perf in the guest, in seconds (installs what is missing first: scripts/setup)'
	@echo '  make test        every lane; ends with "N passed, N failed"'
	@echo '  make test-host   the perf core and libraries on the build machine'
	@echo '  make mutants     break the perf core in a hundred named ways: the host lane must notice each (minutes)'
	@echo '  make test-guest  the suite of the perf system calls in the guest; T=ring/lost: one test; KERNEL=linux: the reference'
	@echo '  make test-checks shell and C checks in the guest, compared with what Linux answers'
	@echo '  make test-perf   the real perf in the guest, compared with what it prints on Linux'
	@echo '  make test-debug  the kernel with every detector on (make DEBUG=1 BUILD=build/debug): checks, ptest, faults on purpose'
	@echo '  make soak        long runs: random programs (SOAK_SECONDS=3600, SOAK_SEED), pipelines, forks, stress-ng (also: test-soak)'
	@echo '  make bench       operations of perf on Linux and on Perch: instructions, and wall time (RUNS=N)'
	@echo '  make bench-check Perch'"'"'s instructions against the recorded ones: no row more than 5 % worse'
	@echo '  make record-expected   record what Linux answers again (user/tests/expected)'
	@echo '  make test-clients  libpfm4'\''s and PAPI'\''s programs and stress-ng --perf, compared with Linux (builds them first)'
	@echo '  make run         a busybox shell; Ctrl-A X leaves'
	@echo '  make gdb         the same, stopped at the first instruction, with gdb attached'
	@echo '  make flamegraph  records a program in the guest and draws build/flame.svg'
	@echo '  make rpi4        build/rpi4: what to copy to an SD card for a Raspberry Pi 4 (README there)'
	@echo '  make check-simd  the kernel touches no SIMD register outside fpsimd_*'
	@echo '  make setup, clean, help'
	@echo
	@echo 'Knobs (make run SMP=8 GIC=2)'
	@sed -n 's/^\([A-Z]*\) ?=\([^#]*\)#[\t ]*\(.*\)/  \1\t\2\t\3/p' qemu.mk | expand -t 12,24
	@printf '  %-9s %-11s %s\n' INITRD '' 'initramfs (build/initramfs.cpio)' V '' '1: show the commands' DEBUG '' '1: every detector: locks, addresses, undefined behaviour (kernel/debug)' \
		PERCH_CACHE '' 'where scripts/setup keeps things (~/.cache/perch)' BUILD build 'where everything is built' \
		CROSS_COMPILE '' 'prefix of the arm64 tools (aarch64-linux-gnu-)'
