import TestSupport
import Testing

@testable import Raster

@Suite("The blocks of a row")
struct RowBlocksTests {
    @Test("have a bit each, whatever the width")
    func bits() {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        let widths = [1, 3, 4, 248, 249, 256, 2048, Canvas.largestSide] + (0..<100).map { _ in random.int(1...16_384) }
        for width in widths {
            let blocks = RowBlocks(width: width)
            let reach = width + RowBlocks.slack
            #expect((reach - 1) >> blocks.shift < 64, "width \(width)")
            #expect(blocks.stride(width: width) >= reach)
            let lower = random.int(0..<reach)
            let upper = random.int(lower + 1...reach)
            var expected: UInt64 = 0
            for column in lower..<upper { expected |= 1 << UInt64(column / blocks.columns) }
            #expect(blocks.bits(lower..<upper) == expected, "seed \(seed), width \(width), \(lower)..<\(upper)")
        }
    }
}
