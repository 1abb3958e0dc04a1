/// Places stamps along a centre line, one every half board unit of its length; the remainder of a segment is carried
/// over to the next. The alpha of a stamp is min(1, opacity / 1.5). After Adam Wulf, JotUI. A dot is stamped several
/// times: one stamp would be much fainter than a line.
///
/// Only visible stamps are placed. Stamps much closer to each other than they are wide are merged into one with a
/// count: the look is the same, and a line has at most ``groupsPerRadius`` merged stamps for every radius of its
/// length. No stamps are stored, so the length of a line has no limit.
public struct StampPlacer: Sendable {
    /// Board units between two stamps.
    public static let spacing = 0.5
    /// How many stamps make a dot.
    public static let dotStamps = 8
    /// Stamps within one part of the radius are merged; the radius has this many parts. With a quarter as many the rim
    /// of a short stroke would be off by a tenth.
    public static let groupsPerRadius = 64.0

    /// Pixels between two stamps.
    private let step: Double
    /// The size of the canvas in pixels.
    private let canvas: Vector
    /// The first sample, until the line has moved.
    private var start: CentreSample?
    private var hasMoved = false
    /// The distance from the last stamp to the last sample, in pixels.
    private var carried = 0.0

    /// Makes a placer for one stroke; `scale` is pixels a board unit, above 0.
    public init(scale: Double, canvasWidth: Int, canvasHeight: Int) {
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
        if let start {
            self.start = nil
            guard body(Self.stamp(start, start, at: 0, count: 1)) else { return false }
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
        start.map { body(Self.stamp($0, $0, at: 0, count: Self.dotStamps)) } ?? true
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
            guard body(Self.stamp(a, b, at: distance / length, count: Int(min(together, 0x1p30)))) else { return false }
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

    private static func stamp(_ a: CentreSample, _ b: CentreSample, at part: Double, count: Int) -> Stamp {
        // Single precision is not enough between samples that are far apart.
        func between(_ a: Float, _ b: Float) -> Float { Float(Double(a) + (Double(b) - Double(a)) * part) }
        return Stamp(
            x: between(a.x, b.x), y: between(a.y, b.y), radius: between(a.radius, b.radius),
            alpha: min(1, between(a.opacity, b.opacity) / 1.5), count: count)
    }
}

/// One mark of a soft round brush, in pixels.
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

    /// Makes a stamp.
    @inlinable
    public init(x: Float, y: Float, radius: Float, alpha: Float, count: Int = 1) {
        self.x = x
        self.y = y
        self.radius = radius
        self.alpha = alpha
        self.count = count
    }

    /// The brush: the fraction of ``alpha`` at a distance from the centre (1 is the side of the square). At a radius of
    /// 32 it is 1 up to 6 (20 % of 30), then linear down to 0 at 30.
    @inlinable
    public static func brush(_ distance: Float) -> Float {
        let texel = distance * 32
        return texel <= 6 ? 1 : texel >= 30 ? 0 : (30 - texel) / 24
    }
}
