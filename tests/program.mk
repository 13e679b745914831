# SPDX-License-Identifier: MIT
# Included by tests/host-{mm,sched,pmu}/Makefile: a program of kernel sources and of the folder's own, with sanitizers.
# Set before: NAME, DIRS (where the kernel sources are), MODULES (all sources, by name), FLAGS, ARGS (of the test).
ROOT := ../..
HOSTCC ?= gcc
OUT ?= $(ROOT)/build/$(NAME)
CFLAGS := -std=gnu11 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-strict-aliasing \
	-Wall -Wextra -Wno-unused-parameter -Wno-sign-compare \
	-Iinclude -I$(ROOT) -I$(ROOT)/include -I$(ROOT)/include/uapi $(FLAGS)
OBJ := $(MODULES:%=$(OUT)/%.o)

check: $(OUT)/test
	$(OUT)/test $(ARGS)

$(OUT)/test: $(OBJ)
	$(HOSTCC) $(CFLAGS) -o $@ $(OBJ)

define compile
$(OUT)/%.o: $(1)/%.c Makefile ../program.mk
	@mkdir -p $(OUT)
	$(HOSTCC) $(CFLAGS) -MMD -c -o $$@ $$<
endef
$(foreach d,$(DIRS:%=$(ROOT)/%) .,$(eval $(call compile,$d)))

-include $(OBJ:.o=.d)
.PHONY: check
