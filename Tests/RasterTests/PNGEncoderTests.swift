import Ink
import Raster
import StrokeWire
import Testing

@Suite("PNG")
struct PNGEncoderTests {
    private func board(colours: [UInt32], seed: UInt64) -> Canvas {
        var random = SeededGenerator(seed: seed)
        var painter = StrokePainter(canvasWidth: 230, canvasHeight: 170)
        var canvas = Canvas(width: 230, height: 170)
        for colour in colours {
            let points = (0..<8).map { _ in
                StrokePoint(x: Double.random(in: 0...230, using: &random), y: Double.random(in: 0...80, using: &random))
            }
            let stroke = InkStroke(element: .freehand, style: .smooth, width: 5, points: points)
            painter.draw(PaintedStroke(stroke: stroke, colour: RGB(colour)), on: &canvas)
        }
        return canvas
    }

    @Test(
        "is read back pixel for pixel by another decoder, in few colours and in many",
        arguments: [[], [0], [0xD92020, 0x1F4FD8, 0x1A9850, 0xF08C00, 0x7B2CBF]] as [[UInt32]])
    func roundTrip(colours: [UInt32]) throws {
        let canvas = board(colours: colours, seed: 3)
        let white = try PNGReader(PNGEncoder.encode(canvas))
        let clear = try PNGReader(PNGEncoder.encode(canvas, background: .transparent))
        #expect(white.width == 230 && white.height == 170 && clear.width == 230 && clear.height == 170)
        #expect(white.colourType == (colours.count < 2 ? 3 : 2))
        for y in 0..<170 {
            for x in 0..<230 {
                let pixel = canvas.pixel(x: x, y: y)
                let alpha = Int(pixel >> 24)
                for shift in [0, 8, 16] as [UInt32] {
                    let channel = Int(pixel >> shift & 255)
                    #expect(Int(white.pixels[y * 230 + x] >> shift & 255) == channel + 255 - alpha)
                    let straight = Int(clear.pixels[y * 230 + x] >> shift & 255)
                    #expect(abs(straight * alpha - channel * 255) * 2 <= max(alpha, 1))
                }
                #expect(white.pixels[y * 230 + x] >> 24 == 255)
                #expect(clear.pixels[y * 230 + x] >> 24 == pixel >> 24)
            }
        }
    }

    @Test("of another width keeps the aspect and the amount of ink", arguments: [1, 23, 100, 229, 460])
    func scaled(width: Int) throws {
        let canvas = board(colours: [0], seed: 5)
        let image = try PNGReader(PNGEncoder.encode(canvas, width: width, background: .transparent))
        #expect(image.width == width)
        #expect(image.height == max(1, (width * 170 + 115) / 230))
        let ink = image.pixels.reduce(0.0) { $0 + Double($1 >> 24) } / Double(image.pixels.count)
        var whole = 0.0
        for y in 0..<170 { for x in 0..<230 { whole += Double(canvas.pixel(x: x, y: y) >> 24) } }
        #expect(abs(ink - whole / (230 * 170)) < 0.51)
    }

    @Test("of a width out of range is brought into it")
    func outOfRange() throws {
        let canvas = Canvas(width: 20, height: 10)
        #expect(try PNGReader(PNGEncoder.encode(canvas, width: -5)).width == 1)
        #expect(try PNGReader(PNGEncoder.encode(canvas, width: 0)).width == 1)
    }
}
