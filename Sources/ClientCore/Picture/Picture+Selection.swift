internal import Ink
public import PathGeometry
public import Raster
public import Scene
public import StrokeWire
internal import Whiteboard

// What lies at a place of the page or inside of a path, and what is made of it.

extension Picture {
    /// Selects what is inside of a path, as it is seen now.
    ///
    /// - Parameter points: the path in board units.
    /// - Returns: whether there is anything.
    public func select(_ points: [Point]) -> Bool {
        let list = list(entries + live)
        var scene = scenes.scene(of: list, width: board.width, height: board.height, limits: Self.sceneLimits) {}
        while scene.entryCount < list.count {
            scene.add(id: list.id(scene.entryCount)) { list.content($0) }
        }
        let count = scene.items.count
        let lasso = PageEntry.Content.lasso(Lasso(points: points, map: .identity, keepsOriginal: true))
        scene.add(id: .max) { $0 < list.count ? list.content($0) : lasso }
        // The copies that it makes are on top.
        selected = scene.items.dropFirst(count).compactMap { $0.content.layer(images) }
        selectedPath = points
        return !selected.isEmpty
    }

    /// The selection where a map puts it.
    ///
    /// - Parameter pixels: those of the box, as ``nextBox(_:)``.
    /// - Returns: a box of the whole page in the scale of the canvas, which may lie beside the page, with the pixels of the
    ///   largest canvas at most; nil where there is nothing.
    public func selection(_ map: AffineMap, _ pixels: inout [UInt32]) -> PixelRectangle? {
        let moved = selected.map { $0.moved(by: map) }
        let bounds = moved.reduce(Box.empty) { $0.union($1.bounds) }
        guard !bounds.isEmpty else { return nil }
        // As far beyond the canvas as it is large; half as far beyond a part of the page, which anything may fill; less far
        // where the box would be too large.
        var eighths = viewport == nil ? 8 : 4
        var box = area(of: bounds, beyond: eighths)
        while eighths > 0, box.width * box.height > Self.selectionPixels {
            eighths -= 1
            box = area(of: bounds, beyond: eighths)
        }
        guard box.width > 0, box.height > 0 else { return nil }
        let scale = canvasSize.scale
        var canvas = Canvas(width: box.width, height: box.height)
        var painter = StrokePainter(canvasWidth: canvas.width, canvasHeight: canvas.height, scale: scale)
        let shift = AffineMap(1, 0, 0, 1, -Double(box.x) / scale, -Double(box.y) / scale)
        for content in moved { painter.draw(content.moved(by: shift), on: &canvas) }
        canvas.copyStraight(PixelRectangle(x: 0, y: 0, width: canvas.width, height: canvas.height), to: &pixels)
        return box
    }

    /// Pixels of the picture of a selection at most: those of the largest canvas.
    static let selectionPixels = largestSide * largestSide

    /// The pixels that bounds cover on the canvas, and so many eighths of its size beyond it.
    private func area(of bounds: Box, beyond eighths: Int) -> PixelRectangle {
        let (width, height, scale) = canvasSize
        func pixel(_ value: Double, from start: Int, _ length: Int) -> Int {
            let beyond = length * eighths / 8
            return Int(min(max(value, Double(start - beyond)), Double(start + length + beyond)))
        }
        let (x, y) = (viewport?.x ?? 0, viewport?.y ?? 0)
        let left = pixel((bounds.lower.x * scale - 2).rounded(.down), from: x, width)
        let top = pixel((bounds.lower.y * scale - 2).rounded(.down), from: y, height)
        let right = pixel((bounds.upper.x * scale + 2).rounded(.up), from: x, width)
        let bottom = pixel((bounds.upper.y * scale + 2).rounded(.up), from: y, height)
        return PixelRectangle(x: left, y: top, width: right - left, height: bottom - top)
    }

    /// Hides the strokes of the room that an eraser of whole strokes touches, where lassos have put them.
    ///
    /// - Parameters:
    ///   - path: of the eraser, in board units; of more than 256 places the last ones.
    ///   - radius: of the eraser, in board units.
    /// - Returns: their ids. They stay hidden until they are removed or inserted, or ``putBack(_:)`` shows them.
    public func liftStrokes(under path: [Point], radius: Double) -> [UInt64] {
        guard let page = try? currentPage({}) else { return [] }
        let touched = hits.strokes(
            under: path.suffix(256), radius: radius, of: page, longerSide: board.longerSide)
        // Those above the room's have no index yet.
        let known = touched.filter { place(of: $0) != nil }
        lift(known)
        return known
    }

    /// Hides entries of the room, as ``liftStrokes(under:radius:)`` does.
    public func lift(_ ids: [UInt64]) {
        for id in ids {
            guard let place = place(of: id) else { continue }
            let entry = entries[place]
            remove(id)
            lifted[id] = entry
        }
    }

    /// The topmost stroke or text of the room whose ink, where lassos have put it, is as near to a place as that: its
    /// index, and the time that its message has, nil for none.
    public func stroke(near place: Point, radius: Double) -> (id: UInt64, time: MediaTime?)? {
        guard let page = try? currentPage({}) else { return nil }
        let touched = hits.strokes(under: [place], radius: radius, of: page, longerSide: board.longerSide)
        for id in touched {
            guard let number = self.place(of: id) else { continue }
            let time = entries[number].decoded()?.header.time
            return (id, time.map { MediaTime(milliseconds: $0) })
        }
        return nil
    }

    /// Shows strokes again that were hidden, unless the room has removed them.
    public func putBack(_ ids: [UInt64]) {
        for id in ids { if let entry = lifted[id] { insert(entry) } }
    }

