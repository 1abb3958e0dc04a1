import Foundation
import Locking
import PathGeometry
import Raster
import Scene
import StrokeWire
import TestSupport
import Testing

@testable import VectorGraphics

/// Where a text has ink, as parts of its box.
private struct InkBox: Equatable {
    var left = 1.0
    var top = 1.0
    var right = 0.0
    var bottom = 0.0
    var isEmpty: Bool { right < left }

    init(_ pixels: ImagePixels) {
        for y in 0..<pixels.height {
            for x in 0..<pixels.width where pixels.bytes[4 * (y * pixels.width + x) + 3] > 100 {
                left = min(left, Double(x) / Double(pixels.width))
                right = max(right, Double(x + 1) / Double(pixels.width))
                top = min(top, Double(y) / Double(pixels.height))
                bottom = max(bottom, Double(y + 1) / Double(pixels.height))
            }
        }
    }

    func isNear(_ other: InkBox, within bound: Double) -> Bool {
        [left - other.left, top - other.top, right - other.right, bottom - other.bottom].allSatisfy {
            $0.magnitude <= bound
        }
    }
}

private func drawn(_ source: TextSource, scale: Double) -> ImagePixels? { TextLayout(source).pixels(scale: scale) }

@Suite("A text in its box")
struct TextTests {
    private func source(_ text: String, width: Double = 400, height: Double = 200) -> TextSource {
        TextSource(text, colour: RGB(0x1F_4FD8), width: width, height: height)
    }

    private func ink(_ source: TextSource, scale: Double = 1) throws -> InkBox {
        InkBox(try #require(drawn(source, scale: scale)))
    }

    @Test func `is as large as the box allows, at the upper left, the same at any scale`() throws {
        for text in [
            "Hamburg", "one\ntwo\nthree", "iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii", "H\nH\nH\nH\nH\nH\nH\nH",
        ] {
            let layout = TextLayout(source(text))
            let width = layout.lines.indices.map { layout.width(ofLine: $0) }.max() ?? 0
            let height = Double(layout.lines.count) * layout.lineHeight
            // One of the sides is the box's, and none is beyond it.
            #expect(max(width / 400, height / 200) > 0.999 && max(width / 400, height / 200) < 1.001, "\(text)")
            let (small, large) = (try ink(source(text)), try ink(source(text), scale: 3))
            #expect(small.isNear(large, within: 0.02), "\(text): \(small), \(large)")
            #expect(small.left < 0.06 && small.right <= width / 400 + 0.02 && small.bottom <= height / 200 + 0.01)
        }
    }

    @Test(arguments: [
        "Die Würde des Menschen ist unantastbar, und nichts von diesem Satz fehlt am Ende H",
        "שלום עולם 123 שלום עולם 123 שלום עולם 123 שלום עולם 123 שלום עולם 123 ש",
        String(repeating: "H", count: 2000),
    ]) func `is drawn from end to end, however long its lines are`(text: String) throws {
        // Only as high as one line needs.
        let box = try ink(source(text, width: 4000, height: 400), scale: 1)
        #expect(box.left < 0.02 && box.right > 0.98, "\(box)")
        let pixels = try #require(drawn(source(text, width: 4000, height: 400), scale: 1))
        // In each eighth of it.
        for eighth in 0..<8 {
            let columns = eighth * pixels.width / 8..<(eighth + 1) * pixels.width / 8
            let isInked = (0..<pixels.height).contains { y in
                columns.contains { pixels.bytes[4 * (y * pixels.width + $0) + 3] > 0 }
            }
            #expect(isInked, "\(eighth)")
        }
    }

    @Test func `has its colour, and is transparent elsewhere`() throws {
        let pixels = try #require(drawn(source("██"), scale: 1))
        let opaque = stride(from: 0, to: pixels.bytes.count, by: 4).filter { pixels.bytes[$0 + 3] == 255 }
        let clear = stride(from: 0, to: pixels.bytes.count, by: 4).filter { pixels.bytes[$0 + 3] == 0 }
        #expect(!opaque.isEmpty && !clear.isEmpty)
        #expect(opaque.allSatisfy { Array(pixels.bytes[$0..<$0 + 3]) == [0x1F, 0x4F, 0xD8] })
        #expect(clear.allSatisfy { pixels.bytes[$0..<$0 + 3].allSatisfy { $0 == 0 } })
    }

    @Test func `stands at the upper right where it reads from right to left`() throws {
        // Two lines, so that the box is wider than they are.
        let box = try ink(source("שלום\nאב", width: 800))
        #expect(box.right > 0.97 && box.left > 0.4, "\(box)")
        let left = try ink(source("abcd\nab", width: 800))
        #expect(left.left < 0.03 && left.right < 0.6, "\(left)")
        // The shorter line stands at the right, too.
        let pixels = try #require(drawn(source("שלום\nאב", width: 800), scale: 1))
        let below = InkBox(
            try #require(
                ImagePixels(
                    width: pixels.width, height: pixels.height - pixels.height / 2,
                    bytes: Array(pixels.bytes[(4 * pixels.width * (pixels.height / 2))...]))))
        #expect(below.right > 0.95 && below.left > box.left + 0.05)
    }

