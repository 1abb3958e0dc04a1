/// The winding numbers of the two paths of an arrangement on both sides of each edge.
///
/// Edges go in chains, along which these numbers are the same. A ray counts the numbers of one chain, and those of the
/// others follow around the vertices that they share: what lies to the left of an edge lies to the right of the next
/// one, anticlockwise. Only vertices whose edges are clearly in order are passed, so that chains that are hard to tell
/// apart where they meet have a ray each, as all of a few chains have. Where two ways around contradict each other, as
/// they may where curves are hardly farther from each other than the tolerance, all chains have one, unless they are
/// too many.
///
/// A ray starts on the edge itself, so that no distance to its sides must be chosen, and where it is farthest from what it
/// might confuse.
///
/// Of paths that are not cut at meetings with themselves, the number of a path is known along the other path's edges alone: it
/// is 0 along its own.
struct EdgeWindings {
    private(set) var left: [SIMD2<Int>]
    let chains: EdgeChains

    /// So few chains of paths that are cut at meetings with themselves have a ray each: one that is wrong does not lead others
    /// astray.
    private static let fewChains = 1 << 10
    /// With more chains than this, contradictions are left as they are.
    private static let maxRays = 1 << 14

    /// O(n log n + c·b) for n edges, c groups of chains that share vertices which can be passed, and b edges in a band.
    init(_ arrangement: Arrangement, within budget: inout CuttingBudget) throws(CuttingBudget.Exceeded) {
        chains = EdgeChains(arrangement)
        left = [SIMD2<Int>](repeating: .zero, count: arrangement.edges.count)
        var rays = RayCaster(arrangement)
        var stars: VertexStars?
        let isSmall = arrangement.cutsItself && chains.count <= Self.fewChains
        for path in 0..<2 where arrangement.edges.contains(where: { $0.windings[path] != 0 }) {
            if !isSmall {
                let known = stars ?? VertexStars(arrangement, chains)
                stars = known
                if try propagate(path, arrangement, known, &rays, &budget) || chains.count > Self.maxRays { continue }
            }
            for chain in 0..<chains.count where isKnowable(chain, path, arrangement) {
                let windings = try rays.windings(of: chains[chain], within: &budget)
                assign(windings[path], path, to: chain, arrangement)
            }
        }
    }

    private func isKnowable(_ chain: Int, _ path: Int, _ arrangement: Arrangement) -> Bool {
        let halves = chains[chain]
        let isOf = arrangement.edges[halves[halves.startIndex].edge].isOf
        return arrangement.cutsItself || (path == 0 ? isOf.second : isOf.first)
    }

    private mutating func assign(_ winding: Int, _ path: Int, to chain: Int, _ arrangement: Arrangement) {
        for half in chains[chain] {
            left[half.edge][path] = half.isForward ? winding : winding &+ arrangement.edges[half.edge].windings[path]
        }
    }

    /// - Returns: whether all ways around vertices agree.
    private mutating func propagate(
        _ path: Int, _ arrangement: Arrangement, _ stars: VertexStars, _ rays: inout RayCaster,
        _ budget: inout CuttingBudget
    ) throws(CuttingBudget.Exceeded) -> Bool {
        var isKnown = [Bool](repeating: false, count: chains.count)
        var isDone = [Bool](repeating: false, count: arrangement.vertices.count)
        var open: [Int] = []
        var isSound = true
        let knowable = (0..<chains.count).filter { isKnowable($0, path, arrangement) }
        for seed in knowable where !isKnown[seed] {
            isKnown[seed] = true
            assign(try rays.windings(of: chains[seed], within: &budget)[path], path, to: seed, arrangement)
            open.append(seed)
            while let chain = open.popLast() {
                let halves = chains[chain]
                for half in [halves[halves.startIndex], halves[halves.endIndex - 1].twin] {
                    let vertex = arrangement.start(of: half)
                    guard !isDone[vertex], let star = stars.star(at: vertex) else { continue }
                    isDone[vertex] = true
                    pass(star, from: half)
                }
            }
        }
        return isSound

        func pass(_ star: ArraySlice<Arrangement.HalfEdge>, from first: Arrangement.HalfEdge) {
            guard let start = star.firstIndex(of: first) else { return }
            let edge = arrangement.edges[first.edge]
            var winding = left[first.edge][path] &- (first.isForward ? 0 : edge.windings[path])
            for offset in 1..<star.count {
                let place = start + offset
                let half = star[place < star.endIndex ? place : place - star.count]
                let jump = arrangement.edges[half.edge].windings[path]
                // What is to the left of the last one is to the right of this one.
                let leftOfEdge = half.isForward ? winding &+ jump : winding
                winding = half.isForward ? winding &+ jump : winding &- jump
                let chain = chains.chain(of: half.edge)
                if isKnown[chain] {
                    if isKnowable(chain, path, arrangement), left[half.edge][path] != leftOfEdge { isSound = false }
                } else if isKnowable(chain, path, arrangement) {
                    isKnown[chain] = true
                    assign(
                        chains.isAlong(half.edge) ? leftOfEdge : leftOfEdge &- jump, path, to: chain, arrangement)
                    open.append(chain)
                }
            }
        }
    }
}

