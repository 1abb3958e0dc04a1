/// What messages of one client have in common: everything but their numbers.
struct MessageShape: Hashable, Sendable {
    /// Literal text with gaps where numbers stand.
    struct Text: Hashable, Sendable {
        private(set) var literal: [UInt8]
        /// Offsets in the literal, in order; a number stands before each.
        private(set) var gaps: [Int]

        init(literal: [UInt8] = [], gaps: [Int] = []) {
            self.literal = literal
            self.gaps = gaps
        }

        mutating func append(_ byte: UInt8) { literal.append(byte) }
        mutating func appendNumber() { gaps.append(literal.count) }
    }

    /// Everything before the first point.
    var before = Text()
    /// One point.
    var point = Text()
    /// What stands between two points.
    var separator: [UInt8] = []
    /// Everything after the last point.
    var after = Text()
}

/// The shapes that the messages of a room share.
///
/// Bounded: a room whose authors use more shapes, for they put texts of their own into their messages, keeps the
/// messages beyond as they came.
struct ShapeTable: Sendable {
    /// A shape that many messages point to.
    final class Entry: Sendable {
        let shape: MessageShape
        init(_ shape: MessageShape) { self.shape = shape }
    }

    static let bound = 64

    private var entries: [MessageShape: Entry] = [:]
    /// The last one used: most likely the next one's, too.
    private(set) var recent: Entry?

    init() {}

    init(_ list: [Entry], recent: Entry?) {
        for entry in list { entries[entry.shape] = entry }
        self.recent = recent
    }

    mutating func entry(for shape: MessageShape) -> Entry? {
        if let known = entries[shape] {
            recent = known
            return known
        }
        guard entries.count < Self.bound else { return nil }
        let entry = Entry(shape)
        entries[shape] = entry
        recent = entry
        return entry
    }
}
