# What can be done here. The work itself is in Package.swift, and in .ci for what a machine must have first.

COMMAND := .build/release/lockstep

# The command with what only tests and measurements of it need; never installed.
WORKBENCH := $(COMMAND)-workbench
ARGS    ?=

# How long each family of decoders is fuzzed, in seconds, and which.
FUZZ_TIME     ?= 600
FUZZ_CORPUS   := Tests/DecoderChecksTests/Corpus
FUZZ_DECODERS ?= $(notdir $(wildcard $(FUZZ_CORPUS)/*))

# Where the command is installed, and below which folder that is prepared for a package.
PREFIX  ?= /usr/local
DESTDIR ?=

# Which part of the torture belongs to the tests.
TORTURE ?= 1/10

.DEFAULT_GOAL := help
.PHONY: help build workbench size run test lint format bench fuzz-decoders clean dependencies
.PHONY: bench-air bench-lab canary kills nights simulated-nights torture test-lab test-kernel peers-full bench-peers
.PHONY: dependencies-peers test-products install uninstall deb image pictures floor-plan

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@printf '\n  ARGS="…" is handed on by run, test, bench and image: make run ARGS="--seed 42"\n'

# The commit and its day, with a plus sign where something was changed since, for `lockstep version`.
build workbench: export LOCKSTEP_BUILD = $(shell \
  git log -1 --abbrev=9 --format="%h$$(git diff --quiet HEAD 2>&1 || echo +) %cs" 2>/dev/null)

# The linker is that of Swift's toolchain. It leaves out each function that nothing calls, for which each is in a section of its own and
# none is offered to libraries that a program may load.
RELEASE := LOCKSTEP_RELEASE=1 swift build -c release --static-swift-stdlib -Xswiftc -use-ld=lld \
  -Xswiftc -Xfrontend -Xswiftc -function-sections -Xlinker --no-export-dynamic

build: dependencies ## Build the command, optimised, as .build/release/lockstep
	$(RELEASE) --product lockstep

workbench: build ## Build the command with what only tests of it need, as .build/release/lockstep-workbench
	$(RELEASE) --product lockstep-workbench

# As another user, such as root, nothing is built: there may be no compiler.
$(COMMAND):
	@$(MAKE) --no-print-directory build

install: $(COMMAND) ## Install the command, its manual and completions below PREFIX (/usr/local)
	.ci/install $(COMMAND) '$(DESTDIR)' '$(PREFIX)'

uninstall: ## Remove what install has put below PREFIX
	.ci/install --remove '$(DESTDIR)' '$(PREFIX)'

deb: build ## Build a package for this Debian, as .build/lockstep_VERSION_ARCHITECTURE.deb
	.ci/dependencies --package
	.ci/deb $(COMMAND) .build

image: ## Build a container image of the command, with podman or docker, as lockstep:latest
	.ci/image $(ARGS)

# Of the 25 million bytes that it may have: what is installed keeps the names of functions beside, for what is said of a crash.
size: build ## Build it and show how many bytes it has without symbols; it fails where they are too many
	@strip -o .build/stripped $(COMMAND)
	@stat --format '%s bytes without symbols' .build/stripped; [ "$$(stat --format %s .build/stripped)" -lt 25000000 ]

run: build ## Build it and run every scenario; leaves Reports/junit.xml
	$(COMMAND) run Scenarios/ $(ARGS)

# A test begins when there is a thread for it: its limit of time does not run while it waits for its turn.
test test-products test-lab: export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH := $(shell nproc)

test: dependencies ## Build everything with its checks and run the tests; ARGS="--filter Name" for some of them
ifeq ($(strip $(ARGS)),)
	LOCKSTEP_OPTIMIZED_TESTS=1 swift build --build-tests --scratch-path .build/tests
	.ci/tests $(TORTURE)
else
	SWIFT_DETERMINISTIC_HASHING=1 swift test $(ARGS)
endif

test-products: dependencies ## Build a package that depends on this one's libraries, and run its tests
	swift test --package-path Tests/Products --scratch-path .build/products

lint: dependencies ## Check the formatting, what .ci/tidy says of imports, dead files, doubles and words, the floor plan and embedded files
	swift format lint --strict --recursive --parallel Package.swift Sources Tests
	.ci/tidy --self-test
	.ci/tidy
	.ci/floor-plan --check
	.ci/files

format: dependencies ## Format the sources in place
	swift format --in-place --recursive --parallel Package.swift Sources Tests

floor-plan: ## Draw what the targets import, for the page on the architecture
	.ci/floor-plan

pictures: build ## Draw the pictures of README again, from a real run
	.ci/pictures $(COMMAND) Sources/lockstep/lockstep.docc/Pictures

bench: build ## Build it and print the figures of this machine, one JSON object a line
	$(COMMAND) bench $(ARGS)

bench-lab: workbench ## The same of labs and their nights, of leases, and of what searches over the radio find
	$(WORKBENCH) bench $(ARGS)

bench-air: workbench ## Search for every defect over a radio that loses packets: the whole table
	$(WORKBENCH) air-table $(ARGS)

canary: build ## Run it a thousand times with keys that are known, and search everything it leaves behind for them
	Tests/Canary/canary.py $(COMMAND) $(ARGS)

kills: build ## Kill a thousand runs at random moments: each is reported and taken up again, and no case is lost
	Tests/Robustness/kills.py $(COMMAND) $(ARGS)

nights: build ## Kill a thousand nights at random moments, and show one in which much goes wrong
	Tests/Robustness/nights.py $(COMMAND) --demo
	Tests/Robustness/nights.py $(COMMAND) $(ARGS)

simulated-nights: workbench ## Live through ten thousand nights in virtual time, in which everything goes wrong at once
	$(WORKBENCH) simulated-nights $(ARGS)

torture: workbench ## Make every call of a command fail in every way, on emulated and on real locks (under an hour)
	$(WORKBENCH) simulated-nights
	Tests/Robustness/torture.py $(COMMAND) --canaries
	Tests/Robustness/torture.py $(COMMAND) --draw "$$(git rev-parse HEAD)" $(ARGS)
	Tests/Robustness/torture_locks.py $(COMMAND) --only file --canaries
	Tests/Robustness/torture_locks.py $(COMMAND) --share 1/16 --rest 1/8

# The tests that start PostgreSQL, Slurm or labgrid, and stop them; and those of a bench and its nights.
LAB_ENGINES := LabgridTests|SlurmTests|ScheduleTests|HistoryTests|HistoryCommandTests|CorpusStoreTests|SharedCorpusTests|JobPartTests
LAB_BENCH   := LabTests|BenchTests|BenchHealthTests|LeaseTests|LeaseContestTests|InterlockTests|CycleCounterTests|CycleCounterKillTests|StateStoreTests|LimitTests|RecoveryTests|PowerTests|NightlyTests

test-lab: dependencies-peers ## Start PostgreSQL, Slurm and labgrid on this machine, and run the lab against them
	LOCKSTEP_REQUIRE_PEERS=1 SWIFT_DETERMINISTIC_HASHING=1 swift test --filter '$(LAB_ENGINES)|$(LAB_BENCH)' $(ARGS)

test-kernel: build ## Run it in a virtual machine: a kernel's Bluetooth sockets, its USB, libusb (downloads a kernel)
	.ci/dependencies --kernel
	Tests/Peers/qemu/test.sh $(COMMAND) .build/peers/kernel .build/peers/venv

peers-full: build dependencies-peers ## Run the scenarios over rootcanal, and judge a lock in Python by its faults and habits
	Tests/Peers/full.sh $(COMMAND) .build/peers/venv
	Tests/Peers/verdicts.py $(COMMAND) .build/peers/venv $(ARGS)

bench-peers: build dependencies-peers ## Compare it with Bumble over the radio, and with Hypothesis, PropEr and AALpy at fuzzing
	Tests/Peers/bench/compare_round_trips.sh $(COMMAND) .build/peers/venv
	Tests/Peers/bench/fuzz/compare.sh $(COMMAND) .build/peers/venv

dependencies-peers: ## Install what the tests with other people's Bluetooth stacks need
	.ci/dependencies --peers

fuzz-decoders: dependencies ## Fuzz each family of decoders for FUZZ_TIME seconds (600); findings go to Reports/crashes/
	swift build -c release --product FuzzDecoders --sanitize fuzzer -Xswiftc -DFUZZING --scratch-path .build/fuzz
	@mkdir -p Reports/crashes
	@for decoder in $(FUZZ_DECODERS); do \
	  echo "== $$decoder"; mkdir -p .build/fuzz/corpus/$$decoder; \
	  DECODER=$$decoder SWIFT_BACKTRACE=enable=no .build/fuzz/release/FuzzDecoders \
	    -max_total_time=$(FUZZ_TIME) -max_len=4096 -timeout=10 -rss_limit_mb=1024 -verbosity=0 -print_final_stats=1 \
	    -artifact_prefix=Reports/crashes/$$decoder- .build/fuzz/corpus/$$decoder $(FUZZ_CORPUS)/$$decoder || exit 1; \
	done

clean: ## Remove what was built; reports stay
	rm -rf .build

dependencies:
	@.ci/dependencies
