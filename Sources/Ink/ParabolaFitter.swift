/// One sample of a flattened centre line, in pixels.
///
/// A stroke is the area swept by a disc that moves from sample to sample, on a straight line or a parabola, while its
/// radius changes linearly. On a straight line that is a tapered capsule: the convex hull of both discs.
public struct CentreSample: Sendable, Equatable {
    /// Pixels from the left edge of the canvas.
    public var x: Float
    /// Pixels from the upper edge of the canvas, downwards.
    public var y: Float
    /// Half the width of the line in pixels, not negative.
    public var radius: Float
    /// Opacity, 0 … 1.
    public var opacity: Float
    /// Sagitta of the parabola from the last sample: pixels to the right from the middle of the chord to the middle of
    /// the parabola; 0 on a straight line.
    public var sagX: Float
    /// The same downwards.
    public var sagY: Float

    /// Makes a sample.
    @inlinable
    public init(x: Float, y: Float, radius: Float, opacity: Float = 1, sagX: Float = 0, sagY: Float = 0) {
        self.x = x
        self.y = y
        self.radius = radius
        self.opacity = opacity
        self.sagX = sagX
        self.sagY = sagY
    }

    /// Largest distance of a chord from its parabola, in pixels.
    private static let chordTolerance: Float = 0.1
    /// Limit of chords of one parabola.
    private static let maximumChords: Float = 128

    /// Calls with the ends of the chords that stand for the parabola from a sample to this one, which is the last; stops
    /// when `body` returns false, and then returns false.
    @inline(__always)
    func forEachChord(from start: CentreSample, _ body: (CentreSample) -> Bool) -> Bool {
        let sagSquared = sagX * sagX + sagY * sagY
        guard sagSquared > Self.chordTolerance * Self.chordTolerance else {
            return body(CentreSample(x: x, y: y, radius: radius, opacity: opacity))
        }
        // Of n chords each is off the parabola by the sag divided by n².
        let needed = (sagSquared.squareRoot() / Self.chordTolerance).squareRoot().rounded(.up)
        let count = Int(min(needed, Self.maximumChords))
        for index in 1..<count {
            let t = Float(index) / Float(count)
            let bend = 4 * t * (1 - t)
            let end = CentreSample(
                x: start.x + (x - start.x) * t + sagX * bend, y: start.y + (y - start.y) * t + sagY * bend,
                radius: start.radius + (radius - start.radius) * t,
                opacity: start.opacity + (opacity - start.opacity) * t)
            guard body(end) else { return false }
        }
        return body(CentreSample(x: x, y: y, radius: radius, opacity: opacity))
    }
}

extension [CentreSample] {
    /// The same line in straight segments, within 0.1 pixels.
    public func flattened() -> [CentreSample] {
        guard var last = first else { return [] }
        var chords = [CentreSample(x: last.x, y: last.y, radius: last.radius, opacity: last.opacity)]
        for sample in dropFirst() {
            _ = sample.forEachChord(from: last) { end in
                chords.append(end)
                return true
            }
            last = sample
        }
        return chords
    }
}

/// Approximates curves by parabolas and scales board units to pixels.
///
/// A quadratic is a parabola; the third difference of a cubic gives the number of its parabolas. A rasterizer draws a
/// parabola as fast as a line. A curve that cannot touch the canvas becomes one straight segment, which cannot touch it
/// either; a curve that reaches far beyond it is halved first. Reuse a fitter for many strokes: it keeps its memory.
public struct ParabolaFitter: CurveSink, Sendable {
    /// The largest distance of a parabola from its cubic, in pixels, above 0.
    public var tolerance = 0.004
    /// The largest error of a width that changes along a quadratic, in pixels.
    private static let widthTolerance = 0.008
    /// Sag below which a parabola that would have to be halved counts as straight, in pixels.
    private static let minimumSag = 0.004
    /// A sample nearer than this to the one before, in pixels, with the same nib, is left out.
    private static let minimumStep: Float = 0.002
    /// Longer curves than this, in pixels, are halved first.
    private static let maximumLength = 4096.0
    /// Limit of halvings in a row: they make any curve that the wire allows shorter than a pixel.
    private static let maximumHalvings = 48
    /// Limit of segments for one such cubic.
    public static let maximumSegments = 128
    /// The same for lines so wide that single precision is not enough to place their edges well.
    private static let maximumHugeSegments = 8

    /// The centre line so far, in pixels.
    public private(set) var samples: [CentreSample] = []
    /// The least and the greatest opacity of all samples since ``reset()``; 1 … 0 before the first.
    public private(set) var opacities: (least: Float, most: Float) = (1, 0)
    /// Whether the disc of any sample since ``reset()`` covers the whole canvas.
    public private(set) var coversCanvas = false
    /// Subtracted from the positions of new samples, in pixels, so that a part of the canvas can begin at 0, 0.
    public var origin = SIMD2<Float>.zero

    private let scale: Double
    private let canvas: Vector
    private var position = Vector.zero
    private var nib = Nib(width: 0)

