import Ink
import PathGeometry
import Raster
import Scene
import StrokeWire
import TestSupport
import Testing

@testable import ClientCore

/// What lies at a place of a page or inside of a path.
extension PictureTests {
    @Test func `an eraser of whole strokes lifts what it touches, from the top, and nothing else`() {
        let picture = shown([line(1, 100), line(2, 104), line(3, 200), line(4, 300, element: 4)])
        #expect(picture.liftStrokes(under: [Point(150, 50)], radius: 20) == [])
        #expect(picture.liftStrokes(under: [Point(112, 50)], radius: 5) == [], "6 units from the edge")
        #expect(picture.liftStrokes(under: [Point(112, 50)], radius: 8) == [2])
        let across = [Point(90, 30), Point(310, 60)]
        #expect(picture.liftStrokes(under: across, radius: 1) == [3, 1], "an eraser is no stroke")
        #expect(picture.liftStrokes(under: across, radius: 1) == [], "each once")
        // A shape is touched at its line, not inside of it.
        let shapes = shown([
            entry(1, "\"e\":3,\"l\":4,\"d\":[{\"x\":100,\"y\":100},{\"x\":200,\"y\":200}]"),
            entry(2, "\"e\":2,\"l\":4,\"d\":[{\"x\":200,\"y\":100},{\"x\":300,\"y\":200}]"),
        ])
        #expect(shapes.liftStrokes(under: [Point(150, 150), Point(180, 150)], radius: 10) == [], "inside")
        #expect(shapes.liftStrokes(under: [Point(150, 150), Point(240, 150)], radius: 10) == [2, 1], "across both")
    }

    @Test func `moved strokes are touched where they are now; a part of a stroke takes the stroke`() {
        let corners = [(50, 0), (150, 0), (150, 100), (50, 100)].map { "{\"x\":\($0.0),\"y\":\($0.1)}" }
        let lasso = entry(3, "\"e\":6,\"m\":[1,0,0,1,150,0],\"d\":[\(corners.joined(separator: ","))]")
        let entries = [line(1, 100), line(2, 350), lasso]
        let picture = shown(entries)
        #expect(picture.liftStrokes(under: [Point(100, 50)], radius: 5) == [], "it is not there any more")
        #expect(picture.liftStrokes(under: [Point(250, 50)], radius: 5) == [1])
        let other = shown(entries)
        #expect(other.liftStrokes(under: [Point(100, 200)], radius: 5) == [1], "the part that stayed")
    }

    @Test
    func `lifted strokes are out of sight until they are put back, drawn anew or not; removed ones stay away`() {
        var shell = PictureShell()
        func expect(_ ids: [UInt64], _ text: Comment) {
            _ = shell.draw()
            var other = PictureShell()
            other.picture = shown(ids.map { line($0, Int($0) * 50) })
            _ = other.draw()
            #expect(shell.pixels == other.pixels, text)
        }
        let all = (1...4).map { line($0, Int($0) * 50) }
        shell.picture = shown(all)
        #expect(shell.picture.liftStrokes(under: [Point(90, 60), Point(210, 60)], radius: 3) == [4, 3, 2])
        expect([1], "lifted")
        shell.picture.show(all, width: 400, height: 300, pixels: 400, decoder: Self.decoder)
        expect([1], "still, where the page is drawn anew")
        shell.picture.remove(3)
        shell.picture.putBack([2, 3, 4])
        expect([1, 2, 4], "the room has removed one")
        shell.picture.insert(line(3, 150))
        expect([1, 2, 3, 4], "an undo brings it back")
    }

    @Test func `looks at so many points in a call, and at the rest in the next`() {
        let many = (0..<60_000).map { "{\"x\":\(50 + $0 % 3),\"y\":\(20 + $0 % 200)}" }.joined(separator: ",")
        let far = (2...5).map { entry($0, "\"d\":[\(many)]") }
        let picture = shown([line(1, 300)] + far)
        var calls = 1
        while picture.liftStrokes(under: [Point(300, 50)], radius: 5) != [1], calls < 9 { calls += 1 }
        #expect(calls == 2)
    }

