/// Puts a message together again from its shape and its numbers.
struct MessageUnpacker {
    private var reader: NibbleReader
    private let shape: MessageShape.Key
    private var bytes: [UInt8] = []

    init(shape: MessageShape, numbers: [UInt8]) {
        self.shape = shape.key
        reader = NibbleReader(numbers)
    }

    /// The message, byte for byte.
    mutating func unpack() -> [UInt8] {
        let pointCount = Int(reader.read())
        let before = readNumbers(shape.before)
        let after = readNumbers(shape.after)
        bytes.reserveCapacity(
            128 + pointCount * (shape.point.pieces.reduce(shape.separator.count) { $0 + $1.count + 6 }))
        append(shape.before, before)
        appendPoints(pointCount)
        append(shape.after, after)
        return bytes
    }

    private mutating func readNumbers(_ text: MessageShape.Text) -> [DecimalText] {
        (0..<text.numberCount).map { _ in
            let decimals = Int(reader.read())
            return DecimalText(mantissa: reader.readSigned(), decimals: decimals)
        }
    }

    private mutating func append(_ text: MessageShape.Text, _ numbers: [DecimalText]) {
        bytes += text.pieces[0]
        for (number, piece) in zip(numbers, text.pieces.dropFirst()) {
            number.append(to: &bytes)
            bytes += piece
        }
    }

    private mutating func appendPoints(_ count: Int) {
        let columns = shape.point.numberCount
        let decimals = (0..<columns).map { _ in (most: Int(reader.read()), least: Int(reader.read())) }
        var last = [Int64](repeating: 0, count: columns)
        var step = [Int64](repeating: 0, count: columns)
        for point in 0..<count {
            if point > 0 { bytes += shape.separator }
            bytes += shape.point.pieces[0]
            for column in 0..<columns {
                let value = last[column] &+ step[column] &+ reader.readSigned()
                step[column] = point == 0 ? 0 : value &- last[column]
                last[column] = value
                DecimalText(mantissa: value, decimals: decimals[column].most)
                    .trimmed(to: decimals[column].least).append(to: &bytes)
                bytes += shape.point.pieces[column + 1]
            }
        }
    }
}
