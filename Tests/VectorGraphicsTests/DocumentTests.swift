import Foundation
import Ink
import Raster
import Scene
import StrokeWire
import Testing

@testable import VectorGraphics

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite struct `An SVG document` {
    private typealias Element = SVGReader.Element

    private func elements(_ drawing: BoardDrawing, _ background: SVGRenderer.Background = .white) throws -> [Element] {
        try SVGReader.elements(of: SVGRenderer.render(drawing, background: background))
    }

    private func paths(_ strokes: [PaintedStroke], width: Double = 320, height: Double = 240) throws -> [Element] {
        try elements(BoardDrawing(width: width, height: height, strokes: strokes)).filter { $0.name == "path" }
    }

    @Test func `is as large as its board, in board units, on white paper`() throws {
        let all = try elements(BoardDrawing(width: 1024, height: 768.5, strokes: []))
        #expect(all[0].attributes["width"] == "1024" && all[0].attributes["height"] == "768.5")
        #expect(all[0].attributes["viewBox"] == "0 0 1024 768.5")
        #expect(all[1].name == "rect" && all[1].attributes["fill"] == "#ffffff")
        let scaled = try SVGReader.elements(
            of: SVGRenderer.render(BoardDrawing(width: 1024, height: 768, strokes: []), scale: 0.5))
        #expect(scaled[0].attributes["width"] == "512" && scaled[0].attributes["viewBox"] == "0 0 1024 768")
    }

    @Test func `has no paper where it is transparent`() throws {
        let strokes = [TrialBoard.stroke(.line, .smooth, 4, [(10, 10), (90, 10)])]
        let all = try elements(BoardDrawing(width: 320, height: 240, strokes: strokes), .transparent)
        #expect(all.filter { $0.name == "rect" || $0.name == "mask" }.isEmpty)
        #expect(all.filter { $0.name == "path" }.count == 1)
    }

    @Test func `has the lines of its paper in the middle of pixels, at the scale at which it is shown`() throws {
        func data(_ ruling: Paper.Ruling, scale: Double) throws -> String? {
            let drawing = BoardDrawing(width: 100, height: 60, entries: [], paper: .ruled(ruling, distance: 25))
            return try SVGReader.elements(of: SVGRenderer.render(drawing, scale: scale))
                .first { $0.name == "path" }?.attributes["d"]
        }
        #expect(try data(.lines, scale: 1) == "M0 25.5l100 0M0 50.5l100 0")
        #expect(try data(.lines, scale: 0.5) == "M0 26l100 0M0 51l100 0")
        #expect(
            try data(.squares, scale: 2)
                == "M0 25.25l100 0M0 50.25l100 0M25.25 0l0 60M50.25 0l0 60M75.25 0l0 60")
        #expect(try data(.dots, scale: 1) == "M26 26l74 0M26 51l74 0")
        #expect(try data(.dots, scale: 4) == "M25.25 25.25l74.75 0M25.25 50.25l74.75 0")
        // Lines less than 4 pixels apart would cover the page.
        for ruling in Paper.Ruling.allCases { #expect(try data(ruling, scale: 0.15) == nil) }
    }

    @Test func `has a path for each tone of a pencil, from light to dark, none of them opaque`() throws {
        let points = (0..<20).map { StrokePoint(x: 20 + 12 * Double($0), y: 80, force: 0.03 + 0.015 * Double($0)) }
        let strokes = [
            PaintedStroke(
                stroke: InkStroke(element: .freehand, style: .pencil, width: 4, points: points), colour: RGB(0))
        ]
        let paths = try paths(strokes)
        #expect((4...10).contains(paths.count))
        for path in paths {
            #expect(path.attributes["fill"] == "#000000")
            #expect(path.attributes["fill-opacity"].flatMap(Double.init).map { $0 > 0 && $0 < 1 } == true)
        }
    }

    @Test(arguments: InkStyle.allCases.filter { $0 != .pencil })
    func `has one path a stroke in its colour, bottom to top`(style: InkStyle) throws {
        for board in TrialBoard.allCases where board != .erasers {
            let strokes = board.strokes(style)
            let paths = try paths(strokes)
            #expect(paths.count == strokes.count)
            for (path, stroke) in zip(paths, strokes) {
                let colour = stroke.colour
                let hex = [colour.red, colour.green, colour.blue].map { byte in
                    (byte < 16 ? "0" : "") + String(byte, radix: 16)
                }
                #expect((path.attributes["stroke"] ?? path.attributes["fill"]) == "#" + hex.joined())
                #expect((path.attributes["stroke"] == nil) == (path.attributes["stroke-width"] == nil))
                #expect(path.attributes["d"]?.hasPrefix("M") == true)
            }
        }
    }

    @Test func `writes the curve itself where the width is constant, with its numbers rounded`() throws {
        let points = [(0.0, 0.0), (10.0, 0.0), (20.0, 10.0), (30.0, 10.0), (40.0, 0.0)]
        let strokes = [
            TrialBoard.stroke(.freehand, .smooth, 2.004, points, 0x1F_4FD8),
            TrialBoard.stroke(.line, .smooth, 3, [(1.006, 2.004), (1.5, -0.25)]),
            TrialBoard.stroke(.freehand, .smooth, 3, [(7, 8)]),
            TrialBoard.stroke(.freehand, .smooth, 3, [(7, 8), (7, 8), (7, 8), (7, 8)]),
        ]
        let paths = try paths(strokes, width: 1024, height: 768)
        // The check value of midpoint smoothing, then the rest of the stroke.
        #expect(paths[0].attributes["d"] == "M0 0c10 0 20 10 30 5l10-5")
        #expect(paths[0].attributes["stroke-width"] == "2" && paths[0].attributes["stroke"] == "#1f4fd8")
        #expect(paths[1].attributes["d"] == "M1.01 2l.49-2.25")
        #expect(paths[2].attributes["d"] == "M7 8h0")
        #expect(paths[3].attributes["d"]?.hasSuffix("h0") == true)
    }

    @Test func `fills the outline where the width changes: few curves instead of many chords`() throws {
        let wave: [(Double, Double)] = (0..<60).map { index in
            let phase = index % 20
            return (Double(index) * 15, Double(200 + phase * (20 - phase)))
        }
        let strokes = [TrialBoard.stroke(.freehand, .bspline, 9, wave)]
        let all = try elements(BoardDrawing(width: 1024, height: 768, strokes: strokes))
        let path = try #require(all.first { $0.name == "path" })
        let data = try #require(path.attributes["d"])
        #expect(path.attributes["fill"] != nil && path.attributes["stroke"] == nil)
        #expect(data.contains("q"))
        // Both edges of 59 curves, in four numbers for each parabola at most.
        #expect(data.split(whereSeparator: { " -qlMz".contains($0) }).count < 2 * 59 * 4)
    }

    @Test func `leaves out what cannot be seen, and what is not a number`() throws {
        let strokes = [
            TrialBoard.stroke(.line, .smooth, 4, [(-10, 20), (-90, 20)]),
            TrialBoard.stroke(.line, .smooth, 0, [(10, 20), (90, 20)]),
            TrialBoard.stroke(.line, .smooth, 4, [(10, .nan), (90, 20)]),
            TrialBoard.stroke(.freehand, .smooth, 4, [(10, 10), (.infinity, 20), (90, 90)]),
            TrialBoard.stroke(.line, .smooth, .infinity, [(10, 10), (90, 20)]),
            TrialBoard.stroke(.freehand, .smooth, 4, []),
            TrialBoard.stroke(.line, .smooth, 4, [(-1, 20), (-90, 20)], 0xD9_2020),
        ]
        #expect(try paths(strokes).map { $0.attributes["stroke"] } == ["#d92020"])
        let drawing = BoardDrawing(width: 320, height: 240, strokes: strokes)
        #expect(try PDFRenderer.render([drawing]).starts(with: Array("%PDF".utf8)))
    }

    @Test(arguments: [1, 2, 1000])
    func `holds neither masks nor white paint: erasers are subtracted`(count: Int) throws {
        let strokes = (0..<count).flatMap { index in
            [
                TrialBoard.stroke(.line, .smooth, 4, [(0, Double(index % 200)), (300, 100)]),
                TrialBoard.stroke(.eraser, .smooth, 4, [(Double(index % 300), 0)]),
            ]
        }
        for background in [SVGRenderer.Background.white, .transparent] {
            let all = try elements(BoardDrawing(width: 320, height: 240, strokes: strokes), background)
            #expect(all.filter { $0.name == "path" }.count == count)
            #expect(all.filter { ["mask", "use", "defs", "clipPath"].contains($0.name) }.isEmpty)
            #expect(!all.contains { $0.name == "path" && $0.attributes["fill"] == "#ffffff" })
        }
    }

    @Test func `leaves strokes that no eraser touches as they are`() throws {
        let line = TrialBoard.stroke(.line, .smooth, 4, [(10, 10), (90, 10)])
        let cut = TrialBoard.stroke(.line, .smooth, 4, [(10, 100), (90, 100)])
        let eraser = TrialBoard.stroke(.eraser, .smooth, 10, [(50, 90), (50, 110)])
        let paths = try paths([line, cut, eraser])
        #expect(paths.map { $0.attributes["stroke"] } == ["#000000", nil])
        #expect(paths.map { $0.attributes["fill"] } == [nil, "#000000"])
        #expect(paths[1].attributes["d"]?.filter { $0 == "M" }.count == 2, "two pieces")
    }

    @Test func `paints an eraser beyond the limits white, and is too large without paper`() throws {
        let strokes = TrialBoard.erasers.strokes(.smooth)
        let drawing = BoardDrawing(width: 320, height: 240, strokes: strokes)
        var limits = DisplayList.Limits()
        limits.comparedItems = 0
        let white = try SVGRenderer.render(drawing, limits: limits) { true }
        let erasers = try SVGReader.elements(of: white).filter {
            $0.name == "path" && [$0.attributes["fill"], $0.attributes["stroke"]].contains("#ffffff")
        }
        #expect(erasers.count == strokes.filter(\.stroke.isErasing).count)
        #expect(throws: DrawingStopped.tooLarge) {
            try SVGRenderer.render(drawing, background: .transparent, limits: limits) { true }
        }
    }
}

