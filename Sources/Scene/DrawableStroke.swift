package import Ink
package import PathGeometry
package import Raster
internal import StrokeWire

/// How a stroke is drawn in vector graphics.
package enum StrokeForm {
    /// The centre line, stroked with a round pen of constant width in board units.
    case curve(width: Double)
    /// The outline of a line of changing width, filled under the nonzero rule.
    case outline(StrokeOutline)
}

/// A stroke as one path of vector graphics, with one opacity; that of a pencil as several.
///
/// Ink whose opacity changes along the line gets the mean opacity. Stamps become a line of even ink
/// (``StampProfile``, ``TipOutline``).
package struct DrawableStroke {
    package let ink: InkStroke
    package let colour: RGB
    package let form: StrokeForm
    /// The opacity of the whole path, 0 … 1.
    package let opacity: Double
    /// Paths over that one, for the darker parts of a pencil's line, from light to dark: each lies within the one before.
    package let darker: [(outline: StrokeOutline, opacity: Double)]

    package var isErasing: Bool { ink.isErasing }
    /// The colour on white paper, on which an eraser paints white.
    package var colourOnWhite: RGB { isErasing ? RGB(0xFF_FFFF) : colour }

    /// `nil` when no part of the stroke is on a board of that size, or when one of its numbers is not finite.
    package init?(_ painted: PaintedStroke, width: Double, height: Double) {
        let measure = StrokeMeasure(of: painted.stroke)
        guard measure.isVisible(width: width, height: height) else { return nil }
        let window = StrokeWindow(
            size: Vector(width, height), fineness: max(1, 1024 / max(width, height)),
            isWhole: measure.isNear(width: width, height: height))
        self.init(painted, measure, window, mayBeCurve: true)
    }

    private init(_ painted: PaintedStroke, _ measure: StrokeMeasure, _ window: StrokeWindow, mayBeCurve: Bool) {
        ink = painted.stroke
        colour = painted.colour
        if painted.stroke.isStamped, painted.stroke.tip != .round {
            opacity = measure.tipOpacity(painted.stroke.tip)
            darker = []
            form = .outline(StrokeOutline(stroke: painted.stroke, window: window, pen: .tip(painted.stroke.tip)))
            return
        }
        let profile = painted.stroke.isStamped ? measure.stampProfile : nil
        let part = profile?.width ?? 1
        let tones = painted.stroke.style == .pencil ? Self.tones(painted.stroke, window) : nil
        opacity = tones?.opacity ?? profile?.opacity ?? measure.opacity
        darker = tones?.darker ?? []
        form =
            measure.isConstant && window.isWhole && mayBeCurve
            ? .curve(width: measure.widest * part)
            : .outline(StrokeOutline(stroke: painted.stroke, window: window, pen: .round(part: part)))
    }

    /// What lies farther from the board's corner than so many of its longer sides is no part of areas: outlines are as exact as
    /// the board is small, and would have no bound on one of a few units.
    private static let farthestSides = 64.0

    /// The stroke as areas of even ink, each with its opacity, to be filled one after the other; also of what lies beside
    /// the board, up to a distance. None when one of its numbers is not finite.
    ///
    /// - Parameters:
    ///   - longerSide: of the board, which outlines are as exact as.
    ///   - most: segments of all areas together.
    /// - Returns: nil where there would be more.
    package static func areas(
        of painted: PaintedStroke, longerSide: Double, atMost most: Int = DisplayList.Limits().segments
    ) -> [(path: Path, opacity: Double)]? {
        let measure = StrokeMeasure(of: painted.stroke)
        let box = measure.box
        guard !box.isEmpty else { return [] }
        let reach = min(DisplayList.maxCoordinate, farthestSides * longerSide)
        let limit = Box(lower: Point(repeating: -reach), upper: Point(repeating: reach))
        guard box.intersects(limit) else { return [] }
        let low = pointwiseMax(box.lower, limit.lower)
        let high = pointwiseMin(box.upper, limit.upper)
        let window = StrokeWindow(
            size: high - low, fineness: max(1, 1024 / longerSide), isWhole: low == box.lower && high == box.upper)
        let moved = PaintedStroke(stroke: painted.stroke.moved(by: -low), colour: painted.colour)
        let stroke = DrawableStroke(moved, measure, window, mayBeCurve: false)
        guard case .outline(let outline) = stroke.form else { return [] }
        var areas: [(path: Path, opacity: Double)] = []
        var left = most
        for tone in [(outline: outline, opacity: stroke.opacity)] + stroke.darker {
            guard let path = try? Path(tone.outline, movedBy: low, within: &left) else { return nil }
            if !path.isEmpty { areas.append((path, tone.opacity)) }
        }
        return areas
    }

    /// A box around the areas of a stroke; the empty one where there are none.
    package static func bounds(of painted: PaintedStroke) -> Box { StrokeMeasure(of: painted.stroke).box }

    /// The most tones of a pencil's line, and the least difference of two in opacity.
    private static let mostTones = 10
    private static let toneStep = 0.05

    /// The opacity of the lightest tone of a line, and what is darker: parts of the line, each painted over the last so that
    /// both together have its tone.
    private static func tones(
        _ stroke: InkStroke, _ window: StrokeWindow
    ) -> (opacity: Double, darker: [(outline: StrokeOutline, opacity: Double)])? {
        var fitter = window.fitter(scale: window.scale)
        _ = stroke.traceInChunks(into: &fitter) { _ in true }
        let (least, most) = (Double(fitter.opacities.least), Double(fitter.opacities.most))
        guard most - least > toneStep else { return nil }
        let count = min(mostTones, Int(((most - least) / toneStep).rounded(.up)))
        let step = (most - least) / Double(count)
        var below = least + step * 0.5
        var darker: [(outline: StrokeOutline, opacity: Double)] = []
        for tone in 1..<count {
            let bound = least + step * Double(tone)
            let outline = StrokeOutline(
                stroke: stroke, window: window, pen: .round(part: 1), leastOpacity: Float(bound))
            let opacity = bound + step * 0.5
            darker.append((outline, 1 - (1 - opacity) / (1 - below)))
            below = opacity
        }
        return (least + step * 0.5, darker)
    }
}

