import AssetOpener
import Assets
import TestSupport
import Testing

/// Files that are made to do harm. Each gives an error within the bounds, or a harmless page, and leaves nothing
/// behind.
@Suite(.serialized) struct HostileFileTests {
    private func expectUnreadable(_ error: AssetError?, _ comment: Comment? = nil) {
        guard case .unreadable(let reason)? = error else {
            Issue.record("\(String(describing: error)) \(comment?.rawValue ?? "")")
            return
        }
        #expect(!reason.isEmpty)
    }

    @Test func `A file of no known format is not opened`() async throws {
        let opener = AssetOpener(program: "/nonexistent")
        for bytes in [[], Array("GIF89a".utf8), Array("<svg/>".utf8), SamplePNG.signature.dropLast()] {
            let reason = "it is none of PNG, JPEG, WebP, HEIC and PDF"
            #expect(try await opener.refusal(Array(bytes)) == .unreadable(reason))
        }
        let large = SamplePNG.signature + [UInt8](repeating: 0, count: 50 << 20)
        guard case .tooLarge? = try await opener.refusal(large) else { throw Unexpected("it was opened") }
    }

    @Test func `Another format under a format's first bytes is unreadable`() async throws {
        let opener = try Opening.opener()
        let text = Array("not at all what it says".utf8)
        for start in [SamplePNG.signature, [0xFF, 0xD8, 0xFF, 0xE0], Array("%PDF-1.4\n".utf8)] {
            expectUnreadable(try await opener.refusal(start + text))
        }
    }

    @Test func `A PNG of ten gigapixels is refused by its header`() async throws {
        let rows = SamplePNG.compressed([UInt8](repeating: 0, count: 1 << 20))
        let bomb = SamplePNG.file(header: SamplePNG.header(100_000, 100_000), rows: rows)
        #expect(try await Opening.opener().refusal(bomb) == .tooLarge("it has 100000 by 100000 pixels"))
    }

    @Test func `A PNG of 100 megapixels in little space is read within the bounds`() async throws {
        // Rows of bits.
        let rows = SamplePNG.compressed([UInt8](repeating: 0, count: 10_000 * 1251))
        let file = SamplePNG.file(header: SamplePNG.header(10_000, 10_000, bits: 1, colours: 0), rows: rows)
        let manifest = try await Opening.opener().inspect(file)
        #expect(manifest.pages == [AssetPage(width: 10_000, height: 10_000)])
    }

    @Test func `A memory bound that does not suffice is an error, not a crash`() async throws {
        var bounds = AssetOpener.Bounds()
        bounds.memory = 400 << 20
        // All rows of an interlaced image are in memory at once: 400 MB.
        let header = SamplePNG.header(10_000, 10_000, bits: 1, colours: 0, interlaced: true)
        let rows = SamplePNG.compressed([UInt8](repeating: 0, count: 13 << 20))
        let file = SamplePNG.file(header: header, rows: rows)
        #expect(try await Opening.opener(bounds).refusal(file) == .tooLarge("it needs too much memory"))
    }

    @Test func `A text in a PNG that is a bomb is not unpacked`() async throws {
        let image = SamplePNG.file(SampleImage(width: 2, height: 2) { _, _ in [1, 2, 3, 255] })
        let bomb = SamplePNG.chunk(
            "zTXt", Array("Comment".utf8) + [0, 0] + SamplePNG.compressed([UInt8](repeating: 65, count: 64 << 20)))
        let header = SamplePNG.signature.count + 25
        let file = Array(image[..<header]) + bomb + Array(image[header...])
        var bounds = AssetOpener.Bounds()
        bounds.processorTime = .seconds(2)
        // Refused or passed over: what counts is that it ends.
        #expect(try await Opening.opener(bounds).refusal(file)?.isOfFile != false)
    }

    @Test func `A file that ends early is unreadable`() async throws {
        let opener = try Opening.opener()
        var generator = SeededGenerator(seed: 3)
        let image = SampleImage.random(width: 80, height: 60, opaque: true, &generator)
        let png = SamplePNG.file(image)
        let pixels = SampleJPEG.quarters(width: 80, height: 60)
        let baseline = SampleJPEG.file(width: 80, height: 60, pixels: pixels)
        let progressive = SampleJPEG.file(width: 80, height: 60, pixels: pixels, progressive: true)
        for seed in TestSeed.choose(4) {
            var generator = SeededGenerator(seed: seed)
            for file in [png, baseline, progressive] {
                // Behind the last 12 bytes, the end of a PNG, nothing is missing that is to be seen.
                let length = Int.random(in: 16..<file.count - 16, using: &generator)
                expectUnreadable(try await opener.refusal(Array(file[..<length])), "seed \(seed), \(length) bytes")
            }
        }
    }

    @Test func `Files with any bytes changed give a page or an error`() async throws {
        let opener = try Opening.opener()
        let before = try Leftovers()
        var generator = SeededGenerator(seed: 4)
        let files = [
            SamplePNG.file(SampleImage.random(width: 30, height: 20, opaque: false, &generator), interlaced: true),
            SampleJPEG.file(
                width: 48, height: 32, pixels: SampleJPEG.quarters(width: 48, height: 32), progressive: true,
                orientation: 6), SamplePDF.pages(["/MediaBox [0 0 100 50]"], content: "1 0 0 rg 0 0 50 50 re f"),
        ]
        for seed in TestSeed.choose(12) {
            var generator = SeededGenerator(seed: seed)
            var file = files[Int(seed % 3)]
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                file[Int.random(in: 8..<file.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            if let error = try await opener.refusal(file) {
                #expect(error.isOfFile, "seed \(seed): \(error)")
                continue
            }
            let manifest = try await opener.inspect(file)
            do throws(AssetError) {
                _ = try await opener.pixels(file, manifest, page: 0, width: 20)
            } catch {
                #expect(error.isOfFile, "seed \(seed): \(error)")
            }
        }
        try await Leftovers.expectNone(since: before)
    }
}
