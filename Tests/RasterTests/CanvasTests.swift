import Raster
import TestSupport
import Testing

@Suite("The size of a canvas")
struct CanvasSizeTests {
    @Test("is exactly as wide as it is asked to be, and shows all of the board")
    func exact() {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        for round in 0..<3000 {
            let board = SIMD2(Double.random(in: 1...4000, using: &random), Double.random(in: 1...4000, using: &random))
            let width = random.int(1...4096)
            let size = CanvasSize(boardWidth: board.x, boardHeight: board.y, width: width)
            guard board.y * Double(width) / board.x <= 16_384 else { continue }
            #expect(size.width == width, "seed \(seed), round \(round)")
            #expect(abs(size.scale * board.x - Double(width)) < 1e-6, "seed \(seed), round \(round)")
            let missing = board.y * size.scale - Double(size.height)
            #expect(missing < 1e-6 && missing > -1, "seed \(seed), round \(round)")
        }
        for width in 1...4096 {
            #expect(CanvasSize(boardWidth: 1024, boardHeight: 768, width: width).width == width)
            #expect(CanvasSize(boardWidth: 1024, boardHeight: 768, width: width).height == (width * 3 + 3) / 4)
        }
    }

    @Test("of boards that are too long, or have too many pixels, is smaller, of the same aspect and without a cut")
    func fitting() {
        let tall = CanvasSize(boardWidth: 100, boardHeight: 2000, width: 1200)
        #expect(tall == CanvasSize(boardWidth: 100, boardHeight: 2000, scale: 8.192))
        #expect(tall.width == 820 && tall.height == 16_384)
        let wide = CanvasSize(boardWidth: 10_000, boardHeight: 500, scale: 2)
        #expect(wide.width == 16_384 && wide.height == 820 && wide.scale == 1.6384)
        let large = CanvasSize(boardWidth: 3000, boardHeight: 2000, scale: 1, mostPixels: 1_500_000)
        #expect(large.width == 1500 && large.height == 1000 && large.scale == 0.5)
        let thin = CanvasSize(boardWidth: 1e9, boardHeight: 1e-3, scale: 1)
        #expect(thin.width == 16_384 && thin.height == 1)
        #expect(
            CanvasSize(boardWidth: 640, boardHeight: 480, scale: 1)
                == CanvasSize(boardWidth: 640, boardHeight: 480, width: 640))
    }
}

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
