internal import Hummingbird
internal import LecternClient
internal import Locking
internal import NATSClient
internal import NIOCore
internal import StrokeWire

/// Answers requests for pictures that the service draws.
///
/// Each first asks the service for the tag of the picture, which draws nothing: who may see it is judged where the room is, and the tag
/// is enough for a 304, and for a picture that is cached here.
struct PictureReplies: Sendable {
    let cache: PictureCache
    private let replies: ReplyMemory

    init(_ cache: PictureCache, _ replies: ReplyMemory) {
        self.cache = cache
        self.replies = replies
    }

    /// - Parameters:
    ///   - isNewest: whether the newest position is asked for, whatever it will be: its reader must ask each time. Another one
    ///     of which nothing is missing may be stored for ever.
    ///   - ask: asks the service, for the tag alone where its argument is `*`.
    func response(
        to request: Request, _ context: GatewayContext, _ format: PictureFormat, of room: RoomID, _ feed: RoomFeed,
        isNewest: Bool, _ ask: @escaping @Sendable (_ unless: String?) async throws(GatewayError) -> NATSReply
    ) async throws(GatewayError) -> Response {
        func isForEver(_ picture: BoardImage) -> Bool { !isNewest && !picture.isIncomplete }
        var picture = try BoardImage(try await ask("*"), format)
        let isIncomplete = picture.isIncomplete
        if !isIncomplete, let answer = picture.tag.notModified(request, isForEver: isForEver(picture)) {
            return answer
        }
        // A service of an older release knows no tags: it has sent the picture.
        if picture.bytes.readableBytes == 0 {
            let key = PictureCache.Key(room: room, tag: picture.tag)
            picture = try await cache.picture(
                key, of: feed, isNewest: isNewest, isDocument: format.isDocument
            ) { () async throws(GatewayError) in
                let drawn = try BoardImage(try await ask(nil), format)
                guard drawn.bytes.readableBytes > 0 else {
                    throw .badGateway("The service's answer is no picture.")
                }
                return drawn
            }
            // Only the picture tells which of its images are there.
            if isIncomplete, let answer = picture.tag.notModified(request, isForEver: isForEver(picture)) {
                return answer
            }
        }
        return try replies.response(
            picture.headers(isForEver: isForEver(picture)), picture.bytes, of: room, on: context.channel.eventLoop)
    }
}

/// A picture as the service sent it, or only its headers.
struct BoardImage: Sendable {
    let bytes: ByteBuffer
    let tag: EntityTag
    /// Whether an image is missing, or may be.
    let isIncomplete: Bool
    private let format: PictureFormat
    private let incarnation: String?
    private let index: String?

    /// - Throws: `bad-gateway` for a reply that is no picture of that format.
    init(_ reply: NATSReply, _ format: PictureFormat) throws(GatewayError) {
        let signature: [UInt8] =
            switch format {
            case .png: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
            case .svg: Array("<svg".utf8)
            case .pdf: Array("%PDF-".utf8)
            case .inkml: Array("<?xml".utf8)
            }
        let given = reply.header(HeaderName.tag)
        guard let tag = given.map({ EntityTag(opaque: $0) }) ?? EntityTag(of: reply.payload),
            reply.payload.starts(with: signature) || (reply.payload.isEmpty && given != nil)
        else { throw .badGateway("The service's answer is no picture.") }
        self.tag = tag
        self.format = format
        bytes = ByteBuffer(bytes: reply.payload)
        incarnation = reply.header(HeaderName.room)
        index = reply.header(HeaderName.index)
        isIncomplete = reply.header(HeaderName.incomplete) == "1"
    }

    func headers(isForEver: Bool) -> HTTPFields {
        var headers = tag.headers(isForEver: isForEver)
        for (name, value) in [
            (HeaderName.room, incarnation), (HeaderName.index, index),
            (HeaderName.incomplete, isIncomplete ? "1" : nil),
        ] {
            if let value, let name = HTTPFields.Element.Name(name) { headers[name] = value }
        }
        switch format {
        case .png: headers[.contentType] = "image/png"
        case .svg:
            headers[.contentType] = "image/svg+xml"
            // Opened as a page it is still a picture alone, with the images that it holds.
            headers[.contentSecurityPolicy] = "default-src 'none'; img-src data:; sandbox"
        case .pdf: headers[.contentType] = "application/pdf"
        case .inkml: headers[.contentType] = "application/inkml+xml"
        }
        headers[.xContentTypeOptions] = "nosniff"
        return headers
    }
}

