import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

/// Rooms that valid and invalid extremes made: what was written of them can be read.
@Suite struct `A checkpoint of hostile input` {
    private static let numbers = [
        "0", "1", "-1", "0.5", "1e-300", "2147483648", "9007199254740991", "9007199254740993", "9e15", "-9e15", "1e17",
        "9223372036854775807", "-9223372036854775808", "1e300", "-1e300", "1e999",
    ]

    private static func member(_ key: String, _ random: inout SeededGenerator, _ usual: [String]) -> String {
        guard random.chance(60, in: 100) else { return "" }
        let value = random.chance(40, in: 100) ? random.pick(numbers) : random.pick(usual)
        return ",\"\(key)\":\(value)"
    }

    private static func points(_ count: Int, _ random: inout SeededGenerator) -> String {
        let points = (0..<count).map { _ in
            let keys = ["f", "i", "z", "m"].map { member($0, &random, ["0", "1", "20"]) }.joined()
            return "{\"x\":\(random.int(-65536...65536)),\"y\":\(random.int(0...9))\(keys)}"
        }
        return ",\"d\":[\(points.joined(separator: ","))]"
    }

    private static let texts = [
        #""a""#, #""zwei\nZeilen""#, #""\u05e9\u05dc\ud83d\ude00""#, #""\ud800""#, #""\u0000""#, #""\u202e""#, "7",
        "\"<&\u{301}>\"", "\"\"", "\"\(String(repeating: "x", count: 2000))\"",
        "\"\(String(repeating: "x", count: 2001))\"",
    ]

    /// The keys of an action or an element, and its points.
    /// - Parameter last: the greatest index that the room may have.
    private static func content(
        _ action: Int, _ element: Int, _ last: Int64, _ random: inout SeededGenerator
    ) -> String {
        let asset = ",\"i\":\"\(String(repeating: random.pick(["a", "0"]), count: 64))\""
        switch (action, element) {
        case (6, _): return ",\"v\":[\(random.int(0...3)),\(random.int(4...999))]"
        case (7, _) where random.chance(50, in: 100):
            return ",\"p\":\(random.int(0...4))" + member("l", &random, ["8", "32", "256"])
        case (7, _):
            return asset + member("p", &random, ["0", "499"]) + member("k", &random, ["0", "3"]) + points(2, &random)
        case (8, _):
            let named = Set((0..<random.int(1...5)).map { _ in "\(random.int(1...Int(last)))" })
            let list = named.sorted() + (random.chance(5, in: 100) ? [random.pick(numbers)] : [])
            return ",\"v\":[\(list.joined(separator: ","))]"
        case (_, 5): return asset + member("p", &random, ["0", "7"]) + points(random.int(1...3), &random)
        case (_, 6):
            let map = random.chance(70, in: 100) ? ",\"m\":[1,0,0,1,\(random.pick(numbers)),0]" : ""
            return map + ",\"k\":\(random.int(0...1))" + points(random.int(1...5), &random)
        case (_, 8):
            return ",\"x\":\(random.pick(texts)),\"l\":\(random.pick(["4", "32", "512", "3"]))" + points(2, &random)
        default: return points(random.int(1...4), &random)
        }
    }

    private static func message(_ number: Int64, _ random: inout SeededGenerator) -> String {
        var text = "{\"n\":\(number)"
        text += member("t", &random, ["100", "5000", "-7"])
        text += member("g", &random, ["0", "1", "999"])
        for key in ["c", "l", "w", "h", "s", "o"] where random.chance(25, in: 100) {
            text += member(key, &random, ["1", "2", "3"])
        }
        let (action, element) = (random.pick([0, 1, 1, 1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 8]), random.int(0...10))
        text += ",\"e\":\(element),\"a\":\(action)"
        if random.chance(10, in: 100) { text += ",\"by\":\(random.pick(texts))" }
        // Now and then, the keys of something else.
        text +=
            random.chance(90, in: 100)
            ? content(action, element, number + 1, &random)
            : content(random.int(0...8), random.int(0...10), number + 1, &random)
        return text + "}"
    }

    private static func sample(_ random: inout SeededGenerator) -> String {
        var text = "{\"m\":\(random.chance(50, in: 100) ? random.pick(numbers) : "\(random.int(0...20_000))")"
        for key in ["q", "ep", "r", "b"] where random.chance(20, in: 100) { text += member(key, &random, ["1", "33"]) }
        if random.chance(20, in: 100) { text += ",\"d\":true" }
        return text + ",\"s\":\"\(random.pick(["play", "play", "pause", "stall", "end"]))\"}"
    }

