/// Two paths cut at all their meetings: vertices that are farther from each other than the tolerance, and edges between them
/// that meet in vertices alone. Common stretches of contours that are cut at each other are one edge.
///
/// Every place where curves meet becomes a vertex; places nearer than the tolerance are one. Then curves that pass a
/// vertex within the tolerance are cut there too (hot pixels: Hobby, 1999, Practical segment intersection with finite
/// precision output), and edges that lie on each other are merged, with the sum of their windings.
struct Arrangement {
    /// How much of the paths' size, and of their greatest coordinate, counts as nothing.
    private static let sizeTolerance = 0x1p-27
    private static let coordinateTolerance = 0x1p-44
    private static let maxCoordinate = 1e12
    /// Paths smaller than that are a point: the squares of lengths this small are not 0 yet, and their reciprocals are finite.
    private static let leastTolerance = 0x1p-450
    /// By what the tolerance is multiplied, one after the other, as long as sides of edges contradict each other: curves that
    /// are hardly farther from each other than the tolerance are merged by the next one.
    static let coarsenesses: [Double] = [1, 8, 64]

    struct Edge {
        var curve: MonotoneCurve
        var from, to: Int
        /// By how much the windings of the two paths are greater on the left side than on the right one.
        var windings: SIMD2<Int>
        /// Which of the paths have a stretch here.
        var isOf: (first: Bool, second: Bool)
        /// The segment that it is a part of, −1 for a line that joins what rounding has parted, and the part.
        var source: Int
        var low, high: Double
    }

    /// An edge and the direction in which it is passed.
    struct HalfEdge: Equatable {
        var edge: Int
        var isForward: Bool
        var twin: HalfEdge { HalfEdge(edge: edge, isForward: !isForward) }
    }

    /// A contour as the edges along it. Edges that merged have the segment and the parameters of another contour; here are its
    /// own ones.
    struct Walk {
        struct Step {
            var half: HalfEdge
            var segment: Int
            var low, high: Double
        }
        var operand: Int
        var contour: Int
        var isClosed: Bool
        /// The index of the contour's first segment among the sources.
        var firstSource: Int
        var steps: [Step]
    }

    let tolerance: Double
    private(set) var sources: [Segment] = []
    private(set) var vertices: [Point] = []
    private(set) var edges: [Edge] = []
    private(set) var walks: [Walk] = []
    /// Whether contours of a path are cut at meetings with contours of the same one.
    let cutsItself: Bool

    private struct Piece {
        var curve: MonotoneCurve
        var box: Box
        var operand: Int
        var walk: Int
        var source: Int
        var low, high: Double
    }

    private struct Cut {
        var piece: Int32
        var vertex: Int32
        var parameter: Double

        init(piece: Int, parameter: Double, vertex: Int) {
            (self.piece, self.vertex, self.parameter) = (Int32(piece), Int32(vertex), parameter)
        }
    }

    /// O(n log n + k) for n pieces and k pairs whose boxes overlap in x.
    ///
    /// - Parameters:
    ///   - closes: whether open contours of the first and of the second path are closed by lines.
    ///   - cutsItself: whether contours of a path are cut at meetings with contours of the same one.
    init(
        _ first: Path, _ second: Path, closes: (first: Bool, second: Bool), cutsItself: Bool, coarseness: Double = 1,
        within budget: inout CuttingBudget
    ) throws(CuttingBudget.Exceeded) {
        self.cutsItself = cutsItself
        let operands = [first, second].map { $0.contours.enumerated().filter { Self.isUsable($0.element) } }
        var bounds = Box.empty
        for (_, contour) in operands.joined() {
            for segment in contour.segments { bounds = bounds.union(segment.controlBounds) }
        }
        let greatest = bounds.isEmpty ? 0 : max(bounds.lower.greatest, bounds.upper.greatest)
        let limit = max(bounds.size * Self.sizeTolerance, greatest * Self.coordinateTolerance)
        tolerance = limit > 0 ? max(limit, Self.leastTolerance) * coarseness : 1

        var pieces: [Piece] = []
        for (operand, contours) in operands.enumerated() {
            for (index, contour) in contours {
                let closes = operand == 0 ? closes.first : closes.second
                let contour = closes ? contour.filled : contour
                try budget.spend(CuttingBudget.contour + CuttingBudget.segment * contour.segments.count)
                addWalk(along: contour, at: index, of: operand, &pieces)
            }
        }
        var index = VertexIndex(
            origin: bounds.isEmpty ? .zero : bounds.lower, tolerance: tolerance, capacity: pieces.count)
        var ends: [(Int, Int)] = []
        ends.reserveCapacity(pieces.count)
        for piece in pieces {
            // Mostly the end of the last one.
            var start = ends.last?.1
            if start.map({ index.places[$0] == piece.curve.start }) != true {
                start = try index.vertex(at: piece.curve.start, within: &budget)
            }
            ends.append((start ?? 0, try index.vertex(at: piece.curve.end, within: &budget)))
        }
        var cuts = try findMeetings(pieces, &index, &budget)
        vertices = index.places
        try cutAtPassedVertices(pieces, ends, &cuts, &budget)
        try makeEdges(pieces, ends, &cuts, &budget)
    }

