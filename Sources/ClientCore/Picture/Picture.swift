internal import Ink
internal import PathGeometry
public import Raster
public import Scene
internal import StrokeWire
internal import Whiteboard

/// A page of a board as a client shows it: the room's entries, and above them those that the room does not have yet.
///
/// The pixels are those of the service's picture of the same page at the same width. ``draw(while:)`` draws what has changed,
/// in as many calls as the caller's time needs; ``nextBox(_:)`` then returns the pixels that are other than before.
///
/// One owner. Memory: the messages of the entries, the pixels of images that are shown, and canvases: about ``versionBytes``
/// of kept versions, those for going back and forth, one canvas more, and scratch memory of a `StrokePainter`.
public final class Picture {
    /// The picture is not complete: the time is over.
    struct OutOfTime: Error {}

    /// The longest side of a canvas in pixels.
    public static let largestSide = 4096
    /// Bytes of versions that are kept, for undo, redo and pages that are turned back to.
    public static let versionBytes = 48 << 20
    /// The same of a part of a page.
    private static let viewportVersionBytes = 16 << 20
    /// Bytes of the pixels of images at most; what is beyond stays an empty frame.
    static let imageBytes = 128 << 20
    /// Those that change are among the last ones. A client that is cut off has thousands of live entries.
    private static let liveCanvases = 8
    static let sceneLimits = DisplayList.Limits(bytes: 32 << 20)

    /// The size of the canvas of a whole page, and pixels a board unit.
    public private(set) var size = CanvasSize(boardWidth: 1024, boardHeight: 768, width: 1)
    private var decoder: EntryDecoder
    /// Whether the person wants a dark ground; see `DarkBoard`.
    public var isDark = false
    /// Whether this page has it: one that images cover has not.
    public var isShownDark: Bool { decoder.isDark }
    var board = BoardSize.standard
    var painter = BoardPainter(width: 1, height: 1, versionBytes: 0)
    /// What is seen; nil for all of the page.
    public private(set) var viewport: Viewport?
    /// Paints that part, while `painter` keeps its pictures of whole pages.
    private var partPainter: BoardPainter?
    var scenes = SceneCache(byteLimit: 16 << 20)
    var images: PageImages = [:]
    /// The room's, by their ids, bottom to top.
    var entries: [Entry] = [] { didSet { placed = nil } }
    /// Those above them.
    var live: [Entry] = [] { didSet { placed = nil } }
    /// The images and texts among them, bottom to top; nil until they are looked for.
    private var placed: [PlacedImage]?
    /// The room's that are hidden until an operation removes them, by their ids.
    var lifted: [UInt64: Entry] = [:]
    var hits = StrokeHits()
    /// The layers of the room's entries and of the live ones up to the last live lasso; nil when they have changed.
    var page: PagePicture<EntryList>?
    /// The picture of these layers.
    private var below: (canvas: Canvas, digest: UInt64)?
    /// With each of the live entries above; of all but the last ones the canvas is gone.
    var above: [(id: UInt64, canvas: Canvas?)] = []
    private var abovePainter: StrokePainter?
    /// What lies under the ink, and its picture in this size with the pixels that are there; nil until it is drawn.
    var paper: PagePaper?
    private var paperCanvas: Canvas?
    /// Whether the shell's canvas has the paper.
    private var isPaperPresented = true
    /// The ink that the shell has, but for the boxes that wait.
    private var presented: Canvas?
    private var waiting: [PixelRectangle] = []
    /// What is selected, where it was.
    var selected: [LayerContent] = []
    /// The path of the last selection, in board units.
    var selectedPath: [Point] = []

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
    public func show(
        _ entries: [Entry], width: Double, height: Double, pixels: Int, decoder: EntryDecoder
    ) {
        let most = Double(Self.largestSide)
        let across = min(Double(max(pixels, 1)), most, (most * width / height).rounded(.down))
        let size = CanvasSize(boardWidth: width, boardHeight: height, width: Int(max(across, 1)))
        var decoder = decoder
        decoder.isDark = self.decoder.isDark
        let board = BoardSize(width: width, height: height)
        if size != self.size || board != self.board || decoder != self.decoder {
            (self.size, self.board, self.decoder) = (size, board, decoder)
            beginAnew()
        }
        // What is hidden of the page stays hidden.
        let hidden = lifted.isEmpty ? [] : entries.filter { lifted[$0.id] != nil }
        let entries = hidden.isEmpty ? entries : entries.filter { lifted[$0.id] == nil }
        lifted = [:]
        for entry in hidden { lifted[entry.id] = entry }
        hits = StrokeHits()
        let isSorted = zip(entries, entries.dropFirst()).allSatisfy { $0.id < $1.id }
        self.entries = isSorted ? entries : entries.sorted { $0.id < $1.id }
        page = nil
    }

