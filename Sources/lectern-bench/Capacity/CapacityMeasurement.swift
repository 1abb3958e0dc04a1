import Foundation
import LecternClient
import LecternDemo
import NATSClient
import StrokeWire

/// Measures the costs of capacity, one after the other, each on a NATS server and a daemon of its own.
struct CapacityMeasurement {
    /// Of operations.
    static let rooms = 64
    /// Rooms with one operation a second each, so that each operation has its note: as many a second come alone.
    static let slowRooms = 2000
    static let rounds = 3
    /// Where costs of more cohorts are measured.
    static let cohorts = 5
    /// Rooms with a clock.
    static let clocks = 5000
    static let readers = 500
    /// Rooms whose memory is measured, and strokes of each.
    static let boards = 400
    static let strokes = 200
    /// Seconds after which rooms are at rest: they keep their operations for those who join again for a minute.
    static let resting = 75.0

    let lesson: Lesson
    let program: String?
    /// Of each measurement.
    let seconds: Double

    func run() async throws -> CapacityCosts {
        EventLoad.raiseFileLimit()
        var costs = CapacityCosts()
        Progress.say("memory of \(2 * Self.boards) rooms")
        try await LocalSystem.with(program, journal: "jetstream", isGated: false) { system in
            try await fill(system, &costs)
            let filled = ContinuousClock.now
            // The rooms come to rest while all else is measured.
            try await measureProcessors(&costs)
            try await Task.sleep(until: filled + .seconds(Self.resting), clock: .continuous)
            costs.roomAtRest = (Double(system.daemon.residentBytes) - costs.daemon) / Double(2 * Self.boards)
            try await measureDisk(system, &costs)
        }
        return costs
    }

    private func measureProcessors(_ costs: inout CapacityCosts) async throws {
        costs.journaled = try await measureOperations("jetstream")
        costs.unjournaled = try await measureOperations("none")
        try await measureNotes(&costs)
        try await measureClocks(&costs)
        try await measureReaders(&costs)
    }

    /// As many operations a second in many rooms and in few: all come alone, but a room has one note a second, however
    /// many they are. No room writes its whole state meanwhile, but at first.
    private func measureNotes(_ costs: inout CapacityCosts) async throws {
        func paced(_ rooms: Int) async throws -> (processor: Double, server: Double) {
            try await measureOperations(
                "jetstream", cohorts: 1, rooms: rooms, rate: Double(Self.slowRooms),
                settings: "checkpoint: {interval: 1h, operations: 1000000}")
        }
        let (many, few) = (try await paced(Self.slowRooms), try await paced(Self.rooms))
        // Of an operation in few rooms.
        let notes = Double(Self.rooms) / Double(Self.slowRooms)
        costs.note = (many.processor - few.processor) / (1 - notes) / 1e6
        costs.serverNote = (many.server - few.server) / (1 - notes) / 1e6
        costs.loneOperation = many.processor / 1e6 - costs.note
        costs.serverLoneOperation = many.server / 1e6 - costs.serverNote
    }

    private func measureOperations(_ journal: String) async throws -> CapacityCosts.OperationCosts {
        let one = try await measureOperations(journal, cohorts: 1)
        let many = try await measureOperations(journal, cohorts: Self.cohorts)
        return CapacityCosts.OperationCosts(
            operation: one.processor / 1e6, cohort: (many.processor - one.processor) / 1e6 / Double(Self.cohorts - 1),
            server: one.server / 1e6)
    }

    /// - Parameters:
    ///   - rate: operations a second; nil for as many as get through.
    ///   - settings: of the daemon, as lines of YAML.
    /// - Returns: medians of processor time, in microseconds.
    private func measureOperations(
        _ journal: String, cohorts: Int, rooms: Int = Self.rooms, rate: Double? = nil, settings: String = ""
    ) async throws -> (processor: Double, server: Double) {
        let pace = rate.map { ", \(Int($0)) a second" } ?? ""
        Progress.say("operations in \(rooms) rooms, journal \(journal), cohorts: \(cohorts)\(pace)")
        let more = (1..<cohorts).map { ", more\($0): {gate: none}" }.joined()
        var rounds: [RelayRound] = []
        try await LocalSystem.with(
            program, journal: journal, isGated: false, cohorts: more, settings: settings
        ) { system in
            let load = try await OperationLoad(
                lesson, url: system.url, root: system.root, rooms: rooms, stream: nil)
            try await load.warmUp(system.daemon)
            for round in 0...Self.rounds {
                let measured = try await load.measure(
                    system.daemon, server: system.server, seconds: seconds, rate: rate)
                if round > 0 { rounds.append(measured) }
            }
            await load.close()
        }
        return (median(rounds.map(\.processor)), median(rounds.map(\.server)))
    }