@Suite struct `Numbers in SVG` {
    @Test(arguments: [
        (0, "0"), (100, "1"), (150, "1.5"), (5, ".05"), (50, ".5"), (-50, "-.5"), (-105, "-1.05"), (1001, "10.01"),
    ]) func `are as short as they can be`(steps: Int, text: String) {
        var bytes: [UInt8] = []
        bytes.append(steps: steps, decimals: 2)
        #expect(String(decoding: bytes, as: UTF8.self) == text)
    }

    @Test(arguments: [(16384.0, 2), (1024, 2), (500, 2), (320, 3), (10, 4), (1, 5)])
    func `have two places on a large board and more on one of few units`(width: Double, decimals: Int) {
        #expect(SVGPrecision(width: width, height: width / 2).decimals == decimals)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300]) func `never trap`(number: Double) {
        #expect(SVGPrecision(width: 1024, height: 768).steps(number).magnitude <= 1_000_000_000_000)
    }
}

@Suite struct `A PDF document` {
    private let board = BoardDrawing(width: 320, height: 240, strokes: TrialBoard.erasers.strokes(.smooth))

    private func text(_ document: [UInt8]) -> String { String(decoding: document, as: UTF8.self) }

    @Test func `has a page a board, 0.75 pt a board unit`() throws {
        let other = BoardDrawing(width: 1024, height: 768, strokes: [])
        let text = text(try PDFRenderer.render([board, other]))
        #expect(text.hasPrefix("%PDF-") && text.contains("%%EOF"))
        #expect(text.contains("/Count 2"))
        #expect(text.contains("[ 0 0 240 180 ]") && text.contains("[ 0 0 768 576 ]"))
        #expect(self.text(try PDFRenderer.render([other], scale: 0.5)).contains("[ 0 0 384 288 ]"))
    }

