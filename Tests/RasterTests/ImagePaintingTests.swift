import PathGeometry
import TestSupport
import Testing

@testable import Raster

@Suite struct `Drawing an image` {
    private static let (width, height) = (180, 140)

    @Test func `without a change of size copies its pixels`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        let image = RandomImage.opaque(width: 70, height: 50, using: &random)
        let canvas = Self.drawn(PaintedImage(pixels: image, map: AffineMap(1, 0, 0, 1, 20, 30)))
        for y in 0..<Self.height {
            for x in 0..<Self.width {
                let isInside = (20..<90).contains(x) && (30..<80).contains(y)
                #expect(canvas.pixel(x: x, y: y) == (isInside ? image.pixel(x - 20, y - 30) : 0), "seed \(random.seed)")
            }
        }
        let mirrored = Self.drawn(PaintedImage(pixels: image, map: AffineMap(-1, 0, 0, 1, 90, 30)))
        for y in 30..<80 {
            for x in 20..<90 {
                #expect(mirrored.pixel(x: x, y: y) == image.pixel(89 - x, y - 30), "seed \(random.seed)")
            }
        }
    }

    @Test(arguments: [2, 4, 8]) func `of half the size, or less, has the means of the pixels`(factor: Int) throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        let image = RandomImage.opaque(width: 60 * factor, height: 40 * factor, using: &random)
        let scale = 1 / Double(factor)
        let canvas = Self.drawn(PaintedImage(pixels: image, map: AffineMap(scale, 0, 0, scale, 0, 0)))
        for y in 0..<40 {
            for x in 0..<60 {
                for channel in 0..<3 {
                    var sum = 0
                    for row in 0..<factor {
                        for column in 0..<factor {
                            let pixel = image.pixel(x * factor + column, y * factor + row)
                            sum += Int(pixel >> (8 * UInt32(channel)) & 255)
                        }
                    }
                    let mean = (sum + factor * factor / 2) / (factor * factor)
                    #expect(Int(canvas.pixel(x: x, y: y) >> (8 * UInt32(channel)) & 255) == mean, "seed \(random.seed)")
                }
            }
        }
    }

    @Test func `is near to the mean of the smooth image over each pixel, whatever the map is`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        var (sum, count, largest) = (0.0, 0, 0.0)
        for round in 0..<60 {
            let image = RandomImage.smooth(width: random.int(1...300), height: random.int(1...200), using: &random)
            let map = Self.randomMap(of: image, using: &random)
            guard abs(map.determinant) > 1e-3 else { continue }
            let scale = random.pick([1, 0.5, 2])
            let canvas = Self.drawn(PaintedImage(pixels: image, map: map), scale: scale)
            let reference = ImageReference(image, map.followed(by: AffineMap(scale, 0, 0, scale, 0, 0)))
            for y in stride(from: 0, to: Self.height, by: 3) {
                for x in stride(from: 0, to: Self.width, by: 3) {
                    guard let wanted = reference.colour(x: x, y: y) else { continue }
                    let pixel = canvas.pixel(x: x, y: y)
                    for channel in 0..<4 {
                        let drawn = Double(pixel >> (8 * UInt32(channel)) & 255)
                        sum += abs(drawn - wanted[channel])
                        count += 1
                        largest = max(largest, abs(drawn - wanted[channel]))
                        #expect(
                            abs(drawn - wanted[channel]) < 24,
                            "seed \(random.seed), round \(round), \(x) \(y) \(map) \(scale)"
                        )
                    }
                }
            }
        }
        print("images: mean \(sum / Double(count)), largest \(largest) of 255 over \(count) channels")
        #expect(count > 10_000 && sum / Double(count) < 1, "seed \(random.seed)")
    }

    @Test func `has the borders of its rectangle, of its clip, and is composited over what is below`() throws {
        let grey = try #require(ImagePixels(width: 10, height: 10, bytes: [UInt8](repeating: 128, count: 400)))
        let canvas = Self.drawn(PaintedImage(pixels: grey, map: AffineMap(5.05, 0, 0, 5, 10, 10.25)))
        #expect(canvas.pixel(x: 30, y: 30) == 0x8080_8080)
        #expect(canvas.pixel(x: 60, y: 30) >> 24 == 64)
        #expect(canvas.pixel(x: 30, y: 10) >> 24 == 96)
        #expect(canvas.pixel(x: 9, y: 30) == 0)
        let clip = Path(rectangle: 20, 20, width: 20.5, height: 10)
        let clipped = Self.drawn(PaintedImage(pixels: grey, map: AffineMap(5, 0, 0, 5, 10, 10), clip: clip))
        #expect(clipped.pixel(x: 19, y: 25) == 0 && clipped.pixel(x: 20, y: 25) == 0x8080_8080)
        #expect(clipped.pixel(x: 40, y: 25) >> 24 == 64 && clipped.pixel(x: 41, y: 25) == 0)
        // Half of the colour of what is below is left.
        let white = PaintedArea(path: Path(rectangle: 0, 0, width: 64, height: 64), colour: RGB(0xFF_FFFF))
        let image = PaintedImage(pixels: grey, map: AffineMap(5, 0, 0, 5, 10, 10))
        let below = Canvas(width: 64, height: 64, drawing: [.area(white), .image(image)])
        #expect(below.pixel(x: 30, y: 30) == 0xFFFF_FFFF && below.pixel(x: 5, y: 5) == 0xFFFF_FFFF)
    }

    @Test func `has the same pixels on any subset of tiles, and whatever was drawn before`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        for round in 0..<30 {
            let pixels = RandomImage.smooth(width: random.int(1...600), height: random.int(1...500), using: &random)
            let image = PaintedImage(
                pixels: pixels, map: Self.randomMap(of: pixels, using: &random),
                clip: random.chance(1, in: 2) ? RandomArea.path(using: &random) : nil)
            let whole = Self.drawn(image)
            var painter = StrokePainter(canvasWidth: Self.width, canvasHeight: Self.height)
            var pieces = Canvas(width: Self.width, height: Self.height)
            for index in pieces.tiles.indices.shuffled(using: &random) {
                var part = TileSet(of: pieces)
                part.insert(pieces.box(ofTile: index))
                painter.draw(.image(image), on: &pieces, within: part) { true }
            }
            #expect(pieces.fingerprint == whole.fingerprint, "seed \(random.seed), round \(round)")
        }
    }

    @Test func `is made smaller once for all its copies, whatever of each is seen`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        let pixels = RandomImage.smooth(width: 500, height: 400, using: &random)
        let other = RandomImage.smooth(width: 500, height: 400, using: &random)
        var canvas = Canvas(width: Self.width, height: Self.height)
        var painter = StrokePainter(canvasWidth: Self.width, canvasHeight: Self.height)
        for round in 0..<60 {
            let side = random.pick([0.1, 0.1, 0.1, 0.03, 1])
            let image = PaintedImage(
                pixels: random.chance(1, in: 8) ? other : pixels,
                map: AffineMap(side, 0, 0, side, Double(random.int(-30...170)), Double(random.int(-30...130))))
            var expected = canvas
            var fresh = StrokePainter(canvasWidth: Self.width, canvasHeight: Self.height)
            fresh.draw(.image(image), on: &expected)
            painter.draw(.image(image), on: &canvas)
            #expect(canvas.fingerprint == expected.fingerprint, "seed \(random.seed), round \(round)")
        }
        let whole = PaintedImage(pixels: pixels, map: AffineMap(0.1, 0, 0, 0.1, 10, 10))
        painter.draw(.image(whole), on: &canvas)
        painter.draw(.image(whole), on: &canvas)
        #expect(painter.visitedPixels < 500 * 400, "the means are taken again")
    }

    @Test func `shows nothing where the map cannot be inverted, or is none`() throws {
        let pixels = try #require(ImagePixels(width: 2, height: 2, bytes: [UInt8](repeating: 255, count: 16)))
        for map in [
            AffineMap(0, 0, 0, 0, 10, 10), AffineMap(1, 1, 1, 1, 0, 0), AffineMap(.nan, 0, 0, 1, 0, 0),
            AffineMap(1, 0, 0, 1, .infinity, 0), AffineMap(1e-200, 0, 0, 1e-200, 5, 5),
            AffineMap(1e300, 0, 0, 1e300, 0, 0),
            // All but flat: the inverse is finite, and places of the canvas are beyond all numbers.
            AffineMap(3e-308, 0, 40, 40, 0, 0),
        ] {
            #expect(Self.drawn(PaintedImage(pixels: pixels, map: map)).isBlank)
        }
        #expect(ImagePixels(width: 2, height: 2, bytes: [0]) == nil)
        #expect(ImagePixels(width: 0, height: 2, bytes: []) == nil)
        #expect(ImagePixels(width: .max, height: 4, bytes: []) == nil)
    }

    @Test func `that is not there is a frame with its diagonals, inside of its rectangle, wherever it is moved`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        for _ in 0..<50 {
            let rectangle = Box(lower: Point(10, 20), upper: Point(110, 90))
            func number() -> Double { Double.random(in: -1.5...1.5, using: &random) }
            let map = AffineMap(number(), number(), number(), number(), number() * 50, number() * 50)
            let frame = EmptyFrame.path(around: rectangle, map: map)
            let moved = Path(rectangle: 10, 20, width: 100, height: 70).transformed(by: map)
            let inside = frame.intersection(moved)
            #expect(abs(inside.area - frame.simplified().area) < 1e-3, "seed \(random.seed), \(map)")
            #expect(frame.contains(map(Point(60, 55))) || moved.simplified().area < 1000, "seed \(random.seed), \(map)")
            let clip = Path(rectangle: 0, 0, width: 40, height: 40)
            let clipped = EmptyFrame.path(around: rectangle, map: map, clip: clip)
            #expect(abs(clipped.area - frame.intersection(clip).area) < 1e-3, "seed \(random.seed), \(map)")
        }
        let frame = EmptyFrame.path(around: Box(lower: .zero, upper: Point(100, 50)))
        #expect(frame.contains(Point(1, 25)) && !frame.contains(Point(2, 25)) && frame.contains(Point(50, 25)))
        #expect(EmptyFrame.path(around: .empty).isEmpty)
        #expect(EmptyFrame.path(around: Box(lower: .zero, upper: Point(2, 50))).area == 100)
    }

    /// Lassos may cut an image into stripes again and again.
    @Test func `that is not there is a frame in each stripe that is seen of it, and none where they are very many`() {
        let rectangle = Box(lower: Point(10, 20), upper: Point(110, 90))
        func stripes(_ count: Int) -> Path {
            let height = 70 / Double(count)
            return Path(
                (0..<count).flatMap {
                    Path(rectangle: 10, 20 + height * Double($0), width: 100, height: height / 2).contours
                })
        }
        let whole = EmptyFrame.path(around: rectangle).simplified().area
        let seen = EmptyFrame.path(around: rectangle, clip: stripes(10_000)).area
        #expect(abs(seen - whole / 2) < 1e-3)
        #expect(EmptyFrame.path(around: rectangle, clip: stripes(100_000)).isEmpty)
    }

    private static func randomMap(of image: ImagePixels, using random: inout SeededGenerator) -> AffineMap {
        func number() -> Double { Double.random(in: -1.5...1.5, using: &random) }
        let size = Double(max(image.width, image.height))
        let unit = 120 / size
        return AffineMap(
            number() * unit, number() * unit, number() * unit, number() * unit,
            Double.random(in: 0...180, using: &random), Double.random(in: 0...140, using: &random))
    }

    private static func drawn(_ image: PaintedImage, scale: Double = 1) -> Canvas {
        Canvas(width: width, height: height, scale: scale, drawing: [.image(image)])
    }
}

