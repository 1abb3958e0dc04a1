import Hosting
import Journal
import Locking
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternServer

/// A power cut takes the end of a log: what a daemon or a checkpoint still has goes on, in a new incarnation.
@Suite struct RewindTests {
    private static func publish(_ numbers: ClosedRange<Int>, _ lesson: DurableClass, _ address: RoomAddress)
        async throws
    { for number in numbers { try await lesson.client.publishDurably(Hand.stroke(number, at: 0), to: address) } }

    /// Joins until the room has this many operations, in another incarnation than before.
    private static func joined(
        _ lesson: DurableClass, _ address: RoomAddress, at index: UInt64, notIn incarnation: String
    ) async throws -> JoinReply {
        let last = Locked("nobody has answered")
        do {
            return try await eventually("\(address) is at \(index)", every: .milliseconds(50)) {
                try? lesson.client.setClock(address, 1000)
                let reply = try await lesson.client.join(address)
                last.withLock { $0 = "it was at \(reply.index) of \(reply.room)" }
                return reply.index == index && reply.room != incarnation ? reply : nil
            }
        } catch {
            throw Unexpected("\(error); \(last.withLock { $0 })")
        }
    }

    /// Kills the server, cuts the log, and starts it again.
    private static func cut(_ lesson: DurableClass, keeping share: Double) async throws {
        await lesson.nats.kill()
        var generator = SystemRandomNumberGenerator()
        try lesson.nats.damage("INK_LOG_", .cut, from: share, using: &generator)
        try await Self.restart(lesson)
    }

    private static func restart(_ lesson: DurableClass) async throws {
        try await lesson.nats.restart()
        try await eventually(
            "the client is connected",
            is: (try? await lesson.client.flush()) != nil && lesson.client.state == .connected)
    }

    private static func fill(_ lesson: DurableClass, _ address: RoomAddress, _ count: Int) async throws -> JoinReply {
        try await publish(1...count, lesson, address)
        try lesson.client.setClock(address, 1000)
        return try await lesson.joined(address, at: UInt64(count))
    }

    @Test(arguments: [0.0, 0.6]) func `is restored from the daemon that lives`(share: Double) async throws {
        try await DurableClass.withRoom("living") { lesson, address in
            try await lesson.serve {
                let before = try await Self.fill(lesson, address, 60)
                try await Self.cut(lesson, keeping: share)
                let after = try await Self.joined(lesson, address, at: 60, notIn: before.room)
                #expect(after.digest == before.digest)
                try await Self.publish(61...61, lesson, address)
                let next = try await Self.joined(lesson, address, at: 61, notIn: before.room)
                #expect(next.room == after.room)
            }
        }
    }

    @Test
    func `is restored under what was written after the cut, though it has grown beyond its old end`() async throws {
        try await DurableClass.withRoom("grown") { lesson, address in
            let before = try await lesson.serve { try await Self.fill(lesson, address, 40) }
            try await Self.cut(lesson, keeping: 0.5)
            try await Self.publish(41...120, lesson, address)
            try await lesson.serve {
                let after = try await Self.joined(lesson, address, at: 120, notIn: before.room)
                #expect(try after.visible.count == 120)
            }
        }
    }

    /// They are written again at once, behind the end: that is not their author's rate.
    @Test
    func `has nothing rejected of what is written again, and tells nothing of the life that has ended`() async throws {
        try await DurableClass.withRoom("burst") {
            $0.room.intake.messagesPerSecond = 20
        } _: { lesson, address in
            let before = try await lesson.serve { try await Self.fill(lesson, address, 10) }
            try await Self.cut(lesson, keeping: 0.5)
            let begin = ContinuousClock.now
            for number in 11...100 {
                // A burst of twice the rate is taken.
                let due = begin + .milliseconds(60) * (number - 11)
                try await Task.sleep(until: due, clock: .continuous)
                try await Self.publish(number...number, lesson, address)
            }
            let (feedback, lives) = (Recorder<String>(), Recorder<String>())
            let author = try #require(AuthorID("anna"))
            _ = try lesson.client.subscribe(address.subject(.feedback(author))) { feedback.append(Received($0).text) }
            _ = try lesson.client.subscribe(address.subject(.head)) { lives.append(Received($0).room ?? "") }
            try await lesson.serve {
                let after = try await Self.joined(lesson, address, at: 100, notIn: before.room)
                #expect(try after.visible.count == 100)
                #expect(!feedback.values.contains { $0.contains("rejected") })
                #expect(!lives.values.contains(before.room))
            }
        }
    }

    @Test func `is restored once by two daemons that notice at once`() async throws {
        try await DurableClass.with(partitions: 2) { lesson in
            let rooms = try (0..<6).map { try lesson.address("pair-\($0)") }
            let before = try await lesson.serve {
                var replies: [JoinReply] = []
                for room in rooms { replies.append(try await Self.fill(lesson, room, 20)) }
                return replies
            }
            try await Self.cut(lesson, keeping: 0.4)
            let daemons = (try await lesson.daemon("a"), try await lesson.daemon("b"))
            // The first rooms of a log have lost nothing.
            for (place, room) in rooms.enumerated() {
                let lives = place == rooms.count - 1 ? before[place].room : ""
                let after = try await Self.joined(lesson, room, at: 20, notIn: lives)
                #expect(after.digest == before[place].digest)
            }
            try await daemons.0.stop()
            try await daemons.1.stop()
        }
    }

