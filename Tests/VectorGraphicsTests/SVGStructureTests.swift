import Ink
import Raster
import StrokeWire
import Testing

@testable import VectorGraphics

@Suite("An SVG document")
struct SVGStructureTests {
    private func elements(_ drawing: BoardDrawing, _ paper: SVGRenderer.Paper = .white) throws -> [SVGReader.Element] {
        try SVGReader.elements(of: SVGRenderer.render(drawing, paper: paper))
    }

    @Test("is as large as its board, in board units, on white paper")
    func root() throws {
        let all = try elements(BoardDrawing(width: 1024, height: 768.5, strokes: []))
        #expect(all[0].attributes["width"] == "1024" && all[0].attributes["height"] == "768.5")
        #expect(all[0].attributes["viewBox"] == "0 0 1024 768.5")
        #expect(all[1].name == "rect" && all[1].attributes["fill"] == "#ffffff")
        let scaled = try SVGReader.elements(
            of: SVGRenderer.render(BoardDrawing(width: 1024, height: 768, strokes: []), scale: 0.5))
        #expect(scaled[0].attributes["width"] == "512" && scaled[0].attributes["viewBox"] == "0 0 1024 768")
    }

    @Test("has no paper where it is transparent")
    func transparent() throws {
        let strokes = [TrialBoard.stroke(.line, .smooth, 4, [(10, 10), (90, 10)])]
        let all = try elements(BoardDrawing(width: 320, height: 240, strokes: strokes), .transparent)
        #expect(all.filter { $0.name == "rect" || $0.name == "mask" }.isEmpty)
        #expect(all.filter { $0.name == "path" }.count == 1)
    }

    @Test("has one path a stroke in its colour, bottom to top", arguments: InkStyle.allCases)
    func paths(style: InkStyle) throws {
        for board in TrialBoard.allCases {
            let strokes = board.strokes(style)
            let paths = try elements(BoardDrawing(width: 320, height: 240, strokes: strokes)).filter {
                $0.name == "path"
            }
            #expect(paths.count == strokes.count)
            for (path, stroke) in zip(paths, strokes) {
                let colour = stroke.stroke.isErasing ? RGB(0xFF_FFFF) : stroke.colour
                let hex = [colour.red, colour.green, colour.blue].map { byte in
                    (byte < 16 ? "0" : "") + String(byte, radix: 16)
                }
                #expect((path.attributes["stroke"] ?? path.attributes["fill"]) == "#" + hex.joined())
                #expect((path.attributes["stroke"] == nil) == (path.attributes["stroke-width"] == nil))
                #expect(path.attributes["d"]?.hasPrefix("M") == true)
            }
        }
    }

    @Test("writes the curve itself where the width is constant, with its numbers rounded")
    func curve() throws {
        let points = [(0.0, 0.0), (10.0, 0.0), (20.0, 10.0), (30.0, 10.0), (40.0, 0.0)]
        let strokes = [
            TrialBoard.stroke(.freehand, .smooth, 2.004, points, 0x1F_4FD8),
            TrialBoard.stroke(.line, .smooth, 3, [(1.006, 2.004), (1.5, -0.25)]),
            TrialBoard.stroke(.freehand, .smooth, 3, [(7, 8)]),
            TrialBoard.stroke(.freehand, .smooth, 3, [(7, 8), (7, 8), (7, 8), (7, 8)]),
        ]
        let paths = try elements(BoardDrawing(width: 1024, height: 768, strokes: strokes)).filter { $0.name == "path" }
        // The check value of midpoint smoothing, then the rest of the stroke.
        #expect(paths[0].attributes["d"] == "M0 0c10 0 20 10 30 5l10-5")
        #expect(paths[0].attributes["stroke-width"] == "2" && paths[0].attributes["stroke"] == "#1f4fd8")
        #expect(paths[1].attributes["d"] == "M1.01 2l.49-2.25")
        #expect(paths[2].attributes["d"] == "M7 8h0")
        #expect(paths[3].attributes["d"]?.hasSuffix("h0") == true)
    }

    @Test("leaves out what cannot be seen, and what is not a number")
    func unseen() throws {
        let strokes = [
            TrialBoard.stroke(.line, .smooth, 4, [(-10, 20), (-90, 20)]),
            TrialBoard.stroke(.line, .smooth, 0, [(10, 20), (90, 20)]),
            TrialBoard.stroke(.line, .smooth, 4, [(10, .nan), (90, 20)]),
            TrialBoard.stroke(.freehand, .smooth, 4, [(10, 10), (.infinity, 20), (90, 90)]),
            TrialBoard.stroke(.line, .smooth, .infinity, [(10, 10), (90, 20)]),
            TrialBoard.stroke(.freehand, .smooth, 4, []),
            TrialBoard.stroke(.line, .smooth, 4, [(-1, 20), (-90, 20)], 0xD9_2020),
        ]
        let drawing = BoardDrawing(width: 320, height: 240, strokes: strokes)
        let paths = try elements(drawing).filter { $0.name == "path" }
        #expect(paths.map { $0.attributes["stroke"] } == ["#d92020"])
        #expect(try PDFRenderer.render([drawing]).starts(with: Array("%PDF".utf8)))
    }

    @Test("has groups no deeper than readers allow, however many erasers there are", arguments: [1, 2, 1000])
    func manyErasers(count: Int) throws {
        let strokes = (0..<count).flatMap { index in
            [
                TrialBoard.stroke(.line, .smooth, 4, [(0, Double(index % 200)), (300, 100)]),
                TrialBoard.stroke(.eraser, .smooth, 4, [(Double(index % 300), 0)]),
            ]
        }
        let all = try elements(BoardDrawing(width: 320, height: 240, strokes: strokes), .transparent)
        #expect(all.filter { $0.name == "path" }.count == 2 * count)
        #expect((all.map(\.around.count).max() ?? 0) < 16)
        let masks = Set(all.filter { $0.name == "mask" }.compactMap { $0.attributes["id"] })
        let groups = all.filter { $0.name == "g" }.compactMap { $0.attributes["mask"] }
        #expect(groups.count == masks.count && Set(groups) == Set(masks.map { "url(#\($0))" }))
        #expect(all.filter { $0.name == "use" }.count <= 12 * count)
    }
}
