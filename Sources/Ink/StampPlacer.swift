/// Places stamps along a centre line, one every half board unit of its length; the remainder of a segment is carried
/// over to the next. The alpha of a stamp is min(1, opacity / 1.5). After Adam Wulf, JotUI. A dot is stamped several
/// times: one stamp would be much fainter than a line.
///
/// Only visible stamps are placed. Stamps much closer to each other than they are wide are merged into one with a
/// count: the look is the same, and a line has at most ``groupsPerRadius`` merged stamps for every radius of its
/// length. No stamps are stored, so the length of a line has no limit.
///
/// Tips that are not round have an edge: ``InkTip``.
public struct StampPlacer: Sendable {
    /// Board units between two stamps.
    public static let spacing = 0.5
    /// The alpha of a stamp of felt, which is even.
    public static let feltAlpha = 1 / 1.5
    /// How many stamps make a dot.
    public static let dotStamps = 8
    /// Stamps within one part of the radius are merged; the radius has this many parts. With a quarter as many the rim
    /// of a short stroke would be off by a tenth.
    public static let groupsPerRadius = 64.0

    private let tip: InkTip
    /// Pixels between two stamps.
    private let step: Double
    /// The size of the canvas in pixels.
    private let canvas: Vector
    /// The first sample, until the line has moved.
    private var start: CentreSample?
    private var hasMoved = false
    /// The edge of the last stamp that lies across the line.
    private var edge: SIMD2<Float>?
    /// The distance from the last stamp to the last sample, in pixels.
    private var carried = 0.0

    /// Makes a placer for one stroke; `scale` is pixels a board unit, above 0.
    public init(scale: Double, canvasWidth: Int, canvasHeight: Int, tip: InkTip = .round) {
        self.tip = tip
        step = Self.spacing * scale
        canvas = Vector(Double(canvasWidth), Double(canvasHeight))
    }

    /// Adds samples, of which the first is the last one of the samples before, and calls `body` with their stamps.
    /// Returns whether the end was reached; it stops when `body` returns false.
    public mutating func add(_ samples: UnsafeBufferPointer<CentreSample>, _ body: (Stamp) -> Bool) -> Bool {
        guard var a = samples.first else { return true }
        if start == nil, !hasMoved { start = a }
        for b in samples.dropFirst() {
            let goesOn = b.forEachChord(from: a) { end in
                defer { a = end }
                return add(a, end, body)
            }
            guard goesOn else { return false }
        }
        return true
    }

    /// Goes on along a chord.
    private mutating func add(_ a: CentreSample, _ b: CentreSample, _ body: (Stamp) -> Bool) -> Bool {
        let length = (Vector(Double(b.x), Double(b.y)) - Vector(Double(a.x), Double(a.y))).length
        guard length > 0 else { return true }
        hasMoved = true
        if tip == .highlighter, !turn(at: a, to: SIMD2(a.y - b.y, b.x - a.x) / Float(length), body) { return false }
        if let start {
            self.start = nil
            guard body(stamp(start, start, at: 0, count: 1)) else { return false }
        }
        let ahead = step - carried
        let count = ((length - ahead) / step).rounded(.down) + 1
        guard count > 0 else {
            carried += length
            return true
        }
        carried = min(max(length - ahead - (count - 1) * step, 0), step)
        return add(a, b, length: length, ahead: ahead, count: count, body)
    }

    /// Ends the stroke; one that has not moved is a dot.
    public func finish(_ body: (Stamp) -> Bool) -> Bool {
        start.map { body(stamp($0, $0, at: 0, count: Self.dotStamps)) } ?? true
    }

    /// Places the visible ones of `count` stamps between two samples; the first one is `ahead` pixels from `a`.
    private func add(
        _ a: CentreSample, _ b: CentreSample, length: Double, ahead: Double, count: Double, _ body: (Stamp) -> Bool
    ) -> Bool {
        var index = 0.0
        var end = count
        if !isVisible(a, b) {
            guard let (low, high) = visiblePart(a, b) else { return true }
            index = max(0, ((low * length - ahead) / step).rounded(.up))
            end = min(count, ((high * length - ahead) / step).rounded(.down) + 1)
        }
        let group = (Double(max(min(a.radius, b.radius), 1)) / Self.groupsPerRadius / step).rounded(.down)
        while index < end {
            let together = max(min(group, end - index), 1)
            let distance = ahead + (index + (together - 1) * 0.5) * step
            guard body(stamp(a, b, at: distance / length, count: Int(min(together, 0x1p30)))) else { return false }
            index += together
        }
        return true
    }

    /// Whether both ends of a chord are on the canvas, and so all of its stamps.
    private func isVisible(_ a: CentreSample, _ b: CentreSample) -> Bool {
        Double(min(a.x, b.x)) >= 0 && Double(min(a.y, b.y)) >= 0 && Double(max(a.x, b.x)) <= canvas.x
            && Double(max(a.y, b.y)) <= canvas.y
    }

    /// The part of a chord on which stamps are visible, as fractions of its length; `nil` where no part is.
    private func visiblePart(_ a: CentreSample, _ b: CentreSample) -> (low: Double, high: Double)? {
        let margin = Double(max(a.radius, b.radius, 1))
        let from = Vector(Double(a.x), Double(a.y))
        let to = Vector(Double(b.x), Double(b.y))
        var low = 0.0
        var high = 1.0
        for axis in 0..<2 {
            let extent = to[axis] - from[axis]
            if extent == 0 {
                if from[axis] < -margin || from[axis] > canvas[axis] + margin { return nil }
            } else {
                let one = (-margin - from[axis]) / extent
                let other = (canvas[axis] + margin - from[axis]) / extent
                low = max(low, min(one, other))
                high = min(high, max(one, other))
            }
        }
        return (low, high)
    }

