internal import Hummingbird
internal import LecternClient
internal import NATSClient
internal import NIOCore
internal import StrokeWire

/// `GET /api/rooms/ROOM/board.png`, `.svg`, `.pdf`, `.inkml`, `.json`: a board as released to a cohort, now or at an earlier
/// position; and `GET /api/rooms/ROOM/replay`: the board at a time of the recorded video, and what follows.
///
/// Each request for a picture first asks the service for the tag of the picture, which draws nothing: it is enough for a 304, and for a
/// picture that is cached here.
struct BoardRoutes {
    let rooms: RoomService
    let cache: PictureCache
    private let replies: ReplyMemory

    init(rooms: RoomService, replies: ReplyMemory, limits: GatewayLimits) {
        self.rooms = rooms
        self.replies = replies
        cache = PictureCache(
            drawings: limits.drawings, feedDrawings: max(1, limits.drawings / 2), byteLimit: limits.pictureBytes)
    }

    func add(to router: Router<GatewayContext>) {
        for format in PictureFormat.allCases {
            router.get("api/rooms/:room/board.\(format.rawValue)") { request, context in
                try await picture(
                    of: context.room(), BoardQuery(request), format, request.headers, on: context.channel.eventLoop)
            }
        }
        router.get("api/rooms/:room/board.json") { request, context in
            try await board(of: context.room(), BoardQuery(request), request.headers, on: context.channel.eventLoop)
        }
        router.get("api/rooms/:room/replay") { request, context in
            let room = try context.room()
            let reply = try await rooms.replay(of: room, request.feed(), ReplayRequest(query: request))
            return try replies.response(
                [
                    .contentType: "application/json", .cacheControl: "private, no-cache",
                    .xContentTypeOptions: "nosniff",
                ],
                ByteBuffer(bytes: reply), of: room, on: context.channel.eventLoop)
        }
        // Where pictures were before.
        router.get("rooms/:room/board.png") { request, context in
            let query = request.uri.query.map { "?\($0)" } ?? ""
            let path = "\(request.pathToRoot)api/rooms/\(try context.room())/board.png\(query)"
            return Response(status: .permanentRedirect, headers: [.location: path])
        }
    }

    private func picture(
        of room: RoomID, _ query: BoardQuery, _ format: PictureFormat, _ headers: HTTPFields, on loop: any EventLoop
    ) async throws(GatewayError) -> Response {
        var request = query.image(format)
        request.unless = "*"
        let current = Picture(try await rooms.picture(of: room, query.feed, request), format)
        guard let current else { throw .badGateway("The service's answer is no picture.") }
        if !current.isIncomplete, let notModified = query.notModified(current.tag, headers) { return notModified }
        // A service of an older release knows no tags: it has sent the picture.
        guard current.bytes.readableBytes == 0 else {
            return try response(to: current, of: room, format, query, on: loop)
        }
        request.unless = nil
        let wanted = request
        let key = PictureCache.Key(room: room, tag: current.tag)
        let picture = try await cache.picture(key, of: query.feed, isNewest: query.isNewest) {
            () async throws(GatewayError) in
            let reply = try await rooms.picture(of: room, query.feed, wanted)
            guard let picture = Picture(reply, format), picture.bytes.readableBytes > 0 else {
                throw .badGateway("The service's answer is no picture.")
            }
            return picture
        }
        // Only the picture tells which of its images are there.
        if current.isIncomplete,
            let notModified = query.notModified(picture.tag, headers, isIncomplete: picture.isIncomplete)
        {
            return notModified
        }
        return try response(to: picture, of: room, format, query, on: loop)
    }

    private func response(
        to picture: Picture, of room: RoomID, _ format: PictureFormat, _ query: BoardQuery, on loop: any EventLoop
    ) throws(GatewayError) -> Response {
        try replies.response(query.headers(of: picture, format), picture.bytes, of: room, on: loop)
    }

