internal import LecternClient
internal import Locking
internal import NIOCore
internal import StrokeWire
internal import Synchronization

/// A server-sent event as it goes out: encoded once, as a chunk of an HTTP/1.1 body, and shared by all readers.
struct StreamEvent: Sendable {
    enum Kind: Sendable, Equatable {
        /// The board after the operation with this index, or the operations up to it: what a reader starts with.
        case start(through: UInt64)
        case operation(UInt64)
        /// Points of a stroke being drawn: a reader who is slow does without.
        case wet
        /// A mark, or a comment.
        case other
    }

    let kind: Kind
    private let form: EventForms
    /// The memory that a start occupies, also compressed; returned when its last reader has been sent it.
    let lease: RoomShares.Lease?

    private init(
        _ kind: Kind, _ text: consuming EventText, compressed: EventText? = nil, lease: RoomShares.Lease? = nil
    ) {
        self.kind = kind
        self.lease = lease
        form = EventForms(text.finish(), compressed: compressed?.finish())
    }

    /// The size in bytes, not compressed.
    var size: Int { form.plain.readableBytes }

    /// - Parameters:
    ///   - isCompressed: whether as a piece of a gzip stream. It is made when it is first asked for.
    ///   - isChunked: whether as a chunk, with its length and its line ends.
    func bytes(isCompressed: Bool, isChunked: Bool) -> ByteBuffer {
        let chunk = isCompressed ? form.compressed : form.plain
        return isChunked ? chunk : ByteBuffer(EventText.content(of: chunk))
    }

    /// Compresses a large event before an event loop has to. Its memory is known then, and its lease shrinks to that.
    func compress() {
        let compressed = form.compressed
        lease?.shrink(to: size + compressed.readableBytes)
    }

    /// Bytes that are still to be compressed when somebody wants that.
    var uncompressedSize: Int { form.isCompressed ? 0 : size }
}

/// An event as a chunk, and compressed when somebody wants that. Safe from any thread.
private final class EventForms: Sendable {
    let plain: ByteBuffer
    private let lazily: Locked<ByteBuffer?>

    init(_ plain: ByteBuffer, compressed: ByteBuffer?) {
        self.plain = plain
        lazily = Locked(compressed)
    }

    var isCompressed: Bool { lazily.withLock { $0 != nil } }

    var compressed: ByteBuffer {
        lazily.withLock { made in
            if let made { return made }
            let chunk = EventText(Deflater.piece(of: EventText.content(of: plain))).finish()
            made = chunk
            return chunk
        }
    }
}

extension StreamEvent {
    /// `event: board`: the join reply as the service wrote it.
    /// - Parameters:
    ///   - mark: follows it, so that a reader need not wait for the room's next mark; nil for none.
    ///   - lease: of twice its size.
    static func board(
        _ reply: [UInt8], _ position: FeedPosition, _ mark: Mark?, lease: RoomShares.Lease
    ) -> StreamEvent {
        var chunk = EventText(capacity: reply.count + 256)
        chunk.append("event: board\nid: \(position.room):\(position.index)\ndata: ")
        chunk.append(line: reply)
        chunk.append("\n\n")
        if let mark { chunk.append(mark) }
        return StreamEvent(.start(through: position.index), chunk, lease: lease)
    }

    /// `event: op`: a released operation.
    static func operation(
        _ operation: ReleasedOperation, _ digest: BoardDigest, room: String
    ) -> StreamEvent {
        var chunk = EventText(capacity: operation.bytes.count + 384)
        chunk.append(operation, digest, room: room)
        return StreamEvent(.operation(operation.index), chunk)
    }

    /// Several operations as one start.
    static func operations(
        _ operations: [(ReleasedOperation, BoardDigest)], through index: UInt64, room: String, lease: RoomShares.Lease
    ) -> StreamEvent {
        let size = operations.reduce(0) { $0 + $1.0.bytes.count + 384 }
        var chunk = EventText(capacity: size)
        for (operation, digest) in operations { chunk.append(operation, digest, room: room) }
        return StreamEvent(.start(through: index), chunk, lease: lease)
    }

    /// `event: mark`: the position of the cohort.
    static func mark(_ mark: Mark) -> StreamEvent {
        var chunk = EventText(capacity: 256)
        chunk.append(mark)
        return StreamEvent(.other, chunk)
    }

    /// `event: wet`: points of a stroke being drawn.
    /// - Parameter release: the message as the service wrote it.
    static func wet(_ release: [UInt8]) -> StreamEvent {
        var chunk = EventText(capacity: release.count + 32)
        chunk.append("event: wet\ndata: ")
        chunk.append(line: release)
        chunk.append("\n\n")
        return StreamEvent(.wet, chunk)
    }

