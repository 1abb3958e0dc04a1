import StrokeWire

extension CheckpointWriter {
    mutating func write(_ board: Board) {
        write(board.index)
        write(strokes: board.strokes)
        write(indices: board.visible.map(\.stroke.index))
        write(list: board.history.done) { $0.write($1) }
        write(list: board.history.undone) { $0.write($1) }
        write(optional: board.fixedSize) { writer, size in
            writer.write(fixed: size.width.bitPattern)
            writer.write(fixed: size.height.bitPattern)
        }
        write(board.lastClear)
    }

    private mutating func write(_ entry: HistoryEntry) {
        switch entry {
        case .stroke(let stroke):
            write(false)
            write(stroke.index)
        case .clear(let clear, let removed):
            write(true)
            write(clear.index)
            write(clear.author.text)
            write(clear.message)
            write(indices: removed.map(\.stroke.index))
        }
    }
}

extension CheckpointReader {
    mutating func board(_ configuration: RoomConfiguration) throws(CheckpointError) -> Board {
        let index = try number()
        let strokes = try strokes()
        let visible = try visible(strokes)
        let done = try list { (reader) throws(CheckpointError) in try reader.historyEntry(strokes) }
        let undone = try list { (reader) throws(CheckpointError) in try reader.historyEntry(strokes) }
        let size = try optional { (reader) throws(CheckpointError) in try reader.boardSize() }
        return Board(
            index: index, visible: visible, history: History(configuration.history, done: done, undone: undone),
            size: configuration.boardSize ?? size, lastClear: try number())
    }

    private mutating func historyEntry(_ strokes: [UInt64: Stroke]) throws(CheckpointError) -> HistoryEntry {
        let isClear = try flag()
        let index = try number()
        guard isClear else {
            guard let stroke = strokes[index] else { throw damaged }
            return .stroke(stroke)
        }
        let clear = Clear(index: index, author: try name(), message: try data())
        return .clear(clear, removed: try visible(strokes))
    }

    private mutating func visible(_ strokes: [UInt64: Stroke]) throws(CheckpointError) -> VisibleStrokes {
        var list: [Stroke] = []
        for index in try indices() {
            guard let stroke = strokes[index], index > list.last?.index ?? 0 else { throw damaged }
            list.append(stroke)
        }
        return VisibleStrokes(list)
    }

    private mutating func boardSize() throws(CheckpointError) -> BoardSize {
        let size = BoardSize(width: Double(bitPattern: try fixed()), height: Double(bitPattern: try fixed()))
        // What `w` and `h` of a message may be.
        let range = 1.0...16_384.0
        try require(range.contains(size.width) && range.contains(size.height))
        return size
    }
}

extension Board {
    /// Every stroke that is seen or could be again, by index.
    fileprivate var strokes: [Stroke] {
        var strokes = visible.map(\.stroke)
        for entry in history.done + history.undone {
            switch entry {
            case .stroke(let stroke): strokes.append(stroke)
            case .clear(_, let removed): strokes += removed.map(\.stroke)
            }
        }
        strokes.sort { $0.index < $1.index }
        var distinct: [Stroke] = []
        for stroke in strokes where stroke.index != distinct.last?.index { distinct.append(stroke) }
        return distinct
    }
}
