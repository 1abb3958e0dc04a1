import PathGeometry
import TestSupport
import Testing

@testable import Raster

@Suite struct `Filling an area` {
    private static let (width, height) = (200, 150)

    @Test func `covers what the nonzero rule fills, however contours overlap`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        var error = CoverageError()
        for round in 0..<120 {
            let path = RandomArea.path(using: &random)
            let scale = random.pick([1, 1, 0.37, 2.6])
            let canvas = Self.filled(path, scale: scale)
            let reference = AreaReference(path, scale: scale, width: Self.width, height: Self.height)
            var farthest = (error: 0.0, x: 0, y: 0)
            for y in 0..<Self.height {
                for x in 0..<Self.width {
                    let drawn = Double(canvas.pixel(x: x, y: y) >> 24) / 255
                    let wanted = reference.coverage(x: x, y: y)
                    if abs(drawn - wanted) > farthest.error { farthest = (abs(drawn - wanted), x, y) }
                    if (drawn > 0 && drawn < 1) || (wanted > 0 && wanted < 1) { error.add(abs(drawn - wanted)) }
                }
            }
            #expect(farthest.error < 0.1, "seed \(random.seed), round \(round): \(farthest)")
        }
        print("areas: \(error)")
        #expect(error.mean < 0.004, "seed \(random.seed): \(error)")
    }

    @Test func `is exact where contours do not overlap`() {
        // A quarter of a pixel, a thin strip, and a hole of half a pixel.
        var path = Path(rectangle: 10.5, 10.5, width: 0.5, height: 0.5)
        path.contours += Path(rectangle: 20, 20.25, width: 30, height: 0.1).contours
        path.contours += Path(rectangle: 60, 20, width: 10, height: 10).contours
        path.contours += Path(rectangle: 64, 24, width: 0.5, height: 1).reversed.contours
        for path in [path, path.reversed] {
            let canvas = Self.filled(path)
            #expect(canvas.pixel(x: 10, y: 10) >> 24 == 64)
            #expect(canvas.pixel(x: 30, y: 20) >> 24 == 26)
            #expect(canvas.pixel(x: 64, y: 24) >> 24 == 128)
            #expect(canvas.pixel(x: 65, y: 24) >> 24 == 255)
            #expect(canvas.pixel(x: 59, y: 24) >> 24 == 0)
            #expect(canvas.tileCount == 2)
        }
    }

    @Test func `does not make the borders of contours fatter that lie on each other`() {
        let one = Path(ellipse: 20.3, 20.7, width: 90, height: 70)
        for copies in [[one, one], [one, one, one], [one, one.reversed, one, one]] {
            #expect(Self.filled(Path(copies.flatMap(\.contours))).alphaDifference(from: Self.filled(one)) <= 8)
        }
    }

    @Test func `is composited once, with its opacity`() {
        var path = Path(rectangle: 10, 10, width: 50, height: 50)
        path.contours += Path(rectangle: 30, 30, width: 50, height: 50).contours
        func filled(_ opacity: Double) -> Canvas {
            let area = PaintedArea(path: path, colour: RGB(0xFF_0000), opacity: opacity)
            return Canvas(width: 100, height: 100, drawing: [.area(area)])
        }
        let canvas = filled(0.5)
        for (x, y) in [(20, 20), (40, 40), (70, 70)] { #expect(canvas.pixel(x: x, y: y) == 0x8000_0080) }
        for opacity in [0, -1, Double.nan] { #expect(filled(opacity).tileCount == 0) }
    }

    @Test func `with coordinates as far away as 65536 has the same pixels as the part on the canvas`() {
        // Of a triangle so large that its sides look straight, one crosses the canvas.
        let canvas = Self.filled(
            Path(polygon: [Point(-65536, -65536), Point(65536, 65536), Point(-65536, 65536)]), scale: 8)
        let near = Self.filled(Path(polygon: [Point(-10, -10), Point(60, 60), Point(-10, 60)]), scale: 8)
        #expect(canvas.alphaDifference(from: near) <= 1)
        // A circle around the canvas, and one that has it in a hole.
        let circle = Path(ellipse: -65536, -65536, width: 131_072, height: 131_072)
        let full = Self.filled(circle)
        #expect(full.pixel(x: 0, y: 0) >> 24 == 255 && full.pixel(x: 199, y: 149) >> 24 == 255)
        var ring = circle
        ring.contours += Path(ellipse: -5000, -5000, width: 10_000, height: 10_000).reversed.contours
        #expect(Self.filled(ring).isBlank)
    }

    @Test func `without an inside, or with numbers that are none, draws nothing`() {
        let points = [Point(10, 10), Point(50, 10), Point(50, 50)]
        var paths = [
            Path(), Path([Contour(start: Point(5, 5))]), Path(polygon: [Point(5, 5)]),
            Path(polygon: [Point(5, 5), Point(90, 70)]), Path(polygon: points + points.reversed()),
        ]
        for number in [Double.nan, .infinity, -.infinity, 1e300] {
            for place in 0..<3 {
                for axis in 0..<2 {
                    var changed = points
                    changed[place][axis] = number
                    paths.append(Path(polygon: changed))
                    var curved = PathGeometry.Contour(start: changed[0])
                    curved.addCubic(control1: changed[1], control2: changed[2], to: Point(10, 50))
                    paths.append(Path([curved]))
                }
            }
        }
        for (index, path) in paths.enumerated() { #expect(Self.filled(path).isBlank, "\(index)") }
        // A contour that is none does not take others with it.
        var path = Path(polygon: points)
        path.contours += Path(polygon: [Point(.nan, 0), Point(1, 1), Point(5, 0)]).contours
        #expect(Self.filled(path).fingerprint == Self.filled(Path(polygon: points)).fingerprint)
    }

    @Test func `has the same pixels on any subset of tiles, with any painter and all kernels`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        for round in 0..<40 {
            let area = PaintedArea(path: RandomArea.path(using: &random), colour: RGB(0x12_89EF), opacity: 0.8)
            let canvases = Kernels.all.map {
                Canvas(width: Self.width, height: Self.height, scale: 1.3, kernels: $0, drawing: [.area(area)])
            }
            #expect(Set(canvases.map(\.fingerprint)).count == 1, "seed \(random.seed), round \(round)")
            var painter = StrokePainter(canvasWidth: Self.width, canvasHeight: Self.height, scale: 1.3)
            // What it has drawn before does not matter.
            var other = Canvas(width: Self.width, height: Self.height)
            painter.draw(.area(PaintedArea(path: RandomArea.path(using: &random), colour: RGB(0))), on: &other)
            var pieces = Canvas(width: Self.width, height: Self.height)
            for index in pieces.tiles.indices.shuffled(using: &random) {
                var part = TileSet(of: pieces)
                part.insert(pieces.box(ofTile: index))
                painter.draw(.area(area), on: &pieces, within: part) { true }
            }
            #expect(pieces.fingerprint == canvases[0].fingerprint, "seed \(random.seed), round \(round)")
        }
    }

    @Test func `costs as much as the canvas, and a little for each segment outside of it`() {
        var painter = StrokePainter(canvasWidth: 256, canvasHeight: 256)
        var canvas = Canvas(width: 256, height: 256)
        // A star of a million corners far out on all sides, around the canvas.
        let corners = 1 << 20
        let star = (0..<corners).map { index -> Point in
            let angle = Double(index) / Double(corners) * 4
            let side = Point(
                index % 2 == 0 ? 60_000 : 30_000, angle.truncatingRemainder(dividingBy: 1) * 60_000 - 30_000)
            switch Int(angle) {
            case 0: return Point(side.x, side.y)
            case 1: return Point(-side.y, side.x)
            case 2: return Point(-side.x, -side.y)
            default: return Point(side.y, -side.x)
            }
        }
        painter.draw(.area(PaintedArea(path: Path(polygon: star), colour: RGB(0))), on: &canvas)
        #expect(canvas.pixel(x: 128, y: 128) >> 24 == 255)
        #expect(painter.visitedPixels < 3 * 256 * 256, "\(painter.visitedPixels)")
        // Curves that are mostly outside.
        var huge = PathGeometry.Contour(start: Point(-60_000, 0))
        for index in 0..<1000 {
            let x = Double(index % 2 == 0 ? 60_000 : -60_000)
            huge.addCubic(control1: Point(-x, 60_000), control2: Point(x, -60_000), to: Point(x, Double(index % 256)))
        }
        painter.draw(.area(PaintedArea(path: Path([huge]), colour: RGB(0))), on: &canvas)
        #expect(painter.visitedPixels < 1000 * 64 * 256, "\(painter.visitedPixels)")
    }

    @Test func `has the same pixels where it is covered by parts, because it has too many lines for the memory`() {
        // Strips of the width of a pixel, a quarter of a pixel off, from the top to the bottom: three million lines of rows.
        var path = Path()
        for strip in 0..<500 {
            path.contours +=
                Path(rectangle: Double(3 * strip) + 0.25, -10, width: 1, height: 2100).contours
        }
        for strip in 0..<500 {
            path.contours +=
                Path(rectangle: Double(3 * strip) + 0.25, -10, width: 1, height: 2100).reversed.contours
            path.contours += Path(rectangle: Double(3 * strip) + 0.25, 0, width: 1, height: 2100).contours
        }
        let canvas = Canvas(width: 1500, height: 2000, drawing: [.area(PaintedArea(path: path, colour: RGB(0)))])
        for y in 0..<2000 {
            let levels = (0..<6).map { canvas.pixel(x: 3 * (y % 499) + $0, y: y) >> 24 }
            #expect(levels == [191, 64, 0, 191, 64, 0], "\(y)")
        }
    }

    @Test func `is given up where it is not wanted any more, and leaves nothing behind`() {
        var painter = StrokePainter(canvasWidth: 2000, canvasHeight: 3000)
        var canvas = Canvas(width: 2000, height: 3000)
        let teeth = (0..<6000).map { Point($0 % 2 == 0 ? 5 : 1995, Double($0 / 2)) }
        let area = PaintedArea(path: Path(polygon: teeth), colour: RGB(0))
        var asked = 0
        let box = painter.fill(area, on: &canvas, within: nil) {
            asked += 1
            return false
        }
        #expect(box == nil && asked == 1 && canvas.tileCount == 0)
        painter.draw(.area(area), on: &canvas)
        #expect(canvas.fingerprint == Canvas(width: 2000, height: 3000, drawing: [.area(area)]).fingerprint)
    }

    private static func filled(_ path: Path, scale: Double = 1) -> Canvas {
        let area = PaintedArea(path: path, colour: RGB(0))
        return Canvas(width: width, height: height, scale: scale, drawing: [.area(area)])
    }
}

extension Canvas {
    func box(ofTile index: Int) -> PixelBox {
        let (x, y) = (index % columns * Tile.side, index / columns * Tile.side)
        return PixelBox(minX: x, minY: y, maxX: min(x + Tile.side, width), maxY: min(y + Tile.side, height))
    }
}

/// Paths of all kinds on and around a square of 150: polygons that cross themselves, ovals, curves, outlines of handwriting
/// that overlap.
enum RandomArea {
    static func path(using random: inout SeededGenerator) -> Path {
        var path = Path()
        for _ in 0..<random.pick([1, 1, 2, 3, 6]) { path.contours += contours(using: &random) }
        return path
    }

    private static func contours(using random: inout SeededGenerator) -> [PathGeometry.Contour] {
        func place() -> Point {
            Point(Double.random(in: -30...230, using: &random), Double.random(in: -30...180, using: &random))
        }
        switch random.int(0..<6) {
        case 0:
            let (low, size) = (place(), place() / 2 + 20)
            let path =
                random.chance(1, in: 2)
                ? Path(ellipse: low.x, low.y, width: size.x, height: size.y)
                : Path(rectangle: low.x, low.y, width: size.x, height: size.y)
            return (random.chance(1, in: 2) ? path.reversed : path).contours
        case 1: return Path(polygon: (0..<random.int(3...12)).map { _ in place() }).contours
        case 2, 3:
            var contour = PathGeometry.Contour(start: place())
            for _ in 0..<random.int(1...6) {
                switch random.int(0..<3) {
                case 0: contour.addLine(to: place())
                case 1: contour.addQuadratic(control: place(), to: place())
                default: contour.addCubic(control1: place(), control2: place(), to: place())
                }
            }
            if random.chance(1, in: 2) { contour.close() }
            return [contour]
        default:
            // A ribbon to and fro.
            var centre = place()
            var angle = Double.random(in: 0...6, using: &random)
            var (one, other): ([Point], [Point]) = ([], [])
            let half = Double.random(in: 0.3...4, using: &random)
            for _ in 0..<random.int(2...40) {
                angle += Double.random(in: -1...1, using: &random)
                // Close enough to a direction, without the C library.
                let turn = angle.truncatingRemainder(dividingBy: 4)
                let way = Point(1 - abs(turn.magnitude - 2), turn < 0 ? turn / 2 + 1 : 1 - turn / 2)
                centre += way * 6
                one.append(centre + Point(-way.y, way.x) * half)
                other.append(centre - Point(-way.y, way.x) * half)
            }
            return Path(polygon: one + other.reversed()).contours
        }
    }
}

/// The reference for areas: lines across each row, exact along each line, in double precision.
struct AreaReference {
    private static let lines = 64
    private let width: Int
    private var coverages: [Double]

    init(_ path: Path, scale: Double, width: Int, height: Int) {
        self.width = width
        coverages = [Double](repeating: 0, count: width * height)
        var crossings = [[(x: Double, direction: Int)]](repeating: [], count: height * Self.lines)
        for contour in path.contours {
            let points = contour.flattened(tolerance: 1e-3 / scale) + [contour.start]
            for (p, q) in zip(points, points.dropFirst()) { Self.add(p * scale, q * scale, to: &crossings) }
        }
        for (line, crossings) in crossings.enumerated() {
            var winding = 0
            var start = 0.0
            for crossing in crossings.sorted(by: { $0.x < $1.x }) {
                if winding == 0 { start = crossing.x }
                winding += crossing.direction
                if winding == 0 { cover(from: start, to: crossing.x, row: line / Self.lines) }
            }
        }
    }

    func coverage(x: Int, y: Int) -> Double { min(coverages[y * width + x], 1) }

    private static func add(_ p: Point, _ q: Point, to crossings: inout [[(x: Double, direction: Int)]]) {
        let (top, bottom) = p.y < q.y ? (p, q) : (q, p)
        let fine = Double(lines)
        let first = max((top.y * fine - 0.5).rounded(.up), 0)
        let last = min((bottom.y * fine - 0.5).rounded(.up), Double(crossings.count))
        guard first < last else { return }
        for line in Int(first)..<Int(last) {
            let y = (Double(line) + 0.5) / fine
            crossings[line].append((top.x + (y - top.y) / (bottom.y - top.y) * (bottom.x - top.x), p.y < q.y ? 1 : -1))
        }
    }

    private mutating func cover(from start: Double, to end: Double, row: Int) {
        let (start, end) = (max(start, 0), min(end, Double(width)))
        guard start < end else { return }
        for x in Int(start)...min(Int(end), width - 1) {
            let part = min(end, Double(x + 1)) - max(start, Double(x))
            coverages[row * width + x] += part / Double(Self.lines)
        }
    }
}
