import Foundation
import Ink
import StrokeWire
import TestSupport
import Testing

@testable import Raster

/// The tests of PNG read what was written back, with `PNGReader` of TestSupport and with zlib.
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

    @Test(arguments: [[], [0], [0xD92020, 0x1F4FD8, 0x1A9850, 0xF08C00, 0x7B2CBF]] as [[UInt32]])
    func `is read back pixel for pixel by another decoder, in few colours and in many`(colours: [UInt32]) throws {
        let canvas = board(colours: colours, seed: 3)
        let white = try PNGReader(PNGEncoder.encode(canvas))
        let clear = try PNGReader(PNGEncoder.encode(canvas, background: .transparent))
        #expect(white.width == 230 && white.height == 170 && clear.width == 230 && clear.height == 170)
        #expect(white.colourType == (colours.count < 2 ? 3 : 2))
        expectSame(white, canvas, isTransparent: false)
        expectSame(clear, canvas, isTransparent: true)
    }

    @Test(
        "is read back pixel for pixel at any size, however long or short its runs are",
        arguments: [(1, 1), (2, 3), (86, 2), (87, 2), (88, 2), (64, 64), (259, 70), (261, 5), (16_384, 2), (3, 16_384)])
    func sizes(width: Int, height: Int) throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        var painter = StrokePainter(canvasWidth: width, canvasHeight: height)
        for strokes in 0..<5 {
            var canvas = Canvas(width: width, height: height)
            for _ in 0..<strokes {
                let points = (0..<3).map { _ in
                    StrokePoint(
                        x: Double.random(in: 0...Double(width), using: &random),
                        y: Double.random(in: 0...Double(height), using: &random))
                }
                let stroke = InkStroke(
                    element: .freehand, style: .smooth, width: [0.5, 3, 40].randomElement(using: &random) ?? 1,
                    points: points)
                let colour = RGB(UInt32.random(in: 0...0xFFFFFF, using: &random))
                painter.draw(PaintedStroke(stroke: stroke, colour: colour), on: &canvas)
            }
            try expectSame(PNGReader(PNGEncoder.encode(canvas)), canvas, isTransparent: false, "seed \(random.seed)")
            let clear = try PNGReader(PNGEncoder.encode(canvas, background: .transparent))
            expectSame(clear, canvas, isTransparent: true, "seed \(random.seed)")
        }
    }

    @Test
    func `is read back pixel for pixel where there is so much on it that it is compressed in several blocks`() throws {
        let canvas = speckled()
        let image = try PNGReader(PNGEncoder.encode(canvas))
        let changes = zip(image.pixels, image.pixels.dropFirst()).count { $0 != $1 }
        #expect(changes > 1 << 16)
        expectSame(image, canvas, isTransparent: false)
    }

    @Test(.enabled(if: Self.python != nil, "no python3")) func `is one that zlib unpacks`() throws {
        for canvas in [board(colours: [], seed: 1), board(colours: [0], seed: 3), speckled()] {
            for background in [PNGBackground.white, .transparent] {
                let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).png")
                defer { try? FileManager.default.removeItem(at: file) }
                let bytes = PNGEncoder.encode(canvas, background: background)
                try Data(bytes).write(to: file)
                let rows = try #require(try Self.python?.run(["-c", Self.unpack, file.path]))
                let size = try [2: 3, 3: 1, 6: 4][PNGReader(bytes).colourType]
                #expect(rows.count == canvas.height * (1 + canvas.width * (size ?? 0)))
            }
        }
    }

    /// Python's own zlib, which checks the sums too: prints the unpacked rows.
    private static let unpack = """
        import struct, sys, zlib
        file = open(sys.argv[1], "rb").read()
        at, packed = 8, b""
        while at < len(file):
            length, = struct.unpack(">I", file[at:at + 4])
            body = file[at + 4:at + 8 + length]
            assert zlib.crc32(body) == struct.unpack(">I", file[at + 8 + length:at + 12 + length])[0]
            packed += body[4:] if body[:4] == b"IDAT" else b""
            at += 12 + length
        sys.stdout.buffer.write(zlib.decompress(packed))
        """

    private static let python = InstalledProgram("python3")

    /// Dots of all colours, few pixels of which are like the one before.
    private func speckled() -> Canvas {
        var random = SeededGenerator(seed: 11)
        var painter = StrokePainter(canvasWidth: 500, canvasHeight: 400)
        var canvas = Canvas(width: 500, height: 400)
        for _ in 0..<25_000 {
            let place = StrokePoint(
                x: Double.random(in: 0...500, using: &random), y: Double.random(in: 0...400, using: &random))
            let dot = InkStroke(element: .freehand, style: .smooth, width: 3, points: [place])
            let colour = RGB(UInt32.random(in: 0...0xFFFFFF, using: &random))
            painter.draw(PaintedStroke(stroke: dot, colour: colour), on: &canvas)
        }
        return canvas
    }

    private func expectSame(_ image: PNGReader, _ canvas: Canvas, isTransparent: Bool, _ comment: Comment? = nil) {
        guard image.width == canvas.width, image.height == canvas.height else {
            Issue.record("\(image.width) × \(image.height) of \(canvas.width) × \(canvas.height)")
            return
        }
        var wrong = 0
        for y in 0..<canvas.height {
            for x in 0..<canvas.width {
                let drawn = canvas.pixel(x: x, y: y)
                let shown = image.pixels[y * canvas.width + x]
                if isTransparent ? !Self.isStraight(shown, drawn) : shown != Self.onWhite(drawn) { wrong += 1 }
            }
        }
        #expect(wrong == 0, comment)
    }

    private static func onWhite(_ pixel: UInt32) -> UInt32 {
        let rest = 255 - (pixel >> 24)
        // Premultiplied colour never exceeds alpha: no channel carries into the next.
        return pixel + rest * 0x0101_0101
    }

    /// Whether a straight pixel is a premultiplied one, as well as 8 bits can say.
    private static func isStraight(_ straight: UInt32, _ pixel: UInt32) -> Bool {
        let alpha = Int(pixel >> 24)
        guard Int(straight >> 24) == alpha else { return false }
        return [0, 8, 16].allSatisfy { (shift: UInt32) in
            let shown = Int(straight >> shift & 255)
            let drawn = Int(pixel >> shift & 255)
            return abs(shown * alpha - drawn * 255) * 2 <= max(alpha, 1)
        }
    }
}