    /// A comment, which keeps proxies from closing a silent connection and shows a dead one.
    static let comment: StreamEvent = {
        var chunk = EventText(capacity: 16)
        chunk.append(":\n\n")
        return StreamEvent(.other, chunk)
    }()

    /// What a stream begins with: when to try again after it breaks, in milliseconds.
    static let prelude: StreamEvent = {
        let text = ByteBuffer(string: "retry: 1000\n\n")
        var stream = ByteBuffer(bytes: Deflater.header)
        stream.writeImmutableBuffer(Deflater.piece(of: text.readableBytesView))
        return StreamEvent(.other, EventText(text), compressed: EventText(stream))
    }()
}

/// Where a feed, or a reader of it, stands.
struct FeedPosition: Sendable, Equatable {
    /// Incarnation of the room; empty while nobody has written to it.
    var room: String
    /// Index of the last operation.
    var index: UInt64
}

extension FeedPosition {
    /// Reads an event's id, `INCARNATION:INDEX`.
    /// - Returns: nil for another text, for an index that no operation can have, and for a room without operations.
    init?(eventID text: String) {
        guard text.utf8.count <= 300, let colon = text.lastIndex(of: ":"), colon > text.startIndex,
            let index = UInt64(digits: text[text.index(after: colon)...]), index < Int64.max
        else { return nil }
        self.init(room: String(text[..<colon]), index: index)
    }
}

/// The bytes of an event, to become a chunk of an HTTP/1.1 body, whose length is not known before its end.
private struct EventText {
    /// Hexadecimal digits of a length; leading zeros are allowed (RFC 9112, 7.1).
    private static let digits = 8
    private static let head = digits + 2

    private var buffer: ByteBuffer

    init(capacity: Int) {
        buffer = ByteBufferAllocator().buffer(capacity: capacity + Self.head + 2)
        buffer.writeRepeatingByte(UInt8(ascii: "0"), count: Self.digits)
        buffer.writeStaticString("\r\n")
    }

    mutating func append(_ text: String) {
        buffer.writeString(text)
    }

    /// JSON, on one line: line breaks in it stand between tokens only, and a line break ends a field of an event.
    mutating func append(line json: some Collection<UInt8>) {
        let start = buffer.readableBytes
        buffer.writeBytes(json)
        buffer.withUnsafeMutableReadableBytes { bytes in
            for place in start..<bytes.count where bytes[place] == 10 || bytes[place] == 13 {
                bytes[place] = UInt8(ascii: " ")
            }
        }
    }

    mutating func append(_ operation: ReleasedOperation, _ digest: BoardDigest, room: String) {
        append(
            """
            event: op
            id: \(room):\(operation.index)
            data: {"index":\(operation.index),"author":"\(operation.author.text)","page":\(operation.page)
            """)
        if let reference = operation.reference { append(",\"ref\":\(reference)") }
        if operation.isLate { append(",\"late\":true") }
        append(",\"digest\":\"\(digest)\",\"message\":")
        append(line: operation.bytes)
        append("}\n\n")
    }

    mutating func append(_ mark: Mark) {
        append("event: mark\ndata: ")
        append(line: mark.encoded())
        append("\n\n")
    }

    init(_ bytes: ByteBuffer) {
        self.init(capacity: bytes.readableBytes)
        buffer.writeImmutableBuffer(bytes)
    }

    /// The chunk, with its length and its line ends.
    consuming func finish() -> ByteBuffer {
        let length = String(buffer.readableBytes - Self.head, radix: 16)
        buffer.setString(length, at: Self.digits - length.utf8.count)
        buffer.writeStaticString("\r\n")
        return buffer
    }

    static func content(of chunk: ByteBuffer) -> ByteBufferView {
        chunk.readableBytesView.dropFirst(head).dropLast(2)
    }
}

/// A number of bytes that many share. Safe from any thread.
final class ByteBudget: Sendable {
    private let limit: Int
    private let taken = Atomic<Int>(0)

    init(_ limit: Int) {
        self.limit = limit
    }

    /// Takes bytes until ``give(_:)``.
    /// - Returns: false when not so many are left; then none are taken.
    func take(_ size: Int) -> Bool {
        guard taken.add(size, ordering: .relaxed).newValue <= limit else {
            give(size)
            return false
        }
        return true
    }

    func give(_ size: Int) {
        taken.subtract(size, ordering: .relaxed)
    }
}
