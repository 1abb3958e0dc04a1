/// Flattens curves into straight segments and scales board units to pixels.
///
/// The number of segments comes from the second differences of the control points (Wang, Cassel and Ren, "A bound on
/// the deviation of a Bézier curve from its chord"): a segment deviates from the curve by the tolerance at most, up to
/// ``maximumSegments`` segments a curve. A curve that cannot touch the canvas becomes one segment, which cannot touch
/// it either. Reuse a flattener for many strokes: it keeps its memory.
public struct Flattener: CurveSink, Sendable {
    /// Default tolerance: the largest distance of a chord from its curve, in pixels.
    public static let tolerance = 0.1
    /// Limit of segments for one curve.
    public static let maximumSegments = 128

    /// The centre line so far, in pixels.
    public private(set) var samples: [CentreSample] = []
    /// Whether any sample since ``reset()`` was less than opaque.
    public private(set) var isTranslucent = false

    /// Pixels a board unit.
    public let scale: Double
    /// Size of the canvas in pixels.
    public let canvas: Vector

    private let tolerance: Double
    private var position = Vector.zero
    private var nib = Nib(width: 0)

    /// Makes a flattener for a canvas of the given size in pixels; `scale` is pixels a board unit and `tolerance` the
    /// largest distance of a chord from its curve in pixels, both above 0.
    public init(scale: Double, canvasWidth: Int, canvasHeight: Int, tolerance: Double = Self.tolerance) {
        self.tolerance = tolerance
        self.scale = scale
        canvas = Vector(Double(canvasWidth), Double(canvasHeight))
    }

    /// Forgets the last stroke and keeps the memory of its samples.
    public mutating func reset() {
        samples.removeAll(keepingCapacity: true)
        isTranslucent = false
    }

    /// Forgets all samples but the last one, from which the line goes on.
    mutating func keepLastSample() {
        samples.removeSubrange(..<max(samples.count - 1, 0))
    }

    public mutating func begin(at point: Vector, nib: Nib) {
        append(point * scale, nib)
    }

    public mutating func line(to end: Vector, nib: Nib) {
        append(end * scale, nib)
    }

    public mutating func quadratic(control: Vector, to end: Vector, nib: Nib) {
        let p0 = position
        let p1 = control * scale
        let p2 = end * scale
        let first = p1 - p0
        let bend = p2 - p1 - first
        if canTouch(p0, p1, p2, p2, width: max(self.nib.width, nib.width)) {
            let from = self.nib
            let count = segmentCount(deviation: bend.length * 0.25)
            let step = 1 / Double(count)
            for index in 1..<max(count, 1) {
                let t = Double(index) * step
                append(p0 + (first * 2 + bend * t) * t, from.interpolated(to: nib, at: t))
            }
        }
        append(p2, nib)
    }

    public mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib) {
        let p0 = position
        let p1 = control1 * scale
        let p2 = control2 * scale
        let p3 = end * scale
        let bend1 = p0 - p1 * 2 + p2
        let bend2 = p1 - p2 * 2 + p3
        if canTouch(p0, p1, p2, p3, width: max(self.nib.width, nib.width)) {
            let from = self.nib
            let count = segmentCount(deviation: max(bend1.dot(bend1), bend2.dot(bend2)).squareRoot() * 0.75)
            let step = 1 / Double(count)
            let linear = (p1 - p0) * 3
            let square = bend1 * 3
            let cube = bend2 - bend1
            for index in 1..<max(count, 1) {
                let t = Double(index) * step
                append(p0 + (linear + (square + cube * t) * t) * t, from.interpolated(to: nib, at: t))
            }
        }
        append(p3, nib)
    }

    private mutating func append(_ point: Vector, _ nib: Nib) {
        position = point
        self.nib = nib
        if nib.opacity < 1 { isTranslucent = true }
        samples.append(
            CentreSample(
                x: Float(point.x), y: Float(point.y), radius: Float(nib.width * scale * 0.5),
                opacity: Float(nib.opacity)))
    }

    /// How many segments keep the chords within the tolerance, if one chord would deviate by `deviation` pixels.
    private func segmentCount(deviation: Double) -> Int {
        let count = (deviation / tolerance).squareRoot().rounded(.up)
        return count < Double(Self.maximumSegments) ? max(Int(count), 1) : Self.maximumSegments
    }

    /// Whether the hull of the control points, widened by the pen, reaches the canvas.
    private func canTouch(_ a: Vector, _ b: Vector, _ c: Vector, _ d: Vector, width: Double) -> Bool {
        let reach = width * scale * 0.5 + 1
        let lowX = min(min(a.x, b.x), min(c.x, d.x))
        let highX = max(max(a.x, b.x), max(c.x, d.x))
        let lowY = min(min(a.y, b.y), min(c.y, d.y))
        let highY = max(max(a.y, b.y), max(c.y, d.y))
        return highX >= -reach && highY >= -reach && lowX <= canvas.x + reach && lowY <= canvas.y + reach
    }
}
