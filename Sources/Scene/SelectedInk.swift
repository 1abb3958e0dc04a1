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
    /// How many lie there, too, that cannot be drawn anew as they are seen: an eraser or a lasso has cut or copied them. Strokes whose
    /// outlines are too long to be compared count among them.
    public private(set) var cutCount = 0

    /// What is seen of an entry.
    private struct Sight {
        /// The first layer that shows it.
        let layer: Int
        /// Nil where it is not as it was drawn, moved as a whole.
        var map: AffineMap?
        var parts: [Path]
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
        var sights: [Int: Sight] = [:]
        var order: [Int] = []
        var erasers: [(layer: Int, eraser: Eraser)] = []
        for layer in page.layers.indices {
            guard let (place, part) = page.ink(of: layer) else { continue }
            if let part {
                let map = page.map(of: layer)
                if sights[place] == nil {
                    order.append(place)
                    sights[place] = Sight(layer: layer, map: map, parts: [part])
                } else {
                    if sights[place]?.map != map { sights[place]?.map = nil }
                    sights[place]?.parts.append(part)
                }
                continue
            }
            switch page.content(ofEntry: place) {
            case .stroke(let painted) where painted.stroke.isErasing:
                let points = painted.stroke.points.map { Point($0.x, $0.y) }
                guard !points.isEmpty, painted.stroke.width.isFinite else { continue }
                erasers.append((layer, Eraser(path: points, radius: painted.stroke.width / 2)))
            case .stroke(let painted):
                guard DrawableStroke.bounds(of: painted).intersects(loop.controlBounds) else { continue }
                guard let areas = DrawableStroke.areas(of: painted, longerSide: longerSide) else {
                    cutCount += 1
                    continue
                }
                order.append(place)
                sights[place] = Sight(layer: layer, map: .identity, parts: areas.map { $0.path })
            case .image(let image) where image.text != nil:
                order.append(place)
                sights[place] = Sight(layer: layer, map: .identity, parts: [image.area])
            case .image, .lasso, nil: continue
            }
        }
        var comparisons = Self.comparisonBound
        for place in order {
            guard let sight = sights[place], Self.isInside(sight.parts, loop) else { continue }
            let isErased = erasers.contains { layer, eraser in
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
