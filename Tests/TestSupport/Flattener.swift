package import Ink

/// Flattens curves into straight segments: the reference for what the product makes of them, found in another way.
///
/// The number of segments comes from the second differences of the control points (Wang, Cassel and Ren, "A bound on
/// the deviation of a Bézier curve from its chord"): a segment deviates from the curve by the tolerance at most.
package struct Flattener: CurveSink {
    private static let maximumSegments = 4096.0

    /// The centre line so far, in pixels.
    package private(set) var samples: [CentreSample] = []
    private let scale, tolerance: Double
    private var position = Vector.zero
    private var nib = Nib(width: 0)

    /// - Parameters:
    ///   - scale: pixels a board unit, above 0.
    ///   - tolerance: the largest distance of a chord from its curve in pixels, above 0.
    package init(scale: Double, tolerance: Double = 0.01) {
        self.scale = scale
        self.tolerance = tolerance
    }

    /// Whether any sample is less than opaque.
    package var isTranslucent: Bool { samples.contains { $0.opacity < 1 } }

    package mutating func begin(at point: Vector, nib: Nib) { append(point * scale, nib) }

    package mutating func line(to end: Vector, nib: Nib) { append(end * scale, nib) }

    package mutating func quadratic(control: Vector, to end: Vector, nib: Nib) {
        let (p0, p1, p2) = (position, control * scale, end * scale)
        append(to: nib, deviation: (p0 - p1 * 2 + p2).length * 0.25) { t in
            p0.interpolated(to: p1, at: t).interpolated(to: p1.interpolated(to: p2, at: t), at: t)
        }
    }

    package mutating func quadratic(_ segment: SwellingQuadratic) {
        let bend = segment.start.position - segment.control.position * 2 + segment.end.position
        let swell = abs(segment.start.nib.width - segment.control.nib.width * 2 + segment.end.nib.width)
        let deviation = max(bend.length, swell) * scale * 0.25
        let count = Int(max(min((deviation / tolerance).squareRoot().rounded(.up), Self.maximumSegments), 1))
        for index in 1...count {
            let sample = segment.sample(at: Double(index) / Double(count))
            append(sample.position * scale, sample.nib)
        }
    }

    package mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib) {
        let (p0, p1, p2, p3) = (position, control1 * scale, control2 * scale, end * scale)
        let bend = max((p0 - p1 * 2 + p2).length, (p1 - p2 * 2 + p3).length)
        append(to: nib, deviation: bend * 0.75) { t in
            let a = p0.interpolated(to: p1, at: t)
            let b = p1.interpolated(to: p2, at: t)
            let c = p2.interpolated(to: p3, at: t)
            return a.interpolated(to: b, at: t).interpolated(to: b.interpolated(to: c, at: t), at: t)
        }
    }

    /// Appends a curve whose chord would deviate by so many pixels.
    private mutating func append(to end: Nib, deviation: Double, _ point: (Double) -> Vector) {
        let start = nib
        let count = Int(max(min((deviation / tolerance).squareRoot().rounded(.up), Self.maximumSegments), 1))
        for index in 1...count {
            let t = Double(index) / Double(count)
            append(point(t), start.interpolated(to: end, at: t))
        }
    }

    private mutating func append(_ point: Vector, _ nib: Nib) {
        position = point
        self.nib = nib
        samples.append(
            CentreSample(
                x: Float(point.x), y: Float(point.y), radius: Float(nib.width * scale * 0.5),
                opacity: Float(nib.opacity)))
    }
}
