internal import Ink
public import Raster

/// The strokes of one board, for the vector renderers: in board units, origin top left, y down.
public struct BoardDrawing: Sendable, Equatable {
    /// The width of the board in board units, above 0.
    public var width: Double
    /// The height of the board in board units, above 0.
    public var height: Double
    /// The visible strokes, bottom to top; an eraser removes what is below it.
    public var strokes: [PaintedStroke]
    /// Marks drawn over the ink for debugging; `nil` for the board alone.
    public var overlay: DebugOverlay?

    /// Makes a drawing. A width or height that is not a positive number becomes 1.
    public init(width: Double, height: Double, strokes: [PaintedStroke], overlay: DebugOverlay? = nil) {
        self.width = width > 0 && width.isFinite ? width : 1
        self.height = height > 0 && height.isFinite ? height : 1
        self.strokes = strokes
        self.overlay = overlay
    }
}

/// Why the drawing of a document was given up.
public enum DrawingStopped: Error, Sendable {
    /// It is no longer wanted.
    case unwanted
    /// The document would be larger than allowed.
    case tooLarge
}

/// How a stroke is drawn in vector graphics.
enum StrokeForm {
    /// The centre line, stroked with a round pen of constant width in board units.
    case curve(width: Double)
    /// The outline of a line of changing width, filled under the nonzero rule.
    case outline([Contour])
}

/// A stroke as one path of vector graphics, with one opacity; that of a pencil as several.
///
/// Ink whose opacity changes along the line gets the mean opacity. Stamps become a line of even ink
/// (``StampProfile``, ``TipOutline``).
struct DrawableStroke {
    let ink: InkStroke
    let colour: RGB
    let form: StrokeForm
    /// The opacity of the whole path, 0 … 1.
    let opacity: Double
    /// Paths over that one, for the darker parts of a pencil's line, from light to dark: each lies within the one before.
    let darker: [(contours: [Contour], opacity: Double)]

    var isErasing: Bool { ink.isErasing }
    /// The colour on white paper, on which an eraser paints white.
    var colourOnWhite: RGB { isErasing ? RGB(0xFF_FFFF) : colour }

    /// `nil` when no part of the stroke is on a board of that size, or when one of its numbers is not finite.
    init?(_ painted: PaintedStroke, width: Double, height: Double) {
        var measure = StrokeMeasure()
        painted.stroke.trace(into: &measure)
        guard measure.isVisible(width: width, height: height) else { return nil }
        ink = painted.stroke
        colour = painted.colour
        let isNear = measure.isNear(width: width, height: height)
        if painted.stroke.isStamped, painted.stroke.tip != .round {
            opacity = measure.tipOpacity(painted.stroke.tip)
            darker = []
            form = .outline(Self.tipContours(painted.stroke, width: width, height: height, isNear: isNear))
            return
        }
        let profile = painted.stroke.isStamped ? measure.stampProfile : nil
        let part = profile?.width ?? 1
        let tones =
            painted.stroke.style == .pencil
            ? Self.tones(painted.stroke, width: width, height: height, isNear: isNear) : nil
        opacity = tones?.opacity ?? profile?.opacity ?? measure.opacity
        darker = tones?.darker ?? []
        form =
            measure.isConstant && isNear
            ? .curve(width: measure.widest * part)
            : .outline(Self.contours(painted.stroke, part: part, width: width, height: height, isNear: isNear))
    }

    /// What the tip of a stroke of stamps sweeps. Unless it is near the board, parts that cannot be seen are left out.
    private static func tipContours(
        _ stroke: InkStroke, width: Double, height: Double, isNear: Bool
    ) -> [Contour] {
        let scale = max(1, 1024 / max(width, height))
        let size = Vector(width, height) * scale
        var fitter = ParabolaFitter(scale: scale, canvasWidth: Int(size.x) + 1, canvasHeight: Int(size.y) + 1)
        stroke.trace(into: &fitter)
        var outline = TipOutline(stroke.tip, scale: scale)
        guard !isNear else {
            outline.add(fitter.samples.flattened())
            return outline.contours
        }
        return fitter.samples.touching(SIMD2<Float>(size)).flatMap { line in
            var outline = TipOutline(stroke.tip, scale: scale)
            outline.add(line.flattened())
            return outline.contours
        }
    }

