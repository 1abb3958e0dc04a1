import DequeModule
public import StrokeWire

/// The result of a room's operations 1…`index`: pages, visible strokes, undo and redo stacks, digest.
///
/// A value: a copy is a version. The same operations give the same board on every machine.
public struct Board: Sendable {
    /// Index of the last operation applied, 0 for none.
    public private(set) var index: UInt64 = 0
    /// Which pages there are, in which order, and which one is shown.
    public private(set) var pages: BoardPages
    private(set) var table: PageTable
    /// The board's size, configured or fixed by the first draw; nil while unknown.
    public private(set) var fixedSize: BoardSize?
    /// Digest of the visible strokes of all pages, those out of sight too.
    public private(set) var digest = BoardDigest.empty
    /// Of all strokes that are visible or could be brought back.
    private(set) var weight = BoardWeight()
    private var images = ImageTable()
    private let weightLimit: Int
    /// Operations that can be undone, of all pages.
    private var undoableCount = 0
    /// Index of the last clear of each page.
    public private(set) var lastClears = LastClears()

    /// The greatest number of operations of a room that can be undone, whatever the number of its pages.
    static let undoableBound = 1000

    /// - Parameters:
    ///   - size: the configured size of the board; nil to take it from the first draw.
    ///   - weightLimit: the greatest weight of all strokes that are visible or could be brought back. Where an operation
    ///     exceeds it, the oldest removals and undoable clears become final.
    public init(history: HistoryConfiguration, size: BoardSize?, weightLimit: Int = .max) {
        pages = BoardPages()
        table = PageTable(first: BoardPage(number: 0, history: History(history)))
        self.weightLimit = weightLimit
        fixedSize = size
    }

    /// The board of a blank room.
    init(_ configuration: RoomConfiguration) {
        self.init(
            history: configuration.history, size: configuration.boardSize, weightLimit: configuration.intake.boardPoints
        )
    }

    /// A board restored from a checkpoint.
    init(
        index: UInt64, pages: BoardPages, table: PageTable, size: BoardSize?, weightLimit: Int, lastClears: LastClears
    ) {
        (self.index, self.pages, self.table, self.weightLimit) = (index, pages, table, weightLimit)
        fixedSize = size
        self.lastClears = lastClears
        for page in table {
            digest.add(page.visible.digest)
            visibleCount += page.visible.count
            undoableCount += page.history.done.count
            weight += page.weight
        }
        self.table.changeAll { images.apply($0.takeImageChanges()) }
    }

    /// The board's size; the standard one until it is known.
    public var size: BoardSize { fixedSize ?? .standard }

    /// Bytes of a reply that brings the board, or more. Constant time.
    public var byteEstimate: Int {
        256 + weight.total.points * Weight.bytesOfUnit + pages.papers.count * Paper.byteBound
    }

    /// Whether a page other than page 0 has ever been.
    public var hasPages: Bool { !table.others.isEmpty || pages != BoardPages() }

    /// The visible strokes of a page, bottom to top.
    public func visible(on page: Int) -> VisibleStrokes { table[page]?.visible ?? VisibleStrokes() }

    /// The visible strokes of all pages, in the order of their indices.
    public var visible: VisibleStrokes {
        var visible = table.first.visible
        for page in table.others { visible.formUnion(page.visible) }
        return visible
    }

    /// Number of pages that something was drawn on, with page 0.
    var pageCount: Int { table.others.count + 1 }

    /// Number of visible strokes of all pages.
    public private(set) var visibleCount = 0

    /// The redo stacks of the pages, each with its top last.
    public var undone: [UndoneEntry] {
        table.flatMap { page in
            page.history.undone.map { entry in
                switch entry {
                case .stroke(let stroke): .stroke(stroke)
                case .removal(let removal, _, _): .removal(removal)
                }
            }
        }
    }

    /// Removals and clears that can still be undone, page by page, oldest first, with the strokes that each removed.
    public var undoableRemovals: [(removal: Removal, removed: VisibleStrokes)] {
        table.flatMap { page in
            page.history.done.compactMap { entry in
                if case .removal(let removal, let removed, _) = entry { (removal, removed) } else { nil }
            }
        }
    }

    /// Number of entries of a page's redo stack.
    package func undoneCount(on page: Int) -> Int { table[page]?.history.undone.count ?? 0 }

    /// Whether a clear of a page can be undone.
    package func hasUndoableClear(on page: Int) -> Bool { table[page]?.history.done.contains { $0.isClear } ?? false }

    /// Whether a removal of entries of a page, since its last clear, can be undone.
    package func hasUndoableRemoval(on page: Int) -> Bool {
        table[page]?.history.done.last { $0.isRemoval }.map { !$0.isClear } ?? false
    }

    /// Whether a removal can be undone or redone.
    var hasRemovals: Bool {
        table.contains { page in
            (page.history.done + page.history.undone).contains { $0.isRemoval && !$0.isClear }
        }
    }

