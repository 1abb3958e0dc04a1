import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

@Suite struct `Limits of what a room takes in` {
    private var probe = RoomProbe()

    @Test(
        "A number at most 100,000 ahead of the next is taken, one beyond is out of range and settles nothing")
    mutating func lead() {
        probe.send(draw(1), draw(100_003), #"{"n":100003,"e":99}"#)
        #expect(
            probe.takeTold() == [
                "applied 1 as 1", "rejected 100003 0 out-of-range n", "rejected 100003 0 unknown-element e",
            ])
        probe.send(draw(100_002))
        #expect(probe.takeTold() == ["missing 2...100001"])
        probe.wait(.seconds(2))
        probe.send(draw(100_003))
        #expect(probe.applied.map(\.number) == [1, 100_002, 100_003])
    }

    @Test
    mutating func `32 authors a room; a place is free when its author was silent for 10 minutes, nothing pending`() {
        probe.send(draw(1))
        probe.send(shard(1, 0, of: 2), by: .bob)
        for number in 3...32 { probe.send(draw(1), by: .known("author-\(number)")) }
        probe.wait(.milliseconds(1))
        probe.send(draw(2))
        let late = AuthorID.known("late")
        probe.send(draw(7), "no json", by: late)
        #expect(probe.takeTold(late) == ["rejected 7 0 room-full", "rejected - - room-full"])
        // The stroke under assembly is given up after 10 s.
        probe.wait(.seconds(600) - .milliseconds(2))
        probe.send(draw(7), by: late)
        #expect(probe.takeTold(late) == ["rejected 7 0 room-full"])
        probe.wait(.milliseconds(1))
        probe.send(draw(7), by: late)
        #expect(probe.takeTold(late) == ["applied 7 as 33"])
        #expect(probe.room.status(at: probe.now).authors == 32)
        // Alice was not silent for 10 minutes.
        probe.send(draw(1))
        #expect(probe.takeTold().last == "applied 1 as 1")
    }

    @Test mutating func `200 messages a second, bursts of twice that; what is beyond is rejected and settled`() {
        for number in Int64(1)...402 { probe.send(draw(number)) }
        #expect(probe.applied.count == 400)
        #expect(probe.takeTold().suffix(2) == ["rejected 401 0 rate-limited", "rejected 402 0 rate-limited"])
        probe.send(draw(1), by: .bob)
        probe.wait(.milliseconds(5))
        probe.send(draw(403))
        probe.wait(.milliseconds(10))
        probe.send(draw(402))
        #expect(probe.takeTold() == ["applied 403 as 402", "rejected 402 0 rate-limited"])
    }

    @Test mutating func `Beyond the rate a repeat of what was applied, held or rejected is answered as ever`() {
        for number in Int64(1)...397 { probe.send(draw(number)) }
        probe.send(#"{"n":398,"e":99,"d":[]}"#, draw(400), draw(399, #","s":2"#))
        _ = probe.takeTold()
        probe.send(draw(7), draw(398), draw(400))
        #expect(probe.takeTold() == ["applied 7 as 7", "rejected 398 0 unknown-element e"])
        #expect(probe.counts.intake.repeats == 3)
        // What is open is refused, a new count too.
        probe.send(draw(401), draw(1, x: 50), draw(399))
        #expect(
            probe.takeTold() == [
                "rejected 401 0 rate-limited", "rejected 1 0 rate-limited", "rejected 399 0 rate-limited",
                "applied 400 as 398",
            ])
        #expect(probe.applied.last?.number == 400)
    }

