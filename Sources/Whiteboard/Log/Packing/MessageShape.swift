/// What messages of one client have in common: everything but their numbers.
final class MessageShape: Sendable {
    /// Literal text with gaps for numbers: one number stands between each two pieces.
    struct Text: Hashable, Sendable {
        var pieces: [[UInt8]] = [[]]

        var numberCount: Int { pieces.count - 1 }

        mutating func append(_ byte: UInt8) { pieces[pieces.count - 1].append(byte) }
        mutating func appendNumber() { pieces.append([]) }
    }

    struct Key: Hashable, Sendable {
        /// Everything before the first point.
        var before: Text
        /// One point.
        var point: Text
        /// What stands between two points.
        var separator: [UInt8]
        /// Everything after the last point.
        var after: Text
    }

    let key: Key

    init(_ key: Key) {
        self.key = key
    }
}

/// The shapes that the messages of a room share.
///
/// Bounded: a room whose authors use more shapes, for they put texts of their own into their messages, keeps the
/// messages beyond as they came.
struct ShapeTable: Sendable {
    static let bound = 64

    private var shapes: [MessageShape.Key: MessageShape] = [:]
    /// Scratch memory for the numbers of a message's points, kept from message to message.
    var numbers: [DecimalText] = []

    mutating func shape(_ key: MessageShape.Key) -> MessageShape? {
        if let known = shapes[key] { return known }
        guard shapes.count < Self.bound else { return nil }
        let shape = MessageShape(key)
        shapes[key] = shape
        return shape
    }
}
