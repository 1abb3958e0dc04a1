/// Joins half-edges to closed contours.
///
/// Where several meet, the one next to the incoming edge clockwise follows, so that what lies on the left is passed around
/// without crossing: contours touch in vertices, they do not cross. Whatever half-edges are given, the contours are closed:
/// where rounding has left more incoming than outgoing ones at a vertex, lines join it to the nearest vertex of the other
/// kind.
struct ContourTracer {
    private typealias HalfEdge = Arrangement.HalfEdge

    private let arrangement: Arrangement
    private let halves: [HalfEdge]
    /// The half-edges that begin at vertex v, by direction, are `outgoing[starts[v]..<starts[v + 1]]`, as indices of `halves`.
    private var starts: [Int] = []
    private var outgoing: [Int] = []

    /// O(n log n + d²), and O(m²) for m vertices that rounding has left out of balance; d half-edges begin at a vertex.
    ///
    /// - Returns: the half-edges of each contour, in order.
    static func cycles(
        of halves: [Arrangement.HalfEdge], in arrangement: inout Arrangement, within budget: inout CuttingBudget
    ) throws(CuttingBudget.Exceeded) -> [[Arrangement.HalfEdge]] {
        let joins = try joins(of: halves, in: &arrangement, within: &budget)
        return try cycles(balanced: halves + joins, in: arrangement, within: &budget)
    }

    /// The contours of half-edges of which as many end as begin at each vertex. O(n log n + d²).
    static func cycles(
        balanced halves: [Arrangement.HalfEdge], in arrangement: Arrangement, within budget: inout CuttingBudget
    ) throws(CuttingBudget.Exceeded) -> [[Arrangement.HalfEdge]] {
        var tracer = ContourTracer(arrangement, halves)
        tracer.sortOutgoing()
        return try tracer.trace(&budget)
    }

    private init(_ arrangement: Arrangement, _ halves: [HalfEdge]) {
        self.arrangement = arrangement
        self.halves = halves
    }

    /// Lines from vertices where more half-edges end than begin to the nearest ones where it is the other way round.
    static func joins(
        of halves: [Arrangement.HalfEdge], in arrangement: inout Arrangement, within budget: inout CuttingBudget
    ) throws(CuttingBudget.Exceeded) -> [Arrangement.HalfEdge] {
        var excess = [Int](repeating: 0, count: arrangement.vertices.count)
        for half in halves {
            excess[arrangement.end(of: half)] += 1
            excess[arrangement.start(of: half)] -= 1
        }
        var joins: [Arrangement.HalfEdge] = []
        var lacking = excess.indices.filter { excess[$0] < 0 }
        for from in excess.indices where excess[from] > 0 {
            while excess[from] > 0 {
                try budget.spend(CuttingBudget.vertex * lacking.count + CuttingBudget.edge)
                let distances = lacking.map { (arrangement.vertices[$0] - arrangement.vertices[from]).length }
                guard let nearest = distances.indices.min(by: { distances[$0] < distances[$1] }) else { break }
                let to = lacking[nearest]
                joins.append(arrangement.join(from, to))
                excess[from] -= 1
                excess[to] += 1
                if excess[to] == 0 { lacking.remove(at: nearest) }
            }
        }
        return joins
    }

    private mutating func sortOutgoing() {
        starts = [Int](repeating: 0, count: arrangement.vertices.count + 1)
        for half in halves { starts[arrangement.start(of: half) + 1] += 1 }
        for vertex in arrangement.vertices.indices { starts[vertex + 1] += starts[vertex] }
        outgoing = [Int](repeating: 0, count: halves.count)
        var next = starts
        for (index, half) in halves.enumerated() {
            let vertex = arrangement.start(of: half)
            outgoing[next[vertex]] = index
            next[vertex] += 1
        }
    }

    private func trace(_ budget: inout CuttingBudget) throws(CuttingBudget.Exceeded) -> [[HalfEdge]] {
        var isDone = [Bool](repeating: false, count: halves.count)
        var cycles: [[HalfEdge]] = []
        for first in halves.indices where !isDone[first] {
            var cycle: [HalfEdge] = []
            var index = first
            while !isDone[index] {
                isDone[index] = true
                cycle.append(halves[index])
                let vertex = arrangement.end(of: halves[index])
                try budget.spend(CuttingBudget.angle * (starts[vertex + 1] - starts[vertex]))
                guard let next = try following(halves[index], at: vertex, isDone, first: first, &budget) else { break }
                index = next
            }
            if arrangement.end(of: cycle[cycle.count - 1]) == arrangement.start(of: cycle[0]) { cycles.append(cycle) }
        }
        return cycles
    }

