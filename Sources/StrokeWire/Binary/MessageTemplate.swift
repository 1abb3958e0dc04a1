/// The text of a message without its numbers, which messages of one client have in common.
///
/// Four texts: before the first point, one point, between two points, and after the last point. One array holds them
/// one after the other.
package struct MessageTemplate: Hashable, Sendable {
    /// Literal text with gaps where numbers stand.
    package struct Text {
        /// Offsets in ``MessageTemplate/literal``.
        package let literal: Range<Int>
        /// Offsets in ``MessageTemplate/gaps``.
        package let gaps: Range<Int>
    }

    package private(set) var literal: [UInt8] = []
    /// Offsets in the literal, in order; a number stands before each.
    package private(set) var gaps: [UInt32] = []
    /// The ends of the first three texts: offsets in the literal and in the gaps.
    private var beforeEnd: (literal: UInt32, gaps: UInt32) = (0, 0)
    private var pointEnd: (literal: UInt32, gaps: UInt32) = (0, 0)
    private var separatorEnd: UInt32 = 0

    /// Everything before the first point.
    package var before: Text { text(from: (0, 0), to: beforeEnd) }
    /// One point.
    package var point: Text { text(from: beforeEnd, to: pointEnd) }
    /// The text between two points, as offsets in the literal; it has no numbers.
    package var separator: Range<Int> { Int(pointEnd.literal)..<Int(separatorEnd) }
    /// Everything after the last point.
    package var after: Text {
        text(from: (separatorEnd, pointEnd.gaps), to: (UInt32(literal.count), UInt32(gaps.count)))
    }

    private func text(
        from start: (literal: UInt32, gaps: UInt32), to end: (literal: UInt32, gaps: UInt32)
    ) -> Text {
        Text(literal: Int(start.literal)..<Int(end.literal), gaps: Int(start.gaps)..<Int(end.gaps))
    }

    private var end: (literal: UInt32, gaps: UInt32) { (UInt32(literal.count), UInt32(gaps.count)) }

    package mutating func append(_ byte: UInt8) { literal.append(byte) }
    package mutating func append(_ bytes: some Collection<UInt8>) { literal += bytes }
    package mutating func appendNumber() { gaps.append(UInt32(literal.count)) }

    package mutating func endBefore() { beforeEnd = end }
    package mutating func endPoint() { pointEnd = end }
    package mutating func endSeparator() { separatorEnd = UInt32(literal.count) }

    package init() {}

    /// Bytes that it takes in memory, about: its object and the two arrays.
    package var byteCount: Int { textByteCount + 128 }

    /// Bytes that its texts and gaps take in memory.
    package var textByteCount: Int { literal.count + MemoryLayout<UInt32>.stride * gaps.count }

    package static func == (left: MessageTemplate, right: MessageTemplate) -> Bool {
        left.literal == right.literal && left.gaps == right.gaps && left.beforeEnd == right.beforeEnd
            && left.pointEnd == right.pointEnd && left.separatorEnd == right.separatorEnd
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(literal)
        hasher.combine(gaps)
        hasher.combine(beforeEnd.literal)
        hasher.combine(pointEnd.literal)
    }
}

extension MessageTemplate {
    /// The template of a message, by its first point.
    /// - Parameter maximum: the greatest ``byteCount``.
    /// - Returns: nil where a number would not be printed as it was, or the template is larger than `maximum`.
    package init?(of message: [UInt8], interior: Range<Int>, pointCount: Int, atMost maximum: Int) {
        let read: MessageTemplate? = message.withUnsafeBufferPointer { bytes in
            var reader = TemplateReader(bytes: bytes, maximum: maximum)
            return reader.read(interior, hasPoints: pointCount > 0, hasSeparator: pointCount > 1)
        }
        guard let read else { return nil }
        self = read
    }
}

/// Splits a message into text and numbers.
private struct TemplateReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let maximum: Int
    private var template = MessageTemplate()
    private var position = 0
    private var isInString = false
    private var depth = 0

    init(bytes: UnsafeBufferPointer<UInt8>, maximum: Int) {
        (self.bytes, self.maximum) = (bytes, maximum)
    }

    mutating func read(_ interior: Range<Int>, hasPoints: Bool, hasSeparator: Bool) -> MessageTemplate? {
        guard readText(upTo: interior.lowerBound) else { return nil }
        template.endBefore()
        if hasPoints, !readPoint(upTo: interior.upperBound) { return nil }
        template.endPoint()
        if hasSeparator, !readLiteral(to: UInt8(ascii: "{"), before: interior.upperBound) { return nil }
        template.endSeparator()
        position = interior.upperBound
        guard readText(upTo: bytes.count), template.byteCount <= maximum else { return nil }
        return template
    }

    private mutating func readText(upTo end: Int) -> Bool {
        while position < end {
            guard step(before: end) else { return false }
        }
        return true
    }

    /// Reads one point, up to its closing brace.
    private mutating func readPoint(upTo end: Int) -> Bool {
        depth = 0
        repeat {
            guard position < end, step(before: end) else { return false }
        } while depth > 0 || isInString
        return true
    }

    private mutating func readLiteral(to byte: UInt8, before end: Int) -> Bool {
        while position < end, bytes[position] != byte {
            guard template.byteCount < maximum else { return false }
            template.append(bytes[position])
            position += 1
        }
        return true
    }

    private mutating func step(before end: Int) -> Bool {
        guard template.byteCount < maximum else { return false }
        let byte = bytes[position]
        if !isInString, byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            guard DecimalText(bytes, &position) != nil else { return false }
            template.appendNumber()
            return true
        }
        template.append(byte)
        position += 1
        switch byte {
        case UInt8(ascii: "\\") where isInString && position < end:
            template.append(bytes[position])
            position += 1
        case UInt8(ascii: "\""): isInString.toggle()
        case UInt8(ascii: "{") where !isInString: depth += 1
        case UInt8(ascii: "}") where !isInString: depth -= 1
        default: break
        }
        return true
    }
}
