/// Takes a message apart into its shape and its numbers.
///
/// The points of handwriting lie near the continuation of the stroke so far: what is kept of a number is its
/// difference from the one that the two points before it predict.
struct MessagePacker {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    private var writer = NibbleWriter()

    /// - Returns: nil where the message does not fit: its points differ in their keys, or a number has a form that
    ///   would not come back byte for byte.
    static func pack(
        _ message: [UInt8], interior: Range<Int>, pointCount: Int, shapes: inout ShapeTable
    ) -> (shape: MessageShape, numbers: [UInt8])? {
        message.withUnsafeBufferPointer { bytes in
            var packer = MessagePacker(bytes: bytes)
            return packer.pack(interior, pointCount, &shapes)
        }
    }

    private init(bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    private mutating func pack(
        _ interior: Range<Int>, _ pointCount: Int, _ shapes: inout ShapeTable
    ) -> (MessageShape, [UInt8])? {
        writer.write(UInt64(pointCount))
        guard let before = text(upTo: interior.lowerBound, isPoint: false),
            let (point, separator) = points(pointCount, upTo: interior.upperBound, &shapes.numbers),
            let after = text(upTo: bytes.count, isPoint: false),
            let shape = shapes.shape(.init(before: before, point: point, separator: separator, after: after))
        else { return nil }
        guard writeColumns(shapes.numbers, count: point.numberCount) else { return nil }
        return (shape, writer.bytes)
    }

    /// Reads text with its numbers: up to an end, or one point up to its closing brace. Numbers are written, or kept
    /// in `numbers` where the text is a point.
    private mutating func text(upTo end: Int, isPoint: Bool, numbers: UnsafeMutablePointer<[DecimalText]>? = nil)
        -> MessageShape.Text?
    {
        var text = MessageShape.Text()
        var isInString = false
        var depth = 0
        while position < end {
            let byte = bytes[position]
            if !isInString, byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
                guard let number = DecimalText(bytes, &position) else { return nil }
                text.appendNumber()
                if let numbers { numbers.pointee.append(number) } else { write(number) }
                continue
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
            if isPoint, depth == 0 { return text }
        }
        return isPoint ? nil : text
    }

    private mutating func write(_ number: DecimalText) {
        writer.write(UInt64(number.decimals))
        writer.write(signed: number.mantissa)
    }

    /// Reads all points; each must look like the first.
    private mutating func points(
        _ count: Int, upTo end: Int, _ numbers: inout [DecimalText]
    ) -> (MessageShape.Text, [UInt8])? {
        numbers.removeAll(keepingCapacity: true)
        guard count > 0 else { return position == end ? (MessageShape.Text(), []) : nil }
        guard let first = text(upTo: end, isPoint: true, numbers: &numbers) else { return nil }
        var separator: [UInt8] = []
        if count > 1 {
            while position < end, bytes[position] != UInt8(ascii: "{") {
                separator.append(bytes[position])
                position += 1
            }
        }
        for point in 1..<max(count, 1) {
            if point > 1, !skip(separator) { return nil }
            guard skip(first.pieces[0]) else { return nil }
            for piece in first.pieces.dropFirst() {
                guard position < end, let number = DecimalText(bytes, &position), skip(piece) else { return nil }
                numbers.append(number)
            }
        }
        return position == end ? (first, separator) : nil
    }

    private mutating func skip(_ literal: [UInt8]) -> Bool {
        guard literal.count <= bytes.count - position else { return false }
        for offset in 0..<literal.count where bytes[position + offset] != literal[offset] { return false }
        position += literal.count
        return true
    }

    /// Writes the points' numbers point by point, each as its difference from the straight continuation.
    private mutating func writeColumns(_ numbers: [DecimalText], count columns: Int) -> Bool {
        guard columns > 0 else { return true }
        var decimals: [(most: Int, least: Int)] = []
        for column in 0..<columns {
            let places = stride(from: column, to: numbers.count, by: columns).lazy.map { numbers[$0].decimals }
            decimals.append((places.max() ?? 0, places.min() ?? 0))
            writer.write(UInt64(decimals[column].most))
            writer.write(UInt64(decimals[column].least))
        }
        var last = [Int64](repeating: 0, count: columns)
        var step = [Int64](repeating: 0, count: columns)
        for (place, number) in numbers.enumerated() {
            let column = place % columns
            let (most, least) = decimals[column]
            let (value, overflow) = number.mantissa.multipliedReportingOverflow(
                by: DecimalText.powers[most - number.decimals])
            guard !overflow, number.trimmed(to: least) == number else { return false }
            writer.write(signed: value &- (last[column] &+ step[column]))
            step[column] = place < columns ? 0 : value &- last[column]
            last[column] = value
        }
        return true
    }
}
