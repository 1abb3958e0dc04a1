import ArgumentParser
import Foundation
import LecternClient
import LecternDemo
import NATSClient
import NIOCore
import NIOPosix
import StrokeWire

/// `lectern-bench gateway`: what readers in browsers cost, and how late they are.
struct GatewayBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway",
        abstract: "Send a room's events to very many readers over HTTP.",
        discussion: """
            The benchmark starts a NATS server and the program 'lectern' that lies beside this one, with its gateway. One author \
            writes strokes of 30 points on average to a room without a gate; readers follow its events over HTTP, each on a \
            connection of its own. Latencies are from when a stroke was due to be published to when a reader has read \
            it: NATS, room and gateway together. CPU is that of the daemon with its gateway; NATS server and readers \
            share the machine's cores with it.

            steady: 500 readers, then 2,000, at 20 strokes a second. Goal: p99 below 10 ms with 500, 4 CPU seconds for a \
            million deliveries, 24 kB a reader, and none lost. The floor is a message that the NATS server alone \
            sends to a subscriber with a connection of its own.
            stalled: 100 readers at 200 strokes a second, alone and beside ten that do not read. Goal: no difference, \
            and bounded memory.
            joins: 1,000 readers join a board of 999 strokes within ten seconds, in gzip as browsers get it, then in \
            plain text, then in gzip as fast as they can be sent. They share one board. Ten more readers are each the \
            first of a room. Goal: 0.3 ms of CPU for each who shares a board.

            EXAMPLES
              lectern-bench gateway
              lectern-bench gateway --parts steady --readers 5000
            """)

    @Option(help: ArgumentHelp("Numbers of readers, with commas between them, each 1 or more.", valueName: "n,n"))
    var readers = "500,2000"

    @Option(help: "Strokes a second.")
    var rate = 20.0

    @Option(help: "Readers that join a large board.")
    var joiners = 1000

    @Option(help: "Seconds of each measurement, above 0.")
    var seconds = 10.0

    @Option(
        help: ArgumentHelp("Parts to measure, with commas between them.", valueName: "steady,stalled,joins"))
    var parts = "steady,stalled,joins"

    @OptionGroup var service: ServiceInput

    @OptionGroup var output: OutputForm

    private var chosenParts: Set<String> { Set(parts.split(separator: ",").map(String.init)) }
    /// 0 for what is no number.
    private var readerCounts: [Int] { readers.split(separator: ",").map { Int($0) ?? 0 } }

    func validate() throws {
        guard rate > 0, joiners > 0, seconds > 0, readerCounts.allSatisfy({ $0 > 0 }), !readerCounts.isEmpty else {
            throw ValidationError("all numbers are above 0")
        }
        guard !chosenParts.isEmpty, chosenParts.isSubset(of: ["steady", "stalled", "joins"]) else {
            throw ValidationError("--parts takes steady, stalled and joins")
        }
    }

    func run() async throws {
        EventLoad.raiseFileLimit()
        let strokes = try LoadStrokes(DemoLesson.make(), joining: 2)
        var report = BenchReport(json: output.json)
        let port = try await EventLoad.freePort()
        try await LocalSystem.with(service.program, journal: "none", isGated: false, http: "127.0.0.1:\(port)") {
            system in
            let connection = try await system.connect()
            let bench = EventLoad(system: system, port: port, strokes: strokes, connection: connection)
            if chosenParts.contains("steady") {
                for count in readerCounts {
                    report.add(try await bench.measureSteady(count, rate: rate, seconds: seconds))
                }
                let floor = try await FanOut(url: system.url, server: system.server).measure(
                    connections: FanOut.subscribers, seconds: min(seconds, 3))
                report.add("NATS alone: CPU s of a million deliveries", floor * 1e6)
            }
            if chosenParts.contains("stalled") { try await bench.measureStalled(seconds: seconds, into: &report) }
            if chosenParts.contains("joins") {
                for isCompressed in [true, false] {
                    let joins = try await bench.measureJoins(joiners, isCompressed: isCompressed)
                    report.add(joins, isCompressed ? "gzip" : "plain")
                }
                report.add(try await bench.measureJoins(joiners, isCompressed: true, within: 0), "gzip, all at once")
                let first = try await bench.measureFirstJoins()
                report.add("first joins of rooms with 999 strokes, gzip: CPU, ms each", first * 1000)
            }
            await connection.close()
        }
        report.print()
    }
}

