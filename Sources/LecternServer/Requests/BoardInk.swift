import InkML
import Scene
import StrokeWire
public import VectorGraphics
public import Whiteboard

/// Turns boards into InkML.
public struct BoardInk: Sendable {
    private let source: StrokeSource

    public init(_ source: StrokeSource) {
        self.source = source
    }

    /// The ruling under the ink of a page; nil for none, and for a slide.
    private static func ruling(of page: Int, on board: Board) -> String? {
        guard let paper = PagePaper(board.pages.paper(of: page), width: board.size.width, height: board.size.height),
            case .ruled(let ruling, let distance) = paper
        else { return nil }
        return "\(ruling) \(distance)"
    }

    /// The visible strokes of a board: in its units, with their indices, authors and times. Images, slides and lassos are left out; rulings and texts are annotations.
    ///
    /// - Parameters:
    ///   - pages: the pages, in this order; nil for all of the board's.
    ///   - byteLimit: bytes of the file at most.
    ///   - isWanted: called before each stroke; false ends the writing.
    public func inkML(
        of board: Board, pages: [Int]? = nil, byteLimit: Int = .max, while isWanted: () -> Bool = { true }
    ) throws(DrawingStopped) -> [UInt8] {
        var writer = InkMLWriter(size: InkDocument.Size(width: board.size.width, height: board.size.height))
        for page in pages ?? board.pages.order {
            writer.beginPage(page, paper: Self.ruling(of: page, on: board))
            for stroke in board.visible(on: page) {
                guard isWanted() else { throw .unwanted }
                guard writer.byteCount <= byteLimit else { throw .tooLarge }
                guard let (header, points) = source.scaled(stroke, on: board.size) else { continue }
                if let text = header.text {
                    writer.add(text: BoardText.lines(of: text).joined(separator: "\n"))
                    continue
                }
                writer.add(
                    InkDocument.Stroke(
                        index: stroke.index, author: stroke.author.text, element: header.element,
                        colour: source.rgb(header.colour),
                        transparency: header.element == .highlighter ? InkDocument.Stroke.highlighter : 0,
                        width: header.width, time: header.time, points: points))
            }
        }
        let file = writer.finished()
        guard file.count <= byteLimit else { throw .tooLarge }
        return file
    }
}
