import Ink

/// The reference for coverage: 16 × 16 samples a pixel, each inside or outside the union of exact tapered capsules.
struct SupersampledUnion {
    static let grid = 16

    let minX: Int
    let minY: Int
    let width: Int
    let height: Int
    private var inside: [Bool]

    init(_ samples: [CentreSample]) {
        let reach = (samples.map(\.radius).max() ?? 0) + 2
        minX = Int(((samples.map(\.x).min() ?? 0) - reach).rounded(.down))
        minY = Int(((samples.map(\.y).min() ?? 0) - reach).rounded(.down))
        width = Int(((samples.map(\.x).max() ?? 0) + reach).rounded(.up)) - minX
        height = Int(((samples.map(\.y).max() ?? 0) + reach).rounded(.up)) - minY
        inside = [Bool](repeating: false, count: width * height * Self.grid * Self.grid)
        if samples.count == 1 { add(samples[0], samples[0]) }
        for (start, end) in zip(samples, samples.dropFirst()) { add(start, end) }
    }

    /// The covered part of a pixel of the canvas, 0 … 1.
    func coverage(x: Int, y: Int) -> Double {
        let grid = Self.grid
        var count = 0
        for row in 0..<grid {
            let first = (((y - minY) * grid + row) * width + (x - minX)) * grid
            for sample in first..<first + grid where inside[sample] { count += 1 }
        }
        return Double(count) / Double(grid * grid)
    }

    private mutating func add(_ a: CentreSample, _ b: CentreSample) {
        let grid = Self.grid
        let fine = Double(grid)
        let ax = Double(a.x)
        let ay = Double(a.y)
        let ar = Double(a.radius)
        let dx = Double(b.x) - ax
        let dy = Double(b.y) - ay
        let dr = Double(b.radius) - ar
        let reach = max(ar, ar + dr)
        let left = Int((min(ax, ax + dx) - reach - Double(minX)) * fine)
        let right = Int((max(ax, ax + dx) + reach - Double(minX)) * fine) + 1
        let top = Int((min(ay, ay + dy) - reach - Double(minY)) * fine)
        let bottom = Int((max(ay, ay + dy) + reach - Double(minY)) * fine) + 1
        // |p − a − t·d| ≤ r + t·dr is a quadratic in t; its least value lies where the derivative is 0 or at an end.
        let square = dx * dx + dy * dy - dr * dr
        for row in top...bottom {
            let py = (Double(row) + 0.5) / fine + Double(minY) - ay
            for column in left...right {
                let px = (Double(column) + 0.5) / fine + Double(minX) - ax
                let linear = px * dx + py * dy + ar * dr
                let whole = px * px + py * py - ar * ar
                let t = square > 0 ? min(max(linear / square, 0), 1) : (dr > 0 ? 1 : 0)
                if (square * t - 2 * linear) * t + whole <= 0 { inside[row * width * grid + column] = true }
            }
        }
    }
}

/// How far a drawn stroke is from the reference, over the pixels that either of them covers in part.
struct CoverageError {
    private(set) var pixels = 0
    private(set) var sum = 0.0
    private(set) var largest = 0.0
    private(set) var above = 0

    var mean: Double { sum / Double(max(pixels, 1)) }
    /// The part of the edge pixels that are wrong by more than 0.1.
    var bad: Double { Double(above) / Double(max(pixels, 1)) }

    /// Compares; `alpha` is the drawn coverage of a pixel, 0 … 255.
    mutating func add(_ union: SupersampledUnion, alpha: (Int, Int) -> UInt32) {
        for y in union.minY..<union.minY + union.height {
            for x in union.minX..<union.minX + union.width {
                let drawn = alpha(x, y)
                let wanted = union.coverage(x: x, y: y)
                guard (drawn > 0 && drawn < 255) || (wanted > 0 && wanted < 1) else { continue }
                let error = abs(Double(drawn) / 255 - wanted)
                pixels += 1
                sum += error
                largest = max(largest, error)
                if error > 0.1 { above += 1 }
            }
        }
    }
}
