/// Packs the numbers of a message with a known template.
///
/// The points of handwriting lie near the continuation of the stroke: a number is kept as its difference from the one
/// that the two points before predict.
///
/// Reads the message once. The greatest decimals of a column stand before its first number, so all numbers are read before
/// the first is written.
package struct MessagePacker {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let template: MessageTemplate
    private var position = 0

    private init(_ bytes: UnsafeBufferPointer<UInt8>, _ template: MessageTemplate) {
        (self.bytes, self.template) = (bytes, template)
    }

    /// The packed numbers of a message. Takes 16 bytes for each number of a point besides: two to three times the bytes of the
    /// message as clients write it, eight times at most.
    /// - Returns: nil where the message does not match the template, a number would not be printed as it was, or nothing
    ///   would be saved.
    package static func pack(_ message: [UInt8], interior: Range<Int>, pointCount: Int, by template: MessageTemplate)
        -> [UInt8]?
    {
        let columnCount = template.point.gaps.count
        // A digit at least for each.
        guard columnCount == 0 || pointCount <= message.count / columnCount else { return nil }
        let numberCount = pointCount * columnCount
        let numberBytes = numberCount * MemoryLayout<DecimalText>.stride
        return message.withUnsafeBufferPointer { bytes in
            // One block for both, for it is taken from the heap where it is large.
            withUnsafeTemporaryAllocation(
                byteCount: numberBytes + message.count + NibbleWriter.maximumBytes,
                alignment: MemoryLayout<DecimalText>.alignment
            ) { memory in
                guard let start = memory.baseAddress else { return nil }
                let numbers = start.bindMemory(to: DecimalText.self, capacity: numberCount)
                let packed = (start + numberBytes).bindMemory(
                    to: UInt8.self, capacity: message.count + NibbleWriter.maximumBytes)
                var packer = MessagePacker(bytes, template)
                var writer = NibbleWriter(packed, capacity: message.count)
                guard packer.pack(interior, pointCount, numbers, into: &writer), !writer.isFull else { return nil }
                return writer.bytes
            }
        }
    }

    /// - Parameter numbers: uninitialized memory for the numbers of the points.
    private mutating func pack(
        _ interior: Range<Int>, _ pointCount: Int, _ numbers: UnsafeMutablePointer<DecimalText>,
        into writer: inout NibbleWriter
    ) -> Bool {
        var outside: [DecimalText] = []
        guard match(template.before, { outside.append($1) }), position == interior.lowerBound else { return false }
        var columns = [PointColumn](repeating: PointColumn(), count: template.point.gaps.count)
        for point in 0..<pointCount {
            if point > 0, !skip(template.separator) { return false }
            let first = point * columns.count
            let isMatched = match(template.point) { column, number in
                columns[column].fit(number)
                (numbers + first + column).initialize(to: number)
            }
            guard isMatched else { return false }
        }
        guard position == interior.upperBound, match(template.after, { outside.append($1) }), position == bytes.count
        else { return false }
        writer.write(UInt64(pointCount))
        Self.write(outside, into: &writer)
        for column in columns { column.write(into: &writer) }
        for point in 0..<pointCount {
            for column in columns.indices {
                let number = numbers[point * columns.count + column]
                guard columns[column].write(number, into: &writer) else { return false }
            }
            if writer.isFull { return false }
        }
        return true
    }

    /// Writes the numbers outside the points. Mostly all are integers: the first value, their most decimals, is 0 then, and
    /// none is written with each.
    private static func write(_ numbers: [DecimalText], into writer: inout NibbleWriter) {
        let greatest = numbers.reduce(0) { max($0, $1.decimals) }
        writer.write(UInt64(greatest))
        for number in numbers {
            if greatest > 0 { writer.write(UInt64(number.decimals)) }
            writer.write(signed: number.mantissa)
        }
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
}

/// The forms that packed numbers have had.
package enum PackedForm: Sendable {
    /// That of checkpoints of the first release: the decimals before every number outside the points.
    case first
    /// The decimals of the numbers outside the points only where one of them has any.
    case current
}

/// Unpacks a message from its template and its packed numbers.
package struct MessageUnpacker {
    /// Longer messages are not packed, so that a few packed bytes cannot claim to be a message of any size.
    package static let maximumBytes = 1 << 26

    private var reader: NibbleReader
    private let template: MessageTemplate
    private let form: PackedForm
    private var bytes: [UInt8] = []

    /// - Parameter range: the place of the numbers in `bytes`.
    init(template: MessageTemplate, numbers bytes: [UInt8], in range: Range<Int>, form: PackedForm = .current) {
        (self.template, self.form) = (template, form)
        reader = NibbleReader(bytes, in: range)
    }

    package init(template: MessageTemplate, numbers: [UInt8], form: PackedForm = .current) {
        self.init(template: template, numbers: numbers, in: numbers.indices, form: form)
    }

    /// The message, from numbers that ``MessagePacker`` wrote or ``measure(_:template:form:)`` has checked.
    /// - Parameter byteCount: its size.
    package mutating func unpack(byteCount: Int) -> [UInt8] {
        bytes.reserveCapacity(byteCount)
        _ = unpack()
        return bytes
    }

    /// Why numbers from outside cannot be unpacked.
    enum Fault: Error {
        /// Numbers are missing, left over, or too large for a double.
        case damaged
        case tooLarge
    }

    /// The message, from any numbers.
    /// - Parameter limit: bytes of the message at most. At most some forty times the size of the numbers is allocated
    ///   besides.
    mutating func unpackUnchecked(atMost limit: Int) throws(Fault) -> [UInt8] {
        guard let pointCount = checkedPointCount() else { throw .damaged }
        let text = template.point.literal.count + template.separator.count
        guard pointCount * text <= limit else { throw .tooLarge }
        bytes.reserveCapacity(template.literal.count + pointCount * (text + 4 * template.point.gaps.count))
        guard unpack(), reader.isAtEnd else { throw .damaged }
        guard bytes.count <= limit else { throw .tooLarge }
        return bytes
    }

    /// - Returns: whether doubles hold all numbers exactly.
    private mutating func unpack() -> Bool {
        let pointCount = Int(reader.read())
        let (before, after) = readNumbersOutside()
        append(template.before, before)
        let isExact = appendPoints(pointCount)
        append(template.after, after)
        return isExact && (before + after).allSatisfy { $0.mantissa.magnitude <= DecimalText.greatestMantissa }
    }

    /// The numbers before and after the points.
    private mutating func readNumbersOutside() -> (before: [DecimalText], after: [DecimalText]) {
        let hasDecimals = form == .first || reader.read() > 0
        func number() -> DecimalText {
            let decimals = hasDecimals ? Int(reader.read()) : 0
            return DecimalText(mantissa: reader.readSigned(), decimals: decimals)
        }
        return (template.before.gaps.map { _ in number() }, template.after.gaps.map { _ in number() })
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

    /// - Returns: whether doubles hold all numbers exactly.
    private mutating func appendPoints(_ count: Int) -> Bool {
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
        return columns.allSatisfy { $0.isExact }
    }

    /// The size of the message in bytes. Does not unpack it.
    private mutating func readByteCount() -> Int {
        let pointCount = Int(reader.read())
        var byteCount = template.before.literal.count + template.after.literal.count
        let (before, after) = readNumbersOutside()
        for number in before + after { byteCount += number.byteCount }
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
    package static func measure(
        _ numbers: [UInt8], template: MessageTemplate, form: PackedForm = .current
    ) -> (pointCount: Int, byteCount: Int)? {
        var unpacker = MessageUnpacker(template: template, numbers: numbers, form: form)
        guard let pointCount = unpacker.checkedPointCount() else { return nil }
        let byteCount = unpacker.readByteCount()
        return byteCount <= maximumBytes ? (pointCount, byteCount) : nil
    }

    /// The number of points. Reads nothing away.
    /// - Returns: nil where numbers are missing, or the message would be far too large.
    func checkedPointCount() -> Int? {
        var reader = reader
        var left = reader.count
        let count = left
        func next() -> UInt64? {
            guard left > 0 else { return nil }
            left -= 1
            return reader.read()
        }
        func decimals() -> UInt64? { next().flatMap { $0 <= UInt64(DecimalText.maximumDigits) ? $0 : nil } }

        guard let points = next(), points <= UInt64(count) else { return nil }
        var hasDecimals = true
        if form == .current {
            guard let greatest = decimals() else { return nil }
            hasDecimals = greatest > 0
        }
        for _ in 0..<(template.before.gaps.count + template.after.gaps.count) {
            if hasDecimals, decimals() == nil { return nil }
            guard next() != nil else { return nil }
        }
        let columns = template.point.gaps.count
        for _ in 0..<(2 * columns) {
            guard decimals() != nil else { return nil }
        }
        guard points == 0 || columns > 0, Int(points) <= left / max(1, columns) else { return nil }
        let text = template.point.literal.count + template.separator.count + columns
        guard Int(points) <= Self.maximumBytes / max(1, text) + 1 else { return nil }
        return Int(points)
    }
}
