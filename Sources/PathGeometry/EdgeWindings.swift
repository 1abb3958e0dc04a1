/// The winding numbers of the two paths of an arrangement on both sides of each edge.
///
/// One ray is cast for a chain of edges between vertices where more than two meet. It starts on the edge itself, so that no
/// distance to its sides must be chosen, and where it is farthest from what it might confuse.
struct EdgeWindings {
    private(set) var left: [SIMD2<Int>]

    /// O(n + c·b) for c chains and b edges in a band.
    init(_ arrangement: Arrangement) {
        let edges = arrangement.edges
        left = [SIMD2<Int>](repeating: .zero, count: edges.count)
        let boxes = edges.map(\.curve.box)
        let indices = [RayIndex(boxes, axis: 0), RayIndex(boxes, axis: 1)]
        let chains = EdgeChains(arrangement)
        for chain in chains.chains {
            guard let longest = chain.max(by: { size(boxes[$0.edge]) < size(boxes[$1.edge]) }) else { continue }
            let middle = chain[chain.count / 2]
            var best = (clearance: -1.0, windings: SIMD2<Int>.zero)
            for (half, t) in [(longest, 0.5), (longest, 0.27), (longest, 0.71), (middle, 0.5), (longest, 0.07)] {
                let probe = Self.probe(edges, half.edge, t, boxes, indices)
                // All edges of a chain have the same windings on the same side.
                if probe.clearance > best.clearance {
                    best.clearance = probe.clearance
                    best.windings = half.isForward ? probe.left : probe.left &- edges[half.edge].windings
                }
                if best.clearance > 256 * arrangement.tolerance { break }
            }
            for half in chain {
                left[half.edge] = half.isForward ? best.windings : best.windings &+ edges[half.edge].windings
            }
        }

        func size(_ box: Box) -> Double { max(box.upper.x - box.lower.x, box.upper.y - box.lower.y) }
    }

    private static func probe(
        _ edges: [Arrangement.Edge], _ edge: Int, _ t: Double, _ boxes: [Box], _ indices: [RayIndex]
    ) -> (left: SIMD2<Int>, clearance: Double) {
        let step = edges[edge].curve.end - edges[edge].curve.start
        let axis = abs(step.y) >= abs(step.x) ? 1 : 0
        let place = edges[edge].curve.point(at: t)
        var windings = SIMD2<Int>.zero
        var clearance = Double.infinity
        for candidate in indices[axis].candidates(at: place) where Int(candidate) != edge {
            let other = Int(candidate)
            let crossing = edges[other].curve.crossing(rightOf: place, axis: axis)
            guard crossing.distance < .infinity else { continue }
            clearance = min(clearance, crossing.distance)
            if crossing.direction > 0 { windings &+= edges[other].windings }
            if crossing.direction < 0 { windings &-= edges[other].windings }
        }
        // The ray leaves the edge to its right side where the edge leads around its start, and to its left side elsewhere.
        let leadsAround = axis == 1 ? step.y > 0 : step.x < 0
        return (leadsAround ? windings &+ edges[edge].windings : windings, clearance)
    }
}

/// Edges in rows, from one vertex where more or less than two meet to the next.
struct EdgeChains {
    private(set) var chains: [[Arrangement.HalfEdge]] = []

