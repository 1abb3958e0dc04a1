import Foundation
import Locking
import NATSClient
import NATSTestServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(600)), .endsProcesses) struct SoakTests {
    @Test func `hostile clients neither stop nor slow the daemon, nor corrupt rooms, nor exceed its memory`()
        async throws
    {
        let plan = try SoakPlan(seed: TestSeed.choose())
        try await NATSTestServer.with(jetStream: true, configuration: "max_payload: 8MB") { nats in
            let soak = try await Soak(plan, on: nats)
            try await soak.warmUp()
            try await soak.attack()
            try await soak.restart()
            await soak.end()
        }
    }
}

/// A daemon under attack, with an undisturbed room beside.
private final class Soak: Sendable {
    /// State of a room, which a restart must not change.
    struct RoomState: Sendable, Equatable, Decodable {
        let incarnation: String
        let index: UInt64
        let digest: String?

        /// Of a room without messages, or a closed one.
        static let blank = RoomState(incarnation: "", index: 0, digest: nil)
    }

    private let plan: SoakPlan
    private let nats: NATSTestServer
    private let daemon: DaemonProcess
    private let connections: [NATSConnection]
    private let good: GoodRoom
    private let memory: ProcessMemory
    /// Whether the good room alone has the latency of a quiet machine.
    private let isQuiet = Locked(false)

    private var client: NATSConnection { connections[0] }
    private var attacker: NATSConnection { connections[1] }

    init(_ plan: SoakPlan, on nats: NATSTestServer) async throws {
        self.plan = plan
        self.nats = nats
        daemon = try Self.start("first", on: nats)
        try await daemon.waitUntilServing()
        memory = ProcessMemory(of: daemon.identifier)
        var connections: [NATSConnection] = []
        for _ in 0..<4 {
            let connection = NATSConnection(NATSSettings(nats), logger: .silent)
            try await connection.connect(within: .seconds(30))
            connections.append(connection)
        }
        self.connections = connections
        good = try await GoodRoom(teacher: connections[2], student: connections[3])
        say("settings add up to \(megabytes(SoakPlan.memoryBound)); \(megabytes(memory.takeMost())) at the start")
    }

    private static func start(_ name: String, on nats: NATSTestServer) throws -> DaemonProcess {
        // Without a backtrace, which would take longer than the test, a crash ends the program at once.
        try DaemonProcess(
            name, nats: nats.url, SoakPlan.settings + ["logging.level=info"],
            environment: ["SWIFT_BACKTRACE": "enable=no"])
    }

    func end() async {
        for connection in connections { await connection.close() }
        _ = await daemon.terminate()
    }

    /// Measures the good room alone.
    func warmUp() async throws {
        try await whileDrawing { try await Task.sleep(for: .seconds(plan.isThorough ? 3 : 1)) }
        try await good.settle(within: .seconds(20))
        let alone = good.latencies(from: 1)
        isQuiet.withLock { $0 = alone.quantile(0.99) < .milliseconds(8) }
        say("the good room alone: \(alone)")
    }

