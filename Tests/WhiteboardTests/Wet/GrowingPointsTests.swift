import Ink
import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

@Suite struct `When the points of a growing stroke may be seen` {
    private func update(_ first: Int, _ milliseconds: [Double?], y: Double = 0) -> WetPoints {
        let points = milliseconds.enumerated().map {
            StrokePoint(x: Double(first + $0.offset), y: y, milliseconds: $0.element)
        }
        return WetPoints(style: WetStrokeStyle(time: 0), first: first, points: points)
    }

    /// Compares all that a stroke tells about its points with a look at each of them.
    private func compare(_ growing: GrowingPoints, seed: UInt64) {
        var latest: Int64 = 0
        let reaches = growing.model.confirmed.map { point in
            latest = max(latest, GrowingPoints.reach(of: point))
            return latest
        }
        #expect(growing.count == reaches.count, "seed \(seed)")
        #expect(growing.reach == latest, "seed \(seed)")
        #expect(reaches.indices.map { growing.reach(through: $0) } == reaches, "seed \(seed)")
        let start = MediaTime(milliseconds: Int64(5000))
        for reach in Set(reaches).union([0, 1, latest + 1, -1]) {
            let count = reaches.count { $0 < reach }
            #expect(growing.count(before: reach) == count, "seed \(seed)")
            #expect(growing.count(before: start + reach, from: start) == count, "seed \(seed)")
        }
    }

    @Test(arguments: TestSeed.choose(4))
    func `is known of each, however they came and changed`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var growing = GrowingPoints()
        func time() -> Double? {
            switch random.int(0...9) {
            case 0: nil
            case 1: -5
            case 2: Double(random.int(0...1_000_000))
            default: Double(random.int(0...300))
            }
        }
        compare(growing, seed: seed)
        for _ in 0..<60 {
            let first = random.int(0...growing.count)
            let times = (0..<random.int(0...70)).map { _ in time() }
            growing.take(update(first, times, y: Double(random.int(0...1))))
            compare(growing, seed: seed)
        }
        let points = (0..<random.int(1...400)).map { StrokePoint(x: Double($0), y: 3, milliseconds: time()) }
        compare(GrowingPoints(points), seed: seed)
        growing.complete(with: points)
        compare(growing, seed: seed)
    }

    /// The shortest of several times that 200 updates take, each of which changes the first point: now all points behind it
    /// are later, now none is.
    private func cost(points: Int) -> Duration {
        var growing = GrowingPoints()
        for first in stride(from: 0, to: points, by: 1000) {
            growing.take(update(first, (first..<min(points, first + 1000)).map { Double($0) }))
        }
        let changes = [update(0, [1e9]), update(0, [0])]
        return leastProcessorTime {
            for number in 0..<200 { growing.take(changes[number % 2]) }
        }
    }

    @Test func `costs what an update's own points cost, however long the stroke is`() {
        let (few, many) = (cost(points: 64), cost(points: 74_000))
        print("200 updates of a point: \(few) in 64 points, \(many) in 74,000")
        #expect(many < few * 8)
    }
}