    @Test(arguments: InkStyle.allCases)
    func `holds no image: erasers and translucent ink are paths as well`(style: InkStyle) throws {
        for trial in TrialBoard.allCases {
            let drawing = BoardDrawing(width: 320, height: 240, strokes: trial.strokes(style))
            #expect(!text(try PDFRenderer.render([drawing])).contains("/Image"))
        }
    }

    @Test func `has the same bytes for the same boards, whatever the time`() throws {
        let first = try PDFRenderer.render([board])
        #expect(first == (try PDFRenderer.render([board])))
        #expect(!text(first).contains("CreationDate"))
    }
}

/// The elements of an SVG document in order, each with the names of its ancestors.
final class SVGReader: NSObject, XMLParserDelegate {
    struct Element {
        var name: String
        var attributes: [String: String]
        var around: [String]
    }

    private(set) var elements: [Element] = []
    private var open: [String] = []

    /// - Throws: the parser's error for a document that is not well-formed.
    static func elements(of document: [UInt8]) throws -> [Element] {
        let reader = SVGReader()
        let parser = XMLParser(data: Data(document))
        parser.delegate = reader
        guard parser.parse() else { throw parser.parserError ?? CocoaError(.fileReadCorruptFile) }
        return reader.elements
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        elements.append(Element(name: name, attributes: attributes, around: open))
        open.append(name)
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        open.removeLast()
    }
}

