import DequeModule
public import StrokeWire

/// A client's board: the fold of the room, told by the service what an undo or a redo refers to.
///
/// A client does not know the room's rules of undo and redo. So it keeps what a service may name: every visible stroke,
/// the newest removals and clears with the strokes that they removed, and the newest undone operations.
///
/// A value without clocks; use it from one thread at a time. Memory: 2 to 5 bytes a point of handwriting, and the weight of
/// everything is bounded by the `weightLimit`. Nothing that a service sends traps: an operation that contradicts the board
/// throws.
public struct FollowedBoard: Sendable {
    /// An operation that contradicts the board: client and service disagree.
    public struct Divergence: Error, Sendable, Equatable, CustomStringConvertible {
        /// One English sentence.
        public let description: String

        package init(_ description: String) { self.description = description }
    }

    /// What an operation changed. All strokes are on ``page``.
    public struct Change: Sendable {
        /// The page that the operation concerns; of an arrange the one shown after it.
        public let page: Int
        /// Strokes that became visible, bottom to top.
        public fileprivate(set) var shown: [Stroke] = []
        /// Strokes that are no longer visible, bottom to top.
        public fileprivate(set) var hidden: [Stroke] = []
        /// Whether the first stroke has decided another size of the board.
        public fileprivate(set) var isResized = false
        /// The paper that was laid under the page.
        public fileprivate(set) var paper: Paper?
        /// Whether the pages, their order, their papers or the shown page are other than before.
        public fileprivate(set) var hasOtherPages = false
    }

    /// The default weight limit, in points: more than a reply to a join can have.
    public static let greatestWeight = Int.bitWidth > 32 ? 1 << 26 : 1 << 24
    /// What a removal or a clear keeps may weigh so much with all older ones, in points. The newest is kept in any case.
    private static let removedWeight = 1 << 20
    /// Bytes of the strokes' memory that are written before gone strokes are looked for.
    private static let compactionBytes = 64 << 10

    /// The board. Its ``Board/undone`` and ``Board/undoableRemovals`` are what the client could be told to bring back.
    public private(set) var board: Board
    private var templates = TemplateTable()
    private var strokes = StrokeWriter()
    private var compactionDue = Self.compactionBytes
    private let weightLimit: Int

    /// The board of a room without operations.
    /// - Parameter weightLimit: the greatest weight of what is visible or could be brought back; a point counts 1, a stroke
    ///   at least 8, and at least 1 for 32 bytes of its message. At most ``greatestWeight``.
    public init(weightLimit: Int = FollowedBoard.greatestWeight) {
        self.weightLimit = min(weightLimit, Self.greatestWeight)
        board = Board(history: .followed, size: nil, weightLimit: self.weightLimit)
    }

    /// The board of a join reply.
    /// - Throws: where the reply has no board, a message cannot be decoded, the board is larger than the limit, or its digest
    ///   is not that of the strokes.
    public init(_ reply: JoinReply, weightLimit: Int = FollowedBoard.greatestWeight) throws(Divergence) {
        self.init(weightLimit: weightLimit)
        guard case .board(let width, let height, let visible, let redo, let cleared) = reply.content else {
            throw Divergence("the reply to a join has no board")
        }
        let range = 1.0...16_384.0
        guard reply.isProvisional || range.contains(width) && range.contains(height) else {
            throw Divergence("the board of a join is \(width) by \(height) units large")
        }
        let known = try write(
            visible + redo + cleared.flatMap { $0.visible }, from: reply, pages: Set(cleared.map { $0.page }))
        var pages = known.pages
        for operation in visible { pages[operation.page]?.visible.append(try known.stroke(operation)) }
        for operation in redo { pages[operation.page]?.undone.append(try known.entry(operation)) }
        for clear in cleared {
            guard clear.index <= reply.index else {
                throw Divergence("the clear \(clear.index) is newer than the board")
            }
            pages[clear.page]?.done.append(try known.entry(clear))
        }
        let list = pages.sorted { $0.key < $1.key }.map { number, page in
            BoardPage(
                number: number, history: History(.followed, done: page.done, undone: page.undone),
                visible: VisibleStrokes(page.visible))
        }
        guard let first = list.first else { return }
        board = Board(
            index: reply.index, pages: reply.pages, table: PageTable(first: first, others: Array(list.dropFirst())),
            size: reply.isProvisional ? nil : BoardSize(width: width, height: height), weightLimit: self.weightLimit,
            lastClears: LastClears())
        guard board.weight.total.points <= self.weightLimit else {
            throw Divergence("the board of a join is larger than the client allows")
        }
        guard board.digest == reply.digest else {
            throw Divergence("the board of a join has digest \(board.digest), the service has \(reply.digest)")
        }
    }

    /// Digest of the visible strokes of all pages.
    public var digest: BoardDigest { board.digest }