    /// Some of the features, often all.
    private static func features(_ random: inout SeededGenerator) -> BoardFeatures {
        random.chance(70, in: 100)
            ? .all : BoardFeatures(rawValue: UInt16(random.int(0...1023))).intersection(.all)
    }

    /// Plays a room.
    /// - Parameter look: called after each event.
    private static func play(_ seed: UInt64, _ look: (RoomProbe) throws -> Void) throws -> RoomProbe {
        var random = SeededGenerator(seed: seed)
        let configuration = RoomConfiguration(
            intake: IntakeLimits(wire: WireLimits(features: features(&random))),
            history: .random(depth: 1...5, using: &random),
            cohorts: CohortsConfiguration(
                defaults: CohortSettings(
                    policy: random.chance(50, in: 100) ? .hold : .maxhold,
                    ink: random.chance(70, in: 100) ? .progressive : .whole)))
        var probe = RoomProbe(configuration)
        var next: Int64 = 1
        for _ in 0..<60 {
            if random.chance(75, in: 100) {
                let number = random.chance(10, in: 100) ? Int64(random.int(0...200)) : next
                next = max(next, number + 1)
                probe.send(
                    message(number, &random), by: random.pick([AuthorID.alice, .bob]),
                    session: random.chance(5, in: 100) ? "s\(random.int(0...3))" : nil)
            } else if random.chance(50, in: 100) {
                probe.receiveClock(Array(sample(&random).utf8), .main)
            } else if random.chance(10, in: 100) {
                probe.record(random.chance(50, in: 100) ? .mute(.bob) : .unmute(.bob))
            } else {
                probe.wait(random.pick([.milliseconds(30), .seconds(3), .seconds(40), .seconds(90_000)]))
            }
            try look(probe)
        }
        return probe
    }

    @Test(arguments: TestSeed.choose(200)) func `is read as it was written, at any moment`(seed: UInt64) throws {
        _ = try Self.play(seed) { probe in
            let checkpoint = probe.room.checkpoint()
            let bytes = checkpoint.encoded()
            let restored = try Room(
                restoring: bytes, configuration: probe.room.configuration, at: probe.now, logClockAhead: probe.logAhead)
            #expect(restored.checkpoint().encoded() == bytes, "seed \(seed)")
            #expect(BoardLook(restored.head) == BoardLook(probe.room.head), "seed \(seed)")
            #expect(restored.head.pages == probe.room.head.pages, "seed \(seed)")
            #expect(restored.head.assets == probe.room.head.assets, "seed \(seed)")
            // The room before keeps more of its log, for students who join again.
            #expect(restored.checkpoint().assets.isSubset(of: checkpoint.assets), "seed \(seed)")
        }
    }

    /// What the rooms above would be worth without.
    @Test func `comes of rooms in which everything was done`() throws {
        var (actions, elements): (Set<Action>, Set<Element>) = ([], [])
        for seed: UInt64 in 0..<60 {
            for operation in try Self.play(seed, { _ in }).applied {
                actions.insert(operation.action)
                if let header = operation.fields(of: operation.restoredMessage) { elements.insert(header.element) }
            }
        }
        #expect(actions == Set(Action.allCases))
        #expect(elements == Set(Element.allCases))
    }

    /// A client that writes nanoseconds.
    @Test(arguments: ["9.1e12", "9007199254740993", "1e300"])
    func `is read after a point that lies centuries after its stroke`(_ milliseconds: String) throws {
        let configuration = RoomConfiguration(
            cohorts: CohortsConfiguration(defaults: CohortSettings(ink: .progressive)))
        // With a clock, the time is absurd and does not count.
        var probe = RoomProbe(configuration)
        probe.send(#"{"n":1,"t":100,"d":[{"x":1,"y":1,"m":0},{"x":2,"y":2,"m":\#(milliseconds)}]}"#)
        let bytes = probe.room.checkpoint().encoded()
        let restored = try probe.restored(bytes)
        #expect(restored.checkpoint().encoded() == bytes)
        #expect(restored.head.visible.count == 1)

        // Earlier builds wrote greater ones: 2⁵³ becomes 2⁵⁶ - 1, in as many bytes.
        let greatest = [UInt8](repeating: 0x80, count: 7) + [0x10]
        let beyond = [UInt8](repeating: 0xff, count: 7) + [0x7f]
        #expect(bytes.contains(greatest))
        let old = try Room(
            restoring: Array(bytes.replacing(greatest, with: beyond)), configuration: configuration, at: probe.now,
            logClockAhead: .zero)
        #expect(old.checkpoint().encoded() == bytes)
    }
}
