import PathGeometry
import Raster
import Testing

@testable import ClientCore

extension PictureTests {
    @Test func `the picture of a selection has no more pixels than the largest canvas, and is in its place`() throws {
        let cross = [
            entry(1, "\"e\":1,\"l\":10,\"d\":[{\"x\":0,\"y\":0},{\"x\":400,\"y\":300}]"),
            entry(2, "\"e\":1,\"l\":10,\"d\":[{\"x\":400,\"y\":0},{\"x\":0,\"y\":300}]"),
        ]
        var picture = Picture()
        picture.show(cross, width: 400, height: 300, pixels: Picture.largestSide, decoder: Self.decoder)
        let isSelected = picture.select([Point(0, 0), Point(400, 0), Point(400, 300), Point(0, 300)])
        #expect(isSelected)
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
