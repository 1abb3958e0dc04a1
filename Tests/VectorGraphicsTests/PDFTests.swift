import Ink
import Raster
import Testing

@testable import VectorGraphics

@Suite("A PDF document")
struct PDFTests {
    private let board = BoardDrawing(width: 320, height: 240, strokes: TrialBoard.erasers.strokes(.smooth))

    private func text(_ document: [UInt8]) -> String { String(decoding: document, as: UTF8.self) }

    @Test("has a page a board, 0.75 pt a board unit")
    func pages() throws {
        let other = BoardDrawing(width: 1024, height: 768, strokes: [])
        let text = text(try PDFRenderer.render([board, other]))
        #expect(text.hasPrefix("%PDF-") && text.contains("%%EOF"))
        #expect(text.contains("/Count 2"))
        #expect(text.contains("[ 0 0 240 180 ]") && text.contains("[ 0 0 768 576 ]"))
        #expect(self.text(try PDFRenderer.render([other], scale: 0.5)).contains("[ 0 0 384 288 ]"))
    }

    @Test("holds no image: erasers and translucent ink are paths as well", arguments: InkStyle.allCases)
    func isVector(style: InkStyle) throws {
        for trial in TrialBoard.allCases {
            let drawing = BoardDrawing(width: 320, height: 240, strokes: trial.strokes(style))
            #expect(!text(try PDFRenderer.render([drawing])).contains("/Image"))
        }
    }

    @Test("has the same bytes for the same boards, whatever the time")
    func isRepeatable() throws {
        let first = try PDFRenderer.render([board])
        #expect(first == (try PDFRenderer.render([board])))
        #expect(!text(first).contains("CreationDate"))
    }
}
