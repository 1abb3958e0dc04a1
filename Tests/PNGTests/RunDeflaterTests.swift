import TestSupport
import Testing

@testable import PNG
@testable import Raster

@Suite struct `Compressed rows` {
    /// Rows that repeat parts of earlier ones, at other places and with runs that are longer, shorter or cut.
    private func rows(
        width: Int, count: Int, colours: [UInt32], using random: inout SeededGenerator
    ) -> [[PixelRun]] {
        var rows: [[PixelRun]] = []
        for _ in 0..<count {
            var row: [PixelRun] = []
            var left = width
            func add(_ pixel: UInt32, _ count: Int) {
                guard left > 0 else { return }
                row.append(PixelRun(pixel: pixel, count: UInt32(min(max(count, 1), left))))
                left -= min(max(count, 1), left)
            }
            while left > 0 {
                if let earlier = rows.suffix(4).randomElement(using: &random), Bool.random(using: &random) {
                    for run in earlier.dropFirst(Int.random(in: 0..<earlier.count, using: &random)).prefix(12) {
                        add(run.pixel, Int(run.count) + (Int.random(in: 0..<4, using: &random) == 0 ? 1 : 0))
                    }
                } else {
                    // Around the longest match, 258 bytes.
                    let length = [1, 1, 1, 2, Int.random(in: 60...90, using: &random)].randomElement(using: &random)
                    add(colours.randomElement(using: &random) ?? 0, length ?? 1)
                }
            }
            rows.append(row)
        }
        return rows
    }

    @Test(
        "are read back pixel for pixel, whatever repeats and however far back",
        arguments: [1, 3, 4], [(1, 30_000), (2, 9_000), (86, 700), (300, 300), (2_000, 150), (16_384, 12)])
    func roundTrip(pixelBytes: Int, size: (width: Int, height: Int)) throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        let mask = [1: 0xFF, 3: 0xFF_FFFF, 4: 0xFFFF_FFFF][pixelBytes] ?? 0
        let palette = (0..<256).map { UInt32($0) * 0x01_0101 | 0xFF00_0000 }
        let format = [1: PNGFile.PixelFormat.palette, 3: .rgb, 4: .rgba][pixelBytes] ?? .rgb
        for shades in [2, 40, 2_000] {
            let colours = (0..<shades).map { _ in UInt32.random(in: 0...(.max), using: &random) & UInt32(mask) }
            let rows = rows(width: size.width, count: size.height, colours: colours, using: &random)
            var file = PNGFile(width: size.width, height: size.height, format: format)
            if format == .palette { file.append(palette: palette) }
            var deflater = RunDeflater(file, pixelBytes: pixelBytes)
            for row in rows { row.withUnsafeBufferPointer { deflater.add($0) { $0 } } }
            let image = try PNGReader(deflater.finish())
            let wanted = rows.joined().flatMap { run in
                let pixel = [1: palette[Int(run.pixel & 255)], 3: run.pixel | 0xFF00_0000][pixelBytes] ?? run.pixel
                return [UInt32](repeating: pixel, count: Int(run.count))
            }
            #expect(image.pixels == wanted, "\(shades) shades, seed \(random.seed)")
        }
    }

    @Test func `take a few bits where a picture repeats itself a few rows further down`() throws {
        var random = SeededGenerator(seed: 5)
        let row = (0..<500).map { _ in
            PixelRun(pixel: UInt32.random(in: 0...0xFF_FFFF, using: &random), count: 1)
        }
        func bytes(rows: Int) -> Int {
            var deflater = RunDeflater(PNGFile(width: 500, height: rows, format: .rgb), pixelBytes: 3)
            for _ in 0..<rows { row.withUnsafeBufferPointer { deflater.add($0) { $0 } } }
            return deflater.finish().count
        }
        let once = bytes(rows: 1)
        #expect(once > 1_500)
        #expect(bytes(rows: 11) - once < 500)
    }
}