    /// A text on the page.
    public struct FoundText: Equatable {
        /// The index of its operation, or the number of one that the room does not have yet.
        public let id: UInt64
        public let text: TextSource
        /// As its message has it.
        public let colour: UInt32
        /// In board units.
        public let box: Box
        public let lineHeight: Double
    }

    /// The topmost text whose box, as it was drawn, has a place of the board. One that lassos have moved is part of a picture.
    public func text(at place: Point) -> FoundText? {
        let list = list(entries + live)
        for entry in (0..<list.count).reversed() where list.entries[entry].element == .text {
            guard let image = list.image(entry), let text = image.text, image.area.contains(place),
                let header = list.entries[entry].decoded()?.header
            else { continue }
            return FoundText(
                id: list.id(entry), text: text, colour: header.colour, box: image.box,
                lineHeight: header.width * board.scale(for: header).width)
        }
        return nil
    }

    /// An image on the page.
    public struct FoundImage: Equatable {
        /// The index of its operation, or the number of one that the room does not have yet.
        public let id: UInt64
        public let source: ImageSource
        /// Where lassos have put its corners, in board units.
        public let corners: [Point]
        /// Whether all of it is there, upright: as a paper can show it.
        public let isWhole: Bool
    }

    /// The topmost image at a place of the board; nil where there is none.
    public func image(at place: Point) -> FoundImage? {
        let page = wholePage()
        for layer in page.layers.indices.reversed() {
            guard let (image, map, clip) = page.image(of: layer), let source = image.asset else { continue }
            let (low, high) = (image.box.lower, image.box.upper)
            let corners = [low, Point(high.x, low.y), high, Point(low.x, high.y)].map { map($0) }
            guard Path(polygon: corners).contains(place), clip?.contains(place) ?? true else { continue }
            let isUpright = map.b == 0 && map.c == 0 && map.a > 0 && map.d > 0
            let entry = page.entry(of: layer)
            let id = entry < entries.count ? entries[entry].id : live[entry - entries.count].id
            return FoundImage(id: id, source: source, corners: corners, isWhole: clip == nil && isUpright)
        }
        return nil
    }

    /// All entries with their lassos.
    private func wholePage() -> PagePicture<EntryList> {
        let list = list(entries + live)
        let scene = scenes.scene(of: list, width: board.width, height: board.height, limits: Self.sceneLimits) {}
        return PagePicture(scene: scene, entries: list, hasImages: true, images: images)
    }

    /// Strokes and texts, as messages that draw them again where they are seen.
    public struct FoundInk: Equatable {
        /// Of each, from the bottom to the top, the index of its operation, or the number of one that the room does not have yet.
        public var ids: [UInt64] = []
        /// Messages in board units, without number, page and time.
        public var messages: [[UInt8]] = []
        /// How many more there are that no message can draw as they are seen.
        public var cutCount = 0
    }

    /// The strokes and texts inside of the path of the last selection; see `SelectedInk`.
    public func selectedInk() -> FoundInk {
        let page = wholePage()
        let ink = SelectedInk(in: selectedPath, of: page, longerSide: board.longerSide)
        var found = FoundInk(cutCount: ink.cutCount)
        let all = entries + live
        for entry in ink.entries {
            guard let (header, points) = all[entry.place].decoded(),
                let message = message(header, points, movedBy: entry.map)
            else {
                found.cutCount += 1
                continue
            }
            found.ids.append(all[entry.place].id)
            found.messages.append(message)
        }
        return found
    }

    /// What draws an entry where a map puts it; nil where no message can.
    private func message(_ header: StrokeMessage, _ points: [StrokePoint], movedBy map: AffineMap) -> [UInt8]? {
        let isBox = header.element == .ellipse || header.element == .rectangle || header.element == .text
        let isTurned = map.b != 0 || map.c != 0
        // A text has no mirror image.
        if isBox && isTurned || header.element == .text && (map.a < 0 || map.d < 0) { return nil }
        let scale = board.scale(for: header)
        var points = points
        for place in points.indices {
            let moved = map(Point(points[place].x * scale.x, points[place].y * scale.y))
            (points[place].x, points[place].y) = (moved.x.rounded(parts: 100), moved.y.rounded(parts: 100))
        }
        let widths = header.element == .text ? BoardText.lineHeights : 0.01...512
        let growth = scale.width * map.determinant.magnitude.squareRoot()
        let width = (header.width * growth).rounded(parts: 100)
        let anew = StrokeMessage(
            number: 0, colour: header.colour, width: min(max(width, widths.lowerBound), widths.upperBound),
            element: header.element, boardWidth: board.width, boardHeight: board.height, content: header.content)
        return anew.encoded(interior: PointEncoder.interior(of: points)[...])
    }
}

extension LayerContent {
    func shifted(by shift: Point) -> LayerContent {
        guard case .stroke(var painted) = self else { return moved(by: AffineMap(1, 0, 0, 1, shift.x, shift.y)) }
        for place in painted.stroke.points.indices {
            painted.stroke.points[place].x += shift.x
            painted.stroke.points[place].y += shift.y
        }
        return .stroke(painted)
    }

    func moved(by map: AffineMap) -> LayerContent {
        switch self {
        case .stroke: return self
        case .area(var area):
            area.path = area.path.transformed(by: map)
            return .area(area)
        case .image(var image):
            image.map = image.map.followed(by: map)
            image.clip = image.clip?.transformed(by: map)
            return .image(image)
        }
    }

    var bounds: Box {
        switch self {
        case .stroke: .empty
        case .area(let area): area.path.controlBounds
        case .image(let image):
            Path(rectangle: 0, 0, width: Double(image.pixels.width), height: Double(image.pixels.height))
                .transformed(by: image.map).controlBounds
        }
    }
}
