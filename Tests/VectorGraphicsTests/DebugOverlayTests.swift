import Ink
import Raster
import StrokeWire
import Testing

@testable import VectorGraphics

@Suite("The debug overlay")
struct DebugOverlayTests {
    private let strokes = [
        TrialBoard.stroke(.freehand, .smooth, 4, [(100, 100), (110, 100), (120, 110), (130, 110), (140, 100)])
    ]

    private func polylines(_ kind: DebugOverlay.Kind, _ overlay: DebugOverlay) -> [[Vector]] {
        overlay.marks.filter { $0.kind == kind }.flatMap(\.polylines)
    }

    @Test("marks points, control polygons, dirty boxes and tiles")
    func marks() {
        let overlay = DebugOverlay(strokes: strokes, width: 320, height: 240)
        #expect(overlay.marks.map(\.kind) == DebugOverlay.Kind.allCases)
        #expect(polylines(.points, overlay) == strokes[0].stroke.points.map { [Vector($0.x, $0.y)] })
        #expect(
            polylines(.controls, overlay) == [
                [Vector(100, 100), Vector(110, 100), Vector(120, 110), Vector(130, 105)],
                [Vector(130, 105), Vector(140, 100)],
            ])
        #expect(polylines(.tiles, overlay).count == 4 + 3)
        let coarse = DebugOverlay(strokes: strokes, width: 320, height: 240, scale: 0.5)
        #expect(polylines(.tiles, coarse).count == 2 + 1, "a tile is twice as large in board units")
    }

    @Test("has boxes that hold all pixels a stroke paints", arguments: TrialBoard.allCases, InkStyle.allCases)
    func boxes(board: TrialBoard, style: InkStyle) {
        for stroke in board.strokes(style) where !stroke.stroke.isErasing {
            let overlay = DebugOverlay(strokes: [stroke], width: 320, height: 240)
            let box = polylines(.dirty, overlay)[0]
            let canvas = TrialBoard.canvas([stroke])
            for y in 0..<240 {
                for x in 0..<320 where canvas.pixel(x: x, y: y) != 0 {
                    #expect(Double(x) >= box[0].x && Double(x) < box[2].x)
                    #expect(Double(y) >= box[0].y && Double(y) < box[2].y)
                }
            }
        }
    }

    @Test("is a path for each kind in SVG, over the ink")
    func svg() throws {
        let overlay = DebugOverlay(strokes: strokes, width: 320, height: 240)
        let drawing = BoardDrawing(width: 320, height: 240, strokes: strokes, overlay: overlay)
        let paths = try SVGReader.elements(of: SVGRenderer.render(drawing)).filter { $0.name == "path" }
        #expect(paths.dropFirst().map { $0.attributes["id"] } == ["tiles", "dirty", "controls", "points"])
        #expect(paths.last?.attributes["d"] == "M100 100h0M110 100h0M120 110h0M130 110h0M140 100h0")
    }

    @Test("is painted on a canvas, on top of the ink")
    func canvas() {
        let overlay = DebugOverlay(strokes: strokes, width: 320, height: 240)
        var canvas = TrialBoard.canvas(strokes)
        #expect(canvas.pixel(x: 100, y: 100) == 0xFF00_0000)
        overlay.paint(on: &canvas)
        #expect(canvas.pixel(x: 100, y: 100) & 0xFF > 0x80, "a red dot")
        #expect(canvas.pixel(x: 10, y: 64) != 0, "a border of tiles")
    }
}
