import Foundation
import Hosting
import Journal
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternServer

/// A power cut takes the end of a log: what a daemon or a checkpoint still has goes on, in a new incarnation.
@Suite struct `A log that has lost its end` {
    private static func publish(_ numbers: ClosedRange<Int>, _ lesson: DurableClass, _ address: RoomAddress)
        async throws
    {
        for number in numbers {
            try await lesson.client.publishDurably(Hand.stroke(number, at: 0), to: address)
        }
    }

    /// Joins until the room has this many operations, in another incarnation than before.
    private static func joined(
        _ lesson: DurableClass, _ address: RoomAddress, at index: UInt64, notIn incarnation: String
    ) async throws -> JoinReply {
        try await withDeadline(.hangLimit) {
            while true {
                try? lesson.client.setClock(address, 1000)
                if let reply = try? await lesson.client.join(address), reply.index == index,
                    reply.room != incarnation
                {
                    return reply
                }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    /// Kills the server, cuts the log, and starts it again.
    private static func cut(_ lesson: DurableClass, keeping share: Double) async throws {
        await lesson.nats.kill()
        try lesson.nats.cutLog(keeping: share)
        try await lesson.nats.restart()
        try await eventually("the client is connected") {
            (try? await lesson.client.flush()) != nil && lesson.client.state == .connected ? () : nil
        }
    }

    private static func fill(_ lesson: DurableClass, _ address: RoomAddress, _ count: Int) async throws -> JoinReply {
        try await publish(1...count, lesson, address)
        try lesson.client.setClock(address, 1000)
        return try await lesson.joined(address, at: UInt64(count))
    }

    @Test(arguments: [0.0, 0.6]) func `is restored from the daemon that lives`(share: Double) async throws {
        try await DurableClass.with { lesson in
            let address = try lesson.address("living")
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

    @Test func `is restored from checkpoints, once`() async throws {
        try await DurableClass.with { lesson in
            let address = try lesson.address("saved")
            let before = try await lesson.serve { try await Self.fill(lesson, address, 60) }
            try await Self.cut(lesson, keeping: 0.5)
            let after = try await lesson.serve {
                let after = try await Self.joined(lesson, address, at: 60, notIn: before.room)
                #expect(after.digest == before.digest)
                return after
            }
            try await lesson.serve {
                let again = try await Self.joined(lesson, address, at: 60, notIn: before.room)
                #expect(again.room == after.room)
                #expect(again.digest == before.digest)
                try await Self.publish(61...62, lesson, address)
                let next = try await Self.joined(lesson, address, at: 62, notIn: before.room)
                #expect(next.room == after.room)
            }
        }
    }

    @Test func `is restored under what was written after the cut, though it has grown beyond its old end`() async throws
    {
        try await DurableClass.with { lesson in
            let address = try lesson.address("grown")
            let before = try await lesson.serve { try await Self.fill(lesson, address, 40) }
            try await Self.cut(lesson, keeping: 0.5)
            try await Self.publish(41...120, lesson, address)
            try await lesson.serve {
                let after = try await Self.joined(lesson, address, at: 120, notIn: before.room)
                guard case .board(_, _, let visible, _, _) = after.content else { throw Unexpected("no board") }
                #expect(visible.count == 120)
            }
        }
    }

    /// They are written again at once, behind the end: that is not their author's rate.
    @Test func `has nothing rejected of what is written again`() async throws {
        try await DurableClass.with {
            $0.room.intake.messagesPerSecond = 20
        } _: { lesson in
            let address = try lesson.address("burst")
            let before = try await lesson.serve { try await Self.fill(lesson, address, 10) }
            try await Self.cut(lesson, keeping: 0.5)
            let begin = ContinuousClock.now
            for number in 11...100 {
                // A burst of twice the rate is taken.
                let due = begin + .milliseconds(60) * (number - 11)
                try await Task.sleep(until: due, clock: .continuous)
                try await Self.publish(number...number, lesson, address)
            }
            try await lesson.serve {
                let after = try await Self.joined(lesson, address, at: 100, notIn: before.room)
                guard case .board(_, _, let visible, _, _) = after.content else { throw Unexpected("no board") }
                #expect(visible.count == 100)
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

    @Test func `is restored where a bit of it flips`() async throws {
        try await DurableClass.with { lesson in
            let address = try lesson.address("flipped")
            let before = try await lesson.serve { try await Self.fill(lesson, address, 60) }
            await lesson.nats.kill()
            // Not in the sequence of a record: nats-server would take one of billions for missing, and look for them all.
            try lesson.nats.change("INK_LOG_0") { bytes in
                let stroke = try #require(bytes.firstRange(of: Array(#""n":30,"#.utf8)))
                bytes[stroke.upperBound] ^= 4
            }
            try await lesson.nats.restart()
            try await lesson.serve {
                let after = try await Self.joined(lesson, address, at: 60, notIn: before.room)
                #expect(after.digest == before.digest)
            }
        }
    }

    @Test func `costs nothing where it is the checkpoints that are cut`() async throws {
        try await DurableClass.with { lesson in
            let address = try lesson.address("whole")
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
        try await DurableClass.with { lesson in
            let address = try lesson.address("told")
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
}

extension NATSTestServer {
    /// Takes the end of a stopped server's log, as a power cut does: the newest file loses what follows this share of its bytes.
    nonisolated func cutLog(keeping share: Double) throws {
        try PowerCut(store ?? "").cut("INK_LOG_", marked: ".in.", keeping: share)
    }

    /// Changes the files with messages of a stopped server's streams.
    /// - Parameter stream: how their names begin.
    nonisolated func change(_ stream: String, _ body: (inout [UInt8]) throws -> Void) throws {
        let files = try FileManager.default.subpathsOfDirectory(atPath: store ?? "")
            .filter { $0.contains(stream) && $0.hasSuffix(".blk") }
        try #require(!files.isEmpty)
        for file in files {
            let url = URL(fileURLWithPath: "\(store ?? "")/\(file)")
            var bytes = Array(try Data(contentsOf: url))
            try body(&bytes)
            try Data(bytes).write(to: url)
        }
    }
}
