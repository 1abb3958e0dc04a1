/// The text of a message without its numbers, which messages of one client have in common.
///
/// Four texts: before the first point, one point, between two points, and after the last point. One array holds them
/// one after the other.
struct MessageTemplate: Hashable, Sendable {
    /// Literal text with gaps where numbers stand.
    struct Text {
        /// Offsets in ``MessageTemplate/literal``.
        let literal: Range<Int>
        /// Offsets in ``MessageTemplate/gaps``.
        let gaps: Range<Int>
    }

    private(set) var literal: [UInt8] = []
    /// Offsets in the literal, in order; a number stands before each.
    private(set) var gaps: [UInt32] = []
    /// The ends of the first three texts: offsets in the literal and in the gaps.
    private var beforeEnd: (literal: UInt32, gaps: UInt32) = (0, 0)
    private var pointEnd: (literal: UInt32, gaps: UInt32) = (0, 0)
    private var separatorEnd: UInt32 = 0

    /// Everything before the first point.
    var before: Text { text(from: (0, 0), to: beforeEnd) }
    /// One point.
    var point: Text { text(from: beforeEnd, to: pointEnd) }
    /// The text between two points, as offsets in the literal; it has no numbers.
    var separator: Range<Int> { Int(pointEnd.literal)..<Int(separatorEnd) }
    /// Everything after the last point.
    var after: Text {
        text(from: (separatorEnd, pointEnd.gaps), to: (UInt32(literal.count), UInt32(gaps.count)))
    }

    private func text(
        from start: (literal: UInt32, gaps: UInt32), to end: (literal: UInt32, gaps: UInt32)
    ) -> Text {
        Text(literal: Int(start.literal)..<Int(end.literal), gaps: Int(start.gaps)..<Int(end.gaps))
    }

    private var end: (literal: UInt32, gaps: UInt32) { (UInt32(literal.count), UInt32(gaps.count)) }

    mutating func append(_ byte: UInt8) { literal.append(byte) }
    mutating func append(_ bytes: some Collection<UInt8>) { literal += bytes }
    mutating func appendNumber() { gaps.append(UInt32(literal.count)) }

    mutating func endBefore() { beforeEnd = end }
    mutating func endPoint() { pointEnd = end }
    mutating func endSeparator() { separatorEnd = UInt32(literal.count) }

    /// Bytes that it takes in memory, about: its object and the two arrays.
    var byteCount: Int { textByteCount + 128 }

    /// Bytes that its texts and gaps take in memory.
    var textByteCount: Int { literal.count + MemoryLayout<UInt32>.stride * gaps.count }

    static func == (left: MessageTemplate, right: MessageTemplate) -> Bool {
        left.literal == right.literal && left.gaps == right.gaps && left.beforeEnd == right.beforeEnd
            && left.pointEnd == right.pointEnd && left.separatorEnd == right.separatorEnd
    }

    func hash(into hasher: inout Hasher) {
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
    init?(of message: [UInt8], interior: Range<Int>, pointCount: Int, atMost maximum: Int) {
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
        self.bytes = bytes
        self.maximum = maximum
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

/// The templates that the messages of a room share, in the order of their use.
///
/// Bounded in bytes: refuses templates larger than ``largest``, and drops the least recently used where it is full.
/// Strokes keep the templates that they have.
struct TemplateTable: Sendable {
    /// A template that many messages refer to.
    final class Entry: Sendable {
        let template: MessageTemplate
        init(_ template: MessageTemplate) { self.template = template }
    }

    /// The greatest ``byteCount``.
    static let bound = 16 << 10
    /// The greatest number of bytes of one template.
    static let largest = 2 << 10

    /// The most recently used one first.
    private var entries: [Entry] = []
    /// Bytes of the templates, about.
    private(set) var byteCount = 0

    init() {}

    /// - Parameters:
    ///   - list: the last one used at the end.
    ///   - recent: the last one used.
    init(_ list: [Entry], recent: Entry?) {
        for entry in list + [recent].compactMap(\.self) { _ = use(entry.template) { entry } }
    }

    var count: Int { entries.count }

    /// The last one used, most likely the next message's.
    var recent: Entry? { entries.first }

    /// The shared entry of a template.
    /// - Returns: nil for a template that is too large.
    mutating func entry(for template: MessageTemplate) -> Entry? {
        use(template) { Entry(template) }
    }

    /// Moves a template to the front.
    private mutating func use(_ template: MessageTemplate, _ make: () -> Entry) -> Entry? {
        if let position = entries.firstIndex(where: { $0.template == template }) {
            let known = entries.remove(at: position)
            entries.insert(known, at: 0)
            return known
        }
        guard template.byteCount <= Self.largest else { return nil }
        while byteCount + template.byteCount > Self.bound, let oldest = entries.popLast() {
            byteCount -= oldest.template.byteCount
        }
        let entry = make()
        entries.insert(entry, at: 0)
        byteCount += template.byteCount
        return entry
    }
}
