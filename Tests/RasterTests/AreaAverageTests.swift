import Raster
import TestSupport
import Testing

@Suite("A scaled canvas")
struct AreaAverageTests {
    @Test(
        "has the mean of the area that each pixel stands for",
        arguments: [(1, 1), (7, 3), (64, 65), (99, 70), (100, 70), (101, 70), (150, 100), (333, 5)])
    func mean(width: Int, height: Int) {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        var board = PaintedBoard()
        for id in 0..<12 as Range<UInt64> {
            board.strokes[id] = PaintedBoard.randomStroke(&random)
            board.visible.append(id)
        }
        let canvas = board.drawn(width: 100, height: 70)
        let scaled = canvas.scaled(width: width, height: height)
        #expect(scaled.width == width && scaled.height == height)
        var farthest = 0.0
        for y in 0..<height {
            for x in 0..<width {
                let left = Double(x) * 100 / Double(width)
                let top = Double(y) * 70 / Double(height)
                let mean = Self.mean(of: canvas, left, top, 100 / Double(width), 70 / Double(height))
                let pixel = scaled.pixel(x: x, y: y)
                for channel in 0..<4 {
                    farthest = max(farthest, abs(mean[channel] - Double(pixel >> UInt32(8 * channel) & 255)))
                }
            }
        }
        #expect(farthest < 0.500_001, "seed \(seed)")
    }

    private static func mean(
        of canvas: Canvas, _ left: Double, _ top: Double, _ width: Double, _ height: Double
    ) -> SIMD4<Double> {
        var sum = SIMD4<Double>.zero
        for y in Int(top)..<min(canvas.height, Int(top + height) + 1) {
            let tall = min(Double(y + 1), top + height) - max(Double(y), top)
            for x in Int(left)..<min(canvas.width, Int(left + width) + 1) {
                let wide = min(Double(x + 1), left + width) - max(Double(x), left)
                guard wide > 0, tall > 0 else { continue }
                let pixel = canvas.pixel(x: x, y: y)
                let channels = SIMD4(pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255, pixel >> 24)
                sum += SIMD4<Double>(channels) * (wide * tall)
            }
        }
        return sum / (width * height)
    }
}