    /// The outline of a line whose width is `part` times that of the stroke. Unless it is near the board, parts that
    /// cannot be seen are left out.
    private static func contours(
        _ stroke: InkStroke, part: Double, width: Double, height: Double, isNear: Bool
    ) -> [Contour] {
        // Hundredths of a board unit, finer on a board of fewer than 1024 units.
        let fineness = max(1, 1024 / max(width, height))
        let scale = 0.4 * fineness
        let size = Vector(width, height) * scale
        var fitter = ParabolaFitter(scale: scale, canvasWidth: Int(size.x) + 1, canvasHeight: Int(size.y) + 1)
        stroke.trace(into: &fitter)
        let samples = fitter.samples.map { sample in
            var sample = sample
            sample.radius *= Float(part)
            return sample
        }
        var outliner = StrokeContours(scale: scale, tolerance: 0.05 / fineness)
        guard !isNear else { return outliner.contours(of: samples) }
        return samples.touching(SIMD2<Float>(size)).flatMap { outliner.contours(of: $0) }
    }

    /// The most tones of a pencil's line, and the least difference of two in opacity.
    private static let mostTones = 10
    private static let toneStep = 0.05

    /// The opacity of the lightest tone of a line, and what is darker: parts of the line, each painted over the last so that
    /// both together have its tone.
    private static func tones(
        _ stroke: InkStroke, width: Double, height: Double, isNear: Bool
    ) -> (opacity: Double, darker: [(contours: [Contour], opacity: Double)])? {
        let fineness = max(1, 1024 / max(width, height))
        let scale = 0.4 * fineness
        let size = Vector(width, height) * scale
        var fitter = ParabolaFitter(scale: scale, canvasWidth: Int(size.x) + 1, canvasHeight: Int(size.y) + 1)
        stroke.trace(into: &fitter)
        let (least, most) = (Double(fitter.opacities.least), Double(fitter.opacities.most))
        guard most - least > toneStep else { return nil }
        let count = min(mostTones, Int(((most - least) / toneStep).rounded(.up)))
        let step = (most - least) / Double(count)
        let lines = isNear ? [fitter.samples] : fitter.samples.touching(SIMD2<Float>(size))
        var outliner = StrokeContours(scale: scale, tolerance: 0.05 / fineness)
        var below = least + step * 0.5
        var darker: [(contours: [Contour], opacity: Double)] = []
        for tone in 1..<count {
            let bound = least + step * Double(tone)
            let contours = lines.flatMap { $0.parts(atLeast: Float(bound)) }.flatMap { outliner.contours(of: $0) }
            let opacity = bound + step * 0.5
            darker.append((contours, 1 - (1 - opacity) / (1 - below)))
            below = opacity
        }
        return (least + step * 0.5, darker)
    }
}

extension [CentreSample] {
    /// The parts of a line on whose segments the mean opacity is at least so much.
    fileprivate func parts(atLeast bound: Float) -> [[CentreSample]] {
        var lines: [[CentreSample]] = []
        var line: [CentreSample] = []
        for (from, to) in zip(self, dropFirst()) {
            if (from.opacity + to.opacity) * 0.5 < bound {
                if !line.isEmpty { lines.append(line) }
                line = []
            } else {
                if line.isEmpty { line.append(from) }
                line.append(to)
            }
        }
        if !line.isEmpty { lines.append(line) }
        return lines
    }

