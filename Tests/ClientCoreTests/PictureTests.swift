import Ink
import PathGeometry
import Raster
import Scene
import StrokeWire
import TestSupport
import Testing

@testable import ClientCore

/// What a shell has on its canvas: the boxes that it was told, one after the other.
struct PictureShell {
    var picture = Picture()
    private(set) var pixels: [UInt32] = []
    private(set) var width = 0
    private var viewport: Picture.Viewport?

    /// Draws, so many entries at a time, and takes the boxes.
    mutating func draw(entries: Int = .max) -> Int {
        var slices = 0
        var isDone = false
        while !isDone, slices < 100_000 {
            var left = entries
            isDone = picture.draw {
                left -= 1
                return left > 0
            }
            slices += 1
        }
        let size = picture.canvasSize
        if size.width != width || pixels.count != width * size.height || picture.viewport != viewport {
            (width, viewport) = (size.width, picture.viewport)
            pixels = Array(repeating: 0, count: width * size.height)
            picture.presentAll()
        }
        picture.takeBoxes(onto: &pixels, width: width)
        return slices
    }
}

extension Picture {
    /// Copies what has changed onto a canvas.
    func takeBoxes(onto pixels: inout [UInt32], width: Int) {
        var buffer: [UInt32] = []
        while let box = nextBox(&buffer) {
            for (offset, pixel) in buffer.enumerated() {
                pixels[(box.y + offset / box.width) * width + box.x + offset % box.width] = pixel
            }
        }
    }
}

@Suite("A page as a client shows it")
struct PictureTests {
    static let decoder = EntryDecoder(style: .smooth, tip: .round, colours: .palette(count: 16), palette: .standard)

    func entry(_ id: UInt64, _ message: String) -> Picture.Entry {
        Picture.Entry(id: id, message: Array("{\"n\":1,\"w\":400,\"h\":300,\(message)}".utf8))
    }

    func line(_ id: UInt64, _ x: Int, element: Int = 0, _ more: String = "") -> Picture.Entry {
        let points = "[{\"x\":\(x),\"y\":20},{\"x\":\(x),\"y\":150},{\"x\":\(x),\"y\":280}]"
        return entry(id, "\"e\":\(element),\"l\":4\(more),\"d\":\(points)")
    }

    func shown(_ entries: [Picture.Entry]) -> Picture {
        let picture = Picture()
        picture.show(entries, width: 400, height: 300, pixels: 400, decoder: Self.decoder)
        return picture
    }

    func message(_ random: inout SeededGenerator, element: Int? = nil) -> [UInt8] {
        var (x, y) = (random.int(0...400), random.int(0...300))
        let points = (0..<random.int(2...12)).map { _ in
            (x, y) = (x + random.int(-40...40), y + random.int(-40...40))
            return "{\"x\":\(x),\"y\":\(y)}"
        }
        let element = element ?? random.pick([0, 0, 0, 1, 2, 3, 4])
        let map = element == 6 ? ",\"m\":[1,0,0,1,\(random.int(-90...90)),\(random.int(-90...90))]" : ""
        return Array(
            """
            {"n":1,"c":\(random.int(0...7)),"l":\(random.int(1...9)),"e":\(element),"w":400,"h":300\(map),\
            "d":[\(points.joined(separator: ","))]}
            """.utf8)
    }

    /// The same page by a picture that knows nothing else.
    func fresh(_ entries: [Picture.Entry], live: [Picture.Entry] = [], pixels: Int = 500) -> PictureShell {
        var shell = PictureShell()
        shell.picture.show(entries, width: 400, height: 300, pixels: pixels, decoder: Self.decoder)
        shell.picture.showLive(live)
        _ = shell.draw()
        return shell
    }

