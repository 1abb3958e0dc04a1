import Ink
import Raster
import StrokeWire
import Testing

@Suite("Vector formats")
struct VectorTests {
    private func stroke(_ element: Element, _ style: InkStyle, _ places: [(Double, Double)]) -> PaintedStroke {
        PaintedStroke(
            stroke: InkStroke(
                element: element, style: style, width: 2.5, points: places.map { StrokePoint(x: $0.0, y: $0.1) }),
            colour: RGB(0xD92020))
    }

    @Test("SVG draws a line of constant width with a round pen, in the units of the board")
    func svgLine() {
        let text = String(
            decoding: SVGEncoder.encode(
                width: 1024, height: 768.5, strokes: [stroke(.line, .smooth, [(1, 2.25), (-3.0004, 1.0 / 3)])]),
            as: UTF8.self)
        #expect(text.contains("viewBox=\"0 0 1024 768.5\""))
        #expect(text.contains("d=\"M1 2.25L-3 0.333\" fill=\"none\""))
        #expect(text.contains("stroke=\"#d92020\" stroke-width=\"2.5\""))
    }

    @Test("SVG keeps the curves of the style")
    func svgCurve() {
        let places = [(0.0, 0.0), (10, 0), (20, 10), (30, 10), (40, 0)]
        let text = String(
            decoding: SVGEncoder.encode(width: 50, height: 50, strokes: [stroke(.freehand, .smooth, places)]),
            as: UTF8.self)
        #expect(text.contains("d=\"M0 0C10 0 20 10 30 5L40 0\""))
    }

    @Test("SVG fills a line of changing width and draws an eraser in the white of the paper")
    func svgFill() {
        let places = [(0.0, 0.0), (10, 0), (20, 10)]
        let strokes = [stroke(.freehand, .calligraphy, places), stroke(.eraser, .smooth, places)]
        let text = String(decoding: SVGEncoder.encode(width: 50, height: 50, strokes: strokes), as: UTF8.self)
        #expect(text.contains("Z\" fill=\"#d92020\"/>"))
        #expect(text.contains("stroke=\"#ffffff\""))
    }

    @Test("SVG of a dot is a line of no length")
    func svgDot() {
        let text = String(
            decoding: SVGEncoder.encode(width: 9, height: 9, strokes: [stroke(.line, .smooth, [(4, 4)])]), as: UTF8.self
        )
        #expect(text.contains("d=\"M4 4h0\""))
    }

    @Test("PDF has a page a board and a table that names the true place of every object")
    func pdf() throws {
        let places = [(0.0, 0.0), (10, 0), (20, 10)]
        let page = PDFEncoder.Page(
            width: 300, height: 200,
            strokes: [stroke(.freehand, .smooth, places), stroke(.freehand, .pen, places), stroke(.line, .smooth, [])])
        let bytes = PDFEncoder.encode([page, page])
        let text = String(decoding: bytes.map { $0 < 128 ? $0 : 63 }, as: UTF8.self)
        #expect(text.contains("/Count 2/Kids[3 0 R 6 0 R]"))
        #expect(text.contains("/MediaBox[0 0 300 200]"))
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let table = try #require(lines.firstIndex(of: "xref"))
        let start = try #require(lines.last { Int($0) != nil }.flatMap { Int($0) })
        #expect(text.utf8.dropFirst(start).starts(with: "xref".utf8))
        for number in 1...8 {
            let offset = try #require(Int(lines[table + 2 + number].prefix(10)))
            #expect(text.utf8.dropFirst(offset).starts(with: "\(number) 0 obj".utf8))
        }
        #expect(lines.allSatisfy { !$0.contains("nan") && !$0.contains("inf") })
    }
}
