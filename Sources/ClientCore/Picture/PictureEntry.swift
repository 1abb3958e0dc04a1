internal import Scene
public import StrokeWire
public import Whiteboard

extension Picture {
    /// An entry of the page: a message that draws.
    public struct Entry {
        /// The operation's index. An entry that the room does not have yet has any number that no other entry has.
        public let id: UInt64
        let source: Source
        let element: Element

        enum Source {
            case message([UInt8])
            /// A stroke of a board, which is unpacked when it is drawn.
            case stroke(Stroke)
            case points([StrokePoint], WetStrokeStyle)
        }

        var isLasso: Bool { element == .lasso }
        /// Whether it is drawn from pixels in a box.
        var isImage: Bool { element == .image || element == .text }

        /// - Parameter message: a compact message as JSON; one that is none shows nothing.
        public init(id: UInt64, message: [UInt8]) {
            self.id = id
            source = .message(message)
            element = (try? StrokeMessage(decoding: message, limits: .accepted))?.element ?? .freehand
        }

        /// A stroke, image or lasso of a board. Its id is its index.
        public init(_ stroke: Stroke) {
            id = stroke.index
            source = .stroke(stroke)
            element =
                switch stroke.kind {
                case .stroke: .freehand
                case .image: .image
                case .lasso: .lasso
                case .pointer: .pointer
                case .text: .text
                }
        }

        /// A stroke that is being drawn.
        public init(id: UInt64, points: [StrokePoint], style: WetStrokeStyle) {
            self.id = id
            source = .points(points, style)
            element = style.element
        }
    }
}

extension Picture.Entry {
    func decoded() -> (header: StrokeMessage, points: [StrokePoint])? {
        switch source {
        case .message(let bytes):
            var points: [StrokePoint] = []
            guard let header = try? StrokeMessage(decoding: bytes, limits: .accepted, points: &points) else {
                return nil
            }
            return (header, points)
        case .stroke(let stroke): return stroke.decoded()
        case .points(let points, let style):
            let header = StrokeMessage(
                number: 0, colour: style.colour, width: style.width, element: style.element,
                boardWidth: style.boardWidth, boardHeight: style.boardHeight)
            return (header, points)
        }
    }
}

/// Entries of a page, decoded when they are drawn.
struct EntryList: PageEntries {
    let entries: [Picture.Entry]
    let decoder: EntryDecoder
    let board: BoardSize

    var longerSide: Double { board.longerSide }
    var count: Int { entries.count }

    func id(_ place: Int) -> UInt64 { entries[place].id }
    func isLasso(_ place: Int) -> Bool { entries[place].element == .lasso }

    func image(_ place: Int) -> PlacedImage? {
        guard entries[place].isImage, case .image(let image)? = content(place) else { return nil }
        return image
    }

    func content(_ place: Int) -> PageEntry.Content? {
        guard let (header, points) = entries[place].decoded(), header.action == .draw else { return nil }
        return decoder.content(header, points, scale: board.scale(for: header), longerSide: longerSide)
    }
}
