# Everything a fresh Debian 12 with Swift 6.3 and git needs is installed by the first target that needs it.

SWIFT ?= swift
# Prints progress instead of a line for each file.
BUILD = SWIFT=$(SWIFT) .ci/build
# A target may import what the manifest says it depends on, and nothing else.
STRICT = --explicit-target-dependency-import-check error
# What tests run instead of the debug build.
RELEASE = $(CURDIR)/.build/release
# With Swift's own libraries in the program. Foundation's does not name the library that it needs itself. Messages of C libraries
# name their files without the folder of this build.
STATIC = --static-swift-stdlib -Xlinker -lcurl -Xcc -ffile-prefix-map=$(CURDIR)/=
# One run of tests each, side by side: more runs than processors, because most of their time they wait for servers. The longest
# suites are in runs that are listed here; a new suite belongs to the others.
LONG_DAEMON_TESTS = (Owner|Soak|Kill|Trial|FullDisk|Start|TeacherFile|RoomCommand|Backup)Tests
LOG_DAEMON_TESTS = (DamagedLog|PowerCut)Tests
LONG_SERVER_TESTS = (Rewind|RevocationRegister)Tests
SERVICE_TESTS = 'DaemonTests\.RepartitionTests' \
	'DaemonTests\.$(LONG_DAEMON_TESTS)|AssetOpenerTests' \
	'DaemonTests\.$(LOG_DAEMON_TESTS)|ProbeTests' \
	'DaemonTests\.(?!$(LONG_DAEMON_TESTS)|$(LOG_DAEMON_TESTS)|RepartitionTests).*' \
	'LecternServerTests\.$(LONG_SERVER_TESTS)' 'LecternServerTests\.(?!$(LONG_SERVER_TESTS)).*' \
	'JournalTests|CryptographyTests' 'LecternGatewayTests' \
	'NATSClientTests|LecternClientTests|LecternConfigurationTests|InkMLTests'
# They compute, while the others wait for servers.
PURE_TESTS = '(StrokeWire|Ink|PathGeometry|Raster|Scene|VectorGraphics|VideoTiming|Whiteboard|Hosting|ClientCore)Tests'
# Where threads of our own meet.
TSAN = -c release -Xswiftc -enable-testing --sanitize=thread --scratch-path .build/tsan
THREAD_TESTS = 'JournalTests|NATSClientTests' 'LecternServerTests|LecternClientTests'
LESSON ?=
SPEED ?= 1
OUT ?= demo-out
# Of the demo: the port of its pages, 0 for any free one; whether it goes on after the lesson.
PORT ?= 0
KEEP ?=
# Of the program: nothing for a debug build, or `-c release`.
CONFIGURATION ?=
# Of the simulation: the seed of one schedule to be replayed with a trace, or how many random ones.
SEED ?=
SCHEDULES ?= 5000
# Of the soak and the cluster trial: how long they take; SEED replays one.
SECONDS ?=
# Of the soak: which attacks alone, by name with commas between them.
ATTACKS ?=
# Of the upgrade: the commit of the release that is upgraded from; by default the one before this, as CHANGELOG.md names it.
UPGRADE_FROM ?= $(shell sed -n 's/^Commit: //p' CHANGELOG.md | head -n 1)
# Of the cluster trial: rooms, event streams over HTTP, and operations a second of all teachers.
ROOMS ?= 1000
READERS ?= 300
RATE ?= 125
# The version of nats-server from PyPI for the cluster trial and nats-test; NATS=installed takes the machine's.
NATS ?= 2.12.8
NATS_SERVER = LECTERN_NATS_SERVER=$(if $(filter-out installed,$(NATS)),"$$(.ci/nats-server $(NATS))")

# The browser of tests with pages.
BROWSER_PACKAGES = chromium chromium-driver zbar-tools
# A media server of tests with WebRTC.
WEBRTC_PACKAGES = python3-aiohttp python3-aiortc
# FFmpeg's libraries, which lectern-probe alone needs, and its encoders for tests.
PROBE_PACKAGES = ffmpeg libavcodec-dev libavformat-dev libavutil-dev

