import StrokeWire

/// Operations after the board of a checkpoint. Digests are not kept: they follow from the board.
extension CheckpointWriter {
    mutating func write(_ operation: Operation) {
        write(operation.author.text)
        write(signed: operation.number)
        write(optional: operation.time) { $0.write(signed: $1) }
        write(Int(operation.action.rawValue))
        switch operation.effect {
        case .draw(let stroke):
            write(operation.isJoined)
            write(stroke)
        case .undo(let reference), .redo(let reference):
            write(reference)
            write(operation.message)
        case .clear(let clear):
            write(clear.message)
        }
    }
}

extension CheckpointReader {
    /// The operation that follows `head`, which it is folded into.
    mutating func operation(after head: inout Board) throws(CheckpointError) -> Operation {
        let index = head.index + 1
        try require(index <= CheckpointFormat.numberBound)
        let author: AuthorID = try name()
        let number = try signed()
        let time = try optional { (reader) throws(CheckpointError) in try reader.signed() }
        let (effect, message, isJoined) = try effect(at: index, by: author)
        head.apply(effect, at: index)
        let isLate = if case .draw(let stroke) = effect { stroke.isLate } else { false }
        return Operation(
            index: index, author: author, number: number, effect: effect, isLate: isLate, time: time,
            digest: head.digest, message: message, isJoined: isJoined)
    }

    /// Strokes stay packed until they are released: their message is empty here.
    private mutating func effect(
        at index: UInt64, by author: AuthorID
    ) throws(CheckpointError) -> (Operation.Effect, message: [UInt8], isJoined: Bool) {
        switch Action(rawValue: try byte()) {
        case .draw:
            let isJoined = try flag()
            return (.draw(try stroke(at: index, by: author)), [], isJoined)
        case .undo: return (.undo(reference: try self.number()), try data(), false)
        case .redo: return (.redo(reference: try self.number()), try data(), false)
        case .clear:
            let message = try data()
            return (.clear(Clear(index: index, author: author, message: message)), message, false)
        case nil: throw damaged
        }
    }
}
