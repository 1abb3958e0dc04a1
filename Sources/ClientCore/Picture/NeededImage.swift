internal import Raster
public import Scene
internal import StrokeWire

extension Picture {
    /// An image or a text that is seen.
    public struct NeededImage: Equatable {
        public let source: PictureSource
        /// The width in pixels that it is to be fetched with, or that a text is to be drawn with.
        public let width: Int
        /// The height that a text is to be drawn with; that of an image follows from its width.
        public let height: Int
        /// The width of the pixels that are there; 0 for none.
        public let knownWidth: Int
    }
}

extension Picture.NeededImage {
    /// The pictures that are seen, each once, as wide as the widest of its places needs.
    /// - Parameters:
    ///   - scale: pixels a board unit.
    ///   - pixels: those that are there. The pixels of other pictures are forgotten.
    static func list(of seen: [PlacedImage], scale: Double, _ pixels: inout PageImages) -> [Self] {
        var widths: [PictureSource: Double] = [:]
        var order: [PictureSource] = []
        for image in seen {
            if widths[image.source] == nil { order.append(image.source) }
            widths[image.source] = max(widths[image.source] ?? 0, image.width)
        }
        for source in pixels.sources where widths[source] == nil { pixels[source] = nil }
        let texts = order.count { if case .text = $0 { true } else { false } }
        // All texts together take a half of the bytes at most; with very many they are less sharp.
        let mostPixels = min(TextSource.mostPixels, Picture.imageBytes / 8 / max(texts, 1))
        return order.map { source in
            let known = pixels[source]?.width ?? 0
            switch source {
            case .asset:
                let width = PlacedImage.fetchedWidth(for: (widths[source] ?? 0) * scale)
                return Self(source: source, width: width, height: 0, knownWidth: known)
            case .text(let text):
                let (width, height) = text.pixelSize(scale: scale, most: mostPixels)
                return Self(source: source, width: width, height: height, knownWidth: known)
            }
        }
    }
}
