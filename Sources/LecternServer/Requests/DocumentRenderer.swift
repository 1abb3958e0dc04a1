import Scene
import StrokeWire
import VectorGraphics
import Whiteboard

/// Renders boards as SVG, PDF or InkML: all strokes each time, for documents share nothing. Strokes are scaled to the board,
/// coordinates to the width.
struct DocumentRenderer {
    let strokes: StrokeSource
    let bounds: PictureBounds

    /// Bytes that rendering takes at most, about.
    func bytesToRender(_ board: Board, pages: [Int], images: Int) -> Int {
        let points = pages.reduce(0) { sum, page in
            board.visible(on: page).reduce(sum) { $0 + max($1.pointCount, 8) }
        }
        return Self.leastBytes + points * Self.bytesOfPoint
            + (pages.map { bounds.sceneBytes(of: $0, on: board) }.max() ?? 0) + images
    }

    /// Bytes that a document takes at least, while it is made.
    private static let leastBytes = 1 << 20
    /// Bytes that a point takes while its board becomes a document, about: decoded, as an outline, written.
    private static let bytesOfPoint = 512

    /// - Parameter papers: of the pages.
    func document(
        of board: Board, pages: [Int], papers: [PagePaper?], images: PageImages, _ form: PictureForm,
        while isWanted: () -> Bool
    ) throws(BoardRenderer.Failure) -> [UInt8] {
        let file =
            switch form.format {
            case .inkml: try ink(board, pages, while: isWanted)
            default:
                try vectors(
                    pages.map { board.visible(on: $0) }, papers, board.size, images, form, while: isWanted)
            }
        guard file.count <= bounds.documentBytes else { throw .tooLarge }
        return file
    }

    private func vectors(
        _ pages: [VisibleStrokes], _ papers: [PagePaper?], _ size: BoardSize, _ images: PageImages,
        _ form: PictureForm,
        while isWanted: () -> Bool
    ) throws(BoardRenderer.Failure) -> [UInt8] {
        var drawings: [BoardDrawing] = []
        for (visible, paper) in zip(pages, papers) {
            var entries: [PageEntry] = []
            entries.reserveCapacity(visible.count)
            for entry in visible {
                guard isWanted() else { throw .cancelled }
                if let content = strokes.content(entry, on: size) {
                    entries.append(PageEntry(id: entry.index, content))
                }
            }
            drawings.append(
                BoardDrawing(width: size.width, height: size.height, entries: entries, images: images, paper: paper))
        }
        let scale = form.width.map { Double($0) / size.width } ?? 1
        return form.format == .svg
            ? try svg(drawings[0], scale, form.background, while: isWanted)
            : try pdf(drawings, scale, while: isWanted)
    }

    private func ink(_ board: Board, _ pages: [Int], while isWanted: () -> Bool) throws(BoardRenderer.Failure)
        -> [UInt8]
    {
        do throws(DrawingStopped) {
            return try BoardInk(strokes).inkML(
                of: board, pages: pages, byteLimit: bounds.documentBytes, while: isWanted)
        } catch {
            throw error == .tooLarge ? .tooLarge : .cancelled
        }
    }

    private func svg(
        _ drawing: BoardDrawing, _ scale: Double, _ background: PictureBackground, while isWanted: () -> Bool
    ) throws(BoardRenderer.Failure) -> [UInt8] {
        do throws(DrawingStopped) {
            return try SVGRenderer.render(
                drawing, background: background == .transparent ? .transparent : .white, scale: scale,
                byteLimit: bounds.documentBytes, limits: bounds.sceneLimits, while: isWanted)
        } catch {
            throw error == .tooLarge ? .tooLarge : .cancelled
        }
    }

    private func pdf(
        _ drawings: [BoardDrawing], _ scale: Double, while isWanted: () -> Bool
    ) throws(BoardRenderer.Failure) -> [UInt8] {
        let file: [UInt8]?
        do throws(PDFRenderer.Failure) {
            file = try PDFRenderer.render(drawings, scale: scale, limits: bounds.sceneLimits, while: isWanted)
        } catch {
            // Cairo fails for lack of memory alone.
            throw .tooLarge
        }
        guard let file else { throw .cancelled }
        return file
    }
}
