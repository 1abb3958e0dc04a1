public import StrokeWire

/// A whole stroke, ready to be drawn: everything but its colour.
public struct InkStroke: Sendable, Equatable {
    /// What is drawn.
    public var element: Element
    /// How freehand points become ink.
    public var style: InkStyle
    /// The line width in board units.
    public var width: Double
    /// The points in board units, first = begin, last = end.
    public var points: [StrokePoint]

    /// Puts a stroke together.
    public init(element: Element, style: InkStyle, width: Double, points: [StrokePoint]) {
        self.element = element
        self.style = style
        self.width = width
        self.points = points
    }

    /// Whether the stroke removes paint.
    public var isErasing: Bool { element == .eraser }

    /// Whether the ink is set on by stamps along the line instead of a pen that covers it.
    public var isStamped: Bool { style == .stamp && element == .freehand }

    /// Sends the whole centre line to a sink.
    public func trace(into sink: inout some CurveSink) {
        send(to: &sink)
    }

    /// Sends the whole centre line to a fitter: the same, compiled for the one sink that has to be fast.
    public func trace(into fitter: inout ParabolaFitter) {
        send(to: &fitter)
    }

    @inline(__always)
    private func send(to sink: inout some CurveSink) {
        var tracer = StrokeTracer(element: element, style: style, width: width)
        tracer.add(points, into: &sink)
        tracer.finish(into: &sink)
    }
}