    private func following(
        _ half: HalfEdge, at vertex: Int, _ isDone: [Bool], first: Int, _ budget: inout CuttingBudget
    ) throws(CuttingBudget.Exceeded) -> Int? {
        let candidates = outgoing[starts[vertex]..<starts[vertex + 1]]
        if candidates.count == 1 { return candidates[candidates.startIndex] }
        var best = clearlyNext(half.twin, candidates)
        if best == nil {
            try budget.spend(CuttingBudget.tangent * candidates.count)
            let order = EdgeOrder(arrangement, vertex, candidates.map { halves[$0] } + [half.twin])
            let incoming = candidates.count
            best =
                candidates.enumerated().min { one, other in
                    order.isBefore(one.offset, other.offset, clockwiseFrom: incoming)
                }?.element
        }
        return best.flatMap { best in
            // Where another cycle has gone this way, any other one; none is left at the start of this cycle alone.
            best == first || !isDone[best] ? best : candidates.first { !isDone[$0] }
        }
    }

    /// The candidate that is the first one clockwise from an incoming edge, if no two of them are nearly tangent.
    private func clearlyNext(_ incoming: HalfEdge, _ candidates: ArraySlice<Int>) -> Int? {
        var least = arrangement.length(incoming)
        for candidate in candidates { least = min(least, arrangement.length(halves[candidate])) }
        let start = arrangement.angle(incoming, least / 2)
        var best: (candidate: Int, turn: Double)?
        var second = 4.0
        for candidate in candidates {
            let angle = arrangement.angle(halves[candidate], least / 2)
            let turn = start > angle ? start - angle : start - angle + 4
            // Of what nearly is the incoming edge it is hard to say whether it is the first or the last one.
            guard turn > EdgeOrder.tangent, turn < 4 - EdgeOrder.tangent else { return nil }
            if let known = best {
                second = min(second, max(turn, known.turn))
                if turn < known.turn { best = (candidate, turn) }
            } else {
                best = (candidate, turn)
            }
        }
        guard let best, best.turn < second - EdgeOrder.tangent else { return nil }
        return best.candidate
    }
}

/// The order of half-edges around the vertex at which they begin.
///
/// Edges meet in vertices alone, and monotone ones go away from their start all the time, so each crosses a small enough
/// circle around it once: the order of the crossings is that of the edges. Of tangent ones, which are hard to tell apart
/// near the vertex, two are compared where the shorter one is half gone.
private struct EdgeOrder {
    /// Directions that differ by less than this part of a right angle are compared in pairs.
    static let tangent = 0.02

    private let arrangement: Arrangement
    private let halves: [Arrangement.HalfEdge]
    private let lengths: [Double]
    private let angles: [Double]

    init(_ arrangement: Arrangement, _ vertex: Int, _ halves: [Arrangement.HalfEdge]) {
        self.arrangement = arrangement
        self.halves = halves
        lengths = halves.map { arrangement.length($0) }
        let radius = (lengths.min() ?? 0) / 2
        angles = halves.map { Self.angle(arrangement.way($0, radius)) }
    }

    /// 0 … 4, growing like the angle.
    static func angle(_ way: Point) -> Double {
        let sum = abs(way.x) + abs(way.y)
        guard sum > 0 else { return 0 }
        let (x, y) = (way.x / sum, way.y / sum)
        if y >= 0 { return x >= 0 ? y : 1 - x }
        return x < 0 ? 2 - y : 3 + x
    }

    /// On which side of a half-edge another one lies that is nearly tangent: above 0 for anticlockwise.
    private func side(of other: Int, from one: Int) -> Double {
        if halves[one] == halves[other] { return 0 }
        let radius = min(lengths[one], lengths[other]) / 2
        return arrangement.way(halves[one], radius).cross(arrangement.way(halves[other], radius))
    }

