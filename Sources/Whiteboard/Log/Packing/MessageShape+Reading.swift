extension MessageShape {
    /// Reads the shape of a message off its bytes, the first point standing for all.
    /// - Returns: nil where a number has a form that does not come back as it was.
    init?(of message: [UInt8], interior: Range<Int>, pointCount: Int) {
        let read: MessageShape? = message.withUnsafeBufferPointer { bytes in
            var reader = ShapeReader(bytes: bytes)
            var shape = MessageShape()
            guard let before = reader.text(upTo: interior.lowerBound) else { return nil }
            shape.before = before
            if pointCount > 0 {
                guard let point = reader.point(upTo: interior.upperBound) else { return nil }
                shape.point = point
            }
            if pointCount > 1 { shape.separator = reader.skip(to: UInt8(ascii: "{"), before: interior.upperBound) }
            reader.position = interior.upperBound
            guard let after = reader.text(upTo: bytes.count) else { return nil }
            shape.after = after
            return shape
        }
        guard let read else { return nil }
        self = read
    }
}

/// Tells literal text from numbers.
private struct ShapeReader {
    let bytes: UnsafeBufferPointer<UInt8>
    var position = 0
    private var isInString = false
    private var depth = 0

    init(bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    mutating func text(upTo end: Int) -> MessageShape.Text? {
        var text = MessageShape.Text()
        while position < end {
            guard step(into: &text, end) else { return nil }
        }
        return text
    }

    /// The text of one point, up to its closing brace.
    mutating func point(upTo end: Int) -> MessageShape.Text? {
        var text = MessageShape.Text()
        depth = 0
        repeat {
            guard position < end, step(into: &text, end) else { return nil }
        } while depth > 0 || isInString
        return text
    }

    mutating func skip(to byte: UInt8, before end: Int) -> [UInt8] {
        let start = position
        while position < end, bytes[position] != byte { position += 1 }
        return Array(bytes[start..<position])
    }

    private mutating func step(into text: inout MessageShape.Text, _ end: Int) -> Bool {
        let byte = bytes[position]
        if !isInString, byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            guard DecimalText(bytes, &position) != nil else { return false }
            text.appendNumber()
            return true
        }
        text.append(byte)
        position += 1
        switch byte {
        case UInt8(ascii: "\\") where isInString && position < end:
            text.append(bytes[position])
            position += 1
        case UInt8(ascii: "\""): isInString.toggle()
        case UInt8(ascii: "{") where !isInString: depth += 1
        case UInt8(ascii: "}") where !isInString: depth -= 1
        default: break
        }
        return true
    }
}
