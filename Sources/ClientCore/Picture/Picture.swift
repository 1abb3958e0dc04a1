internal import Ink
public import PathGeometry
public import Raster
public import Scene
public import StrokeWire
public import Whiteboard

/// A page of a board as a client shows it: the room's entries, and above them those that the room does not have yet.
///
/// The pixels are those of the service's picture of the same page at the same width. ``draw(while:)`` draws what has changed,
/// in as many calls as the caller's time needs; ``nextBox(_:)`` then returns the pixels that are other than before.
///
/// One owner. Memory: the messages of the entries, the pixels of images that are shown, and canvases: about ``versionBytes``
/// of kept versions, those for going back and forth, one canvas more, and scratch memory of a `StrokePainter`.
public struct Picture {
    /// An entry of the page: a message that draws.
    public struct Entry {
        /// The index of the operation, or of one that the room does not have yet any other number: it names the entry and
        /// all that it shows.
        public let id: UInt64
        fileprivate let source: Source
        fileprivate let element: Element

        fileprivate enum Source {
            case message([UInt8])
            /// A stroke of a board, which is unpacked when it is drawn.
            case stroke(Stroke)
            case points([StrokePoint], WetStrokeStyle)
        }

        var isLasso: Bool { element == .lasso }

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
                }
        }

        /// A stroke that is being drawn.
        public init(id: UInt64, points: [StrokePoint], style: WetStrokeStyle) {
            self.id = id
            source = .points(points, style)
            element = style.element
        }
    }

    /// An image that is seen.
    public struct NeededImage: Equatable {
        public let source: ImageSource
        /// The width in pixels that it is to be fetched with.
        public let width: Int
        /// The width of the pixels that are there; 0 for none.
        public let knownWidth: Int
    }

    /// The picture is not complete: the time is over.
    private struct OutOfTime: Error {}

    /// The longest side of a canvas in pixels.
    public static let largestSide = 4096
    /// Bytes of versions that are kept, for undo, redo and pages that are turned back to.
    public static let versionBytes = 48 << 20
    /// Bytes of the pixels of images at most; what is beyond stays an empty frame.
    static let imageBytes = 128 << 20
    private static let sceneLimits = DisplayList.Limits(bytes: 32 << 20)

    /// The size of the canvas, and pixels a board unit.
    public private(set) var size = CanvasSize(boardWidth: 1024, boardHeight: 768, width: 1)
    private var decoder: EntryDecoder
    private var board = (width: 1024.0, height: 768.0)
    private var painter = BoardPainter(width: 1, height: 1, versionBytes: 0)
    private var scenes = SceneCache(byteLimit: 16 << 20)
    private var images: PageImages = [:]
    /// The room's, by their ids, bottom to top.
    private var entries: [Entry] = []
    /// Those above them.
    private var live: [Entry] = []
    /// The layers of the room's entries and of the live ones up to the last live lasso; nil when they have changed.
    private var page: PagePicture<EntryList>?
    /// The picture of these layers.
    private var below: (canvas: Canvas, digest: UInt64)?
    /// With each of the live entries above.
    private var above: [(id: UInt64, canvas: Canvas)] = []
    private var abovePainter: StrokePainter?
    /// What the shell has, but for the boxes that wait.
    private var presented: Canvas?
    private var waiting: [PixelRectangle] = []
    /// What is selected, where it was.
    private var selected: [LayerContent] = []

    private let prefixBytes: Int

    /// - Parameter prefixBytes: bytes of pictures of a page's lowest entries, for boards that go back and forth; see
    ///   `BoardPainter`.
    public init(prefixBytes: Int = 0) {
        self.prefixBytes = prefixBytes
        decoder = EntryDecoder(style: .smooth, tip: .round, colours: .rgb, palette: .standard)
    }

    /// Shows a page, or the same one in another size. Pictures of other pages in the same size are kept.
    ///
    /// - Parameters:
    ///   - width, height: of the board in its units, above 0.
    ///   - pixels: the width of the canvas; less where a side would be longer than ``largestSide``.
    ///   - entries: of the room, in any order.
    public mutating func show(
        _ entries: [Entry], width: Double, height: Double, pixels: Int, decoder: EntryDecoder
    ) {
        let most = Double(Self.largestSide)
        let across = min(Double(max(pixels, 1)), most, (most * width / height).rounded(.down))
        let size = CanvasSize(boardWidth: width, boardHeight: height, width: Int(max(across, 1)))
        if size != self.size || board != (width, height) || !decoder.draws(as: self.decoder) {
            (self.size, board, self.decoder) = (size, (width, height), decoder)
            painter = BoardPainter(
                width: size.width, height: size.height, scale: size.scale, versionBytes: Self.versionBytes,
                prefixBytes: prefixBytes)
            abovePainter = nil
            scenes = SceneCache(byteLimit: 16 << 20)
            below = nil
            above = []
        }
        let isSorted = zip(entries, entries.dropFirst()).allSatisfy { $0.id < $1.id }
        self.entries = isSorted ? entries : entries.sorted { $0.id < $1.id }
        page = nil
    }

    /// Adds an entry of the room at the place of its id.
    public mutating func insert(_ entry: Entry) {
        page = nil
        let place = place(of: entry.id)
        if place < entries.count, entries[place].id == entry.id {
            entries[place] = entry
        } else {
            entries.insert(entry, at: place)
        }
    }

    /// Removes an entry of the room; nothing where it is not there.
    public mutating func remove(_ id: UInt64) {
        page = nil
        let place = place(of: id)
        if place < entries.count, entries[place].id == id { entries.remove(at: place) }
    }

    private func place(of id: UInt64) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// A live entry by its id, to be shown again.
    public func liveEntry(_ id: UInt64) -> Entry? { live.first { $0.id == id } }

    /// Shows entries above the room's, bottom to top; one that changes has another id.
    public mutating func showLive(_ entries: [Entry]) {
        // Lasso previews are part of the page.
        if live.contains(where: { $0.element == .lasso }) || entries.contains(where: { $0.element == .lasso }) {
            page = nil
        }
        live = entries
    }

    /// Gives the pixels of an image that is shown; nil takes them away.
    public mutating func setImage(_ source: ImageSource, _ pixels: ImagePixels?) {
        let others = images.reduce(0) { $1.key == source ? $0 : $0 + $1.value.bytes.count }
        images[source] = pixels.flatMap { others + $0.bytes.count <= Self.imageBytes ? $0 : nil }
        page = nil
        above = []
    }

    /// How much of the picture is there, 0 … 1.
    public var progress: Double {
        guard let page else { return entries.isEmpty ? 1 : 0 }
        if let below, below.digest == page.digest { return 1 }
        return Double(min(painter.shownCount, page.layers.count)) / Double(page.layers.count + 1)
    }

    /// The layers drawn so far, for measurements.
    public var layersDrawn: Int { painter.layersDrawn }

    /// Draws what has changed.
    ///
    /// - Parameter isInTime: asked before each entry. On false the drawing ends; the next call goes on. At least one entry is
    ///   drawn in each call.
    /// - Returns: whether the picture is complete.
    public mutating func draw(while isInTime: () -> Bool) -> Bool {
        var isFirst = true
        func check() throws(OutOfTime) {
            guard isFirst || isInTime() else { throw OutOfTime() }
            isFirst = false
        }
        do throws(OutOfTime) {
            let page = try currentPage(check)
            if below?.digest != page.digest || below?.canvas.width != size.width {
                let canvas = try painter.canvas(of: page.layers) { (place) throws(OutOfTime) in
                    try check()
                    return page.content(of: place)
                }
                below = (canvas, page.digest)
                above = []
            }
            guard let below else { return true }
            let top = drawAbove(below.canvas)
            present(top)
            return true
        } catch {
            return false
        }
    }

    private var assumedCount: Int { live.lastIndex { $0.element == .lasso }.map { $0 + 1 } ?? 0 }

    private func list(_ entries: [Entry]) -> EntryList {
        EntryList(entries: entries, decoder: decoder, width: board.width, height: board.height)
    }

    private mutating func currentPage(_ check: () throws(OutOfTime) -> Void) throws(OutOfTime) -> PagePicture<EntryList>
    {
        if let page { return page }
        let list = list(entries + live[..<assumedCount])
        let scene = try scenes.scene(of: list, longerSide: list.longerSide, limits: Self.sceneLimits, check: check)
        let page = PagePicture(
            scene: scene, entries: list, hasImages: list.entries.contains { $0.element == .image }, images: images)
        self.page = page
        return page
    }

    /// The picture with the live entries, of which only those are drawn that are not on a picture already.
    private mutating func drawAbove(_ canvas: Canvas) -> Canvas {
        let entries = live[assumedCount...]
        let same = zip(above, entries).prefix { $0.id == $1.id }.count
        above.removeSubrange(same...)
        guard same < entries.count else { return above.last?.canvas ?? canvas }
        var painter =
            abovePainter ?? StrokePainter(canvasWidth: canvas.width, canvasHeight: canvas.height, scale: size.scale)
        abovePainter = nil
        let list = list(Array(entries))
        for place in same..<list.count {
            var next = above.last?.canvas ?? canvas
            if let content = list.content(place)?.layer(images) { painter.draw(content, on: &next) }
            above.append((list.id(place), next))
        }
        abovePainter = painter
        return above.last?.canvas ?? canvas
    }

    private mutating func present(_ canvas: Canvas) {
        if presented.map({ $0.width != canvas.width || $0.height != canvas.height }) ?? true {
            (presented, waiting) = (nil, [])
        }
        for box in canvas.differences(from: presented) where !waiting.contains(box) { waiting.append(box) }
        presented = canvas
    }

    /// The shell's canvas is blank: all that is painted waits to be shown.
    public mutating func presentAll() {
        (presented, waiting) = (nil, [])
        if let top = above.last?.canvas ?? below?.canvas { present(top) }
    }

    /// The next pixels that the shell does not have: a box of the canvas, at most a row of tiles high. Nil where it has all.
    /// - Parameter pixels: its pixels with straight alpha; see `Canvas.copyStraight(_:to:)`.
    public mutating func nextBox(_ pixels: inout [UInt32]) -> PixelRectangle? {
        guard let presented, let box = waiting.popLast() else { return nil }
        presented.copyStraight(box, to: &pixels)
        return box
    }

    /// The images that are seen, each once, with the width that the service draws them from. Forgets the pixels of others.
    public mutating func neededImages() -> [NeededImage] {
        var widths: [ImageSource: Double] = [:]
        var order: [ImageSource] = []
        func add(_ image: PlacedImage?) {
            guard let image else { return }
            if widths[image.source] == nil { order.append(image.source) }
            widths[image.source] = max(widths[image.source] ?? 0, image.width)
        }
        for list in [list(entries), list(live)] where list.entries.contains(where: { $0.element == .image }) {
            for place in 0..<list.count { add(list.image(place)) }
        }
        for source in images.keys where widths[source] == nil { images[source] = nil }
        return order.map { source in
            NeededImage(
                source: source, width: PlacedImage.fetchedWidth(for: (widths[source] ?? 0) * size.scale),
                knownWidth: images[source]?.width ?? 0)
        }
    }
}