    /// Shows a part of the page on a canvas of its own size; nil for all of it again. The canvas of the caller is blank then: call
    /// ``presentAll()`` when the picture is complete.
    public func look(at viewport: Viewport?) {
        guard viewport != self.viewport else { return }
        self.viewport = viewport
        partPainter = nil
        (presented, waiting) = (nil, [])
        forgetCanvases()
    }

    /// No picture of before is one of now.
    private func beginAnew() {
        painter = BoardPainter(
            width: size.width, height: size.height, scale: size.scale, versionBytes: Self.versionBytes,
            prefixBytes: prefixBytes)
        partPainter = nil
        scenes = SceneCache(byteLimit: 16 << 20)
        forgetCanvases()
    }

    /// Images at least as large as this part of the board are what ink was chosen for.
    private static let coveringPart = 0.25

    /// Takes the colours of the ground that is wanted, unless images are below the ink: it was drawn to be seen on these.
    private func chooseGround() {
        var covered = 0.0
        if isDark {
            for image in placedImages() where image.asset != nil {
                let size = image.box.upper - image.box.lower
                covered += size.x * size.y
            }
        }
        let isFree = paper?.image == nil && covered < Self.coveringPart * board.width * board.height
        guard decoder.isDark != (isDark && isFree) else { return }
        decoder.isDark.toggle()
        (page, placed, isPaperPresented) = (nil, nil, false)
        beginAnew()
    }

    private func placedImages() -> [PlacedImage] {
        if let placed { return placed }
        let found = [list(entries), list(live)].flatMap { list in
            (0..<list.count).compactMap { list.image($0) }
        }
        placed = found
        return found
    }

    private func forgetCanvases() {
        (below, above, abovePainter, paperCanvas) = (nil, [], nil, nil)
    }

    /// The size of the canvas in pixels, and pixels a board unit.
    public var canvasSize: (width: Int, height: Int, scale: Double) {
        viewport.map { ($0.width, $0.height, $0.scale) } ?? (size.width, size.height, size.scale)
    }

    /// Lays a paper under the ink, in place of the one before; nil for none.
    public func lay(_ paper: PagePaper?) {
        guard paper != self.paper else { return }
        self.paper = paper
        paperCanvas = nil
        isPaperPresented = false
    }

    /// Adds an entry of the room at the place of its id.
    public func insert(_ entry: Entry) {
        page = nil
        lifted[entry.id] = nil
        if let place = place(of: entry.id) {
            entries[place] = entry
        } else {
            entries.insert(entry, at: entries.partitioningIndex { $0.id > entry.id })
        }
    }

    /// Removes an entry of the room; nothing where it is not there.
    public func remove(_ id: UInt64) {
        page = nil
        lifted[id] = nil
        if let place = place(of: id) { entries.remove(at: place) }
    }

    /// The place of an entry of the room; nil where it is not there.
    func place(of id: UInt64) -> Int? {
        let place = entries.partitioningIndex { $0.id >= id }
        return place < entries.count && entries[place].id == id ? place : nil
    }

