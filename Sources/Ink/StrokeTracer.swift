public import StrokeWire

/// Turns the points of one stroke into its centre line, incrementally.
///
/// Add the points in any number of chunks, then `finish`: the chunks do not change the segments. To show an
/// unfinished stroke to its end, finish a copy. A tracer holds a few points and no heap memory.
public struct StrokeTracer: Sendable {
    private enum Curve: Sendable {
        case smooth(SmoothCurve)
        case quadratic(QuadraticCurve)
        case bspline(BSplineCurve)
        case calligraphy(CalligraphyCurve)
        case pen(PenCurve<BallPen>)
        case felt(PenCurve<FeltTip>)
        case pencil(PenCurve<PencilLead>)
        case shape(ShapeCurve)
    }

    private var curve: Curve

    /// Begins a stroke of the given width in board units. The eraser takes the same curves as freehand ink.
    ///
    /// - Parameters:
    ///   - unit: see ``InkStroke/unit``.
    ///   - tip: see ``InkStroke/tip``.
    public init(element: Element, style: InkStyle, width: Double, unit: Double = 1, tip: InkTip = .round) {
        switch element {
        case .line: curve = .shape(ShapeCurve(kind: .line, width: width))
        // An image is the frame that stands where its asset is missing, and a text its box; a lasso has no ink, and is traced
        // as its path.
        case .rectangle, .image, .text: curve = .shape(ShapeCurve(kind: .rectangle, width: width))
        case .ellipse: curve = .shape(ShapeCurve(kind: .ellipse, width: width))
        case .arrow: curve = .shape(ShapeCurve(kind: .arrow, width: width))
        case .highlighter: curve = .smooth(SmoothCurve(width: width, opacity: InkStroke.highlighterOpacity))
        // A pointer is no ink; as ink it is freehand.
        case .freehand, .eraser, .lasso, .pointer:
            switch style {
            case .smooth: curve = .smooth(SmoothCurve(width: width))
            case .quadratic: curve = .quadratic(QuadraticCurve(width: width))
            case .bspline: curve = .bspline(BSplineCurve(width: width))
            case .calligraphy: curve = .calligraphy(CalligraphyCurve(width: width, unit: unit))
            case .stamp where tip.isFelt && element == .freehand:
                curve = .felt(PenCurve(width: width, FeltTip(tip)))
            case .pen, .stamp:
                curve = .pen(PenCurve(width: width, element == .eraser ? BallPen(leastOpacity: 1) : BallPen()))
            case .pencil:
                curve = .pencil(PenCurve(width: width, PencilLead(unit: unit, isErasing: element == .eraser)))
            }
        }
    }

    /// Adds the next points, in board units.
    public mutating func add(_ points: some Sequence<StrokePoint>, into sink: inout some CurveSink) {
        switch curve {
        case .smooth(var smooth):
            for point in points { smooth.add(Vector(point.x, point.y), into: &sink) }
            curve = .smooth(smooth)
        case .quadratic(var quadratic):
            for point in points { quadratic.add(Vector(point.x, point.y), into: &sink) }
            curve = .quadratic(quadratic)
        case .bspline(var bspline):
            for point in points { bspline.add(Vector(point.x, point.y), into: &sink) }
            curve = .bspline(bspline)
        case .calligraphy(var calligraphy):
            for point in points { calligraphy.add(point, into: &sink) }
            curve = .calligraphy(calligraphy)
        case .pen(var pen):
            for point in points { pen.add(point, into: &sink) }
            curve = .pen(pen)
        case .felt(var felt):
            for point in points { felt.add(point, into: &sink) }
            curve = .felt(felt)
        case .pencil(var pencil):
            for point in points { pencil.add(point, into: &sink) }
            curve = .pencil(pencil)
        case .shape(var shape):
            for point in points { shape.add(Vector(point.x, point.y)) }
            curve = .shape(shape)
        }
    }

    /// Draws the rest, up to the last point.
    public func finish(into sink: inout some CurveSink) {
        switch curve {
        case .smooth(let smooth): smooth.finish(into: &sink)
        case .quadratic(let quadratic): quadratic.finish(into: &sink)
        case .bspline(let bspline): bspline.finish(into: &sink)
        case .calligraphy(let calligraphy): calligraphy.finish(into: &sink)
        case .pen(let pen): pen.finish(into: &sink)
        case .felt(let felt): felt.finish(into: &sink)
        case .pencil(let pencil): pencil.finish(into: &sink)
        case .shape(let shape): shape.finish(into: &sink)
        }
    }
}
