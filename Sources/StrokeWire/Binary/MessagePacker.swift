/// Packs the numbers of a message with a known template.
///
/// The points of handwriting lie near the continuation of the stroke: a number is kept as its difference from the one
/// that the two points before predict.
///
/// Reads the points twice and keeps nothing in between: first to match them with the template and to count decimals,
/// then to write the numbers.
package struct MessagePacker {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let template: MessageTemplate
    private var position = 0

    private init(_ bytes: UnsafeBufferPointer<UInt8>, _ template: MessageTemplate) {
        self.bytes = bytes
        self.template = template
    }

    /// The packed numbers of a message. Takes no more memory than the message has.
    /// - Returns: nil where the message does not match the template, a number would not be printed as it was, or nothing
    ///   would be saved.
    package static func pack(_ message: [UInt8], interior: Range<Int>, pointCount: Int, by template: MessageTemplate)
        -> [UInt8]?
    {
        message.withUnsafeBufferPointer { bytes in
            withUnsafeTemporaryAllocation(
                of: UInt8.self, capacity: message.count + NibbleWriter.maximumBytes
            ) { memory in
                guard let start = memory.baseAddress else { return nil }
                var packer = MessagePacker(bytes, template)
                var writer = NibbleWriter(start, capacity: message.count)
                guard packer.pack(interior, pointCount, into: &writer), !writer.isFull else { return nil }
                return writer.bytes
            }
        }
    }

    private mutating func pack(_ interior: Range<Int>, _ pointCount: Int, into writer: inout NibbleWriter) -> Bool {
        writer.write(UInt64(pointCount))
        guard writeNumbers(of: template.before, into: &writer), position == interior.lowerBound else { return false }
        var columns = [PointColumn](repeating: PointColumn(), count: template.point.gaps.count)
        guard fitPoints(pointCount, &columns), position == interior.upperBound,
            writeNumbers(of: template.after, into: &writer), position == bytes.count
        else { return false }
        for column in columns { column.write(into: &writer) }
        position = interior.lowerBound
        return writePoints(pointCount, &columns, into: &writer)
    }

    /// Matches text outside the points and writes its numbers.
    private mutating func writeNumbers(of text: MessageTemplate.Text, into writer: inout NibbleWriter) -> Bool {
        match(text) { _, number in
            writer.write(UInt64(number.decimals))
            writer.write(signed: number.mantissa)
        }
    }

    /// Matches the points and counts the decimals of the columns.
    private mutating func fitPoints(_ count: Int, _ columns: inout [PointColumn]) -> Bool {
        for point in 0..<count {
            if point > 0, !skip(template.separator) { return false }
            guard match(template.point, { columns[$0].fit($1) }) else { return false }
        }
        return true
    }

    /// Matches a text.
    /// - Parameter take: is called with each number of the text and its position, from 0.
    @inline(__always)
    private mutating func match(_ text: MessageTemplate.Text, _ take: (Int, DecimalText) -> Void) -> Bool {
        var start = text.literal.lowerBound
        for gap in text.gaps {
            let end = Int(template.gaps[gap])
            guard skip(start..<end), let number = DecimalText(bytes, &position) else { return false }
            take(gap - text.gaps.lowerBound, number)
            start = end
        }
        return skip(start..<text.literal.upperBound)
    }

    /// Matches a part of the template's literal.
    @inline(__always)
    private mutating func skip(_ range: Range<Int>) -> Bool {
        guard range.count <= bytes.count - position else { return false }
        for offset in range {
            guard bytes[position] == template.literal[offset] else { return false }
            position &+= 1
        }
        return true
    }

    /// Writes the numbers of the points, which have been matched.
    private mutating func writePoints(_ count: Int, _ columns: inout [PointColumn], into writer: inout NibbleWriter)
        -> Bool
    {
        let text = template.point
        for point in 0..<count {
            if point > 0 { position += template.separator.count }
            var start = text.literal.lowerBound
            for column in columns.indices {
                let end = Int(template.gaps[text.gaps.lowerBound + column])
                position += end - start
                start = end
                guard let number = DecimalText(bytes, &position), columns[column].write(number, into: &writer) else {
                    return false
                }
            }
            position += text.literal.upperBound - start
            if writer.isFull { return false }
        }
        return true
    }
}

