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
        self.init(border: path.simplified(fillRule: fillRule))
    }

    /// - Parameter path: what is inside; open contours are closed by lines.
    package init(
        _ path: Path, fillRule: FillRule = .evenOdd, within budget: inout CuttingBudget
    ) throws(CuttingBudget.Exceeded) {
        budget.beginOperation()
        self.init(border: try path.simplified(fillRule: fillRule, within: &budget))
    }

    private init(border: Path) {
        self.border = border
        segments = border.contours.flatMap { $0.segments }
        boxes = segments.map { $0.bounds }
        box = boxes.reduce(Box.empty) { $0.union($1) }
        index = RayIndex(boxes, axis: 1)
    }

    /// The parts of a path inside and outside, to be filled by the path's own rule. Open contours are closed by lines. Both
    /// together have the path's area, but for the tolerance times the length of the border: the tolerance of
    /// ``Path/union(_:fillRule:otherFillRule:)``, at most 5e-7 of the size unless coordinates are far greater than it.
    public func cut(_ path: Path) -> (inside: Path, outside: Path) {
        unbounded { (budget) throws(CuttingBudget.Exceeded) in try cut(path, within: &budget) }
    }

    /// The same within a budget.
    package func cut(
        _ path: Path, within budget: inout CuttingBudget
    ) throws(CuttingBudget.Exceeded) -> (inside: Path, outside: Path) {
        budget.beginOperation()
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
            let compared = index.forEachCandidate(in: reach, boxes) { candidate in
                isCrossed = true
                if isNear.insert(candidate).inserted { near.append(candidate) }
            }
            try budget.spend(CuttingBudget.box * compared)
            if isCrossed || near.count > known {
                crossed.contours.append(contour)
            } else if try contains(contour.start, &budget) {
                inside.contours.append(contour)
            } else {
                outside.contours.append(contour)
            }
        }
        if !crossed.isEmpty { try cut(crossed, near, &inside, &outside, &budget) }
        return (inside, outside)
    }

    /// Whether a place is inside. O(segments in a band around it).
    public func contains(_ place: Point) -> Bool {
        unbounded { (budget) throws(CuttingBudget.Exceeded) in try contains(place, &budget) }
    }

    private func contains(_ place: Point, _ budget: inout CuttingBudget) throws(CuttingBudget.Exceeded) -> Bool {
        guard box.contains(place) else { return false }
        var winding = 0
        try budget.spend(CuttingBudget.rayEdge * index.candidates(at: place).count)
        for candidate in index.candidates(at: place) {
            let box = boxes[Int(candidate)]
            guard box.lower.y <= place.y, place.y < box.upper.y, box.upper.x > place.x else { continue }
            winding += segments[Int(candidate)].crossings(rightOf: place)
        }
        return winding != 0
    }

    private func cut(
        _ path: Path, _ near: [Int], _ inside: inout Path, _ outside: inout Path, _ budget: inout CuttingBudget
    ) throws(CuttingBudget.Exceeded) {
        let nearby = Path(near.map { Contour([segments[$0]], closed: false) })
        for coarseness in Arrangement.coarsenesses {
            let parts = try cut(path, nearby, coarseness, &budget)
            guard parts.isSound || coarseness == Arrangement.coarsenesses.last else { continue }
            inside.contours += parts.inside
            outside.contours += parts.outside
            return
        }
    }

    private func cut(
        _ path: Path, _ nearby: Path, _ coarseness: Double, _ budget: inout CuttingBudget
    ) throws(CuttingBudget.Exceeded) -> (inside: [Contour], outside: [Contour], isSound: Bool) {
        var arrangement = try Arrangement(
            path, nearby, closes: (true, false), cutsItself: false, coarseness: coarseness, within: &budget)
        let windings = try EdgeWindings(arrangement, within: &budget)
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
            let isInside = try contains(edge.curve.point(at: 0.5), &budget)
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
        let joins = try ContourTracer.joins(of: insides, in: &arrangement, within: &budget)
        let cycles = (
            try ContourTracer.cycles(balanced: insides + joins, in: arrangement, within: &budget),
            try ContourTracer.cycles(balanced: outsides + joins.map { $0.twin }, in: arrangement, within: &budget)
        )
        return (
            cycles.0.map { arrangement.contour(of: $0, closed: true) },
            cycles.1.map { arrangement.contour(of: $0, closed: true) }, joins.isEmpty
        )
    }
}

/// What set operations and cuts may cost, in steps of some nanoseconds.
///
/// Steps are counted, not measured: the same paths are within a budget on every machine. An operation takes a byte of memory for
/// each of its steps at most, about.
package struct CuttingBudget: Sendable {
    /// More than is left was needed.
    package struct Exceeded: Error {}

    private let steps: Int64
    private let stepsOfOperation: Int64
    private var left: Int64
    /// What is left when the operation ends at the latest.
    private var least: Int64 = 0

    /// - Parameters:
    ///   - steps: of all operations together.
    ///   - stepsOfOperation: of each path that is simplified or cut.
    package init(steps: Int64, ofOperation stepsOfOperation: Int64 = .max) {
        (self.steps, self.stepsOfOperation, left) = (steps, stepsOfOperation, steps)
    }

    package var spent: Int64 { steps - left }

    /// A contour of an arrangement, one of its segments, and an edge.
    static let contour = 256
    static let segment = 256
    static let edge = 384
    /// Two curves whose boxes overlap, and two halves of them.
    static let curvePair = 16
    static let halves = 16
    /// A meeting, or a vertex that a curve passes.
    static let cut = 128
    /// A vertex that is compared with a place.
    static let vertex = 2
    /// An edge that is compared with a ray.
    static let rayEdge = 2
    /// The direction of an edge at a vertex; and where it lies beside others that are nearly tangent.
    static let angle = 16
    static let tangent = 384
    /// A segment of a border whose box is compared with a contour's.
    static let box = 4

    /// Begins the steps of the next path.
    mutating func beginOperation() { least = left - min(max(left, 0), stepsOfOperation) }

    /// - Throws: ``Exceeded`` where that many are not left.
    package mutating func spend(_ steps: Int) throws(Exceeded) {
        left -= Int64(steps)
        if left < least { throw Exceeded() }
    }
}

/// What has no bound but its input.
func unbounded<Result>(
    _ body: (inout CuttingBudget) throws(CuttingBudget.Exceeded) -> Result
) -> Result {
    var budget = CuttingBudget(steps: .max)
    do {
        return try body(&budget)
    } catch {
        preconditionFailure("A budget of centuries was exceeded.")
    }
}