    /// A live entry by its id, to be shown again.
    public func liveEntry(_ id: UInt64) -> Entry? { live.first { $0.id == id } }

    /// Shows entries above the room's, bottom to top; one that changes has another id.
    public func showLive(_ entries: [Entry]) {
        // Lasso previews are part of the page.
        if live.contains(where: { $0.element == .lasso }) || entries.contains(where: { $0.element == .lasso }) {
            page = nil
        }
        live = entries
    }

    /// Gives the pixels of an image or a text that is shown; nil takes them away.
    public func setPixels(_ source: PictureSource, _ pixels: ImagePixels?) {
        let others = images.byteCount - (images[source]?.bytes.count ?? 0)
        images[source] = pixels.flatMap { others + $0.bytes.count <= Self.imageBytes ? $0 : nil }
        if paper?.image?.source == source { (paperCanvas, isPaperPresented) = (nil, false) }
        page = nil
        above = []
    }

    /// How much of the picture is there, 0 … 1.
    public var progress: Double {
        guard let page else { return entries.isEmpty ? 1 : 0 }
        if let below, below.digest == page.digest { return 1 }
        let shown = viewport == nil ? painter.shownCount : partPainter?.shownCount ?? 0
        return Double(min(shown, page.layers.count)) / Double(page.layers.count + 1)
    }

    /// The layers drawn so far, for measurements.
    public var layersDrawn: Int { painter.layersDrawn }

