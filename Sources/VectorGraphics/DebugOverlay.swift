public import Ink
public import Raster
internal import Scene
internal import StrokeWire

/// Marks that show how strokes are drawn: points, control polygons, dirty boxes, tile borders and meshes, over the ink.
///
/// Pure data, about 100 bytes for each point of the strokes, and some kilobytes where the meshes are asked for.
public struct DebugOverlay: Sendable, Equatable {
    /// What is marked.
    public enum Kind: String, Sendable, CaseIterable {
        /// The borders of the canvas's tiles.
        case tiles
        /// The dirty box of each stroke: the pixels that it may change.
        case dirty
        /// The triangles of each stroke, as clients with a graphics processor draw them.
        case mesh
        /// The control polygon of each curve segment.
        case controls
        /// The points of the strokes as sent.
        case points

        /// The colour of the marks.
        public var colour: RGB {
            switch self {
            case .tiles: RGB(0xC0_C0C0)
            case .dirty: RGB(0xF0_8C00)
            case .mesh: RGB(0x1A_9850)
            case .controls: RGB(0x1F_4FD8)
            case .points: RGB(0xD9_2020)
            }
        }

        /// The width of the lines, or the diameter of the dots, in pixels.
        public var pixels: Double {
            switch self {
            case .tiles: 1
            case .mesh: 0.2
            case .dirty, .controls: 0.6
            case .points: 2.4
            }
        }
    }

    /// All marks of one kind.
    public struct Marks: Sendable, Equatable {
        /// What is marked.
        public var kind: Kind
        /// Open polylines in board units; a single point is a dot.
        public var polylines: [[Vector]]
    }

    /// The side of a canvas's tiles in pixels.
    private static let tileSide = 64.0

    /// Pixels a board unit; the sizes of tiles, boxes and marks are in pixels.
    public let scale: Double
    /// One for each kind that was asked for, bottom to top.
    public let marks: [Marks]

    /// Marks of some kinds of the strokes of a board of `width` × `height` units, painted at `scale` pixels a unit.
    public init(strokes: [PaintedStroke], width: Double, height: Double, scale: Double = 1, kinds: Set<Kind>) {
        let scale = scale > 0 && scale.isFinite ? scale : 1
        var polylines: [Kind: [[Vector]]] = [.tiles: Self.tiles(width: width, height: height, scale: scale)]
        for painted in strokes {
            guard DrawableStroke(painted, width: width, height: height) != nil else { continue }
            var outline = ControlPolygons()
            painted.stroke.trace(into: &outline)
            polylines[.dirty, default: []].append(outline.box(scale: scale))
            polylines[.controls, default: []] += outline.polygons
            polylines[.points, default: []] += painted.stroke.points.map { [Vector($0.x, $0.y)] }
            if kinds.contains(.mesh) {
                polylines[.mesh, default: []] += Self.mesh(painted.stroke, width: width, height: height, scale: scale)
            }
        }
        self.scale = scale
        marks = Kind.allCases.filter(kinds.contains).map { Marks(kind: $0, polylines: polylines[$0] ?? []) }
    }

    /// The edges of a stroke's triangles, those that two triangles share once.
    private static func mesh(_ stroke: InkStroke, width: Double, height: Double, scale: Double) -> [[Vector]] {
        let mesh = StrokeMesh(
            of: stroke, scale: scale, width: Int(width * scale) + 1, height: Int(height * scale) + 1)
        func place(_ index: UInt32) -> Vector {
            let vertex = mesh.vertices[Int(index)]
            return Vector(Double(vertex.x), Double(vertex.y)) / scale
        }
        var drawn: Set<SIMD2<UInt32>> = []
        return Swift.stride(from: 0, to: mesh.indices.count, by: 3).flatMap { first in
            [(0, 1), (1, 2), (2, 0)].compactMap { from, to in
                let (a, b) = (mesh.indices[first + from], mesh.indices[first + to])
                return drawn.insert(SIMD2(min(a, b), max(a, b))).inserted ? [place(a), place(b)] : nil
            }
        }
    }

    /// Draws the marks on a canvas that was painted at ``scale``.
    public func paint(on canvas: inout Canvas) {
        var painter = StrokePainter(canvasWidth: canvas.width, canvasHeight: canvas.height, scale: scale)
        for marks in marks {
            var stroke = InkStroke(element: .line, style: .smooth, width: marks.kind.pixels / scale, points: [])
            for polyline in marks.polylines {
                let corners = polyline.map { StrokePoint(x: $0.x, y: $0.y) }
                if let only = corners.first, corners.count == 1 {
                    stroke.points = [only]
                    painter.draw(PaintedStroke(stroke: stroke, colour: marks.kind.colour), on: &canvas)
                }
                for (from, to) in zip(corners, corners.dropFirst()) {
                    stroke.points = [from, to]
                    painter.draw(PaintedStroke(stroke: stroke, colour: marks.kind.colour), on: &canvas)
                }
            }
        }
    }

    /// The borders between tiles, vertical ones first.
    private static func tiles(width: Double, height: Double, scale: Double) -> [[Vector]] {
        let side = tileSide / scale
        let down = stride(from: side, to: width, by: side).map { [Vector($0, 0), Vector($0, height)] }
        let across = stride(from: side, to: height, by: side).map { [Vector(0, $0), Vector(width, $0)] }
        return down + across
    }
}

/// The control polygons of a centre line, and the box of its stroke.
struct ControlPolygons: CurveSink {
    private(set) var polygons: [[Vector]] = []
    private var position = Vector.zero
    private var nib = Nib(width: 0)
    private var low = Vector(repeating: .infinity)
    private var high = Vector(repeating: -.infinity)

    mutating func begin(at point: Vector, nib: Nib) {
        self.nib = nib
        add([], to: point, nib)
    }

    mutating func line(to end: Vector, nib: Nib) { add([position, end], to: end, nib) }

    mutating func quadratic(control: Vector, to end: Vector, nib: Nib) {
        add([position, control, end], to: end, nib)
    }

    mutating func quadratic(_ segment: SwellingQuadratic) {
        let polygon = [position, segment.control.position, segment.end.position]
        add(polygon, to: segment.end.position, segment.end.nib, widest: segment.widest)
    }

    mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib) {
        add([position, control1, control2, end], to: end, nib)
    }

    /// The closed outline of the box in whole pixels, with a margin of one pixel for soft edges.
    ///
    /// It bounds the control points, whose hull contains the curve, so it may be larger than the painted area.
    func box(scale: Double) -> [Vector] {
        var low = low * scale - 1
        var high = high * scale + 1
        low.round(.down)
        high.round(.up)
        let (a, b) = (low / scale, high / scale)
        return [a, Vector(b.x, a.y), b, Vector(a.x, b.y), a]
    }

    private mutating func add(_ polygon: [Vector], to end: Vector, _ nib: Nib, widest: Double = 0) {
        let radius = max(self.nib.width, nib.width, widest) * 0.5
        for corner in polygon + [end] {
            low = pointwiseMin(low, corner - radius)
            high = pointwiseMax(high, corner + radius)
        }
        if !polygon.isEmpty { polygons.append(polygon) }
        position = end
        self.nib = nib
    }
}
