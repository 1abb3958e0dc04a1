internal import Hummingbird
internal import LecternClient
internal import NIOCore
internal import StrokeWire

/// `GET /api/rooms/ROOM/events?cohort=C`: the operations released to a cohort as server-sent events, or those of the
/// log's head with `cohort=head`.
struct EventRoute {
    let rooms: RoomService
    let hub: EventHub
    let proxies: [AddressRange]

    private static let lastEventID = HTTPFields.Element.Name("Last-Event-ID")!
    /// Tells nginx not to hold events back.
    private static let buffering = HTTPFields.Element.Name("X-Accel-Buffering")!

    func add(to router: Router<GatewayContext>) {
        router.get("api/rooms/:room/events") { [rooms, hub, proxies] request, context in
            let room = try context.room()
            let source = try request.feed()
            let headers: HTTPFields = [
                .contentType: "text/event-stream", .cacheControl: "private, no-store", .connection: "close",
                .xContentTypeOptions: "nosniff", Self.buffering: "no",
            ]
            guard request.method == .get else { return Response(status: .ok, headers: headers) }
            let have = request.headers[Self.lastEventID] ?? request.uri.queryParameters["last"].map(String.init)
            let reader = try await hub.open(
                source, of: rooms.address(of: room), have: have.flatMap { FeedPosition(eventID: $0) },
                client: request.clientAddress(context.channel, proxies: proxies), until: context.claims?.expires,
                on: context.channel)
            let body = ResponseBody { writer in
                try await writer.write(ByteBuffer(string: StreamEvent.prelude))
                await reader.run()
                try await writer.finish(nil)
            }
            return Response(status: .ok, headers: headers, body: body)
        }
    }
}

extension Request {
    /// The feed that the query asks for: a cohort's, `main` by default, or the head's.
    func feed() throws(GatewayError) -> RoomFeed {
        uri.queryParameters["cohort"] == "head" ? .head : .cohort(try cohort())
    }
}
