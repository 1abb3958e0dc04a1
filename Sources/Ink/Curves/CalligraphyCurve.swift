internal import StrokeWire

/// The `calligraphy` style: quadratics between midpoints; the faster or harder the pen, the wider the line. After
/// Krzysztof Zabłocki, "Drawing smooth lines with cocos2d".
///
/// A point has the size speed / 166, within 1 … 40, or 1 + 39 · force; from the third on 0.2 of that and 0.8 of the
/// size before. ``NibResponse`` makes a width of it. Speeds are in 1024ths of the board's longer side a second, so that
/// the same hand on a board of any size writes the same. Points closer than 1.5 of these units to the last are left out,
/// but the end of the stroke is reached. Along a segment the width is in the same quadratic basis as the position: over
/// (w0 + w1) / 2, w1 and (w1 + w2) / 2.
struct CalligraphyCurve: Sendable {
    private static let minimumDistance = 1.5

    private let width: Double
    private let unit: Double
    private var estimator = SpeedEstimator()
    private var segments = MidpointQuadratics(isSwelling: true)
    private var size = 1.0
    /// The nib of the last point that was kept.
    private var nib = Nib(width: 0)
    /// How many points were kept: 0, 1, 2, or 3 for more.
    private var count = 0
    /// The first point, kept until the second: it has no speed of its own and gets that of the second.
    private var first: StrokePoint?
    private var last = Vector.zero
    /// A point that was too near, kept in case the stroke ends there.
    private var skipped: Vector?

    /// - Parameter unit: a 1024th of the board's longer side, in board units, above 0.
    init(width: Double, unit: Double = 1) {
        self.width = width
        self.unit = unit
    }

    mutating func add(_ point: StrokePoint, into sink: inout some CurveSink) {
        let position = Vector(point.x, point.y)
        guard count == 0 || (position - last).length >= Self.minimumDistance * unit else {
            skipped = position
            return
        }
        // The estimator sees the kept points only: speed is the distance between two of them over the time between
        // them.
        let fresh = Self.size(force: point.force, speed: estimator.speed(to: point).map { $0 / unit })
        skipped = nil
        last = position
        if count == 0 {
            first = point
        } else {
            size = count > 1 ? 0.2 * fresh + 0.8 * size : fresh
            nib = nib(size, hasForce: point.force != nil)
            if let first {
                let own = first.force.map { nib(Self.size(force: $0, speed: nil), hasForce: true) }
                segments.add(PenSample(position: Vector(first.x, first.y), nib: own ?? nib), into: &sink)
            }
            first = nil
            segments.add(PenSample(position: position, nib: nib), into: &sink)
        }
        count = min(count + 1, 3)
    }

    func finish(into sink: inout some CurveSink) {
        if let first {
            sink.begin(at: Vector(first.x, first.y), nib: Nib(width: width))
            if let skipped { sink.line(to: skipped, nib: Nib(width: width)) }
            return
        }
        var segments = segments
        if let skipped { segments.add(PenSample(position: skipped, nib: nib), into: &sink) }
        segments.finish(into: &sink)
    }

    private func nib(_ size: Double, hasForce: Bool) -> Nib {
        Nib(width: width * (hasForce ? NibResponse.force : .speed).width(size))
    }

    private static func size(force: Double?, speed: Double?) -> Double {
        if let force { return 1 + 39 * force }
        return min(max((speed ?? 0) / 166, 1), 40)
    }
}

/// How wide a line of `calligraphy` is for a size of 1 … 40: with x = (size / ``middle``) to the power ``steepness``, it is
/// 0.4 + 1.2 · x / (1 + x) times the line width l. So a line is between 0.4 · l and 1.6 · l, and l at the middle.
///
/// Zabłocki's sizes are widths of a finger's strokes across a whole screen. Handwriting keeps to a narrow part of them,
/// where they would be hairlines, all alike. The constants spread that part:
///
/// - On recorded cursive (1,200 strokes without times of their own, on boards of 1024 × 768) the middle half of all sizes by
///   speed is 1.46 … 1.62, nine tenths are 1.35 … 1.80: the middle is 1.5. With the steepness 10 the mean of the thickest
///   tenth of the widths is 2.2 times that of the thinnest, 0.6 · l and 1.4 · l; with 8 it would be less than twice.
/// - The forces of recorded tablet pens are 0.11 … 0.71 for eight tenths of the points. A third of the greatest force, the
///   size 14, gives l; with the steepness 2 these forces write 0.54 · l … 1.37 · l.
public struct NibResponse: Sendable, Equatable {
    /// The size that gives the line width.
    public let middle: Double
    /// The power: an even number, 2 … 10.
    public let steepness: Int

    /// For sizes by speed.
    public static let speed = NibResponse(middle: 1.5, steepness: 10)
    /// For sizes by force.
    public static let force = NibResponse(middle: 14, steepness: 2)

    /// The width of the line, as a multiple of the line width of the stroke: 0.4 … 1.6.
    public func width(_ size: Double) -> Double {
        let square = size / middle * (size / middle)
        var power = square
        for _ in 1..<max(steepness / 2, 1) { power *= square }
        return 1.6 - 1.2 / (1 + power)
    }
}
