public import StrokeWire

/// What the images of a page show: those that are visible, and those that could be brought back.
///
/// Follows from the strokes, so that no checkpoint has it. Bounded as they are: an image has the weight of at least eight
/// points. A lookup takes the same time however many there are; strokes that are no images cost nothing.
struct ImageTable: Sendable {
    /// How many images show a source; not 0.
    private var counts: [ImageSource: Int] = [:]

    init() {}

    /// Does nothing for a stroke that is no image.
    mutating func insert(_ stroke: Stroke) {
        if let source = stroke.image { counts[source, default: 0] += 1 }
    }

    /// Does nothing for a stroke that is no image.
    mutating func remove(_ stroke: Stroke) {
        guard let source = stroke.image, let count = counts[source] else { return }
        counts[source] = count > 1 ? count - 1 : nil
    }

    func contains(_ source: ImageSource) -> Bool { !counts.isEmpty && counts[source] != nil }

    /// The assets, some more than once.
    var assets: some Sequence<AssetID> { counts.keys.lazy.map(\.asset) }
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
