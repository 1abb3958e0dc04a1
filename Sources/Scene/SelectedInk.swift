internal import Ink
public import PathGeometry
internal import Raster
internal import StrokeWire

/// The strokes and texts of a page that lie inside of a path, where they are seen now: what can be drawn anew in another colour.
public struct SelectedInk: Sendable {
    /// An entry, and where lassos have put it.
    public struct Entry: Sendable, Equatable {
        /// Its place among the entries of the page.
        public let place: Int
        public let map: AffineMap
    }

    /// Lines of erasers and of ink that are compared at most. What is left then counts as cut, where it lies below an eraser.
    private static let comparisonBound = 1 << 22

    /// From the bottom to the top.
    public private(set) var entries: [Entry] = []
    /// How many lie there, too, that cannot be drawn anew as they are seen: an eraser or a lasso has cut or copied
    /// them. Strokes whose outlines are too long to be compared count among them.
    public private(set) var cutCount = 0

    /// What is seen of an entry.
    private struct Sight {
        /// The first layer that shows it.
        let layer: Int
        /// Nil where it is not as it was drawn, moved as a whole.
        var map: AffineMap?
        var parts: [Path]
    }

    /// The ink of a page's layers.
    private struct SeenInk {
        var sights: [Int: Sight] = [:]
        /// The places of the sights, from the bottom to the top.
        var order: [Int] = []
        var erasers: [(layer: Int, eraser: Eraser)] = []
        /// Strokes whose outlines are too long to be compared.
        var longCount = 0

        private mutating func add(_ sight: Sight, of place: Int) {
            order.append(place)
            sights[place] = sight
        }

        /// Adds a part of an entry that a lasso or an eraser has cut.
        mutating func add(_ part: Path, of place: Int, on layer: Int, _ map: AffineMap?) {
            guard let known = sights[place] else {
                return add(Sight(layer: layer, map: map, parts: [part]), of: place)
            }
            if known.map != map { sights[place]?.map = nil }
            sights[place]?.parts.append(part)
        }

        mutating func add(
            _ content: PageEntry.Content, of place: Int, on layer: Int, near box: Box, longerSide: Double
        ) {
            switch content {
            case .stroke(let painted) where painted.stroke.isErasing:
                let points = painted.stroke.points.map { Point($0.x, $0.y) }
                guard !points.isEmpty, painted.stroke.width.isFinite else { return }
                erasers.append((layer, Eraser(path: points, radius: painted.stroke.width / 2)))
            case .stroke(let painted):
                guard DrawableStroke.bounds(of: painted).intersects(box) else { return }
                guard let areas = DrawableStroke.areas(of: painted, longerSide: longerSide) else {
                    longCount += 1
                    return
                }
                add(Sight(layer: layer, map: .identity, parts: areas.map { $0.path }), of: place)
            case .image(let image) where image.text != nil:
                add(Sight(layer: layer, map: .identity, parts: [image.area]), of: place)
            case .image, .lasso: break
            }
        }
    }

    /// Finds what lies inside with at least a half of its outline.
    ///
    /// - Parameters:
    ///   - path: its corners in board units; what is passed around twice is outside.
    ///   - page: the layers of a page.
    ///   - longerSide: of the board, in its units.
    public init<Entries: PageEntries>(in path: [Point], of page: PagePicture<Entries>, longerSide: Double) {
        guard path.count > 2 else { return }
        let loop = Path(polygon: path)
        var seen = SeenInk()
        for layer in page.layers.indices {
            guard let (place, part) = page.ink(of: layer) else { continue }
            if let part {
                seen.add(part, of: place, on: layer, page.map(of: layer))
            } else if let content = page.content(ofEntry: place) {
                seen.add(content, of: place, on: layer, near: loop.controlBounds, longerSide: longerSide)
            }
        }
        cutCount = seen.longCount
        var comparisons = Self.comparisonBound
        for place in seen.order {
            guard let sight = seen.sights[place], Self.isInside(sight.parts, loop) else { continue }
            let isErased = seen.erasers.contains { layer, eraser in
                layer > sight.layer && sight.parts.contains { eraser.touches($0, within: &comparisons) }
            }
            if let map = sight.map, !isErased {
                entries.append(Entry(place: place, map: map))
            } else {
                cutCount += 1
            }
        }
    }

    private static func isInside(_ parts: [Path], _ loop: Path) -> Bool {
        let box = loop.controlBounds
        var (inside, all) = (0, 0)
        for part in parts {
            for contour in part.contours {
                // Some hundred places tell enough of it.
                let step = max(contour.segments.count / 256, 1)
                for number in stride(from: 0, to: contour.segments.count, by: step) {
                    let place = contour.segments[number].start
                    all += 1
                    if box.contains(place) && loop.contains(place, fillRule: .evenOdd) { inside += 1 }
                }
            }
        }
        return all > 0 && 2 * inside >= all
    }
}