    /// Draws what has changed.
    ///
    /// - Parameter isInTime: asked before each entry. On false the drawing ends; the next call goes on. At least one entry is
    ///   drawn in each call.
    /// - Returns: whether the picture is complete.
    public func draw(while isInTime: () -> Bool) -> Bool {
        chooseGround()
        var isFirst = true
        func check() throws(OutOfTime) {
            guard isFirst || isInTime() else { throw OutOfTime() }
            isFirst = false
        }
        do throws(OutOfTime) {
            let page = try currentPage(check)
            if below?.digest != page.digest || below?.canvas.width != canvasSize.width {
                let canvas = try self.canvas(of: page, check)
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

    func canvas(
        of page: PagePicture<EntryList>, _ check: () throws(OutOfTime) -> Void
    ) throws(OutOfTime) -> Canvas {
        guard let viewport else {
            return try painter.canvas(of: page.layers) { (place) throws(OutOfTime) in
                try check()
                return page.content(of: place)
            }
        }
        let (width, height) = (viewport.width, viewport.height)
        // Strokes that are not seen are not drawn where the canvas has a viewport.
        var painter =
            partPainter.take()
            ?? BoardPainter(
                width: width, height: height, scale: viewport.scale, versionBytes: Self.viewportVersionBytes,
                viewport: PixelRectangle(x: 0, y: 0, width: width, height: height))
        defer { partPainter = painter }
        let shift = viewport.shift
        // What the whole page has beside the part need not be decoded.
        let whole = self.painter
        let factor = size.scale / viewport.scale
        let (left, top) = (Double(viewport.x) * factor - 2, Double(viewport.y) * factor - 2)
        let (right, bottom) = (left + Double(width) * factor + 4, top + Double(height) * factor + 4)
        return try painter.canvas(of: page.layers) { (place) throws(OutOfTime) in
            if let box = whole.box(ofLayer: page.layers[place].id),
                Double(box.x) > right || Double(box.x + box.width) < left || Double(box.y) > bottom
                    || Double(box.y + box.height) < top
            {
                return .area(PaintedArea(path: Path(), colour: RGB(0)))
            }
            try check()
            return page.content(of: place).shifted(by: shift)
        }
    }

    private var assumedCount: Int { live.lastIndex { $0.element == .lasso }.map { $0 + 1 } ?? 0 }

    func list(_ entries: [Entry]) -> EntryList {
        EntryList(entries: entries, decoder: decoder, board: board)
    }

    func currentPage(_ check: () throws(OutOfTime) -> Void) throws(OutOfTime) -> PagePicture<EntryList> {
        if let page { return page }
        let list = list(entries + live[..<assumedCount])
        let scene = try scenes.scene(
            of: list, width: board.width, height: board.height, limits: Self.sceneLimits, check: check)
        let page = PagePicture(
            scene: scene, entries: list, hasImages: list.entries.contains { $0.isImage }, images: images)
        self.page = page
        return page
    }

    /// The picture with the live entries, of which only those are drawn that are not on a picture already.
    private func drawAbove(_ canvas: Canvas) -> Canvas {
        let entries = live[assumedCount...]
        let known = zip(above, entries).prefix { $0.id == $1.id }
        let same = known.lastIndex { $0.0.canvas != nil }.map { $0 + 1 } ?? 0
        above.removeSubrange(same...)
        guard same < entries.count else { return above.last?.canvas ?? canvas }
        let scale = canvasSize.scale
        var painter =
            abovePainter ?? StrokePainter(canvasWidth: canvas.width, canvasHeight: canvas.height, scale: scale)
        abovePainter = nil
        let list = list(Array(entries))
        for place in same..<list.count {
            var next = above.last?.canvas ?? canvas
            if let content = list.content(place)?.layer(images) {
                painter.draw(viewport.map { content.shifted(by: $0.shift) } ?? content, on: &next)
            }
            above.append((list.id(place), next))
            if above.count > Self.liveCanvases { above[above.count - 1 - Self.liveCanvases].canvas = nil }
        }
        abovePainter = painter
        return above.last?.canvas ?? canvas
    }

    private func present(_ canvas: Canvas) {
        let isOtherSize = presented.map { $0.width != canvas.width || $0.height != canvas.height } ?? true
        if isOtherSize { (presented, waiting) = (nil, []) }
        if let paper, paperCanvas == nil { paperCanvas = self.canvas(of: paper) }
        if !isPaperPresented || isOtherSize && paper != nil {
            // Another paper may be on every pixel.
            waiting = canvas.rowsOfTiles
            isPaperPresented = true
        }
        for box in canvas.differences(from: presented) where !waiting.contains(box) { waiting.append(box) }
        presented = canvas
    }

    func canvas(of paper: PagePaper) -> Canvas {
        let colour = isShownDark ? DarkBoard.ruling : PagePaper.colour
        guard let viewport else { return paper.canvas(size, images: images, colour: colour) }
        return paper.canvas(
            width: board.width, height: board.height, scale: viewport.scale, part: viewport.part, images: images,
            colour: colour)
    }

    /// The shell's canvas is blank: all that is painted waits to be shown.
    public func presentAll() {
        (presented, waiting) = (nil, [])
        isPaperPresented = paper == nil
        if let top = above.last?.canvas ?? below?.canvas { present(top) }
    }

    /// The next pixels that the shell does not have: a box of the canvas, at most a row of tiles high. Nil where it has all.
    /// - Parameter pixels: its pixels with straight alpha; see `Canvas.copyStraight(_:to:)`.
    public func nextBox(_ pixels: inout [UInt32]) -> PixelRectangle? {
        guard let presented, let box = waiting.popLast() else { return nil }
        presented.copyStraight(box, over: paperCanvas, to: &pixels)
        return box
    }

    /// The images and texts that are seen, each once, with the width that the service draws images from. Forgets the pixels of
    /// others.
    public func neededImages() -> [NeededImage] {
        chooseGround()
        let seen = [paper?.image].compactMap { $0 } + placedImages()
        return NeededImage.list(of: seen, scale: canvasSize.scale, &images)
    }
}

extension PagePicture {
    /// Of all layers; 0 where there is none.
    var digest: UInt64 { layers.last?.digest ?? 0 }
}