    /// Turns the edge of a tip that lies across the line, with stamps in between where the line has a corner. Returns whether
    /// to go on.
    private mutating func turn(at place: CentreSample, to next: SIMD2<Float>, _ body: (Stamp) -> Bool) -> Bool {
        guard let last = edge else {
            edge = next
            return true
        }
        // An edge has no ends to tell apart, so it turns by a right angle at most.
        let next = (last * next).sum() < 0 ? -next : next
        defer { edge = next }
        return fan(at: place, from: last, to: next, halvings: 5, body)
    }

    private func fan(
        at place: CentreSample, from: SIMD2<Float>, to: SIMD2<Float>, halvings: Int, _ body: (Stamp) -> Bool
    ) -> Bool {
        // About 8°.
        guard (from * to).sum() < 0.99, halvings > 0, isVisible(place, place) else { return true }
        let sum = from + to
        let middle = sum / (sum * sum).sum().squareRoot()
        var stamp = stamp(place, place, at: 0, count: 1)
        stamp.edge = middle
        return fan(at: place, from: from, to: middle, halvings: halvings - 1, body) && body(stamp)
            && fan(at: place, from: middle, to: to, halvings: halvings - 1, body)
    }

    /// The direction of the edge of the tip between two samples.
    private func edge(_ a: CentreSample, _ b: CentreSample, at part: Double) -> SIMD2<Float> {
        switch tip {
        case .round, .square: SIMD2(1, 0)
        case .marker: SIMD2(Vector(angle: Double(a.opacity) + (Double(b.opacity) - Double(a.opacity)) * part))
        case .highlighter: edge ?? SIMD2(0, 1)
        }
    }

    private func stamp(_ a: CentreSample, _ b: CentreSample, at part: Double, count: Int) -> Stamp {
        // Single precision is not enough between samples that are far apart.
        func between(_ a: Float, _ b: Float) -> Float { Float(Double(a) + (Double(b) - Double(a)) * part) }
        return Stamp(
            x: between(a.x, b.x), y: between(a.y, b.y), radius: between(a.radius, b.radius),
            alpha: tip.isFelt ? Float(Self.feltAlpha) : min(1, between(a.opacity, b.opacity) / 1.5), count: count,
            edge: edge(a, b, at: part))
    }
}

/// One mark of a tip, in pixels.
public struct Stamp: Sendable, Equatable {
    /// Pixels from the left edge of the canvas.
    public var x: Float
    /// Pixels from the upper edge of the canvas, downwards.
    public var y: Float
    /// Half the side of the square brush image, which fades out a little inside of it.
    public var radius: Float
    /// Opacity at the centre, 0 … 1.
    public var alpha: Float
    /// How many stamps are merged here, 1 or more.
    public var count: Int
    /// The unit vector along the edge of a tip that is not round.
    public var edge: SIMD2<Float>

    /// Makes a stamp.
    @inlinable
    public init(
        x: Float, y: Float, radius: Float, alpha: Float, count: Int = 1, edge: SIMD2<Float> = SIMD2(1, 0)
    ) {
        self.x = x
        self.y = y
        self.radius = radius
        self.alpha = alpha
        self.count = count
        self.edge = edge
    }

    /// The brush: the fraction of ``alpha`` at a distance from the centre (1 is the side of the square). At a radius of
    /// 32 it is 1 up to 6 (20 % of 30), then linear down to 0 at 30.
    @inlinable
    public static func brush(_ distance: Float) -> Float {
        let texel = distance * 32
        return texel <= 6 ? 1 : texel >= 30 ? 0 : (30 - texel) / 24
    }
}

/// The brush of a tip that is not round: a rectangle with a soft rim, for one stamp.
public struct StampRectangle: Sendable, Equatable {
    /// Half the sides in pixels, to the middle of the rim: along the edge of the tip, and across it.
    public let halfLength, halfThickness: Float
    /// The width of the rim in pixels: from full to nothing.
    public let rim: Float

    /// The rectangle of a tip; it lies within the radius, but for the corners of the square.
    ///
    /// - Parameters:
    ///   - radius: that of the stamp in pixels, 1 or more.
    ///   - step: pixels between two stamps; a flat tip is at least three of them thick, so that its stamps make a line.
    public init(_ tip: InkTip, radius: Float, step: Float) {
        rim = max(1, radius / 12)
        if tip == .square {
            halfLength = radius - rim * 0.5
            halfThickness = halfLength
        } else {
            let thickness = min(max(radius * 0.3, step * 1.5), radius * 0.6)
            halfLength = radius * 0.95 - rim * 0.5
            halfThickness = thickness - rim * 0.5
        }
    }

    /// The fraction of a stamp's alpha at a distance from its middle, along the edge and across it, in pixels, not negative.
    @inlinable
    public func strength(along: Float, across: Float) -> Float {
        func part(_ inside: Float) -> Float { min(max(inside / rim + 0.5, 0), 1) }
        return part(halfLength - along) * part(halfThickness - across)
    }
}
