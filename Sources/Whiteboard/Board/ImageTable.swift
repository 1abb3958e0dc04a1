public import StrokeWire

/// What the images of a board show: those that are visible on any page, and those that could be brought back.
///
/// Follows from the strokes, so that no checkpoint has it. Bounded as they are: an image has the weight of at least eight
/// points. A lookup takes the same time however many strokes and pages there are; strokes that are no images cost nothing.
struct ImageTable: Sendable {
    enum Change: Sendable {
        case came(Stroke)
        /// It cannot come back.
        case went(Stroke)
    }

    /// How many images show a source; not 0.
    private var counts: [ImageSource: Int] = [:]

    init() {}

    mutating func apply(_ changes: [Change]) {
        for change in changes {
            switch change {
            case .came(let stroke):
                if let source = stroke.image { counts[source, default: 0] += 1 }
            case .went(let stroke):
                guard let source = stroke.image, let count = counts[source] else { continue }
                counts[source] = count > 1 ? count - 1 : nil
            }
        }
    }

    func contains(_ source: ImageSource) -> Bool { !counts.isEmpty && counts[source] != nil }

    /// The assets, some more than once.
    var assets: some Sequence<AssetID> { counts.keys.lazy.map { $0.asset } }
}

extension Paper {
    /// What a slide shows; nil for a ruling.
    public var source: ImageSource? { slide.map { ImageSource(asset: $0.asset, page: $0.page) } }
}

extension Stroke {
    /// What an image shows; nil for other strokes. Unpacks the message of an image.
    public var image: ImageSource? {
        guard kind == .image, let header = try? StrokeMessage(decoding: message.bytes, limits: .accepted),
            case .image(let asset, let page)? = header.content
        else { return nil }
        return ImageSource(asset: asset, page: page)
    }
}
