import Raster
import Scene
import StrokeWire
import VectorGraphics
import Whiteboard

/// What a picture shows of a board, on which canvas.
struct PictureView {
    /// The canvas of the whole board.
    let canvas: CanvasSize
    /// What is shown of it; nil for all.
    var part: PixelRectangle?
}

/// How large canvases, documents and what lassos make may be, so that all that is in memory at once fits a number of bytes.
struct PictureBounds {
    let byteLimit: Int
    /// Pixels a board unit where a picture's width is not said.
    let scale: Double

    /// Bytes of board versions that a room's painter may keep; it keeps one canvas in any case.
    var versionBytes: Int { byteLimit / 8 }
    /// Pixels of a canvas at most, whatever size a client gives its board.
    var mostPixels: Int { min(1 << 24, byteLimit / 32) }
    /// Pixels of a text's box at most while it is drawn, one at a time; larger ones are less sharp.
    var mostTextPixels: Int { min(TextSource.mostPixels, byteLimit / 64) }
    /// Bytes that each takes: its coverage, a copy, its colours, and those of the texts before it, which are kept.
    static let bytesOfTextPixel = 10
    var mostPicturePixels: Int { byteLimit / 16 }
    /// What lassos may make of a page.
    var sceneLimits: DisplayList.Limits { DisplayList.Limits(bytes: byteLimit / 4) }
    /// Bytes of what lassos have made of a room's pages that are kept.
    var keptSceneBytes: Int { sceneLimits.bytes / 2 }
    /// Bytes of a document at most.
    var documentBytes: Int { byteLimit / 8 }

    /// What a picture shows: at the width that is asked for, or at the configured scale; smaller where memory bounds it. A part
    /// begins at the nearest pixel of the whole, and ends with the board.
    /// - Parameter bytes: what else is in memory while the canvas is drawn.
    func view(of size: BoardSize, _ form: PictureForm, beside bytes: Int = 0) -> PictureView {
        guard let part = form.part else {
            return PictureView(canvas: canvasSize(size, width: form.width, beside: bytes))
        }
        // While a stroke is drawn it takes the memory of its box on the whole canvas, wherever the part lies.
        let scale = form.width.map { Double($0) / Double(part.width) } ?? scale
        let canvas = canvasSize(size, scale: scale, beside: bytes)
        func pixels(from start: Int, _ length: Int, below end: Int) -> Range<Int> {
            let first = min(Int((Double(start) * canvas.scale).rounded()), end - 1)
            return first..<min(first + CanvasSize.side(Double(length) * canvas.scale), end)
        }
        let x = pixels(from: part.x, part.width, below: canvas.width)
        let y = pixels(from: part.y, part.height, below: canvas.height)
        return PictureView(
            canvas: canvas, part: PixelRectangle(x: x.lowerBound, y: y.lowerBound, width: x.count, height: y.count))
    }

    /// - Parameters:
    ///   - width: in pixels; the scale's unless said.
    ///   - scale: pixels a board unit; the configured one unless said.
    private func canvasSize(
        _ size: BoardSize, width: Int? = nil, scale wanted: Double? = nil, beside bytes: Int = 0
    ) -> CanvasSize {
        let left = max(1, (byteLimit - versionBytes - bytes) / Self.bytesOfDrawnPixel)
        var pixels = min(width == nil && wanted == nil ? mostPixels : mostPicturePixels, left)
        while true {
            var canvas = CanvasSize(
                boardWidth: size.width, boardHeight: size.height, scale: wanted ?? scale, mostPixels: pixels)
            if let width {
                let most = (Double(pixels) * size.width / size.height).squareRoot()
                let across = Int(max(min(Double(width), most), 1))
                canvas = CanvasSize(boardWidth: size.width, boardHeight: size.height, width: across)
            }
            // It may have a row and a column more.
            if canvas.width * canvas.height <= left || pixels <= 1 { return canvas }
            pixels = pixels * 7 / 8
        }
    }

    /// Bytes of a canvas, the one that it starts from, and scratch memory, for each pixel.
    private static let bytesOfDrawnPixel = 21

    /// Bytes that rendering and encoding take at most: the painter's versions, what lassos have made, and the larger of two
    /// phases: the canvas, the one it starts from, scratch memory and the images; then the canvas, its paper, both together
    /// and the file.
    func bytesToDraw(_ size: CanvasSize, scenes: Int, images: Int) -> Int {
        let pixels = size.width * size.height
        return max(versionBytes, 4 * pixels) + scenes + max(Self.bytesOfDrawnPixel * pixels + images, 20 * pixels)
    }

    /// Bytes that cutting takes for each point of a page's entries, about: outlines, their parts, and those of one in work.
    private static let sceneBytesOfPoint = 768

    /// Bytes that what lassos make of a page may take, about; none where there are none. Copies of the page count as the
    /// points of the lasso that has made them.
    /// - Parameter hasErasers: whether erasers are subtracted as well, as in documents.
    func sceneBytes(of page: Int, on board: Board, hasErasers: Bool = false) -> Int {
        let content = board.content(of: page)
        guard content.lassos > 0 || hasErasers else { return 0 }
        return min(sceneLimits.bytes, 1 << 20 + content.points * Self.sceneBytesOfPoint)
    }
}
