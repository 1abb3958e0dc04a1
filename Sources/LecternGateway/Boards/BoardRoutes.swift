internal import Hummingbird
internal import LecternClient
internal import NATSClient
internal import NIOCore
internal import StrokeWire

/// `GET /api/rooms/ROOM/board.png`, `.svg`, `.pdf`, `.inkml`, `.json`: a board as released to a cohort, now or at an earlier
/// position. `GET /api/rooms/ROOM/replay`: the board at a time of the recorded video, and what follows.
/// `GET /api/rooms/ROOM/assets/ID?cohort=C&page=N&width=W`: a page of an asset as a picture, for those who may see it.
struct BoardRoutes {
    private let rooms: RoomService
    private let replies: ReplyMemory
    private let boards: PictureReplies
    private let assets: PictureReplies

    init(rooms: RoomService, replies: ReplyMemory, limits: GatewayLimits) {
        self.rooms = rooms
        self.replies = replies
        boards = PictureReplies(
            PictureCache(
                drawings: limits.drawings, feedDrawings: max(1, limits.drawings / 2), byteLimit: limits.pictureBytes),
            replies)
        assets = PictureReplies(
            PictureCache(
                drawings: limits.assetDrawings, feedDrawings: limits.drawings, byteLimit: limits.pictureBytes),
            replies)
    }

    var caches: [PictureCache] { [boards.cache, assets.cache] }

    func add(to router: Router<GatewayContext>) {
        for format in PictureFormat.allCases {
            router.get("api/rooms/:room/board.\(format.rawValue)") { request, context in
                let (room, query) = (try context.room(), try BoardQuery(request))
                return try await boards.response(
                    to: request, context, format, of: room, query.feed, isNewest: query.isNewest
                ) { unless throws(GatewayError) in
                    var image = query.image(format)
                    image.unless = unless
                    return try await rooms.picture(of: room, query.feed, image)
                }
            }
        }
        router.get("api/rooms/:room/assets/:asset") { request, context in
            let wanted = try AssetPageRequest(request, context)
            let (room, feed) = (try context.room(), try request.feed())
            // An asset never changes.
            return try await assets.response(to: request, context, .png, of: room, feed, isNewest: false) {
                unless throws(GatewayError) in
                var page = wanted
                page.unless = unless
                return try await rooms.picture(of: room, feed, page)
            }
        }
        router.get("api/rooms/:room/board.json") { request, context in
            let (room, query) = (try context.room(), try BoardQuery(request))
            let reply = try await rooms.board(of: room, query.feed, query.join)
            let tag = EntityTag(of: reply)
            return try tag.notModified(request, isForEver: !query.isNewest)
                ?? json(reply, tag.headers(isForEver: !query.isNewest), of: room, context)
        }
        router.get("api/rooms/:room/replay") { request, context in
            let room = try context.room()
            let reply = try await rooms.replay(of: room, request.feed(), ReplayRequest(query: request))
            return try json(reply, [.cacheControl: "private, no-cache"], of: room, context)
        }
        // Where pictures were before.
        router.get("rooms/:room/board.png") { request, context in
            let query = request.uri.query.map { "?\($0)" } ?? ""
            let path = "\(request.pathToRoot)api/rooms/\(try context.room())/board.png\(query)"
            return Response(status: .permanentRedirect, headers: [.location: path])
        }
    }

    /// The service's JSON, as it is.
    private func json(
        _ bytes: [UInt8], _ headers: HTTPFields, of room: RoomID, _ context: GatewayContext
    ) throws(GatewayError) -> Response {
        var headers = headers
        headers[.contentType] = "application/json"
        headers[.xContentTypeOptions] = "nosniff"
        return try replies.response(headers, ByteBuffer(bytes: bytes), of: room, on: context.channel.eventLoop)
    }
}

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
        feed = try request.feed()
        width = try request.number("width", 1...4096)
        let (x, y) = (try request.number("x", BoardPart.places), try request.number("y", BoardPart.places))
        let (w, h) = (try request.number("w", BoardPart.lengths), try request.number("h", BoardPart.lengths))
        switch (x, y, w, h) {
        case (nil, nil, nil, nil): part = nil
        case (let x?, let y?, let w?, let h?): part = BoardPart(x: x, y: y, width: w, height: h)
        default: throw .badRequest("Give x, y, w and h, a part of the board, together.")
        }
        page = try request.number("page", 0...999)
        guard let background = PictureBackground(rawValue: request.text("background") ?? "white") else {
            throw .badRequest("background is white or transparent.")
        }
        self.background = background
        hasPaper = try request.number("paper", 0...1) != 0
        switch (try request.incarnation(), try request.number("index", 0...UInt64(Int64.max - 1))) {
        case (nil, nil): position = nil
        case (let incarnation?, let index?): position = (incarnation, index)
        default:
            throw .badRequest("Give room, an incarnation, and index together.")
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
}

extension ReplayRequest {
    /// The query of a request for a part of a recorded lesson.
    fileprivate init(query request: Request) throws(GatewayError) {
        self.init(
            from: try request.mediaTime("from"), to: try request.mediaTime("to"),
            epoch: try request.number("ep", 0...Int64(1 << 53 - 1)),
            after: try request.number("after", 0...UInt64(Int64.max - 1)),
            incarnation: try request.incarnation(),
            limit: try request.number("limit", 1...Self.mostOperations) ?? Self.mostOperations)
    }
}

extension AssetPageRequest {
    fileprivate init(_ request: Request, _ context: GatewayContext) throws(GatewayError) {
        guard let id = context.parameters.get("asset").flatMap({ AssetID(hexadecimal: $0) }) else {
            throw .badRequest("The name of an asset is 64 digits of 0 to 9 and a to f.")
        }
        self.init(
            id: id, page: try request.number("page", AssetID.pages) ?? 0, width: try request.number("width", 1...4096))
    }
}
