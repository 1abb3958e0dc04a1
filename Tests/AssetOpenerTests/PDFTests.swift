import AssetOpener
import Assets
import Foundation
import TestSupport
import Testing

@Suite(.serialized) struct PDFTests {
    @Test func `Pages have the sizes at which they are seen`() async throws {
        let file = SamplePDF.pages([
            "/MediaBox [0 0 595.276 841.89]", "/MediaBox [0 0 400 300] /Rotate 90",
            "/MediaBox [0 0 400 300] /CropBox [100 50 300 150]", "/MediaBox [0 0 400 300] /UserUnit 2.5",
        ])
        let manifest = try await Opening.opener().inspect(file)
        #expect(manifest.format == .pdf)
        #expect(
            manifest.pages == [
                AssetPage(width: 595.276, height: 841.89), AssetPage(width: 300, height: 400),
                AssetPage(width: 200, height: 100), AssetPage(width: 400, height: 300),
            ])
    }

    @Test(arguments: ["0.00001 0.00001", "0.000001 0.00001", "300 0.0009", "0.0000000000000000001 300"])
    func `A page that is next to nothing has no size, and a manifest that says so ends no reader`(
        _ corner: String
    ) async throws {
        let file = SamplePDF.pages(["/MediaBox [0 0 \(corner)]"])
        let opener = try Opening.opener()
        #expect(try await opener.refusal(file) == .unreadable("no page has a size"))
        let more = try await opener.inspect(SamplePDF.pages(["/MediaBox [0 0 40 30]", "/MediaBox [0 0 \(corner)]"]))
        #expect(more.pages.map(\.width) == [40, 40] && more.pages[1].box == .blank)
        let sides = corner.split(separator: " ").compactMap { Double($0) }
        let page = try #require(AssetPage(width: sides[0], height: sides[1]))
        let manifest = try #require(AssetManifest(id: try Opening.id, format: .pdf, bytes: file.count, pages: [page]))
        for width in [1, 4096] {
            // Whatever poppler makes of it.
            _ = try? await opener.png(file, manifest, page: 0, width: width)
        }
    }

    @Test func `A page is rendered in its shape, on white paper, what its crop box shows`() async throws {
        // A red square in the lower left corner of the crop box.
        let file = SamplePDF.pages(
            ["/MediaBox [0 0 400 300] /CropBox [100 50 300 150]"], content: "1 0 0 rg 100 50 50 50 re f")
        let opener = try Opening.opener()
        let manifest = try await opener.inspect(file)
        for width in [1, 20, 200, 777] {
            let pixels = try await opener.pixels(file, manifest, page: 0, width: width)
            #expect(pixels.width == width)
            #expect(pixels.height == max(width / 2, (width + 1) / 2))
            guard width >= 20 else { continue }
            #expect(pixels[width / 8, pixels.height * 3 / 4] == [255, 0, 0, 255])
            #expect(pixels[width / 8, pixels.height / 4] == [255, 255, 255, 255])
            #expect(pixels[width * 3 / 4, pixels.height * 3 / 4] == [255, 255, 255, 255])
        }
        let picture = try await opener.png(file, manifest, page: 0, width: 200)
        let again = try await opener.pixels(picture, try await opener.inspect(picture), page: 0, width: 200)
        #expect(again == (try await opener.pixels(file, manifest, page: 0, width: 200)))
    }

    /// Scans and landscape slides are turned so.
    @Test(arguments: [0, 90, 180, 270]) func `A turned page is rendered as it is shown`(_ turn: Int) async throws {
        // A red square in the lower left corner of the page before it is turned clockwise.
        let file = SamplePDF.pages(
            ["/MediaBox [0 0 400 300]", "/MediaBox [-50 20 350 320] /CropBox [-50 20 350 320] /Rotate \(turn)"],
            content: "1 0 0 rg -50 0 100 70 re f")
        let opener = try Opening.opener()
        let manifest = try await opener.inspect(file)
        let isTurned = turn % 180 != 0
        let sides = isTurned ? AssetPage(width: 300, height: 400) : AssetPage(width: 400, height: 300)
        #expect(manifest.pages[1] == sides)
        for width in [30, 150, 613] {
            let height = (Double(width) * (isTurned ? 4 / 3 : 3 / 4)).rounded()
            let picture = try await opener.png(file, manifest, page: 1, width: width)
            #expect(try await opener.inspect(picture).pages == [AssetPage(width: Double(width), height: height)])
            let pixels = try await opener.pixels(file, manifest, page: 1, width: width)
            let (right, bottom) = (pixels.width - 2, pixels.height - 2)
            for (place, corner) in [(1, bottom), (1, 1), (right, 1), (right, bottom)].enumerated() {
                let colour = place * 90 == turn ? [255, 0, 0, 255] : [255, 255, 255, 255]
                #expect(pixels[corner.0, corner.1] == colour, "\(width): \(corner)")
            }
        }
    }

    @Test func `A page whose crop box is empty has its media box, and one without any is blank paper`() async throws {
        let file = SamplePDF.pages(
            [
                "/MediaBox [7 7 7 7]", "/MediaBox [0 0 200 100]",
                "/MediaBox [0 0 100 200] /CropBox [5 5 5 5] /Rotate 90", "/MediaBox [0 0 100 0]",
            ], content: "1 0 0 rg 0 0 9000 9000 re f")
        let opener = try Opening.opener()
        let manifest = try await opener.inspect(file)
        let size = try #require(AssetPage(width: 200, height: 100))
        let turned = try #require(AssetPage(width: 200, height: 100, box: .media))
        #expect(manifest.pages == [size.blank, size, turned, size.blank])
        #expect(AssetUpload.Summary(manifest).blank == [0, 3])
        #expect(try JSONDecoder().decode(AssetManifest.self, from: JSONEncoder().encode(manifest)) == manifest)
        for (page, isBlank) in [true, false, false, true].enumerated() {
            let pixels = try await opener.pixels(file, manifest, page: page, width: 100)
            #expect(pixels.width == 100 && pixels.height == 50)
            #expect(pixels[50, 25] == (isBlank ? [255, 255, 255, 255] : [255, 0, 0, 255]), "page \(page)")
            let picture = try await opener.png(file, manifest, page: page, width: 100)
            #expect(try await opener.inspect(picture).pages == [AssetPage(width: 100, height: 50)])
        }
    }

    @Test func `The wanted page is rendered, and one that is not there is unknown`() async throws {
        let file = SamplePDF.pages(["/MediaBox [0 0 100 100]", "/MediaBox [0 0 100 50]"])
        let opener = try Opening.opener()
        let manifest = try await opener.inspect(file)
        #expect(try await opener.pixels(file, manifest, page: 1, width: 100).height == 50)
        await #expect(throws: AssetError.unknown) { try await opener.pixels(file, manifest, page: 2, width: 100) }
    }

    @Test func `Text is drawn with the fonts of the system where the file has none`() async throws {
        let file = SamplePDF.pages(
            ["/MediaBox [0 0 200 100]"], content: "BT /F 40 Tf 20 40 Td (Ink) Tj ET",
            resources: "/Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>")
        let opener = try Opening.opener()
        let pixels = try await opener.pixels(file, try await opener.inspect(file), page: 0, width: 200)
        let dark = (0..<200 * 100).filter { pixels.bytes[$0 * 4] < 64 }.count
        #expect(dark > 100)
    }

    @Test func `Lines in a title that look like the answer do not count`() async throws {
        let file = SamplePDF.file([
            "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 50] >>",
            "<< /Title (x\\nPages: 77\\nPage    1 size: 9 x 9 pts\\nPage 1 rot: 90) >>",
        ])
        let titled = String(decoding: file, as: UTF8.self).replacing("/Root 1 0 R", with: "/Root 1 0 R /Info 4 0 R")
        let manifest = try await Opening.opener().inspect(Array(titled.utf8))
        #expect(manifest.pages == [AssetPage(width: 100, height: 50)])
    }

    @Test func `500 pages are read, 501 are too many`() async throws {
        let opener = try Opening.opener()
        let page = "/MediaBox [0 0 100 100]"
        #expect(try await opener.inspect(SamplePDF.pages([String](repeating: page, count: 500))).pages.count == 500)
        let refusal = try await opener.refusal(SamplePDF.pages([String](repeating: page, count: 501)))
        #expect(refusal == .tooLarge("it has 501 pages"))
    }
}
