public import StrokeWire

/// A drawn stroke: its place in a block of memory that all boards, logs and canvases with the stroke share. Immutable.
public struct Stroke: Sendable {
    let block: StrokeBlock
    private let place: UInt8

    init(_ block: StrokeBlock, _ number: Int) {
        self.block = block
        place = UInt8(number)
    }

    /// Its number in the block.
    var number: Int { Int(place) }
    private var fields: StrokeFields { block.fields(of: number) }

    /// The operation's place in the room's log, from 1.
    public var index: UInt64 { block.firstIndex + fields.indexOffset }
    public var author: AuthorID { block.origins[fields.origin].author }
    /// Number of points.
    public var pointCount: Int { fields.pointCount }
    /// The page of the board that it is on, 0 … 999.
    public var page: Int { extras.page }
    /// Whether the stroke came after it had been given up.
    public var isLate: Bool { extras.isLate }
    public var kind: StrokeKind { extras.kind }
    var extras: StrokeExtras { fields.extras }
    /// Bytes that it takes in its block.
    var byteCount: Int { StrokeBlock.byteCount(fields) }
    /// The size of the compact message.
    var messageByteCount: Int { fields.messageByteCount }

    /// The compact message. A copy: keep it no longer than necessary.
    public var message: PackedMessage {
        let fields = fields
        return PackedMessage(
            template: block.origins[fields.origin].template, ownBytes: block.packedMessage(of: number),
            messageByteCount: fields.messageByteCount)
    }

    /// What a text says; nil of all else.
    public var text: String? {
        guard kind == .text else { return nil }
        return (try? StrokeMessage(decoding: message.bytes, limits: .accepted))?.text
    }

    /// The greatest size of a stroke's message in bytes.
    static let maximumBytes = Int(clamping: UInt32.max)

    var weight: Weight {
        let fields = fields
        let own = Weight.points(messageBytes: fields.messageByteCount, points: fields.pointCount)
        let kind = fields.extras.kind
        return Weight(
            points: own + fields.extras.copied, lassos: kind == .lasso ? 1 : 0, images: kind == .image ? 1 : 0,
            texts: kind == .text ? 1 : 0)
    }

    /// The fields and the points of its message, unpacked and decoded. For drawing, not for the way to students.
    public func decoded() -> (header: StrokeMessage, points: [StrokePoint])? {
        let bytes = message.bytes
        let limits = WireLimits.accepted
        var points: [StrokePoint] = []
        guard let header = try? StrokeMessage(decoding: bytes, limits: limits, points: &points) else { return nil }
        return (header, points)
    }
}
