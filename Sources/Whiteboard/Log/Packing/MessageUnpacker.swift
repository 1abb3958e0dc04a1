/// Puts a message together again from its shape and its numbers.
struct MessageUnpacker {
    private var reader: NibbleReader
    private let shape: MessageShape
    private var bytes: [UInt8] = []

    init(shape: MessageShape, numbers: [UInt8]) {
        self.shape = shape
        reader = NibbleReader(numbers)
    }

    /// The message, byte for byte.
    mutating func unpack() -> [UInt8] {
        let pointCount = Int(reader.read())
        let before = readNumbers(shape.before)
        let after = readNumbers(shape.after)
        let pointBytes = shape.point.literal.count + shape.separator.count + 6 * shape.point.gaps.count
        bytes.reserveCapacity(160 + pointCount * pointBytes)
        append(shape.before, before)
        appendPoints(pointCount)
        append(shape.after, after)
        return bytes
    }

    private mutating func readNumbers(_ text: MessageShape.Text) -> [DecimalText] {
        text.gaps.map { _ in
            let decimals = Int(reader.read())
            return DecimalText(mantissa: reader.readSigned(), decimals: decimals)
        }
    }

    private mutating func append(_ text: MessageShape.Text, _ numbers: [DecimalText]) {
        var start = 0
        for (gap, number) in zip(text.gaps, numbers) {
            bytes += text.literal[start..<gap]
            number.append(to: &bytes)
            start = gap
        }
        bytes += text.literal[start...]
    }

    private mutating func appendPoints(_ count: Int) {
        var columns = shape.point.gaps.map { _ in Column(from: &reader) }
        for point in 0..<count {
            if point > 0 { bytes += shape.separator }
            var start = 0
            for position in columns.indices {
                let gap = shape.point.gaps[position]
                bytes += shape.point.literal[start..<gap]
                columns[position].read(from: &reader).append(to: &bytes)
                start = gap
            }
            bytes += shape.point.literal[start...]
        }
    }
}
