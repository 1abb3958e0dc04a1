import Ink
import PathGeometry
import Raster
import StrokeWire
import TestSupport
import Testing

/// Outlines of handwriting, which overlap themselves, cut by lassos.
@Suite struct StrokeCutTests {
    /// The outlines of the strokes of a lesson, as pictures have them.
    private static func outlines(of lesson: SampleLesson) throws -> [Path] {
        try lesson.strokes().map { stroke in
            let ink = InkStroke(element: stroke.element, style: .smooth, width: stroke.width, points: stroke.points)
            var fitter = ParabolaFitter(scale: 0.4, canvasWidth: 410, canvasHeight: 308)
            ink.trace(into: &fitter)
            var outliner = StrokeContours(scale: 0.4, tolerance: 0.05)
            return Path(outliner.contours(of: fitter.samples))
        }
    }

    /// A shaky ring of 1,024 points around the middle of a board of 1024 × 768.
    private static func lasso(using random: inout SeededGenerator) -> Path {
        let ring = Path(ellipse: 200, 150, width: 600, height: 450)
        let contour = ring.contours[0]
        return Path(
            polygon: (0..<1024).map { index in
                let shake = Point(Double.random(in: -3...3, using: &random), Double.random(in: -3...3, using: &random))
                return contour.segments[index / 256].point(at: Double(index % 256) / 256) + shake
            })
    }

    @Test(arguments: SampleLesson.available)
    func partsOfStrokesAddUp(lesson: SampleLesson) throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        let outlines = Array(try Self.outlines(of: lesson).prefix(1000))
        let lasso = Self.lasso(using: &random)
        var (cut, pieces) = (0, 0)
        var parts: [(inside: Path, outside: Path)] = []
        let time = ContinuousClock().measure {
            let cutter = PathCutter(lasso)
            parts = outlines.map(cutter.cut)
        }
        let borders = Borders([lasso], tolerance: 1)
        for (outline, part) in zip(outlines, parts) {
            #expect(abs(part.inside.area + part.outside.area - outline.area) < 1e-3)
            guard !part.inside.isEmpty, !part.outside.isEmpty else { continue }
            cut += 1
            pieces += part.inside.contours.count + part.outside.contours.count
            let (edges, box) = (Borders([outline], tolerance: 1e-3), outline.bounds)
            for _ in 0..<20 {
                let place = Point(
                    Double.random(in: box.lower.x...box.upper.x, using: &random),
                    Double.random(in: box.lower.y...box.upper.y, using: &random))
                guard edges.distance(from: place) > 5e-3, borders.distance(from: place) > 5e-3 else { continue }
                let (winding, isInside) = (outline.winding(around: place), lasso.contains(place, fillRule: .evenOdd))
                #expect(part.inside.winding(around: place) == (isInside ? winding : 0))
                #expect(part.outside.winding(around: place) == (isInside ? 0 : winding))
            }
        }
        let segments = outlines.map { $0.contours.map(\.segments.count).reduce(0, +) }.reduce(0, +)
        print(
            "\(lesson): \(outlines.count) strokes of \(segments) segments, \(cut) cut into \(pieces) contours: \(time)")
    }
}