/// One author and the readers of its room.
struct EventLoad {
    /// Rooms of ``measureFirstJoins()``.
    static let firstJoins = 10

    let system: LocalSystem
    let port: Int
    let strokes: LoadStrokes
    let connection: NATSConnection

    /// A socket each for thousands of readers; the daemon inherits the limit.
    static func raiseFileLimit() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// A port at which nothing listens.
    static func freePort() async throws -> Int {
        let socket = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        guard let port = socket.localAddress?.port else { throw ExitCode.failure }
        try await socket.close().get()
        return port
    }

    func measureSteady(_ count: Int, rate: Double, seconds: Double) async throws -> SteadyReading {
        let room = try newRoom()
        try await draw(1, in: room, rate: 100)
        let memory = system.daemon.residentBytes
        let readers = try await open(count, of: room)
        let perReader = Double(system.daemon.residentBytes - memory) / Double(count)
        Progress.say("\(count) readers, \(rate) strokes a second")
        readers.latencies.reset()
        let (before, received) = (system.daemon.processorTime, readers.received.count)
        try await draw(Int(rate * seconds), in: room, rate: rate)
        let isWhole = await receive(received + count * Int(rate * seconds), readers)
        let delivered = readers.received.count - received
        let reading = SteadyReading(
            readers: count, deliveries: Double(delivered) / seconds, latencies: readers.latencies,
            processor: (system.daemon.processorTime - before) / Double(delivered), memory: perReader,
            lost: readers.lost.count, missing: isWhole ? readers.gaps.count : -1)
        await readers.close()
        return reading
    }

    func measureStalled(seconds: Double, into report: inout BenchReport) async throws {
        let (count, stalled, rate) = (100, 10, 200.0)
        for isStalled in [false, true] {
            let room = try newRoom()
            try await draw(1, in: room, rate: 100)
            let readers = try await open(count, of: room)
            if isStalled {
                for _ in 0..<stalled { try await readers.openStalled() }
            }
            Progress.say("\(count) readers, \(rate) strokes a second, \(isStalled ? stalled : 0) stalled")
            readers.latencies.reset()
            let memory = system.daemon.residentBytes
            try await draw(Int(rate * seconds), in: room, rate: rate)
            _ = await receive(count * Int(rate * seconds), readers)
            let name = isStalled ? "beside \(stalled) stalled readers" : "no stalled readers"
            report.add("\(name): p50, ms", readers.latencies.percentile(50))
            report.add("\(name): p99, ms", readers.latencies.percentile(99))
            report.add("\(name): MB by which the daemon grew", Double(system.daemon.residentBytes - memory) / 1e6)
            report.add("\(name): other readers lost", Double(readers.lost.count), atMost: 0)
            await readers.close()
        }
    }

    /// Readers who share one board.
    /// - Parameter seconds: over which they are spread; 0 for as fast as they can be sent.
    func measureJoins(_ count: Int, isCompressed: Bool, within seconds: Double = 10) async throws -> JoinsReading {
        let room = try newRoom()
        try await draw(999, in: room, rate: 2000)
        let readers = EventReaders(of: room, port: port, isCompressed: isCompressed)
        let pace = seconds > 0 ? "within \(Int(seconds)) s" : "at once"
        Progress.say("\(count) readers join a board of 999 strokes \(pace), \(isCompressed ? "gzip" : "plain")")
        let (begin, before) = (LoadClock.now, system.daemon.processorTime)
        for number in 0..<count {
            let due = begin + Int64(Double(number) / Double(count) * seconds * 1e9)
            try await Task.sleep(for: .nanoseconds(due - LoadClock.now))
            try await readers.open()
        }
        _ = try? await waitUntil(within: 10, else: "not all have joined") { readers.joinedCount >= count }
        let reading = JoinsReading(
            answered: readers.joinedCount, latencies: readers.joins,
            processor: (system.daemon.processorTime - before) / Double(count))
        await readers.close()
        return reading
    }