    @Test mutating func `So is one of an earlier session`() {
        probe.send(draw(1), session: "a")
        for number in Int64(1)...399 { probe.send(draw(number), session: "b") }
        _ = probe.takeTold()
        probe.send(draw(1), draw(2), session: "a")
        probe.send(draw(1), session: "c")
        #expect(
            probe.takeTold() == ["applied 1 as 1", "rejected 2 0 rate-limited", "rejected 1 0 rate-limited"])
    }

    @Test mutating func `1 MiB a second, bursts of twice that`() {
        let filler = #","q":"\#(String(repeating: "a", count: 200_000))""#
        for number in Int64(1)...11 { probe.send(draw(number, filler)) }
        #expect(probe.applied.count == 10)
        #expect(probe.takeTold().last == "rejected 11 0 rate-limited")
        probe.send(draw(12))
        #expect(probe.applied.count == 11)
    }

    @Test
    func `A message over the size is too large, whatever the rate, takes nothing of it, and no place of an author`() {
        var probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(authors: 1)))
        let huge = draw(1, #","q":"\#(String(repeating: "a", count: 2_800_000))""#)
        probe.send(huge, by: .bob)
        #expect(probe.takeTold(.bob) == ["rejected - - too-large"])
        for _ in 1...500 { probe.send(draw(1, #","q":"\#(String(repeating: "a", count: 262_144))""#)) }
        #expect(Set(probe.takeTold()) == ["rejected - - too-large"])
        for number in Int64(1)...401 { probe.send(draw(number)) }
        #expect(probe.applied.count == 400)
        #expect(probe.takeTold().last == "rejected 401 0 rate-limited")
        probe.send(huge)
        probe.send(huge, by: .bob)
        #expect(probe.takeTold() == ["rejected - - too-large"])
        #expect(probe.takeTold(.bob) == ["rejected - - too-large"])
        #expect(probe.counts.intake.rejected == [.tooLarge: 503, .rateLimited: 1])
    }

    @Test mutating func `64 strokes under assembly an author; given-up ones make room first`() {
        for number in Int64(1)...64 { probe.send(shard(number, 0, of: 2)) }
        probe.send(shard(65, 0, of: 2))
        #expect(probe.takeTold() == ["rejected 65 0 too-many-pending"])
        probe.wait(.seconds(10))
        for number in Int64(66)...129 { probe.send(shard(number, 0, of: 2)) }
        #expect(probe.counts.intake.rejected == [.tooManyPending: 1])
        #expect(probe.room.assemblingCount == 64)
    }

    @Test func `Bytes pending are bounded; what was given up makes room first`() {
        var probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(pendingBytes: 1000)))
        let filler = #","q":"\#(String(repeating: "a", count: 700))""#
        probe.send(draw(1), by: .known("first"))
        _ = probe.takeTold()
        probe.send(shard(1, 0, of: 3, filler), shard(1, 1, of: 3, filler))
        #expect(probe.takeTold() == ["rejected 1 1 too-many-pending"])
        probe.send(shard(2, 0, of: 3, filler))
        probe.wait(.seconds(10))
        _ = probe.takeTold()
        probe.send(shard(3, 0, of: 3, filler))
        #expect(probe.takeTold() == [])
        probe.wait(.seconds(10))
        _ = probe.takeTold()
        probe.send(shard(3, 1, of: 3, filler))
        #expect(probe.takeTold() == ["rejected 3 1 too-many-pending"])
    }

    @Test func `A stroke that is given up again takes the bytes of its shards once`() {
        var limits = IntakeLimits.fast
        limits.pendingBytes = 2000
        var probe = RoomProbe(RoomConfiguration(intake: limits))
        let filler = #","q":"\#(String(repeating: "a", count: 700))""#
        probe.send(draw(1), shard(10, 0, of: 3, filler))
        probe.wait(.seconds(10))
        // So many numbers are settled ahead that the room forgets that it gave 10 up.
        for place in 1...Int64(SettledNumbers.bound) { probe.send(#"{"n":\#(10 + 2 * place),"e":99,"d":[]}"#) }
        probe.send(shard(10, 1, of: 3, filler))
        _ = probe.takeTold(after: .seconds(10))
        let long = #","q":"\#(String(repeating: "a", count: 1500))""#
        probe.send(shard(5, 0, of: 2, long))
        #expect(probe.takeTold() == [])
        #expect(probe.room.assemblingCount == 1)
    }

    @Test mutating func `A room is large while shards wait of a stroke, given up or not`() {
        probe.send(draw(1), shard(2, 0, of: 2))
        #expect(probe.room.byteEstimate == .max)
        probe.wait(.seconds(10))
        #expect(!probe.room.intake.hasPending && probe.room.byteEstimate == .max)
        probe.send(shard(2, 1, of: 2))
        #expect(probe.applied.count == 2 && probe.room.byteEstimate < 64 << 10)
    }

    @Test func `The stroke that everything waits for is taken however much waits`() {
        var probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(pendingBytes: 1000)))
        let filler = #","q":"\#(String(repeating: "a", count: 700))""#
        probe.send(draw(1), draw(3, filler), draw(2, filler))
        #expect(probe.applied.map(\.number) == [1, 2, 3])
    }

    @Test func `As many operations again are held while a decision is on its way, no more`() {
        var probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(held: 4)))
        probe.decisionsReturn = [.milliseconds(900)]
        probe.send(draw(1))
        for number in Int64(3)...11 { probe.send(draw(number)) }
        #expect(probe.takeTold().last == "rejected 11 0 too-many-pending")
        #expect(probe.after(.milliseconds(900)).applied.map(\.number) == [1, 3, 4, 5, 6, 7, 8, 9, 10])
        probe.send(draw(12))
        #expect(probe.applied.last?.number == 12)
    }

    @Test func `64 session names are remembered`() {
        var sessions = Sessions()
        for number in 0...Sessions.bound { sessions.begin("s\(number)", after: AppliedNumbers()) }
        if case .new = sessions.standing(of: "s0") {} else { Issue.record("the oldest name was not forgotten") }
        if case .earlier = sessions.standing(of: "s1") {} else { Issue.record("a name was forgotten") }
        if case .current = sessions.standing(of: "s64") {} else { Issue.record("the current name was forgotten") }
    }
}