    /// Makes a fitter for a canvas of the given size in pixels; `scale` is pixels a board unit, above 0.
    public init(scale: Double, canvasWidth: Int, canvasHeight: Int) {
        self.scale = scale
        canvas = Vector(Double(canvasWidth), Double(canvasHeight))
    }

    /// Whether any sample since ``reset()`` was less than opaque.
    public var isTranslucent: Bool { opacities.least < 1 }

    /// Forgets the last stroke and keeps the memory of its samples.
    public mutating func reset() {
        samples.removeAll(keepingCapacity: true)
        opacities = (1, 0)
        coversCanvas = false
        origin = .zero
    }

    /// Forgets all samples but the last one, from which the line goes on.
    mutating func keepLastSample() { samples.removeSubrange(..<max(samples.count - 1, 0)) }

    /// Moves all samples, so that a part of the canvas can begin at 0, 0.
    public mutating func moveSamples(left: Float, up: Float) {
        for index in samples.indices {
            samples[index].x -= left
            samples[index].y -= up
        }
    }

    public mutating func begin(at point: Vector, nib: Nib) { append(point * scale, nib) }

    public mutating func line(to end: Vector, nib: Nib) {
        let end = end * scale
        // Halved like a curve: single precision is not enough for lines between far ends.
        fit(
            Cubic(
                position, position.interpolated(to: end, at: 1.0 / 3), end.interpolated(to: position, at: 1.0 / 3), end,
                nib))
    }

    public mutating func quadratic(control: Vector, to end: Vector, nib: Nib) {
        let control = control * scale
        let end = end * scale
        fit(
            Cubic(
                position, position.interpolated(to: control, at: 2.0 / 3), end.interpolated(to: control, at: 2.0 / 3),
                end, nib))
    }

    public mutating func quadratic(_ segment: SwellingQuadratic) {
        let pieces = segment.pieces(tolerance: Self.widthTolerance / scale)
        segment.forEachPiece(pieces) { control, end in quadratic(control: control, to: end.position, nib: end.nib) }
    }