    /// How far it is from one half-edge to another, clockwise: above 0, at most 4.
    private func clockwise(from one: Int, to other: Int) -> Double {
        let turn = angles[one] - angles[other]
        let distance = turn > 0 ? turn : turn + 4
        guard distance < Self.tangent || distance > 4 - Self.tangent else { return distance }
        // Just after it or just before.
        let isAfter = side(of: other, from: one) < 0
        if isAfter { return distance < 1 ? distance : .leastNonzeroMagnitude }
        return distance > 1 ? distance : 4
    }

    /// Whether one of two half-edges comes first, clockwise from a third one.
    func isBefore(_ one: Int, _ other: Int, clockwiseFrom third: Int) -> Bool {
        let (first, second) = (clockwise(from: third, to: one), clockwise(from: third, to: other))
        guard abs(first - second) < Self.tangent else { return first < second }
        let side = side(of: one, from: other)
        return side == 0 ? first < second : side > 0
    }
}

extension Arrangement {
    /// From the start of a half-edge to its end.
    func length(_ half: HalfEdge) -> Double {
        (vertices[edges[half.edge].to] - vertices[edges[half.edge].from]).length
    }

    /// From the vertex at which a half-edge begins to where it is so far away from it, but for an error along the edge of a
    /// part of its length that is halved by each step.
    func way(_ half: HalfEdge, _ radius: Double, steps: Int = 40) -> Point {
        let curve = edges[half.edge].curve
        if curve.isLine { return half.isForward ? curve.end - curve.start : curve.start - curve.end }
        let centre = half.isForward ? curve.start : curve.end
        var (low, high) = (0.0, 1.0)
        for _ in 0..<steps {
            let middle = (low + high) / 2
            let way = curve.cubic.point(at: half.isForward ? middle : 1 - middle) - centre
            if way.dot(way) < radius * radius { low = middle } else { high = middle }
        }
        let middle = (low + high) / 2
        return curve.cubic.point(at: half.isForward ? middle : 1 - middle) - centre
    }

    /// A number of 0 … 4 that grows like the angle of a half-edge at its start, where it is so far away from it.
    func angle(_ half: HalfEdge, _ radius: Double) -> Double { EdgeOrder.angle(way(half, radius, steps: 16)) }

    /// Segments along half-edges, in which what was cut is whole again.
    ///
    /// - Parameter parts: of each half-edge the segment that it is a part of, if that is not the edge's own.
    func contour(of halves: [HalfEdge], closed: Bool, parts: [(source: Int, low: Double, high: Double)]? = nil)
        -> Contour
    {
        struct Run {
            var source: Int
            var low, high: Double
            var isForward: Bool
            var from, to: Int
        }
        var runs: [Run] = []
        for (index, half) in halves.enumerated() {
            let edge = edges[half.edge]
            // Parts of walks are along the walk, whatever the direction of the edge is.
            let isForward = parts == nil ? half.isForward : true
            let part = parts.map { $0[index] } ?? (edge.source, edge.low, edge.high)
            let run = Run(
                source: part.0, low: part.1, high: part.2, isForward: isForward, from: start(of: half),
                to: end(of: half))
            if let last = runs.last, let joined = join(last, run) {
                runs[runs.count - 1] = joined
            } else {
                runs.append(run)
            }
        }
        if closed, runs.count > 1, let joined = join(runs[runs.count - 1], runs[0]) {
            runs[0] = joined
            runs.removeLast()
        }
        func join(_ one: Run, _ other: Run) -> Run? {
            guard one.source >= 0, one.source == other.source, one.isForward == other.isForward,
                one.isForward ? one.high == other.low : one.low == other.high
            else { return nil }
            return Run(
                source: one.source, low: min(one.low, other.low), high: max(one.high, other.high),
                isForward: one.isForward, from: one.from, to: other.to)
        }
        let segments = runs.map { run -> Segment in
            guard run.source >= 0 else { return .line(vertices[run.from], vertices[run.to]) }
            let part = sources[run.source].subsegment(from: run.low, to: run.high)
            return (run.isForward ? part : part.reversed).moved(start: vertices[run.from], end: vertices[run.to])
        }
        return Contour(segments, closed: closed)
    }
}