/// Pictures by their tags, and those that are being drawn: requests for one picture share one drawing.
///
/// Bounded in bytes and in drawings under way; a request for one more drawing is refused as `not-ready`.
actor PictureCache {
    struct Key: Hashable, Sendable {
        let room: RoomID
        let tag: EntityTag
    }

    /// What a drawing is for. One for the head's feed may come out newer than its tag said, and must not reach a cohort
    /// that was at that tag; nor may one of the newest position stand for a named one.
    private struct Drawing: Hashable {
        let key: Key
        let feed: RoomFeed
        let isNewest: Bool
        let isDocument: Bool
    }

    typealias Outcome = Result<BoardImage, GatewayError>

    /// What a picture counts for besides its bytes.
    private static let entryBytes = 512

    private let drawings: Int
    private let feedDrawings: Int
    private var pictures: LRUCache<Key, BoardImage>
    private var pending: [Drawing: Task<Outcome, Never>] = [:]
    /// How often all pictures were dropped.
    private var generation: UInt64 = 0

    /// - Parameters:
    ///   - drawings: under way at most, and as many of documents, which take longer.
    ///   - feedDrawings: of either, those of one feed of a room.
    ///   - byteLimit: bytes of pictures at most. One of more than an eighth of it is not kept.
    init(drawings: Int, feedDrawings: Int, byteLimit: Int) {
        self.drawings = drawings
        self.feedDrawings = feedDrawings
        pictures = LRUCache(byteLimit: byteLimit)
    }

    var count: Int { pictures.count }

    /// The cached picture, or one drawn for all who ask for it of the same feed meanwhile: of this tag, or a newer one
    /// of the feed where the newest is asked for.
    func picture(
        _ key: Key, of feed: RoomFeed, isNewest: Bool, isDocument: Bool = false,
        _ draw: @escaping @Sendable () async throws(GatewayError) -> BoardImage
    ) async throws(GatewayError) -> BoardImage {
        if let picture = pictures.value(key) { return picture }
        let wanted = Drawing(key: key, feed: feed, isNewest: isNewest, isDocument: isDocument)
        if let drawing = pending[wanted] { return try await drawing.value.get() }
        let alike = pending.keys.filter { $0.isDocument == isDocument }
        let own = alike.count { $0.key.room == key.room && $0.feed == feed }
        guard alike.count < drawings, own < feedDrawings else {
            throw .notReady("The gateway waits for other pictures; ask again in a second.")
        }
        let begun = generation
        // Goes on when the client that asked first has gone: others may wait for it.
        let drawing = Task { () async -> Outcome in
            defer { pending[wanted] = nil }
            do throws(GatewayError) {
                let picture = try await draw()
                // It may show a room that has been erased since.
                if begun == generation { keep(picture, of: key.room) }
                return .success(picture)
            } catch {
                return .failure(error)
            }
        }
        pending[wanted] = drawing
        return try await drawing.value.get()
    }

    /// Drops all pictures; those that are being drawn are not kept.
    func removeAll() {
        generation += 1
        pictures.removeAll { _ in true }
    }

    private func keep(_ picture: BoardImage, of room: RoomID) {
        let key = Key(room: room, tag: picture.tag)
        let size = picture.bytes.readableBytes
        guard size <= pictures.byteLimit / 8, !picture.isIncomplete, pictures.value(key) == nil else { return }
        pictures.insert(picture, key, bytes: size + Self.entryBytes)
    }
}

/// Sends boards and pictures, whose memory is bounded in all, and by half of it, or one of them, for each room. Safe from any task.
struct ReplyMemory: Sendable {
    private let shares: RoomShares

    /// - Parameter bytes: of all that are being sent.
    init(_ bytes: Int) {
        shares = RoomShares(bytes)
    }

    /// Takes memory for as long as the lease lives.
    func lease(_ bytes: Int, for room: RoomID) throws(GatewayError) -> RoomShares.Lease {
        if let lease = shares.lease(bytes, for: room) { return lease }
        throw .notReady("The gateway is sending as many boards as it can hold; ask again in a second.")
    }

    /// Sends bytes as the client takes them. Their memory counts until all but the last pieces are sent, or the connection
    /// is closed.
    ///
    /// - Parameter loop: the event loop of the connection. A write is only queued there, and waits for the client once
    ///   the loop has taken it: without a turn of the loop between them all pieces would be written at once.
    func response(
        _ headers: HTTPFields, _ bytes: ByteBuffer, of room: RoomID, on loop: any EventLoop
    ) throws(GatewayError) -> Response {
        let lease = try lease(bytes.readableBytes, for: room)
        let body = ResponseBody(contentLength: bytes.readableBytes) { writer in
            var rest = bytes.readableBytesView
            while !rest.isEmpty {
                // A slice would keep all of the bytes for as long as the last piece waits for the socket.
                try await writer.write(ByteBuffer(bytes: rest.prefix(Self.piece)))
                rest = rest.dropFirst(Self.piece)
                try await loop.submit {}.get()
            }
            withExtendedLifetime(lease) {}
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: headers, body: body)
    }

    /// Bytes that are given to a connection at a time.
    private static let piece = 64 << 10
}

/// The entity tag of a body (RFC 9110, 8.8.3): two bodies with one tag are the same.
struct EntityTag: Hashable {
    /// The header's value, with its quotation marks.
    let text: String

    /// The tag of a body: its length and its 64-bit FNV-1a hash.
    init(of body: [UInt8]) {
        text = "\"\(String(body.count, radix: 16))-\(String(FNV1a64.hash(body), radix: 16))\""
    }

    /// The tag that the service gives a picture.
    /// - Returns: nil for a text that cannot stand between quotation marks.
    init?(opaque tag: String) {
        guard !tag.isEmpty,
            tag.utf8.allSatisfy({ 0x21...0x7e ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: ",") })
        else { return nil }
        text = "\"\(tag)\""
    }

    /// Whether an If-None-Match header has this tag or `*`. Weak tags are compared like strong ones (RFC 9110, 13.1.2).
    func matches(_ header: String) -> Bool {
        header.split(separator: ",").contains { candidate in
            var candidate = candidate.drop { $0 == " " || $0 == "\t" }
            while let last = candidate.last, last == " " || last == "\t" { candidate.removeLast() }
            return candidate == "*" || candidate == text || candidate == "W/" + text
        }
    }

    /// The headers of the body, which only its reader may store: for a year, or to be asked for again each time.
    func headers(isForEver: Bool) -> HTTPFields {
        [.eTag: text, .cacheControl: isForEver ? "private, max-age=31536000, immutable" : "private, no-cache"]
    }

    /// The answer to a client that has the body already; nil where it has not.
    func notModified(_ request: Request, isForEver: Bool) -> Response? {
        guard let known = request.headers[.ifNoneMatch], matches(known) else { return nil }
        return Response(status: .notModified, headers: headers(isForEver: isForEver))
    }
}
