/// Cuts many filled paths by one closed path.
///
/// What the paths fill is cut, and nothing else is changed: contours that cross each other, or themselves, go on doing so, and
/// both parts are filled by the rule of the whole. The winding number around each place inside is kept, by stretches of the
/// border that are passed as often as the path turns around them; so only the meetings of the path with the border must be
/// found. A contour without a border in its box costs O(segments); another one O(m log m) for m segments of it and of the
/// border near it.
public struct PathCutter: Sendable {
    private let border: Path
    private let segments: [Segment]
    private let boxes: [Box]
    private let box: Box
    private let index: RayIndex

    /// As costly as ``Path/simplified(fillRule:)``.
    ///
    /// - Parameter path: what is inside; open contours are closed by lines.
    public init(_ path: Path, fillRule: FillRule = .evenOdd) {
        border = path.simplified(fillRule: fillRule)
        segments = border.contours.flatMap { $0.segments }
        boxes = segments.map { $0.bounds }
        box = boxes.reduce(Box.empty) { $0.union($1) }
        index = RayIndex(boxes, axis: 1)
    }

    /// The parts of a path inside and outside, to be filled by the path's own rule. Open contours are closed by lines. Both
    /// together have the path's area, but for the tolerance times the length of the border: the tolerance of
    /// ``Path/union(_:fillRule:otherFillRule:)``, at most 5e-7 of the size unless coordinates are far greater than it.
    public func cut(_ path: Path) -> (inside: Path, outside: Path) {
        var inside = Path()
        var outside = Path()
        var crossed = Path()
        var near: [Int] = []
        var isNear = Set<Int>()
        for contour in path.contours {
            let reach = contour.segments.reduce(into: Box.empty) { $0 = $0.union($1.controlBounds) }
            guard reach.intersects(box) else {
                outside.contours.append(contour)
                continue
            }
            let known = near.count
            var isCrossed = false
            index.forEachCandidate(in: reach, boxes) { candidate in
                isCrossed = true
                if isNear.insert(candidate).inserted { near.append(candidate) }
            }
            if isCrossed || near.count > known {
                crossed.contours.append(contour)
            } else if contains(contour.start) {
                inside.contours.append(contour)
            } else {
                outside.contours.append(contour)
            }
        }
        if !crossed.isEmpty { cut(crossed, near, &inside, &outside) }
        return (inside, outside)
    }

    /// Whether a place is inside. O(segments in a band around it).
    public func contains(_ place: Point) -> Bool {
        guard box.contains(place) else { return false }
        var winding = 0
        for candidate in index.candidates(at: place) {
            let box = boxes[Int(candidate)]
            guard box.lower.y <= place.y, place.y < box.upper.y, box.upper.x > place.x else { continue }
            winding += segments[Int(candidate)].crossings(rightOf: place)
        }
        return winding != 0
    }

    private func cut(_ path: Path, _ near: [Int], _ inside: inout Path, _ outside: inout Path) {
        let nearby = Path(near.map { Contour([segments[$0]], closed: false) })
        for coarseness in Arrangement.coarsenesses {
            let parts = cut(path, nearby, coarseness)
            guard parts.isSound || coarseness == Arrangement.coarsenesses.last else { continue }
            inside.contours += parts.inside
            outside.contours += parts.outside
            return
        }
    }

    private func cut(
        _ path: Path, _ nearby: Path, _ coarseness: Double
    ) -> (inside: [Contour], outside: [Contour], isSound: Bool) {
        var arrangement = Arrangement(
            path, nearby, closes: (true, false), cutsItself: false, coarseness: coarseness)
        let windings = EdgeWindings(arrangement)
        var borderDirection = [Int](repeating: 0, count: arrangement.edges.count)
        for walk in arrangement.walks where walk.operand == 1 {
            for step in walk.steps { borderDirection[step.half.edge] += step.half.isForward ? 1 : -1 }
        }
        var insides: [Arrangement.HalfEdge] = []
        var outsides: [Arrangement.HalfEdge] = []
        var sideOf = [Bool?](repeating: nil, count: arrangement.edges.count)
        for chain in 0..<windings.chains.count {
            let chain = windings.chains[chain]
            let isOf = arrangement.edges[chain[chain.startIndex].edge].isOf
            guard isOf.first, !isOf.second else { continue }
            let edge = arrangement.edges[chain[chain.startIndex + chain.count / 2].edge]
            let isInside = contains(edge.curve.point(at: 0.5))
            for half in chain { sideOf[half.edge] = isInside }
        }
        for (index, edge) in arrangement.edges.enumerated() {
            // How often the edge is passed forwards in the part inside; the rest of the path's own passages is outside. What
            // runs along the border is inside, as if the border were wider by nothing.
            var count = 0
            if edge.isOf.first { count += sideOf[index] ?? true ? edge.windings.x : 0 }
            if edge.isOf.second {
                let (left, right) = (windings.left[index].x, windings.left[index].x - edge.windings.x)
                count += borderDirection[index] > 0 ? right : borderDirection[index] < 0 ? -left : 0
            }
            let rest = (edge.isOf.first ? edge.windings.x : 0) - count
            for _ in 0..<abs(count) { insides.append(Arrangement.HalfEdge(edge: index, isForward: count > 0)) }
            for _ in 0..<abs(rest) { outsides.append(Arrangement.HalfEdge(edge: index, isForward: rest > 0)) }
        }
        // What is missing inside is too much outside, and the other way round.
        let joins = ContourTracer.joins(of: insides, in: &arrangement)
        let cycles = (
            ContourTracer.cycles(balanced: insides + joins, in: arrangement),
            ContourTracer.cycles(balanced: outsides + joins.map { $0.twin }, in: arrangement)
        )
        return (
            cycles.0.map { arrangement.contour(of: $0, closed: true) },
            cycles.1.map { arrangement.contour(of: $0, closed: true) }, joins.isEmpty
        )
    }
}