/// Unpacks a message from its template and its packed numbers.
package struct MessageUnpacker {
    /// Longer messages are not packed, so that a few packed bytes cannot claim to be a message of any size.
    package static let maximumBytes = 1 << 26

    private var reader: NibbleReader
    private let template: MessageTemplate
    private var bytes: [UInt8] = []

    package init(template: MessageTemplate, numbers: [UInt8]) {
        self.template = template
        reader = NibbleReader(numbers)
    }

    /// The message.
    /// - Parameter byteCount: its size.
    package mutating func unpack(byteCount: Int) -> [UInt8] {
        let pointCount = Int(reader.read())
        let before = readNumbers(template.before)
        let after = readNumbers(template.after)
        bytes.reserveCapacity(byteCount)
        append(template.before, before)
        appendPoints(pointCount)
        append(template.after, after)
        return bytes
    }

    private mutating func readNumbers(_ text: MessageTemplate.Text) -> [DecimalText] {
        text.gaps.map { _ in
            let decimals = Int(reader.read())
            return DecimalText(mantissa: reader.readSigned(), decimals: decimals)
        }
    }

    private mutating func append(_ text: MessageTemplate.Text, _ numbers: [DecimalText]) {
        var start = text.literal.lowerBound
        for (gap, number) in zip(template.gaps[text.gaps], numbers) {
            bytes += template.literal[start..<Int(gap)]
            number.append(to: &bytes)
            start = Int(gap)
        }
        bytes += template.literal[start..<text.literal.upperBound]
    }

    private mutating func appendPoints(_ count: Int) {
        let text = template.point
        let separator = template.separator
        let gaps = template.gaps[text.gaps].map { Int($0) }
        var columns = text.gaps.map { _ in PointColumn(from: &reader) }
        // Slices of the array itself would be retained and released for each number.
        template.literal.withUnsafeBufferPointer { literal in
            for point in 0..<count {
                if point > 0 { bytes.append(contentsOf: UnsafeBufferPointer(rebasing: literal[separator])) }
                var start = text.literal.lowerBound
                for column in columns.indices {
                    bytes.append(contentsOf: UnsafeBufferPointer(rebasing: literal[start..<gaps[column]]))
                    columns[column].read(from: &reader).append(to: &bytes)
                    start = gaps[column]
                }
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: literal[start..<text.literal.upperBound]))
            }
        }
    }

    /// The size of the message in bytes. Does not unpack it.
    private mutating func readByteCount() -> Int {
        let pointCount = Int(reader.read())
        var byteCount = template.before.literal.count + template.after.literal.count
        for number in readNumbers(template.before) + readNumbers(template.after) { byteCount += number.byteCount }
        var columns = template.point.gaps.map { _ in PointColumn(from: &reader) }
        byteCount += pointCount * template.point.literal.count + max(0, pointCount - 1) * template.separator.count
        for _ in 0..<pointCount {
            for position in columns.indices { byteCount += columns[position].read(from: &reader).byteCount }
        }
        return byteCount
    }
}

extension MessageUnpacker {
    /// Checks packed numbers that come from outside.
    /// - Returns: the number of points and the size of the message in bytes; nil where it could not be unpacked, or would
    ///   be larger than ``maximumBytes``.
    package static func measure(_ numbers: [UInt8], template: MessageTemplate) -> (pointCount: Int, byteCount: Int)? {
        guard let pointCount = pointCount(of: numbers, template: template) else { return nil }
        var unpacker = MessageUnpacker(template: template, numbers: numbers)
        let byteCount = unpacker.readByteCount()
        return byteCount <= maximumBytes ? (pointCount, byteCount) : nil
    }

    /// - Returns: nil where numbers are missing, or the message would be far too large.
    private static func pointCount(of numbers: [UInt8], template: MessageTemplate) -> Int? {
        var reader = NibbleReader(numbers)
        var left = numbers.reduce(0) { $0 + ($1 & 0x08 == 0 ? 1 : 0) + ($1 & 0x80 == 0 ? 1 : 0) }
        func next() -> UInt64? {
            guard left > 0 else { return nil }
            left -= 1
            return reader.read()
        }
        func decimals() -> Bool { next().map { $0 <= UInt64(DecimalText.maximumDigits) } ?? false }

        // An integer takes at least half a byte.
        guard let points = next(), points <= UInt64(2 * numbers.count) else { return nil }
        for _ in 0..<(template.before.gaps.count + template.after.gaps.count) {
            guard decimals(), next() != nil else { return nil }
        }
        let columns = template.point.gaps.count
        for _ in 0..<(2 * columns) {
            guard decimals() else { return nil }
        }
        guard points == 0 || columns > 0, Int(points) <= left / max(1, columns) else { return nil }
        let text = template.point.literal.count + template.separator.count + columns
        guard Int(points) <= maximumBytes / max(1, text) + 1 else { return nil }
        return Int(points)
    }
}
