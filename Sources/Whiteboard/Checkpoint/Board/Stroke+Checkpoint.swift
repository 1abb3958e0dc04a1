import StrokeWire

/// Strokes stand once each, whatever lists of the board they are in.
extension CheckpointWriter {
    mutating func write(strokes: [Stroke]) {
        var last: UInt64 = 0
        write(list: strokes) { writer, stroke in
            writer.write(stroke.index - last)
            last = stroke.index
            writer.write(stroke.author.text)
            writer.write(stroke)
        }
    }

    /// All of a stroke but what the operation that drew it says, too.
    mutating func write(_ stroke: Stroke) {
        write(stroke.isLate)
        write(stroke.message, pointCount: stroke.pointCount)
    }
}

extension CheckpointReader {
    mutating func strokes() throws(CheckpointError) -> [UInt64: Stroke] {
        var strokes: [UInt64: Stroke] = [:]
        var last: UInt64 = 0
        for _ in 0..<(try count()) {
            last += try number()
            try require(last <= CheckpointFormat.numberBound)
            strokes[last] = try stroke(at: last, by: try name())
        }
        return strokes
    }

    mutating func stroke(at index: UInt64, by author: AuthorID) throws(CheckpointError) -> Stroke {
        let isLate = try flag()
        let (message, pointCount) = try packedMessage()
        return Stroke(
            index: index, author: author, isLate: isLate, pointCount: pointCount, message: message, origins: &origins)
    }
}
