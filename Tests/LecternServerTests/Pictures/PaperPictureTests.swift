import Raster
import Scene
import StrokeWire
import TestSupport
import Testing

@testable import LecternServer
@testable import Whiteboard

/// Pictures of pages with paper: the ink lies over it, and the eraser does not reach it.
@Suite struct `Pictures of pages with paper` {
    private let renderer = BoardRenderer.test()

    private func picture(_ room: DrawnRoom, _ form: PictureForm, images: PageImageSet = .none) throws -> [UInt8] {
        try renderer.picture(of: room.board, form, images: images)
    }

    private let grey: UInt32 = 0xFFE0_D9D4
    private let white: UInt32 = 0xFFFF_FFFF

    private func pixel(_ file: PNGReader, _ x: Int, _ y: Int) -> UInt32 { file.pixels[y * file.width + x] }

    @Test func `have lines of one pixel at the distance in board units, at any scale`() throws {
        var room = try DrawnRoom(width: 400, height: 300)
        try room.send(#""a":4"#)
        try room.send(#""a":7,"p":1,"l":20,"w":200,"h":150"#)
        for width in [400, 1000] {
            let file = try PNGReader(picture(room, PictureForm(width: width)))
            let scale = Double(width) / 400
            let rows = (1..<300).map { Int((Double($0) * 40 * scale).rounded(.down)) }.filter { $0 < file.height }
            for y in 0..<file.height {
                #expect(pixel(file, 17, y) == (rows.contains(y) ? grey : white), "\(y) of \(width)")
            }
        }
    }

    @Test(arguments: [(2, "squares"), (3, "dots"), (4, "staves")])
    func `have squares, dots and staves`(_ ruling: Int, _ name: String) throws {
        var room = try DrawnRoom(width: 400, height: 300)
        try room.send(#""a":4"#)
        try room.send(#""a":7,"p":\#(ruling),"l":10"#)
        let file = try PNGReader(picture(room, PictureForm()))
        func isGrey(_ x: Int, _ y: Int) -> Bool { pixel(file, x, y) == grey }
        #expect(isGrey(20, 20), "where lines cross in all of them")
        #expect(isGrey(25, 20) == (ruling != 3) && isGrey(20, 25) == (ruling == 2))
        #expect(isGrey(25, 80) == (ruling == 2), "staves have a space between them")
        #expect(isGrey(21, 21) == (ruling == 3))
    }

    @Test(arguments: [PictureFormat.png, .svg, .pdf])
    func `of dots have none on a board that is narrower than their distance`(_ format: PictureFormat) throws {
        var room = try DrawnRoom(width: 100, height: 600)
        try room.send(#""a":7,"p":3,"l":128,"w":100,"h":600"#)
        let blank = try picture(room, PictureForm(format: format, hasPaper: false))
        #expect(try picture(room, PictureForm(format: format)) == blank)
    }

    @Test func `show it where the eraser was and under ink; without it they are as before`() throws {
        var room = try DrawnRoom(strokes: 8)
        let before = try picture(room, PictureForm())
        try room.send(#""a":7,"p":2,"l":16,"w":400,"h":300"#)
        #expect(try picture(room, PictureForm(hasPaper: false)) == before)
        let ruled = try PNGReader(picture(room, PictureForm()))
        try room.send(#""e":4,"l":200,"w":400,"h":300,"d":[{"x":0,"y":150},{"x":400,"y":150}]"#)
        let erased = try PNGReader(picture(room, PictureForm()))
        #expect(erased.pixels != ruled.pixels)
        for y in 100..<200 {
            for x in 0..<400 {
                #expect(pixel(erased, x, y) == ((y % 16 == 0 || x > 0 && x % 16 == 0) ? grey : white), "\(x) \(y)")
            }
        }
        let clear = try PNGReader(picture(room, PictureForm(background: .transparent)))
        #expect(pixel(clear, 5, 150) == 0 && pixel(clear, 16, 150) == grey)
    }

    @Test func `a part has the pixels of the whole`() throws {
        var room = try DrawnRoom(strokes: 8)
        try room.send(#""a":7,"p":3,"l":9,"w":400,"h":300"#)
        let whole = try PNGReader(picture(room, PictureForm(width: 800)))
        let part = try PNGReader(
            picture(room, PictureForm(width: 200, part: BoardPart(x: 50, y: 40, width: 100, height: 60))))
        for y in 0..<part.height {
            for x in 0..<part.width { #expect(pixel(part, x, y) == pixel(whole, x + 100, y + 80), "\(x) \(y)") }
        }
    }

    @Test func `a document has the slides of all pages, however many these are`() throws {
        let id = String(repeating: "ab", count: 32)
        var room = try DrawnRoom(width: 400, height: 300)
        for page in 0..<300 {
            try room.send(#""a":7,"g":\#(page),"i":"\#(id)","p":\#(page),"d":[{"x":0,"y":0},{"x":400,"y":300}]"#)
        }
        let slides = renderer.images(of: room.board, PictureForm(format: .pdf)).map(\.source.page)
        #expect(slides == Array(0..<300))
    }

    @Test func `a slide lies where its corners are, rotated by quarters; a missing one is a frame`() throws {
        let id = String(repeating: "ab", count: 32)
        let source = ImageSource(asset: try #require(AssetID(hexadecimal: id)), page: 2)
        // Red in the upper left quarter, blue elsewhere.
        let bytes = (0..<20 * 20).flatMap {
            $0 % 20 < 10 && $0 / 20 < 10 ? [255, 0, 0, 255] : [0, 0, 255, 255 as UInt8]
        }
        let pixels = try #require(ImagePixels(width: 20, height: 20, bytes: bytes))
        let key = PageImageCache.Key(source: source, width: 64)
        let images = PageImageSet([key], [key: pixels])
        for (quarters, red) in [(60, 60), (140, 60), (140, 140), (60, 140)].enumerated() {
            var room = try DrawnRoom(width: 400, height: 300)
            try room.send(#""a":4"#)
            try room.send(
                #""a":7,"i":"\#(id)","p":2,"k":\#(quarters),"w":800,"h":600,"d":[{"x":400,"y":80},{"x":80,"y":400}]"#)
            #expect(renderer.images(of: room.board, PictureForm()).map(\.source) == [source])
            #expect(renderer.images(of: room.board, PictureForm(hasPaper: false)).isEmpty)
            let file = try PNGReader(picture(room, PictureForm(), images: images))
            for (x, y) in [(60, 60), (140, 60), (140, 140), (60, 140)] {
                let seen = pixel(file, x + 20, y + 20)
                #expect(seen == ((x, y) == red ? 0xFF00_00FF : 0xFFFF_0000), "\(quarters): \(x) \(y)")
            }
            #expect(pixel(file, 30, 30) == white && pixel(file, 210, 100) == white)
            let frame = try PNGReader(picture(room, PictureForm()))
            #expect(pixel(frame, 40, 100) != white && pixel(frame, 100, 60) == white)
        }
    }

    @Test func `SVG, PDF and PNG of rulings and slides show the same`() throws {
        var room = try DrawnRoom(strokes: 3)
        let plain = try picture(room, PictureForm(format: .svg))
        for ruling in 1...4 {
            try room.send(#""a":7,"p":\#(ruling),"l":25,"w":400,"h":300"#)
            let svg = String(decoding: try picture(room, PictureForm(format: .svg)), as: UTF8.self)
            #expect(svg.contains("stroke=\"#d4d9e0\""), "\(ruling)")
            #expect(svg.contains("stroke-dasharray=\"0 25\"") == (ruling == 3))
            #expect(try picture(room, PictureForm(format: .svg, hasPaper: false)) == plain)
            let pdf = try picture(room, PictureForm(format: .pdf))
            #expect(try pdf != picture(room, PictureForm(format: .pdf, hasPaper: false)))
        }
    }

    @Test func `InkML that is kept has the ruling of now, also where the paper is left out`() throws {
        var room = try DrawnRoom(strokes: 1)
        for (ruling, name) in [(1, "lines"), (2, "squares")] {
            try room.send(#""a":7,"p":\#(ruling),"l":12,"w":400,"h":300"#)
            let ink = try picture(room, PictureForm(format: .inkml, hasPaper: false))
            #expect(String(decoding: ink, as: UTF8.self).contains("<annotation type=\"paper\">\(name) 12.0<"))
        }
    }
}