    /// Whether an image or a paper on any page, in sight or not, shows a page of an asset, or could again: by an undo or a
    /// redo. The time is bounded by the number of papers.
    public func hasImage(_ source: ImageSource) -> Bool {
        images.contains(source) || pages.papers.contains { $0.paper.source == source }
    }

    /// The assets that images and papers on any page show or could show again.
    public var assets: Set<AssetID> { Set(images.assets).union(pages.papers.compactMap { $0.paper.asset }) }

    /// An entry of a redo stack.
    public enum UndoneEntry: Sendable {
        case stroke(Stroke)
        case removal(Removal)
    }

    /// Whether a stroke of this weight may be drawn. Removals and undoable clears become final to make room for it.
    func hasRoom(for stroke: Int) -> Bool {
        stroke <= weightLimit - (weight.visible + weight.undone).points
    }

    /// What a lasso copies that leaves the original: everything that a page shows or could show again.
    func copiedWeight(on page: Int) -> Int { table[page]?.weight.total.points ?? 0 }

    /// What is visible on a page: the points that its entries count for, with those that lassos copy, and how many of them
    /// are lassos, images and texts. Takes the same time however much there is.
    public func content(of page: Int) -> (points: Int, lassos: Int, images: Int, texts: Int) {
        let weight = table[page]?.weight.visible ?? .zero
        return (weight.points, weight.lassos, weight.images, weight.texts)
    }

    /// Whether a page shows an image, or could show one again.
    var hasImages: Bool { weight.total.images > 0 || pages.papers.contains { $0.paper.asset != nil } }

    /// Whether a page may have another lasso.
    func hasRoomForLasso(on page: Int) -> Bool { (table[page]?.weight.total.lassos ?? 0) < Self.lassoBound }

    /// The greatest number of lassos on a page that are seen or could come back.
    static let lassoBound = 64

    /// The operation that an undo or redo by `author` on a page refers to; nil for other actions.
    /// - Throws: `nothing-to-undo`, `nothing-to-redo`.
    func reference(of action: Action, by author: AuthorID, on page: Int) throws(Rejection) -> UInt64? {
        switch action {
        case .draw, .clear, .turn, .arrange, .paper, .remove:
            return nil
        case .undo:
            guard let index = table[page]?.history.undoReference(for: author) else { throw .nothingToUndo }
            return index
        case .redo:
            guard let index = table[page]?.history.redoReference(for: author) else { throw .nothingToRedo }
            return index
        }
    }

    /// Those of some entries that a removal by `author` takes off a page: the visible ones, in the scope of an author his
    /// own alone.
    /// - Throws: `nothing-to-remove` where there is none.
    func removable(_ indices: [UInt64], by author: AuthorID, on page: Int) throws(Rejection) -> [UInt64] {
        guard let page = table[page] else { throw .nothingToRemove }
        let anyAuthor = page.history.configuration.scope == .room
        let removable = indices.filter { index in
            page.visible.stroke(at: index).map { anyAuthor || $0.author == author } ?? false
        }
        guard !removable.isEmpty else { throw .nothingToRemove }
        return removable
    }

    /// Applies the next operation.
    /// - Precondition: `index == self.index + 1`
    mutating func apply(_ effect: Operation.Effect, at index: UInt64) {
        precondition(index == self.index + 1, "operations are applied one by one")
        self.index = index
        switch effect {
        // It makes no page and decides no size: without it the board is the same.
        case .draw(let stroke) where stroke.kind == .pointer: break
        case .draw(let stroke):
            if fixedSize == nil { fixedSize = BoardSize(firstDraw: stroke) }
            pages.add(stroke.page)
            change(stroke.page, .draw(stroke))
        case .undo(let reference, let page): change(page, .undo(reference))
        case .redo(let reference, let page): change(page, .redo(reference))
        case .clear(let clear):
            lastClears[clear.page] = clear.index
            change(clear.page, .clear(clear))
        case .turn(let page): pages.turn(to: page)
        case .arrange(let order, _): pages.arrange(order)
        case .paper(let paper, let page): pages.lay(paper, under: page)
        case .remove(let removal): change(removal.page, .remove(removal))
        }
    }

    mutating func apply(_ operation: Operation) { apply(operation.effect, at: operation.index) }

    /// Passes over the next operation, which is a pointer.
    mutating func pass(_ index: UInt64) {
        precondition(index == self.index + 1, "operations are applied one by one")
        self.index = index
    }

    /// Changes a page, and keeps what the board knows of all pages, within its bounds.
    private mutating func change(_ number: Int, _ change: BoardPage.Change) {
        update(number, change)
        while undoableCount > Self.undoableBound {
            // The oldest of all pages becomes permanent.
            update(table.pageWithOldest, .dropOldest)
        }
        while weight.total.points > weightLimit, weight.removed.points > 0 { dropOldestRemoval() }
    }

