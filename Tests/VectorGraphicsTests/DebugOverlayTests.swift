import Ink
import Raster
import StrokeWire
import Testing

@testable import VectorGraphics

@Suite("The debug overlay")
struct DebugOverlayTests {
    private static let usual: Set<DebugOverlay.Kind> = [.tiles, .dirty, .controls, .points]

    private let strokes = [
        TrialBoard.stroke(.freehand, .smooth, 4, [(100, 100), (110, 100), (120, 110), (130, 110), (140, 100)])
    ]

    private func polylines(_ kind: DebugOverlay.Kind, _ overlay: DebugOverlay) -> [[Vector]] {
        overlay.marks.filter { $0.kind == kind }.flatMap(\.polylines)
    }

    @Test("marks points, control polygons, dirty boxes and tiles")
    func marks() {
        let overlay = DebugOverlay(strokes: strokes, width: 320, height: 240, kinds: Self.usual)
        #expect(overlay.marks.map(\.kind) == [.tiles, .dirty, .controls, .points])
        #expect(polylines(.points, overlay) == strokes[0].stroke.points.map { [Vector($0.x, $0.y)] })
        #expect(
            polylines(.controls, overlay) == [
                [Vector(100, 100), Vector(110, 100), Vector(120, 110), Vector(130, 105)],
                [Vector(130, 105), Vector(140, 100)],
            ])
        #expect(polylines(.tiles, overlay).count == 4 + 3)
        let coarse = DebugOverlay(strokes: strokes, width: 320, height: 240, scale: 0.5, kinds: Self.usual)
        #expect(polylines(.tiles, coarse).count == 2 + 1, "a tile is twice as large in board units")
    }

    @Test("has boxes that hold all pixels a stroke paints", arguments: TrialBoard.allCases, InkStyle.allCases)
    func boxes(board: TrialBoard, style: InkStyle) {
        for stroke in board.strokes(style) where !stroke.stroke.isErasing {
            let overlay = DebugOverlay(strokes: [stroke], width: 320, height: 240, kinds: [.dirty])
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

    @Test(
        "has the edges of a stroke's triangles, each once, within the line and its soft edge", arguments: [0.5, 1, 3])
    func mesh(scale: Double) {
        let overlay = DebugOverlay(strokes: strokes, width: 320, height: 240, scale: scale, kinds: [.mesh])
        let edges = polylines(.mesh, overlay)
        #expect(overlay.marks.map(\.kind) == [.mesh])
        #expect(edges.count > 30 && Set(edges).count == edges.count)
        // The line is 4 units wide; the soft edge is one pixel.
        let reach = 2 + 1 / scale + 0.01
        for place in edges.joined() {
            #expect(place.x > 100 - reach && place.x < 140 + reach && place.y > 100 - reach && place.y < 110 + reach)
        }
        #expect(edges.joined().contains { abs($0.x - (140 + 1.4 + 0.7 / scale)) < 1 }, "the cap is part of it")
    }

    @Test("is a path for each kind in SVG, over the ink")
    func svg() throws {
        let overlay = DebugOverlay(strokes: strokes, width: 320, height: 240, kinds: Self.usual)
        let drawing = BoardDrawing(width: 320, height: 240, strokes: strokes, overlay: overlay)
        let paths = try SVGReader.elements(of: SVGRenderer.render(drawing)).filter { $0.name == "path" }
        #expect(paths.dropFirst().map { $0.attributes["id"] } == ["tiles", "dirty", "controls", "points"])
        #expect(paths.last?.attributes["d"] == "M100 100h0M110 100h0M120 110h0M130 110h0M140 100h0")
    }

    @Test("is painted on a canvas, on top of the ink")
    func canvas() {
        let overlay = DebugOverlay(strokes: strokes, width: 320, height: 240, kinds: Self.usual)
        var canvas = TrialBoard.canvas(strokes)
        #expect(canvas.pixel(x: 100, y: 100) == 0xFF00_0000)
        overlay.paint(on: &canvas)
        #expect(canvas.pixel(x: 100, y: 100) & 0xFF > 0x80, "a red dot")
        #expect(canvas.pixel(x: 10, y: 64) != 0, "a border of tiles")
    }
}
