import ArgumentParser
import Foundation
import LecternClient
import NATSClient
import StrokeWire

/// Rooms with large boards, which students join and look at while operations are released in other rooms.
struct LargeBoards {
    /// Rooms with large boards: a flood comes to several, so that their replies are not shared.
    private static let boards = 16
    /// Rooms whose releases are measured.
    private static let otherRooms = 50
    /// Students of each of these rooms.
    private static let students = 4
    /// Strokes a second on each large board in a flood: each causes checkpoints.
    private static let strokesInFlood = 2.0
    /// Joins a second in a flood.
    fileprivate static let joinsInFlood = 50.0
    /// Pictures being asked for at a time in a flood.
    fileprivate static let picturesInFlood = 2

    let messages: RoomMessages
    let strokes: LoadStrokes
    /// Operations a second in the other rooms.
    let rate: Double
    let joins: Double
    let seconds: Double
    let rounds: Int

    func measure(_ parts: Set<String>, on system: LocalSystem, into report: inout BenchReport) async throws {
        let connection = try await system.connect()
        let addresses = try RoomAddress.rooms(Self.boards, named: "large", root: system.root)
        try await messages.publish(to: addresses, over: connection)
        let reply = try await wholeBoard(of: addresses, over: connection)
        if parts.contains("joins") { try await measureJoins(addresses, reply, system, connection, &report) }
        if parts.contains("flood") { try await measureFlood(addresses, system, connection, &report) }
        await connection.close()
    }

    /// Waits until all strokes are on all boards.
    /// - Returns: the reply to a join.
    private func wholeBoard(of addresses: [RoomAddress], over connection: NATSConnection) async throws -> [UInt8] {
        var last: [UInt8] = []
        for address in addresses {
            try await waitUntil(within: 60, every: .milliseconds(50), else: "the large boards are not whole") {
                last = try await connection.requestParts(
                    JoinRequest().encoded(), to: address.subject(.join(.main)), timeout: .seconds(30)
                ).payload
                return (try? JoinReply(decoding: last)).map { $0.index >= UInt64(messages.strokes) } ?? false
            }
        }
        return last
    }

    private func plan(_ seconds: Double) throws -> LoadPlan {
        LoadPlan(
            rooms: Self.otherRooms, students: Self.students, rate: rate / Double(Self.otherRooms),
            cohorts: [LoadCohort(name: .main, delay: 0)], joins: 0, seconds: seconds, connections: 2)
    }

    // MARK: - Joins

    private func measureJoins(
        _ addresses: [RoomAddress], _ reply: [UInt8], _ system: LocalSystem, _ connection: NATSConnection,
        _ report: inout BenchReport
    ) async throws {
        let responder = try await Responder(reply, url: system.url)
        // Of joins, and of the floor.
        var p50: [[Double]] = [[], []]
        var p99: [[Double]] = [[], []]
        var failures = 0
        for round in 1...rounds {
            Progress.say("joins, round \(round) of \(rounds)")
            let load = try await LoadRun(try plan(seconds), strokes, url: system.url, root: system.root, partitions: 1)
            let joining = LoadJoins(addresses.map { $0.subject(.join(.main)) }, rate: joins, over: connection)
            let bare = LoadJoins([responder.subject], rate: joins, over: connection)
            let end = LoadClock.now + Int64((seconds + 1) * 1e9)
            async let joiningEnds: Void = joining.run(until: end)
            async let bareEnds: Void = bare.run(until: end)
            try await load.hold()
            _ = await (joiningEnds, bareEnds)
            await load.close()
            for (kind, latencies) in [joining.latencies, bare.latencies].enumerated() {
                p50[kind].append(latencies.percentile(50))
                p99[kind].append(latencies.percentile(99))
            }
            failures += joining.failures.count
        }
        await responder.close()
        report.add("joins: strokes of the board", Double(messages.strokes))
        report.add("joins: bytes of the reply", Double(reply.count))
        report.add("joins: p50, ms", p50[0])
        report.add("joins: p99, ms", p99[0], atMost: 20)
        report.add("the same bytes without a service: p50, ms", p50[1])
        report.add("the same bytes without a service: p99, ms", p99[1])
        report.add("joins that failed", Double(failures))
    }

    // MARK: - Flood

    /// From before the first stroke to the last.
    private var floodSeconds: Double { seconds + 1.5 }