extension Picture {
    /// Selects what is inside of a path, as it is seen now.
    ///
    /// - Parameter points: the path in board units.
    /// - Returns: whether there is anything.
    public mutating func select(_ points: [Point]) -> Bool {
        let list = list(entries + live)
        var scene = scenes.scene(of: list, longerSide: list.longerSide, limits: Self.sceneLimits) {}
        while scene.entryCount < list.count {
            scene.add(id: list.id(scene.entryCount)) {
                list.content($0)
            } check: {
            }
        }
        let count = scene.items.count
        let lasso = PageEntry.Content.lasso(Lasso(points: points, map: .identity, keepsOriginal: true))
        scene.add(id: .max) {
            $0 < list.count ? list.content($0) : lasso
        } check: {
        }
        // The copies that it makes are on top.
        selected = scene.items.dropFirst(count).compactMap { $0.content.layer(images) }
        return !selected.isEmpty
    }

    /// The selection where a map puts it.
    ///
    /// - Parameter pixels: those of the box, as ``nextBox(_:)``; the box may lie beside the canvas.
    /// - Returns: nil where there is nothing.
    public func selection(_ map: AffineMap, _ pixels: inout [UInt32]) -> PixelRectangle? {
        let moved = selected.map { $0.moved(by: map) }
        let bounds = moved.reduce(Box.empty) { $0.union($1.bounds) }
        guard !bounds.isEmpty else { return nil }
        func pixel(_ value: Double, _ least: Int, _ most: Int) -> Int {
            Int(min(max(value, Double(least)), Double(most)))
        }
        let left = pixel((bounds.lower.x * size.scale - 2).rounded(.down), -size.width, 2 * size.width)
        let top = pixel((bounds.lower.y * size.scale - 2).rounded(.down), -size.height, 2 * size.height)
        let right = pixel((bounds.upper.x * size.scale + 2).rounded(.up), -size.width, 2 * size.width)
        let bottom = pixel((bounds.upper.y * size.scale + 2).rounded(.up), -size.height, 2 * size.height)
        guard right > left, bottom > top else { return nil }
        var canvas = Canvas(width: right - left, height: bottom - top)
        var painter = StrokePainter(canvasWidth: canvas.width, canvasHeight: canvas.height, scale: size.scale)
        let shift = AffineMap(1, 0, 0, 1, -Double(left) / size.scale, -Double(top) / size.scale)
        for content in moved { painter.draw(content.moved(by: shift), on: &canvas) }
        canvas.copyStraight(PixelRectangle(x: 0, y: 0, width: canvas.width, height: canvas.height), to: &pixels)
        return PixelRectangle(x: left, y: top, width: canvas.width, height: canvas.height)
    }