    /// Index of the last applied operation; 0 for none.
    public var index: UInt64 { board.index }
}

// MARK: - Applying

extension FollowedBoard {
    /// Applies the next operation.
    ///
    /// - Parameters:
    ///   - reference: of an undo or redo, the operation that it removes or restores.
    ///   - page: of an arrange, the page shown after it.
    ///   - message: the whole message as JSON, joined from its shards.
    /// - Throws: where the index is not the next one, the message cannot be decoded, the reference is unknown or the board
    ///   has no room. The board is as before then; a join has to replace it.
    public mutating func apply(
        _ index: UInt64, by author: AuthorID, reference: UInt64? = nil, page: Int = 0, isLate: Bool = false,
        message: [UInt8]
    ) throws(Divergence) -> Change {
        guard board.index < .max - 1, index == board.index + 1 else {
            throw Divergence("operation \(index) cannot follow \(board.index)")
        }
        let header = try Self.decode(message, index)
        guard PageNumber.range.contains(page) else { throw Divergence("operation \(index) is on page \(page)") }
        var change = Change(page: page)
        if header.action == .draw, header.element == .pointer {
            board.pass(index)
            return change
        }
        let effect: Operation.Effect
        if header.action == .draw {
            let stroke = try write(index, author, page, isLate, header, message)
            change.shown = [stroke]
            effect = .draw(stroke)
        } else {
            effect = try board.effect(of: header, message, at: index, by: author, reference, &change)
        }
        let (size, pages) = (board.size, board.pages)
        board.apply(effect, at: index)
        board.dropRemovals(beyond: Self.removedWeight)
        (change.isResized, change.hasOtherPages) = (board.size != size, board.pages != pages)
        if strokes.blockBytes >= compactionDue { compact() }
        return change
    }

    private static func decode(_ message: [UInt8], _ index: UInt64) throws(Divergence) -> StrokeMessage {
        do throws(MalformedMessage) {
            return try StrokeMessage(accepted: message)
        } catch {
            throw Divergence("operation \(index): \(error.rejection.message)")
        }
    }

    private mutating func write(
        _ index: UInt64, _ author: AuthorID, _ page: Int, _ isLate: Bool, _ header: StrokeMessage, _ message: [UInt8]
    ) throws(Divergence) -> Stroke {
        let weight = Weight.points(messageBytes: message.count, points: header.points.count)
        guard message.count <= Stroke.maximumBytes, board.hasRoom(for: weight) else {
            throw Divergence("operation \(index) needs more room than the client allows")
        }
        let kind = StrokeKind(header.element)
        return strokes.write(
            index: index, author: author, StrokeExtras(isLate: isLate, page: page, kind: kind),
            pointCount: header.points.count,
            message: kind == .text
                ? PackedMessage(message) : PackedMessage(message, points: header.points, templates: &templates))
    }

    /// Writes the strokes anew where much of their memory is of strokes that are gone. As much again may be written until the
    /// next time, so its cost for a stroke does not grow with their number.
    private mutating func compact() {
        if let moves = strokes.compact(board.strokes, wasting: Self.compactionBytes) { board.move(moves) }
        compactionDue = 2 * strokes.blockBytes + Self.compactionBytes
    }
}

extension Board {
    /// What a command does to the board; notes which strokes it shows and hides.
    fileprivate func effect(
        of header: StrokeMessage, _ message: [UInt8], at index: UInt64, by author: AuthorID, _ reference: UInt64?,
        _ change: inout FollowedBoard.Change
    ) throws(FollowedBoard.Divergence) -> Operation.Effect {
        let page = change.page
        switch header.action {
        case .draw: throw FollowedBoard.Divergence("operation \(index) is no command")
        case .undo:
            try willUndo(reference, at: index, &change)
            return .undo(reference: reference ?? 0, page: page)
        case .redo:
            try willRedo(reference, at: index, &change)
            return .redo(reference: reference ?? 0, page: page)
        case .clear:
            change.hidden = Array(visible(on: page))
            return .clear(Removal(index: index, author: author, page: page, message: message))
        case .remove:
            let indices = header.indices ?? []
            change.hidden = try strokes(indices, on: page)
            return .remove(Removal(index: index, author: author, page: page, indices: indices, message: message))
        case .turn: return .turn(page: page)
        case .arrange:
            guard let order = header.order, PageNumber.isOrder(order) else {
                throw FollowedBoard.Divergence("arrange \(index) has no order")
            }
            return .arrange(order, shown: page)
        case .paper:
            guard let paper = header.paper else { throw FollowedBoard.Divergence("paper \(index) has no content") }
            change.paper = paper
            return .paper(paper, page: page)
        }
    }