    private func board(
        of room: RoomID, _ query: BoardQuery, _ headers: HTTPFields, on loop: any EventLoop
    ) async throws(GatewayError) -> Response {
        let reply = try await rooms.board(of: room, query.feed, query.join)
        let tag = EntityTag(of: reply)
        if let notModified = query.notModified(tag, headers) { return notModified }
        var headers = query.headers(tag)
        headers[.contentType] = "application/json"
        headers[.xContentTypeOptions] = "nosniff"
        return try replies.response(headers, ByteBuffer(bytes: reply), of: room, on: loop)
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

/// The query of a request for a board.
struct BoardQuery: Sendable {
    let feed: RoomFeed
    private let width: Int?
    private let part: BoardPart?
    private let page: Int?
    private let background: PictureBackground
    private let hasPaper: Bool
    /// The incarnation and the position that are asked for; nil for the newest.
    private let position: (incarnation: String, index: UInt64)?

    init(_ request: Request) throws(GatewayError) {
        let query = request.uri.queryParameters
        feed = try request.feed()
        width = try request.number("width", 1...4096)
        let (x, y) = (try request.number("x", BoardPart.places), try request.number("y", BoardPart.places))
        let (w, h) = (try request.number("w", BoardPart.lengths), try request.number("h", BoardPart.lengths))
        switch (x, y, w, h) {
        case (nil, nil, nil, nil): part = nil
        case (let x?, let y?, let w?, let h?): part = BoardPart(x: x, y: y, width: w, height: h)
        default: throw .badRequest("x, y, w and h, a part of the board, go together.")
        }
        page = try request.number("page", 0...999)
        switch query["background"] {
        case nil: background = .white
        case let text?:
            guard let known = PictureBackground(rawValue: String(text)) else {
                throw .badRequest("background is white or transparent.")
            }
            background = known
        }
        hasPaper = try request.number("paper", 0...1) != 0
        switch (query["room"], try request.number("index", 0...UInt64(Int64.max - 1))) {
        case (nil, nil): position = nil
        case (let incarnation?, let index?):
            guard incarnation.utf8.count <= 256 else { throw .badRequest("room is at most 256 bytes long.") }
            position = (String(incarnation), index)
        default:
            throw .badRequest("room, an incarnation, and index go together.")
        }
    }

    func image(_ format: PictureFormat) -> ImageRequest {
        ImageRequest(
            width: width, part: part, format: format, background: background, page: page,
            hasPaper: hasPaper, incarnation: position?.incarnation, index: position?.index)
    }

    /// Whether the newest position is asked for, whatever it will be.
    var isNewest: Bool { position == nil }

    var join: JoinRequest { JoinRequest(incarnation: position?.incarnation, index: position?.index) }

    /// The headers of a board, which only its reader may store: for a year where its position was named and nothing of it
    /// is missing, else to be asked for again each time.
    func headers(_ tag: EntityTag, isIncomplete: Bool = false) -> HTTPFields {
        let isForEver = position != nil && !isIncomplete
        let caching = isForEver ? "private, max-age=31536000, immutable" : "private, no-cache"
        return [.eTag: tag.text, .cacheControl: caching]
    }

    /// The answer to a client that has the board already; nil where it has not.
    func notModified(_ tag: EntityTag, _ headers: HTTPFields, isIncomplete: Bool = false) -> Response? {
        guard let known = headers[.ifNoneMatch], tag.matches(known) else { return nil }
        return Response(status: .notModified, headers: self.headers(tag, isIncomplete: isIncomplete))
    }

    func headers(of picture: Picture, _ format: PictureFormat) -> HTTPFields {
        var headers = headers(picture.tag, isIncomplete: picture.isIncomplete)
        let incomplete = picture.isIncomplete ? "1" : nil
        for (name, value) in [
            (HeaderName.room, picture.incarnation), (HeaderName.index, picture.index),
            (HeaderName.incomplete, incomplete),
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

extension ReplayRequest {
    /// The query of a request for a part of a recorded lesson.
    fileprivate init(query request: Request) throws(GatewayError) {
        let incarnation = request.uri.queryParameters["room"].map(String.init)
        guard incarnation?.utf8.count ?? 0 <= 256 else { throw .badRequest("room is at most 256 bytes long.") }
        self.init(
            from: try request.mediaTime("from"), to: try request.mediaTime("to"),
            epoch: try request.number("ep", 0...Int64(1 << 53 - 1)),
            after: try request.number("after", 0...UInt64(Int64.max - 1)), incarnation: incarnation,
            limit: try request.number("limit", 1...Self.mostOperations) ?? Self.mostOperations)
    }
}

extension Request {
    /// A number of the query, written in digits alone.
    func number<Value: FixedWidthInteger>(
        _ name: String, _ range: ClosedRange<Value>
    ) throws(GatewayError) -> Value? {
        guard let text = uri.queryParameters[Substring(name)] else { return nil }
        guard text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let value = Value(text),
            range ~= value
        else {
            throw .badRequest("\(name) is a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return value
    }

    /// Milliseconds of the query, with or without a fraction.
    fileprivate func mediaTime(_ name: String) throws(GatewayError) -> MediaTime? {
        guard let text = uri.queryParameters[Substring(name)] else { return nil }
        guard let number = Double(text), let time = MediaTime(milliseconds: number) else {
            throw .badRequest("\(name) is a number of milliseconds.")
        }
        return time
    }
}

/// A picture as the service sent it, or only its headers.
struct Picture: Sendable {
    let bytes: ByteBuffer
    let tag: EntityTag
    let incarnation: String?
    let index: String?
    /// Whether an image is missing, or may be.
    let isIncomplete: Bool

    /// - Returns: nil for a reply that is no picture of that format.
    init?(_ reply: NATSReply, _ format: PictureFormat) {
        let signature: [UInt8] =
            switch format {
            case .png: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
            case .svg: Array("<svg".utf8)
            case .pdf: Array("%PDF-".utf8)
            case .inkml: Array("<?xml".utf8)
            }
        let tag = reply.header(HeaderName.tag)
        guard reply.payload.starts(with: signature) || (reply.payload.isEmpty && tag != nil) else { return nil }
        if let tag {
            guard let tag = EntityTag(opaque: tag) else { return nil }
            self.tag = tag
        } else {
            self.tag = EntityTag(of: reply.payload)
        }
        bytes = ByteBuffer(bytes: reply.payload)
        incarnation = reply.header(HeaderName.room)
        index = reply.header(HeaderName.index)
        isIncomplete = reply.header(HeaderName.incomplete) == "1"
    }
}

/// Pictures by their tags, and those that are being drawn: requests for one picture share one drawing.
///
/// Bounded in bytes, in number and in drawings under way; a request for one more drawing is refused as `not-ready`.
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
    }

    typealias Outcome = Result<Picture, GatewayError>

    /// Pictures at most.
    static let countLimit = 1024

    private let drawings: Int
    private let feedDrawings: Int
    private let byteLimit: Int
    private var pictures: [Key: (picture: Picture, lastUse: UInt64)] = [:]
    private var uses: UInt64 = 0
    private(set) var byteCount = 0
    private var pending: [Drawing: Task<Outcome, Never>] = [:]
    /// How often all pictures were dropped.
    private var generation: UInt64 = 0

    /// - Parameters:
    ///   - drawings: under way at most.
    ///   - feedDrawings: of them, those of one feed of a room.
    ///   - byteLimit: bytes of pictures at most. One of more than an eighth of it is not kept.
    init(drawings: Int, feedDrawings: Int, byteLimit: Int) {
        self.drawings = drawings
        self.feedDrawings = feedDrawings
        self.byteLimit = byteLimit
    }

    /// The cached picture, or one drawn for all who ask for it of the same feed meanwhile: of this tag, or a newer one
    /// of the feed where the newest is asked for.
    func picture(
        _ key: Key, of feed: RoomFeed, isNewest: Bool,
        _ draw: @escaping @Sendable () async throws(GatewayError) -> Picture
    ) async throws(GatewayError) -> Picture {
        if let picture = pictures[key]?.picture {
            uses += 1
            pictures[key]?.lastUse = uses
            return picture
        }
        let wanted = Drawing(key: key, feed: feed, isNewest: isNewest)
        if let drawing = pending[wanted] { return try await drawing.value.get() }
        let own = pending.keys.count { $0.key.room == key.room && $0.feed == feed }
        guard pending.count < drawings, own < feedDrawings else {
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
        pictures = [:]
        byteCount = 0
    }

    private func keep(_ picture: Picture, of room: RoomID) {
        let key = Key(room: room, tag: picture.tag)
        let size = picture.bytes.readableBytes
        guard size <= byteLimit / 8, !picture.isIncomplete, pictures[key] == nil else { return }
        while byteCount + size > byteLimit || pictures.count >= Self.countLimit,
            let oldest = pictures.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            pictures[oldest.key] = nil
            byteCount -= oldest.value.picture.bytes.readableBytes
        }
        uses += 1
        pictures[key] = (picture, uses)
        byteCount += size
    }
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
}
