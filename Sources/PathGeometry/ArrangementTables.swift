/// Numbers by pairs of whole numbers: a hash table with open addressing for the inner loops of arrangements, of which
/// Swift's dictionary took a quarter of the time.
///
/// The pairs come from the places of points, which clients choose. So they are mixed with factors that are other ones in each
/// process (multiply–shift: Dietzfelbinger and others, 1997, A reliable randomized algorithm for the closest-pair problem):
/// nobody can find many points that get in each other's way. What is found does not depend on them.
///
/// O(1) a key; 24 bytes for each place, a quarter to half of which are used.
struct PairTable {
    private static let absent = -1
    private static let factors = (odd(of: 1), odd(of: 2), odd(of: 3))

    /// A number that is another one in each process, as Swift's hashes are.
    private static func odd(of index: Int) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(index)
        return UInt64(bitPattern: Int64(hasher.finalize())) | 1
    }

    private let factors = Self.factors
    private var keys: [SIMD2<Int>]
    private var values: [Int]
    private var count = 0
    private let shift: UInt64

    /// Makes room for some keys.
    init(capacity: Int) {
        var bits: UInt64 = 4
        while 1 << bits < 2 * capacity { bits += 1 }
        shift = 64 - bits
        keys = [SIMD2<Int>](repeating: .zero, count: 1 << bits)
        values = [Int](repeating: Self.absent, count: 1 << bits)
    }

    /// The value of a key, at least 0; −1 for none. A new value has to be at least 0.
    subscript(key: SIMD2<Int>) -> Int {
        @inline(__always) get { values[place(of: key)] }
        set {
            let place = place(of: key)
            if values[place] < 0 {
                keys[place] = key
                count += 1
            }
            values[place] = newValue
            if 2 * count > values.count { grow() }
        }
    }

    /// Where a key is, or would be.
    @inline(__always)
    private func place(of key: SIMD2<Int>) -> Int {
        let sum =
            UInt64(bitPattern: Int64(key.x)) &* factors.0 &+ UInt64(bitPattern: Int64(key.y)) &* factors.1
        var place = Int(truncatingIfNeeded: ((sum ^ (sum &>> 31)) &* factors.2) &>> shift)
        while values[place] >= 0, keys[place] != key { place = (place &+ 1) & (values.count &- 1) }
        return place
    }

    private mutating func grow() {
        var larger = PairTable(capacity: values.count)
        for (key, value) in zip(keys, values) where value >= 0 { larger[key] = value }
        self = larger
    }
}

/// Vertices in bands across y, in each of them by x: those near a curve are found without a look at all of its box.
struct VertexBands {
    private static let perBand = 32
    private static let maxBands = 4096

    private let origin: Double
    private let perUnit: Double
    private let height: Double
    /// The vertices of band b, by x, are `entries[starts[b]..<starts[b + 1]]`.
    private var starts: [Int]
    private var entries: [(place: Point, vertex: Int)] = []

    /// O(n log n).
    init(_ places: [Point], _ vertices: [Int]) {
        var box = Box.empty
        for vertex in vertices { box.extend(to: places[vertex]) }
        let length = box.isEmpty ? 0 : box.upper.y - box.lower.y
        let wanted = min(max(vertices.count / Self.perBand, 1), Self.maxBands)
        let count = (Double(wanted) / length).isFinite ? wanted : 1
        origin = box.isEmpty ? 0 : box.lower.y
        perUnit = count > 1 ? Double(count) / length : 0
        height = count > 1 ? length / Double(count) : .infinity
        starts = [Int](repeating: 0, count: count + 1)
        for vertex in vertices { starts[band(places[vertex].y) + 1] += 1 }
        for band in 0..<count { starts[band + 1] += starts[band] }
        entries = [(place: Point, vertex: Int)](repeating: (.zero, 0), count: vertices.count)
        var next = starts
        for vertex in vertices {
            let band = band(places[vertex].y)
            entries[next[band]] = (places[vertex], vertex)
            next[band] += 1
        }
        for band in 0..<count where starts[band + 1] - starts[band] > 1 {
            entries[starts[band]..<starts[band + 1]].sort { ($0.place.x, $0.vertex) < ($1.place.x, $1.vertex) }
        }
    }

    private func band(_ y: Double) -> Int { Int(min(max((y - origin) * perUnit, 0), Double(starts.count - 2))) }

