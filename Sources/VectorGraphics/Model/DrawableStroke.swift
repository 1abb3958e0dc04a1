internal import Ink
internal import Raster

/// How vector graphics draw a stroke.
enum StrokeForm {
    /// The curve itself, drawn with a round pen of one width in board units.
    case curve(width: Double)
    /// The places of a pen of changing width, whose outline is filled; several chains where a part of the stroke is too
    /// far away to be written down.
    case outline([[Disc]])
}

/// A stroke as vector graphics draw it: in one go, and with one opacity.
///
/// Ink whose opacity changes along the line gets its mean: a path has but one. Stamps become a line of even ink; see
/// ``StampProfile``.
struct DrawableStroke {
    let ink: InkStroke
    let colour: RGB
    let form: StrokeForm
    /// How much of the colour goes on the board, 0 … 1.
    let opacity: Double

    var isErasing: Bool { ink.isErasing }
    /// The colour on white paper, on which an eraser paints white.
    var colourOnWhite: RGB { isErasing ? RGB(0xFF_FFFF) : colour }

    /// `nil` where nothing of the stroke is on a board of that size, or where it holds a number that is not finite.
    init?(_ painted: PaintedStroke, width: Double, height: Double) {
        var survey = StrokeSurvey()
        painted.stroke.trace(into: &survey)
        guard survey.isVisible(width: width, height: height) else { return nil }
        ink = painted.stroke
        colour = painted.colour
        let profile = painted.stroke.isStamped ? survey.stampProfile : nil
        let part = profile?.width ?? 1
        opacity = profile?.opacity ?? survey.opacity
        let window = DrawingWindow(width: width, height: height, reach: survey.widest)
        let isNear = window.holds(survey.low) && window.holds(survey.high)
        if survey.isConstant, isNear {
            form = .curve(width: survey.widest * part)
        } else {
            let discs = Self.discs(painted.stroke, part: part, width: width, height: height)
                .thinned(tolerance: Self.tolerance(width: width, height: height))
            form = .outline(isNear ? [discs] : window.clip(discs))
        }
    }

    /// How far an outline may be from the true one, in board units: a twentieth, less on a board of few units.
    static func tolerance(width: Double, height: Double) -> Double {
        0.05 * min(1, max(width, height) / 1024)
    }

    /// Flattens the centre line with half of the tolerance; the discs have a `part` of the width of the line.
    private static func discs(_ stroke: InkStroke, part: Double, width: Double, height: Double) -> [Disc] {
        let scale = Flattener.tolerance * 2 / tolerance(width: width, height: height)
        var flattener = Flattener(
            scale: scale, canvasWidth: Int(width * scale) + 1, canvasHeight: Int(height * scale) + 1)
        stroke.trace(into: &flattener)
        return flattener.samples.map { sample in
            Disc(
                centre: Vector(Double(sample.x), Double(sample.y)) / scale,
                radius: Double(sample.radius) / scale * part)
        }
    }
}
