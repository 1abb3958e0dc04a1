import Ink
import StrokeWire
import TestSupport
import Testing

@Suite("Outlines")
struct OutlineTests {
    /// Adds up the area that closed outlines go round, cubic sides in sixteen steps.
    private struct Area: OutlineSink {
        var outlines: [Double] = []
        private var start = Vector.zero
        private var last = Vector.zero
        private var sum = 0.0

        mutating func move(to point: Vector) {
            (start, last, sum) = (point, point, 0)
        }
        mutating func line(to point: Vector) {
            sum += last.cross(point) / 2
            last = point
        }
        mutating func cubic(control1: Vector, control2: Vector, to point: Vector) {
            let from = last
            for step in 1...16 {
                let t = Double(step) / 16
                let u = 1 - t
                let early = from * (u * u * u) + control1 * (3 * u * u * t)
                line(to: early + control2 * (3 * u * t * t) + point * (t * t * t))
            }
        }
        mutating func close() {
            line(to: start)
            outlines.append(sum)
        }
    }

    @Test("all run the same way round, so that the nonzero rule joins them")
    func sameWay() {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        for style in [InkStyle.bspline, .calligraphy, .pen] {
            var area = Area()
            let points = [StrokePoint].random(count: 30, using: &random)
            InkStroke(element: .freehand, style: style, width: 5, points: points).outline(scale: 1, into: &area)
            #expect(!area.outlines.isEmpty)
            #expect(area.outlines.allSatisfy { $0 > 0 }, "seed \(seed)")
        }
    }

    @Test("of a line and of a dot have their area")
    func areas() {
        var line = Area()
        let ends = [StrokePoint(x: 10, y: 10), StrokePoint(x: 40, y: 50)]
        InkStroke(element: .line, style: .smooth, width: 6, points: ends).outline(scale: 2, into: &line)
        #expect(abs(line.outlines.reduce(0, +) - (100 * 12 + Double.pi * 36)) < 1.5)
        var dot = Area()
        InkStroke(element: .line, style: .smooth, width: 6, points: [ends[0]]).outline(scale: 1, into: &dot)
        #expect(abs(dot.outlines.reduce(0, +) - Double.pi * 9) < 0.2)
    }
}
