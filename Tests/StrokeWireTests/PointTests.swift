import Foundation
import StrokeWire
import TestSupport
import Testing

@Suite struct `The points of a message` {
    private struct Points: Decodable {
        struct Point: Decodable {
            var x, y: Double
            var f, i, z, m: Double?
        }
        var d: [Point]?
    }

    @Test(arguments: SampleLesson.available)
    func `are those that another JSON reader finds`(lesson: SampleLesson) throws {
        for bytes in try lesson.messages() {
            let expected = try JSONDecoder().decode(Points.self, from: Data(bytes)).d ?? []
            let message = try StrokeMessage(decoding: bytes)
            let points = message.decodePoints(of: bytes)
            #expect(message.points.count == points.count)
            #expect(
                points
                    == expected.map {
                        StrokePoint(x: $0.x, y: $0.y, force: $0.f, altitude: $0.i, azimuth: $0.z, milliseconds: $0.m)
                    })
        }
    }

    @Test func `survive writing and reading with all their bits`() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        func some(_ range: ClosedRange<Double>) -> Double? {
            random.chance(1, in: 2) ? Double.random(in: range, using: &random) : nil
        }
        for _ in 0..<200 {
            let points = (0..<random.int(1...50)).map { _ in
                StrokePoint(
                    x: .random(in: -65536...65536, using: &random),
                    y: Double(random.int(-65536...65536)), force: some(0...1), altitude: some(-4...4),
                    azimuth: some(-1e300...1e300), milliseconds: some(0...1e-300))
            }
            let bytes = StrokeMessage(number: 1).encoded(interior: PointEncoder.interior(of: points)[...])
            #expect(try StrokeMessage(decoding: bytes).decodePoints(of: bytes) == points, "seed \(random.seed)")
        }
    }

    @Test func `are equal when the same things are absent`() {
        let point = StrokePoint(x: 1, y: 2, force: 0.5)
        #expect(point == StrokePoint(x: 1, y: 2, force: 0.5))
        #expect(point != StrokePoint(x: 1, y: 2))
        var other = point
        other.force = nil
        #expect(other == StrokePoint(x: 1, y: 2))
        other.altitude = 1
        other.azimuth = 2
        other.milliseconds = 3
        #expect(other == StrokePoint(x: 1, y: 2, altitude: 1, azimuth: 2, milliseconds: 3))
    }

    @Test(arguments: [
        (#"{"n":1,"c":1,"l":1,"s":0,"o":0,"e":0,"a":1,"t":0,"w":9,"h":9,"d":[{"x":1,"y":2},{"y":4, "x":3}]}"#, 2),
        (#"{"n":1,"d":[{"x":7,"y":8},{"x":7,"y":8}],"c":1,"l":1,"e":0,"a":1,"t":0,"d":[{"x":1,"y":2}]}"#, 1),
        (#"{"n":1,"d":[{"x":7,"y":8}],"c":1,"l":1,"e":0,"a":1,"t":0,"d":0}"#, 0),
        (#"{"n":1,"c":1,"l":1,"e":0,"a":1,"t":0,"d":[{"x":1,"y":2},{"x":1}]}"#, 0),
        (#"{"n":1,"c":1,"l":1,"e":0,"a":1,"t":0,"d":[{"x":1,"y":2}]"#, 0),
        (#"{"n":1,"a":2,"t":0,"d":[{"x":1,"y":2}]}"#, 0),
    ])
    func `read on the way are those of the last array of a stroke, and none of what is refused`(
        text: String, count: Int
    ) {
        let all = [StrokePoint(x: 1, y: 2), StrokePoint(x: 3, y: 4)]
        var points = [StrokePoint(x: 9, y: 9), StrokePoint(x: 9, y: 9), StrokePoint(x: 9, y: 9)]
        _ = try? StrokeMessage(decoding: Array(text.utf8), points: &points)
        #expect(points == Array(all.prefix(count)))
    }

    @Test func `take 48 bytes each`() {
        #expect(MemoryLayout<StrokePoint>.stride == 48)
    }

    @Test func `looked for in other bytes than theirs end at the first fault`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        let text = Array(#"[{"x":1,"y":2},{"x":3,"y":4},{"x":"5"}] "#.utf8)
        for _ in 0..<5000 {
            let lower = random.int(0...60)
            let array = PointArray(count: .random(in: -9 ... .max, using: &random), interior: lower..<(lower + 30))
            let found = array.decodePoints(of: text)
            #expect(found.count <= 2)
        }
        #expect(PointArray(count: 9, interior: 1..<38).decodePoints(of: text).count == 2)
        #expect(PointArray(count: 2, interior: 1..<29).decodePoints(of: []) == [])
    }
}

/// Points as clients write them are decoded by a fast path, which must give the same result.
@Suite struct `Points written plainly` {
    @Test func `are read and refused like those with white space in them`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        var accepted = 0
        for _ in 0..<20_000 {
            let points = (0..<random.int(1...4)).map { _ in Self.randomPoint(&random) }
            let plain = decoded(points.joined(separator: ","))
            let spaced = decoded(points.map { $0.replacing("{", with: "{ ") }.joined(separator: ","))
            // The sentences differ: they name offsets.
            #expect(plain.fault == spaced.fault, "\(points), seed \(random.seed)")
            #expect((try? plain.get()) == (try? spaced.get()), "\(points), seed \(random.seed)")
            if case .success = plain { accepted += 1 }
        }
        #expect(accepted > 2000, "hardly any was right, seed \(random.seed)")
    }

    private func decoded(_ points: String) -> Result<[StrokePoint], MalformedMessage> {
        let bytes = Array(#"{"n":1,"d":[\#(points)]}"#.utf8)
        return decode(bytes).map { $0.decodePoints(of: bytes) }
    }

    /// Mostly a valid point, sometimes with a mistake of the kinds that clients make.
    private static func randomPoint(_ random: inout SeededGenerator) -> String {
        var members = ["x", "y"]
        for key in ["f", "i", "z", "m"] where random.chance(1, in: 4) { members.append(key) }
        if random.chance(1, in: 20) { members.append(random.pick(["x", "y", "q", "xy", "", "f"])) }
        if random.chance(1, in: 20) { members.removeFirst() }
        if random.chance(1, in: 5) { members.shuffle(using: &random) }
        var text = members.map { "\"\($0)\":\(randomValue(&random))" }.joined(separator: ",")
        if random.chance(1, in: 30) { text += random.pick([",", " ", "}", "\"", ":", "\n"]) }
        return "{\(text)}"
    }

    private static func randomValue(_ random: inout SeededGenerator) -> String {
        func digits(_ range: ClosedRange<Int>) -> String {
            (0..<random.int(range)).map { _ in String(random.int(0...9)) }.joined()
        }
        var text = random.chance(1, in: 5) ? "-" : ""
        text += random.pick(["0", String(random.int(1...9)), String(random.int(10...4000))])
        if random.chance(2, in: 3) { text += "." + digits(1...3) }
        guard random.chance(1, in: 12) else { return text }
        return random.pick([
            text + digits(1...14), "0" + text, text + ".", "." + text, text + "e1", text + "E-2", "+" + text, "-", "",
            "null", "true", "\"1\"", "[1]", "{}", text + text, "1e999", "65536", "65537", "-65536.5", "-0", "1.5.2",
        ])
    }
}

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
        var random = SeededGenerator(seed: TestSeed.choose())
        let strokes = try Self.strokes()
        #expect(strokes.count == SampleLesson.available.reduce(0) { $0 + $1.strokeCounts.drawn })
        for (message, interior) in strokes {
            let maxBytes = random.int(150...4000)
            let shards = ShardCutter.cut(message, interior: interior[...], maxBytes: maxBytes)
            #expect(try joined(shards) == interior, "\(maxBytes), seed \(random.seed)")
            #expect(shards.allSatisfy { $0.count <= maxBytes }, "\(maxBytes), seed \(random.seed)")
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
        var random = SeededGenerator(seed: TestSeed.choose())
        for (message, interior) in try Self.strokes() {
            let size = random.int(1...60)
            let shards = ShardCutter.cut(message, interior: interior[...], pointsPerShard: size)
            #expect(try joined(shards) == interior)
            let counts = try shards.map { try StrokeMessage(decoding: $0).points.count }
            #expect(counts.dropLast().allSatisfy { $0 == size })
            #expect(counts.last.map { (1...size).contains($0) } == true, "seed \(random.seed)")
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