    /// Readers of as many rooms, one after the other: the board of each is fetched and compressed for one reader.
    /// - Returns: seconds of the daemon and its gateway for a join.
    func measureFirstJoins() async throws -> Double {
        var first: [EventReaders] = []
        for _ in 0..<Self.firstJoins {
            let room = try newRoom()
            try await draw(999, in: room, rate: 2000)
            first.append(EventReaders(of: room, port: port, isCompressed: true))
        }
        Progress.say("the first readers of \(first.count) rooms join boards of 999 strokes")
        let before = system.daemon.processorTime
        for readers in first {
            try await readers.open()
            try await waitUntil(within: 10, every: .milliseconds(5), else: "a board has not come") {
                readers.joinedCount == 1
            }
        }
        let time = system.daemon.processorTime - before
        for readers in first { await readers.close() }
        return time / Double(first.count)
    }

    private func newRoom() throws -> LoadRoom {
        try LoadRoom(root: system.root, name: "class-\(LoadClock.now)", partitions: 1)
    }

    /// Publishes strokes, each at its time.
    private func draw(_ count: Int, in room: LoadRoom, rate: Double) async throws {
        let begin = LoadClock.now
        for number in 0..<count {
            let due = begin + Int64(Double(number) / rate * 1e9)
            try await Task.sleep(for: .nanoseconds(due - LoadClock.now))
            try room.publish(strokes.operation(after: room.count), due: max(due, LoadClock.now), connection)
        }
        try await connection.flush()
    }

    /// Waits until all readers together have received so many operations.
    /// - Returns: false if they have not within ten seconds.
    private func receive(_ count: Int, _ readers: EventReaders) async -> Bool {
        (try? await waitUntil(within: 10, else: "not all have come") { readers.received.count >= count }) != nil
    }

    /// Connects readers, and waits until each has its board.
    private func open(_ count: Int, of room: LoadRoom) async throws -> EventReaders {
        let readers = EventReaders(of: room, port: port)
        for number in 0..<count {
            try await readers.open()
            // No more joins under way than a gateway allows.
            while readers.joinedCount + readers.lost.count < number - 100 {
                try await Task.sleep(for: .milliseconds(1))
            }
        }
        try await waitUntil(
            within: 20, every: .milliseconds(5), else: "only \(readers.joinedCount) of \(count) readers have joined"
        ) {
            guard readers.lost.count == 0 else { throw ValidationError("\(readers.lost.count) readers were lost") }
            return readers.joinedCount >= count
        }
        return readers
    }
}

/// What readers at a steady rate came to.
struct SteadyReading {
    var readers: Int
    /// Events a second, of all readers together.
    var deliveries: Double
    var latencies: LatencyHistogram
    /// Seconds of the daemon and its gateway for an event to a reader.
    var processor: Double
    /// Bytes of the daemon a reader.
    var memory: Double
    /// Readers whose connection has ended.
    var lost: Int
    /// Operations that came out of order or not at all; -1 where some came too late.
    var missing: Int
}

/// What readers who join a large board came to.
struct JoinsReading {
    var answered: Int
    var latencies: LatencyHistogram
    /// Seconds of the daemon and its gateway for a join.
    var processor: Double
}

extension BenchReport {
    fileprivate mutating func add(_ reading: SteadyReading) {
        let name = "\(reading.readers) readers"
        add("\(name): deliveries a second", reading.deliveries)
        add("\(name): p50, ms", reading.latencies.percentile(50))
        add("\(name): p99, ms", reading.latencies.percentile(99), atMost: reading.readers <= 500 ? 10 : nil)
        add("\(name): max, ms", reading.latencies.maximum)
        add("\(name): CPU s of a million deliveries", reading.processor * 1e6, atMost: 4)
        add("\(name): kB of the daemon a reader", reading.memory / 1000, atMost: 24)
        add("\(name): readers lost", Double(reading.lost), atMost: 0)
        add("\(name): operations missing", Double(reading.missing), atMost: 0)
    }

    fileprivate mutating func add(_ reading: JoinsReading, _ form: String) {
        let name = "joins of 999 strokes, \(form)"
        add("\(name): answered", Double(reading.answered))
        add("\(name): p50, ms", reading.latencies.percentile(50))
        add("\(name): p99, ms", reading.latencies.percentile(99))
        add("\(name): CPU, ms each", reading.processor * 1000, atMost: 0.3)
    }
}

extension RelayProcess {
    /// Memory of the process, in bytes.
    var residentBytes: Int { ProcessMemory.resident(of: child.identifier) }
}
