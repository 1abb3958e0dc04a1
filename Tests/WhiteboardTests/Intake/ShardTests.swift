import StrokeWire
import Testing

@testable import Whiteboard

@Suite("Shards")
struct ShardTests {
    private var probe = RoomProbe()

    /// The x coordinates of the only stroke.
    private func ink() throws -> [Double] {
        let stroke = try #require(probe.room.head.visible.first)
        return try #require(stroke.decoded()).points.map(\.x)
    }

    @Test mutating func `'s' 0 and 1 both mean not sharded`() {
        probe.send(draw(1, #","s":0"#), draw(2, #","s":1,"o":0"#), draw(3, #","s":1,"o":1"#))
        #expect(probe.takeTold() == ["applied 1 as 1", "applied 2 as 2", "applied 3 as 3"])
    }

    @Test
    mutating func `Of orders 0 and s the one that comes second is a conflict; the other completes the stroke`() throws {
        probe.send(shard(1, 0, of: 2, points: 0..<1), shard(1, 2, of: 2, points: 2..<3))
        #expect(probe.takeTold() == ["rejected 1 2 shard-conflict o"])
        probe.send(shard(1, 1, of: 2, points: 1..<2))
        #expect(try ink() == [0, 1])

        probe = RoomProbe()
        probe.send(shard(1, 2, of: 2, points: 2..<3), shard(1, 0, of: 2, points: 0..<1))
        #expect(probe.takeTold() == ["rejected 1 0 shard-conflict o"])
        probe.send(shard(1, 1, of: 2, points: 1..<2))
        #expect(try ink() == [1, 2])
    }

    @Test mutating func `The bytes inside the point arrays are spliced as they are`() throws {
        probe.send(#"{"n":1,"s":2,"d":[ {"x":1.50,"y":1e0, "q":[1, {}] } ,{"y":-0,"x":2}]}"#)
        probe.send(#"{"n":1,"s":2,"o":1,"d":[{"x":3,"y":3,"f":0.10}]}"#)
        let message = try #require(probe.applied.first).message
        let points = #"{"x":1.50,"y":1e0, "q":[1, {}] } ,{"y":-0,"x":2},{"x":3,"y":3,"f":0.10}"#
        #expect(String(decoding: message, as: UTF8.self).hasSuffix("[" + points + "]}"))
    }

    @Test(
        "A shard that differs in s, e or a is a conflict and changes nothing; 0 and 1 of 'a' are the same")
    mutating func conflicts() throws {
        probe.send(shard(1, 0, of: 2, points: 0..<1, #","e":0,"a":0"#), shard(1, 1, of: 3, points: 5..<6))
        probe.send(shard(1, 1, of: 2, points: 5..<6, #","e":1"#), shard(1, 1, of: 2, points: 5..<6, #","a":2"#))
        probe.send(draw(1, x: 5))
        #expect(
            probe.takeTold() == [
                "rejected 1 1 shard-conflict s", "rejected 1 1 shard-conflict e", "rejected 1 1 shard-conflict a",
                "rejected 1 0 shard-conflict s",
            ])
        probe.send(shard(1, 1, of: 2, points: 1..<2, #","a":1"#))
        #expect(try ink() == [0, 1])
    }

    @Test mutating func `A shard may be empty, a whole stroke may not`() throws {
        probe.send(shard(1, 0, of: 2, points: 0..<0), shard(1, 1, of: 2, points: 3..<4))
        #expect(try ink() == [3])
        probe.send(shard(2, 0, of: 2, points: 0..<0), shard(2, 1, of: 2, points: 0..<0), draw(3))
        #expect(probe.takeTold() == ["applied 1 as 1", "rejected 2 1 out-of-range d", "applied 3 as 2"])
    }

    @Test
    mutating func `A stroke with more points than the limit is rejected at once, and what comes of it later with it`() {
        probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(wire: WireLimits(points: 5))))
        probe.send(draw(1), by: .known("first"))
        _ = probe.takeTold()
        probe.send(shard(1, 0, of: 3, points: 0..<3), shard(1, 1, of: 3, points: 0..<3))
        #expect(probe.takeTold() == ["rejected 1 1 too-many-points d"])
        probe.send(draw(2), shard(1, 2, of: 3, points: 0..<1))
        #expect(probe.takeTold() == ["applied 2 as 2", "rejected 1 2 too-many-points d"])
    }

    @Test mutating func `Undo, redo and clear mean nothing by 's'`() {
        probe.send(draw(1), undo(2, #","s":3,"o":1"#))
        #expect(probe.applied.map(\.summary) == ["1 alice 1 draw", "2 alice 2 undo 1"])
    }
}