    @Test(arguments: [
        "数学の時間", "한국어", "السلام عليكم", "नमस्ते", "e\u{301}e\u{301}\u{302}\u{303}", "😀👨‍👩‍👧‍👦🏳️‍🌈", "\u{10FFFF}\u{E000}",
        "\u{200b}", " \n ",
        "a\u{2028}b\u{2029}c", "<script>alert(1)</script> & <b>", "שלום abc 123 مرحبا", "\n\n\n", "\u{ffff}", "𓀀𒀀",
    ]) func `of any script, of marks and of signs that no font has stays in its box`(text: String) throws {
        for scale in [0.3, 2] {
            let pixels = try #require(drawn(source(text), scale: scale))
            let size = source(text).pixelSize(scale: scale)
            #expect(pixels.width == size.width && pixels.height == size.height)
        }
        // What no font has is seen too, as a box.
        if text.unicodeScalars.contains(where: {
            $0.value > 0x2fff && $0.value < 0xffff || $0.value > 0x1ffff && $0.value < 0x10ffff
        }) {
            #expect(try !ink(source(text)).isEmpty)
        }
    }

    /// Each about as long as a text may be.
    private static let longTexts: [String] = {
        func repeated(_ text: String) -> String { String(repeating: text, count: 2000 / text.utf8.count) }
        func scalars(from first: UInt32, step: UInt32, _ count: UInt32) -> String {
            let scalars = (0..<count).compactMap { UnicodeScalar(first + $0 * step) }
            return scalars.map { String($0) }.joined()
        }
        return [
            repeated("\u{301}"), "a" + repeated("\u{489}").unicodeScalars.dropLast().map { String($0) }.joined(),
            repeated("\n"), repeated("ﷺ"), repeated("W"), repeated("\u{1F468}\u{200D}"), repeated("क्"), repeated("a\n"),
            scalars(from: 0x3400, step: 37, 600), scalars(from: 0x300, step: 60, 660),
        ]
    }()