@Suite struct `A Huffman code` {
    /// Bits that Huffman's own tree takes: the sum of all inner nodes.
    private func leastBits(_ frequencies: [Int]) -> Int {
        var weights = frequencies.filter { $0 > 0 }
        var bits = 0
        while weights.count > 1 {
            weights.sort(by: >)
            let sum = weights.removeLast() + weights.removeLast()
            bits += sum
            weights.append(sum)
        }
        return bits
    }

    private func bits(_ code: HuffmanCode, _ frequencies: [Int]) -> Int {
        zip(code.lengths, frequencies).reduce(0) { $0 + Int($1.0) * $1.1 }
    }

    private func expectPrefixCode(_ code: HuffmanCode, _ frequencies: [Int], _ comment: Comment) {
        let used = frequencies.indices.filter { frequencies[$0] > 0 }
        #expect(code.lengths.indices.filter { code.lengths[$0] > 0 } == used, comment)
        #expect(code.lengths.allSatisfy { $0 <= HuffmanCode.longest }, comment)
        let room = used.reduce(0) { $0 + 1 << (HuffmanCode.longest - Int(code.lengths[$1])) }
        #expect(used.count == 1 || room == 1 << HuffmanCode.longest, comment)
        for one in used {
            for other in used where other != one && code.lengths[one] <= code.lengths[other] {
                let mask = UInt16(1) << code.lengths[one] - 1
                #expect(code.codes[one] != code.codes[other] & mask, comment)
            }
        }
    }

    @Test func `is complete, and the shortest there is where no code is too long`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        for _ in 0..<100 {
            let frequencies =
                (0..<Int.random(in: 2...60, using: &random)).map { _ in
                    Int.random(in: 0...20, using: &random)
                } + [1, 1]
            let code = HuffmanCode(frequencies: frequencies)
            expectPrefixCode(code, frequencies, "seed \(random.seed)")
            if code.lengths.allSatisfy({ $0 < HuffmanCode.longest }) {
                #expect(bits(code, frequencies) == leastBits(frequencies), "seed \(random.seed)")
            }
        }
    }

    @Test(arguments: [13, 20, 40])
    func `stays within its bound where Huffman's tree does not, and close to it`(symbols: Int) {
        var fibonacci = [1, 1]
        while fibonacci.count < symbols {
            fibonacci.append(fibonacci[fibonacci.count - 1] + fibonacci[fibonacci.count - 2])
        }
        let code = HuffmanCode(frequencies: fibonacci)
        expectPrefixCode(code, fibonacci, "\(symbols) symbols")
        #expect(bits(code, fibonacci) <= leastBits(fibonacci) * 103 / 100)
    }

    @Test func `has one bit for the only symbol`() {
        let code = HuffmanCode(frequencies: [0, 7, 0])
        #expect(code.lengths == [0, 1, 0])
    }
}

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