    private func measureFlood(
        _ addresses: [RoomAddress], _ system: LocalSystem, _ connection: NATSConnection, _ report: inout BenchReport
    ) async throws {
        var p50: [[Double]] = [[], []]
        var p99: [[Double]] = [[], []]
        var floor: [[Double]] = [[], []]
        var (joined, drawn) = (0, 0)
        for round in 0...rounds {
            for kind in 0..<2 {
                Progress.say(
                    round == 0 ? "warming up" : "flood, round \(round) of \(rounds): \(kind == 0 ? "calm" : "flooded")")
                let load = try await LoadRun(
                    try plan(seconds), strokes, url: system.url, root: system.root, partitions: 1)
                let flood = kind == 0 ? nil : Flood(self, addresses, over: connection)
                async let ends: Void? = flood?.run(until: LoadClock.now + Int64(floodSeconds * 1e9))
                try await load.hold()
                _ = await ends
                await load.close()
                guard round > 0 else { continue }
                p50[kind].append(load.audience.latencies[0].percentile(50))
                p99[kind].append(load.audience.latencies[0].percentile(99))
                floor[kind].append(load.floorLatencies.percentile(99))
                joined += Int(flood?.joining.latencies.count ?? 0)
                drawn += flood?.drawn.count ?? 0
            }
        }
        let time = floodSeconds * Double(rounds)
        report.add("flood: joins a second", Double(joined) / time)
        report.add("flood: pictures a second", Double(drawn) / time)
        for (kind, name) in ["calm", "flooded"].enumerated() {
            report.add("release, \(name): p50, ms", p50[kind])
            report.add("release, \(name): p99, ms", p99[kind])
            report.add("NATS alone, \(name): p99, ms", floor[kind])
        }
        let ofNATS = median(floor[1]) / median(floor[0])
        report.add("release, flooded to calm: p50", median(p50[1]) / median(p50[0]))
        report.add("NATS alone, flooded to calm: p99", ofNATS)
        report.add(
            "release, flooded to calm: p99 (goal: 1.5 × NATS alone)", median(p99[1]) / median(p99[0]),
            atMost: 1.5 * ofNATS)
    }

    /// Joins, pictures and strokes of all large boards at once.
    private final class Flood: Sendable {
        let joining: LoadJoins
        private let addresses: [RoomAddress]
        private let author: AuthorID
        private let pictures: Int
        private let connection: NATSConnection
        let drawn = Counter()
        /// A new session begins its numbers anew.
        private let session = String(UInt32.random(in: .min ... .max), radix: 36)

        init(_ boards: LargeBoards, _ addresses: [RoomAddress], over connection: NATSConnection) {
            self.addresses = addresses
            author = boards.messages.author
            pictures = LargeBoards.picturesInFlood
            self.connection = connection
            joining = LoadJoins(
                addresses.map { $0.subject(.join(.main)) }, rate: LargeBoards.joinsInFlood, over: connection)
        }

        func run(until end: Int64) async {
            await withDiscardingTaskGroup { group in
                group.addTask { [self] in await joining.run(until: end) }
                group.addTask { [self] in await draw(until: end) }
                for number in 0..<pictures {
                    group.addTask { [self] in await look(at: number, until: end) }
                }
            }
        }

        /// Asks for one picture after the other.
        private func look(at first: Int, until end: Int64) async {
            var number = first
            while LoadClock.now < end, !Task.isCancelled {
                let address = addresses[number % addresses.count]
                let reply = try? await connection.requestParts(
                    ImageRequest(width: 800 + number % 100).encoded(), to: address.subject(.image(.main)),
                    timeout: .seconds(10))
                if reply != nil { drawn.add() }
                number += pictures
            }
        }

        /// Undoes a stroke of each board and draws it again: the boards keep their size.
        private func draw(until end: Int64) async {
            var number = 0
            while LoadClock.now < end, !Task.isCancelled {
                number += 1
                for address in addresses {
                    let action: Action = number.isMultiple(of: 2) ? .redo : .undo
                    let message = Array(#"{"n":\#(number),"a":\#(action.rawValue)}"#.utf8)
                    try? connection.publish(
                        message, to: address.subject(.input(author)), headers: [HeaderName.session: session])
                }
                try? await Task.sleep(for: .seconds(1 / LargeBoards.strokesInFlood))
            }
        }
    }
}

/// Answers requests with the same bytes, in parts as the service would: the floor of a join.
private final class Responder: Sendable {
    private static let partBytes = 256 * 1024

    let subject: String
    private let connection: NATSConnection

    init(_ reply: [UInt8], url: String) async throws {
        connection = try await .open(url)
        subject = connection.makeInbox()
        let count = (reply.count + Self.partBytes - 1) / Self.partBytes
        let parts = (0..<count).map { part in
            Array(reply[part * Self.partBytes..<min(reply.count, (part + 1) * Self.partBytes)])
        }
        try connection.subscribe(subject, on: .connection) { [connection] message in
            guard let inbox = message.reply else { return }
            for (number, part) in parts.enumerated() {
                try? connection.publish(part, to: inbox, headers: [HeaderName.part: "\(number + 1)/\(count)"])
            }
        }
        try await connection.flush()
    }

    func close() async { await connection.close() }
}
