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

    @Test("Points are joined in the order of `o`, counted from 0 or from 1, whatever the order of arrival")
    mutating func joins() throws {
        for base in [0, 1] {
            for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1]] {
                probe = RoomProbe()
                for o in order {
                    #expect(probe.applied.isEmpty)
                    probe.send(shard(1, o + base, of: 3, points: (10 * o)..<(10 * o + 3)))
                }
                #expect(try ink() == [0, 1, 2, 10, 11, 12, 20, 21, 22])
                #expect(probe.takeTold() == ["applied 1 as 1"])
            }
        }
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

    @Test mutating func `Fields are those of the lowest order, the time is the largest`() throws {
        probe.send(shard(1, 2, of: 3, points: 0..<1, #","c":2,"l":2,"t":20,"w":200,"h":100"#))
        probe.send(shard(1, 1, of: 3, points: 0..<1, #","c":1,"l":1.5,"t":30,"w":300,"h":150"#))
        probe.send(shard(1, 0, of: 3, points: 0..<1, #","c":7,"l":7,"w":700,"h":350"#))
        let operation = try #require(probe.applied.first)
        let header = try StrokeMessage(decoding: operation.message)
        #expect(header.colour == 7)
        #expect(header.width == 7)
        #expect(header.time == 30)
        #expect(operation.time == 30)
        #expect(header.boardWidth == 700)
        #expect(header.boardHeight == 350)
        #expect(header.shardCount == 0)
        #expect(header.shardOrder == 0)
        let joined = try #require(operation.fields(of: operation.restoredMessage))
        #expect(joined.points == header.points)
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

    @Test("A repeated order with the same points is a repeat, with others a conflict, and the first stays")
    mutating func repeats() throws {
        probe.send(shard(1, 0, of: 2, points: 0..<1), shard(1, 0, of: 2, points: 0..<1, #","c":3"#))
        #expect(probe.takeTold() == [])
        #expect(probe.counts.intake.repeats == 1)
        probe.send(shard(1, 0, of: 2, points: 5..<6))
        #expect(probe.takeTold() == ["rejected 1 0 shard-conflict d"])
        probe.send(shard(1, 1, of: 2, points: 1..<2))
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