    /// The corners of the topmost image at a place of the board, where lassos have put it; nil where there is none.
    public mutating func imageCorners(at place: Point) -> [Point]? {
        let list = list(entries + live)
        let scene = scenes.scene(of: list, longerSide: list.longerSide, limits: Self.sceneLimits) {}
        let page = PagePicture(scene: scene, entries: list, hasImages: true, images: images)
        for layer in page.layers.indices.reversed() {
            guard let (image, map, clip) = page.image(of: layer) else { continue }
            let (low, high) = (image.box.lower, image.box.upper)
            let corners = [low, Point(high.x, low.y), high, Point(low.x, high.y)].map { map($0) }
            if Path(polygon: corners).contains(place), clip?.contains(place) ?? true { return corners }
        }
        return nil
    }
}

extension Picture.Entry {
    fileprivate func decoded() -> (header: StrokeMessage, points: [StrokePoint])? {
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
private struct EntryList: PageEntries {
    let entries: [Picture.Entry]
    let decoder: EntryDecoder
    let width: Double
    let height: Double

    var longerSide: Double { max(width, height) }
    var count: Int { entries.count }

    func id(_ place: Int) -> UInt64 { entries[place].id }
    func isLasso(_ place: Int) -> Bool { entries[place].element == .lasso }

    func image(_ place: Int) -> PlacedImage? {
        guard entries[place].element == .image, case .image(let image)? = content(place) else { return nil }
        return image
    }

    func content(_ place: Int) -> PageEntry.Content? {
        guard let (header, points) = entries[place].decoded(), header.action == .draw else { return nil }
        let across = width / (header.boardWidth ?? width)
        let down = height / (header.boardHeight ?? height)
        return decoder.content(header, points, scale: (across, down, min(across, down)), longerSide: longerSide)
    }
}

extension PagePicture {
    /// Of all layers; 0 where there is none.
    fileprivate var digest: UInt64 { layers.last?.digest ?? 0 }
}

extension EntryDecoder {
    fileprivate func draws(as other: EntryDecoder) -> Bool {
        style == other.style && tip == other.tip && colours == other.colours && palette == other.palette
    }
}

extension LayerContent {
    fileprivate func moved(by map: AffineMap) -> LayerContent {
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

    fileprivate var bounds: Box {
        switch self {
        case .stroke: .empty
        case .area(let area): area.path.controlBounds
        case .image(let image):
            Path(rectangle: 0, 0, width: Double(image.pixels.width), height: Double(image.pixels.height))
                .transformed(by: image.map).controlBounds
        }
    }
}