    /// Adds a contour, and the monotone pieces of its segments.
    private mutating func addWalk(
        along contour: Contour, at index: Int, of operand: Int, _ pieces: inout [Piece]
    ) {
        let first = sources.count
        for segment in contour.segments {
            let extrema = segment.isClearlyMonotone ? [] : segment.extrema
            var low = 0.0
            for place in 0...extrema.count {
                let high = place < extrema.count ? extrema[place] : 1
                guard high > low else { continue }
                let curve = MonotoneCurve(segment, from: low, to: high)
                if curve.start != curve.end {
                    pieces.append(
                        Piece(
                            curve: curve, box: curve.box, operand: operand, walk: walks.count, source: sources.count,
                            low: low, high: high))
                }
                low = high
            }
            sources.append(segment)
        }
        walks.append(
            Walk(operand: operand, contour: index, isClosed: contour.isClosed, firstSource: first, steps: []))
    }

    private static func isUsable(_ contour: Contour) -> Bool {
        contour.segments.allSatisfy { segment in
            let box = segment.controlBounds
            return box.lower.greatest <= maxCoordinate && box.upper.greatest <= maxCoordinate && segment.isFinite
        } && !contour.segments.isEmpty
    }

    /// Sweeps over the pieces by x; each is compared with those that overlap its x and y.
    private func findMeetings(
        _ pieces: [Piece], _ index: inout VertexIndex, _ budget: inout CuttingBudget
    ) throws(CuttingBudget.Exceeded) -> [Cut] {
        var cuts: [Cut] = []
        var intersector = CurveIntersector(tolerance: tolerance)
        var active: [[Int]] = [[], []]
        for next in pieces.indices.sorted(by: { pieces[$0].box.lower.x < pieces[$1].box.lower.x }) {
            let piece = pieces[next]
            let reach = piece.box.inset(by: -tolerance)
            for operand in 0..<2 {
                guard cutsItself || operand != piece.operand else { continue }
                active[operand].removeAll { pieces[$0].box.upper.x < reach.lower.x }
                try budget.spend(active[operand].count)
                for other in active[operand] where reach.intersects(pieces[other].box) {
                    intersector.intersect(piece.curve, pieces[other].curve)
                    try budget.spend(
                        CuttingBudget.curvePair + CuttingBudget.halves * intersector.comparedHalves
                            + CuttingBudget.cut * intersector.meetings.count)
                    for meeting in intersector.meetings {
                        let vertex = try index.vertex(at: meeting.place, within: &budget)
                        cuts.append(Cut(piece: next, parameter: meeting.first, vertex: vertex))
                        cuts.append(Cut(piece: other, parameter: meeting.second, vertex: vertex))
                    }
                }
            }
            active[piece.operand].append(next)
        }
        return cuts
    }

    /// Cuts pieces at vertices of others that lie on them.
    private func cutAtPassedVertices(
        _ pieces: [Piece], _ ends: [(Int, Int)], _ cuts: inout [Cut], _ budget: inout CuttingBudget
    ) throws(CuttingBudget.Exceeded) {
        let isOf = operands(pieces, ends, cuts)
        // For pieces of each path the vertices that may lie on them.
        let bands = (0..<2).map { operand in
            VertexBands(vertices, vertices.indices.filter { cutsItself || isOf[$0][1 - operand] != 0 })
        }
        for (index, piece) in pieces.enumerated() {
            let known = cuts.count
            let compared = bands[piece.operand].forEachCandidate(
                near: piece.curve, piece.box, tolerance: tolerance
            ) { vertex in
                let place = vertices[vertex]
                guard vertex != ends[index].0, vertex != ends[index].1 else { return }
                let t = piece.curve.parameter(of: place)
                if (piece.curve.point(at: t) - place).length <= tolerance {
                    cuts.append(Cut(piece: index, parameter: t, vertex: vertex))
                }
            }
            try budget.spend(CuttingBudget.vertex * compared + CuttingBudget.cut * (cuts.count - known))
        }
    }