    @Test func `costs nothing where it is the checkpoints that are cut`() async throws {
        try await DurableClass.withRoom("whole") { lesson, address in
            let before = try await lesson.serve { try await Self.fill(lesson, address, 60) }
            await lesson.nats.kill()
            try lesson.nats.change("INK_CHECKPOINT_0") { $0.removeLast($0.count / 2) }
            try await lesson.nats.restart()
            try await lesson.serve {
                let after = try await Self.joined(lesson, address, at: 60, notIn: "")
                #expect(after.digest == before.digest)
                #expect(after.room == before.room)
            }
        }
    }

    /// What a checkpoint holds, the author need not keep; what it does not, the author gives again.
    @Test func `has its authors told what checkpoints hold, and given again what they did not`() async throws {
        try await DurableClass.withRoom("told") { lesson, address in
            let author = try #require(AuthorID("anna"))
            let feedback = try await Inbox(lesson.client, address.subject(.feedback(author)))
            let covered: @Sendable () async throws -> (number: Int64, room: String) = {
                let message = try await feedback.next { $0.text.contains("covered") }
                guard case .covered(let number, let room) = try Feedback(decoding: message.payload) else {
                    throw Unexpected(message.text)
                }
                return (number, room)
            }
            let before = try await lesson.serve { try await Self.fill(lesson, address, 20) }
            let first = try await covered()
            #expect(first.room == before.room)
            #expect((1...20).contains(first.number))
            try await Self.cut(lesson, keeping: 0.5)
            try await lesson.serve {
                let after = try await Self.joined(lesson, address, at: 20, notIn: before.room)
                var last = try await covered()
                while last.room == before.room { last = try await covered() }
                #expect(last.number == 20)
                #expect(last.room == after.room)
            }
        }
    }

    @Test func `leaves rooms alone that have lost nothing`() async throws {
        try await DurableClass.with { lesson in
            let (early, late) = (try lesson.address("early"), try lesson.address("late"))
            try await lesson.serve {
                let first = try await Self.fill(lesson, early, 5)
                let second = try await Self.fill(lesson, late, 60)
                try await Self.cut(lesson, keeping: 0.5)
                _ = try await Self.joined(lesson, late, at: 60, notIn: second.room)
                let same = try await lesson.client.join(early)
                #expect(same.room == first.room)
                #expect(same.index == 5)
            }
        }
    }

    /// What a power cut leaves of a file is not always shorter. nats-server 2.9 then acknowledges what it cannot read, in the
    /// streams of checkpoints as well.
    @Test(arguments: [NATSTestServer.Damage.zeros, .noise])
    func `is restored from the daemon that lives, where checkpoints end in the same`(
        damage: NATSTestServer.Damage
    ) async throws {
        let seed = TestSeed.choose()
        try await DurableClass.withRoom("zeros") {
            $0.checkpoints = CheckpointSchedule(interval: .seconds(3600), operations: 25)
        } _: { lesson, address in
            let before = try await lesson.serve {
                let before = try await Self.fill(lesson, address, 60)
                await lesson.nats.kill()
                var generator = SeededGenerator(seed: seed)
                for stream in ["INK_LOG_", "INK_CHECKPOINT_"] {
                    let share = Double.random(in: 0.1..<0.9, using: &generator)
                    try lesson.nats.damage(stream, damage, from: share, using: &generator)
                }
                try await Self.restart(lesson)
                let after = try await Self.joined(lesson, address, at: 60, notIn: before.room)
                #expect(after.digest == before.digest)
                try await Self.publish(61...62, lesson, address)
                return try await Self.joined(lesson, address, at: 62, notIn: before.room)
            }
            await lesson.nats.kill()
            try await Self.restart(lesson)
            try await lesson.serve {
                let after = try await Self.joined(lesson, address, at: 62, notIn: "")
                #expect(after.digest == before.digest)
                #expect(after.room == before.room)
            }
        }
    }

