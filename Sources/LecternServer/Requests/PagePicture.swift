import PathGeometry
import Raster
import StrokeWire
import VectorGraphics
import Whiteboard

/// A page of a board as layers for a painter: what lassos have made of the lowest entries, and those above as they are.
///
/// The id of a layer depends on what it shows alone: that of an image on its pixels too.
struct PagePicture {
    private enum Source {
        case item(Int)
        case entry(Int)
    }

    private(set) var layers: [BoardLayer] = []
    private var sources: [Source] = []
    private let items: [PageScene.Item]
    private let entries: [Stroke]
    private let size: BoardSize
    private let source: StrokeSource
    private let images: PageImages
    private let hasImages: Bool

    /// - Parameters:
    ///   - scene: of as many of the lowest entries as it says, all up to the last lasso.
    ///   - entries: what is visible, bottom to top.
    ///   - hasImages: whether images are among them.
    ///   - images: the pixels that are there.
    init(
        scene: PageScene, entries: [Stroke], hasImages: Bool, size: BoardSize, source: StrokeSource, images: PageImages
    ) {
        self.hasImages = hasImages
        (items, self.entries, self.size, self.source, self.images) = (scene.items, entries, size, source, images)
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
            case .entry: add(id(of: entries[item.entry]), .item(place))
            case .area: add(item.id, .item(place))
            case .image(let image, _, _): add(item.id ^ pixelsID(of: image), .item(place))
            }
        }
        for place in scene.entryCount..<entries.count { add(id(of: entries[place]), .entry(place)) }
    }

    private func id(of entry: Stroke) -> UInt64 {
        guard hasImages, let image = source.image(entry, on: size) else { return entry.index }
        return entry.index ^ pixelsID(of: image)
    }

    /// A number for the pixels of an image; another one where they are missing.
    private func pixelsID(of image: PlacedImage) -> UInt64 {
        let pixels = images[image.source]
        return splitMix64Finalizer(UInt64(pixels?.width ?? 0) << 32 | UInt64(pixels?.height ?? 0) | 1 << 63)
    }

    /// The entry that a layer is of.
    func entry(of layer: Int) -> Stroke {
        switch sources[layer] {
        case .item(let place): entries[items[place].entry]
        case .entry(let place): entries[place]
        }
    }

    /// What a layer shows.
    func content(of layer: Int) -> LayerContent {
        let shown: LayerContent? =
            switch sources[layer] {
            case .entry(let place): source.content(entries[place], on: size)?.layer(images)
            case .item(let place):
                switch items[place].content {
                case .entry: source.content(entries[items[place].entry], on: size)?.layer(images)
                case .area, .image: items[place].content.layer(images)
                }
            }
        return shown ?? .area(PaintedArea(path: Path(), colour: RGB(0)))
    }
}
