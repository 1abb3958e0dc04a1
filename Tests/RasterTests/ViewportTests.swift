import Ink
import StrokeWire
import TestSupport
import Testing

@testable import Raster

@Suite struct `A part of a board at any scale` {
    private struct Stopped: Error {}

    @Test(arguments: 0..<12)
    func `a viewport has the pixels of the whole at that scale, and memory for no other tile`(_ number: Int) {
        var random = SeededGenerator(seed: TestSeed.choose() &+ UInt64(number))
        var board = PaintedBoard()
        let scale = [0.3, 1, 2.7][number % 3]
        let (width, height) = (Int(400 * scale), Int(300 * scale))
        let viewport = PixelRectangle(
            x: random.int(-50..<width), y: random.int(-50..<height), width: random.int(1..<300),
            height: random.int(1..<300))
        var whole = BoardPainter(width: width, height: height, scale: scale)
        var part = BoardPainter(width: width, height: height, scale: scale, viewport: viewport)
        let seen = PixelBox(viewport, on: Canvas(width: width, height: height))
        for id in 1...40 as ClosedRange<UInt64> {
            board.add(id, PaintedBoard.randomStroke(&random))
            // Undone ones below others are painted over again.
            if random.chance(1, in: 4) { board.visible.remove(at: random.int(0..<board.visible.count)) }
            let expected = whole.canvas(of: board)
            let canvas = part.canvas(of: board)
            for y in stride(from: seen.minY, to: seen.maxY, by: 1) {
                for x in seen.minX..<max(seen.maxX, seen.minX)
                where canvas.pixel(x: x, y: y) != expected.pixel(x: x, y: y) {
                    Issue.record("\(x), \(y) of \(viewport) at \(scale)")
                    return
                }
            }
            var tiles = TileSet(of: canvas)
            tiles.insert(seen)
            #expect(canvas.tiles.indices.allSatisfy { canvas.tiles[$0].isAbsent || tiles.contains($0) })
        }
    }

    @Test func `a repainting that is ended again and again goes on where it was, and gives the same pixels`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        var board = PaintedBoard.random(60, using: &random)
        var painter = BoardPainter(width: 400, height: 300, versionBytes: 0)
        _ = painter.canvas(of: board)
        for place in [3, 20, 40] {
            board.visible.remove(at: place)
            var calls = 0
            var canvas: Canvas?
            while canvas == nil, calls < 200 {
                calls += 1
                var left = 2
                canvas = try? painter.canvas(of: board.layers) { (place) throws(Stopped) in
                    left -= 1
                    guard left > 0 else { throw Stopped() }
                    return board.content(place)
                }
            }
            #expect(canvas?.fingerprint == board.drawn(width: 400, height: 300).fingerprint)
            #expect(calls < 100)
        }
    }

    @Test func `the differences of two canvases are where their pixels differ, and pixels come with straight alpha`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        var painter = StrokePainter(canvasWidth: 400, canvasHeight: 300)
        var shown: [UInt32] = Array(repeating: 0, count: 400 * 300)
        var (canvas, before) = (Canvas(width: 400, height: 300), nil as Canvas?)
        var pixels: [UInt32] = []
        for _ in 0..<20 {
            painter.draw(PaintedBoard.randomStroke(&random), on: &canvas)
            for box in canvas.differences(from: before) {
                canvas.copyStraight(box, to: &pixels)
                for (offset, pixel) in pixels.enumerated() {
                    shown[(box.y + offset / box.width) * 400 + box.x + offset % box.width] = pixel
                }
            }
            before = canvas
            #expect((0..<400 * 300).allSatisfy { straightAlpha(canvas.pixel(x: $0 % 400, y: $0 / 400)) == shown[$0] })
        }
        #expect(canvas.differences(from: before).isEmpty)
        #expect(straightAlpha(0x8040_2010) == 0x8080_4020)
    }
}
