import Scene
import StrokeWire
import VectorGraphics
import Whiteboard

/// Renders boards as SVG, PDF or InkML: all strokes each time, for documents share nothing but what lassos and erasers have made
/// of pages. Strokes are scaled to the board, coordinates to the width.
struct DocumentRenderer {
    let strokes: StrokeSource
    let bounds: PictureBounds

    /// Bytes that rendering takes at most, about.
    func bytesToRender(_ board: Board, pages: [Int], images: Int, _ format: PictureFormat) -> Int {
        let points = pages.reduce(0) { sum, page in
            board.visible(on: page).reduce(sum) { $0 + max($1.pointCount, 8) }
        }
        let bytes =
            Self.leastBytes + points * Self.bytesOfPoint
            + (pages.map { sceneBytes(of: $0, on: board, format) }.max() ?? 0) + images
        let made = min(points * Self.documentBytesOfPoint, Self.copiesOfDocument * bounds.documentBytes)
        // What the points may become is no reason to refuse a document: most become far less, and that is bounded.
        return max(bytes, min(bytes + made, bounds.byteLimit))
    }

    /// Of ink for other programs nothing is cut.
    func sceneBytes(of page: Int, on board: Board, _ format: PictureFormat) -> Int {
        guard format != .inkml else { return 0 }
        let hasErasers = board.visible(on: page).contains { strokes.isEraser($0) }
        return bounds.sceneBytes(of: page, on: board, hasErasers: hasErasers)
    }

    /// Bytes that a document takes at least, while it is made.
    private static let leastBytes = 1 << 20
    /// Bytes that a point takes while its board becomes a document, about: decoded, and fitted with those near to it.
    private static let bytesOfPoint = 512
    /// Bytes that a point becomes in a document at most, about, where each is a corner in ten tones of a pencil.
    private static let documentBytesOfPoint = 20 << 10
    /// How often a document is in memory while it is made: what cairo keeps of a page is three times as much as is written.
    private static let copiesOfDocument = 4

    /// - Parameters:
    ///   - papers: of the pages.
    ///   - scenes: what is kept of the room's pages.
    func document(
        of board: Board, pages: [Int], papers: [PagePaper?], images: PageImages, _ scenes: inout SceneCache,
        _ form: PictureForm, while isWanted: () -> Bool
    ) throws(DrawingStopped) -> [UInt8] {
        let file =
            switch form.format {
            case .inkml:
                try BoardInk(strokes).inkML(
                    of: board, pages: pages, byteLimit: bounds.documentBytes, while: isWanted)
            default:
                try vectors(
                    pages.map { board.visible(on: $0) }, papers, board.size, images, &scenes, form, while: isWanted)
            }
        guard file.count <= bounds.documentBytes else { throw .tooLarge }
        return file
    }

    private func vectors(
        _ pages: [VisibleStrokes], _ papers: [PagePaper?], _ size: BoardSize, _ images: PageImages,
        _ scenes: inout SceneCache, _ form: PictureForm, while isWanted: () -> Bool
    ) throws(DrawingStopped) -> [UInt8] {
        var drawings: [BoardDrawing] = []
        for (visible, paper) in zip(pages, papers) {
            var entries: [PageEntry] = []
            entries.reserveCapacity(visible.count)
            for entry in visible {
                guard isWanted() else { throw .unwanted }
                if let content = strokes.content(entry, on: size) {
                    entries.append(PageEntry(id: entry.index, content))
                }
            }
            drawings.append(
                BoardDrawing(width: size.width, height: size.height, entries: entries, images: images, paper: paper))
        }
        let scale = form.width.map { Double($0) / size.width } ?? 1
        guard form.format == .svg else { return try pdf(drawings, scale, &scenes, while: isWanted) }
        return try SVGRenderer.render(
            drawings[0], background: form.background == .transparent ? .transparent : .white, scale: scale,
            byteLimit: bounds.documentBytes, limits: bounds.sceneLimits, scenes: &scenes, while: isWanted)
    }

    private func pdf(
        _ drawings: [BoardDrawing], _ scale: Double, _ scenes: inout SceneCache, while isWanted: () -> Bool
    ) throws(DrawingStopped) -> [UInt8] {
        let file: [UInt8]?
        do throws(PDFRenderer.Failure) {
            file = try PDFRenderer.render(
                drawings.map { (drawing: $0, scale: scale) }, limits: bounds.sceneLimits,
                byteLimit: bounds.documentBytes, scenes: &scenes, while: isWanted)
        } catch {
            // Without a limit, cairo fails for lack of memory alone.
            throw .tooLarge
        }
        guard let file else { throw .unwanted }
        return file
    }
}
