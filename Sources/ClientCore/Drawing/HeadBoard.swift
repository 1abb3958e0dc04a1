internal import StrokeWire

/// The board at the head of the room's log as a teacher sees it: with operations of its own that it does not show yet.
public struct HeadBoard: Sendable {
    /// An entry that is shown above the room's: what the room has not answered for yet, or does not show yet.
    public struct LiveEntry: Sendable, Equatable {
        /// Names the entry; another id is another entry.
        public let id: UInt64
        /// The message as it is drawn, with all its points.
        public let message: [UInt8]
    }

    /// Bytes of applied operations that the board does not show yet, at most: their messages, and `unshownOverhead` for each.
    /// What is beyond is seen when the board shows it.
    static let unshownBytes = 32 << 20
    private static let unshownOverhead = 512

    /// In board units.
    var size = (width: 1024.0, height: 768.0)
    /// Those of the room.
    var pages = BoardPages()
    /// A lasso that is shown before it is published.
    var preview: (page: Int, entry: LiveEntry)?
    /// The board shows all operations through this one.
    private var index: UInt64 = 0
    /// Applied operations that the board does not show yet.
    private var unshown: [(index: UInt64, operation: Outbox.Operation)] = []
    /// What these weigh.
    private var bytes = 0
    /// The room's incarnation; "" while nobody has written to it.
    private var incarnation = ""

    /// The board was joined, or has its first operation.
    /// - Returns: whether operations of an earlier incarnation are not shown any more: their indices mean nothing now.
    mutating func joined(_ incarnation: String) -> Bool {
        defer { self.incarnation = incarnation }
        guard !self.incarnation.isEmpty, incarnation != self.incarnation, !unshown.isEmpty else { return false }
        (unshown, bytes) = ([], 0)
        return true
    }

    /// The board shows all operations through this one.
    mutating func shows(through index: UInt64) {
        self.index = index
        guard unshown.contains(where: { $0.index <= index }) else { return }
        unshown.removeAll { $0.index <= index }
        bytes = unshown.reduce(0) { $0 + Self.weight(of: $1.operation) }
    }

    /// The room has applied an operation.
    mutating func applied(_ operation: Outbox.Operation, at index: UInt64) {
        let weight = Self.weight(of: operation)
        guard index > self.index, !operation.wasApplied, bytes + weight <= Self.unshownBytes else { return }
        unshown.append((index, operation))
        bytes += weight
    }

    private static func weight(of operation: Outbox.Operation) -> Int { unshownOverhead + operation.byteCount }

    /// Which pages there are, with operations that wait.
    func pages(with waiting: OperationList) -> BoardPages {
        var pages = pages
        forEachUnseen(waiting) { operation in
            guard let header = operation.header else { return }
            switch header.action {
            case .draw where header.element == .pointer: break
            case .draw: pages.add(header.page ?? pages.shown)
            case .turn: if let page = header.page { pages.turn(to: page) }
            case .arrange: if let order = header.order { pages.arrange(order) }
            case .paper: if let paper = header.paper { pages.lay(paper, under: header.page ?? pages.shown) }
            case .undo, .redo, .clear, .remove: break
            }
        }
        return pages
    }

    /// The strokes, images and lassos of a page that the room does not show yet, from the bottom to the top.
    /// - Parameter known: ids of entries that need no message.
    func live(
        on page: Int, with waiting: OperationList, without known: Set<UInt64>
    ) -> [LiveEntry] {
        // nil for what an undo takes back that adds nothing.
        var entries: [Outbox.Operation?] = []
        forEachUnseen(waiting) { operation in
            guard let header = operation.header, (header.page ?? page) == page else { return }
            switch header.action {
            case .draw where header.element == .pointer: break
            case .draw: entries.append(operation)
            case .undo: _ = entries.popLast()
            case .clear: entries = []
            case .remove: entries.append(nil)
            case .redo, .turn, .arrange, .paper: break
            }
        }
        var live = entries.compactMap { $0 }.map { operation in
            LiveEntry(id: operation.id, message: known.contains(operation.id) ? [] : operation.wholeMessage)
        }
        if let preview, preview.page == page { live.append(preview.entry) }
        return live
    }

    /// Operations that the board does not show yet, in their order.
    private func forEachUnseen(_ waiting: OperationList, _ body: (Outbox.Operation) -> Void) {
        for (_, operation) in unshown { body(operation) }
        for operation in waiting where !operation.wasApplied { body(operation) }
    }
}
