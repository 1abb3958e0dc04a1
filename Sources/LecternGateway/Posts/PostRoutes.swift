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
            let (bytes, strokes) = try await lines(of: request, "messages", isNDJSON: request.isNDJSON)
            try take(strokes.count, bytes, of: author, in: address, rates)
            let outcomes = try await publisher.publish(strokes, by: author, session: request.session, to: address)
            return Response.body(outcomes.encoded(), type: "application/json")
        }
        router.post("api/rooms/:room/wet") { [self] request, context in
            let address = rooms.address(of: try context.room())
            let author = try request.author()
            let (bytes, updates) = try await lines(of: request, "updates", isNDJSON: true)
            // The room has its own limits, which are configured; the format's are checked here.
            for update in updates { _ = try WetUpdate(decoding: Array(update), limits: .any) }
            try take(updates.count, bytes, of: author, in: address, wetRates)
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

    /// The lines of a body, or all of it as one, and its bytes.
    private func lines(
        of request: Request, _ what: String, isNDJSON: Bool
    ) async throws -> (Int, [ArraySlice<UInt8>]) {
        let body = try await request.bytes(atMost: limits.bodyBytes)
        let lines = isNDJSON ? body.ndjsonLines : [body[...]]
        guard 1...limits.messages ~= lines.count else {
            throw GatewayError.badRequest("A request has 1 to \(limits.messages) \(what).")
        }
        return (body.count, lines)
    }

    private func take(
        _ messages: Int, _ bytes: Int, of author: AuthorID, in address: RoomAddress, _ rates: AuthorRates
    ) throws(GatewayError) {
        guard let seconds = rates.take(messages, bytes: bytes, of: author, in: address) else { return }
        throw .tooManyRequests(rates.refusal, retryAfter: seconds)
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

extension Request {
    private static let sessionField = HTTPFields.Element.Name(HeaderName.session)!

    /// The session whose sequence the numbers belong to; nil without one, or with an unusable one.
    var session: String? { HeaderName.validSession(headers[Self.sessionField]) }

    /// The author in the query.
    func author() throws(GatewayError) -> AuthorID {
        guard let author = uri.queryParameters["author"].flatMap({ AuthorID($0) }) else {
            throw .badRequest(
                "The query names the author, 1 to 64 characters of a to z, 0 to 9, _ and -.")
        }
        return author
    }

    /// The author in the query; nil without one.
    func authorIfAny() throws(GatewayError) -> AuthorID? {
        uri.queryParameters["author"] == nil ? nil : try author()
    }

    /// What boards say of who asked for something: `name`, or the author; nil where neither is given.
    func shownName(of author: AuthorID?) throws(GatewayError) -> String? {
        guard let name = uri.queryParameters["name"], !name.isEmpty else { return author?.text }
        guard name.unicodeScalars.count <= 64 else { throw .badRequest("name is at most 64 characters long.") }
        return String(name)
    }

    var isNDJSON: Bool {
        headers[.contentType]?.split(separator: ";").first.map { $0.lowercased() }
            == "application/x-ndjson"
    }

    /// The whole body.
    func bytes(atMost limit: Int) async throws -> [UInt8] {
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > limit {
            throw GatewayError.tooLarge("The body has \(length) bytes, of at most \(limit).")
        }
        var bytes: [UInt8] = []
        for try await part in body {
            guard bytes.count + part.readableBytes <= limit else {
                throw GatewayError.tooLarge("The body has more than \(limit) bytes.")
            }
            bytes += part.readableBytesView
        }
        return bytes
    }
}

extension [UInt8] {
    /// The lines that are not blank.
    var ndjsonLines: [ArraySlice<UInt8>] {
        split(separator: UInt8(ascii: "\n")).filter { line in
            line.contains {
                $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") && $0 != UInt8(ascii: "\r")
            }
        }
    }
}