    private func measureClocks(_ costs: inout CapacityCosts) async throws {
        (costs.sample, costs.serverSample) = try await measureSamples(roomsPerMessage: 1)
        (costs.sharedSample, costs.serverSharedSample) = try await measureSamples(
            roomsPerMessage: ClockBatch.roomLimit)
    }

    /// - Returns: processor time of a sample, in seconds, of the daemon and of the NATS server.
    private func measureSamples(roomsPerMessage: Int) async throws -> (Double, Double) {
        Progress.say("clocks of \(Self.clocks) rooms, \(roomsPerMessage) a message")
        var rounds: [ClockRound] = []
        try await LocalSystem.with(program, journal: "none", isGated: true) { system in
            let load = try await ClockLoad(
                lesson, url: system.url, root: system.root, rooms: Self.clocks, roomsPerMessage: roomsPerMessage)
            rounds = try await load.measure(system.daemon, server: system.server, rounds: 2, seconds: seconds)
            await load.close()
        }
        return (median(rounds.map { $0.processor / $0.samples }), median(rounds.map { $0.server / $0.samples }))
    }

    private func measureReaders(_ costs: inout CapacityCosts) async throws {
        let port = try await EventLoad.freePort()
        let strokes = try LoadStrokes(lesson, joining: 2)
        try await LocalSystem.with(program, journal: "none", isGated: false, http: "127.0.0.1:\(port)") { system in
            let connection = try await system.connect()
            let load = EventLoad(system: system, port: port, strokes: strokes, connection: connection)
            let steady = try await load.measureSteady(Self.readers, rate: 20, seconds: seconds * 2)
            guard steady.lost == 0 else { throw BenchFailure("\(steady.lost) readers were lost") }
            (costs.event, costs.reader) = (steady.processor, steady.memory)
            costs.join = try await measureJoins(load, within: 10)
            costs.joinAtOnce = try await measureJoins(load, within: 0)
            costs.firstJoin = try await load.measureFirstJoins()
            let fanOut = FanOut(url: system.url, server: system.server)
            costs.delivery = try await fanOut.measure(connections: FanOut.subscribers, seconds: seconds)
            costs.sharedDelivery = try await fanOut.measure(connections: 1, seconds: seconds)
            await connection.close()
        }
    }

    private func measureJoins(_ load: EventLoad, within seconds: Double) async throws -> Double {
        let joins = try await load.measureJoins(Self.readers, isCompressed: true, within: seconds)
        guard joins.answered == Self.readers else {
            throw BenchFailure("only \(joins.answered) of \(Self.readers) readers have joined")
        }
        return joins.processor
    }

    /// Writes to rooms, as if all classes were held at once, and then to as many others: the daemon keeps memory of the
    /// first burst, however many rooms it has.
    private func fill(_ system: LocalSystem, _ costs: inout CapacityCosts) async throws {
        let connection = try await system.connect()
        costs.daemon = Double(system.daemon.residentBytes)
        let messages = try LessonStrokes(lesson).messages(strokes: Self.strokes, points: 14)
        let released = Counter()
        try connection.subscribe("\(system.root).*.*.out.main") { _ in released.add() }
        try await connection.flush()
        func growth(_ name: String) async throws -> Double {
            let before = system.daemon.residentBytes
            released.reset()
            try await messages.publish(
                to: try RoomAddress.rooms(Self.boards, named: name, root: system.root), over: connection)
            let all = Self.boards * Self.strokes
            try await waitUntil(within: 30, else: "only \(released.count) of \(all) strokes were released") {
                released.count >= all
            }
            return Double(system.daemon.residentBytes - before)
        }
        let (first, second) = (try await growth("first"), try await growth("second"))
        costs.roomInUse = second / Double(Self.boards)
        costs.burst = max(0, first - second)
        await connection.close()
    }

    private func measureDisk(_ system: LocalSystem, _ costs: inout CapacityCosts) async throws {
        let connection = try await NATSConnection.open(system.url)
        let root = system.root.uppercased()
        let log = try await JetStream(connection).streamInfo("\(root)_LOG_0")
        costs.logged = Double(log.bytes) / Double(log.messages)
        let checkpoints = try await JetStream(connection).streamInfo("\(root)_CHECKPOINT_0")
        costs.checkpoint = Double(checkpoints.bytes) / Double(2 * Self.boards)
        await connection.close()
    }
}
