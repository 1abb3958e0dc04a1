/// Replaces curves by arcs of circles, so near that no one sees the difference, and scales board units to pixels.
///
/// An arc through the ends and the middle of a piece of a curve is closer to it than several chords, and a raster can
/// draw an arc as fast as a line. The number of pieces comes from the control points: the third difference bounds what
/// an arc cannot follow, the second the turn of one piece. Curves that cannot touch the canvas become one straight
/// piece, which cannot touch it either. One fitter serves many strokes; it keeps its memory.
public struct ArcFitter: CurveSink, Sendable {
    /// About how far an arc may be from its curve, in pixels.
    static let tolerance = 0.02
    /// How far the middle of one arc may be from its chord, in pixels.
    static let largestBulge = 0.25
    /// Longer pieces than this, in pixels, are cut further: their centres would be too far for single precision.
    static let longest = 256.0
    /// Less bulge than this, in pixels, counts as straight.
    static let straight = 0.01
    /// More pieces than this are never cut from one curve, however far it reaches.
    public static let mostPieces = 128

    /// The centre line so far, in pixels.
    public private(set) var samples: [CentreSample] = []
    /// Whether any sample is less than opaque.
    public private(set) var isTranslucent = false

    private let scale: Double
    private let canvas: Vector
    private var position = Vector.zero
    private var nib = Nib(width: 0)

    /// Makes a fitter for a canvas of the given size in pixels; `scale` is pixels a board unit, above 0.
    public init(scale: Double, canvasWidth: Int, canvasHeight: Int) {
        self.scale = scale
        canvas = Vector(Double(canvasWidth), Double(canvasHeight))
    }

    /// Forgets the samples of the last stroke and keeps their memory.
    public mutating func reset() {
        samples.removeAll(keepingCapacity: true)
        isTranslucent = false
    }

    /// Moves all samples, so that a part of the canvas can begin at 0, 0.
    public mutating func moveSamples(left: Float, up: Float) {
        for index in samples.indices {
            samples[index].x -= left
            samples[index].y -= up
        }
    }

    public mutating func begin(at point: Vector, nib: Nib) {
        append(point * scale, nib, bulge: 0)
    }

    public mutating func line(to end: Vector, nib: Nib) {
        append(end * scale, nib, bulge: 0)
    }

    public mutating func quadratic(control: Vector, to end: Vector, nib: Nib) {
        let p1 = control * scale
        let p2 = end * scale
        let bend = p2 - p1 - (p1 - position)
        fit(
            linear: (p1 - position) * 2, square: bend, cube: .zero, hull: (p1, p1, p2), to: nib,
            bulge: bend.length * 0.25)
    }

    public mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib) {
        let p0 = position
        let p1 = control1 * scale
        let p2 = control2 * scale
        let p3 = end * scale
        let bend1 = p0 - p1 * 2 + p2
        let bend2 = p1 - p2 * 2 + p3
        fit(
            linear: (p1 - p0) * 3, square: bend1 * 3, cube: bend2 - bend1, hull: (p1, p2, p3), to: nib,
            bulge: max(bend1.dot(bend1), bend2.dot(bend2)).squareRoot() * 0.75)
    }

    /// Appends arcs for the curve position + linear·t + square·t² + cube·t³, of which one chord would stray by `bulge`.
    private mutating func fit(
        linear: Vector, square: Vector, cube: Vector, hull: (Vector, Vector, Vector), to end: Nib, bulge: Double
    ) {
        let start = position
        let from = nib
        guard canTouch(hull, width: max(from.width, end.width)) else { return append(hull.2, end, bulge: 0) }
        let count = Self.pieces(bulge: bulge, twist: cube.length, length: (hull.2 - start).length)
        let step = 1 / Double(count)
        for index in 1...count {
            let last = position
            let middleAt = (Double(index) - 0.5) * step
            let middle = start + (linear + (square + cube * middleAt) * middleAt) * middleAt
            let t = Double(index) * step
            let next = index == count ? hull.2 : start + (linear + (square + cube * t) * t) * t
            let reached = index == count ? end : from.interpolated(to: end, at: t)
            if let bulge = Self.bulge(from: last, over: middle, to: next) {
                append(next, reached, bulge: bulge)
            } else {
                append(middle, nib.interpolated(to: reached, at: 0.5), bulge: 0)
                append(next, reached, bulge: 0)
            }
        }
    }

    private mutating func append(_ point: Vector, _ nib: Nib, bulge: Double) {
        position = point
        self.nib = nib
        if nib.opacity < 1 { isTranslucent = true }
        samples.append(
            CentreSample(
                x: Float(point.x), y: Float(point.y), radius: Float(nib.width * scale * 0.5),
                opacity: Float(nib.opacity), bulge: Float(bulge)))
    }

    private static func pieces(bulge: Double, twist: Double, length: Double) -> Int {
        let turns = (bulge / largestBulge).squareRoot()
        // A cubic strays by √3/36 of its third difference from the parabola through its ends and its middle; the cube
        // root of what is left, from above, by one step of Newton's method and the fact that it converges from above.
        let excess = twist * 0.048 / tolerance
        let guess = max(turns, 1)
        let twisted = (2 * guess + excess / (guess * guess)) / 3
        let count = max(turns, twisted, length / longest).rounded(.up)
        return count < Double(mostPieces) ? max(Int(count), 1) : mostPieces
    }

    /// The bulge of the arc through three points: how far its middle is from the chord. `nil` where the curve turns
    /// round between them and is no arc.
    private static func bulge(from start: Vector, over middle: Vector, to end: Vector) -> Double? {
        let chord = end - start
        let reach = middle - start
        let square = chord.dot(chord)
        let part = chord.dot(reach)
        guard part > 0.2 * square, part < 0.8 * square else { return reach.dot(reach) < 1e-6 ? 0 : nil }
        let length = square.squareRoot()
        let across = chord.cross(reach) / length
        guard abs(across) > straight else { return 0 }
        // x² − length·x + y² + c·y = 0 is the circle in the frame of the chord; its top has x = length/2.
        let along = part / length
        let c = (along * (length - along) - across * across) / across
        let root = (c * c + square).squareRoot()
        return across > 0 ? (root - c) * 0.5 : (-root - c) * 0.5
    }

    /// Whether the hull of the control points, widened by the pen, reaches the canvas.
    private func canTouch(_ hull: (Vector, Vector, Vector), width: Double) -> Bool {
        let reach = width * scale * 0.5 + 1
        let (b, c, d) = hull
        let lowX = min(min(position.x, b.x), min(c.x, d.x))
        let highX = max(max(position.x, b.x), max(c.x, d.x))
        let lowY = min(min(position.y, b.y), min(c.y, d.y))
        let highY = max(max(position.y, b.y), max(c.y, d.y))
        return highX >= -reach && highY >= -reach && lowX <= canvas.x + reach && lowY <= canvas.y + reach
    }
}
