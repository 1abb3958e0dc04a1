import Raster
import Scene
import StrokeWire
import TestSupport
import Testing

@testable import LecternServer
@testable import Whiteboard

/// Pictures of boards with texts: each in its box, and nowhere else.
@Suite struct `Pictures of boards with texts` {
    private let renderer = BoardRenderer.test()

    private func picture(_ room: DrawnRoom, _ form: PictureForm) throws -> [UInt8] {
        try renderer.picture(of: room.board, form)
    }

    /// The pixels that have ink, as parts of the board's width and height: left, top, right, bottom.
    private func ink(_ file: PNGReader) -> [Double] {
        let inked = file.pixels.indices.filter { file.pixels[$0] & 0xFF < 128 }
        let (columns, rows) = (inked.map { Double($0 % file.width) }, inked.map { Double($0 / file.width) })
        let (width, height) = (Double(file.width), Double(file.height))
        return [
            (columns.min() ?? 0) / width, (rows.min() ?? 0) / height, ((columns.max() ?? -1) + 1) / width,
            ((rows.max() ?? -1) + 1) / height,
        ]
    }

    private func text(_ text: String, _ more: String = #""l":40"#) -> String {
        #""e":8,\#(more),"w":400,"h":300,"x":"\#(text)","d":[{"x":50,"y":60},{"x":250,"y":140}]"#
    }

    @Test func `show a text in the box of its message, in the same place at any width`() throws {
        var room = DrawnRoom()
        try room.send(text(#"Tangente\nan f"#))
        let boxes = try [400, 900, 1600].map { ink(try PNGReader(picture(room, PictureForm(width: $0)))) }
        for box in boxes {
            #expect(
                box[0] > 49.0 / 400 && box[1] > 59.0 / 300 && box[2] < 251.0 / 400 && box[3] < 141.0 / 300, "\(box)")
            #expect(box[2] - box[0] > 0.3, "as large as the box allows")
            // 2 in 100 of the box.
            for (mine, other) in zip(box, boxes[0]) { #expect(abs(mine - other) < 0.02 * 200 / 400, "\(boxes)") }
        }
    }

    @Test func `a lasso moves a text as ink, an eraser wipes it, a removal takes it, an undo brings it back`() throws {
        var room = DrawnRoom()
        try room.send(text("MMMM"))
        let before = try picture(room, PictureForm())
        try room.send(
            #""e":6,"m":[1,0,0,1,100,120],"w":400,"h":300,"d":[{"x":40,"y":50},{"x":260,"y":50},{"x":260,"y":150},{"x":40,"y":150}]"#
        )
        let (there, moved) = (ink(try PNGReader(before)), ink(try PNGReader(picture(room, PictureForm()))))
        #expect(abs(moved[0] - there[0] - 100.0 / 400) < 0.005 && abs(moved[1] - there[1] - 120.0 / 300) < 0.005)
        try room.undo()
        #expect(try picture(room, PictureForm()) == before)
        try room.send(#""e":4,"l":512,"w":400,"h":300,"d":[{"x":0,"y":100},{"x":400,"y":100}]"#)
        #expect(ink(try PNGReader(picture(room, PictureForm())))[2] == 0)
        try room.undo()
        try room.send(#""a":8,"v":[1]"#)
        #expect(ink(try PNGReader(picture(room, PictureForm())))[2] == 0)
        try room.undo()
        #expect(try picture(room, PictureForm()) == before)
    }

    @Test func `need nothing to be fetched, and are the same again where no canvas is kept`() throws {
        var room = try DrawnRoom(strokes: 4)
        try room.send(text("שלום"))
        #expect(renderer.images(of: room.board, PictureForm()).isEmpty)
        #expect(room.board.hasImages == false)
        let form = PictureForm(width: 700)
        #expect(try picture(room, form) == BoardRenderer.test().picture(of: room.board, form))
    }

    @Test func `are drawn with little memory, if less sharp`() throws {
        let small = BoardRenderer.test(6 << 20)
        var room = DrawnRoom()
        for number in 0..<20 { try room.send(text("Zeile \(number) " + String(repeating: "x", count: number * 50))) }
        let file = try PNGReader(small.picture(of: room.board))
        #expect(ink(file)[2] > 0)
        #expect(small.memory.mostBytes <= 6 << 20)
    }

    @Test func `have the texts in SVG, PDF and InkML, as text`() throws {
        var room = DrawnRoom()
        try room.send(text(#"a < b & c\nzwei"#))
        let svg = String(decoding: try picture(room, PictureForm(format: .svg)), as: UTF8.self)
        #expect(svg.contains(">a &lt; b &amp; c</text>") && svg.contains(">zwei</text>") && !svg.contains("<image"))
        #expect(try picture(room, PictureForm(format: .pdf)).count > 1000)
        let ink = String(decoding: try picture(room, PictureForm(format: .inkml)), as: UTF8.self)
        #expect(ink.contains("<annotation type=\"text\">a &lt; b &amp; c\nzwei</annotation>"))
    }
}