@Suite struct `Token bucket` {
    private let start = Instant(nanoseconds: 0)

    @Test func `Holds a burst of twice the rate, then refills at the rate, to the nanosecond`() {
        var bucket = TokenBucket(rate: 200, at: start)
        for _ in 0..<400 {
            #expect(bucket.holds(1, at: start) == true)
            bucket.take(1)
        }
        #expect(bucket.holds(1, at: start) == false)
        #expect(bucket.holds(1, at: start + .nanoseconds(4_999_999)) == false)
        #expect(bucket.holds(1, at: start + .milliseconds(5)) == true)
        #expect(bucket.holds(2, at: start + .milliseconds(5)) == false)
    }

    @Test func `Is never fuller than twice the rate; a clock that goes back adds nothing, and adds again from there`() {
        var bucket = TokenBucket(rate: 10, at: start)
        #expect(bucket.holds(21, at: .distantFuture) == false)
        #expect(bucket.holds(20, at: .distantPast) == true)
        bucket.take(20)
        #expect(bucket.holds(1, at: .distantPast) == false)
        #expect(bucket.holds(1, at: .distantPast + .milliseconds(100)) == true)
    }

    @Test func `Returns the time until tokens are there, also after more were taken than it had`() {
        var bucket = TokenBucket(rate: 10, burst: 5, nanoseconds: 0)
        #expect(bucket.wait(for: 5) == .zero)
        bucket.take(25)
        #expect(bucket.wait(for: 1) == .milliseconds(2100))
        #expect(bucket.wait(for: 100) == .milliseconds(2500))
        bucket.refill(nanoseconds: 2_500_000_000)
        #expect(bucket.isFull && bucket.tokens == 5)
    }

    @Test(arguments: [Int.min, 0, 1, 4_000_000_000, Int.max])
    func `Takes any rate that a configuration may name`(_ rate: Int) {
        var bucket = TokenBucket(rate: rate, at: start)
        #expect(bucket.holds(2, at: start + .seconds(1)) == true)
        bucket.take(2)
        #expect(bucket.holds(1, at: start + .seconds(1_000_000)) == true)
    }
}

/// The memory that an author can make a room take.
@Suite struct `Memory of an author is bounded` {
    private static let limits = IntakeLimits(
        assembling: 8, held: 16, pendingBytes: 20_000, messagesPerSecond: 1_000_000, bytesPerSecond: 1 << 30)

