internal import CLanes
internal import Ink

/// Builds up the coverage of a stroke from stamps, each over those before it.
///
/// A stamp adds little, often less than a 255th: the uncovered part of a pixel, a product over all stamps, is kept in
/// single precision and rounded once at the end. Blocks of pixels that are full are skipped, so that a pixel costs about
/// as many stamps as it takes to fill it, however many follow.
struct StampRasterizer: Sendable {
    /// The binary logarithm of the width of a block: pixels side by side that are skipped once all are full.
    private static let blockShift = 4
    /// A pixel with less than this uncovered is full.
    private static let least: Float = 0.499 / 255

    private var uncovered: [Float] = []
    private var isFull: [Bool] = []
    private var box = PixelBox(minX: 0, minY: 0, maxX: 0, maxY: 0)
    private var blocks = 0
    private var openBlocks = 0
    /// The number of pixels visited so far, each as often as it was.
    private(set) var visited = 0
    private var tip = InkTip.round
    private var step: Float = 1

    /// Begins a stroke in a box of pixels of the canvas, of stamps that lie `step` pixels apart.
    mutating func begin(_ box: PixelBox, tip: InkTip, step: Float) {
        self.box = box
        self.tip = tip
        self.step = step
        visited = 0
        blocks = (box.width + (1 << Self.blockShift) - 1) >> Self.blockShift
        openBlocks = blocks * box.height
        isFull.removeAll(keepingCapacity: true)
        isFull.append(contentsOf: repeatElement(false, count: openBlocks))
        uncovered.removeAll(keepingCapacity: true)
        uncovered.append(contentsOf: repeatElement(1, count: openBlocks << Self.blockShift))
        // Padding of the last block of a row counts as full.
        let stride = blocks << Self.blockShift
        for y in 0..<box.height {
            for x in box.width..<stride { uncovered[y * stride + x] = 0x1p-40 }
        }
    }

    /// Whether every pixel is full.
    var isComplete: Bool { openBlocks == 0 }

    /// Adds a stamp, in pixels of the canvas.
    mutating func add(_ stamp: Stamp) {
        let centreX = stamp.x - Float(box.minX)
        let centreY = stamp.y - Float(box.minY)
        // A brush smaller than a pixel would fall between the centres: it gets the size of a pixel, and is as faint as small.
        let radius = stamp.radius.raised(to: 1)
        let small = stamp.radius / radius
        let brush = Brush(
            texels: 32 / radius, alpha: stamp.alpha * small * small, count: stamp.count, edge: stamp.edge,
            rectangle: tip == .round ? nil : StampRectangle(tip, radius: radius, step: step))
        let columns = CoverageRows.centres(from: centreX - radius, to: centreX + radius, below: box.width)
        let rows = CoverageRows.centres(from: centreY - radius, to: centreY + radius, below: box.height)
        guard !columns.isEmpty else { return }
        let blocksOfStamp = columns.lowerBound >> Self.blockShift...(columns.upperBound - 1) >> Self.blockShift
        // A stamp costs time even where all is full.
        visited &+= rows.count &* blocksOfStamp.count
        uncovered.withUnsafeMutableBufferPointer { uncovered in
            guard let uncovered = uncovered.baseAddress else { return }
            for y in rows {
                let dy = Float(y) + 0.5 - centreY
                for block in blocksOfStamp where !isFull[y &* blocks &+ block] {
                    let first = block << Self.blockShift
                    let end = first &+ 1 << Self.blockShift
                    let pixels = uncovered + (y &* blocks) << Self.blockShift
                    brush.lower(
                        pixels, from: max(first, columns.lowerBound & ~3), to: min(end, columns.upperBound),
                        dx: 0.5 - centreX, dy: dy)
                    visited &+= 1 << Self.blockShift
                    if (first..<end).allSatisfy({ pixels[$0] < Self.least }) {
                        isFull[y &* blocks &+ block] = true
                        openBlocks &-= 1
                    }
                }
            }
        }
    }

    /// Ends the stroke: writes the coverage to a clear mask of the box.
    func finish(_ rows: CoverageRows) {
        let most = tip.opacity * 255
        for y in 0..<rows.height {
            rows.dirty[y] = rows.blocks.bits(0..<rows.width)
            let row = rows.row(y)
            for x in 0..<rows.width {
                let left = uncovered[(y &* blocks) << Self.blockShift &+ x]
                row[x] = UInt8(truncatingIfNeeded: ((1 - left) * most).roundedToInt)
            }
        }
    }
}

private struct Brush {
    /// Texels a pixel: the radius of the brush is 32 texels.
    let texels: Float
    let alpha: Float
    let count: Int
    let edge: SIMD2<Float>
    /// Of tips that are not round.
    let rectangle: StampRectangle?

    /// Multiplies the uncovered parts of pixels of a row, four at a time, by the part that the brush leaves.
    @inline(__always)
    func lower(_ pixels: UnsafeMutablePointer<Float>, from first: Int, to end: Int, dx: Float, dy: Float) {
        if let rectangle { return lower(pixels, from: first, to: end, dx: dx, dy: dy, rectangle) }
        let dySquared = dy * dy
        var x = first
        while x < end {
            let offset = SIMD4<Float>(0, 1, 2, 3) + (Float(x) + dx)
            let texel = lanes_root(offset * offset + dySquared) * texels
            let strength = ((30 - texel) * (1 / 24)).raised(to: 0).lowered(to: 1)
            let place = UnsafeMutableRawPointer(pixels + x)
            let old = place.loadUnaligned(as: SIMD4<Float>.self)
            // Subnormal numbers would be slow.
            place.storeBytes(of: (old * power(1 - strength * alpha)).raised(to: 0x1p-40), as: SIMD4<Float>.self)
            x &+= 4
        }
    }

    private func lower(
        _ pixels: UnsafeMutablePointer<Float>, from first: Int, to end: Int, dx: Float, dy: Float,
        _ rectangle: StampRectangle
    ) {
        let perRim = 1 / rectangle.rim
        var x = first
        while x < end {
            let offset = SIMD4<Float>(0, 1, 2, 3) + (Float(x) + dx)
            let along = offset * edge.x + dy * edge.y
            let across = offset * edge.y - dy * edge.x
            func part(_ half: Float, _ distance: SIMD4<Float>) -> SIMD4<Float> {
                let amount = distance.raised(to: -distance)
                return ((half - amount) * perRim + 0.5).raised(to: 0).lowered(to: 1)
            }
            let strength = part(rectangle.halfLength, along) * part(rectangle.halfThickness, across)
            let place = UnsafeMutableRawPointer(pixels + x)
            let old = place.loadUnaligned(as: SIMD4<Float>.self)
            place.storeBytes(of: (old * power(1 - strength * alpha)).raised(to: 0x1p-40), as: SIMD4<Float>.self)
            x &+= 4
        }
    }

    /// The part that is left after ``count`` stamps.
    @inline(__always)
    private func power(_ rest: SIMD4<Float>) -> SIMD4<Float> {
        guard count > 1 else { return rest }
        var power = rest
        var product = SIMD4<Float>(repeating: 1)
        var left = count
        while true {
            if left & 1 != 0 { product *= power }
            left >>= 1
            if left == 0 { return product }
            power *= power
        }
    }
}
