internal import Hummingbird
internal import LecternClient
internal import NATSClient
internal import NIOCore
internal import StrokeWire

/// `GET /api/rooms/ROOM/assets/ID?cohort=C&page=N&width=W`: a page of an asset as a picture, for those who may see it.
///
/// Each request first asks the service for the picture's tag: so who may see it is judged where the room is, and the
/// picture comes from here where it is kept.
struct AssetPageRoute {
    let rooms: RoomService
    let cache: PictureCache
    private let replies: ReplyMemory

    init(rooms: RoomService, replies: ReplyMemory, limits: GatewayLimits) {
        self.rooms = rooms
        self.replies = replies
        cache = PictureCache(
            drawings: limits.assetDrawings, feedDrawings: limits.drawings, byteLimit: limits.pictureBytes)
    }

    func add(to router: Router<GatewayContext>) {
        router.get("api/rooms/:room/assets/:asset") { request, context in
            let wanted = try AssetPageRequest(request, context)
            return try await picture(
                wanted, of: context.room(), request.feed(), request.headers, on: context.channel.eventLoop)
        }
    }

    private func picture(
        _ wanted: AssetPageRequest, of room: RoomID, _ feed: RoomFeed, _ headers: HTTPFields, on loop: any EventLoop
    ) async throws(GatewayError) -> Response {
        var question = wanted
        question.unless = "*"
        guard let current = Picture(try await rooms.picture(of: room, feed, question), .png) else {
            throw .badGateway("The service's answer is no picture.")
        }
        if let known = headers[.ifNoneMatch], current.tag.matches(known) {
            return Response(status: .notModified, headers: Self.headers(current.tag))
        }
        let key = PictureCache.Key(room: room, tag: current.tag)
        let picture = try await cache.picture(key, of: feed, isNewest: false) { () async throws(GatewayError) in
            let reply = try await rooms.picture(of: room, feed, wanted)
            guard let picture = Picture(reply, .png), picture.bytes.readableBytes > 0 else {
                throw .badGateway("The service's answer is no picture.")
            }
            return picture
        }
        var fields = Self.headers(picture.tag)
        fields[.contentType] = "image/png"
        fields[.xContentTypeOptions] = "nosniff"
        return try replies.response(fields, picture.bytes, of: room, on: loop)
    }

    /// An asset never changes; only its reader may store it.
    private static func headers(_ tag: EntityTag) -> HTTPFields {
        [.eTag: tag.text, .cacheControl: "private, max-age=31536000, immutable"]
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
