import Ink
import PathGeometry
import Raster
import Scene
import StrokeWire
import TestSupport
import Testing

@testable import ClientCore

/// What a shell has on its canvas: the boxes that it was told, one after the other.
private struct Shell {
    var picture = Picture()
    private(set) var pixels: [UInt32] = []
    private(set) var width = 0
    private var buffer: [UInt32] = []

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
        if picture.size.width != width || pixels.count != width * picture.size.height {
            width = picture.size.width
            pixels = Array(repeating: 0, count: width * picture.size.height)
            picture.presentAll()
        }
        while let box = picture.nextBox(&buffer) {
            for (offset, pixel) in buffer.enumerated() {
                pixels[(box.y + offset / box.width) * width + box.x + offset % box.width] = pixel
            }
        }
        return slices
    }
}

@Suite("A page as a client shows it")
struct PictureTests {
    private static let decoder = EntryDecoder(
        style: .smooth, tip: .round, colours: .palette(count: 8), palette: .standard)

    private func message(_ random: inout SeededGenerator, element: Int? = nil) -> [UInt8] {
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
    private func fresh(_ entries: [Picture.Entry], live: [Picture.Entry] = [], pixels: Int = 500) -> Shell {
        var shell = Shell()
        shell.picture.show(entries, width: 400, height: 300, pixels: pixels, decoder: Self.decoder)
        shell.picture.showLive(live)
        _ = shell.draw()
        return shell
    }

    @Test(
        "after any changes of a page, with lassos and live entries, the shell has the pixels of the page drawn at once")
    func incremental() {
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
            case 7 where random.chance(1, in: 2): live = []
            default:
                let element = random.chance(1, in: 6) ? 6 : nil
                live.append(Picture.Entry(id: 1 << 52 + step, message: message(&random, element: element)))
            }
            if live.count > 4 { live.removeFirst() }
            shell.picture.showLive(live)
            _ = shell.draw(entries: random.int(1...9))
            guard step % 5 == 0 else { continue }
            #expect(shell.pixels == fresh(entries, live: live).pixels, "step \(step)")
        }
        #expect(shell.pixels.contains { $0 != 0 })
    }

    @Test("a page is drawn in as many slices as its time needs, and turned back to without drawing")
    func slices() {
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
        #expect(needed == [Picture.NeededImage(source: source, width: 256, knownWidth: 0)])
        let middle = 190 * 500 + 250
        #expect(shell.pixels[130 * 500 + 200] == 0)
        let pixels = ImagePixels(
            width: 2, height: 1, straight: [255, 0, 0, 255, 255, 0, 0, 255])
        shell.picture.setImage(source, pixels)
        _ = shell.draw()
        #expect(shell.pixels[middle] == 0xFF00_00FF)
        let known = shell.picture.neededImages().first?.knownWidth
        let (corners, nothing) = (
            shell.picture.imageCorners(at: Point(200, 150)), shell.picture.imageCorners(at: Point(50, 150))
        )
        #expect(known == 2 && corners != nil && nothing == nil)
        // What is not shown is forgotten.
        shell.picture.remove(1)
        _ = shell.draw()
        let rest = shell.picture.neededImages()
        #expect(rest.isEmpty)
        #expect(shell.pixels.allSatisfy { $0 == 0 })
    }

    @Test("a selection is what is inside of its path, where a map puts it")
    func selection() {
        let line = "{\"n\":1,\"l\":10,\"e\":1,\"w\":400,\"h\":300,\"d\":[{\"x\":0,\"y\":100},{\"x\":400,\"y\":100}]}"
        var shell = fresh([Picture.Entry(id: 1, message: Array(line.utf8))], pixels: 400)
        let square = [Point(100, 50), Point(200, 50), Point(200, 150), Point(100, 150)]
        let isNothing = !shell.picture.select([Point(0, 200), Point(50, 200), Point(50, 250)])
        let isSelected = shell.picture.select(square)
        #expect(isNothing && isSelected)
        var pixels: [UInt32] = []
        guard let box = shell.picture.selection(AffineMap(1, 0, 0, 1, 50, 20), &pixels) else {
            Issue.record("nothing is selected")
            return
        }
        let ink = pixels.indices.filter { pixels[$0] != 0 }.map { (box.x + $0 % box.width, box.y + $0 / box.width) }
        #expect(ink.map { $0.0 }.min() == 150 && ink.map { $0.0 }.max() == 249)
        #expect(ink.map { $0.1 }.min() == 115 && ink.map { $0.1 }.max() == 124)
        // The page is as it was.
        _ = shell.draw()
        #expect(shell.pixels == fresh([Picture.Entry(id: 1, message: Array(line.utf8))], pixels: 400).pixels)
    }

    @Test("images beyond the bytes that a picture keeps stay empty frames")
    func imageBytes() throws {
        let names = (10...20).map { String(repeating: "\($0)", count: 32) }
        let entries = names.enumerated().map { place, name in
            let box = "\"d\":[{\"x\":\(place),\"y\":0},{\"x\":900,\"y\":700}]"
            return Picture.Entry(
                id: UInt64(place), message: Array("{\"n\":1,\"e\":5,\"i\":\"\(name)\",\(box)}".utf8))
        }
        var shell = fresh(entries)
        let side = 2048
        let pixels = ImagePixels(width: side, height: side, straight: Array(repeating: 255, count: 4 * side * side))
        for name in names {
            let asset = try #require(AssetID(hexadecimal: name))
            shell.picture.setImage(ImageSource(asset: asset, page: 0), pixels)
        }
        let known = shell.picture.neededImages().filter { $0.knownWidth > 0 }
        #expect(known.count == Picture.imageBytes / (4 * side * side))
    }

    @Test("what is no message shows nothing, and harms nothing")
    func hostile() {
        var random = SeededGenerator(seed: TestSeed.choose())
        let good = message(&random, element: 0)
        for _ in 0..<300 {
            var bytes = good
            for _ in 0..<random.int(1...4) {
                bytes[random.int(0..<bytes.count)] = UInt8(random.int(0...255))
            }
            let bad = Picture.Entry(
                id: 2, message: random.chance(1, in: 4) ? Array(bytes.prefix(random.int(0..<40))) : bytes)
            var shell = fresh([Picture.Entry(id: 1, message: good), bad])
            shell.picture.remove(2)
            _ = shell.draw()
            #expect(shell.pixels == fresh([Picture.Entry(id: 1, message: good)]).pixels)
        }
    }
}
