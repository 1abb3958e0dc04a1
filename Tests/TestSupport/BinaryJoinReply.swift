package import StrokeWire

extension JoinReply {
    /// Writes the reply in the binary form.
    package func binaryEncoded() -> [UInt8] {
        let writer = BinaryJoinReplyWriter(
            room: room, index: index, digest: digest, palette: palette, style: style, pages: hasPages ? pages : nil)
        switch content {
        case .tail(let operations):
            return writer.tail(operations.map(BinaryOperation.init))
        case .board(let width, let height, let visible, let redo, let cleared):
            return writer.board(
                width: width, height: height, isProvisional: isProvisional,
                visible: visible.map(BinaryOperation.init), redo: redo.map(BinaryOperation.init),
                cleared: cleared.map { ($0.index, $0.page, $0.indices, $0.visible.map(BinaryOperation.init)) })
        }
    }

    /// Whether it says anything about a page other than page 0.
    private var hasPages: Bool {
        if pages != BoardPages() { return true }
        switch content {
        case .tail(let operations): return operations.contains { $0.page != 0 }
        case .board(_, _, let visible, let redo, let cleared):
            return cleared.contains { $0.page != 0 || $0.visible.contains { $0.page != 0 } }
                || (visible + redo).contains { $0.page != 0 }
        }
    }
}

extension BinaryOperation {
    /// Packs the message of an operation.
    fileprivate init(_ operation: JoinedOperation) {
        self.init(
            index: operation.index, author: operation.author, reference: operation.reference,
            isLate: operation.isLate, digest: operation.digest, page: operation.page,
            payload: BinaryPayload(packing: Array(operation.message)))
    }
}
