internal import Foundation
internal import Hummingbird
internal import LecternClient
internal import NATSClient
internal import StrokeWire

/// `POST /api/rooms/ROOM/links`: a link for students, with a token of one cohort where tokens are needed.
/// `DELETE /api/rooms/ROOM/links/ID`: that token no longer counts.
///
/// A link's token carries the `sub` of the teacher who made it: what revokes all tokens of the teacher revokes the links too. Its
/// `jti` begins with the room, so that a teacher revokes links of that room alone, and tells when it ends.
struct LinkRoute {
    /// The gateway's name as one who gives commands.
    private static let commander = "gateway"
    /// Seconds that a link is valid: at least, at most, and unless said.
    private static let (shortest, longest, usual) = (60, 30 * 86_400, 12 * 3600)
    /// Seconds by which the clock of the gateway that made a link may differ.
    private static let clockMargin: Int64 = 3600

    let connection: NATSConnection
    let root: String
    let rates: CommandRates
    let live: LiveSettings

    /// What is asked for.
    private struct Order: Decodable {
        var cohort: String?
        var expires: Int?
    }

    /// What is given.
    private struct Link: Encodable {
        /// Below the root of the gateway.
        let path: String
        let id: String?
        /// Seconds since 1970.
        let expires: Int?
    }

    func add(to router: Router<GatewayContext>) {
        router.post("api/rooms/:room/links") { [self] request, context in try await make(request, context) }
        router.delete("api/rooms/:room/links/:id") { [self] request, context in try await revoke(request, context) }
    }

    private func make(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let room = try context.room()
        let body = try await request.bytes(atMost: 1024)
        var order = Order()
        if !body.isEmpty {
            guard let read = try? JSONDecoder().decode(Order.self, from: Data(body)) else {
                throw GatewayError.badRequest("The body is {\"cohort\":…,\"expires\":seconds}, or empty.")
            }
            order = read
        }
        guard let cohort = CohortName(order.cohort ?? "main") else {
            throw GatewayError.badRequest(
                "The name of a cohort is 1 to 64 characters of a to z, 0 to 9, _ and -, but not open or default.")
        }
        let seconds = order.expires ?? Self.usual
        guard Self.shortest...Self.longest ~= seconds else {
            throw GatewayError.badRequest("A link is valid for \(Self.shortest) to \(Self.longest) seconds.")
        }
        let path = "rooms/\(room)" + (cohort == .main ? "" : "?cohort=\(cohort)")
        guard let claims = context.claims, let key = live.values.tokenKey else {
            return try answer(Link(path: path, id: nil, expires: nil))
        }
        try take(room)
        let end = Int(Date().timeIntervalSince1970) + seconds
        let id = "\(Self.prefix(of: room))\(String(end, radix: 36)).\(Self.random())"
        var student = TokenClaims(
            rooms: .some([room]), role: .student, cohort: cohort, expires: Date(timeIntervalSince1970: Double(end)),
            id: id,
            issued: Date())
        student.subject = claims.subject
        let token: String
        do {
            token = try await key.sign(student)
        } catch {
            throw GatewayError(
                .notImplemented, "no-signing-key",
                "The gateway has a public key alone, which makes no tokens: make links with `lectern token --role student`."
            )
        }
        return try answer(Link(path: "\(path)#token=\(token)", id: id, expires: end))
    }

    private func revoke(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let room = try context.room()
        let id = context.parameters.get("id") ?? ""
        guard context.claims != nil else { throw GatewayError.badRequest("Without tokens links cannot be revoked.") }
        let parts = id.dropFirst(Self.prefix(of: room).count).split(separator: ".")
        let now = Int64(Date().timeIntervalSince1970)
        // A revocation is kept until its link ends: one of a link that nobody makes would be kept for ever.
        guard id.hasPrefix(Self.prefix(of: room)), parts.count == 2, let end = Int64(parts[0], radix: 36),
            end <= now + Int64(Self.longest) + Self.clockMargin, let revocation = Revocation.token(id, expires: end),
            let name = OperatorName(Self.commander)
        else { throw GatewayError.badRequest("That is no link of the room \(room).") }
        guard end + Self.clockMargin > now else { return Response(status: .noContent) }
        try take(room)
        let commands = RoomCommands(
            connection: connection, root: root, from: name, for: asker(request, context, live))
        do throws(RoomDirectoryError) {
            _ = try await commands.give(.revoke(revocation))
        } catch {
            throw GatewayError(error)
        }
        return Response(status: .noContent)
    }

    private func take(_ room: RoomID) throws(GatewayError) {
        guard let seconds = rates.take(in: room) else { return }
        throw .tooManyRequests("A room takes 20 links at once, and then one each 10 seconds.", retryAfter: seconds)
    }

    private func answer(_ link: Link) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Response.body(try encoder.encode(link), type: "application/json")
    }

    private static func prefix(of room: RoomID) -> String { "\(Revocation.Target.linkPrefix)\(room)." }

    /// 96 random bits.
    private static func random() -> String {
        String(UInt64.random(in: .min ... .max), radix: 36) + String(UInt32.random(in: .min ... .max), radix: 36)
    }
}
