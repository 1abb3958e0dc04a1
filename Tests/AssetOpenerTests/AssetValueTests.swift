import Assets
import Foundation
import StrokeWire
import TestSupport
import Testing

@Suite struct AssetValueTests {
    private let digits = "00112233445566778899aabbccddeeff0123456789abcdef0123456789abcdef"

    @Test func `A name is 64 lower-case hexadecimal digits`() throws {
        let id = try #require(AssetID(hexadecimal: digits))
        #expect(id.description == digits)
        for wrong in ["", String(digits.dropLast()), digits + "0", digits.uppercased(), "g" + digits.dropFirst()] {
            #expect(AssetID(hexadecimal: wrong) == nil)
        }
    }

    @Test func `A name of a digest has its bytes in order`() throws {
        let digest = (0..<32).map { UInt8($0) }
        let id = try #require(AssetID(digest: digest))
        #expect(id.description == "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f")
        #expect(AssetID(hexadecimal: id.description) == id)
        #expect(AssetID(digest: digest.dropLast()) == nil)
    }

    @Test func `The first bytes tell the format, whatever follows`() {
        #expect(AssetFormat([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 7]) == .png)
        #expect(AssetFormat([0xFF, 0xD8, 0xFF, 0xE0]) == .jpeg)
        #expect(AssetFormat("RIFF\u{1}\u{2}\u{3}\u{4}WEBPVP8 ".utf8) == .webp)
        #expect(AssetFormat("\0\0\0\u{18}ftypheic\0\0\0\0mif1heic".utf8) == .heic)
        #expect(AssetFormat("\0\0\0\u{18}ftypmif1\0\0\0\0mif1heix".utf8) == .heic)
        // A brand beyond the box, a film, a picture of another coding, a sound.
        for other in [
            "\0\0\0\u{14}ftypmif1\0\0\0\0mif1heic", "\0\0\0\u{18}ftypmp42\0\0\0\0isommp42",
            "\0\0\0\u{18}ftypavif\0\0\0\0mif1avif", "RIFF\u{1}\u{2}\u{3}\u{4}WAVEfmt ", "\0\0\0\u{18}ftyp",
        ] {
            #expect(AssetFormat(other.utf8) == nil)
        }
        #expect(AssetFormat("%PDF-1.7 and more".utf8) == .pdf)
        #expect(AssetFormat("junk %%PDF-1.7".utf8) == .pdf)
        #expect(AssetFormat(Array(repeating: 37, count: 1019) + Array("%PDF-1.7".utf8)) == .pdf)
        #expect(AssetFormat(Array(repeating: 32, count: 1020) + Array("%PDF-1.7".utf8)) == nil)
        for other in ["", "GIF89a", "%PD", "<svg/>"] { #expect(AssetFormat(other.utf8) == nil) }
    }

    @Test func `A rendered page keeps its shape within its limits`() throws {
        func size(_ width: Double, _ height: Double, _ wanted: Int, _ format: AssetFormat) throws -> [Int] {
            let page = try #require(AssetPage(width: width, height: height))
            let size = page.renderedSize(width: wanted, of: format)
            return [size.width, size.height]
        }
        #expect(try size(595.276, 841.89, 1000, .pdf) == [1000, 1414])
        #expect(try size(640, 480, 320, .png) == [320, 240])
        #expect(try size(640, 480, 1000, .jpeg) == [640, 480])
        #expect(try size(4000, 1, 10, .png) == [10, 1])
        #expect(try size(100, 100, 100_000, .pdf) == [4096, 4096])
        #expect(try size(100, 400, 4096, .pdf) == [2048, 8192])
        #expect(try size(1, 100_000_000, 1, .png) == [1, 1 << 24])
        for var generator in TestSeed.generators(200) {
            let format = try #require(AssetFormat.allCases.randomElement(using: &generator))
            let width = Double.random(in: 0.01...20_000, using: &generator)
            let height = Double.random(in: 0.01...min(1e8 / width, 1e8), using: &generator)
            let page = try #require(AssetPage(width: width, height: height))
            let size = page.renderedSize(width: Int.random(in: -5...9999, using: &generator), of: format)
            #expect(size.width >= 1 && size.height >= 1 && size.width <= 4096, "seed \(generator.seed)")
            #expect(size.width * size.height <= 1 << 24, "seed \(generator.seed)")
        }
    }

    @Test func `A page without a size, or beyond 100 megapixels, is none`() {
        for (width, height) in [
            (0, 1), (-1, -1), (.nan, 1), (.infinity, 1), (10_001, 10_000), (1e300, 1e-300), (1e-300, 1e300),
            (1e8 + 1, 0.1),
        ] as [(Double, Double)] {
            #expect(AssetPage(width: width, height: height) == nil)
        }
        #expect(AssetPage(width: 10_000, height: 10_000) != nil)
    }

    @Test func `A manifest is within the limits`() throws {
        let id = try #require(AssetID(hexadecimal: digits))
        let page = try #require(AssetPage(width: 1, height: 1))
        func manifest(_ format: AssetFormat, _ bytes: Int, _ pages: Int) -> AssetManifest? {
            AssetManifest(id: id, format: format, bytes: bytes, pages: [AssetPage](repeating: page, count: pages))
        }
        #expect(manifest(.pdf, 50 << 20, 500) != nil)
        #expect(manifest(.pdf, (50 << 20) + 1, 1) == nil)
        #expect(manifest(.pdf, 0, 1) == nil)
        #expect(manifest(.pdf, 1, 0) == nil)
        #expect(manifest(.pdf, 1, 501) == nil)
        #expect(manifest(.png, 1, 2) == nil)
    }

    @Test func `An image has whole pixels, also one that was stored`() throws {
        let id = try #require(AssetID(hexadecimal: digits))
        let page = try #require(AssetPage(width: 0.5, height: 2))
        for format in AssetFormat.allCases {
            let manifest = AssetManifest(id: id, format: format, bytes: 9, pages: [page])
            #expect((manifest == nil) == (format != .pdf))
        }
        func stored(_ width: String, _ height: String) throws -> AssetManifest {
            let text = #"{"bytes":9,"id":"\#(digits)","pages":[[\#(width),\#(height)]],"type":"image/png"}"#
            return try JSONDecoder().decode(AssetManifest.self, from: Data(text.utf8))
        }
        #expect(try stored("10", "10").pages == [AssetPage(width: 10, height: 10)])
        for (width, height) in [("1e300", "1e-300"), ("1e-300", "1e300"), ("10.5", "10"), ("1e8", "1e-1")] {
            #expect(throws: DecodingError.self) { try stored(width, height) }
        }
    }
}