extension ImagePixels {
    fileprivate func pixel(_ x: Int, _ y: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[(y * width + x) * 4 + $1]) << (8 * UInt32($1)) }
    }
}

enum RandomImage {
    static func opaque(width: Int, height: Int, using random: inout SeededGenerator) -> ImagePixels {
        let bytes = (0..<width * height * 4).map { $0 % 4 == 3 ? 255 : UInt8(random.int(0...255)) }
        return made(width, height, bytes)
    }

    /// Waves of every channel, of at least 12 pixels, translucent in places.
    static func smooth(width: Int, height: Int, using random: inout SeededGenerator) -> ImagePixels {
        let waves = (0..<4).map { _ in
            SIMD2(Double.random(in: 12...90, using: &random), Double.random(in: 12...90, using: &random))
        }
        func level(_ x: Int, _ y: Int, _ channel: Int) -> Double {
            let phase = Double(x) / waves[channel].x + Double(y) / waves[channel].y
            let part = abs((phase.truncatingRemainder(dividingBy: 2)) - 1)
            return part * part * (3 - 2 * part)
        }
        var bytes: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let alpha = 0.3 + 0.7 * level(x, y, 3)
                for channel in 0..<3 { bytes.append(UInt8(level(x, y, channel) * alpha * 255)) }
                bytes.append(UInt8(alpha * 255))
            }
        }
        return made(width, height, bytes)
    }

    private static func made(_ width: Int, _ height: Int, _ bytes: [UInt8]) -> ImagePixels {
        guard let image = ImagePixels(width: width, height: height, bytes: bytes) else { preconditionFailure("sizes") }
        return image
    }
}

