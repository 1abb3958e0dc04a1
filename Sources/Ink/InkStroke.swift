public import StrokeWire

/// A whole stroke without its colour, ready to be drawn.
public struct InkStroke: Sendable, Equatable {
    /// What is drawn.
    public var element: Element
    /// How freehand points become ink.
    public var style: InkStyle
    /// The line width in board units.
    public var width: Double
    /// The points in board units, first = begin, last = end.
    public var points: [StrokePoint]
    /// A 1024th of the board's longer side, in board units, above 0: what `calligraphy` and `pencil` measure speeds in.
    public var unit: Double
    /// What the style `stamp` stamps with.
    public var tip: InkTip

    /// Makes a stroke, on a board of 1024 units unless said.
    public init(
        element: Element, style: InkStyle, width: Double, points: [StrokePoint], unit: Double = 1,
        tip: InkTip = .round
    ) {
        self.element = element
        self.style = style
        self.width = width
        self.points = points
        self.unit = unit
        self.tip = tip
    }

    /// Of the element `highlighter`, whatever the style; even where it crosses itself.
    public static let highlighterOpacity = 0.35

    /// Whether the stroke removes paint.
    public var isErasing: Bool { element == .eraser }

    /// Whether the stroke is drawn with stamps along the line instead of a pen.
    public var isStamped: Bool { style == .stamp && element == .freehand }

    /// Sends the whole centre line to a sink.
    public func trace(into sink: inout some CurveSink) { send(to: &sink) }

    /// Sends the whole centre line to a fitter: specialised code for the sink that has to be fast.
    public func trace(into fitter: inout ParabolaFitter) { send(to: &fitter) }

    /// The points in a chunk of a stroke: at most a few megabytes of samples.
    public static let chunkSize = 1024

    /// Whether the stroke has more than one chunk.
    public var isLong: Bool { points.count > Self.chunkSize }

    /// Sends the centre line to a fitter, ``chunkSize`` points at a time, and calls `body` with the samples of each: the
    /// last sample of a chunk is the first of the next. Returns whether the end was reached; it stops when `body`
    /// returns false.
    ///
    /// The samples are those of ``trace(into:)-(ParabolaFitter)``; those of the last chunk stay in the fitter.
    public func traceInChunks(
        into fitter: inout ParabolaFitter, _ body: (UnsafeBufferPointer<CentreSample>) -> Bool
    ) -> Bool {
        guard isLong else {
            trace(into: &fitter)
            return fitter.samples.withUnsafeBufferPointer(body)
        }
        var tracer = StrokeTracer(element: element, style: style, width: width, unit: unit, tip: tip)
        for start in stride(from: 0, to: points.count, by: Self.chunkSize) {
            fitter.keepLastSample()
            let end = min(start + Self.chunkSize, points.count)
            tracer.add(points[start..<end], into: &fitter)
            if end == points.count { tracer.finish(into: &fitter) }
            guard fitter.samples.withUnsafeBufferPointer(body) else { return false }
        }
        return true
    }

    @inline(__always)
    private func send(to sink: inout some CurveSink) {
        var tracer = StrokeTracer(element: element, style: style, width: width, unit: unit, tip: tip)
        tracer.add(points, into: &sink)
        tracer.finish(into: &sink)
    }
}

/// How the points of a freehand stroke or an eraser become ink. A room has one style; shapes ignore it.
///
/// In every style one point is a dot of the line width, two points are a line and three points one quadratic.
public enum InkStyle: String, Sendable, CaseIterable {
    /// Cubic segments over every fifth point, constant width.
    case smooth
    /// Quadratic segments from midpoint to midpoint, constant width.
    case quadratic
    /// A uniform cubic B-spline; the farther the points lie apart, the thinner the line.
    case bspline
    /// Quadratic segments from midpoint to midpoint; the faster or harder the pen, the wider the line.
    case calligraphy
    /// A curve through all points; the slower or harder the pen, the wider and darker the line.
    case pen
    /// The curve of `pen`, stamped with a soft round brush that builds up within the stroke.
    case stamp
    /// The curve of `pen`; the harder the pencil the wider and darker the line, and wide and light where it is held flat.
    case pencil
}

/// What the style `stamp` stamps with. A room has one; other styles and erasers ignore it.
public enum InkTip: String, Sendable, CaseIterable {
    /// A soft round brush, wider and darker the slower or harder the pen.
    case round
    /// A square that stays upright.
    case square
    /// A flat tip whose edge lies across the azimuth of the pen: thick and thin by the direction of writing.
    case marker
    /// A flat tip that lies across the line, translucent.
    case highlighter

    /// The opacity of a stroke whose stamps have built up.
    public var opacity: Float { self == .highlighter ? 0.4 : 1 }

    /// Whether the line has the same width and opacity throughout, as felt leaves it.
    public var isFelt: Bool { self == .marker || self == .highlighter }
}

extension InkStyle {
    /// The name that clients are told: that of the style, and for `stamp` with another tip than the round one that of the
    /// tip, as in `stamp-marker`.
    public func name(tip: InkTip) -> String {
        self == .stamp && tip != .round ? "\(rawValue)-\(tip.rawValue)" : rawValue
    }
}
