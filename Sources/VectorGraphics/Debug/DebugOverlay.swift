public import Ink
public import Raster
internal import StrokeWire

/// What the strokes of a board are made of, drawn over the ink with thin lines and small dots.
///
/// Pure data, about 100 bytes a point of the strokes.
public struct DebugOverlay: Sendable, Equatable {
    /// What is marked.
    public enum Kind: String, Sendable, CaseIterable {
        /// The borders of the canvas's tiles.
        case tiles
        /// For each stroke, the box of the pixels that it may touch.
        case dirty
        /// For each piece of curve, its control polygon.
        case controls
        /// The points of the strokes as they were sent.
        case points

        /// The colour of the marks.
        public var colour: RGB {
            switch self {
            case .tiles: RGB(0xC0_C0C0)
            case .dirty: RGB(0xF0_8C00)
            case .controls: RGB(0x1F_4FD8)
            case .points: RGB(0xD9_2020)
            }
        }

        /// The width of the lines, or the diameter of the dots, in pixels.
        public var pixels: Double {
            switch self {
            case .tiles: 1
            case .dirty, .controls: 0.6
            case .points: 2.4
            }
        }
    }

    /// All marks of one kind.
    public struct Marks: Sendable, Equatable {
        /// What they mark.
        public var kind: Kind
        /// Open polylines in board units; one of a single place is a dot.
        public var polylines: [[Vector]]
    }

    /// The side of a canvas's tiles in pixels.
    private static let tileSide = 64.0

    /// Pixels a board unit: what a tile, a box or the width of a mark is measured in.
    public let scale: Double
    /// Bottom to top, one for each kind.
    public private(set) var marks: [Marks]

    /// Looks at all strokes of a board of `width` × `height` units, painted at `scale` pixels a unit.
    public init(strokes: [PaintedStroke], width: Double, height: Double, scale: Double = 1) {
        self.scale = scale > 0 && scale.isFinite ? scale : 1
        marks = [
            Marks(kind: .tiles, polylines: Self.tiles(width: width, height: height, scale: self.scale)),
            Marks(kind: .dirty, polylines: []),
            Marks(kind: .controls, polylines: []),
            Marks(kind: .points, polylines: []),
        ]
        for painted in strokes {
            guard DrawableStroke(painted, width: width, height: height) != nil else { continue }
            var outline = ControlPolygons()
            painted.stroke.trace(into: &outline)
            marks[1].polylines.append(outline.box(scale: self.scale))
            marks[2].polylines += outline.polygons
            marks[3].polylines += painted.stroke.points.map { [Vector($0.x, $0.y)] }
        }
    }

    /// The borders between tiles, downwards and across.
    private static func tiles(width: Double, height: Double, scale: Double) -> [[Vector]] {
        let side = tileSide / scale
        let down = stride(from: side, to: width, by: side).map { [Vector($0, 0), Vector($0, height)] }
        let across = stride(from: side, to: height, by: side).map { [Vector(0, $0), Vector(width, $0)] }
        return down + across
    }
}
