public import Ink
internal import Raster
internal import Scene

/// The SVG path of a stroke that is being drawn, kept up to date: what ``SVGRenderer`` writes for the stroke.
///
/// Of a line of constant width the text changes from the first changed segment on. Any other ink is written anew: an outline
/// goes there and back, and the tones of a pencil depend on the whole line.
public struct GrowingSVGPath: Sendable {
    /// A darker part of a pencil's line: a path to be filled over the one before.
    public struct Tone: Sendable, Equatable {
        /// The path data, UTF-8.
        public let data: [UInt8]
        /// The opacity of the path, 0 … 1.
        public let opacity: Double
    }

    /// The path data, UTF-8; empty where nothing of the stroke lies on the board.
    public var data: [UInt8] { path.text }
    /// The stroke width in board units of ``data``, a centre line with round caps and joins; nil where it is an outline to
    /// be filled under the nonzero rule.
    public private(set) var width: Double?
    /// The opacity of the path, 0 … 1.
    public private(set) var opacity = 1.0
    /// Paths over that one; those of the style `pencil` alone.
    public private(set) var darker: [Tone] = []
    /// The version of the stroke that is shown.
    public private(set) var version: UInt64 = 0

    private let boardWidth: Double
    private let boardHeight: Double
    private var path: SVGPath
    /// Before each segment, and after the last one; none where the path was written as a whole.
    private var marks: [SVGPath.Mark] = []

    /// Makes a path without points on a board of that size in units.
    public init(boardWidth: Double, boardHeight: Double) {
        self.boardWidth = boardWidth
        self.boardHeight = boardHeight
        path = SVGPath(precision: SVGPrecision(width: boardWidth, height: boardHeight))
    }

    /// Goes on to the line that a stroke has now: always one and the same stroke.
    /// - Parameters:
    ///   - line: the line of `model`, up to date.
    ///   - model: its points.
    /// - Returns: the byte from which ``data`` may be another one; nil where all is the same. The other properties may have
    ///   changed, too.
    @discardableResult
    public mutating func update(to line: StrokePath, of model: StrokeModel) -> Int? {
        let (before, change) = (version, line.changes(since: version))
        version = line.version
        let stroke = line.stroke(of: model)
        if line.style == .pencil, change == nil, version != before {
            // How dark it is follows from the force of points, which the line does not show.
            write(stroke)
            return 0
        }
        guard let change else { return nil }
        var measure = StrokeMeasure()
        line.trace(into: &measure)
        guard line.style != .pencil, !stroke.isStamped, measure.isVisible(width: boardWidth, height: boardHeight),
            measure.isConstant, measure.isNear(width: boardWidth, height: boardHeight)
        else {
            write(stroke)
            return 0
        }
        if marks.isEmpty {
            empty()
            marks = [path.mark]
        }
        (width, opacity) = (measure.widest, measure.opacity)
        let first = min(change.segments.lowerBound, marks.count - 1)
        path.rewind(to: marks[first])
        marks.removeLast(marks.count - 1 - first)
        let start = path.text.count
        for segment in line.segments[first...] {
            segment.send(to: &path)
            marks.append(path.mark)
        }
        path.finish()
        return start
    }

    private mutating func write(_ stroke: InkStroke) {
        empty()
        let painted = PaintedStroke(stroke: stroke, colour: RGB(0))
        guard let drawable = DrawableStroke(painted, width: boardWidth, height: boardHeight) else { return }
        switch drawable.form {
        case .curve(let width):
            self.width = width
            stroke.trace(into: &path)
            path.finish()
        case .outline(let contours):
            for contour in contours { contour.trace(into: &path) }
        }
        opacity = drawable.opacity
        let blank = SVGPath(precision: SVGPrecision(width: boardWidth, height: boardHeight))
        darker = drawable.darker.map { tone in
            var path = blank
            for contour in tone.contours { contour.trace(into: &path) }
            return Tone(data: path.text, opacity: tone.opacity)
        }
    }

    private mutating func empty() {
        path = SVGPath(precision: SVGPrecision(width: boardWidth, height: boardHeight))
        marks = []
        darker = []
        (width, opacity) = (nil, 1)
    }
}