    @Test func `after any changes, with lassos and live entries, the shell has the pixels of the page drawn at once`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        var shell = fresh([])
        var entries: [Picture.Entry] = []
        var live: [Picture.Entry] = []
        for step in 1...120 as ClosedRange<UInt64> {
            switch random.int(0..<10) {
            case 0..<5:
                let element = random.chance(1, in: 8) ? 6 : nil
                let entry = Picture.Entry(id: step, message: message(&random, element: element))
                entries.append(entry)
                shell.picture.insert(entry)
            case 5...6 where !entries.isEmpty:
                let gone = entries.remove(at: random.int(max(0, entries.count - 6)..<entries.count))
                shell.picture.remove(gone.id)
            case 7 where random.chance(1, in: 4): live = []
            default:
                let element = random.chance(1, in: 6) ? 6 : nil
                live.append(Picture.Entry(id: 1 << 52 + step, message: message(&random, element: element)))
            }
            // More than the picture keeps canvases of.
            if live.count > 14 { live.remove(at: random.int(0..<live.count)) }
            shell.picture.showLive(live)
            _ = shell.draw(entries: random.int(1...9))
            guard step % 5 == 0 else { continue }
            #expect(shell.pixels == fresh(entries, live: live).pixels, "step \(step)")
        }
        #expect(shell.pixels.contains { $0 != 0 })
    }

    @Test func `the shell has the pixels of ink over paper, whenever the paper, the ink or its pixels change`() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        let asset = try #require(AssetID(hexadecimal: String(repeating: "ab", count: 32)))
        let source = ImageSource(asset: asset, page: 0)
        func paper(_ kind: Int) -> PagePaper? {
            let slide = Paper.Slide(asset, page: 0, from: SIMD2(20, 10), to: SIMD2(300, 280), quarters: kind % 4)
            let paper =
                kind < 5
                ? Paper(.ruled(Paper.Ruling(rawValue: UInt8(kind)) ?? .blank, distance: 17)) : Paper(.slide(slide))
            return PagePaper(paper, width: 400, height: 300)
        }
        var shell = fresh([])
        var (entries, laid, width) = ([Picture.Entry](), paper(0), 500)
        var images: [ImageSource: ImagePixels] = [:]
        for step in 1...60 as ClosedRange<UInt64> {
            switch random.int(0..<8) {
            case 0..<3:
                entries.append(Picture.Entry(id: step, message: message(&random)))
                shell.picture.insert(entries[entries.count - 1])
            case 3..<6:
                laid = paper(random.int(0...8))
                shell.picture.lay(laid)
            case 6:
                width = random.pick([500, 300])
                shell.picture.show(entries, width: 400, height: 300, pixels: width, decoder: Self.decoder)
            default:
                let bytes = (0..<64).flatMap { _ -> [UInt8] in [UInt8(step), 9, 0, 255] }
                let pixels = try #require(ImagePixels(width: 8, height: 8, bytes: bytes))
                images[source] = pixels
                shell.picture.setPixels(.asset(source), pixels)
            }
            _ = shell.draw()
            // Pixels of images that are not seen are forgotten.
            if shell.picture.neededImages().isEmpty { images = [:] }
            var once = PictureShell()
            once.picture.lay(laid)
            once.picture.show(entries, width: 400, height: 300, pixels: width, decoder: Self.decoder)
            for (source, pixels) in images { once.picture.setPixels(.asset(source), pixels) }
            _ = once.draw()
            #expect(shell.pixels == once.pixels, "step \(step)")
        }
    }

    @Test func `on a dark board ink is light enough, and a page that images cover is as it was`() {
        let entries = [line(1, 100), line(2, 200, ",\"c\":7"), line(3, 300, ",\"c\":1")]
        var shell = fresh(entries)
        let light = shell.pixels
        func colours() -> Set<UInt32> {
            _ = shell.draw()
            return Set(shell.pixels.filter { $0 >> 24 == 0xff })
        }
        #expect(colours() == [0xff00_0000, 0xff7f_7f7f, 0xff20_20d9])
        shell.picture.isDark = true
        #expect(colours() == [0xfff0_f0f0, 0xffb1_b1b1, 0xff20_20d9])
        #expect(shell.picture.isShownDark)
        shell.picture.lay(.ruled(.lines, distance: 30))
        #expect(colours().contains(0xff48_403a))
        shell.picture.lay(nil)
        let id = String(repeating: "ab", count: 32)
        shell.picture.insert(entry(9, "\"e\":5,\"i\":\"\(id)\",\"d\":[{\"x\":0,\"y\":0},{\"x\":200,\"y\":150}]"))
        #expect(colours().contains(0xff00_0000) && !shell.picture.isShownDark)
        shell.picture.remove(9)
        #expect(!colours().contains(0xff00_0000) && shell.picture.isShownDark)
        shell.picture.isDark = false
        _ = shell.draw()
        #expect(shell.pixels == light)
    }

    @Test func `a page is drawn in as many slices as its time needs, and turned back to without drawing`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        let pages = (0..<2).map { page in
            (1...50).map { Picture.Entry(id: UInt64(page * 100 + $0), message: message(&random, element: 0)) }
        }
        var shell = fresh(pages[0])
        let first = shell.pixels
        shell.picture.show(pages[1], width: 400, height: 300, pixels: 500, decoder: Self.decoder)
        let slices = shell.draw(entries: 10)
        #expect(slices >= 5)
        #expect(shell.pixels == fresh(pages[1]).pixels)
        let drawn = shell.picture.layersDrawn
        shell.picture.show(pages[0], width: 400, height: 300, pixels: 500, decoder: Self.decoder)
        let again = shell.draw()
        #expect(again == 1)
        #expect(shell.picture.layersDrawn == drawn)
        #expect(shell.pixels == first)
    }

    @Test("an image is a frame until its pixels are there, and is needed at the width that the service fetches")
    func images() throws {
        let id = String(repeating: "ab", count: 32)
        let text =
            "{\"n\":1,\"e\":5,\"w\":400,\"h\":300,\"i\":\"\(id)\",\"p\":2,\"d\":[{\"x\":100,\"y\":100},{\"x\":300,\"y\":200}]}"
        var shell = fresh([Picture.Entry(id: 1, message: Array(text.utf8))])
        let source = ImageSource(asset: try #require(AssetID(hexadecimal: id)), page: 2)
        let needed = shell.picture.neededImages()
        #expect(needed == [Picture.NeededImage(source: .asset(source), width: 256, height: 0, knownWidth: 0)])
        let middle = 190 * 500 + 250
        #expect(shell.pixels[130 * 500 + 200] == 0)
        let pixels = ImagePixels(width: 2, height: 1, straight: [255, 0, 0, 255, 255, 0, 0, 255])
        shell.picture.setPixels(.asset(source), pixels)
        _ = shell.draw()
        #expect(shell.pixels[middle] == 0xFF00_00FF)
        let known = shell.picture.neededImages().first?.knownWidth
        let (found, nothing) = (shell.picture.image(at: Point(200, 150)), shell.picture.image(at: Point(50, 150)))
        #expect(known == 2 && found?.source == source && found?.isWhole == true && nothing == nil)
        // What is not shown is forgotten.
        shell.picture.remove(1)
        _ = shell.draw()
        let rest = shell.picture.neededImages()
        #expect(rest.isEmpty)
        #expect(shell.pixels.allSatisfy { $0 == 0 })
    }

    @Test func `a text is a frame until its pixels are there, and is found where it was drawn`() {
        func entry(_ id: UInt64, _ text: String, _ corners: String) -> Picture.Entry {
            let text =
                "{\"n\":1,\"e\":8,\"c\":3,\"l\":20,\"w\":800,\"h\":600,\"x\":\"\(text)\",\"d\":[\(corners)]}"
            return Picture.Entry(id: id, message: Array(text.utf8))
        }
        let first = entry(1, "one", "{\"x\":600,\"y\":400},{\"x\":200,\"y\":200}")
        var shell = fresh([first, entry(4, "two\\nlines", "{\"x\":560,\"y\":360},{\"x\":640,\"y\":400}")])
        let needed = shell.picture.neededImages()
        let texts = needed.compactMap { if case .text(let text) = $0.source { text } else { nil } }
        #expect(texts.map(\.text) == ["one", "two\nlines"] && needed.map(\.knownWidth) == [0, 0])
        #expect(texts.map(\.width) == [200, 40] && texts.map(\.height) == [100, 20])
        #expect(Set(texts.map(\.colour)) == [RGB(0x1a9850)])
        // Nearly two pixels for each of the canvas.
        #expect(needed.map(\.width) == [475, 95] && needed.map(\.height) == [238, 48])
        let middle = 190 * 500 + 250
        #expect(shell.pixels[130 * 500 + 150] != 0 || shell.pixels[middle] == 0)
        shell.picture.setPixels(needed[0].source, ImagePixels(width: 1, height: 1, straight: [255, 0, 0, 255]))
        _ = shell.draw()
        #expect(shell.pixels[middle] == 0xFF00_00FF)
        // The topmost one.
        let (low, high, none) = (
            shell.picture.text(at: Point(150, 150)), shell.picture.text(at: Point(290, 190)),
            shell.picture.text(at: Point(50, 50))
        )
        #expect(low?.id == 1 && low?.text.text == "one" && low?.colour == 3 && low?.lineHeight == 10)
        #expect(high?.id == 4 && none == nil)
        // An eraser of whole strokes takes it; what is put back is there.
        let lifted = shell.picture.liftStrokes(under: [Point(150, 150)], radius: 5)
        #expect(lifted == [1])
        shell.picture.putBack([1])
        let again = shell.picture.neededImages().count
        #expect(again == 2)
        // A lasso takes a part of it: what is moved is of the same pixels.
        #expect(shell.picture.select([Point(100, 100), Point(200, 100), Point(200, 200), Point(100, 200)]) == true)
        shell.picture.remove(1)
        shell.picture.remove(4)
        _ = shell.draw()
        let rest = shell.picture.neededImages()
        #expect(rest.isEmpty && shell.pixels.allSatisfy { $0 == 0 })
    }

    @Test func `however many texts a page has, their pixels stay within half of those of images`() {
        let entries = (1...200 as ClosedRange<UInt64>).map { id in
            Picture.Entry(
                id: id,
                message: Array(
                    "{\"n\":1,\"e\":8,\"l\":200,\"x\":\"\(id)\",\"d\":[{\"x\":0,\"y\":0},{\"x\":1024,\"y\":768}]}".utf8)
            )
        }
        let picture = Picture()
        picture.show(entries, width: 1024, height: 768, pixels: 4096, decoder: Self.decoder)
        let bytes = picture.neededImages().reduce(0) { $0 + 4 * $1.width * $1.height }
        #expect(bytes <= Picture.imageBytes * 5 / 8 && bytes > Picture.imageBytes / 3)
    }

    @Test("a part of a page at any scale has the pixels of the whole, and the whole comes back without drawing")
    func viewport() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        var shell = PictureShell()
        func stroke(_ id: UInt64) -> Picture.Entry {
            let points = (0..<random.int(1...9)).map { _ in
                "{\"x\":\(random.int(-20...420)),\"y\":\(random.int(-20...320))}"
            }
            let element = random.pick([0, 0, 0, 1, 2, 3, 4, 9])
            return entry(id, "\"e\":\(element),\"c\":\(id % 8),\"l\":6,\"d\":[\(points.joined(separator: ","))]")
        }
        var entries = (1...60).map { stroke(UInt64($0)) }
        entries.append(
            entry(
                61,
                "\"e\":6,\"d\":[{\"x\":50,\"y\":50},{\"x\":250,\"y\":60},{\"x\":150,\"y\":200}],\"m\":[0.9,0.1,-0.1,0.9,80,30]"
            ))
        shell.picture.lay(PagePaper(Paper(.ruled(.squares, distance: 20)), width: 400, height: 300))
        shell.picture.show(entries, width: 400, height: 300, pixels: 400, decoder: Self.decoder)
        _ = shell.draw()
        let whole = shell.pixels
        for scale in [0.5, 2, 3.7, 8] {
            var large = PictureShell()
            large.picture.lay(PagePaper(Paper(.ruled(.squares, distance: 20)), width: 400, height: 300))
            let columns = Int((400 * scale).rounded())
            large.picture.show(entries, width: 400, height: 300, pixels: columns, decoder: Self.decoder)
            _ = large.draw()
            let (width, height) = (random.int(1...min(250, columns)), random.int(1...min(150, columns * 3 / 4)))
            let (x, y) = (random.int(0...columns - width), random.int(0...columns * 3 / 4 - height))
            let part = try #require(Picture.Viewport(x: x, y: y, width: width, height: height, scale: scale))
            shell.picture.look(at: part)
            _ = shell.draw(entries: 7)
            #expect(shell.width == width && shell.pixels.count == width * height)
            var most: UInt8 = 0
            for place in shell.pixels.indices {
                let (one, other) = (
                    shell.pixels[place], large.pixels[(y + place / width) * columns + x + place % width]
                )
                // With straight alpha, the colour of faint pixels has few digits.
                for shift: UInt32 in [0, 8, 16, 24] where one != other {
                    func premultiplied(_ pixel: UInt32) -> Int {
                        let value = Int(truncatingIfNeeded: pixel >> shift & 255)
                        return shift == 24 ? value : value * Int(pixel >> 24) / 255
                    }
                    most = max(most, UInt8(clamping: abs(premultiplied(one) - premultiplied(other))))
                }
            }
            #expect(most <= 4, "at \(scale) from \(x), \(y)")
            #expect(shell.picture.canvasSize.scale == scale)
        }
        let drawn = shell.picture.layersDrawn
        shell.picture.look(at: nil)
        _ = shell.draw()
        #expect(shell.pixels == whole)
        #expect(shell.picture.layersDrawn == drawn)
        shell.picture.look(at: Picture.Viewport(x: 0, y: 0, width: 10, height: 10, scale: 4))
        shell.picture.insert(line(62, 200, ",\"c\":3"))
        _ = shell.draw()
        shell.picture.look(at: nil)
        _ = shell.draw()
        #expect(shell.pixels != whole)
    }

    @Test func `no part that is none, or too large, is looked at`() {
        for (side, scale) in [(0, 1.0), (-1, 1), (4097, 1), (100, 0), (100, .nan), (100, .infinity), (100, 1e9)] {
            #expect(Picture.Viewport(x: 0, y: 0, width: side, height: 100, scale: scale) == nil)
        }
        #expect(Picture.Viewport(x: .min, y: 0, width: 100, height: 100, scale: 1) == nil)
    }

    @Test func `images beyond the bytes that a picture keeps stay empty frames`() throws {
        let names = (10...20).map { String(repeating: "\($0)", count: 32) }
        let entries = names.enumerated().map { place, name in
            let box = "\"d\":[{\"x\":\(place),\"y\":0},{\"x\":900,\"y\":700}]"
            return Picture.Entry(id: UInt64(place), message: Array("{\"n\":1,\"e\":5,\"i\":\"\(name)\",\(box)}".utf8))
        }
        let shell = fresh(entries)
        let side = 2048
        let pixels = ImagePixels(width: side, height: side, straight: Array(repeating: 255, count: 4 * side * side))
        for name in names {
            let asset = try #require(AssetID(hexadecimal: name))
            shell.picture.setPixels(.asset(ImageSource(asset: asset, page: 0)), pixels)
        }
        let known = shell.picture.neededImages().filter { $0.knownWidth > 0 }
        #expect(known.count == Picture.imageBytes / (4 * side * side))
    }

    @Test func `a malformed message shows nothing, and harms nothing`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        let good = message(&random, element: 0)
        for _ in 0..<300 {
            var bytes = good
            for _ in 0..<random.int(1...4) { bytes[random.int(0..<bytes.count)] = UInt8(random.int(0...255)) }
            let bad = Picture.Entry(
                id: 2, message: random.chance(1, in: 4) ? Array(bytes.prefix(random.int(0..<40))) : bytes)
            var shell = fresh([Picture.Entry(id: 1, message: good), bad])
            shell.picture.remove(2)
            _ = shell.draw()
            #expect(shell.pixels == fresh([Picture.Entry(id: 1, message: good)]).pixels)
        }
    }
}