    private mutating func dropOldestRemoval() {
        let oldest = table.min { ($0.history.oldestRemoval ?? .max) < ($1.history.oldestRemoval ?? .max) }
        update(oldest?.number ?? 0, .dropOldestRemoval)
    }

    /// Makes the oldest removals and clears of a follower's board final where they weigh more than this together; the newest
    /// stays.
    mutating func dropRemovals(beyond limit: Int) {
        while weight.removed.points > limit, undoableCount > 1 { dropOldestRemoval() }
    }

    private mutating func update(_ number: Int, _ change: BoardPage.Change) {
        var (digest, visibleCount, undoableCount, weight) = (digest, visibleCount, undoableCount, weight)
        table.change(number) { page in
            digest.subtract(page.visible.digest)
            visibleCount -= page.visible.count
            undoableCount -= page.history.done.count
            weight -= page.weight
            page.apply(change)
            digest.add(page.visible.digest)
            visibleCount += page.visible.count
            undoableCount += page.history.done.count
            weight += page.weight
            images.apply(page.takeImageChanges())
        }
        (self.digest, self.visibleCount, self.undoableCount, self.weight) = (
            digest, visibleCount, undoableCount, weight
        )
    }

    /// Frees memory reserved for more strokes.
    mutating func compact() { table.changeAll { $0.compact() } }

    /// Replaces the strokes by the same ones in other blocks.
    mutating func move(_ moves: StrokeMoves) { table.changeAll { $0.move(moves) } }

    /// Every stroke that is visible or could be brought back; some more than once.
    var strokes: [Stroke] { table.flatMap { $0.strokes } }
}

/// Width and height of a room's board, in board units.
public struct BoardSize: Sendable, Equatable {
    public var width: Double
    public var height: Double

    /// The size of a room where no other is given: 1024 × 768.
    public static let standard = BoardSize(width: 1024, height: 768)

    public init(width: Double, height: Double) { (self.width, self.height) = (width, height) }

    /// The greater of both.
    public var longerSide: Double { max(width, height) }

    /// The size fixed by the first draw of a room; the standard's where the draw gives none. Nil for a pointer, which fixes
    /// none, and for what cannot be decoded.
    init?(firstDraw stroke: Stroke) {
        guard stroke.kind != .pointer, let header = stroke.decoded()?.header else { return nil }
        self.init(
            width: header.boardWidth ?? Self.standard.width, height: header.boardHeight ?? Self.standard.height)
    }

    /// Factors from a message's units to this board's: for x, y and line width.
    public func scale(for header: StrokeMessage) -> (x: Double, y: Double, width: Double) {
        let x = width / (header.boardWidth ?? width)
        let y = height / (header.boardHeight ?? height)
        return (x, y, min(x, y))
    }
}

/// What strokes, removals and clears count for where memory and time are bounded.
struct Weight: Sendable, Equatable, AdditiveArithmetic {
    /// A stroke counts for its points, for at least one for every 32 bytes of its message, so that unknown keys do not get
    /// around the bound, and for at least eight, so that dots do not. A point with `x` and `y` is no longer than 32 bytes
    /// as clients write it. A lasso that leaves the original counts for what it copies, too.
    var points = 0
    var lassos = 0
    var images = 0
    var texts = 0

    static let zero = Weight()

    /// The greatest number of message bytes for each unit of ``points``.
    static let bytesOfUnit = 32

    /// Of a stroke, a removal or a clear alone. Depends on the message alone, as it came or was joined from its shards:
    /// every replica and every release has to reject the same strokes, however it packs them.
    static func points(messageBytes: Int, points: Int) -> Int {
        max(points, (messageBytes + bytesOfUnit - 1) / bytesOfUnit, 8)
    }

    static func + (one: Weight, other: Weight) -> Weight {
        Weight(
            points: one.points + other.points, lassos: one.lassos + other.lassos, images: one.images + other.images,
            texts: one.texts + other.texts)
    }

    static func - (one: Weight, other: Weight) -> Weight {
        Weight(
            points: one.points - other.points, lassos: one.lassos - other.lassos, images: one.images - other.images,
            texts: one.texts - other.texts)
    }
}

/// The weights of a board or a page.
struct BoardWeight: Sendable, Equatable {
    /// Of the visible strokes.
    var visible = Weight()
    /// Of the removals and clears that can be undone, with the strokes that they removed.
    var removed = Weight()
    /// Of the strokes, removals and clears that can be redone.
    var undone = Weight()

    var total: Weight { visible + removed + undone }

    static func += (sum: inout BoardWeight, other: BoardWeight) {
        sum.visible += other.visible
        sum.removed += other.removed
        sum.undone += other.undone
    }

    static func -= (sum: inout BoardWeight, other: BoardWeight) {
        sum.visible -= other.visible
        sum.removed -= other.removed
        sum.undone -= other.undone
    }
}
