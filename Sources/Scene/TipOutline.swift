internal import Ink
internal import PathGeometry

/// The outline of a line of stamps of a tip with an edge: the area that its rectangle sweeps.
///
/// One polygon from each place of the line to the next, the hull of the rectangles there, all wound the same way: filled
/// together under the nonzero rule they have no seams. What differs from stamps is the soft rim, and that the ink is even.
///
/// Contours are in the units of the board.
struct TipOutline: LineOutliner {
    private let tip: InkTip
    private let scale: Double
    private var last: Pose?
    /// Where the line begins, until it moves.
    private var dot: CentreSample?
    private var hasMoved = false
    /// The last excess, which both ends of a segment share where the pen stays the same.
    private var excess: (of: Stamp, Double)?

    /// The rectangle at a place of the line, in pixels.
    private struct Pose {
        let centre, edge: Vector
        let half: Vector

        var corners: [Vector] {
            let (along, across) = (edge * half.x, Vector(-edge.y, edge.x) * half.y)
            return [centre + along + across, centre + along - across, centre - along - across, centre - along + across]
        }
    }

    /// What decides how much larger a line is than its rectangles.
    private struct Stamp: Equatable {
        let rectangle: StampRectangle
        let alpha: Double
        let edge, way: Vector
    }

    /// - Parameter scale: pixels of the samples a board unit.
    init(_ tip: InkTip, scale: Double) { (self.tip, self.scale) = (tip, scale) }

    /// The opacity of the stroke: that to which stamps build up on the middle of a line as wide as the radius says, in board
    /// units, or the eight of a dot.
    static func opacity(_ tip: InkTip, radius: Double, alpha: Double, isDot: Bool) -> Double {
        let rectangle = StampRectangle(tip, radius: Float(max(radius, 1)), step: Float(StampPlacer.spacing))
        let passing = 2 * Double(rectangle.halfThickness) * min(radius, 1) / StampPlacer.spacing
        let count = isDot ? StampPlacer.dotStamps : max(Int(passing.rounded()), 1)
        let left = (0..<count).reduce(1.0) { left, _ in left * (1 - alpha) }
        return (1 - left) * Double(tip.opacity)
    }

    mutating func add<Failure: Error>(
        _ samples: UnsafeBufferPointer<CentreSample>, _ body: (Contour) throws(Failure) -> Void
    ) throws(Failure) {
        guard var from = samples.first else { return }
        if !hasMoved, dot == nil { dot = from }
        for sample in samples.dropFirst() {
            // One parabola is at most some hundred segments.
            for to in [from, sample].flattened().dropFirst() {
                try add(from, to, body)
                from = to
            }
        }
    }

    mutating func finish<Failure: Error>(_ body: (Contour) throws(Failure) -> Void) throws(Failure) {
        if !hasMoved, let dot { try add(pose(dot, Vector(0, 1), way: nil), isDot: true, body) }
        (last, dot, hasMoved) = (nil, nil, false)
    }

    /// Adds a straight segment.
    private mutating func add<Failure: Error>(
        _ a: CentreSample, _ b: CentreSample, _ body: (Contour) throws(Failure) -> Void
    ) throws(Failure) {
        let way = Vector(Double(b.x) - Double(a.x), Double(b.y) - Double(a.y))
        let length = way.length
        guard length > 0 else { return }
        hasMoved = true
        let across = Vector(-way.y, way.x) / length
        try add(pose(a, across, way: way / length), body)
        try add(pose(b, across, way: way / length), body)
    }

    private mutating func pose(_ sample: CentreSample, _ across: Vector, way: Vector?) -> Pose {
        let rectangle = StampRectangle(
            tip, radius: max(sample.radius, Float(scale)), step: Float(StampPlacer.spacing * scale))
        let edge =
            switch tip {
            case .round, .square: Vector(1, 0)
            case .marker: Vector(angle: Double(sample.opacity))
            case .highlighter: across
            }
        let alpha = min(max(tip.isFelt ? StampPlacer.feltAlpha : Double(sample.opacity) / 1.5, 0), 1)
        let growth = way.map { excess(of: Stamp(rectangle: rectangle, alpha: alpha, edge: edge, way: $0)) } ?? 0
        // A tip smaller than a board unit has the shape of one, as the rim would be more than it.
        let part = min(Double(sample.radius) / scale, 1)
        return Pose(
            centre: Vector(Double(sample.x), Double(sample.y)), edge: edge,
            half: (Vector(Double(rectangle.halfLength), Double(rectangle.halfThickness)) + growth) * part)
    }

    private mutating func excess(of stamp: Stamp) -> Double {
        if let excess, excess.of == stamp { return excess.1 }
        let value = excess(of: stamp.rectangle, alpha: stamp.alpha, edge: stamp.edge, way: stamp.way)
        excess = (stamp, value)
        return value
    }

    /// By how much larger, or smaller, than its rectangles the line is that stamps on the way to both sides cover half as much
    /// as its middle: soft rims build up where many stamps pass, and corners that few stamps touch do not.
    private func excess(of rectangle: StampRectangle, alpha: Double, edge: Vector, way: Vector) -> Double {
        let (half, rim) = (Vector(Double(rectangle.halfLength), Double(rectangle.halfThickness)), Double(rectangle.rim))
        let (normal, across) = (Vector(-way.y, way.x), Vector(-edge.y, edge.x))
        let reach = half.length + rim
        let step = max(StampPlacer.spacing * scale, reach / 64)
        func coverage(_ distance: Double) -> Double {
            let left = stride(from: -reach, through: reach, by: step).reduce(1.0) { left, along in
                let place = normal * distance + way * along
                let strength = rectangle.strength(
                    along: Float(abs(place.dot(edge))), across: Float(abs(place.dot(across))))
                return left * (1 - alpha * Double(strength))
            }
            return 1 - left
        }
        let parts = Vector(abs(normal.dot(edge)), abs(normal.dot(across)))
        let whole = parts.dot(half)
        let bound = coverage(0) * 0.5
        var (low, high) = (0.0, whole + rim)
        for _ in 0..<8 {
            let middle = (low + high) * 0.5
            if coverage(middle) > bound { low = middle } else { high = middle }
        }
        return (low - whole) / (parts.x + parts.y)
    }

    private mutating func add<Failure: Error>(
        _ pose: Pose, isDot: Bool = false, _ body: (Contour) throws(Failure) -> Void
    ) throws(Failure) {
        let before = last
        last = pose
        if let before, before.centre != pose.centre || before.edge != pose.edge {
            if let hull = hull(of: before.corners + pose.corners) { try body(hull) }
        } else if isDot, let hull = hull(of: pose.corners) {
            try body(hull)
        }
    }

    /// The convex hull of some places; nil where it has no area.
    private func hull(of places: [Vector]) -> Contour? {
        let hull = places.convexHull.map { $0 / scale }
        return hull.count > 2 ? Contour(polyline: hull, closed: false) : nil
    }
}