extension InkStroke {
    fileprivate func moved(by way: Vector) -> InkStroke {
        var stroke = self
        for place in points.indices {
            stroke.points[place].x += way.x
            stroke.points[place].y += way.y
        }
        return stroke
    }
}

/// An outline has more segments than allowed.
private struct OutlineTooLong: Error {}

extension Path {
    /// - Parameter left: segments that there may be yet.
    fileprivate init(_ outline: StrokeOutline, movedBy way: Vector, within left: inout Int) throws(OutlineTooLong) {
        var contours: [Contour] = []
        let map = AffineMap(1, 0, 0, 1, way.x, way.y)
        try outline.forEachContour { (contour) throws(OutlineTooLong) in
            left -= contour.segments.count + 1
            guard left >= 0 else { throw OutlineTooLong() }
            var moved = contour.transformed(by: map)
            moved.close()
            contours.append(moved)
        }
        self.init(contours)
    }
}

/// The bounds, widths and mean opacity of a centre line.
package struct StrokeMeasure: CurveSink {
    package private(set) var low = Vector(repeating: .infinity)
    package private(set) var high = Vector(repeating: -.infinity)
    package private(set) var narrowest = Double.infinity
    package private(set) var widest = -Double.infinity
    /// The integral of the opacity along the line: the mean opacity of each segment times its chord's length.
    private var opacitySum = 0.0
    private var length = 0.0
    private var firstOpacity = 1.0
    private var lastOpacity = 1.0
    private var position = Vector.zero
    private var isFinite = true

    package init(of stroke: InkStroke) { stroke.trace(into: &self) }

    /// A box around all ink, also around the corners of tips and what reducing outlines may add; the empty one when one of
    /// the numbers is not finite.
    package var box: Box {
        guard isFinite, widest > 0 else { return .empty }
        let reach = max(widest, 2) + 0.1
        return Box(lower: low - reach, upper: high + reach)
    }

    /// Whether any part of the stroke lies on a board of that size; false when one of its numbers is not finite.
    package func isVisible(width: Double, height: Double) -> Bool {
        let reach = widest * 0.5
        return isFinite && widest > 0 && low.x - reach < width && low.y - reach < height && high.x + reach > 0
            && high.y + reach > 0
    }

    /// Whether all control points are near a board of that size: renderers keep coordinates in 24 or 32 bits, and a stroke
    /// may come from farther away than that.
    package func isNear(width: Double, height: Double) -> Bool {
        let margin = 4 * max(width, height) + widest
        return low.x >= -margin && low.y >= -margin && high.x <= width + margin && high.y <= height + margin
    }

    package var isConstant: Bool { narrowest == widest }

    /// The mean opacity along the line, 0 … 1.
    package var opacity: Double {
        let mean = length > 0 ? opacitySum / length : firstOpacity
        return min(max(mean, 0), 1)
    }

    /// The even ink of a stroke of stamps along this line.
    package var stampProfile: StampProfile {
        let alpha = min(opacity / 1.5, 1)
        return length > 0 ? .line(radius: (narrowest + widest) * 0.25, alpha: alpha) : .dot(alpha: alpha)
    }

    /// The opacity of a stroke of stamps of a tip with an edge.
    package func tipOpacity(_ tip: InkTip) -> Double {
        let alpha = tip.isFelt ? StampPlacer.feltAlpha : min(opacity / 1.5, 1)
        return TipOutline.opacity(tip, radius: (narrowest + widest) * 0.25, alpha: alpha, isDot: length == 0)
    }

    package mutating func begin(at point: Vector, nib: Nib) {
        firstOpacity = nib.opacity
        lastOpacity = nib.opacity
        reach(point, nib)
        position = point
    }

    package mutating func line(to end: Vector, nib: Nib) { advance(to: end, nib) }

    package mutating func quadratic(control: Vector, to end: Vector, nib: Nib) {
        reach(control, nib)
        advance(to: end, nib)
    }

    package mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib) {
        reach(control1, nib)
        reach(control2, nib)
        advance(to: end, nib)
    }

    private mutating func advance(to end: Vector, _ nib: Nib) {
        reach(end, nib)
        let step = (end - position).length
        opacitySum += step * (lastOpacity + nib.opacity) * 0.5
        length += step
        lastOpacity = nib.opacity
        position = end
    }

    private mutating func reach(_ point: Vector, _ nib: Nib) {
        isFinite = isFinite && (point.x + point.y + nib.width + nib.opacity).isFinite
        low = pointwiseMin(low, point)
        high = pointwiseMax(high, point)
        narrowest = min(narrowest, nib.width)
        widest = max(widest, nib.width)
    }
}

