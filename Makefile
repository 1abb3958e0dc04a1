# Everything a fresh Debian 12 with Swift 6.3 and git needs is installed by the first target that needs it.

SWIFT ?= swift
LESSON ?=
SPEED ?= 1
OUT ?= demo-out

.PHONY: demo test build lint tsan clean packages

## Plays a lesson through a NATS server, the daemon, a video clock 2 s behind and a student, and draws the board.
demo: build
	@"$$($(SWIFT) build -c release --show-bin-path)/lectern" demo --speed $(SPEED) --output $(OUT) $(if $(LESSON),--lesson "$(LESSON)")

## Runs all tests.
test: packages
	$(SWIFT) test

## Builds the release executable.
build: packages
	$(SWIFT) build -c release --product lectern

## Checks the format of all sources.
lint:
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests

## Runs the tests of the pure targets under the thread sanitizer.
tsan: packages
	LECTERN_PURE_ONLY=1 $(SWIFT) test --sanitize=thread --scratch-path .build/tsan

## Installs the Debian packages that are missing; says which.
packages:
	@.ci/packages

clean:
	rm -rf .build $(OUT)