# A server of RTMP and HLS.
PROOF_PACKAGES = nginx libnginx-mod-rtmp
# A proxy of tests with pages below a path.
PROXY_PACKAGES = nginx

.PHONY: help core libraries core-and-libraries program demo test browser openapi paths build probe proof lint format docs example tsan simulate soak bench browser-bench clean npm \
	cluster-trial nats-test upgrade-trial deb deb-test image-test alerts packages browser-packages probe-packages

## help: prints these targets
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## core: builds the core of the site as WebAssembly, where a source is newer; all that builds the program does it
core: packages
	SWIFT=$(SWIFT) .ci/core

## demo: plays a lesson through a NATS server, the daemon, a video clock 2 s behind and a student; draws the board; prints the
##       addresses of its pages; KEEP=1 goes on until Ctrl-C, for those who draw
demo: program
	@.build/debug/lectern demo --speed $(SPEED) --output $(OUT) --port $(PORT) \
		$(if $(LESSON),--lesson "$(LESSON)") $(if $(KEEP),--keep)

## test: runs all tests: those with servers of their own, one class in a browser among them, and the pure ones beside them
test: core-and-libraries browser-packages probe-packages
	$(BUILD) --build-tests $(STRICT)
	SWIFT=$(SWIFT) .ci/test -- $(SERVICE_TESTS) -- $(PURE_TESTS)
test: export LECTERN_TARGETS = pure,service,probe

## browser: runs lectern.js and the pages in Chromium: ink of every style, classes, failures, a clock over WebRTC, a path of nginx,
##          axe-core; pictures in .build/browser
browser: core browser-packages
	@.ci/packages $(WEBRTC_PACKAGES) $(PROXY_PACKAGES)
	LECTERN_TARGETS=service $(BUILD) --build-tests
	LECTERN_BROWSER=1 LECTERN_AXE="$$(.ci/axe)" LECTERN_TARGETS=service SWIFT=$(SWIFT) .ci/test -- 'DaemonTests\.Browser.*'

## openapi: sends requests that schemathesis makes of /api/openapi.json to the daemon, and checks every answer
openapi: core
	@.ci/packages python3-venv
	@[ -x .build/schemathesis/bin/schemathesis ] || \
		{ python3 -m venv .build/schemathesis && .build/schemathesis/bin/pip install --quiet schemathesis; }
	LECTERN_TARGETS=service $(BUILD) --build-tests
	LECTERN_SCHEMATHESIS=$(CURDIR)/.build/schemathesis/bin/schemathesis LECTERN_TARGETS=service SWIFT=$(SWIFT) \
		.ci/test -- 'DaemonTests\.OpenAPI.*'

## paths: compares areas of union, intersection and difference with those of Skia
paths: packages
	@.ci/packages python3-venv
	@[ -x .build/paths/bin/python ] && .build/paths/bin/python -c "import pathops" || \
		{ python3 -m venv .build/paths && .build/paths/bin/pip install --quiet skia-pathops; }
	LECTERN_TARGETS=pure $(BUILD) --build-tests
	LECTERN_TARGETS=pure SWIFT=$(SWIFT) .ci/test -- 'PathGeometryTests.SecondOpinionTests'

## build: builds the release executable
build:
	@$(MAKE) --no-print-directory program CONFIGURATION="-c release"

# What the demo and tests run is a debug build: a third of the time, and pure targets are optimized all the same.
program: core-and-libraries
	LECTERN_TARGETS=service $(BUILD) $(CONFIGURATION) --product lectern

# The modules of the core are compiled one after another, on one processor: beside them what does without it.
core-and-libraries: packages
	@[ -f Sources/C/CSite/core/lectern.wasm ] || $(MAKE) --no-print-directory -j 2 core libraries
	@$(MAKE) --no-print-directory core

libraries: packages
	LECTERN_TARGETS=service $(BUILD) $(CONFIGURATION) --product LecternParts

## probe: builds lectern-probe, which needs FFmpeg's libraries
probe: packages probe-packages
	LECTERN_TARGETS=probe $(BUILD) -c release --product lectern-probe

