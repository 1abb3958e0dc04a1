import Ink
import Raster

/// The reference for coverage: which of 16 × 16 samples a pixel lie in the ink of a stroke of a pen without opacity.
///
/// Discs stand so close on the curve that their union is the ink; the curve is cut in another way than by the rasterizer.
struct SampledCoverage {
    private static let grid = 16
    /// The distance of two discs, in pixels.
    private static let step = 1.0 / 16

    /// The pixels that are looked at.
    let columns, rows: Range<Int>
    private var counts: [Int]

    init(of stroke: InkStroke, _ size: CanvasSize) {
        var discs = DiscSink(scale: size.scale, step: Self.step)
        stroke.trace(into: &discs)
        let reach = (discs.discs.map(\.radius).max() ?? 0) + 2
        func range(_ places: [Double], _ limit: Int) -> Range<Int> {
            let low = max(0, min((places.min() ?? 0) - reach, Double(limit)))
            let high = max(low, min((places.max() ?? 0) + reach, Double(limit)))
            return Int(low)..<Int(high)
        }
        columns = range(discs.discs.map(\.centre.x), size.width)
        rows = range(discs.discs.map(\.centre.y), size.height)
        counts = [Int](repeating: 0, count: columns.count * rows.count)
        let fine = Double(Self.grid)
        let width = columns.count * Self.grid
        var isInside = [Bool](repeating: false, count: width * rows.count * Self.grid)
        let origin = Vector(Double(columns.lowerBound), Double(rows.lowerBound))
        for disc in discs.discs {
            let centre = (disc.centre - origin) * fine
            let radius = disc.radius * fine
            let first = max(0, Int((centre.y - radius - 0.5).rounded(.up)))
            let last = min(rows.count * Self.grid - 1, Int((centre.y + radius - 0.5).rounded(.down)))
            guard first <= last else { continue }
            for y in first...last {
                let dy = Double(y) + 0.5 - centre.y
                let half = max(radius * radius - dy * dy, 0).squareRoot()
                let left = max(0, Int((centre.x - half - 0.5).rounded(.up)))
                let right = min(width - 1, Int((centre.x + half - 0.5).rounded(.down)))
                guard left <= right else { continue }
                for x in left...right { isInside[y * width + x] = true }
            }
        }
        for y in 0..<rows.count * Self.grid {
            for x in 0..<width where isInside[y * width + x] {
                counts[y / Self.grid * columns.count + x / Self.grid] += 1
            }
        }
    }

    /// The covered part of a pixel, 0 … 1.
    func coverage(_ x: Int, _ y: Int) -> Double {
        Double(counts[(y - rows.lowerBound) * columns.count + x - columns.lowerBound]) / Double(Self.grid * Self.grid)
    }
}

/// How far drawn pixels are from the reference, over those that either of them covers in part.
struct CoverageError {
    private var sum = 0.0
    private var pixels = 0

    var mean: Double { sum / Double(max(pixels, 1)) }

    /// Compares a stroke; `alpha` is 0 … 255.
    mutating func add(_ samples: SampledCoverage, alpha: (Int, Int) -> UInt32) {
        for y in samples.rows {
            for x in samples.columns {
                let wanted = samples.coverage(x, y)
                let drawn = Double(alpha(x, y)) / 255
                guard (wanted > 0 && wanted < 1) || (drawn > 0 && drawn < 1) else { continue }
                sum += abs(drawn - wanted)
                pixels += 1
            }
        }
    }
}

private struct DiscSink: CurveSink {
    let scale: Double
    let step: Double
    private(set) var discs: [(centre: Vector, radius: Double)] = []
    private var position = Vector.zero
    private var width = 0.0

    init(scale: Double, step: Double) {
        self.scale = scale
        self.step = step
    }

    mutating func begin(at point: Vector, nib: Nib) {
        position = point
        width = nib.width
        discs.append((point * scale, nib.width * scale / 2))
    }

    mutating func line(to end: Vector, nib: Nib) { quadratic(control: position.midpoint(to: end), to: end, nib: nib) }

    mutating func quadratic(control: Vector, to end: Vector, nib: Nib) {
        cubic(
            control1: position.interpolated(to: control, at: 2.0 / 3),
            control2: end.interpolated(to: control, at: 2.0 / 3), to: end, nib: nib)
    }

    mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib) {
        // No part of a cubic is more than three times as fast as its longest leg.
        let legs = [control1 - position, control2 - control1, end - control2].map(\.length)
        let count = max(1, Int(((legs.max() ?? 0) * 3 * scale / step).rounded(.up)))
        for index in 1...count {
            let t = Double(index) / Double(count)
            let a = position.interpolated(to: control1, at: t)
            let b = control1.interpolated(to: control2, at: t)
            let c = control2.interpolated(to: end, at: t)
            let place = a.interpolated(to: b, at: t).interpolated(to: b.interpolated(to: c, at: t), at: t)
            discs.append((place * scale, (width + (nib.width - width) * t) * scale / 2))
        }
        position = end
        width = nib.width
    }
}
