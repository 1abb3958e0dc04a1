import StrokeWire
import TestSupport

@testable import Whiteboard

/// A lossy class with more trouble: an author who begins counts anew and says so or not, one who sends anything at all,
/// and the clocks of three cohorts through several encoder sessions.
struct TroubledClass {
    private(set) var random: SeededGenerator
    private var lesson: LossyClass
    private let began: Instant
    /// Whether clocks jump, pause and end, and some operations have times beyond belief.
    private let isWild: Bool
    private var epoch: Int64 = 1
    private var epochBegan: Instant
    private let cohorts: [CohortName]

    static let names = ["main", "hls", "web"].compactMap { CohortName($0) }

    init(seed: UInt64, at now: Instant, operations: Int, isWild: Bool) {
        random = SeededGenerator(seed: seed)
        lesson = LossyClass(seed: random.next(), at: now, authors: 1...3, operations: operations)
        began = now
        epochBegan = now
        self.isWild = isWild
        cohorts = Array(Self.names.prefix(random.int(1...3)))
    }

    var isOver: Bool { lesson.isOver }

    mutating func step(_ probe: inout RoomProbe) {
        lesson.step(&probe)
        if random.chance(15, in: 100) { sample(&probe) }
        if random.chance(10, in: 100) { countAnew(&probe) }
        if random.chance(4, in: 100) { probe.send(Malformed.message(&random), by: .known("mallory")) }
        if random.chance(1, in: 100) { startEpoch(probe.now) }
    }

    /// Every cohort's video goes on to a session in which all that was written is due; later than any that jumps of
    /// samples without a session have stood for.
    mutating func end(_ probe: inout RoomProbe) {
        // Past the wildest times that operations were given.
        for cohort in probe.room.cursors.keys.sorted() { probe.clock(3e9, cohort, #","ep":\#(epoch + 1000)"#) }
        probe.wait(.seconds(30))
    }

    private mutating func startEpoch(_ now: Instant) {
        epoch += Int64(random.int(1...3))
        if isWild && random.chance(50, in: 100) { epochBegan = now }
    }

    private mutating func sample(_ probe: inout RoomProbe) {
        guard let cohort = cohorts.randomElement(using: &random) else { return }
        let delay = cohort == .main ? 300 : 4000
        var media = Double((probe.now - epochBegan).nanoseconds / 1_000_000 - Int64(delay))
        var more = random.chance(80, in: 100) ? #","ep":\#(epoch)"# : ""
        if isWild {
            if random.chance(5, in: 100) { media += Double(random.int(-40_000...40_000)) }
            if random.chance(5, in: 100) { more += #","d":true"# }
            more += ["", "", "", #","s":"pause""#, #","s":"stall""#, #","s":"end""#, #","r":500"#][random.int(0...6)]
        }
        probe.clock(media, cohort, more)
    }

    private mutating func countAnew(_ probe: inout RoomProbe) {
        let number = Int64(random.int(0...9))
        let session = random.chance(60, in: 100) ? "s\(random.int(0...3))" : nil
        let elapsed = (probe.now - began).nanoseconds / 1_000_000
        let wild = isWild && random.chance(10, in: 100)
        let time = #","t":\#(wild ? [elapsed + 1_000_000_000, .max, .min][random.int(0...2)] : elapsed)"#
        let texts = [
            draw(number, x: random.int(0...9), points: random.int(1...9), time), draw(number), undo(number, time),
            redo(number), shard(number, random.int(0...3), of: random.int(2...3), time),
        ]
        probe.send(texts[random.int(0...4)], by: .known("carol"), session: session)
    }
}
