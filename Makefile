# Flyball's one Makefile (GNU make, non-recursive). SPDX-License-Identifier: BSD-2-Clause
#
#   make              all programs              make test        every test, some minutes
#   make check-long   the slow ones as well     make lint        compilers, tidy, format, docs
#   make demo         a cluster of three agents that builds zstd; KEEP=1 leaves it up
#   make demo-kernel  the same with two Linux kernels
#   make install      PREFIX=/usr/local DESTDIR=
#
#   V=1 shows whole commands. CC=clang, SAN=address,undefined, DEBUG=1: each combination has a build folder of its own.

CC = gcc
PREFIX = /usr/local
SYSCONFDIR = /etc
SAN =
VERSION := $(shell sed -n 's/^## \([0-9][0-9.]*\).*/\1/p' CHANGELOG.md 2>/dev/null | head -n 1)

Q := $(if $(V),,@)
say = @printf '  %-4s %s\n' $(1) $(2)

comma := ,
B := build/$(notdir $(firstword $(CC)))$(if $(SAN),-$(subst $(comma),-,$(SAN)))$(if $(DEBUG),-debug)

.DEFAULT_GOAL := build
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: build test check-long lint demo demo-kernel install clean deps deps-test deps-long deps-lint check-update format bench-agent bench-governor bench-giantlock

WARN = -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror
OPT = $(if $(DEBUG),-O0 -g3,-O2 -g)
SANFLAGS = $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
CPPFLAGS_ALL = -I. -I$(B)/gen -D_GNU_SOURCE -DFLYBALL_VERSION='"$(or $(VERSION),0)"' \
	-DFLYBALL_SYSCONFDIR='"$(SYSCONFDIR)/flyball"' -DFLYBALL_LIBEXECDIR='"$(PREFIX)/libexec/flyball"' \
	$(CPPFLAGS)
CFLAGS_ALL = -std=gnu11 $(OPT) $(WARN) $(SANFLAGS) $(CFLAGS)
LDFLAGS_ALL = $(SANFLAGS) $(LDFLAGS)

# ---- what there is -------------------------------------------------------------------------
objects = $(patsubst %.c,$(B)/%.o,$(1))

