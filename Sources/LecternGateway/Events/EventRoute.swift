internal import Hummingbird
internal import LecternClient
internal import NIOCore
internal import StrokeWire

/// `GET /api/rooms/ROOM/readers`: how many event streams of each cohort are open at this gateway, and the students' names where
/// tokens have them.
///
/// `GET /api/rooms/ROOM/events?cohort=C`: the operations released to a cohort as server-sent events, or those of the
/// log's head with `cohort=head`.
struct EventRoute {
    let rooms: RoomService
    let hub: EventHub
    let live: LiveSettings

    private static let lastEventID = HTTPFields.Element.Name("Last-Event-ID")!
    /// Tells nginx not to hold lines back.
    static let buffering = HTTPFields.Element.Name("X-Accel-Buffering")!

    func add(to router: Router<GatewayContext>) {
        router.get("api/rooms/:room/readers") { [rooms, hub] _, context in
            try Response.json(hub.readers(of: rooms.address(of: try context.room())))
        }
        router.get("api/rooms/:room/events") { [rooms, hub, live] request, context in
            let room = try context.room()
            let source = try request.feed()
            var headers: HTTPFields = [
                .contentType: "text/event-stream", .cacheControl: "private, no-store", .connection: "close",
                .xContentTypeOptions: "nosniff", Self.buffering: "no", .vary: "Accept-Encoding",
            ]
            let isCompressed = request.accepts("gzip", or: "x-gzip")
            if isCompressed { headers[.contentEncoding] = "gzip" }
            guard request.method == .get else { return Response(status: .ok, headers: headers) }
            let have = request.headers[Self.lastEventID] ?? request.text("last")
            let reader = try await hub.open(
                source, of: rooms.address(of: room), have: have.flatMap { FeedPosition(eventID: $0) },
                client: request.clientAddress(context.channel, proxies: live.values.trustedProxies),
                claims: context.claims,
                isCompressed: isCompressed, on: context.channel)
            let body = ResponseBody { writer in
                await reader.run()
                try await writer.finish(nil)
            }
            return Response(status: .ok, headers: headers, body: body)
        }
    }
}
