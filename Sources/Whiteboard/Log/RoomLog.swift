import StrokeWire

/// The log of a room and the boards at both of its ends.
///
/// The operations kept lead from ``base`` to ``head``: an appended one is applied to the head, a dropped one to the base.
struct RoomLog: Sendable {
    /// The board after the last operation.
    private(set) var head: Board
    /// The board before the first operation kept, which new cohorts start from.
    private(set) var base: Board
    /// The operations between the two.
    private(set) var operations: OperationLog
    /// What the strokes are packed with.
    private(set) var templates: TemplateTable
    private var strokes: StrokeWriter
    /// Bytes of the strokes' memory at which ``compactStrokes(and:)`` is worth while.
    private var compactionDue = Self.compactionBytes

    /// The empty log of a blank room.
    init(_ configuration: RoomConfiguration) {
        self.init(
            base: Board(configuration), head: Board(configuration), operations: OperationLog(),
            templates: TemplateTable(), strokes: StrokeWriter())
    }

    /// A log restored from the parts of a checkpoint.
    init(base: Board, head: Board, operations: OperationLog, templates: TemplateTable, strokes: StrokeWriter) {
        (self.base, self.head, self.operations) = (base, head, operations)
        (self.templates, self.strokes) = (templates, strokes)
    }

    /// Bytes that it keeps in memory, about.
    var byteEstimate: Int { head.byteEstimate + operations.heldBytes + operations.releasedBytes }

    /// Bytes of its strokes and operations in a checkpoint, about.
    var packedByteEstimate: Int {
        base.visible.reduce(0) { $0 + $1.byteCount } + operations.count * Self.operationBytes
    }

    /// Bytes of an operation in a checkpoint, about.
    private static let operationBytes = 64

    /// Gives an operation its index and applies it to the head.
    /// - Throws: a rejection where the board does not allow it.
    mutating func append(_ ready: ReadyOperation) throws(Rejection) -> Operation {
        let effect = try effect(of: ready)
        let index = head.index + 1
        head.apply(effect, at: index)
        // A removal goes out without the indices that it has passed over: clients need no rule of their own.
        let message = if case .remove(let removal) = effect { removal.message } else { ready.bytes }
        let operation = Operation(
            index: index, author: ready.author, number: ready.number, effect: effect, isLate: ready.isLate,
            time: ready.header.time, digest: head.digest, message: message, isJoined: ready.isJoined)
        operations.append(operation)
        return operation
    }

    private mutating func effect(of ready: ReadyOperation) throws(Rejection) -> Operation.Effect {
        let header = ready.header
        let page = header.page ?? head.pages.shown
        let reference = try head.reference(of: header.action, by: ready.author, on: page)
        switch (header.action, reference) {
        case (.undo, let reference?): return .undo(reference: reference, page: page)
        case (.redo, let reference?): return .redo(reference: reference, page: page)
        case (.clear, _):
            return .clear(Removal(index: head.index + 1, author: ready.author, page: page, message: ready.bytes))
        case (.remove, _): return .remove(try removal(ready, on: page))
        case (.turn, _): return .turn(page: page)
        case (.arrange, _):
            guard case .order(let order)? = header.content else { preconditionFailure("an arrange has an order") }
            var pages = head.pages
            pages.arrange(order)
            return .arrange(order, shown: pages.shown)
        case (.paper, _):
            guard let paper = header.paper else { preconditionFailure("a paper has its content") }
            return .paper(paper, page: page)
        default:
            return .draw(try draw(ready, on: page))
        }
    }

    private func removal(_ ready: ReadyOperation, on page: Int) throws(Rejection) -> Removal {
        let named = ready.header.indices ?? []
        let indices = try head.removable(named, by: ready.author, on: page)
        let message =
            indices.count == named.count ? ready.bytes : StrokeMessage.removing(indices, by: ready.bytes) ?? ready.bytes
        return Removal(
            index: head.index + 1, author: ready.author, page: page, indices: indices, message: message)
    }

    private mutating func draw(_ ready: ReadyOperation, on page: Int) throws(Rejection) -> Stroke {
        let points = ready.header.points
        var extras = StrokeExtras(isLate: ready.isLate, page: page, kind: StrokeKind(ready.header.element))
        if case .lasso(_, keepsOriginal: true)? = ready.header.content { extras.copied = head.copiedWeight(on: page) }
        let weight = Weight.points(messageBytes: ready.bytes.count, points: points.count) + extras.copied
        // Pointers are in the log alone.
        let hasRoom = extras.kind == .pointer || head.hasRoom(for: weight)
        guard ready.bytes.count <= Stroke.maximumBytes, hasRoom else { throw .boardFull }
        guard extras.kind != .lasso || head.hasRoomForLasso(on: page) else { throw .tooManyLassos }
        return strokes.write(
            index: head.index + 1, author: ready.author, extras, pointCount: points.count,
            message: extras.kind == .text
                // Each has a text of its own: as a template it would push out those of handwriting.
                ? PackedMessage(ready.bytes) : PackedMessage(ready.bytes, points: points, templates: &templates))
    }

    /// Packs the operations through `released`, which every cohort has released, and drops all but a tail of them.
    mutating func trim(through released: UInt64, keeping retention: LogRetention) {
        operations.pack(through: released)
        while operations.count > retention.tail || operations.releasedBytes > retention.tailBytes,
            operations.firstIndex <= released
        {
            base.apply(operations.popFirst(), at: base.index + 1)
        }
    }

    /// Drops all operations, which every cohort has released: both ends share one board.
    mutating func compact() {
        operations = OperationLog(after: head.index)
        if let moves = strokes.compact(head.strokes, wasting: 64) { head.move(moves) }
        head.compact()
        base = head
        noteCompaction()
    }

    /// Whether the strokes have taken so much memory that it is worth while to look for what is gone of it.
    var isCompactionDue: Bool { strokes.blockBytes >= compactionDue }

    /// Writes the strokes anew where much of their memory is of strokes that are gone.
    /// - Parameter others: strokes that others than the log need.
    /// - Returns: the same strokes in other memory; nil where they stay.
    mutating func compactStrokes(and others: [Stroke]) -> StrokeMoves? {
        let moves = strokes.compact(
            head.strokes + base.strokes + operations.strokes + others, wasting: Self.compactionBytes)
        if let moves {
            head.move(moves)
            base.move(moves)
            operations.move(moves)
        }
        noteCompaction()
        return moves
    }

    /// As much again may be written until the next: so its cost for a stroke does not grow with their number.
    private mutating func noteCompaction() {
        compactionDue = 2 * strokes.blockBytes + Self.compactionBytes
    }

    private static let compactionBytes = 64 << 10
}