BASE_PURE := proto/base/err.c proto/base/mem.c
BASE_SRC := $(wildcard proto/base/*.c)
PROTO_SRC := $(wildcard proto/*.c) $(BASE_SRC)
CORE_SRC := $(wildcard coordinator/core/*.c)
IO_SRC := $(wildcard coordinator/io/*.c)
CTL_SRC := $(filter-out coordinator/ctl/main.c,$(wildcard coordinator/ctl/*.c))
# Model hosts have the agent's own guard, and files as all programs have them.
SIM_SRC := $(filter-out coordinator/sim/main.c,$(wildcard coordinator/sim/*.c)) agent/guard.c \
	$(wildcard proto/base/conf*.c) proto/base/near.c
KEEPER_SRC := agent/keeper.c $(filter-out agent/keeper_main.c agent/keeper_client.c,$(wildcard agent/keeper_*.c)) \
	agent/tokens.c agent/scan.c agent/order.c agent/order_usage.c agent/os_linux.c agent/os_linux_usage.c
LOCK_LINUX_SRC := $(addprefix agent/sense/,bpf_map_linux.c kallsyms_linux.c lock_bpf_linux.c lock_bpf_load_linux.c \
	lock_place_linux.c lock_profile_linux.c perf_ring_linux.c symbol_linux.c)
AGENT_SRC := $(filter-out agent/main.c agent/keeper_main.c agent/os_bsd.c agent/sense/load_bsd.c \
	agent/sense/lock.bpf.c agent/sense/lock_bpf_main.c,\
	$(wildcard agent/*.c agent/sense/*.c))

GEN_O := $(B)/gen/proto/flyball.pb-c.o
PROTO_O = $(call objects,$(PROTO_SRC)) $(GEN_O)
CORE_O = $(call objects,$(CORE_SRC) $(BASE_PURE))

PROTO_LIBS := -lzmq -lprotobuf-c -lsodium -lev -lconfuse
LIBS_coordinator := $(PROTO_LIBS) -lsqlite3 -ljansson -lm
LIBS_agent := $(PROTO_LIBS) -lm
LIBS_keeper :=
LIBS_ctl := $(PROTO_LIBS) -ljansson -lm
LIBS_sim := -lconfuse -lm

BIN := $(addprefix $(B)/bin/,flyball-coordinator flyball-agent flyball-keeper flyball-lock-bpf flyball flyball-sim)

# ---- build ---------------------------------------------------------------------------------
build: $(BIN)

$(B)/bin/flyball-coordinator: $(call objects,coordinator/main.c $(IO_SRC)) \
		$(call objects,$(CORE_SRC)) $(PROTO_O)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS_coordinator)

$(B)/bin/flyball-agent: $(call objects,agent/main.c $(AGENT_SRC)) $(PROTO_O)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS_agent)

$(B)/bin/flyball-keeper: $(call objects,agent/keeper_main.c $(KEEPER_SRC) $(BASE_PURE))
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS_keeper)

# The lock source "bpf": with what it takes, otherwise a program that says so.
BPF_CLANG := $(shell command -v clang)
BPF_TOOL := $(shell command -v bpftool || ls /usr/sbin/bpftool 2>/dev/null)
BPF_HEADER := $(wildcard /usr/include/bpf/libbpf.h)
BPF_ON := $(if $(BPF_CLANG),$(if $(BPF_TOOL),$(if $(BPF_HEADER),yes)))
$(B)/bin/flyball-lock-bpf: $(call objects,agent/sense/lock_bpf_main.c agent/sense/kallsyms_linux.c \
		agent/sense/lock_place_linux.c $(BASE_PURE))
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(if $(BPF_ON),-lbpf)
$(B)/agent/sense/lock_bpf_main.o: $(B)/bpf-on
$(B)/bpf-on: always
	@mkdir -p $(@D)
	@echo '$(BPF_ON)' | cmp -s - $@ || echo '$(BPF_ON)' > $@
ifeq ($(BPF_ON),yes)
$(B)/agent/sense/lock_bpf_main.o: CPPFLAGS += -DFLYBALL_LOCK_BPF
$(B)/agent/sense/lock_bpf_main.o: $(B)/gen/agent/sense/lock.skel.h
endif

$(B)/gen/agent/sense/lock.bpf.o: agent/sense/lock.bpf.c agent/sense/lock_bpf.h
	@mkdir -p $(@D)
	$(call say,BPF,$<)
	$(Q)$(BPF_CLANG) -target bpf -O2 -g -Wall -Wextra -Werror -I. -I/usr/include/$(shell $(CC) -print-multiarch) \
		-c -o $@.debug $< && $(BPF_TOOL) gen object $@ $@.debug

$(B)/gen/agent/sense/lock.skel.h: $(B)/gen/agent/sense/lock.bpf.o
	$(call say,GEN,$@)
	$(Q)$(BPF_TOOL) gen skeleton $< name lock_bpf > $@

$(B)/bin/flyball: $(call objects,coordinator/ctl/main.c $(CTL_SRC)) $(PROTO_O)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS_ctl)

$(B)/bin/flyball-sim: $(call objects,coordinator/sim/main.c $(SIM_SRC)) $(CORE_O)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS_sim)

# The core's arithmetic must be the same everywhere, or a recording would not replay.
$(B)/coordinator/core/%.o: CFLAGS += -ffp-contract=off

# The schema as a C string, line by line; its comments stay behind.
$(B)/gen/coordinator/io/schema.sql.h: coordinator/io/schema.sql
	@mkdir -p $(@D)
	sed -e 's/--.*//' -e '/^ *$$/d' -e 's/["\\]/\\&/g' -e 's/.*/"&\\n"/' $< > $@
$(B)/coordinator/io/store_schema.o: $(B)/gen/coordinator/io/schema.sql.h

# The wire's parts need the generated header before the compiler has told us so.
$(call objects,$(wildcard proto/wire*.c)): $(B)/gen/proto/flyball.pb-c.h

# Paths and version are compiled in: with others, all is compiled again.
PATHS = $(PREFIX) $(SYSCONFDIR) $(VERSION)
.PHONY: always
$(B)/paths: always
	@mkdir -p $(@D)
	@echo '$(PATHS)' | cmp -s - $@ || echo '$(PATHS)' > $@

$(B)/%.o: %.c $(B)/paths
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(B)/gen/proto/flyball.pb-c.c $(B)/gen/proto/flyball.pb-c.h &: proto/flyball.proto
	@mkdir -p $(B)/gen
	$(call say,GEN,$<)
	$(Q)protoc-c --c_out=$(B)/gen $<

$(GEN_O): $(B)/gen/proto/flyball.pb-c.c
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

-include $(shell [ -d $(B) ] && find $(B) -name '*.d')

# ---- tests ---------------------------------------------------------------------------------
# A unit test's first word says what it is linked with. core_ gets libc and libm alone.
unit = $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/$(1)_*.c))
UNIT := $(foreach k,core proto io agent ctl sim,$(call unit,$(k)))
WORKLOADS := $(patsubst %.c,$(B)/%,$(wildcard tests/workloads/*.c))
link_test = $(Q)mkdir -p $(@D) && $(CC) $(LDFLAGS_ALL) -o $@ $^

$(call unit,core): $(B)/tests/unit/%: $(B)/tests/unit/%.o $(CORE_O)
	$(link_test) -lm
$(call unit,proto): $(B)/tests/unit/%: $(B)/tests/unit/%.o $(PROTO_O)
	$(link_test) $(PROTO_LIBS) -lcmocka
$(call unit,io): $(B)/tests/unit/%: $(B)/tests/unit/%.o $(call objects,$(IO_SRC) $(CORE_SRC)) $(PROTO_O)
	$(link_test) $(LIBS_coordinator) -lcmocka
# The BSDs' readings have names that Linux' have: they are linked alone, with a stand-in for those kernels.
LOAD_BSD_TEST := $(B)/tests/unit/agent_load_bsd
$(LOAD_BSD_TEST): %: %.o $(call objects,$(addprefix agent/sense/load_,bsd.c disk.c text.c detail.c) $(BASE_PURE))
	$(link_test) -lm -lcmocka
$(filter-out $(LOAD_BSD_TEST),$(call unit,agent)): $(B)/tests/unit/%: $(B)/tests/unit/%.o $(call objects,$(AGENT_SRC)) $(PROTO_O)
	$(link_test) $(LIBS_agent) -lcmocka
$(call unit,ctl): $(B)/tests/unit/%: $(B)/tests/unit/%.o $(call objects,$(CTL_SRC)) $(PROTO_O)
	$(link_test) $(LIBS_ctl) -lcmocka
$(call unit,sim): $(B)/tests/unit/%: $(B)/tests/unit/%.o $(call objects,$(SIM_SRC)) $(CORE_O)
	$(link_test) $(LIBS_sim) -lcmocka
$(B)/tests/workloads/keeper_drive: $(call objects,agent/order.c agent/order_usage.c agent/keeper_client.c agent/spawn.c $(BASE_PURE))
$(B)/tests/workloads/lock_show: $(call objects,$(LOCK_LINUX_SRC) agent/sense/lock_table.c agent/sense/lock_rest.c $(BASE_SRC))
LIBS_lock_show := $(LIBS_agent)
$(B)/tests/workloads/%: $(B)/tests/workloads/%.o
	$(link_test) $(LIBS_$(*F))

test: deps-test
	@$(MAKE) --no-print-directory run-tests

# What the compiler makes, then all tests through prove. TESTS= chooses some.
.PHONY: run-tests test-programs
test-programs: build $(UNIT) $(WORKLOADS)
run-tests: test-programs
	@FLYBALL_BUILD=$(CURDIR)/$(B) tests/run $(or $(TESTS),tests/layers.sh $(UNIT) $(wildcard tests/system/*.t))

check-long: deps-long
	@$(MAKE) --no-print-directory test-programs
	@FLYBALL_BUILD=$(CURDIR)/$(B) FLYBALL_LONG=1 tests/run $(UNIT) $(wildcard tests/system/*.t) \
		$(wildcard tests/long/*.t)

check-update: test-programs
	@FLYBALL_BUILD=$(CURDIR)/$(B) FLYBALL_UPDATE=1 tests/run $(B)/tests/unit/io_policy $(wildcard tests/system/05*.t)
	@git diff --stat -- tests

# Benchmarks print figures and assert none.
bench-agent: build
	@FLYBALL_BUILD=$(CURDIR)/$(B) tests/bench/agent
bench-governor: $(B)/bin/flyball-sim
	@FLYBALL_BUILD=$(CURDIR)/$(B) tests/bench/governor
bench-giantlock: build $(B)/tests/workloads/giantlock_step $(B)/tests/workloads/giantlock_stat
	@FLYBALL_BUILD=$(CURDIR)/$(B) tests/bench/giantlock

lint: deps-lint
	@tests/lint

format:
	@git ls-files '*.c' '*.h' | grep -v vendor/ | xargs clang-format -i

# ---- demos, installing ---------------------------------------------------------------------
demo demo-kernel:
	@deploy/demo/$@

deps:
	@deploy/deps.sh build bpf
deps-test deps-long deps-lint:
	@deploy/deps.sh $(@:deps-%=%)

BINDIR = $(DESTDIR)$(PREFIX)/bin
SBINDIR = $(DESTDIR)$(PREFIX)/sbin
LIBEXEC = $(DESTDIR)$(PREFIX)/libexec/flyball
install: build
	install -d $(BINDIR) $(SBINDIR) $(LIBEXEC)/recipes $(DESTDIR)$(PREFIX)/share/doc/flyball/examples
	install -m 755 $(B)/bin/flyball $(B)/bin/flyball-sim $(BINDIR)
	install -m 755 $(B)/bin/flyball-coordinator $(B)/bin/flyball-agent $(SBINDIR)
	install -m 755 $(B)/bin/flyball-keeper $(B)/bin/flyball-lock-bpf $(LIBEXEC)
	install -m 644 $(wildcard deploy/recipes/*.progress) $(LIBEXEC)/recipes
	install -m 755 $(filter-out %.progress,$(wildcard deploy/recipes/*)) $(LIBEXEC)/recipes
	install -m 644 $(wildcard deploy/examples/*) $(DESTDIR)$(PREFIX)/share/doc/flyball/examples
	install -d $(DESTDIR)$(PREFIX)/lib/systemd/system
	for u in deploy/systemd/*.service; do \
		sed 's,/usr/local/,$(PREFIX)/,' "$$u" > $(DESTDIR)$(PREFIX)/lib/systemd/system/$${u##*/} || exit; done
	for m in docs/man/*.[1-9]; do \
		install -D -m 644 "$$m" $(DESTDIR)$(PREFIX)/share/man/man$${m##*.}/$${m##*/} || exit; done

clean:
	rm -rf build demo.work
