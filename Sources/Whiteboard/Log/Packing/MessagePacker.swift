/// Takes the numbers out of a message of a known shape.
///
/// The points of handwriting lie near the continuation of the stroke so far: what is kept of a number is its
/// difference from the one that the two points before it predict.
struct MessagePacker {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let shape: MessageShape
    private var position = 0

    private init(_ bytes: UnsafeBufferPointer<UInt8>, _ shape: MessageShape) {
        self.bytes = bytes
        self.shape = shape
    }

    /// - Returns: nil where the message does not have the shape: its points differ in their keys, or a number has a
    ///   form that would not come back byte for byte.
    static func pack(_ message: [UInt8], interior: Range<Int>, pointCount: Int, as shape: MessageShape) -> [UInt8]? {
        let columns = shape.point.gaps.count
        let numbers = pointCount * columns
        let others = shape.before.gaps.count + shape.after.gaps.count
        // The point count, two integers for each number outside the points and for each column, one for each other.
        let most = NibbleWriter.mostBytes * (1 + 2 * (others + columns) + numbers)
        return message.withUnsafeBufferPointer { bytes in
            withUnsafeTemporaryAllocation(of: DecimalText.self, capacity: max(numbers, 1)) { scratch in
                withUnsafeTemporaryAllocation(of: UInt8.self, capacity: most) { memory in
                    guard let start = memory.baseAddress, let first = scratch.baseAddress else { return nil }
                    var packer = MessagePacker(bytes, shape)
                    var writer = NibbleWriter(start)
                    guard packer.pack(interior, pointCount, first, into: &writer) else { return nil }
                    return writer.bytes
                }
            }
        }
    }

    private mutating func pack(
        _ interior: Range<Int>, _ pointCount: Int, _ numbers: UnsafeMutablePointer<DecimalText>,
        into writer: inout NibbleWriter
    ) -> Bool {
        writer.write(UInt64(pointCount))
        guard writeNumbers(of: shape.before, into: &writer), position == interior.lowerBound,
            readPoints(pointCount, numbers), position == interior.upperBound,
            writeNumbers(of: shape.after, into: &writer), position == bytes.count
        else { return false }
        return writeColumns(
            UnsafeBufferPointer(start: numbers, count: pointCount * shape.point.gaps.count), into: &writer)
    }

    /// Matches text outside the points and writes its numbers as they are.
    private mutating func writeNumbers(of text: MessageShape.Text, into writer: inout NibbleWriter) -> Bool {
        match(text) { number in
            writer.write(UInt64(number.decimals))
            writer.write(signed: number.mantissa)
        }
    }

    private mutating func readPoints(_ count: Int, _ numbers: UnsafeMutablePointer<DecimalText>) -> Bool {
        var next = numbers
        for point in 0..<count {
            if point > 0, !skip(shape.separator, 0..<shape.separator.count) { return false }
            let matches = match(shape.point) { number in
                next.initialize(to: number)
                next += 1
            }
            guard matches else { return false }
        }
        return true
    }

    @inline(__always)
    private mutating func match(_ text: MessageShape.Text, _ take: (DecimalText) -> Void) -> Bool {
        var start = 0
        for gap in text.gaps {
            guard skip(text.literal, start..<gap), let number = DecimalText(bytes, &position) else { return false }
            take(number)
            start = gap
        }
        return skip(text.literal, start..<text.literal.count)
    }

    @inline(__always)
    private mutating func skip(_ literal: [UInt8], _ range: Range<Int>) -> Bool {
        guard range.count <= bytes.count - position else { return false }
        for offset in range {
            guard bytes[position] == literal[offset] else { return false }
            position &+= 1
        }
        return true
    }

    /// Writes the points' numbers point by point, each as its difference from the straight continuation.
    private func writeColumns(_ numbers: UnsafeBufferPointer<DecimalText>, into writer: inout NibbleWriter) -> Bool {
        var columns = [Column](repeating: Column(), count: shape.point.gaps.count)
        guard !columns.isEmpty else { return true }
        var next = 0
        for number in numbers {
            columns[next].fit(number)
            next = next &+ 1 == columns.count ? 0 : next &+ 1
        }
        for column in columns { column.write(into: &writer) }
        for number in numbers {
            guard columns[next].write(number, into: &writer) else { return false }
            next = next &+ 1 == columns.count ? 0 : next &+ 1
        }
        return true
    }
}
