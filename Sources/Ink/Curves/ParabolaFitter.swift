/// Replaces curves by parabolas, so near that no one sees the difference, and scales board units to pixels.
///
/// Quadratics are parabolas; of a cubic the third difference says how many parabolas it takes. A raster can draw a
/// parabola as fast as a line. Curves that cannot touch the canvas become one straight piece, which cannot touch it
/// either; those that reach far beyond it are halved until only what is near it counts. One fitter serves many strokes;
/// it keeps its memory.
public struct ParabolaFitter: CurveSink, Sendable {
    /// How far a parabola may be from its cubic, in pixels.
    static let tolerance = 0.004
    /// Less sag than this, in pixels, counts as straight where a parabola would have to be halved.
    private static let leastSag = 0.004
    /// A sample that is nearer than this to the one before, in pixels, and no different, is left out.
    private static let leastStep: Float = 0.002
    /// Longer curves than this, in pixels, are halved first.
    static let longest = 4096.0
    /// A curve is halved no more often than this in a row: then it is shorter than a pixel, whatever the wire allows.
    private static let mostHalvings = 48
    /// More pieces than this are never cut from one such part.
    public static let mostPieces = 128
    /// The same for lines so wide that single precision is not enough to place their edges well.
    private static let mostHugePieces = 8

