import Scene
package import StrokeWire
package import Whiteboard

/// How a board is drawn, whichever board it is.
struct PictureForm: Sendable, Hashable {
    var format = PictureFormat.png
    /// Width in pixels; nil for the canvas's own.
    var width: Int?
    /// The part of the board that a PNG shows; nil for all of it.
    var part: BoardPart?
    var background = PictureBackground.white
    /// The page; nil for the one shown, of PDF and InkML for all pages in order.
    var page: Int?
    /// Whether the paper is drawn under the ink.
    var hasPaper = true
}

extension PictureForm {
    init(_ request: ImageRequest) {
        self.init(
            format: request.format, width: request.width, part: request.part, background: request.background,
            page: request.page, hasPaper: request.hasPaper)
    }

    /// The pages of a board that the picture shows, in their order; one, but for PDF and InkML.
    func pages(of board: Board) -> [Int] { format.pages(of: board, page) }

    /// What is drawn under the ink of a page. InkML has the ruling in any case.
    func paper(of page: Int, on board: Board) -> PagePaper? {
        guard hasPaper || format == .inkml else { return nil }
        return PagePaper(board.pages.paper(of: page), width: board.size.width, height: board.size.height)
    }
}

extension PictureFormat {
    /// The pages that a file of a board has, in their order.
    /// - Parameter page: the one that is asked for; nil for the one shown, of PDF and InkML for all pages in order.
    package func pages(of board: Board, _ page: Int?) -> [Int] {
        if let page { return [page] }
        return self == .pdf || self == .inkml ? board.pages.order : [board.pages.shown]
    }
}

/// Makes the tags of pictures: two pictures with one tag have the same bytes.
///
/// A tag names the incarnation and the index in plain text, and everything else that bytes depend on as a hash: the form,
/// the settings, the version of the renderer, and the images that are there.
struct PictureTags: Sendable {
    /// Raise it with every change to what is drawn for the same board: the fingerprints of `RasterTests` change then, or
    /// the documents of `VectorGraphicsTests`.
    static let rendererVersion = 7

    private let settings: String

    init(_ configuration: ServerConfiguration) {
        let colours =
            switch configuration.room.intake.wire.colours {
            case .palette: configuration.palette.texts.joined()
            case .rgb: "rgb"
            }
        // The memory bounds the pixels of a large board.
        settings = """
            \(Self.rendererVersion) \(configuration.inkName) \(colours) \(configuration.canvasScale) \
            \(configuration.canvasBytes)
            """
    }

    /// The tag of a picture: visible ASCII without quotation marks.
    /// - Parameter images: the hash of those that are there; nil where it is not known, for a tag that no picture has.
    func tag(of room: RoomIncarnation, at index: UInt64, _ form: PictureForm, images: UInt64? = 0) -> String {
        let width = form.width.map(String.init) ?? "-"
        let page = form.page.map(String.init) ?? "-"
        let part = form.part.map { " \($0.x) \($0.y) \($0.width) \($0.height)" } ?? ""
        let hash = FNV1a64.hash(
            "\(settings) \(form.format) \(width) \(form.background) \(page)\(part)\(form.hasPaper ? "" : " -paper")"
                .utf8)
        guard let images else { return "\(room.incarnation).\(index).\(FNV1a64.digits(hash)).?" }
        if images != 0 { return "\(room.incarnation).\(index).\(FNV1a64.digits(hash)).\(FNV1a64.digits(images))" }
        return "\(room.incarnation).\(index).\(FNV1a64.digits(hash))"
    }
}
