public import StrokeWire

/// A drawn stroke: its place in a page of memory that all boards, logs and canvases with the stroke share. Immutable.
public struct Stroke: Sendable {
    let page: StrokePage
    private let place: UInt8

    init(_ page: StrokePage, _ number: Int) {
        self.page = page
        place = UInt8(number)
    }

    /// Its number in the page.
    var number: Int { Int(place) }
    private var fields: StrokeFields { page.fields(of: number) }

    /// The operation's place in the room's log, from 1.
    public var index: UInt64 { page.firstIndex + fields.indexOffset }
    public var author: AuthorID { page.origins[fields.origin].author }
    /// Number of points.
    public var pointCount: Int { fields.pointCount }
    /// Whether the stroke came after it had been given up.
    public var isLate: Bool { fields.isLate }
    /// Bytes that it takes in its page.
    var byteCount: Int { StrokePage.byteCount(fields) }
    /// The size of the compact message.
    var messageByteCount: Int { fields.messageByteCount }

    /// The compact message. A copy: keep it no longer than necessary.
    public var message: PackedMessage {
        let fields = fields
        return PackedMessage(
            template: page.origins[fields.origin].template, ownBytes: page.packedMessage(of: number),
            messageByteCount: fields.messageByteCount)
    }

    /// The greatest size of a stroke's message in bytes.
    static let maximumBytes = Int(UInt32.max)

    /// Its ``BoardWeight``.
    var weight: Int {
        let fields = fields
        return BoardWeight.weight(messageBytes: fields.messageByteCount, points: fields.pointCount)
    }

    /// The fields and the points of its message, unpacked and decoded. For drawing, not for the way to students.
    public func decoded() -> (header: StrokeMessage, points: [StrokePoint])? {
        let bytes = message.bytes
        // It was within the room's limits when it came.
        let limits = WireLimits(messageBytes: .max, points: .max, colours: .rgb)
        var points: [StrokePoint] = []
        guard let header = try? StrokeMessage(decoding: bytes, limits: limits, points: &points) else { return nil }
        return (header, points)
    }
}