    @Test func `strokes inside of a path are found as they are seen, but for parts that an eraser or a lasso has cut`()
        throws
    {
        func loop(_ left: Double, _ right: Double) -> [Point] {
            [Point(left, 0), Point(right, 0), Point(right, 300), Point(left, 300)]
        }
        let eraser = entry(3, "\"e\":4,\"l\":9,\"d\":[{\"x\":190,\"y\":50},{\"x\":210,\"y\":50}]")
        let picture = shown([line(1, 100, ",\"c\":2"), line(2, 200), eraser, line(4, 350)])
        picture.showLive([line(1 << 52, 120)])
        #expect(picture.select(loop(50, 250)) == true)
        var found = picture.selectedInk()
        #expect(found.ids == [1, 1 << 52] && found.cutCount == 1)
        // Moved by a lasso: where it is now, and as wide as it is then.
        let corners = [(50, 0), (150, 0), (150, 300), (50, 300)].map { "{\"x\":\($0.0),\"y\":\($0.1)}" }
        picture.showLive([])
        picture.insert(entry(5, "\"e\":6,\"m\":[0.5,0,0,0.5,150,0],\"d\":[\(corners.joined(separator: ","))]"))
        #expect(picture.select(loop(190, 220)) == true)
        found = picture.selectedInk()
        #expect(found.ids == [1] && found.cutCount == 1)
        var points: [StrokePoint] = []
        let header = try StrokeMessage(decoding: try #require(found.messages.first), limits: .accepted, points: &points)
        #expect(header.colour == 2 && header.width == 2 && points.map { $0.x } == [200, 200, 200])
        #expect(points.map { $0.y } == [10, 75, 140])
        #expect(picture.select(loop(340, 360)) == true)
        found = picture.selectedInk()
        #expect(found.ids == [4])
    }

    @Test func `a selection is what is inside of its path, where a map puts it`() throws {
        let line = "{\"n\":1,\"l\":10,\"e\":1,\"w\":400,\"h\":300,\"d\":[{\"x\":0,\"y\":100},{\"x\":400,\"y\":100}]}"
        var shell = fresh([Picture.Entry(id: 1, message: Array(line.utf8))], pixels: 400)
        let square = [Point(100, 50), Point(200, 50), Point(200, 150), Point(100, 150)]
        let isNothing = !shell.picture.select([Point(0, 200), Point(50, 200), Point(50, 250)])
        let isSelected = shell.picture.select(square)
        #expect(isNothing && isSelected)
        var pixels: [UInt32] = []
        guard let box = shell.picture.selection(AffineMap(1, 0, 0, 1, 50, 20), &pixels) else {
            throw Unexpected("nothing is selected")
        }
        let ink = pixels.indices.filter { pixels[$0] != 0 }.map { (box.x + $0 % box.width, box.y + $0 / box.width) }
        #expect(ink.map { $0.0 }.min() == 150 && ink.map { $0.0 }.max() == 249)
        #expect(ink.map { $0.1 }.min() == 115 && ink.map { $0.1 }.max() == 124)
        // The page is as it was.
        _ = shell.draw()
        #expect(shell.pixels == fresh([Picture.Entry(id: 1, message: Array(line.utf8))], pixels: 400).pixels)
    }
}

extension PictureTests {
    @Test func `the picture of a selection has no more pixels than the largest canvas, and is in its place`() throws {
        let cross = [
            entry(1, "\"e\":1,\"l\":10,\"d\":[{\"x\":0,\"y\":0},{\"x\":400,\"y\":300}]"),
            entry(2, "\"e\":1,\"l\":10,\"d\":[{\"x\":400,\"y\":0},{\"x\":0,\"y\":300}]"),
        ]
        let picture = Picture()
        picture.show(cross, width: 400, height: 300, pixels: Picture.largestSide, decoder: Self.decoder)
        #expect(picture.select([Point(0, 0), Point(400, 0), Point(400, 300), Point(0, 300)]) == true)
        var pixels: [UInt32] = []
        // Three times as large around the middle of the page.
        let large = picture.selection(AffineMap(3, 0, 0, 3, -400, -300), &pixels)
        let box = try #require(large)
        #expect(box.width * box.height <= Picture.largestSide * Picture.largestSide)
        #expect(pixels.count == box.width * box.height)
        // All of the page is there, whatever of the picture lies beside it.
        #expect(box.x <= 0 && box.y <= 0 && box.x + box.width >= 4096 && box.y + box.height >= 3072)
        func pixel(_ x: Int, _ y: Int) -> UInt32 { pixels[(y - box.y) * box.width + x - box.x] }
        #expect(pixel(2048, 1536) != 0 && pixel(1024, 768) != 0 && pixel(1024, 2304) != 0)
        #expect(pixel(2048, 100) == 0 && pixel(100, 1536) == 0)
        // A small one has all of it that is near the page.
        let small = picture.selection(AffineMap(1, 0, 0, 1, 100, 0), &pixels)
        let whole = try #require(small)
        #expect(whole.x + whole.width > 5000)
    }
}