    @Test
    func `Pending bytes, strokes under assembly, held operations and settled ranges are bounded, whatever is sent`()
        throws
    {
        var random = SeededGenerator(seed: TestSeed.choose())
        var now = Instant(nanoseconds: 0)
        var author = Author(.alice, limits: Self.limits, at: now)
        var index: UInt64 = 0
        for _ in 0..<6000 {
            now = now + random.milliseconds(0...40)
            var output = IntakeOutput()
            let context = IntakeContext(limits: Self.limits, head: index, shownPage: 0, lastClears: LastClears())
            author.receive(
                IncomingMessage(author: .alice, session: nil, bytes: text(&random, author), loggedAt: now), context,
                isMuted: false, into: &output)
            if random.chance(20, in: 100) { author.checkGaps(at: now, heldLimit: Self.limits.held, into: &output) }
            for (_, numbers) in output.giveUps where random.chance(70, in: 100) {
                author.giveUp(from: numbers.lowerBound, to: numbers.upperBound, context, into: &output)
            }
            for operation in output.ready {
                index += UInt64(random.int(1...2))
                author.recordApplied(operation.number, index: index)
            }
            // There is none before the first readable message.
            guard let sequence = author.sequence else { continue }
            let pending = sequence.pending
            try #require(pending.byteCount <= Self.limits.pendingBytes, "seed \(random.seed)")
            try #require(pending.assemblingCount <= Self.limits.assembling, "seed \(random.seed)")
            try #require(pending.held.count <= 2 * Self.limits.held, "seed \(random.seed)")
            try #require(sequence.settled.entries.count <= 2 * SettledNumbers.bound, "seed \(random.seed)")
            try #require(author.gaps.askedAssemblies.count <= Self.limits.assembling, "seed \(random.seed)")
            let kept = pending.held.map(\.value.ready.bytes.count) + pending.assemblies.map(\.value.byteCount)
            try #require(
                pending.byteCount == (kept + pending.late.values.map(\.byteCount)).reduce(0, +), "seed \(random.seed)")
        }
        #expect(index > 100, "seed \(random.seed)")
    }

    private func text(_ random: inout SeededGenerator, _ author: Author) -> [UInt8] {
        let expected = author.sequence?.expected ?? 10
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
        probe.send(draw(1), draw(5000))
        probe.wait(.seconds(2))
        for number in stride(from: Int64(2), to: 4999, by: 2) { probe.send(draw(number)) }
        #expect(probe.applied.count == 2 + 2499)
        probe.send(draw(4999))
        #expect(probe.takeTold().last == "applied 4999 as 2502")
        // The oldest ranges are forgotten: the message counts as a repeat.
        probe.send(draw(3))
        #expect(probe.applied.count == 2502)
    }

    @Test func `Numbers applied under earlier sessions are remembered as far as those of one`() {
        var sessions = Sessions()
        var applied = AppliedNumbers()
        for number in 0..<Int64(AppliedNumbers.bound) { applied.record(2 * number, index: UInt64(number)) }
        for name in 1...5 { sessions.begin("s\(name)", after: applied) }
        #expect(sessions.known.map(\.applied.runCount) == [0, 0, 0, AppliedNumbers.bound, 0])
        #expect(sessions.index(of: 2, in: "s4") == 1)
        #expect(sessions.index(of: 2, in: "s3") == nil)
        #expect(sessions.index(of: 2, in: "s9") == nil)
    }

    @Test func `Memory is taken for what has arrived, never for what 's' claims`() throws {
        var author = Author(.alice, limits: Self.limits, at: Instant(nanoseconds: 0))
        var output = IntakeOutput()
        let bytes = Array(shard(2, 700, of: 1024).utf8)
        author.receive(
            IncomingMessage(author: .alice, session: nil, bytes: bytes, loggedAt: Instant(nanoseconds: 0)),
            IntakeContext(limits: Self.limits, head: 0, shownPage: 0, lastClears: LastClears()), isMuted: false,
            into: &output)
        #expect(author.sequence?.pending.byteCount == bytes.count)
    }
}

/// The cost of an input without effect. Compares times, each the best of several, with a factor far below that of a
/// linear search.
@Suite(.serialized) struct `Cost of an input` {
    private static let factor = 8

    /// The shortest of several times that 200 inputs take, each followed by what the server does.
    ///
    /// - Parameter held: number of operations of each author that wait, every other number.
    private func cost(authors: Int, held: Int) throws -> Duration {
        let limits = IntakeLimits(
            held: 50_000, pendingBytes: 1 << 30, authors: authors, messagesPerSecond: 1_000_000,
            bytesPerSecond: 1 << 30)
        var room = Room(configuration: RoomConfiguration(intake: limits), at: Instant(nanoseconds: 0))
        var effects = RoomEffects()
        let names = (0..<authors).map { AuthorID.known("author-\($0)") }
        var now = Instant(nanoseconds: 0)
        func send(_ number: Int64, by author: AuthorID) {
            now = now + .nanoseconds(1)
            room.receive(
                IncomingMessage(author: author, session: nil, bytes: Array(draw(number).utf8), loggedAt: now),
                incarnation: { "life" }, at: now, into: &effects)
            room.advance(to: now, into: &effects)
            #expect(room.nextWake(after: now) != nil)
            effects.removeAll()
        }
        for author in names {
            send(0, by: author)
            for place in 1...Int64(held) { send(4 * place, by: author) }
        }
        var random = SeededGenerator(seed: 7)
        return leastProcessorTime {
            for _ in 0..<200 {
                // New gaps inside old ones, and repeats.
                let place = Int64(random.int(1...held - 1))
                send(4 * place + 2, by: names[random.int(0...authors - 1)])
            }
        }
    }

    @Test func `Does not grow with the operations that wait`() throws {
        let (few, many) = (try cost(authors: 1, held: 20), try cost(authors: 1, held: 20_000))
        print("200 inputs: \(few) with 20 held operations, \(many) with 20,000")
        #expect(many < few * Self.factor)
    }

    @Test func `Does not grow with the authors`() throws {
        let (few, many) = (try cost(authors: 1, held: 20), try cost(authors: 1000, held: 20))
        print("200 inputs: \(few) with 1 author, \(many) with 1,000")
        #expect(many < few * Self.factor)
    }
}
