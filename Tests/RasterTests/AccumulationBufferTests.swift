import Ink
import StrokeWire
import TestSupport
import Testing

@testable import Raster

@Suite struct `Signed areas` {
    /// A closed outline around a place, with bent edges that run the way outlines of strokes do.
    private struct Blob {
        var edges: [Edge] = []
        /// Its exact area.
        var area: Float = 0

        init(around centre: SIMD2<Float>, radius: Float, random: inout SeededGenerator) {
            let count = random.int(3...60)
            let places = (0..<count).map { index in
                // Counter-clockwise on a screen whose y runs down.
                let angle = Double(index) / Double(count) * 2 * Double.pi
                let spoke = SIMD2<Float>(Float(Self.cosine(angle)), -Float(Self.cosine(angle - Double.pi / 2)))
                return centre + spoke * (radius * Float.random(in: 0.6...1, using: &random))
            }
            for (start, end) in zip(places, places.dropFirst() + places.prefix(1)) {
                let chord = end - start
                let sag = SIMD2(chord.y, -chord.x) * Float.random(in: -0.05...0.05, using: &random)
                edges.append(Edge(start: start, end: end, sag: sag, sign: 1))
                let (from, to) = (start - centre, end - centre)
                area -= (from.x * to.y - from.y * to.x) / 2 + (chord.x * sag.y - chord.y * sag.x) * -2 / 3
            }
        }

        /// Good enough to place points: Bhāskara's formula, folded into all quarters.
        private static func cosine(_ angle: Double) -> Double {
            let turn = (angle / (2 * Double.pi) + 0.5).rounded(.down)
            let angle = abs(angle - turn * 2 * Double.pi)
            func quarter(_ angle: Double) -> Double {
                (Double.pi * Double.pi - 4 * angle * angle) / (Double.pi * Double.pi + angle * angle)
            }
            return angle <= Double.pi / 2 ? quarter(angle) : -quarter(Double.pi - angle)
        }

        func moved(by way: SIMD2<Float>) -> [Edge] {
            edges.map { Edge(start: $0.start + way, end: $0.end + way, sag: $0.sag, sign: $0.sign) }
        }
    }

    /// The coverage of a box, row by row.
    private func coverage(
        _ edges: [Edge], width: Int, height: Int, isUnclipped: Bool, cells: inout AccumulationBuffer,
        mask: inout CoverageMask
    ) -> [[UInt8]] {
        mask.withRows(width: width, height: height) { rows in
            cells.withRows(width: width, height: height, isUnclipped: isUnclipped) { area in
                var area = area
                for edge in edges { area.add(edge) }
                area.flush()
                area.resolve(0..<height, into: rows)
            }
            defer { rows.wipe() }
            return (0..<height).map { y in (0..<width).map { rows.row(y)[$0] } }
        }
    }

    @Test(arguments: [12, 40, 300, 900]) func `of bent outlines are exact but for rounding`(size: Int) {
        var random = SeededGenerator(seed: TestSeed.choose())
        var cells = AccumulationBuffer(kernels: .fastest)
        var mask = CoverageMask()
        for round in 0..<20 {
            let half = Float(size) / 2
            let offset = SIMD2(Float.random(in: 0..<1, using: &random), Float.random(in: 0..<1, using: &random))
            let blob = Blob(around: offset + half, radius: half * 0.8, random: &random)
            let drawn = coverage(
                blob.edges, width: size, height: size, isUnclipped: round.isMultiple(of: 2), cells: &cells, mask: &mask)
            let sum = Float(drawn.joined().reduce(0) { $0 + Int($1) }) / 255
            #expect(abs(sum - blob.area) <= blob.area * 0.0005 + 0.1, "seed \(random.seed), round \(round)")
        }
    }

    @Test(arguments: [9, 40, 200]) func `are the same in a box that cuts the outline`(size: Int) {
        var random = SeededGenerator(seed: TestSeed.choose())
        var cells = AccumulationBuffer(kernels: .fastest)
        var mask = CoverageMask()
        for round in 0..<20 {
            let whole = size * 2
            let half = Float(whole) / 2
            let blob = Blob(around: SIMD2(repeating: half), radius: half * 0.9, random: &random)
            let all = coverage(blob.edges, width: whole, height: whole, isUnclipped: true, cells: &cells, mask: &mask)
            let (left, top) = (random.int(0...size), random.int(0...size))
            let part = coverage(
                blob.moved(by: -SIMD2(Float(left), Float(top))), width: size, height: size, isUnclipped: false,
                cells: &cells, mask: &mask)
            for y in 0..<size {
                for x in 0..<size {
                    let difference = abs(Int(part[y][x]) - Int(all[top + y][left + x]))
                    // Of edges that are cut chords are taken, off by a 64th of a pixel; two may pass through one pixel.
                    #expect(difference <= 8, "seed \(random.seed), round \(round), \(x), \(y)")
                }
            }
        }
    }

    @Test func `leave nothing behind`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        var cells = AccumulationBuffer(kernels: .fastest)
        var mask = CoverageMask()
        for round in 0..<60 {
            let (width, height) = (random.int(1...600), random.int(1...200))
            let centre = SIMD2(Float(random.int(-100...700)), Float(random.int(-50...250)))
            let blob = Blob(around: centre, radius: Float(random.int(1...300)), random: &random)
            _ = coverage(blob.edges, width: width, height: height, isUnclipped: false, cells: &cells, mask: &mask)
            let empty = coverage([], width: 600, height: 200, isUnclipped: true, cells: &cells, mask: &mask)
            #expect(empty.joined().allSatisfy { $0 == 0 }, "seed \(random.seed), round \(round)")
        }
    }
}

@Suite struct `The blocks of a row` {
    @Test func `have a bit each, whatever the width`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        let widths = [1, 3, 4, 248, 249, 256, 2048, Canvas.largestSide] + (0..<100).map { _ in random.int(1...16_384) }
        for width in widths {
            let blocks = DirtyBlocks(width: width)
            let reach = width + DirtyBlocks.slack
            #expect((reach - 1) >> blocks.shift < 64, "width \(width)")
            #expect(blocks.stride(width: width) >= reach)
            let lower = random.int(0..<reach)
            let upper = random.int(lower + 1...reach)
            var expected: UInt64 = 0
            for column in lower..<upper { expected |= 1 << UInt64(column / blocks.columns) }
            #expect(blocks.bits(lower..<upper) == expected, "seed \(random.seed), width \(width), \(lower)..<\(upper)")
        }
    }
}

@Suite struct `The kernels` {
    @Test(arguments: InkStyle.allCases)
    func `of every processor and of this one draw the same pixels`(style: InkStyle) {
        var random = SeededGenerator(seed: TestSeed.choose())
        for round in 0..<RandomStroke.count(usually: 30) {
            let trial = RandomStroke(using: &random)
            let stroke = InkStroke(element: trial.element, style: style, width: trial.width, points: trial.points)
            let canvases = Kernels.all.map { kernels in
                Canvas(
                    width: trial.canvasWidth, height: trial.canvasHeight, scale: trial.scale, kernels: kernels,
                    drawing: stroke, 0x12_89EF
                ).fingerprint
            }
            #expect(Set(canvases).count == 1, "seed \(random.seed), round \(round), \(trial)")
        }
    }
}