    init(_ arrangement: Arrangement) {
        let edges = arrangement.edges
        // The edges at each vertex, at most two of them kept.
        var count = [Int](repeating: 0, count: arrangement.vertices.count)
        var at = [SIMD2<Int>](repeating: SIMD2(-1, -1), count: arrangement.vertices.count)
        for (index, edge) in edges.enumerated() {
            for vertex in [edge.from, edge.to] {
                if count[vertex] < 2 { at[vertex][count[vertex]] = index }
                count[vertex] += 1
            }
        }
        var isDone = [Bool](repeating: false, count: edges.count)
        for first in edges.indices where !isDone[first] {
            isDone[first] = true
            var rows: [[Arrangement.HalfEdge]] = []
            for isForward in [true, false] {
                var row: [Arrangement.HalfEdge] = []
                var half = Arrangement.HalfEdge(edge: first, isForward: isForward)
                while true {
                    let vertex = arrangement.end(of: half)
                    guard count[vertex] == 2 else { break }
                    let next = at[vertex].x == half.edge ? at[vertex].y : at[vertex].x
                    guard !isDone[next] else { break }
                    let following = Arrangement.HalfEdge(edge: next, isForward: edges[next].from == vertex)
                    // Where an open contour ends on a closed one, windings may change without a third edge.
                    let same =
                        following.isForward == half.isForward
                        ? edges[next].windings == edges[half.edge].windings
                        : edges[next].windings == .zero &- edges[half.edge].windings
                    guard same, edges[next].isOf == edges[half.edge].isOf else { break }
                    isDone[next] = true
                    row.append(following)
                    half = following
                }
                rows.append(row)
            }
            let before = rows[1].reversed().map(\.twin)
            chains.append(before + [Arrangement.HalfEdge(edge: first, isForward: true)] + rows[0])
        }
    }
}

/// Counts windings by rays along an axis over curves in bands across it, so that a ray looks only at its band.
struct RayIndex {
    /// The coordinate that is the same along a ray: 1 for rays to +x, 0 for rays to +y.
    private let axis: Int
    private var origin = 0.0
    private var perUnit = 0.0
    private var bandCount = 1
    /// The curves of band b are `entries[starts[b]..<starts[b + 1]]`.
    private var starts: [Int32] = [0, 0]
    private var entries: [Int32] = []

    /// O(n): at most 8 entries a curve, on average.
    init(_ boxes: [Box], axis: Int) {
        self.axis = axis
        let whole = boxes.reduce(Box.empty) { $0.union($1) }
        guard !whole.isEmpty else { return }
        origin = whole.lower[axis]
        let length = whole.upper[axis] - origin
        bandCount = length > 0 ? min(boxes.count, 4096) : 1
        while true {
            perUnit = bandCount > 1 ? Double(bandCount) / length : 0
            let total = boxes.reduce(0) { $0 + bands(of: $1).count }
            if bandCount == 1 || total <= 8 * boxes.count + 64 { break }
            bandCount /= 2
        }
        starts = [Int32](repeating: 0, count: bandCount + 1)
        for box in boxes { for band in bands(of: box) { starts[band + 1] += 1 } }
        for band in 0..<bandCount { starts[band + 1] += starts[band] }
        entries = [Int32](repeating: 0, count: Int(starts[bandCount]))
        var next = starts
        for (index, box) in boxes.enumerated() {
            for band in bands(of: box) {
                entries[Int(next[band])] = Int32(index)
                next[band] += 1
            }
        }
    }

    private func band(_ value: Double) -> Int {
        Int(min(max((value - origin) * perUnit, 0), Double(bandCount - 1)))
    }

    private func bands(of box: Box) -> ClosedRange<Int> {
        let low = band(box.lower[axis])
        return low...max(low, band(box.upper[axis]))
    }

    /// The indices of the curves whose band a place lies in.
    @inline(__always)
    func candidates(at place: Point) -> ArraySlice<Int32> {
        let band = band(place[axis])
        return entries[Int(starts[band])..<Int(starts[band + 1])]
    }

    /// Calls with the index of each curve whose box touches a box; once for each curve.
    @inline(__always)
    func forEachCandidate(in box: Box, _ boxes: [Box], _ body: (Int) -> Void) {
        let range = bands(of: box)
        for band in range {
            for entry in entries[Int(starts[band])..<Int(starts[band + 1])] {
                guard boxes[Int(entry)].intersects(box) else { continue }
                // In the first band that both touch.
                if max(bands(of: boxes[Int(entry)]).lowerBound, range.lowerBound) == band { body(Int(entry)) }
            }
        }
    }
}