    @Test(arguments: TextTests.longTexts)
    func `of strangers takes little time and little memory, whatever it says`(text: String) throws {
        #expect(text.utf8.count <= BoardText.byteBound && text.utf8.count > 1600)
        let start = ContinuousClock.now
        for (width, height) in [(400.0, 200.0), (65536, 65536), (0.01, 65536), (65536, 0.001)] {
            let text = TextSource(text, colour: RGB(0), width: width, height: height)
            let most = 1 << 18
            let picture = TextLayout(text).pixels(scale: 4, most: most)
            #expect(try #require(picture).bytes.count <= 4 * (most + 16384))
        }
        // Milliseconds each; the bound is for machines that do much else.
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test func `of any characters is laid out and drawn in bounded time, and in bounded bytes as SVG and PDF`() throws {
        for var random in TestSeed.generators(20) {
            let text = random.text(bytes: random.pick([1, 40, 400, BoardText.byteBound]))
            #expect(BoardText.isValid(text))
            let start = ContinuousClock.now
            let (width, height) = (random.pick([0.01, 40, 400, 65536.0]), random.pick([0.01, 200, 65536.0]))
            for scale in [0.3, 2] {
                let source = source(text, width: width, height: height)
                let size = source.pixelSize(scale: scale, most: 1 << 18)
                let pixels = try #require(TextLayout(source).pixels(scale: scale, most: 1 << 18), "seed \(random.seed)")
                #expect(pixels.width == size.width && pixels.height == size.height, "seed \(random.seed)")
            }
            let board = drawing(text)
            let document = try SVGRenderer.render(board)
            let lines = BoardText.lines(of: text).filter { !$0.isEmpty }.count
            // Of each character at most an entity, and of each line its place.
            #expect(document.count <= 2000 + 200 * lines + 5 * text.utf8.count, "seed \(random.seed)")
            let elements = try SVGReader.elements(of: document)
            #expect(elements.count { $0.name == "text" } == lines, "seed \(random.seed)")
            #expect(!elements.contains { ["b", "image"].contains($0.name) }, "seed \(random.seed)")
            // Its fonts are in it, of each the glyphs that it needs.
            #expect(try PDFRenderer.render([board]).count <= 1 << 20, "seed \(random.seed)")
            // Milliseconds; the bound is for machines that do much else.
            #expect(ContinuousClock.now - start < .seconds(20), "seed \(random.seed)")
        }
    }

    /// No message brings them here.
    @Test func `with characters that no board takes is laid out all the same`() throws {
        for var random in TestSeed.generators(20) {
            let text = random.text(bytes: random.pick([1, 40, 400, 5000]), mayBeRefused: true)
            _ = try #require(drawn(source(text), scale: 1), "seed \(random.seed)")
        }
    }

    @Test func `is complete where the fonts of the machine have each of its characters`() {
        #expect(TextLayout(source("abc\n\nЖ")).isComplete && TextLayout(source("")).isComplete)
        #expect(!TextLayout(source("abc\n\u{10FFFD}")).isComplete)
        #expect(!TextFonts.missing().contains { $0.package == "fonts-dejavu-core" })
    }

    @Test func `without an area is nothing`() {
        for (width, height) in [(0.0, 10.0), (10, 0), (0, 0)] {
            #expect(drawn(TextSource("a", colour: RGB(0), width: width, height: height), scale: 1) == nil)
        }
    }

    @Test func `that lassos have copied is drawn once for a picture, and when its layer is painted`() throws {
        let images = PageImages().drawingTexts(scale: 1)
        func place(_ text: String) throws -> UnsafeRawPointer? {
            try #require(images[PictureSource.text(source(text))]).bytes.withUnsafeBytes { $0.baseAddress }
        }
        let pixels = try #require(images[PictureSource.text(source("one"))])
        #expect(try place("one") == pixels.bytes.withUnsafeBytes { $0.baseAddress })
        #expect(try place("two") != place("one"))

        let everything = [Point(0, 0), Point(800, 0), Point(800, 600), Point(0, 600)]
        var board = drawing(
            "copied", lasso: Lasso(points: everything, map: AffineMap(1, 0, 0, 1, 5, 5), keepsOriginal: true))
        let drawn = Locked(0)
        board.images.drawText = { _ in
            drawn.withLock { $0 += 1 }
            return pixels
        }
        var layers = board.layers().makeIterator()
        #expect(drawn.withLock { $0 } == 0)
        #expect(layers.next() != nil && drawn.withLock { $0 } == 1)
        #expect(layers.next() != nil && layers.next() == nil && drawn.withLock { $0 } == 2)
    }

    private func drawing(
        _ text: String, lasso: Lasso? = nil, from: Point = Point(100, 100), to: Point = Point(500, 300)
    ) -> BoardDrawing {
        var entries = [PageEntry(id: 1, .image(PlacedImage(text: text, colour: RGB(0xD9_2020), from: from, to: to)))]
        if let lasso { entries.append(PageEntry(id: 2, .lasso(lasso))) }
        return BoardDrawing(width: 800, height: 600, entries: entries, images: PageImages().drawingTexts(scale: 1))
    }

    @Test func `is text in SVG: escaped, one element a line, as wide as it is here`() throws {
        let file = try SVGRenderer.render(drawing("<script>a & b</script>\n\nzwei \u{ffff}\u{2028}\"Zeilen\""))
        let elements = try SVGReader.elements(of: file)
        #expect(!elements.contains { $0.name == "script" } && !elements.contains { $0.name == "image" })
        let lines = elements.filter { $0.name == "text" }
        #expect(lines.count == 2)
        let text = String(decoding: file, as: UTF8.self)
        #expect(
            text.contains(">&lt;script&gt;a &amp; b&lt;/script&gt;</text>")
                && text.contains(">zwei   \"Zeilen\"</text>"))
        let width = lines.compactMap { $0.attributes["textLength"].flatMap(Double.init) }.max() ?? 0
        #expect(width > 399 && width <= 400.01)
        #expect(
            elements.contains {
                $0.name == "svg" && $0.attributes["overflow"] == "hidden" && $0.attributes["fill"] == "#d92020"
            })
        let right = try SVGReader.elements(of: SVGRenderer.render(drawing("שלום")))
        #expect(
            right.contains { $0.attributes["direction"] == "rtl" }
                && right.contains { $0.name == "text" && $0.attributes["x"] == "400" })
    }

    @Test func `has the forms of Han characters of its language`() throws {
        let texts: [(String, String?)] = [
            ("直角 A", "zh-CN"), ("数学の時間", "ja"), ("ハ・ハ", "ja"), ("漢字 한국어", "ko"), ("马克・吐温", "zh-CN"), ("abc", nil),
        ]
        for (text, language) in texts {
            #expect(TextLayout(source(text)).language == language)
            let file = String(decoding: try SVGRenderer.render(drawing(text)), as: UTF8.self)
            #expect(file.contains(" xml:lang=\"\(language ?? "")\"") == (language != nil))
        }
    }

    @Test func `that a lasso has moved and cut is still text, in SVG and in PDF`() throws {
        let lasso = Lasso(
            points: [Point(50, 50), Point(300, 50), Point(300, 400), Point(50, 400)],
            map: AffineMap(0, 1, -1, 0, 600, 0))
        let cut = drawing("Some words", lasso: lasso)
        let elements = try SVGReader.elements(of: SVGRenderer.render(cut))
        #expect(
            elements.filter { $0.name == "text" }.count == 2 && elements.filter { $0.name == "clipPath" }.count == 2)
        #expect(elements.contains { $0.attributes["transform"]?.hasPrefix("matrix(0.0 1.0 -1.0 0.0") == true })
        #expect(try !PDFRenderer.render([cut]).isEmpty)
    }

    @Test(.enabled(if: InstalledProgram("pdftotext") != nil))
    func `can be selected and searched in PDF, in a font that the file has`() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("lectern-\(UUID().uuidString).pdf")
        defer { try? FileManager.default.removeItem(at: file) }
        var texts = [
            "Die Würde & das <b>Recht</b>\nzweite Zeile", "שלום עולם", "مرحبا بالعالم", "שלום abc", "Lösung 😀 Ende",
        ]
        if !TextFonts.missing().contains(where: { $0.package == "fonts-noto-cjk" }) {
            texts += ["数学の時間 二次方程式", "한국어 수업", "naïve 数 café"]
        }
        try Data(PDFRenderer.render(texts.map { drawing($0) })).write(to: file)
        let words = try InstalledProgram("pdftotext")?.run([file.path, "-"]).map { String(decoding: $0, as: UTF8.self) }
        for line in texts.flatMap({ $0.split(whereSeparator: \.isNewline) }) {
            // An emoji has several glyphs in some fonts.
            for word in line.split(separator: " ") where word.unicodeScalars.allSatisfy({ $0.value < 0x1_0000 }) {
                #expect(words?.contains(word) == true, "\(word)")
            }
        }
        let fonts = try InstalledProgram("pdffonts")?.run([file.path]).map { String(decoding: $0, as: UTF8.self) }
        #expect(fonts?.contains("yes") == true, "embedded")
    }

    @Test(arguments: Rasteriser.allCases.filter(\.isInstalled))
    func `is in the same place in PNG, SVG and PDF`(rasteriser: Rasteriser) throws {
        let texts = ["Hamburg", "two\nlines", "שלום", "Lösung 😀 Ende", "e\u{301}tude", "数学の時間"]
        // Another renderer draws otherwise what no font has.
        for text in texts where TextLayout(source(text)).isComplete {
            let board = drawing(text)
            let ours = try #require(Picture(board.canvas))
            let theirs = try rasteriser.picture(of: board)
            func box(_ picture: Picture) -> [Int] {
                let inked = picture.pixels.indices.filter { picture.pixels[$0] & 0xFF < 128 }
                let (columns, rows) = (inked.map { $0 % picture.width }, inked.map { $0 / picture.width })
                return [columns.min() ?? 0, rows.min() ?? 0, columns.max() ?? 0, rows.max() ?? 0]
            }
            // Two in a hundred of the box, 400 by 200.
            for (place, (mine, other)) in zip(box(ours), box(theirs)).enumerated() {
                #expect(abs(mine - other) <= (place % 2 == 0 ? 8 : 4), "\(text), \(place): \(box(ours)) \(box(theirs))")
            }
        }
    }
}
