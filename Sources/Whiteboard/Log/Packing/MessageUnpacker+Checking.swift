extension MessageUnpacker {
    /// The number of points of a packed message that comes from outside.
    /// - Returns: nil where it could not be unpacked, or would be larger than ``PackedMessage/mostBytes`` by far.
    static func pointCount(of numbers: [UInt8], shape: MessageShape) -> Int? {
        var reader = NibbleReader(numbers)
        var left = numbers.reduce(0) { $0 + ($1 & 0x08 == 0 ? 1 : 0) + ($1 & 0x80 == 0 ? 1 : 0) }
        func next() -> UInt64? {
            guard left > 0 else { return nil }
            left -= 1
            return reader.read()
        }
        func decimals() -> Bool { next().map { $0 <= UInt64(DecimalText.mostDigits) } ?? false }

        // An integer takes half a byte or more.
        guard let points = next(), points <= UInt64(2 * numbers.count) else { return nil }
        for _ in 0..<(shape.before.gaps.count + shape.after.gaps.count) {
            guard decimals(), next() != nil else { return nil }
        }
        let columns = shape.point.gaps.count
        for _ in 0..<(2 * columns) {
            guard decimals() else { return nil }
        }
        guard points == 0 || columns > 0, Int(points) <= left / max(1, columns) else { return nil }
        let text = shape.point.literal.count + shape.separator.count + columns
        guard Int(points) <= PackedMessage.mostBytes / max(1, text) + 1 else { return nil }
        return Int(points)
    }
}
