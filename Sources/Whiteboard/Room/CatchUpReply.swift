public import StrokeWire

extension CatchUp {
    /// The reply to a join.
    /// - Parameters:
    ///   - palette: the colours in force.
    ///   - style: name of the ink style in force.
    ///   - features: what the service offers; told in JSON alone, and left out where nil.
    ///   - encoding: the form that the request asked for. The binary form copies what the room keeps of its strokes; JSON
    ///     takes a dozen times as long.
    public func encoded(
        palette: Palette, style: String, features: BoardFeatures? = nil, as encoding: WireEncoding
    ) -> [UInt8] {
        switch encoding {
        case .json: json(palette, style, features)
        case .binary: binary(palette, style)
        }
    }

    private func json(_ palette: Palette, _ style: String, _ features: BoardFeatures?) -> [UInt8] {
        let writer = JoinReplyWriter(
            room: incarnation, index: index, digest: digest, palette: palette, style: style, pages: pages,
            features: features, gate: gate)
        guard let board else { return writer.tail(tail.lazy.map(JoinedOperation.init)) }
        return writer.board(
            width: board.size.width, height: board.size.height, isProvisional: board.fixedSize == nil,
            visible: visible(of: board).lazy.map { JoinedOperation($0) },
            redo: (part == .whole ? board.undone : []).lazy.map(JoinedOperation.init),
            cleared: (part == .whole ? board.undoableRemovals : []).lazy.map { removal, removed in
                ClearedBoard(
                    index: removal.index, page: removal.page, indices: removal.indices,
                    visible: removed.map { JoinedOperation($0) })
            })
    }

    /// The board that the reply has; nil where it has operations.
    private var board: Board? {
        switch content {
        case .tail: nil
        case .board(let board): board
        case .version(let version): version.board
        }
    }

    private var tail: [Operation] { if case .tail(let operations) = content { operations } else { [] } }

    /// What is seen on the pages that are asked for, bottom to top.
    private func visible(of board: Board) -> VisibleStrokes {
        switch part {
        case .whole: board.visible
        case .page(let page): board.visible(on: page)
        case .settings: VisibleStrokes()
        }
    }

    private func binary(_ palette: Palette, _ style: String) -> [UInt8] {
        let writer = BinaryJoinReplyWriter(
            room: incarnation, index: index, digest: digest, palette: palette, style: style,
            pages: hasPages ? pages : nil)
        guard let board else { return writer.tail(tail.lazy.map(BinaryOperation.init)) }
        return writer.board(
            width: board.size.width, height: board.size.height, isProvisional: board.fixedSize == nil,
            visible: visible(of: board).lazy.map { BinaryOperation($0) },
            redo: (part == .whole ? board.undone : []).lazy.map(BinaryOperation.init),
            cleared: (part == .whole ? board.undoableRemovals : []).map { removal, removed in
                (removal.index, removal.page, removal.indices, removed.map { BinaryOperation($0) })
            })
    }
}

extension JoinedOperation {
    fileprivate init(_ stroke: Stroke) {
        self.init(
            index: stroke.index, author: stroke.author, isLate: stroke.isLate, page: stroke.page,
            message: stroke.message.bytes[...])
    }

    init(_ operation: Operation) {
        self.init(
            index: operation.index, author: operation.author, reference: operation.reference,
            isLate: operation.isLate, digest: operation.digest, page: operation.page,
            message: operation.restoredMessage[...])
    }

    fileprivate init(_ entry: Board.UndoneEntry) {
        switch entry {
        case .stroke(let stroke): self.init(stroke)
        case .removal(let removal):
            self.init(
                index: removal.index, author: removal.author, page: removal.page, message: removal.message[...])
        }
    }
}

extension BinaryOperation {
    fileprivate init(_ stroke: Stroke) {
        self.init(
            index: stroke.index, author: stroke.author, isLate: stroke.isLate, page: stroke.page,
            payload: stroke.message.payload)
    }

    fileprivate init(_ operation: Operation) {
        self.init(
            index: operation.index, author: operation.author, reference: operation.reference,
            isLate: operation.isLate, digest: operation.digest, page: operation.page,
            payload: operation.payload)
    }

    fileprivate init(_ entry: Board.UndoneEntry) {
        switch entry {
        case .stroke(let stroke): self.init(stroke)
        case .removal(let removal):
            self.init(
                index: removal.index, author: removal.author, page: removal.page,
                payload: BinaryPayload(packing: removal.message, points: .empty))
        }
    }
}
