internal import Foundation
internal import Hummingbird
internal import NATSClient
internal import NIOCore
internal import StrokeWire

/// `POST /api/rooms/ROOM/strokes?author=A`: strokes of one author, one as JSON or several as NDJSON.
/// `POST /api/rooms/ROOM/wet?author=A`: updates of strokes that an author is drawing, one a line.
/// `POST /api/rooms/ROOM/clock?cohort=C`: one sample of a cohort's video clock.
struct PostRoutes {
    let rooms: RoomService
    let connection: NATSConnection
    let publisher: StrokePublisher
    /// Of strokes, and beside them of updates.
    let rates, wetRates: AuthorRates
    let limits: GatewayLimits

    func add(to router: Router<GatewayContext>) {
        router.post("api/rooms/:room/strokes") { [self] request, context in
            let address = rooms.address(of: try context.room())
            let author = try request.author()
            let (bytes, strokes) = try await request.lines(
                "messages", atMost: limits.messages, bytes: limits.bodyBytes, isNDJSON: request.isNDJSON)
            try rates.admit(strokes.count, bytes: bytes, of: author, in: address)
            let outcomes = try await publisher.publish(strokes, by: author, session: request.session, to: address)
            return Response.body(outcomes.encoded(), type: "application/json")
        }
        router.post("api/rooms/:room/wet") { [self] request, context in
            let address = rooms.address(of: try context.room())
            let author = try request.author()
            let (bytes, updates) = try await request.lines(
                "updates", atMost: limits.messages, bytes: limits.bodyBytes)
            // The room has its own limits, which are configured; the format's are checked here.
            for update in updates { _ = try WetUpdate(decoding: Array(update), limits: .any) }
            try wetRates.admit(updates.count, bytes: bytes, of: author, in: address)
            let subject = address.subject(.wetInput(author))
            let headers: NATSHeaders = request.session.map { [HeaderName.session: $0] } ?? [:]
            for update in updates { try connection.publish(Array(update), to: subject, headers: headers) }
            return Response(status: .accepted)
        }
        router.post("api/rooms/:room/clock") { [self] request, context in
            let address = rooms.address(of: try context.room())
            let cohort = try request.cohort()
            let body = try await request.bytes(atMost: 4096)
            _ = try ClockSample(decoding: body)
            try connection.publish(body, to: address.subject(.clock(cohort)))
            return Response(status: .accepted)
        }
    }
}

/// `GET /api/time`: when the request came and when the answer left, for an offset in the manner of NTP.
struct TimeRoute {
    /// UTC in milliseconds, with a fraction.
    private static var milliseconds: Double { (Date().timeIntervalSince1970 * 1_000_000).rounded() / 1000 }

    func add(to router: Router<GatewayContext>) {
        router.get("api/time") { _, _ in
            let received = Self.milliseconds
            let body = "{\"received\":\(received),\"sent\":\(Self.milliseconds)}"
            return Response.body(body.utf8, type: "application/json")
        }
    }
}
