import StrokeWire
import TestSupport
import Testing

@Suite struct `Shards` {
    /// The whole strokes of all lessons, as one message and its points each.
    private static func strokes() throws -> [(message: StrokeMessage, interior: [UInt8])] {
        var strokes: [(message: StrokeMessage, interior: [UInt8])] = []
        var interiors: [ArraySlice<UInt8>] = []
        for bytes in try SampleLesson.allMessages() {
            let message = try StrokeMessage(decoding: bytes)
            guard message.action == .draw else { continue }
            if message.shardOrder == 0 { interiors = [] }
            interiors.append(bytes[message.points.interior])
            if interiors.count == max(1, message.shardCount) { strokes.append((message, ShardJoiner.join(interiors))) }
        }
        return strokes
    }

    private func joined(_ shards: [[UInt8]]) throws -> [UInt8] {
        ShardJoiner.join(try shards.map { $0[try StrokeMessage(decoding: $0).points.interior] })
    }

    @Test
    func `cut anywhere and joined again are the stroke, byte for byte`() throws {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        let strokes = try Self.strokes()
        #expect(strokes.count == SampleLesson.available.reduce(0) { $0 + $1.strokeCounts.drawn })
        for (message, interior) in strokes {
            let maxBytes = random.int(150...4000)
            let shards = ShardCutter.cut(message, interior: interior[...], maxBytes: maxBytes)
            #expect(try joined(shards) == interior, "\(maxBytes), seed \(seed)")
            #expect(shards.allSatisfy { $0.count <= maxBytes }, "\(maxBytes), seed \(seed)")
            for (order, bytes) in shards.enumerated() {
                let shard = try StrokeMessage(decoding: bytes)
                #expect(shard.shardCount == (shards.count == 1 ? 0 : shards.count))
                #expect(shard.shardOrder == order)
                #expect(shard.number == message.number && shard.time == message.time && shard.width == message.width)
            }
        }
    }

    @Test
    func `cut by points hold so many, and the stroke when joined`() throws {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        for (message, interior) in try Self.strokes() {
            let size = random.int(1...60)
            let shards = ShardCutter.cut(message, interior: interior[...], pointsPerShard: size)
            #expect(try joined(shards) == interior)
            let counts = try shards.map { try StrokeMessage(decoding: $0).points.count }
            #expect(counts.dropLast().allSatisfy { $0 == size })
            #expect(counts.last.map { (1...size).contains($0) } == true, "seed \(seed)")
        }
    }

    @Test func `are none where the stroke fits`() {
        let interior = Array(#"{"x":1,"y":2},{"x":3,"y":4}"#.utf8)
        let message = StrokeMessage(number: 1, shardCount: 5, shardOrder: 3)
        let whole = StrokeMessage(number: 1).encoded(interior: interior[...])
        #expect(ShardCutter.cut(message, interior: interior[...], maxBytes: whole.count) == [whole])
        #expect(ShardCutter.cut(message, interior: interior[...], maxBytes: whole.count - 1).count == 2)
        #expect(ShardCutter.cut(message, interior: interior[...], pointsPerShard: 2) == [whole])
        #expect(ShardCutter.cut(message, interior: interior[...], pointsPerShard: .max) == [whole])
        #expect(ShardCutter.cut(message, interior: interior[...], pointsPerShard: .min).count == 2)
    }

    @Test func `are made for draws only`() {
        let undo = StrokeMessage(number: 1, action: .undo)
        #expect(ShardCutter.cut(undo, interior: [], maxBytes: 1) == [undo.encoded(interior: [])])
        #expect(ShardCutter.cut(undo, interior: [1, 2], pointsPerShard: 1) == [undo.encoded(interior: [])])
    }

    @Test func `take a point that is too large for any alone`() throws {
        let large = #"{"x":1,"y":2,"k":"\#(String(repeating: "k", count: 500))"}"#
        let interior = Array(#"{"x":1,"y":2},\#(large),{"x":3,"y":4}"#.utf8)
        for maxBytes in [Int.min, 0, 120, 300] {
            let shards = ShardCutter.cut(StrokeMessage(number: 1), interior: interior[...], maxBytes: maxBytes)
            #expect(try joined(shards) == interior)
            #expect(try shards.map { try StrokeMessage(decoding: $0).points.count } == [1, 1, 1])
        }
    }

    @Test func `are never more than 1024`() throws {
        let points = (0..<5000).map { StrokePoint(x: Double($0), y: 0.5) }
        let interior = PointEncoder.interior(of: points)
        for shards in [
            ShardCutter.cut(StrokeMessage(number: 1), interior: interior[...], maxBytes: 100),
            ShardCutter.cut(StrokeMessage(number: 1), interior: interior[...], pointsPerShard: 1),
        ] {
            #expect((500...1024).contains(shards.count))
            #expect(try joined(shards) == interior)
        }
    }

    @Test func `are cut between points only, whatever stands in them`() throws {
        let points = [
            #"{"x":1,"y":2,"k":"},{\"\\"}"#, #"{ "x" : 1,"y":2,"k":[{},{"a":[1,2]}]}"#, #"{"x":1,"y":2}"#,
            #"{"x":9,"y":"\\"}"#,
        ]
        let interior = Array(points.joined(separator: " ,\n ").utf8)
        let shards = ShardCutter.cut(StrokeMessage(number: 1), interior: interior[...], pointsPerShard: 1)
        #expect(shards.count == 4)
        for (shard, point) in zip(shards, points) {
            #expect(String(decoding: shard, as: UTF8.self).hasSuffix(",\"d\":[\(point)]}"))
        }
    }

    @Test func `of any bytes at all do not trap`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        let alphabet = Array("{}[],\"\\ 1x".utf8)
        for _ in 0..<2000 {
            let noise = (0..<random.int(0...60)).map { _ in random.pick(alphabet) }
            let maxBytes = random.int(-10...150)
            #expect(!ShardCutter.cut(StrokeMessage(number: 1), interior: noise[...], maxBytes: maxBytes).isEmpty)
            #expect(!ShardCutter.cut(StrokeMessage(number: 1), interior: noise[...], pointsPerShard: 2).isEmpty)
        }
    }

    @Test func `without points are skipped when joining`() {
        func slice(_ text: String) -> ArraySlice<UInt8> { Array(text.utf8)[...] }
        #expect(ShardJoiner.join([]) == [])
        #expect(ShardJoiner.join([[], []]) == [])
        #expect(ShardJoiner.join([[], slice("a"), [], slice("b"), []]) == Array("a,b".utf8))
    }
}
