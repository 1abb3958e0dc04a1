public import PathGeometry
public import Raster
internal import StrokeWire

/// The entries of a page, bottom to top, read when they are needed.
public protocol PageEntries {
    var count: Int { get }
    /// The index of an entry's operation, or another number that no other entry has.
    func id(_ place: Int) -> UInt64
    func isLasso(_ place: Int) -> Bool
    /// Where an image or a text lies, and what it shows; nil for any other entry.
    func image(_ place: Int) -> PlacedImage?
    /// What an entry shows; nil where it cannot be decoded.
    func content(_ place: Int) -> PageEntry.Content?
}

/// A page of a board as layers for a painter: what lassos have made of the lowest entries, and those above as they are.
///
/// The id of a layer depends on what it shows alone: that of an image on its pixels too.
public struct PagePicture<Entries: PageEntries> {
    private enum Source {
        case item(Int)
        case entry(Int)
    }

    public private(set) var layers: [BoardLayer] = []
    private var sources: [Source] = []
    private let items: [PageScene.Item]
    private let entries: Entries
    private let images: PageImages
    private let hasImages: Bool

    /// - Parameters:
    ///   - scene: of as many of the lowest entries as it says, all up to the last lasso.
    ///   - entries: what is visible, bottom to top.
    ///   - hasImages: whether images or texts are among them.
    ///   - images: the pixels that are there.
    public init(scene: PageScene, entries: Entries, hasImages: Bool, images: PageImages) {
        self.hasImages = hasImages
        (items, self.entries, self.images) = (scene.items, entries, images)
        layers.reserveCapacity(items.count + entries.count - scene.entryCount)
        sources.reserveCapacity(layers.capacity)
        var digest = ListDigest()
        func add(_ id: UInt64, _ source: Source) {
            digest.add(id)
            layers.append(BoardLayer(id: id, digest: digest.value))
            sources.append(source)
        }
        for (place, item) in items.enumerated() {
            switch item.content {
            case .entry: add(id(of: item.entry), .item(place))
            case .area: add(item.id, .item(place))
            case .image(let image, _, _): add(item.id ^ images.id(of: image.source), .item(place))
            }
        }
        for place in scene.entryCount..<entries.count { add(id(of: place), .entry(place)) }
    }

    private func id(of entry: Int) -> UInt64 {
        guard hasImages, let image = entries.image(entry) else { return entries.id(entry) }
        return entries.id(entry) ^ images.id(of: image.source)
    }

    /// The place of the entry that a layer is of.
    public func entry(of layer: Int) -> Int {
        switch sources[layer] {
        case .item(let place): items[place].entry
        case .entry(let place): place
        }
    }

    /// What a layer shows.
    public func content(of layer: Int) -> LayerContent {
        let shown: LayerContent? =
            switch sources[layer] {
            case .entry(let place): entries.content(place)?.layer(images)
            case .item(let place):
                switch items[place].content {
                case .entry: entries.content(items[place].entry)?.layer(images)
                case .area, .image: items[place].content.layer(images)
                }
            }
        return shown ?? .area(PaintedArea(path: Path(), colour: RGB(0)))
    }

    /// The entry whose ink a layer shows, and the part of it, cut or moved; nil for the part of an entry as it was drawn. nil
    /// for an image that was cut or moved; of a text its box is its ink.
    func ink(of layer: Int) -> (entry: Int, part: Path?)? {
        switch sources[layer] {
        case .entry(let place): return (place, nil)
        case .item(let place):
            switch items[place].content {
            case .entry: return (items[place].entry, nil)
            case .area(let path, _, _): return (items[place].entry, path)
            case .image(let image, let map, let clip):
                return image.text.map { _ in (items[place].entry, clip ?? image.area.transformed(by: map)) }
            }
        }
    }

    /// Where a layer has put what its entry drew; nil for a part that was cut.
    func map(of layer: Int) -> AffineMap? {
        switch sources[layer] {
        case .entry: .identity
        case .item(let place): items[place].map
        }
    }

    func id(ofEntry place: Int) -> UInt64 { entries.id(place) }
    func content(ofEntry place: Int) -> PageEntry.Content? { entries.content(place) }

    /// Where the image of a layer lies; nil where it shows none.
    public func image(of layer: Int) -> (image: PlacedImage, map: AffineMap, clip: Path?)? {
        switch sources[layer] {
        case .entry(let place): return entries.image(place).map { ($0, .identity, nil) }
        case .item(let place):
            switch items[place].content {
            case .entry: return entries.image(items[place].entry).map { ($0, .identity, nil) }
            case .area: return nil
            case .image(let image, let map, let clip): return (image, map, clip)
            }
        }
    }
}