    /// The parts of a line that can touch a canvas of that size.
    fileprivate func touching(_ size: SIMD2<Float>) -> [[CentreSample]] {
        guard count > 1 else { return [self] }
        var lines: [[CentreSample]] = []
        var line: [CentreSample] = []
        for (from, to) in zip(self, dropFirst()) {
            let reach = SIMD2(abs(to.sagX), abs(to.sagY)) + (Swift.max(from.radius, to.radius) + 2)
            let low = pointwiseMin(SIMD2(from.x, from.y), SIMD2(to.x, to.y)) - reach
            let high = pointwiseMax(SIMD2(from.x, from.y), SIMD2(to.x, to.y)) + reach
            if any(high .< 0) || any(low .> size) {
                if !line.isEmpty { lines.append(line) }
                line = []
            } else {
                if line.isEmpty { line.append(from) }
                line.append(to)
            }
        }
        if !line.isEmpty { lines.append(line) }
        return lines
    }
}

/// The bounds, widths and mean opacity of a centre line.
struct StrokeMeasure: CurveSink {
    private(set) var low = Vector(repeating: .infinity)
    private(set) var high = Vector(repeating: -.infinity)
    private(set) var narrowest = Double.infinity
    private(set) var widest = -Double.infinity
    /// The integral of the opacity along the line: the mean opacity of each segment times its chord's length.
    private var opacitySum = 0.0
    private var length = 0.0
    private var firstOpacity = 1.0
    private var lastOpacity = 1.0
    private var position = Vector.zero
    private var isFinite = true

    /// Whether any part of the stroke lies on a board of that size; false when one of its numbers is not finite.
    func isVisible(width: Double, height: Double) -> Bool {
        let reach = widest * 0.5
        return isFinite && widest > 0 && low.x - reach < width && low.y - reach < height && high.x + reach > 0
            && high.y + reach > 0
    }

    /// Whether all control points are near a board of that size: renderers keep coordinates in 24 or 32 bits, and a stroke
    /// may come from farther away than that.
    func isNear(width: Double, height: Double) -> Bool {
        let margin = 4 * max(width, height) + widest
        return low.x >= -margin && low.y >= -margin && high.x <= width + margin && high.y <= height + margin
    }

    /// Whether the width is constant.
    var isConstant: Bool { narrowest == widest }

    /// The mean opacity along the line, 0 … 1.
    var opacity: Double {
        let mean = length > 0 ? opacitySum / length : firstOpacity
        return min(max(mean, 0), 1)
    }

    /// The even ink of a stroke of stamps along this line.
    var stampProfile: StampProfile {
        let alpha = min(opacity / 1.5, 1)
        return length > 0 ? .line(radius: (narrowest + widest) * 0.25, alpha: alpha) : .dot(alpha: alpha)
    }

    /// The opacity of a stroke of stamps of a tip with an edge.
    func tipOpacity(_ tip: InkTip) -> Double {
        let alpha = tip.isFelt ? StampPlacer.feltAlpha : min(opacity / 1.5, 1)
        return TipOutline.opacity(tip, radius: (narrowest + widest) * 0.25, alpha: alpha, isDot: length == 0)
    }

    mutating func begin(at point: Vector, nib: Nib) {
        firstOpacity = nib.opacity
        lastOpacity = nib.opacity
        reach(point, nib)
        position = point
    }

    mutating func line(to end: Vector, nib: Nib) {
        advance(to: end, nib)
    }

    mutating func quadratic(control: Vector, to end: Vector, nib: Nib) {
        reach(control, nib)
        advance(to: end, nib)
    }

    mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib) {
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
struct StampProfile {
    /// The width of the even line as a fraction of the brush's width.
    let width: Double
    /// The opacity of the even line.
    let opacity: Double

    /// The profile of a pen that stays in one place.
    /// - Parameter alpha: the opacity of one stamp at its centre, 0 … 1.
    static func dot(alpha: Double) -> StampProfile {
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
    static func line(radius: Double, alpha: Double) -> StampProfile {
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

    private init(width: Double, opacity: Double) {
        self.width = width
        self.opacity = opacity
    }

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
