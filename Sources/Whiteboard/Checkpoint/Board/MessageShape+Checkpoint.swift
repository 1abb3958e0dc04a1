extension CheckpointWriter {
    mutating func write(_ shape: MessageShape) {
        write(shape.before)
        write(shape.point)
        write(shape.separator)
        write(shape.after)
    }

    private mutating func write(_ text: MessageShape.Text) {
        write(text.literal)
        var last = 0
        write(list: text.gaps) { writer, gap in
            writer.write(gap - last)
            last = gap
        }
    }
}

extension CheckpointReader {
    mutating func messageShape() throws(CheckpointError) -> MessageShape {
        var shape = MessageShape()
        shape.before = try shapeText()
        shape.point = try shapeText()
        shape.separator = try data()
        shape.after = try shapeText()
        return shape
    }

    private mutating func shapeText() throws(CheckpointError) -> MessageShape.Text {
        let literal = try data()
        var gaps: [Int] = []
        for _ in 0..<(try count()) {
            let step = try integer()
            let last = gaps.last ?? 0
            try require(step <= UInt64(literal.count - last))
            gaps.append(last + Int(step))
        }
        return MessageShape.Text(literal: literal, gaps: gaps)
    }
}
