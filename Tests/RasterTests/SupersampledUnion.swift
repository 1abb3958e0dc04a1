import Ink

/// The reference for coverage: 16 × 16 samples a pixel, each inside or outside the union of exact tapered capsules.
/// Knows the pixels that the capsules may touch, or those of them that lie in a window.
struct SupersampledUnion {
    let minX, minY, width, height: Int
    /// How many of the samples of each pixel are inside.
    private var counts: [UInt16]
    private let grid: Int
    private let capsules: [(start: CentreSample, end: CentreSample)]

    init(_ samples: [CentreSample], grid: Int = 16, within window: (width: Int, height: Int)? = nil) {
        self.grid = grid
        let reach = (samples.map(\.radius).max() ?? 0) + 2
        func low(_ places: [Float]) -> Int {
            let low = Int(((places.min() ?? 0) - reach).rounded(.down))
            return window == nil ? low : max(low, 0)
        }
        func high(_ places: [Float], _ limit: Int?) -> Int {
            let high = Int(((places.max() ?? 0) + reach).rounded(.up))
            return limit.map { min(high, $0) } ?? high
        }
        minX = low(samples.map(\.x))
        minY = low(samples.map(\.y))
        width = max(high(samples.map(\.x), window?.width) - minX, 0)
        height = max(high(samples.map(\.y), window?.height) - minY, 0)
        counts = [UInt16](repeating: 0, count: width * height)
        capsules =
            samples.count == 1
            ? [(samples[0], samples[0])] : Array(zip(samples, samples.dropFirst()).map { (start: $0, end: $1) })
        var rows = [[Range<Int>]](repeating: [], count: height * grid)
        for (start, end) in capsules where width > 0 && height > 0 {
            Capsule(start, end, minX: minX, minY: minY).addRows(to: &rows, columns: width, grid: grid)
        }
        for (y, row) in rows.enumerated() { count(row, y / grid) }
    }

    /// The covered part of a pixel of the canvas, 0 … 1.
    func coverage(x: Int, y: Int) -> Double {
        guard (minX..<minX + width).contains(x), (minY..<minY + height).contains(y) else { return 0 }
        return Double(counts[(y - minY) * width + x - minX]) / Double(grid * grid)
    }

    /// The opacity of the place of the line that is nearest to the middle of a pixel.
    func opacity(x: Int, y: Int) -> Double {
        var nearest = (distance: Double.infinity, opacity: 1.0)
        for (start, end) in capsules {
            let px = Double(x) + 0.5 - Double(start.x)
            let py = Double(y) + 0.5 - Double(start.y)
            let dx = Double(end.x - start.x)
            let dy = Double(end.y - start.y)
            let square = dx * dx + dy * dy
            let t = square > 0 ? min(max((px * dx + py * dy) / square, 0), 1) : 0
            let (aside, along) = (px - dx * t, py - dy * t)
            let distance =
                (aside * aside + along * along).squareRoot()
                - Double(start.radius + (end.radius - start.radius) * Float(t))
            if distance < nearest.distance {
                nearest = (distance, Double(start.opacity + (end.opacity - start.opacity) * Float(t)))
            }
        }
        return nearest.opacity
    }

    /// Counts the samples of one row of samples that lie in any of the ranges.
    private mutating func count(_ ranges: [Range<Int>], _ y: Int) {
        var seen = 0
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where range.upperBound > seen {
            var sample = max(range.lowerBound, seen)
            while sample < range.upperBound {
                let next = min((sample / grid + 1) * grid, range.upperBound)
                counts[y * width + sample / grid] += UInt16(next - sample)
                sample = next
            }
            seen = range.upperBound
        }
    }
}

/// The hull of two discs, from the corner of the reference.
private struct Capsule {
    private let discs: [(x: Double, y: Double, radius: Double)]
    /// The straight edges, where neither disc contains the other.
    private var edges: [(SIMD2<Double>, SIMD2<Double>)] = []

    init(_ start: CentreSample, _ end: CentreSample, minX: Int, minY: Int) {
        discs = [start, end].map { (Double($0.x) - Double(minX), Double($0.y) - Double(minY), Double($0.radius)) }
        let a = SIMD2(discs[0].x, discs[0].y)
        let b = SIMD2(discs[1].x, discs[1].y)
        let way = b - a
        let length = (way.x * way.x + way.y * way.y).squareRoot()
        let shrinks = discs[0].radius - discs[1].radius
        guard length > abs(shrinks) else { return }
        let along = way / length
        let cosine = shrinks / length
        let sine = (1 - cosine * cosine).squareRoot()
        for aside in [-sine, sine] {
            let normal = along * cosine + SIMD2(-along.y, along.x) * aside
            edges.append((a + normal * discs[0].radius, b + normal * discs[1].radius))
        }
    }

    /// Adds what each row of samples has inside: a capsule is convex, so that this is one range.
    func addRows(to rows: inout [[Range<Int>]], columns: Int, grid: Int) {
        let fine = Double(grid)
        let top = discs.map { $0.y - $0.radius }.min() ?? 0
        let bottom = discs.map { $0.y + $0.radius }.max() ?? 0
        let last = min(Double(rows.count - 1), bottom * fine + 1)
        guard top * fine - 1 <= last, last >= 0 else { return }
        for row in Int(max(0, top * fine - 1))...Int(last) {
            let y = (Double(row) + 0.5) / fine
            var left = Double.infinity
            var right = -Double.infinity
            for disc in discs where abs(y - disc.y) <= disc.radius {
                let half = (disc.radius * disc.radius - (y - disc.y) * (y - disc.y)).squareRoot()
                left = min(left, disc.x - half)
                right = max(right, disc.x + half)
            }
            for (a, b) in edges where min(a.y, b.y) <= y && y <= max(a.y, b.y) && a.y != b.y {
                let x = a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y)
                left = min(left, x)
                right = max(right, x)
            }
            guard left <= right else { continue }
            let first = Int(max((left * fine - 0.5).rounded(.up), 0))
            let end = Int(min((right * fine - 0.5).rounded(.down) + 1, Double(columns * grid)))
            if first < end { rows[row].append(first..<end) }
        }
    }
}

/// How far a drawn stroke is from the reference, over the pixels that either of them covers in part.
struct CoverageError: CustomStringConvertible {
    private(set) var pixels = 0
    private(set) var sum = 0.0
    private(set) var largest = 0.0
    private(set) var above = 0

    var mean: Double { sum / Double(max(pixels, 1)) }
    /// The part of the edge pixels that are wrong by more than 0.1.
    var bad: Double { Double(above) / Double(max(pixels, 1)) }

    var description: String {
        "mean \(mean), above 0.1 \(bad * 100) %, largest \(largest) over \(pixels) edge pixels"
    }

    /// Compares; `alpha` is the drawn coverage of a pixel, 0 … 255.
    mutating func add(_ union: SupersampledUnion, translucent: Bool = false, alpha: (Int, Int) -> UInt32) {
        for y in union.minY..<union.minY + union.height {
            for x in union.minX..<union.minX + union.width {
                let drawn = alpha(x, y)
                let covered = union.coverage(x: x, y: y)
                let isEdge = translucent ? drawn > 0 && covered == 0 : drawn > 0 && drawn < 255
                guard isEdge || (covered > 0 && covered < 1) else { continue }
                let wanted = translucent && covered > 0 ? covered * union.opacity(x: x, y: y) : covered
                add(abs(Double(drawn) / 255 - wanted))
            }
        }
    }

    mutating func add(_ error: Double) {
        pixels += 1
        sum += error
        largest = max(largest, error)
        if error > 0.1 { above += 1 }
    }
}
