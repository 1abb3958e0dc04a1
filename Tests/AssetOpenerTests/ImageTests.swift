import AssetOpener
import Assets
import TestSupport
import Testing

@Suite(.serialized) struct ImageTests {
    @Test func `A PNG has the size of its header, an interlaced one, too`() async throws {
        let opener = try Opening.opener()
        var generator = SeededGenerator(seed: 1)
        let image = SampleImage.random(width: 37, height: 21, opaque: false, &generator)
        for interlaced in [false, true] {
            let manifest = try await opener.inspect(SamplePNG.file(image, interlaced: interlaced))
            #expect(manifest.format == .png)
            #expect(manifest.pages == [AssetPage(width: 37, height: 21)])
        }
    }

    @Test func `A reduced PNG has the mean colour of the area of each pixel`() async throws {
        let opener = try Opening.opener()
        for var generator in TestSeed.generators(6) {
            let width = Int.random(in: 1...60, using: &generator)
            let image = SampleImage.random(
                width: width, height: Int.random(in: 1...60, using: &generator),
                opaque: Bool.random(using: &generator), &generator)
            let file = SamplePNG.file(image, interlaced: Bool.random(using: &generator))
            let manifest = try await opener.inspect(file)
            let wanted = Int.random(in: 1...width, using: &generator)
            let pixels = try await opener.pixels(file, manifest, page: 0, width: wanted)
            #expect(pixels.width == wanted, "seed \(generator.seed)")
            let means = image.reduced(width: pixels.width, height: pixels.height)
            // A colour is at most its alpha, both rounded.
            let worst = zip(pixels.bytes, means).map { abs(Double($0) - $1) }.max() ?? 0
            #expect(worst <= 1.01, "seed \(generator.seed)")
        }
    }

    @Test func `The file of a rendered page shows the rendered pixels`() async throws {
        let opener = try Opening.opener()
        for var generator in TestSeed.generators(3) {
            let image = SampleImage.random(width: 40, height: 30, opaque: true, &generator)
            let file = SamplePNG.file(image)
            let manifest = try await opener.inspect(file)
            let pixels = try await opener.pixels(file, manifest, page: 0, width: 17)
            let picture = try await opener.png(file, manifest, page: 0, width: 17)
            let again = try await opener.pixels(picture, try await opener.inspect(picture), page: 0, width: 17)
            #expect(again == pixels, "seed \(generator.seed)")
        }
    }

    @Test func `A page is never rendered larger than its image is`() async throws {
        let opener = try Opening.opener()
        var generator = SeededGenerator(seed: 2)
        let file = SamplePNG.file(SampleImage.random(width: 10, height: 6, opaque: true, &generator))
        let pixels = try await opener.pixels(file, try await opener.inspect(file), page: 0, width: 4096)
        #expect(pixels.width == 10)
        #expect(pixels.height == 6)
    }

    @Test func `A picture of no pixels that can be seen stays transparent in its file`() async throws {
        let opener = try Opening.opener()
        let file = SamplePNG.file(SampleImage(width: 4, height: 4) { _, _ in [255, 0, 0, 0] })
        let picture = try await opener.png(file, try await opener.inspect(file), page: 0, width: 2)
        let pixels = try await opener.pixels(picture, try await opener.inspect(picture), page: 0, width: 2)
        #expect(pixels.bytes == [UInt8](repeating: 0, count: 16))
    }

    @Test(arguments: [false, true]) func `A JPEG is read and reduced`(progressive: Bool) async throws {
        let opener = try Opening.opener()
        let file = SampleJPEG.file(
            width: 320, height: 240, pixels: SampleJPEG.quarters(width: 320, height: 240), progressive: progressive)
        let manifest = try await opener.inspect(file)
        #expect(manifest.format == .jpeg)
        #expect(manifest.pages == [AssetPage(width: 320, height: 240)])
        for width in [320, 100, 40, 7] {
            let pixels = try await opener.pixels(file, manifest, page: 0, width: width)
            expect(pixels[0, 0], near: [255, 0, 0, 255])
            expect(pixels[width - 1, 0], near: [0, 0, 255, 255])
            expect(pixels[0, pixels.height - 1], near: [0, 255, 0, 255])
        }
    }

    @Test func `A JPEG is turned as its camera was held`() async throws {
        let opener = try Opening.opener()
        let (red, green, blue, white) = ([255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 255, 255])
        // The corners as they are seen: above left, above right, below left, below right.
        let corners = [
            1: [red, blue, green, white], 2: [blue, red, white, green], 3: [white, green, blue, red],
            4: [green, white, red, blue], 5: [red, green, blue, white], 6: [green, red, white, blue],
            7: [white, blue, green, red], 8: [blue, white, red, green],
        ]
        for (orientation, corners) in corners {
            let file = SampleJPEG.file(
                width: 64, height: 32, pixels: SampleJPEG.quarters(width: 64, height: 32),
                orientation: UInt8(orientation))
            let manifest = try await opener.inspect(file)
            let (width, height) = orientation >= 5 ? (32, 64) : (64, 32)
            #expect(manifest.pages == [AssetPage(width: Double(width), height: Double(height))])
            let pixels = try await opener.pixels(file, manifest, page: 0, width: width / 2)
            let (right, below) = (pixels.width - 1, pixels.height - 1)
            for (place, colour) in zip([(0, 0), (right, 0), (0, below), (right, below)], corners) {
                expect(pixels[place.0, place.1], near: colour, "orientation \(orientation)")
            }
        }
    }

    @Test func `Inks of a JPEG become light, and grey stays grey`() async throws {
        let opener = try Opening.opener()
        // libjpeg writes Adobe's marker, which says that inks are inverted: little cyan light is much cyan ink.
        let inks = SampleJPEG.file(
            width: 16, height: 16, channels: 4, pixels: (0..<256).flatMap { _ in [0, 255, 255, 255] as [UInt8] })
        let cyan = try await opener.pixels(inks, try await opener.inspect(inks), page: 0, width: 16)
        expect(cyan[8, 8], near: [0, 255, 255, 255])
        let grey = SampleJPEG.file(width: 16, height: 16, channels: 1, pixels: [UInt8](repeating: 99, count: 256))
        let pixels = try await opener.pixels(grey, try await opener.inspect(grey), page: 0, width: 16)
        expect(pixels[8, 8], near: [99, 99, 99, 255])
    }

    /// JPEG changes colours a little.
    private func expect(_ pixel: [Int], near colour: [Int], _ comment: Comment? = nil) {
        #expect(zip(pixel, colour).allSatisfy { abs($0 - $1) <= 24 }, comment ?? "\(pixel) is not \(colour)")
    }
}