## proof: plays a video with bar codes beside a board, and measures by the pixels how ink and picture meet; a table a delivery
proof: build probe browser-packages
	@.ci/packages $(PROOF_PACKAGES)
	LECTERN_TARGETS=service $(BUILD) --build-tests
	LECTERN_PROOF=all LECTERN_PROGRAM="$(RELEASE)/lectern" LECTERN_PROBE="$(RELEASE)/lectern-probe" \
		LECTERN_TARGETS=service SWIFT=$(SWIFT) .ci/test -- 'DaemonTests\.ProofTests'

## deb: builds a Debian package of the program, with units, manual pages and completions, in .build/deb
deb: core
	@.ci/packages dpkg-dev libcurl4-openssl-dev
	LECTERN_TARGETS=service $(BUILD) -c release --product lectern $(STATIC)
	.ci/deb .build/release/lectern .build/deb

## deb-test: installs that package in a fresh Debian, holds a lesson there, runs its units under systemd, removes it; needs root
deb-test: deb
	@.ci/packages debootstrap lintian systemd systemd-container
	# A packager writes an address of their own. The YAML parser is Swift's package, with its C sources.
	lintian --fail-on error --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog,embedded-library \
		.build/deb/*.deb
	.ci/deb-test .build/deb/*.deb

## image-test: builds the images of docker/ and runs its compose.yaml: a lesson, a stop, a restart; needs root
image-test: packages
	@.ci/packages aardvark-dns buildah crun debootstrap iproute2 iptables netavark podman podman-compose
	SWIFT=$(SWIFT) .ci/image-test

## alerts: checks the rules for Prometheus, and fires them by a real Prometheus at a class in trouble
alerts: core
	@.ci/packages prometheus
	promtool check rules config/prometheus/lectern.rules.yml
	promtool check config --syntax-only config/prometheus/prometheus.yml
	cd config/prometheus && promtool test rules lectern.rules.test.yml
	LECTERN_TARGETS=service $(BUILD) --build-tests
	LECTERN_PROMETHEUS=1 LECTERN_TARGETS=service SWIFT=$(SWIFT) .ci/test -- 'DaemonTests\.AlertTests'

## lint: checks the format of all sources, and that an app for an iPad can compile what is a client's
lint:
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests
	SWIFT=$(SWIFT) .ci/portable

## format: formats all sources
format:
	$(SWIFT) format --in-place --recursive --parallel Package.swift Sources Tests

## docs: builds all guides and the documentation of the libraries, with a start page, in .build/docs; a link to nowhere is an error
docs: core
	LECTERN_TARGETS=service $(BUILD) --target lectern
	LECTERN_TARGETS=service $(BUILD) --target LecternHTTPClient
	SWIFT=$(SWIFT) .ci/docs .build/debug/Modules

## example: builds the clients of the documentation as the packages of their own that they are; the tests run them
example: packages
	$(BUILD) --package-path Tests/ClientExample --scratch-path .build/example
	$(BUILD) --package-path Tests/HTTPClientExample --scratch-path .build/http-example

## npm: packs lectern.js with its core and its types for npm, in .build/npm; installs, imports and checks that package
npm: core
	@.ci/packages node-typescript
	@command -v npm >/dev/null || .ci/packages npm
	.ci/npm

## tsan: runs the tests of what has threads of its own under the thread sanitizer
tsan: packages
	LECTERN_TARGETS=threads $(BUILD) --build-tests $(TSAN)
	LECTERN_TARGETS=threads TSAN_OPTIONS=suppressions=.ci/tsan-suppressions SWIFT=$(SWIFT) \
		.ci/test $(TSAN) -- $(THREAD_TESTS)

## simulate: plays SCHEDULES=5000 random schedules of failing daemons, streams and networks; SEED=… replays one
simulate: packages
	LECTERN_TARGETS=pure $(BUILD) --build-tests
	LECTERN_SEED=$(SEED) LECTERN_SCHEDULES=$(SCHEDULES) LECTERN_TARGETS=pure SWIFT=$(SWIFT) \
		.ci/test -- -- 'HostingTests.Simulation.*'

## soak: sends hostile messages to the release build for SECONDS=600, a good room beside them; prints what that cost
soak: build
	LECTERN_TARGETS=service $(BUILD) --build-tests
	LECTERN_PROGRAM="$(RELEASE)/lectern" LECTERN_SEED=$(SEED) \
		LECTERN_SOAK_SECONDS=$(or $(SECONDS),600) LECTERN_SOAK_ATTACKS=$(ATTACKS) SWIFT=$(SWIFT) \
		LECTERN_TARGETS=service .ci/test -- 'DaemonTests\.SoakTests'

## upgrade-trial: builds the program of the release before, from its commit, and replaces daemons by the built one and back, in
##                lessons; UPGRADE_FROM=COMMIT takes another release
upgrade-trial: build
	@.ci/packages curl
	@[ -d .build/releases/$(UPGRADE_FROM)/source ] || \
		git worktree add --detach .build/releases/$(UPGRADE_FROM)/source $(UPGRADE_FROM)
	nice -n 10 $(SWIFT) build -c release --product lectern --package-path .build/releases/$(UPGRADE_FROM)/source \
		--scratch-path .build/releases/$(UPGRADE_FROM)/build
	LECTERN_TARGETS=service $(BUILD) --build-tests
	LECTERN_UPGRADE_FROM="$(CURDIR)/.build/releases/$(UPGRADE_FROM)/build/release/lectern" \
		LECTERN_PROGRAM="$(RELEASE)/lectern" LECTERN_SEED=$(SEED) SWIFT=$(SWIFT) \
		LECTERN_TARGETS=service .ci/test -- 'DaemonTests\.UpgradeTests'

## cluster-trial: holds ROOMS=1000 classes with READERS=300 event streams on three NATS servers, three daemons and two gateways,
##                with delays, losses, partitions and kills for SECONDS=175; compares what everybody saw with a model; prints
##                figures; NATS=2.10.27 takes that version of nats-server, NATS=installed the machine's; needs root
cluster-trial: build
	@.ci/packages iproute2 iptables util-linux
	LECTERN_TARGETS=service $(BUILD) --build-tests
	LECTERN_PROGRAM="$(RELEASE)/lectern" LECTERN_SEED=$(SEED) $(NATS_SERVER) \
		LECTERN_TRIAL_SECONDS=$(or $(SECONDS),175) LECTERN_TRIAL_ROOMS=$(ROOMS) LECTERN_TRIAL_READERS=$(READERS) \
		LECTERN_TRIAL_RATE=$(RATE) SWIFT=$(SWIFT) LECTERN_TARGETS=service \
		.ci/in-namespace .ci/test -- 'DaemonTests\.(Trial|PowerCut)Tests'

## nats-test: runs the tests of what speaks to NATS with another nats-server than Debian's, NATS=2.12.8 from PyPI
nats-test: core
	LECTERN_TARGETS=service $(BUILD) --build-tests
	$(NATS_SERVER) LECTERN_TARGETS=service SWIFT=$(SWIFT) .ci/test -- \
		'JournalTests|NATSClientTests|LecternClientTests' 'DaemonTests\.(Owner|Kill|PowerCut|Trial|Backup|Storage|FullDisk)Tests'

## bench: measures drawing, cutting, decoding, rooms, the way from NATS to NATS beside a bare relay, a load, wet ink, readers over
##        HTTP, recovery
bench: core
	LECTERN_TARGETS=service $(BUILD) -c release --product lectern
	LECTERN_TARGETS=service $(BUILD) -c release --product lectern-bench
	@for part in raster cut encoding rooms relay "relay --journal jetstream" load wet gateway idle recovery; do \
		.build/release/lectern-bench $$part || exit; \
	done

## browser-bench: measures the site's core in Chromium, beside what it has to hold: a large board, one stroke more, undo, the pen
browser-bench: core browser-packages
	.ci/browser-bench

## packages: installs the Debian packages that are missing, and lists them
packages:
	@.ci/packages

browser-packages:
	@.ci/packages $(BROWSER_PACKAGES)

probe-packages:
	@.ci/packages $(PROBE_PACKAGES)

## clean: removes what was built
clean:
	rm -rf .build $(OUT)
