public import StrokeWire

/// A drawn stroke: one reference to memory that all boards, logs and canvases with the stroke share.
///
/// One piece of memory holds the fields and then the packed message, for a board has very many strokes: about 50 bytes
/// for each besides the message. Immutable; unchecked `Sendable` because a `ManagedBuffer` could be written to, which
/// nobody does after `init`.
public struct Stroke: @unchecked Sendable {
    private let storage: StrokeStorage

    /// - Parameter message: at most ``maximumBytes``; copied.
    init(
        index: UInt64, author: AuthorID, isLate: Bool, pointCount: Int, message: PackedMessage,
        origins: inout StrokeOrigins
    ) {
        storage = StrokeStorage.make(
            StrokeFields(
                index: index, origin: origins.origin(author, message.template),
                byteCount: UInt32(message.ownBytes.count), messageByteCount: UInt32(message.messageByteCount),
                pointCount: UInt32(clamping: pointCount), isLate: isLate),
            message.ownBytes)
    }

    /// The operation's place in the room's log, from 1.
    public var index: UInt64 { storage.header.index }
    public var author: AuthorID { storage.header.origin.author }
    /// Number of points.
    public var pointCount: Int { Int(storage.header.pointCount) }
    /// Whether the stroke came after it had been given up.
    public var isLate: Bool { storage.header.isLate }
    /// Bytes that its message takes in memory.
    var byteCount: Int { Int(storage.header.byteCount) }

    /// The compact message. A copy: keep it no longer than necessary.
    public var message: PackedMessage {
        let fields = storage.header
        return PackedMessage(
            template: fields.origin.template, ownBytes: storage.bytes, messageByteCount: Int(fields.messageByteCount))
    }

    /// The greatest size of a stroke's message in bytes.
    static let maximumBytes = Int(UInt32.max)

    /// Its ``BoardWeight``.
    var weight: Int {
        BoardWeight.weight(messageBytes: Int(storage.header.messageByteCount), points: pointCount)
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

/// The memory of a stroke: its fields, then its packed message.
private typealias StrokeStorage = ManagedBuffer<StrokeFields, UInt8>

/// In an order without padding. Sizes are in bytes, at most ``Stroke/maximumBytes``.
private struct StrokeFields: Sendable {
    let index: UInt64
    let origin: StrokeOrigin
    /// The size of the packed message.
    let byteCount: UInt32
    /// The size of the message itself.
    let messageByteCount: UInt32
    let pointCount: UInt32
    let isLate: Bool
}

extension ManagedBuffer where Header == StrokeFields, Element == UInt8 {
    /// - Precondition: `fields.byteCount == bytes.count`
    fileprivate static func make(_ fields: StrokeFields, _ bytes: [UInt8]) -> StrokeStorage {
        let storage = create(minimumCapacity: bytes.count) { _ in fields }
        storage.withUnsafeMutablePointerToElements { memory in
            bytes.withUnsafeBufferPointer { bytes in
                guard let start = bytes.baseAddress else { return }
                memory.initialize(from: start, count: bytes.count)
            }
        }
        return storage
    }

    /// A copy of the packed message.
    fileprivate var bytes: [UInt8] {
        withUnsafeMutablePointers { fields, memory in
            Array(UnsafeBufferPointer(start: memory, count: Int(fields.pointee.byteCount)))
        }
    }
}

/// The author and template that many strokes of a room have in common.
final class StrokeOrigin: Sendable {
    let author: AuthorID
    /// nil for messages that are not packed.
    let template: TemplateTable.Entry?

    init(author: AuthorID, template: TemplateTable.Entry?) {
        self.author = author
        self.template = template
    }
}

/// The origins of a room's strokes, one object for each.
///
/// Bounded in bytes: starts afresh where it is full. Strokes keep the origins that they have.
struct StrokeOrigins: Sendable {
    private struct Key: Hashable, Sendable {
        let author: AuthorID
        let template: ObjectIdentifier?
    }

    /// The greatest number of bytes of all origins and their templates.
    static let bound = 64 << 10
    /// Bytes of an origin, about.
    private static let overhead = 128

    private var known: [Key: StrokeOrigin] = [:]
    private var byteCount = 0
    /// The last one used, most likely the next stroke's.
    private var recent: StrokeOrigin?

    mutating func origin(_ author: AuthorID, _ template: TemplateTable.Entry?) -> StrokeOrigin {
        if let recent, recent.template === template, recent.author == author { return recent }
        let key = Key(author: author, template: template.map(ObjectIdentifier.init))
        if let origin = known[key] {
            recent = origin
            return origin
        }
        let size = Self.overhead + (template?.template.byteCount ?? 0)
        if byteCount + size > Self.bound { (known, byteCount) = ([:], 0) }
        byteCount += size
        let origin = StrokeOrigin(author: author, template: template)
        known[key] = origin
        recent = origin
        return origin
    }
}