    /// Checkpoints lie on the same disk.
    @Test func `is restored from the daemon that lives, where checkpoints have lost what they held`() async throws {
        try await DurableClass.withRoom("held") {
            $0.checkpoints = CheckpointSchedule(interval: .seconds(2))
        } _: { lesson, address in
            let author = try #require(AuthorID("anna"))
            let feedback = try await Inbox(lesson.client, address.subject(.feedback(author)))
            try await lesson.serve {
                let before = try await Self.fill(lesson, address, 60)
                _ = try await feedback.next { $0.text.contains(#""covered","n":60"#) }
                await lesson.nats.kill()
                var generator = SystemRandomNumberGenerator()
                for stream in ["INK_LOG_", "INK_CHECKPOINT_"] {
                    try lesson.nats.damage(stream, .cut, from: 0.2, using: &generator)
                }
                try await Self.restart(lesson)
                let after = try await Self.joined(lesson, address, at: 60, notIn: before.room)
                #expect(after.digest == before.digest)
            }
        }
    }

    enum Loss: Sendable, CaseIterable {
        case cut, bit, messages, indexes, all, emptyIndexes, damagedIndexes
    }

    @Test(arguments: Loss.allCases)
    func `is restored from checkpoints, once, where files of it are cut, gone or damaged, or a bit flips`(loss: Loss)
        async throws
    {
        try await DurableClass.withRoom("files") { lesson, address in
            let before = try await lesson.serve { try await Self.fill(lesson, address, 60) }
            await lesson.nats.kill()
            var generator = SystemRandomNumberGenerator()
            switch loss {
            case .cut: try lesson.nats.damage("INK_LOG_", .cut, from: 0.5, using: &generator)
            case .bit:
                // Not in the sequence of a record: nats-server would take one of billions for missing, and look for them all.
                try lesson.nats.change("INK_LOG_0") { bytes in
                    let stroke = try #require(bytes.firstRange(of: Array(#""n":30,"#.utf8)))
                    bytes[stroke.upperBound] ^= 4
                }
            case .messages: try lesson.nats.removeFiles(of: "INK_LOG_0", "blk")
            case .indexes: try lesson.nats.removeFiles(of: "INK_LOG_0", "idx", "fss", "db")
            case .all: try lesson.nats.removeFiles(of: "INK_LOG_0", "blk", "idx", "fss", "db")
            case .emptyIndexes: try lesson.nats.changeIndexes(of: "INK_LOG_0") { $0 = [] }
            case .damagedIndexes: try lesson.nats.changeIndexes(of: "INK_LOG_0") { $0 = $0.map { $0 ^ 0x55 } }
            }
            try await Self.restart(lesson)
            let isLost = [.cut, .bit, .messages, .all].contains(loss)
            let next = try await lesson.serve {
                let after = try await Self.joined(lesson, address, at: 60, notIn: isLost ? before.room : "")
                #expect(after.digest == before.digest)
                #expect((after.room == before.room) == !isLost)
                try await Self.publish(61...61, lesson, address)
                return try await Self.joined(lesson, address, at: 61, notIn: "")
            }
            await lesson.nats.kill()
            try await Self.restart(lesson)
            try await lesson.serve {
                let again = try await Self.joined(lesson, address, at: 61, notIn: "")
                #expect(again.room == next.room && again.digest == next.digest)
            }
        }
    }

    /// Neither waits for the other, and each does all.
    @Test(arguments: NATSTestServer.Damage.allCases)
    func `is repaired twice at the same time with nothing lost or doubled`(damage: NATSTestServer.Damage) async throws {
        let seed = TestSeed.choose()
        try await DurableClass.with { lesson in
            var generator = SeededGenerator(seed: seed)
            let share = Double.random(in: 0.3..<0.95, using: &generator)
            let (saved, unsaved) = (try lesson.address("saved"), try lesson.address("unsaved"))
            let before = try await lesson.serve { try await Self.fill(lesson, saved, 20) }
            try await Self.publish(1...40, lesson, unsaved)
            await lesson.nats.kill()
            try lesson.nats.damage("INK_LOG_", damage, from: share, using: &generator)
            try await Self.restart(lesson)
            let readable = try await Self.readable(unsaved, lesson)
            async let first = Self.repair(lesson)
            async let second = Self.repair(lesson)
            for opened in try await [first, second] { #expect(opened.catalogue.covered <= opened.log.lastSequence) }
            try await lesson.serve {
                let after = try await Self.joined(lesson, saved, at: 20, notIn: "")
                #expect(after.digest == before.digest)
                guard readable > 0 else { return }
                let rest = try await Self.joined(lesson, unsaved, at: UInt64(readable), notIn: "")
                #expect(try rest.visible.count == readable)
            }
        }
    }

    /// How many records of a room the log still has.
    private static func readable(_ address: RoomAddress, _ lesson: DurableClass) async throws -> Int {
        let jetStream = JetStream(lesson.client)
        let info = try await jetStream.streamInfo("INK_LOG_0")
        var count = 0
        for sequence in stride(from: info.firstSequence, through: info.lastSequence, by: 1) where sequence > 0 {
            let message = try await jetStream.message("INK_LOG_0", sequence)
            if message?.subject.hasPrefix("\(address).in.") == true { count += 1 }
        }
        return count
    }

    private static func repair(_ lesson: DurableClass) async throws -> OpenedPartition {
        let settings = try #require(lesson.configuration.journal)
        return try await NATSConnection.with(lesson.nats) { connection in
            let audit = AuditLog(
                root: "ink", settings: settings, maxBytes: -1, maxAge: .seconds(3600), connection: connection,
                logger: .silent)
            let repair = RewindRepair(
                journal: connection.journal(of: 1, settings), store: connection.checkpoints(), audit: audit,
                metrics: ServerMetrics(), logger: .silent)
            return try await repair.open(0, isCertain: false)
        }
    }
}