/// Even ink in place of a line of stamps: as opaque as its middle, and wide enough for the same amount of ink.
///
/// Vector graphics have no brush. Stamps build up within a stroke: their line is almost solid, narrower than the brush,
/// and soft at its edges. The even line has sharp edges.
package struct StampProfile {
    /// The width of the even line as a fraction of the brush's width.
    package let width: Double
    /// The opacity of the even line.
    package let opacity: Double

    /// The profile of a pen that stays in one place.
    /// - Parameter alpha: the opacity of one stamp at its centre, 0 … 1.
    package static func dot(alpha: Double) -> StampProfile {
        func coverage(_ distance: Double) -> Double {
            let stamp = alpha * brush(distance)
            return 1 - (0..<StampPlacer.dotStamps).reduce(1.0) { left, _ in left * (1 - stamp) }
        }
        let profile = StampProfile(weight: { 2 * $0 }, coverage: coverage)
        // The ink of a disc grows with the square of its width.
        return StampProfile(width: profile.width.squareRoot(), opacity: profile.opacity)
    }

    /// The profile of stamps along a line, one every ``StampPlacer/spacing``.
    /// - Parameters:
    ///   - radius: half the width of the brush in board units, at most 32: beyond, more stamps on each other make no
    ///     difference.
    ///   - alpha: the opacity of one stamp at its centre, 0 … 1.
    package static func line(radius: Double, alpha: Double) -> StampProfile {
        let step = StampPlacer.spacing / min(max(radius, 0.25), 32)
        let reach = Int((1 / step).rounded(.up))
        func coverage(_ distance: Double) -> Double {
            let left = (-reach...reach).reduce(1.0) { left, stamp in
                let along = Double(stamp) * step
                return left * (1 - alpha * brush((along * along + distance * distance).squareRoot()))
            }
            return 1 - left
        }
        return StampProfile(weight: { _ in 1 }, coverage: coverage)
    }

    private init(width: Double, opacity: Double) { (self.width, self.opacity) = (width, opacity) }

    /// Integrates the ink from the middle of the brush, 0, to its edge, 1.
    private init(weight: (Double) -> Double, coverage: (Double) -> Double) {
        let samples = 32
        let middle = coverage(0)
        let ink = (0..<samples).reduce(0.0) { sum, index in
            let distance = (Double(index) + 0.5) / Double(samples)
            return sum + weight(distance) * coverage(distance) / Double(samples)
        }
        self.init(width: middle > 0 ? ink / middle : 0, opacity: middle)
    }

    private static func brush(_ distance: Double) -> Double { Double(Stamp.brush(Float(distance))) }
}