/// Edges in rows, from one vertex where more or less than two meet to the next.
struct EdgeChains {
    private var halves: [Arrangement.HalfEdge] = []
    private var starts = [0]
    /// Of each edge its chain, twice, and 1 more where the chain leads along it forwards.
    private var places: [Int]

    var count: Int { starts.count - 1 }

    /// The half-edges of a chain, in order; at least one.
    @inline(__always)
    subscript(_ chain: Int) -> ArraySlice<Arrangement.HalfEdge> { halves[starts[chain]..<starts[chain + 1]] }

    func chain(of edge: Int) -> Int { places[edge] >> 1 }

    /// Whether the chain of an edge leads along it forwards.
    func isAlong(_ edge: Int) -> Bool { places[edge] & 1 == 1 }

    init(_ arrangement: Arrangement) {
        let edges = arrangement.edges
        // The edges at each vertex, at most two of them kept.
        var count = [Int32](repeating: 0, count: arrangement.vertices.count)
        var at = [SIMD2<Int>](repeating: SIMD2(-1, -1), count: arrangement.vertices.count)
        for (index, edge) in edges.enumerated() {
            for vertex in [edge.from, edge.to] {
                if count[vertex] < 2 { at[vertex][Int(count[vertex])] = index }
                count[vertex] += 1
            }
        }
        places = [Int](repeating: -1, count: edges.count)
        halves.reserveCapacity(edges.count)
        for first in edges.indices where places[first] < 0 {
            // Back to where the chain begins, or around it.
            var start = Arrangement.HalfEdge(edge: first, isForward: false)
            while let next = following(start), next.edge != first { start = next }
            var half = start.twin
            while true {
                places[half.edge] = self.count << 1 | (half.isForward ? 1 : 0)
                halves.append(half)
                guard let next = following(half), places[next.edge] < 0 else { break }
                half = next
            }
            starts.append(halves.count)
        }

        func following(_ half: Arrangement.HalfEdge) -> Arrangement.HalfEdge? {
            let edge = edges[half.edge]
            let vertex = half.isForward ? edge.to : edge.from
            guard count[vertex] == 2 else { return nil }
            let next = at[vertex].x == half.edge ? at[vertex].y : at[vertex].x
            guard next != half.edge else { return nil }
            let isForward = edges[next].from == vertex
            // Where an open contour ends on a closed one, windings may change without a third edge.
            let windings = isForward == half.isForward ? edge.windings : .zero &- edge.windings
            guard edges[next].windings == windings, edges[next].isOf == edge.isOf else { return nil }
            return Arrangement.HalfEdge(edge: next, isForward: isForward)
        }
    }
}

/// The half-edges that begin at each vertex at which chains end, anticlockwise.
private struct VertexStars {
    private var halves: [Arrangement.HalfEdge] = []
    private var starts: [Int]
    private var isClear: [Bool]

    /// Clear orders are those whose angles, 0 … 4, differ by this at least, and by so many tolerances on a circle that all
    /// edges cross.
    private static let clearAngle = 0.02
    private static let clearDistance = 256.0

    /// O(n log n).
    init(_ arrangement: Arrangement, _ chains: EdgeChains) {
        starts = [Int](repeating: 0, count: arrangement.vertices.count + 1)
        isClear = [Bool](repeating: true, count: arrangement.vertices.count)
        var ends: [Arrangement.HalfEdge] = []
        for chain in 0..<chains.count {
            let halves = chains[chain]
            ends.append(halves[halves.startIndex])
            ends.append(halves[halves.endIndex - 1].twin)
        }
        for half in ends { starts[arrangement.start(of: half) + 1] += 1 }
        for vertex in arrangement.vertices.indices { starts[vertex + 1] += starts[vertex] }
        guard let some = ends.first else { return }
        halves = [Arrangement.HalfEdge](repeating: some, count: ends.count)
        var next = starts
        for half in ends {
            let vertex = arrangement.start(of: half)
            halves[next[vertex]] = half
            next[vertex] += 1
        }
        var order: [(angle: Double, half: Arrangement.HalfEdge)] = []
        for vertex in arrangement.vertices.indices where starts[vertex + 1] - starts[vertex] > 2 {
            let range = starts[vertex]..<starts[vertex + 1]
            var radius = Double.infinity
            for place in range { radius = min(radius, arrangement.length(halves[place]) / 2) }
            order.removeAll(keepingCapacity: true)
            for place in range { order.append((arrangement.angle(halves[place], radius), halves[place])) }
            order.sort { $0.angle < $1.angle }
            let least = max(Self.clearAngle, Self.clearDistance * arrangement.tolerance / radius)
            var last = order[order.count - 1].angle - 4
            for (offset, known) in order.enumerated() {
                // False for what is not a number, where edges have no length.
                if !(known.angle - last > least) { isClear[vertex] = false }
                last = known.angle
                halves[range.lowerBound + offset] = known.half
            }
        }
    }