    /// The strokes of a removal, bottom to top.
    private func strokes(_ indices: [UInt64], on page: Int) throws(FollowedBoard.Divergence) -> [Stroke] {
        let visible = visible(on: page)
        var strokes: [Stroke] = []
        for index in indices {
            guard let stroke = visible.stroke(at: index) else {
                throw FollowedBoard.Divergence("removal of \(index), which is not on page \(page)")
            }
            strokes.append(stroke)
        }
        return strokes.sorted { $0.index < $1.index }
    }

    fileprivate func willUndo(
        _ reference: UInt64?, at index: UInt64, _ change: inout FollowedBoard.Change
    ) throws(FollowedBoard.Divergence) {
        guard let reference else { throw FollowedBoard.Divergence("undo \(index) has no reference") }
        let page = table[change.page]
        if let stroke = page?.visible.stroke(at: reference) {
            change.hidden = [stroke]
        } else if case .removal(_, let removed, _)? = page?.history.done.last(where: { $0.index == reference }) {
            change.shown = Array(removed)
        } else {
            throw FollowedBoard.Divergence("undo \(index) of \(reference), which is not on the board")
        }
    }

    fileprivate func willRedo(
        _ reference: UInt64?, at index: UInt64, _ change: inout FollowedBoard.Change
    ) throws(FollowedBoard.Divergence) {
        guard let reference else { throw FollowedBoard.Divergence("redo \(index) has no reference") }
        let page = table[change.page]
        switch page?.history.undone.last(where: { $0.index == reference }) {
        case .stroke(let stroke)?: change.shown = [stroke]
        case .removal(let removal, _, _)?:
            let visible = visible(on: change.page)
            change.hidden = removal.indices.map { $0.sorted().compactMap(visible.stroke) } ?? Array(visible)
        case nil: throw FollowedBoard.Divergence("redo \(index) of \(reference), which was not undone")
        }
    }
}

// MARK: - Joining

extension FollowedBoard {
    /// The lists of a page of a join reply.
    private struct PageLists {
        var visible: [Stroke] = []
        var done: [HistoryEntry] = []
        var undone: [HistoryEntry] = []
    }

    /// The operations of a join reply, each once.
    private struct JoinedEntries {
        var strokes: [UInt64: Stroke] = [:]
        var removals: [UInt64: Removal] = [:]
        /// All pages of the reply.
        var pages: [Int: PageLists] = [0: PageLists()]

        func stroke(_ operation: JoinedOperation) throws(Divergence) -> Stroke {
            guard let stroke = strokes[operation.index], stroke.page == operation.page else {
                throw Divergence("operation \(operation.index) of a join is no stroke")
            }
            return stroke
        }

        func entry(_ operation: JoinedOperation) throws(Divergence) -> HistoryEntry {
            if let removal = removals[operation.index] {
                return .removal(removal, removed: VisibleStrokes(), weight: .zero)
            }
            return .stroke(try stroke(operation))
        }

        func entry(_ clear: ClearedBoard) throws(Divergence) -> HistoryEntry {
            var removed: [Stroke] = []
            for operation in clear.visible {
                guard operation.page == clear.page else {
                    throw Divergence("the clear \(clear.index) has strokes of page \(operation.page)")
                }
                removed.append(try stroke(operation))
            }
            guard let author = AuthorID("_") else { throw Divergence("a clear needs an author") }
            let removal = Removal(
                index: clear.index, author: author, page: clear.page, indices: clear.indices, message: [])
            return .removal(
                removal, removed: VisibleStrokes(removed), weight: removed.reduce(.zero) { $0 + $1.weight })
        }
    }

    /// Writes the strokes of a reply in the order of their indices.
    private mutating func write(
        _ operations: [JoinedOperation], from reply: JoinReply, pages: Set<Int>
    ) throws(Divergence) -> JoinedEntries {
        var known = JoinedEntries()
        for page in pages {
            guard PageNumber.range.contains(page) else { throw Divergence("a clear of a join is on page \(page)") }
            known.pages[page] = PageLists()
        }
        var last: UInt64 = 0
        for operation in operations.sorted(by: { $0.index < $1.index }) where operation.index != last {
            last = operation.index
            guard last <= reply.index, last < .max, PageNumber.range.contains(operation.page) else {
                throw Divergence("operation \(last) of a join does not belong to its board at \(reply.index)")
            }
            known.pages[operation.page] = known.pages[operation.page] ?? PageLists()
            let bytes = Array(operation.message)
            let header = try Self.decode(bytes, last)
            switch header.action {
            case .draw where header.element != .pointer:
                known.strokes[last] = try write(
                    last, operation.author, operation.page, operation.isLate, header, bytes)
            case .clear, .remove:
                known.removals[last] = Removal(
                    index: last, author: operation.author, page: operation.page, indices: header.indices,
                    message: bytes)
            case .draw, .undo, .redo, .turn, .arrange, .paper:
                throw Divergence("operation \(last) of a join is neither a stroke nor a removal")
            }
        }
        return known
    }
}