@Suite struct `The debug overlay` {
    private static let usual: Set<DebugOverlay.Kind> = [.tiles, .dirty, .controls, .points]

    private let strokes = [
        TrialBoard.stroke(.freehand, .smooth, 4, [(100, 100), (110, 100), (120, 110), (130, 110), (140, 100)])
    ]

    private func polylines(_ kind: DebugOverlay.Kind, _ overlay: DebugOverlay) -> [[Vector]] {
        overlay.marks.filter { $0.kind == kind }.flatMap(\.polylines)
    }

    @Test func `marks points, control polygons, dirty boxes and tiles`() {
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

    @Test(arguments: TrialBoard.allCases, InkStyle.allCases)
    func `has boxes that hold all pixels a stroke paints`(board: TrialBoard, style: InkStyle) {
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

    @Test(arguments: [0.5, 1, 3])
    func `has the edges of a stroke's triangles, each once, within the line and its soft edge`(scale: Double) {
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

    @Test func `is a path for each kind in SVG, over the ink`() throws {
        let overlay = DebugOverlay(strokes: strokes, width: 320, height: 240, kinds: Self.usual)
        let drawing = BoardDrawing(width: 320, height: 240, strokes: strokes, overlay: overlay)
        let paths = try SVGReader.elements(of: SVGRenderer.render(drawing)).filter { $0.name == "path" }
        #expect(paths.dropFirst().map { $0.attributes["id"] } == ["tiles", "dirty", "controls", "points"])
        #expect(paths.last?.attributes["d"] == "M100 100h0M110 100h0M120 110h0M130 110h0M140 100h0")
    }

    @Test func `is painted on a canvas, on top of the ink`() {
        let overlay = DebugOverlay(strokes: strokes, width: 320, height: 240, kinds: Self.usual)
        var canvas = TrialBoard.canvas(strokes)
        #expect(canvas.pixel(x: 100, y: 100) == 0xFF00_0000)
        overlay.paint(on: &canvas)
        #expect(canvas.pixel(x: 100, y: 100) & 0xFF > 0x80, "a red dot")
        #expect(canvas.pixel(x: 10, y: 64) != 0, "a border of tiles")
    }
}
