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
        switch content {
        case .tail(let operations):
            return writer.tail(operations.lazy.map(JoinedOperation.init))
        case .board(let board): return self.board(board, writer)
        case .version(let version): return self.board(version.board, writer)
        }
    }

    private func board(_ board: Board, _ writer: JoinReplyWriter) -> [UInt8] {
        guard part == .whole else {
            return writer.board(
                width: board.size.width, height: board.size.height, isProvisional: board.fixedSize == nil,
                visible: strokesOfPart(of: board).lazy.map { JoinedOperation($0) }, redo: [])
        }
        return writer.board(
            width: board.size.width, height: board.size.height, isProvisional: board.fixedSize == nil,
            visible: board.visible.lazy.map { JoinedOperation($0) },
            redo: board.undone.lazy.map(JoinedOperation.init),
            cleared: board.undoableRemovals.lazy.map { removal, removed in
                ClearedBoard(
                    index: removal.index, page: removal.page, indices: removal.indices,
                    visible: removed.map { JoinedOperation($0) })
            })
    }

    /// What is seen on the page that is asked for, bottom to top.
    private func strokesOfPart(of board: Board) -> VisibleStrokes {
        if case .page(let page) = part { board.visible(on: page) } else { VisibleStrokes() }
    }

    private func binary(_ palette: Palette, _ style: String) -> [UInt8] {
        let writer = BinaryJoinReplyWriter(
            room: incarnation, index: index, digest: digest, palette: palette, style: style,
            pages: hasPages ? pages : nil)
        switch content {
        case .tail(let operations):
            return writer.tail(operations.lazy.map(BinaryOperation.init))
        case .board(let board): return self.board(board, writer)
        case .version(let version): return self.board(version.board, writer)
        }
    }

    private func board(_ board: Board, _ writer: BinaryJoinReplyWriter) -> [UInt8] {
        guard part == .whole else {
            return writer.board(
                width: board.size.width, height: board.size.height, isProvisional: board.fixedSize == nil,
                visible: strokesOfPart(of: board).map { BinaryOperation($0) }, redo: [])
        }
        return writer.board(
            width: board.size.width, height: board.size.height, isProvisional: board.fixedSize == nil,
            visible: board.visible.lazy.map { BinaryOperation($0) },
            redo: board.undone.lazy.map(BinaryOperation.init),
            cleared: board.undoableRemovals.map { removal, removed in
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