    /// Runs all attacks, one after the other, until the time is over.
    func attack() async throws {
        var random = SeededGenerator(seed: plan.seed)
        var generator = HostileGenerator(seed: plan.seed)
        let first = good.published + 1
        let end = ContinuousClock.now + plan.duration
        let share = max(.milliseconds(300), min(.seconds(5), plan.duration / plan.attacks.count))
        let watch = Task { [memory] in await memory.watch() }
        defer { watch.cancel() }
        var worst = 0
        while ContinuousClock.now < end {
            for attack in plan.attacks.shuffled(using: &random) {
                let begin = good.published + 1
                let load = ProcessorLoad(of: daemon.identifier)
                let sent = try await whileDrawing { [generator] in
                    var generator = generator
                    let sent = try await self.send(attack, &generator, for: share)
                    return (generator, sent)
                }
                generator = sent.0
                // Operations held up by an attack count as that attack's.
                do {
                    try await good.settle(within: .seconds(60), while: { !daemon.hasExited })
                } catch {
                    throw Unexpected("\(attack.rawValue), \(sent.1): \(error); \(good.latencies(from: begin))")
                }
                guard !daemon.hasExited else {
                    let why = daemon.lines(with: "atal error").joined(separator: "\n")
                    throw Unexpected("the daemon has ended in \(attack.rawValue): \(why)\n\(daemon.log.suffix(2000))")
                }
                let most = memory.takeMost()
                worst = max(worst, most)
                let stages = GoodRoom.Stage.allCases.map { "\($0) \(good.latencies(from: begin, $0).text(0.99))" }
                say(
                    """
                    \(attack.rawValue): \(sent.1); \(megabytes(most)); \(load.description); \
                    \(good.latencies(from: begin)); p99 \(stages.joined(separator: ", "))
                    """)
            }
        }
        worst = max(worst, memory.takeMost())
        let latencies = good.latencies(from: first)
        for stage in GoodRoom.Stage.allCases { say("under attack, \(stage): \(good.latencies(from: first, stage))") }
        say("at most \(megabytes(worst))")
        #expect(good.problems.isEmpty)
        #expect(
            worst <= SoakPlan.memoryBound * 6 / 5,
            "\(megabytes(worst)) resident, more than \(megabytes(SoakPlan.memoryBound)) + 20 %")
        let isStrict = plan.isThorough && isQuiet.withLock { $0 }
        #expect(latencies.quantile(0.99) <= (isStrict ? .milliseconds(20) : .seconds(20)))
    }

    /// Kills the daemon and compares the rooms after the restart.
    func restart() async throws {
        let rooms = [GoodRoom.name] + HostileGenerator.rooms
        let before = try await settled(rooms)
        #expect(before[GoodRoom.name]?.index == UInt64(good.published))
        await daemon.kill()
        let begin = ContinuousClock.now
        let second = try Self.start("second", on: nats)
        _ = try await eventually("the good room is answered again", within: .seconds(60), every: .milliseconds(5)) {
            try await state(of: GoodRoom.name)
        }
        let took = begin.duration(to: .now)
        say("restart: \((took / .milliseconds(1)).rounded()) ms")
        #expect(took <= (plan.isThorough ? .seconds(5) : .seconds(30)))
        for room in rooms {
            let after = try await eventually("\(room) is answered again", within: .seconds(30)) {
                try await state(of: room)
            }
            // What was pending in a room without operations may have been given up meanwhile: then nothing is left.
            if before[room]?.index == 0, after == .blank { continue }
            #expect(after == before[room], "\(room)")
        }
        for line in second.lines(with: "partition open") { say("restart: \(line)") }
        #expect(await second.terminate() == 0)
    }

    /// The rooms' states once they no longer change: gaps are given up after 10 s at most.
    private func settled(_ rooms: [String]) async throws -> [String: RoomState] {
        var last: [String: RoomState] = [:]
        var since = ContinuousClock.now
        return try await eventually("the rooms come to rest", within: .seconds(60), every: .milliseconds(500)) {
            var now: [String: RoomState] = [:]
            for room in rooms { now[room] = try await state(of: room) }
            if now != last { (last, since) = (now, .now) }
            return since.duration(to: .now) > .seconds(3) ? now : nil
        }
    }

    /// - Throws: if there is no reply.
    private func state(of room: String) async throws -> RoomState {
        let reply = try await client.request(to: "ink.0.\(room).info", timeout: .milliseconds(500))
        if let state = try? JSONDecoder().decode(RoomState.self, from: Data(reply.payload)) {
            return state.incarnation.isEmpty ? .blank : state
        }
        let answer = String(decoding: reply.payload, as: UTF8.self)
        guard answer.contains("unknown-room") else { throw Unexpected(answer) }
        return .blank
    }

    private func whileDrawing<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        let drawing = Task { [good] in try await good.draw() }
        do {
            let result = try await body()
            drawing.cancel()
            try await drawing.value
            return result
        } catch {
            drawing.cancel()
            throw error
        }
    }

    /// Sends an attack for some time at the plan's rate.
    private func send(
        _ attack: Attack, _ generator: inout HostileGenerator, for time: Duration
    ) async throws -> String {
        let begin = ContinuousClock.now
        var (messages, bytes) = (0, 0)
        while begin.duration(to: .now) < time, !daemon.hasExited {
            for message in generator.messages(of: attack) {
                let payload = Array(message.payload.utf8)
                try attacker.publish(payload, to: message.subject, reply: message.reply, headers: message.headers)
                messages += 1
                bytes += payload.count + message.subject.utf8.count
                let due = max(Double(messages) / plan.messagesPerSecond, Double(bytes) / plan.bytesPerSecond)
                let ahead = .seconds(due) - begin.duration(to: .now)
                if ahead > .milliseconds(10) { try await Task.sleep(for: ahead) }
            }
        }
        return "\(messages) messages, \(megabytes(bytes))"
    }
}