/// Means over pixels of the canvas of an image between whose pixels colours are interpolated: 16 × 16 samples a pixel,
/// in double precision.
private struct ImageReference {
    private let image: ImagePixels
    private let inverse: AffineMap

    init(_ image: ImagePixels, _ map: AffineMap) {
        self.image = image
        let size = map.determinant
        inverse = AffineMap(
            map.d / size, -map.b / size, -map.c / size, map.a / size, (map.c * map.f - map.d * map.e) / size,
            (map.b * map.e - map.a * map.f) / size)
    }

    /// `nil` unless the pixel and those around it lie in the image.
    func colour(x: Int, y: Int) -> SIMD4<Double>? {
        for (dx, dy) in [(-1, -1), (2, -1), (-1, 2), (2, 2)] {
            let place = inverse(Point(Double(x + dx), Double(y + dy)))
            guard place.x > 0, place.y > 0, place.x < Double(image.width), place.y < Double(image.height) else {
                return nil
            }
        }
        var sum = SIMD4<Double>.zero
        for row in 0..<16 {
            for column in 0..<16 {
                let place = Point(Double(x) + (Double(column) + 0.5) / 16, Double(y) + (Double(row) + 0.5) / 16)
                sum += interpolated(inverse(place) - 0.5)
            }
        }
        return sum / 256
    }

    private func interpolated(_ place: Point) -> SIMD4<Double> {
        let (x, y) = (place.x.rounded(.down), place.y.rounded(.down))
        func at(_ dx: Double, _ dy: Double) -> SIMD4<Double> {
            let column = Int(min(max(x + dx, 0), Double(image.width - 1)))
            let row = Int(min(max(y + dy, 0), Double(image.height - 1)))
            let pixel = image.pixel(column, row)
            return SIMD4<Double>(SIMD4(pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255, pixel >> 24))
        }
        let (u, v) = (place.x - x, place.y - y)
        return (at(0, 0) * (1 - u) + at(1, 0) * u) * (1 - v) + (at(0, 1) * (1 - u) + at(1, 1) * u) * v
    }
}
