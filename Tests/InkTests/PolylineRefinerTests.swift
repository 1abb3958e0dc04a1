import Ink
import StrokeWire
import TestSupport
import Testing

@Suite struct PolylineRefinerTests {
    private func distance(_ place: Vector, from line: [Vector]) -> Double {
        guard line.count > 1 else { return (place - line[0]).length }
        return zip(line, line.dropFirst()).map { place.distance(fromLine: $0, $1) }.min() ?? 0
    }

    /// The greatest distance between the curve of `smooth` and the lines between points, either way.
    private func deviation(_ curve: [StrokePoint], from points: [StrokePoint], width: Double) -> Double {
        var flattener = Flattener(scale: 1)
        InkStroke(element: .freehand, style: .smooth, width: width, points: curve).trace(into: &flattener)
        let samples = flattener.samples.map { Vector(Double($0.x), Double($0.y)) }
        let lines = points.map { Vector($0.x, $0.y) }
        let outwards = samples.map { distance($0, from: lines) }.max() ?? 0
        return max(outwards, lines.map { distance($0, from: samples) }.max() ?? 0)
    }

    @Test func `a zigzag of four points keeps its corners`() {
        let zigzag = points([(100, 700), (300, 100), (500, 700), (700, 100)])
        #expect(deviation(zigzag, from: zigzag, width: 4) > 200)
        let refined = PolylineRefiner.refined(zigzag, width: 4, limit: 100)
        #expect(deviation(refined, from: zigzag, width: 4) <= 2)
        #expect(refined.count == 4 + 2 * 4)
        #expect(zigzag.allSatisfy(refined.contains))
        #expect(PolylineRefiner.refined(zigzag, width: 4, limit: 11) == zigzag)
    }

    @Test func `points between any numbers are numbers, and what are none end nothing`() {
        let zigzag: [(Double, Double)] = [(100, 700), (300, 100), (500, 700), (700, 100)]
        let times = [1e308, -1e308, 1e308, 0]
        let line = zip(zigzag, times).map { StrokePoint(x: $0.0, y: $0.1, milliseconds: $1) }
        let refined = PolylineRefiner.refined(line, width: 4, limit: 100)
        #expect(refined.count == 4 + 2 * 4)
        #expect(refined.allSatisfy { $0.milliseconds?.isFinite == true })
        for wrong in [Double.nan, .infinity, -1e308] {
            var points = line
            points[1].x = wrong
            points[2].y = wrong
            #expect(PolylineRefiner.refined(points, width: 4, limit: 100).count >= 4)
            #expect(PolylineRefiner.refined(line, width: wrong, limit: 100) == line)
        }
    }

    @Test func `the curve through any points stays within half the pen's width of their lines`() {
        for var random in TestSeed.generators(200) {
            let width = Double.random(in: 0.5...20, using: &random)
            let reach = width * random.pick([0.25, 0.5, 1, 2, 4, 8, 16, 64, 128])
            var place = Vector(500, 500)
            let line = (0..<Int.random(in: 1...40, using: &random)).map { _ in
                switch Int.random(in: 0..<8, using: &random) {
                // Points on each other, and close to each other.
                case 0: break
                case 1: place += Vector(Double.random(in: -1...1, using: &random), 0.1)
                default:
                    let x = Double.random(in: -reach...reach, using: &random)
                    place += Vector(x, Double.random(in: -reach...reach, using: &random))
                }
                return StrokePoint(x: place.x, y: place.y)
            }
            let refined = PolylineRefiner.refined(line, width: width, limit: 1000)
            let off = deviation(refined, from: line, width: width)
            #expect(off <= width / 2 + 0.01, "seed \(random.seed): \(off) of \(width), \(line.count) points")
            #expect(refined.count <= 5 * line.count, "seed \(random.seed)")
        }
    }

    @Test func `points as close as a pen sends them stay as they are`() {
        // A spiral with a point every 4 units, of a pen 3 units wide.
        var (place, step) = (Vector(400, 400), Vector(4, 0))
        let spiral = (0..<400).map { index in
            place += step
            let turned = step + Vector(-step.y, step.x) * (4 / (20 + 0.2 * Double(index)))
            step = turned * (4 / turned.length)
            return StrokePoint(x: place.x, y: place.y, force: 0.5)
        }
        #expect(PolylineRefiner.refined(spiral, width: 3, limit: .max) == spiral)
        for line in [points([]), points([(1, 2)]), points([(1, 2), (300, 4)]), points([(0, 0), (100, 0), (900, 0)])] {
            #expect(PolylineRefiner.refined(line, width: 3, limit: .max) == line)
        }
    }

    @Test func `the pen's state changes evenly along a line, its azimuth the shorter way`() {
        let corner = [
            StrokePoint(x: 0, y: 0, force: 0, altitude: 1, azimuth: 3, milliseconds: 0),
            StrokePoint(x: 100, y: 0, force: 1, altitude: 0, azimuth: -3, milliseconds: 100),
            StrokePoint(x: 100, y: 100, force: 1, milliseconds: 300),
        ]
        let refined = PolylineRefiner.refined(corner, width: 40, limit: .max)
        #expect(refined.map(\.x) == [0, 80, 90, 100, 100, 100, 100])
        #expect(refined.map(\.milliseconds) == [0, 80, 90, 100, 120, 140, 300])
        #expect(refined[1].force == 0.8 && refined[4].altitude == nil && refined[4].azimuth == nil)
        #expect(abs((refined[1].altitude ?? 0) - 0.2) < 1e-9)
        #expect(abs((refined[1].azimuth ?? 0) - (3 + 0.8 * (2 * .pi - 6))) < 1e-9)
    }
}
