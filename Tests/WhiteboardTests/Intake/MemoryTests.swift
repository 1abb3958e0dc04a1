import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

/// What an author can make a room keep.
@Suite("Memory of an author is bounded")
struct MemoryTests {
    private static let limits = IntakeLimits(
        assembling: 8, held: 16, pendingBytes: 20_000, messagesPerSecond: 1_000_000, bytesPerSecond: 1 << 30)

    @Test("Whatever is sent: pending bytes, strokes under assembly, held operations, settled ranges")
    func random() throws {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        var now = Instant(nanoseconds: 0)
        var author = Author(.alice, limits: Self.limits, at: now)
        var index: UInt64 = 0
        for _ in 0..<6000 {
            now = now + random.milliseconds(0...40)
            var output = IntakeOutput()
            let context = IntakeContext(limits: Self.limits, head: index, lastClear: 0)
            author.receive(
                IncomingMessage(author: .alice, session: nil, bytes: text(&random, author), loggedAt: now), context,
                into: &output)
            if random.chance(20, in: 100) { author.remind(at: now, heldLimit: Self.limits.held, into: &output) }
            for case .gaveUp(_, let from, let to) in output.decisions where random.chance(70, in: 100) {
                author.giveUp(from, to, context, into: &output)
            }
            for operation in output.ready {
                index += UInt64(random.int(1...2))
                author.count?.recordApplied(operation.number, index: index)
            }
            // Until a first message can be read there is none.
            guard let count = author.count else { continue }
            try #require(count.pendingBytes <= Self.limits.pendingBytes, "seed \(seed)")
            try #require(count.assemblingCount <= Self.limits.assembling, "seed \(seed)")
            try #require(count.heldCount <= 2 * Self.limits.held, "seed \(seed)")
            try #require(count.settled.entries.count <= 2 * SettledNumbers.bound, "seed \(seed)")
            try #require(author.asked.count < 500, "seed \(seed)")
        }
        #expect(index > 100, "seed \(seed)")
    }

    private func text(_ random: inout SeededGenerator, _ author: Author) -> [UInt8] {
        let expected = author.count?.expected ?? 10
        let number = max(2, expected + Int64(random.int(-30...30)))
        let filler = #","q":"\#(String(repeating: "a", count: random.int(0...900)))""#
        switch random.int(0...9) {
        case 0...2: return Array(draw(number, filler).utf8)
        case 3...7: return Array(shard(number, random.int(0...3), of: 3, points: 0..<random.int(1...2), filler).utf8)
        case 8: return Array(draw(expected, filler).utf8)
        default: return Malformed.message(&random)
        }
    }

    @Test("Late strokes that cut a range that was given up into pieces leave no more ranges than are remembered")
    func lateStrokes() throws {
        var probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(messagesPerSecond: 1_000_000)))
        probe.send(draw(1))
        probe.send(draw(5000))
        probe.wait(.seconds(2))
        for number in stride(from: Int64(2), to: 4999, by: 2) { probe.send(draw(number)) }
        #expect(probe.applied.count == 2 + 2499)
        probe.send(draw(4999))
        #expect(probe.takeTold().last == "applied 4999 as 2502")
        // The oldest are forgotten: a repeat like any other.
        probe.send(draw(3))
        #expect(probe.applied.count == 2502)
    }

    @Test("Memory is taken for what has arrived, never for what `s` claims")
    func claims() throws {
        var author = Author(.alice, limits: Self.limits, at: Instant(nanoseconds: 0))
        var output = IntakeOutput()
        let bytes = Array(shard(2, 700, of: 1024).utf8)
        author.receive(
            IncomingMessage(author: .alice, session: nil, bytes: bytes, loggedAt: Instant(nanoseconds: 0)),
            IntakeContext(limits: Self.limits, head: 0, lastClear: 0), into: &output)
        #expect(author.count?.pendingBytes == bytes.count)
    }
}