private func say(_ line: String) { print("soak: \(line)") }

private func megabytes(_ bytes: Int) -> String { "\((Double(bytes) / 104_857.6).rounded() / 10) MiB" }

/// The parameters of a soak: duration, attacks, rates, and the daemon's settings.
struct SoakPlan: Sendable {
    let seed: UInt64
    /// Duration of all attacks together.
    let duration: Duration
    /// Whether it is a long run, of a release build: then its figures have strict bounds.
    let isThorough: Bool
    let attacks: [Attack]

    /// Messages a second of an attack at most. A partition's log is shared, and a client can fill it faster than it is
    /// read: the rate is one that a server in front would let through.
    let messagesPerSecond: Double
    let bytesPerSecond: Double

    /// From the environment: `LECTERN_SOAK_SECONDS` for a long run, `LECTERN_SOAK_ATTACKS` for some attacks by name.
    init(seed: UInt64) throws {
        self.seed = seed
        let seconds = EnvironmentVariable("LECTERN_SOAK_SECONDS").number
        isThorough = seconds != nil
        duration = .seconds(Int(seconds ?? 7))
        messagesPerSecond = isThorough ? 3000 : 1000
        bytesPerSecond = isThorough ? 8e6 : 2e6
        guard let names = EnvironmentVariable("LECTERN_SOAK_ATTACKS").text else {
            // These take a debug build half a minute for ten megabytes.
            attacks = isThorough ? Attack.allCases : Attack.allCases.filter { $0 != .widePoints }
            return
        }
        attacks = try names.split(separator: ",").map {
            guard let attack = Attack(rawValue: String($0)) else { throw Unexpected("no attack is called \($0)") }
            return attack
        }
    }

    // The settings that bound the daemon's memory, small enough to be reached.
    static let rooms = 16
    static let authors = 3
    static let pendingBytes = 2 << 20
    static let boardPoints = 200_000
    static let tailBytes = 1 << 20
    static let heldBytes = 2 << 20
    static let canvasBytes = 32 << 20
    static let mailboxBytes = 16 << 20
    static let replyBytes = 16 << 20
    static let workers = 2

    static let settings = [
        "limits.rooms=\(rooms)", "limits.authors=\(authors)", "limits.pending_bytes=\(pendingBytes)",
        "limits.board_points=\(boardPoints)", "limits.messages_per_second=1000", "limits.bytes_per_second=4MiB",
        "log.tail_bytes=\(tailBytes)", "log.held_bytes=\(heldBytes)", "canvas.memory=\(canvasBytes)",
        "server.mailbox_bytes=\(mailboxBytes)", "server.reply_bytes=\(replyBytes)", "server.workers=\(workers)",
        "server.replies=128", "server.pictures=32", "rooms.idle=5s", "logging.level=warning",
    ]

    /// The memory that the settings allow, in bytes, by the formula in Operating.docc/Sizing.md.
    static var memoryBound: Int {
        let program = 192 << 20
        let board = 2 * 16 * boardPoints
        let room = authors * pendingBytes + board + tailBytes + heldBytes
        return program + rooms * room + workers * mailboxBytes + canvasBytes + 4 * replyBytes
    }
}
