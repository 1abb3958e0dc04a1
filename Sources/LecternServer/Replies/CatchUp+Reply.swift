import StrokeWire
import Whiteboard

extension CatchUp {
    /// The body of the join reply.
    func encoded(palette: Palette) -> [UInt8] {
        let writer = JoinReplyWriter(room: incarnation, index: index, digest: digest, palette: palette)
        switch content {
        case .tail(let operations):
            return writer.tail(operations.lazy.map(JoinedOperation.init))
        case .board(let board):
            return writer.board(
                width: board.size.width, height: board.size.height,
                visible: board.visible.lazy.map { JoinedOperation($0.stroke) },
                redo: board.undone.lazy.map(JoinedOperation.init),
                cleared: board.undoableClears.lazy.map { clear, removed in
                    ClearedBoard(index: clear.index, visible: removed.map { JoinedOperation($0.stroke) })
                })
        }
    }
}

extension JoinedOperation {
    fileprivate init(_ stroke: Stroke) {
        self.init(
            index: stroke.index, author: stroke.author, isLate: stroke.isLate, message: stroke.message.bytes[...])
    }

    fileprivate init(_ operation: Whiteboard.Operation) {
        self.init(
            index: operation.index, author: operation.author, reference: operation.reference,
            isLate: operation.isLate, message: operation.restoredMessage[...])
    }

    fileprivate init(_ entry: Board.UndoneEntry) {
        switch entry {
        case .stroke(let stroke): self.init(stroke)
        case .clear(let clear):
            self.init(index: clear.index, author: clear.author, message: clear.message[...])
        }
    }
}