    /// For each vertex 1 in the place of each path that has it.
    private func operands(_ pieces: [Piece], _ ends: [(Int, Int)], _ cuts: [Cut]) -> [SIMD2<Int>] {
        var isOf = [SIMD2<Int>](repeating: .zero, count: vertices.count)
        for (piece, ends) in zip(pieces, ends) {
            isOf[ends.0][piece.operand] = 1
            isOf[ends.1][piece.operand] = 1
        }
        for cut in cuts { isOf[Int(cut.vertex)][pieces[Int(cut.piece)].operand] = 1 }
        return isOf
    }

    private mutating func makeEdges(
        _ pieces: [Piece], _ ends: [(Int, Int)], _ cuts: inout [Cut], _ budget: inout CuttingBudget
    ) throws(CuttingBudget.Exceeded) {
        // An edge lies on one of the other path only between vertices of both.
        let isOf = operands(pieces, ends, cuts)
        func mayMerge(_ from: Int, _ to: Int) -> Bool {
            cutsItself || (isOf[from] == SIMD2(1, 1) && isOf[to] == SIMD2(1, 1))
        }
        cuts.sort { ($0.piece, $0.parameter, $0.vertex) < ($1.piece, $1.parameter, $1.vertex) }
        var next = 0
        var merger = EdgeMerger(capacity: cutsItself ? pieces.count : 8)
        for (index, piece) in pieces.enumerated() {
            var (low, from) = (0.0, ends[index].0)
            while true {
                var (high, to) = (1.0, ends[index].1)
                var isLast = true
                if next < cuts.count, cuts[next].piece == index {
                    (high, to) = (cuts[next].parameter, Int(cuts[next].vertex))
                    next += 1
                    isLast = false
                }
                if to != from {
                    try addEdge(piece, low, high, from, to, mayMerge(from, to), &merger, &budget)
                    (low, from) = (high, to)
                }
                if isLast { break }
            }
        }
    }

    private mutating func addEdge(
        _ piece: Piece, _ low: Double, _ high: Double, _ from: Int, _ to: Int, _ mayMerge: Bool,
        _ merger: inout EdgeMerger, _ budget: inout CuttingBudget
    ) throws(CuttingBudget.Exceeded) {
        var curve = piece.curve
        if low != 0 || high != 1 { curve.cubic = curve.cubic.part(from: low, to: high) }
        curve = curve.pinned(vertices[from], vertices[to])
        let length = piece.high - piece.low
        let (start, end) = (piece.low + length * low, high == 1 ? piece.high : piece.low + length * high)
        var windings = SIMD2<Int>.zero
        if walks[piece.walk].isClosed { windings[piece.operand] = 1 }
        let half: HalfEdge
        let like =
            mayMerge
            ? try merger.edge(like: curve, from, to, among: edges, tolerance: tolerance, within: &budget) : nil
        if let known = like {
            half = HalfEdge(edge: known, isForward: edges[known].from == from)
            if half.isForward { edges[known].windings &+= windings } else { edges[known].windings &-= windings }
            if piece.operand == 0 { edges[known].isOf.first = true } else { edges[known].isOf.second = true }
        } else {
            try budget.spend(CuttingBudget.edge)
            half = HalfEdge(edge: edges.count, isForward: true)
            if mayMerge { merger.add(edges.count, from, to) }
            edges.append(
                Edge(
                    curve: curve, from: from, to: to, windings: windings,
                    isOf: (piece.operand == 0, piece.operand == 1), source: piece.source, low: start, high: end))
        }
        walks[piece.walk].steps.append(
            Walk.Step(half: half, segment: piece.source - walks[piece.walk].firstSource, low: start, high: end))
    }
}

extension Arrangement {
    func start(of half: HalfEdge) -> Int { half.isForward ? edges[half.edge].from : edges[half.edge].to }
    func end(of half: HalfEdge) -> Int { half.isForward ? edges[half.edge].to : edges[half.edge].from }

    /// Adds a line between vertices.
    mutating func join(_ from: Int, _ to: Int) -> HalfEdge {
        let line = Segment.line(vertices[from], vertices[to])
        edges.append(
            Edge(
                curve: MonotoneCurve(line, from: 0, to: 1), from: from, to: to, windings: .zero, isOf: (false, false),
                source: -1, low: 0, high: 1))
        return HalfEdge(edge: edges.count - 1, isForward: true)
    }
}
