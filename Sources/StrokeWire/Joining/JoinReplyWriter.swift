/// Writes the reply to a student who joins, message by message into one text: the operations may be made as they are
/// asked for, and are not kept.
public struct JoinReplyWriter: Sendable {
    private var bytes: [UInt8] = []

    /// - Parameters:
    ///   - room: incarnation of the room, empty where nobody has written to it.
    ///   - index: the cohort's cursor.
    ///   - digest: that of the board at `index`.
    ///   - palette: the colours in force.
    public init(room: String, index: UInt64, digest: BoardDigest, palette: Palette) {
        bytes.append("{\"room\":")
        bytes.append(string: room)
        bytes.append(",\"index\":")
        bytes.append(integer: index)
        bytes.append(",\"digest\":\"")
        bytes.append(contentsOf: digest.description.utf8)
        bytes.append("\",\"palette\":")
        bytes.append(list: palette.texts) { $0.append(string: $1) }
    }

    /// The reply with the operations after those that the student has.
    public consuming func tail(_ operations: some Sequence<JoinedOperation>) -> [UInt8] {
        bytes.append(",\"ops\":")
        bytes.append(operations: operations)
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// The reply with the whole board.
    /// - Parameters:
    ///   - width: the board's, in board units.
    ///   - height: the board's, in board units.
    ///   - visible: bottom to top.
    ///   - redo: the next to be done again last.
    ///   - cleared: what undoable clears took away, oldest first; the key is left out where there are none.
    public consuming func board(
        width: Double, height: Double, visible: some Sequence<JoinedOperation>, redo: some Sequence<JoinedOperation>,
        cleared: some Collection<ClearedBoard> = EmptyCollection<ClearedBoard>()
    ) -> [UInt8] {
        bytes.append(",\"board\":{\"w\":")
        bytes.append(number: width)
        bytes.append(",\"h\":")
        bytes.append(number: height)
        bytes.append("},\"visible\":")
        bytes.append(operations: visible)
        bytes.append(",\"redo\":")
        bytes.append(operations: redo)
        if !cleared.isEmpty {
            bytes.append(",\"cleared\":")
            bytes.append(list: cleared) { bytes, board in
                bytes.append("{\"index\":")
                bytes.append(integer: board.index)
                bytes.append(",\"visible\":")
                bytes.append(operations: board.visible)
                bytes.append(UInt8(ascii: "}"))
            }
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }
}

extension [UInt8] {
    fileprivate mutating func append(operations: some Sequence<JoinedOperation>) {
        append(list: operations) { bytes, operation in
            bytes.append("{\"index\":")
            bytes.append(integer: operation.index)
            bytes.append(",\"author\":")
            bytes.append(string: operation.author.text)
            if let reference = operation.reference {
                bytes.append(",\"ref\":")
                bytes.append(integer: reference)
            }
            if operation.isLate { bytes.append(",\"late\":true") }
            bytes.append(",\"message\":")
            bytes.append(contentsOf: operation.message)
            bytes.append(UInt8(ascii: "}"))
        }
    }
}