    /// `nil` where edges are not clearly in order.
    func star(at vertex: Int) -> ArraySlice<Arrangement.HalfEdge>? {
        isClear[vertex] ? halves[starts[vertex]..<starts[vertex + 1]] : nil
    }
}

/// Counts the windings to the left of chains by rays.
private struct RayCaster {
    private let arrangement: Arrangement
    private let boxes: [Box]
    /// For rays to +y, and to +x; made when several were cast, each of which looks at all edges without.
    private var indices: [RayIndex] = []
    private var count = 0

    private static let raysWithoutIndex = 8
    /// A ray is sure that is farther from all edges than so many times the tolerance.
    private static let clearance = 256.0

    init(_ arrangement: Arrangement) {
        self.arrangement = arrangement
        boxes = arrangement.edges.map { $0.curve.box }
    }

    /// The windings to the left of a chain. All edges of a chain have the same ones on the same side.
    mutating func windings(
        of chain: ArraySlice<Arrangement.HalfEdge>, within budget: inout CuttingBudget
    ) throws(CuttingBudget.Exceeded) -> SIMD2<Int> {
        guard let longest = chain.max(by: { boxes[$0.edge].size < boxes[$1.edge].size }) else { return .zero }
        let middle = chain[chain.startIndex + chain.count / 2]
        var best = (clearance: -1.0, windings: SIMD2<Int>.zero)
        for (half, t) in [(longest, 0.5), (longest, 0.27), (longest, 0.71), (middle, 0.5), (longest, 0.07)] {
            let probe = try probe(half.edge, t, &budget)
            if probe.clearance > best.clearance {
                best.clearance = probe.clearance
                best.windings =
                    half.isForward ? probe.left : probe.left &- arrangement.edges[half.edge].windings
            }
            if best.clearance > Self.clearance * arrangement.tolerance { break }
        }
        return best.windings
    }

    private mutating func probe(
        _ edge: Int, _ t: Double, _ budget: inout CuttingBudget
    ) throws(CuttingBudget.Exceeded) -> (left: SIMD2<Int>, clearance: Double) {
        let edges = arrangement.edges
        let step = edges[edge].curve.end - edges[edge].curve.start
        let axis = abs(step.y) >= abs(step.x) ? 1 : 0
        let place = edges[edge].curve.point(at: t)
        var windings = SIMD2<Int>.zero
        var clearance = Double.infinity
        func pass(_ other: Int) {
            guard other != edge, boxes[other].lower[axis] <= place[axis], place[axis] <= boxes[other].upper[axis],
                boxes[other].upper[1 - axis] >= place[1 - axis] || clearance == .infinity
                    || place[1 - axis] - boxes[other].upper[1 - axis] < clearance
            else { return }
            let crossing = edges[other].curve.crossing(rightOf: place, axis: axis)
            guard crossing.distance < .infinity else { return }
            clearance = min(clearance, crossing.distance)
            if crossing.direction > 0 { windings &+= edges[other].windings }
            if crossing.direction < 0 { windings &-= edges[other].windings }
        }
        count += 1
        if indices.isEmpty, count > Self.raysWithoutIndex {
            indices = [RayIndex(boxes, axis: 0), RayIndex(boxes, axis: 1)]
        }
        if indices.isEmpty {
            try budget.spend(CuttingBudget.rayEdge * edges.count)
            for other in edges.indices { pass(other) }
        } else {
            let candidates = indices[axis].candidates(at: place)
            try budget.spend(CuttingBudget.rayEdge * candidates.count)
            for candidate in candidates { pass(Int(candidate)) }
        }
        // The ray leaves the edge to its right side where the edge leads around its start, and to its left side elsewhere.
        let leadsAround = axis == 1 ? step.y > 0 : step.x < 0
        return (leadsAround ? windings &+ edges[edge].windings : windings, clearance)
    }
}