    /// Calls with each vertex in the boxes of the curve's parts in the bands, which are wider by the tolerance.
    ///
    /// - Returns: how many bands and vertices were looked at.
    @inline(__always)
    func forEachCandidate(
        near curve: MonotoneCurve, _ box: Box, tolerance: Double, _ body: (Int) -> Void
    ) -> Int {
        let reach = box.inset(by: -tolerance)
        let bands = band(reach.lower.y)...band(reach.upper.y)
        let isRising = (curve.end.x > curve.start.x) == (curve.end.y > curve.start.y)
        var compared = bands.count
        for band in bands {
            var (left, right) = (reach.lower.x, reach.upper.x)
            if bands.count > 1 {
                // The part of the curve in the band, from its upper to its lower border; the tolerance once more, for where
                // a curve is flat the place at a height is known to far fewer digits than the height.
                let top = origin + Double(band) * height - 2 * tolerance
                let bottom = origin + Double(band + 1) * height + 2 * tolerance
                let (one, other) = (x(curve, box, top), x(curve, box, bottom))
                (left, right) = (isRising ? one : other, isRising ? other : one)
                left -= 2 * tolerance
                right += 2 * tolerance
            }
            var (low, high) = (starts[band], starts[band + 1])
            while low < high {
                let middle = (low + high) / 2
                if entries[middle].place.x < left { low = middle + 1 } else { high = middle }
            }
            while low < starts[band + 1], entries[low].place.x <= right {
                compared += 1
                if reach.contains(entries[low].place) { body(entries[low].vertex) }
                low += 1
            }
        }
        return compared
    }

    /// Where a curve is at a height; beyond its ends the end itself, which the height alone does not tell where it is flat.
    private func x(_ curve: MonotoneCurve, _ box: Box, _ y: Double) -> Double {
        let isDown = curve.end.y > curve.start.y
        if y <= box.lower.y { return isDown ? curve.start.x : curve.end.x }
        if y >= box.upper.y { return isDown ? curve.end.x : curve.start.x }
        return curve.point(at: curve.parameter(axis: 1, value: y)).x
    }
}

/// Finds vertices by place: one for all places within the tolerance of it. O(1) a place.
struct VertexIndex {
    private let origin: Point
    private let tolerance: Double
    private let perCell: Double
    private var cells: PairTable
    /// The next older vertex of the same cell, −1 for none.
    private var nextInCell: [Int] = []
    private(set) var places: [Point] = []

    /// The size of cells in tolerances: most places are looked up in one cell.
    private static let cellSize = 32.0

    init(origin: Point, tolerance: Double, capacity: Int) {
        self.origin = origin
        self.tolerance = tolerance
        perCell = 1 / (Self.cellSize * tolerance)
        cells = PairTable(capacity: capacity)
        places.reserveCapacity(capacity)
        nextInCell.reserveCapacity(capacity)
    }

    private func cell(_ place: Point) -> SIMD2<Int> {
        // Coordinates are at most 2^46 tolerances from 0.
        let scaled = ((place - origin) * perCell).rounded(.down)
        return SIMD2(Int(scaled.x), Int(scaled.y))
    }

    mutating func vertex(
        at place: Point, within budget: inout CuttingBudget
    ) throws(CuttingBudget.Exceeded) -> Int {
        let (low, high) = (cell(place - tolerance), cell(place + tolerance))
        var compared = 1
        var x = low.x
        while x <= high.x {
            var y = low.y
            while y <= high.y {
                var vertex = cells[SIMD2(x, y)]
                while vertex >= 0 {
                    compared += 1
                    if (places[vertex] - place).length <= tolerance {
                        try budget.spend(CuttingBudget.vertex * compared)
                        return vertex
                    }
                    vertex = nextInCell[vertex]
                }
                y += 1
            }
            x += 1
        }
        try budget.spend(CuttingBudget.vertex * compared)
        let home = low == high ? low : cell(place)
        nextInCell.append(cells[home])
        cells[home] = places.count
        places.append(place)
        return places.count - 1
    }
}

/// Finds edges that lie on each other, by their ends.
struct EdgeMerger {
    /// The newest edge between two vertices.
    private var byEnds: PairTable
    /// The next older edge between the same vertices, −1 for none.
    private var older: [Int] = []

    init(capacity: Int) { byEnds = PairTable(capacity: capacity) }

    private func key(_ from: Int, _ to: Int) -> SIMD2<Int> { SIMD2(min(from, to), max(from, to)) }

    /// Adds an edge; indices only grow.
    mutating func add(_ edge: Int, _ from: Int, _ to: Int) {
        while older.count < edge { older.append(-1) }
        let key = key(from, to)
        older.append(byEnds[key])
        byEnds[key] = edge
    }

    func edge(
        like curve: MonotoneCurve, _ from: Int, _ to: Int, among edges: [Arrangement.Edge], tolerance: Double,
        within budget: inout CuttingBudget
    ) throws(CuttingBudget.Exceeded) -> Int? {
        var known = byEnds[key(from, to)]
        var found: Int?
        // The oldest one counts.
        while known >= 0 {
            try budget.spend(CuttingBudget.curvePair)
            if isSame(curve, edges[known].curve, tolerance) { found = known }
            known = older[known]
        }
        return found
    }

    private func isSame(_ curve: MonotoneCurve, _ other: MonotoneCurve, _ tolerance: Double) -> Bool {
        if curve.isLine && other.isLine { return true }
        for t in [0.5, 0.25, 0.75] {
            let place = curve.point(at: t)
            if !((other.point(at: other.parameter(of: place)) - place).length <= 4 * tolerance) { return false }
        }
        return true
    }
}