    public mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib) {
        fit(Cubic(position, control1 * scale, control2 * scale, end * scale, nib))
    }

    /// A cubic in pixels, with the nib at its end.
    private struct Cubic {
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
            // Without branches, unlike `pointwiseMin`: they would be unpredictable.
            func lesser(_ a: Vector, _ b: Vector) -> Vector { a.replacing(with: b, where: b .< a) }
            func greater(_ a: Vector, _ b: Vector) -> Vector { a.replacing(with: b, where: b .> a) }
            return (lesser(lesser(p0, p1), lesser(p2, p3)), greater(greater(p0, p1), greater(p2, p3)))
        }

        /// Both halves (de Casteljau); the first one ends with the given nib.
        func halves(_ nib: Nib) -> (Cubic, Cubic) {
            let a = p0.midpoint(to: p1)
            let b = p1.midpoint(to: p2)
            let c = p2.midpoint(to: p3)
            let ab = a.midpoint(to: b)
            let bc = b.midpoint(to: c)
            let middle = ab.midpoint(to: bc)
            return (Cubic(p0, a, ab, middle, nib), Cubic(middle, bc, c, p3, end))
        }
    }

    private mutating func fit(_ cubic: Cubic, halvings: Int = 0) {
        let (low, high) = cubic.hull
        guard canTouch(low, high, cubic.end) else { return append(cubic.p3, cubic.end) }
        // Cheap bound: the curve is at most three times as long as two sides of its hull.
        let size = high - low
        if (size.x + size.y) * 3 <= Self.maximumLength { return approximate(cubic) }
        let reach = (cubic.p1 - cubic.p0).length + (cubic.p2 - cubic.p1).length + (cubic.p3 - cubic.p2).length
        // A wide line reaches the canvas from farther away.
        let maximumLength = max(Self.maximumLength, max(nib.width, cubic.end.width) * scale * 4)
        guard reach > maximumLength, halvings < Self.maximumHalvings else { return approximate(cubic) }
        let (first, second) = cubic.halves(nib.interpolated(to: cubic.end, at: 0.5))
        fit(first, halvings: halvings + 1)
        fit(second, halvings: halvings + 1)
    }

    private mutating func approximate(_ cubic: Cubic) {
        let from = nib
        let start = cubic.p0
        let bend1 = cubic.p0 - cubic.p1 * 2 + cubic.p2
        let bend2 = cubic.p1 - cubic.p2 * 2 + cubic.p3
        let linear = (cubic.p1 - cubic.p0) * 3
        let square = bend1 * 3
        let cube = bend2 - bend1
        let isHuge = max(nib.width, cubic.end.width) * scale > Self.maximumLength * 4
        let count = min(
            segmentCount(twistSquared: cube.dot(cube)), isHuge ? Self.maximumHugeSegments : Self.maximumSegments)
        let step = 1 / Double(count)
        for index in 1..<max(count, 1) {
            let t = Double(index) * step
            appendParabola(
                to: start + (linear + (square + cube * t) * t) * t, from.interpolated(to: cubic.end, at: t),
                sag: (square + cube * (3 * (t - 0.5 * step))) * (-0.25 * step * step))
        }
        appendParabola(to: cubic.p3, cubic.end, sag: (square + cube * (3 - 1.5 * step)) * (-0.25 * step * step))
    }

    /// Appends a parabola, halved until its edges are nearly parabolas too.
    private mutating func appendParabola(to point: Vector, _ nib: Nib, sag: Vector) {
        let radius = max(self.nib.width, nib.width) * scale * 0.5
        if ParabolaOffset.isNearlyParabola(chord: point - position, sag: sag, radius: radius) {
            return append(point, nib, sag: sag)
        }
        guard abs(sag.x) + abs(sag.y) > Self.minimumSag else { return append(point, nib) }
        // Half of a parabola has a quarter of the sag.
        appendParabola(to: position.midpoint(to: point) + sag, self.nib.interpolated(to: nib, at: 0.5), sag: sag * 0.25)
        appendParabola(to: point, nib, sag: sag * 0.25)
    }

    private mutating func append(_ point: Vector, _ nib: Nib, sag: Vector = .zero) {
        position = point
        self.nib = nib
        let sample = CentreSample(
            x: Float(point.x) - origin.x, y: Float(point.y) - origin.y, radius: Float(nib.width * scale * 0.5),
            opacity: Float(nib.opacity), sagX: Self.pixels(sag.x), sagY: Self.pixels(sag.y))
        if sample.opacity < opacities.least { opacities.least = sample.opacity }
        if sample.opacity > opacities.most { opacities.most = sample.opacity }
        if coversCanvas(point, radius: nib.width * scale * 0.5) { coversCanvas = true }
        if let last = samples.last, abs(last.x - sample.x) + abs(last.y - sample.y) < Self.minimumStep,
            last.radius == sample.radius, last.opacity == sample.opacity
        {
            return
        }
        samples.append(sample)
    }

    /// Whether a disc covers every pixel of the canvas.
    private func coversCanvas(_ centre: Vector, radius: Double) -> Bool {
        guard radius > canvas.x * 0.5, radius > canvas.y * 0.5 else { return false }
        let farX = max(abs(centre.x), abs(canvas.x - centre.x))
        let farY = max(abs(centre.y), abs(canvas.y - centre.y))
        return farX * farX + farY * farY <= radius * radius
    }

    /// Negligible sag becomes 0, a straight line.
    private static func pixels(_ sag: Double) -> Float { abs(sag) < 1e-6 ? 0 : Float(sag) }

    /// Number of parabolas for a cubic: one deviates by √3/36 of the third difference, n of them n³ times less.
    private func segmentCount(twistSquared: Double) -> Int {
        let excess = twistSquared * (0.048 / tolerance) * (0.048 / tolerance)
        // Most curves need few: powers are faster than roots.
        func allowed(_ count: Int) -> Double { Double(count * count * count) * Double(count * count * count) }
        var count = 1
        while count < Self.maximumSegments, allowed(count) < excess { count += 1 }
        return count
    }

    /// Whether a hull of control points, widened by the pen, reaches the canvas.
    private func canTouch(_ low: Vector, _ high: Vector, _ end: Nib) -> Bool {
        let reach = max(nib.width, end.width) * scale * 0.5 + 2
        return high.x >= -reach && high.y >= -reach && low.x <= canvas.x + reach && low.y <= canvas.y + reach
    }
}

/// Error of taking the edges of a line along a parabola for parabolas themselves.
///
/// An edge is the offset curve of the parabola at the distance of the radius. The parabola through the edge's ends and
/// its middle misses it by about radius · turn² · (3/8 · skew + 3/128 · turn²) pixels: the first terms of the series,
/// where `turn` is the tangent of half the angle by which the direction turns, and `skew` how much faster the parabola
/// is at one end than on average.
private enum ParabolaOffset {
    /// Largest allowed error, in pixels.
    private static let tolerance = 0.02
    /// Limits of the series for lines of any width: a turn of 38 degrees, and one end four times as fast as the other.
    private static let maximumTurnSquared = 0.12
    private static let maximumSkew = 0.6
    /// Radius in pixels beyond which a wider line is not cut into more segments.
    private static let maximumRadius = 64.0

    /// Whether both edges are parabolas within the tolerance.
    /// - Parameters:
    ///   - chord: from the start to the end of the centre parabola, in pixels.
    ///   - sag: from the middle of the chord to the middle of the parabola, in pixels.
    @inline(__always)
    static func isNearlyParabola(chord: Vector, sag: Vector, radius: Double) -> Bool {
        // Skew and turn are multiplied by powers of the chord's length, which saves divisions.
        let square = chord.dot(chord)
        let skew = abs(sag.dot(chord)) * 4
        let across = sag.cross(chord) * 4
        let turn = across * across
        let fourth = square * square
        let miss = min(radius, maximumRadius) * turn * (0.375 * skew * square + 0.0234375 * turn)
        return miss <= fourth * fourth * tolerance && turn < fourth * maximumTurnSquared && skew <= square * maximumSkew
    }
}