    /// The centre line so far, in pixels.
    public private(set) var samples: [CentreSample] = []
    /// Whether any sample is less than opaque.
    public private(set) var isTranslucent = false
    /// The highest opacity of a sample whose disc holds the whole canvas, 0 if there is none. Once there is an opaque
    /// one the rest of the stroke adds nothing and is left out.
    public private(set) var coveringOpacity: Float = 0

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
        coveringOpacity = 0
    }

    /// Moves all samples, so that a part of the canvas can begin at 0, 0.
    public mutating func moveSamples(left: Float, up: Float) {
        for index in samples.indices {
            samples[index].x -= left
            samples[index].y -= up
        }
    }

    public mutating func begin(at point: Vector, nib: Nib) {
        append(point * scale, nib)
    }

    public mutating func line(to end: Vector, nib: Nib) {
        let end = end * scale
        // Halved like a curve: single precision is not enough for what begins and ends far away.
        fit(
            Part(
                position, position.interpolated(to: end, at: 1.0 / 3), end.interpolated(to: position, at: 1.0 / 3), end,
                nib))
    }

    public mutating func quadratic(control: Vector, to end: Vector, nib: Nib) {
        let control = control * scale
        let end = end * scale
        fit(
            Part(
                position, position.interpolated(to: control, at: 2.0 / 3), end.interpolated(to: control, at: 2.0 / 3),
                end, nib))
    }

    public mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib) {
        fit(Part(position, control1 * scale, control2 * scale, end * scale, nib))
    }

    /// A cubic in pixels, with the nib at its end.
    private struct Part {
        var p0: Vector
        var p1: Vector
        var p2: Vector
        var p3: Vector
        var end: Nib

        init(_ p0: Vector, _ p1: Vector, _ p2: Vector, _ p3: Vector, _ end: Nib) {
            (self.p0, self.p1, self.p2, self.p3, self.end) = (p0, p1, p2, p3, end)
        }

        /// The box around the control points, and so around the curve.
        var hull: (low: Vector, high: Vector) {
            // Unlike `pointwiseMin` without branches, which nobody could foretell.
            func lesser(_ a: Vector, _ b: Vector) -> Vector { a.replacing(with: b, where: b .< a) }
            func greater(_ a: Vector, _ b: Vector) -> Vector { a.replacing(with: b, where: b .> a) }
            return (lesser(lesser(p0, p1), lesser(p2, p3)), greater(greater(p0, p1), greater(p2, p3)))
        }

        /// Both halves (de Casteljau); the first one ends with the given nib.
        func halves(_ nib: Nib) -> (Part, Part) {
            let a = p0.midpoint(to: p1)
            let b = p1.midpoint(to: p2)
            let c = p2.midpoint(to: p3)
            let ab = a.midpoint(to: b)
            let bc = b.midpoint(to: c)
            let middle = ab.midpoint(to: bc)
            return (Part(p0, a, ab, middle, nib), Part(middle, bc, c, p3, end))
        }
    }

    private mutating func fit(_ part: Part, halvings: Int = 0) {
        guard coveringOpacity < 1 else { return }
        let (low, high) = part.hull
        guard canTouch(low, high, part.end) else { return append(part.p3, part.end) }
        // No longer than thrice the way along two borders of its hull, which is cheaper to know.
        let size = high - low
        if (size.x + size.y) * 3 <= Self.longest { return cut(part) }
        let reach = (part.p1 - part.p0).length + (part.p2 - part.p1).length + (part.p3 - part.p2).length
        // Lines wider than that count from farther away.
        let longest = max(Self.longest, max(nib.width, part.end.width) * scale * 4)
        guard reach > longest, halvings < Self.mostHalvings else { return cut(part) }
        let (first, second) = part.halves(nib.interpolated(to: part.end, at: 0.5))
        fit(first, halvings: halvings + 1)
        fit(second, halvings: halvings + 1)
    }

    private mutating func cut(_ part: Part) {
        let from = nib
        let start = part.p0
        let bend1 = part.p0 - part.p1 * 2 + part.p2
        let bend2 = part.p1 - part.p2 * 2 + part.p3
        let linear = (part.p1 - part.p0) * 3
        let square = bend1 * 3
        let cube = bend2 - bend1
        let isHuge = max(nib.width, part.end.width) * scale > Self.longest * 4
        let count = min(Self.pieces(twistSquared: cube.dot(cube)), isHuge ? Self.mostHugePieces : Self.mostPieces)
        let step = 1 / Double(count)
        for index in 1..<max(count, 1) {
            let t = Double(index) * step
            bend(
                to: start + (linear + (square + cube * t) * t) * t, from.interpolated(to: part.end, at: t),
                sag: (square + cube * (3 * (t - 0.5 * step))) * (-0.25 * step * step))
        }
        bend(to: part.p3, part.end, sag: (square + cube * (3 - 1.5 * step)) * (-0.25 * step * step))
    }

    /// Appends a parabola, in halves where its edges are not nearly parabolas, too.
    private mutating func bend(to point: Vector, _ nib: Nib, sag: Vector) {
        let radius = max(self.nib.width, nib.width) * scale * 0.5
        if ParabolaEdges.areParabolas(way: point - position, sag: sag, radius: radius) {
            return append(point, nib, sag: sag)
        }
        guard abs(sag.x) + abs(sag.y) > Self.leastSag else { return append(point, nib) }
        // Half of a parabola has a quarter of the sag.
        bend(to: position.midpoint(to: point) + sag, self.nib.interpolated(to: nib, at: 0.5), sag: sag * 0.25)
        bend(to: point, nib, sag: sag * 0.25)
    }

    private mutating func append(_ point: Vector, _ nib: Nib, sag: Vector = .zero) {
        position = point
        self.nib = nib
        if nib.opacity < 1 { isTranslucent = true }
        if holdsCanvas(point, radius: nib.width * scale * 0.5) {
            coveringOpacity = max(coveringOpacity, Float(nib.opacity))
        }
        let sample = CentreSample(
            x: Float(point.x), y: Float(point.y), radius: Float(nib.width * scale * 0.5),
            opacity: Float(nib.opacity), sagX: Self.pixels(sag.x), sagY: Self.pixels(sag.y))
        if let last = samples.last, abs(last.x - sample.x) + abs(last.y - sample.y) < Self.leastStep,
            last.radius == sample.radius, last.opacity == sample.opacity
        {
            return
        }
        samples.append(sample)
    }

    /// Whether a disc covers every pixel of the canvas.
    private func holdsCanvas(_ centre: Vector, radius: Double) -> Bool {
        guard radius > canvas.x * 0.5, radius > canvas.y * 0.5 else { return false }
        let farX = max(abs(centre.x), abs(canvas.x - centre.x))
        let farY = max(abs(centre.y), abs(canvas.y - centre.y))
        return farX * farX + farY * farY <= radius * radius
    }

    /// What is too small to matter is straight.
    private static func pixels(_ sag: Double) -> Float { abs(sag) < 1e-6 ? 0 : Float(sag) }

    /// How many parabolas a cubic takes: one strays from it by √3/36 of the third difference, n by n³ times less.
    private static func pieces(twistSquared: Double) -> Int {
        let excess = twistSquared * (0.048 / tolerance) * (0.048 / tolerance)
        // Most curves take few: powers are quicker than roots.
        func allowed(_ count: Int) -> Double { Double(count * count * count) * Double(count * count * count) }
        var count = 1
        while count < mostPieces, allowed(count) < excess { count += 1 }
        return count
    }

    /// Whether a hull of control points, widened by the pen, reaches the canvas.
    private func canTouch(_ low: Vector, _ high: Vector, _ end: Nib) -> Bool {
        let reach = max(nib.width, end.width) * scale * 0.5 + 2
        return high.x >= -reach && high.y >= -reach && low.x <= canvas.x + reach && low.y <= canvas.y + reach
    }
}
