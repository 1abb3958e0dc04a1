# Everything a fresh Debian 12 with Swift 6.3 and git needs is installed by the first target that needs it.

SWIFT ?= swift
PURE_TESTS = StrokeWireTests|InkTests|RasterTests|WhiteboardTests|HostingTests|VectorGraphicsTests|LecternConfigurationTests
# A target may import what the manifest says it depends on, and nothing else.
STRICT = --explicit-target-dependency-import-check error
LESSON ?=
SPEED ?= 1
OUT ?= demo-out
# Of the simulation: the seed of one schedule to be replayed with a trace, or how many random ones.
SEED ?=
SCHEDULES ?= 5000

.PHONY: demo test build lint tsan simulate clean packages

## Plays a lesson through a NATS server, the daemon, a video clock 2 s behind and a student, and draws the board.
demo: build
	@"$$($(SWIFT) build -c release --show-bin-path)/lectern" demo --speed $(SPEED) --output $(OUT) $(if $(LESSON),--lesson "$(LESSON)")

## Runs all tests: the pure ones side by side, then those with servers of their own one after the other.
test: packages
	$(SWIFT) build --build-tests $(STRICT)
	SWIFT=$(SWIFT) .ci/test --skip-build --filter '^($(PURE_TESTS))\.'
	SWIFT=$(SWIFT) .ci/test --skip-build --no-parallel --skip '^($(PURE_TESTS))\.'

## Builds the release executable.
build: packages
	$(SWIFT) build -c release --product lectern $(STRICT)

## Checks the format of all sources.
lint:
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests

## Runs the tests of the pure targets under the thread sanitizer.
tsan: packages
	LECTERN_PURE_ONLY=1 SWIFT=$(SWIFT) .ci/test -c release -Xswiftc -enable-testing --sanitize=thread \
		--scratch-path .build/tsan

## Plays random schedules of failing daemons, streams and networks in virtual time; SEED=… replays one of them.
simulate: packages
	LECTERN_PURE_ONLY=1 LECTERN_SEED=$(SEED) LECTERN_SCHEDULES=$(SCHEDULES) SWIFT=$(SWIFT) .ci/test -c release \
		-Xswiftc -enable-testing --scratch-path .build/pure --filter Simulation

## Installs the Debian packages that are missing; says which.
packages:
	@.ci/packages

clean:
	rm -rf .build $(OUT)
