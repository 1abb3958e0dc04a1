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

    private static func points(_ random: inout SeededGenerator) -> String {
        let points = (0..<random.int(1...4)).map { _ in
            let keys = ["f", "i", "z", "m"].map { member($0, &random, ["0", "1", "20"]) }.joined()
            return "{\"x\":\(random.int(-65536...65536)),\"y\":\(random.int(0...9))\(keys)}"
        }
        return ",\"d\":[\(points.joined(separator: ","))]"
    }

    private static func message(_ number: Int64, _ random: inout SeededGenerator) -> String {
        let image = ",\"i\":\"\(String(repeating: random.pick(["a", "0"]), count: 64))\""
        var text = "{\"n\":\(number)"
        text += member("t", &random, ["100", "5000", "-7"])
        text += member("g", &random, ["0", "1", "999"])
        for key in ["c", "l", "w", "h", "s", "o"] where random.chance(25, in: 100) {
            text += member(key, &random, ["1", "2", "3"])
        }
        text += ",\"e\":\(random.pick([0, 0, 0, 1, 4, 5, 6])),\"a\":\(random.pick([1, 1, 1, 1, 2, 3, 4, 5, 6]))"
        if random.chance(30, in: 100) { text += image + member("p", &random, ["0", "7"]) }
        if random.chance(30, in: 100) {
            text += ",\"m\":[1,0,0,1,\(random.pick(numbers)),0],\"k\":\(random.int(0...1))"
        }
        if random.chance(10, in: 100) { text += ",\"v\":[\(random.int(0...3)),\(random.int(4...999))]" }
        return text + points(&random) + "}"
    }

    private static func sample(_ random: inout SeededGenerator) -> String {
        var text = "{\"m\":\(random.chance(50, in: 100) ? random.pick(numbers) : "\(random.int(0...20_000))")"
        for key in ["q", "ep", "r", "b"] where random.chance(20, in: 100) { text += member(key, &random, ["1", "33"]) }
        if random.chance(20, in: 100) { text += ",\"d\":true" }
        return text + ",\"s\":\"\(random.pick(["play", "play", "pause", "stall", "end"]))\"}"
    }

    @Test(arguments: TestSeed.choose(200)) func `is read as it was written, at any moment`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let configuration = RoomConfiguration(
            intake: IntakeLimits(wire: WireLimits(features: .all)),
            history: HistoryConfiguration(
                depth: random.int(1...5), clear: random.chance(50, in: 100) ? .final : .undoable),
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
                    Self.message(number, &random), by: random.pick([AuthorID.alice, .bob]),
                    session: random.chance(5, in: 100) ? "s\(random.int(0...3))" : nil)
            } else if random.chance(60, in: 100) {
                probe.receiveClock(Array(Self.sample(&random).utf8), .main)
            } else {
                probe.wait(random.pick([.milliseconds(30), .seconds(3), .seconds(40), .seconds(900_000)]))
            }
            let bytes = probe.room.checkpoint().encoded()
            let restored = try Room(
                restoring: bytes, configuration: configuration, at: probe.now, logClockAhead: probe.logAhead)
            #expect(restored.checkpoint().encoded() == bytes, "seed \(seed)")
            #expect(restored.head.digest == probe.room.head.digest, "seed \(seed)")
        }
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
