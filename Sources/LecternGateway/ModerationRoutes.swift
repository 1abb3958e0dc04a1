internal import Foundation
internal import Hummingbird
internal import LecternClient
internal import Locking
internal import NATSClient
internal import StrokeWire

/// `PUT` and `DELETE /api/rooms/ROOM/authors/A/mute`: takes no more of what an author sends, or takes it again.
/// `POST /api/rooms/ROOM/links`: a link for students, with a token of one cohort where tokens are needed.
/// `DELETE /api/rooms/ROOM/links/ID`: that token no longer counts.
struct ModerationRoutes {
    /// The gateway's name as one who gives commands.
    private static let commander = "gateway"
    /// Authors that teachers may mute in a room; an operator has place for more.
    private static let teacherMutes = 192

    private let rooms: RoomService
    private let connection: NATSConnection
    private let root: String
    private let live: LiveSettings
    private let mutes = CommandRates()
    private let links = CommandRates()

    init(rooms: RoomService, connection: NATSConnection, root: String, live: LiveSettings) {
        (self.rooms, self.connection, self.root, self.live) = (rooms, connection, root, live)
    }

    func add(to router: Router<GatewayContext>) {
        router.put("api/rooms/:room/authors/:author/mute") { [self] request, context in
            try await mute(true, request, context)
        }
        router.delete("api/rooms/:room/authors/:author/mute") { [self] request, context in
            try await mute(false, request, context)
        }
        router.post("api/rooms/:room/links") { [self] request, context in try await makeLink(request, context) }
        router.delete("api/rooms/:room/links/:id") { [self] request, context in try await revokeLink(request, context) }
    }

    /// - Returns: 204 when it is in force, 202 when the service has yet to read it.
    private func mute(
        _ isMuted: Bool, _ request: Request, _ context: GatewayContext
    ) async throws(GatewayError) -> Response {
        let address = rooms.address(of: try context.room())
        let author = try context.author()
        // Else a muted teacher would undo it, or mute the one who did it.
        if let claims = context.claims, claims.role != .operator, let own = claims.author {
            let muted = try await rooms.mutedAuthors(in: address.room, butNot: own)
            // Else invented names would leave no place for one that an operator has to mute.
            guard !isMuted || muted.count < Self.teacherMutes || muted.contains(author.text) else {
                throw GatewayError(
                    .conflict, "too-many-muted",
                    "The room has \(muted.count) muted authors; for more, ask who runs the service."
                ).about(address)
            }
        }
        try mutes.take("commands", in: address.room)
        let commands = try commands(for: request, context)
        let effect: CommandEffect?
        do throws(RoomDirectoryError) {
            effect = try await isMuted ? commands.mute(author, at: address) : commands.unmute(author, at: address)
        } catch {
            throw GatewayError(error).about(address)
        }
        switch effect {
        case .inForce: return Response(status: .noContent)
        case .logged, .unconfirmed: return Response(status: .accepted)
        case nil:
            let unknown = RequestError(.unknownRoom, "Nobody has written to the room \(address.room).")
            throw GatewayError(unknown).about(address)
        }
    }

    /// Commands over NATS in the name of the gateway; whose token it was and from which address stands in the audit log.
    private func commands(
        for request: Request, _ context: GatewayContext
    ) throws(GatewayError) -> RoomCommands {
        guard let name = OperatorName(Self.commander) else { throw .internalError }
        let address = request.clientAddress(context.channel, proxies: live.values.trustedProxies)
        let claims = context.claims
        let who = claims.map { [$0.role.rawValue, $0.author?.text].compactMap(\.self).joined(separator: " ") }
        return RoomCommands(connection: connection, root: root, from: name, for: "\(who ?? "no token"), \(address)")
    }
}

/// A link's token carries the `sub` of the teacher who made it: what revokes all tokens of the teacher revokes the links too. Its
/// `jti` begins with the room, so that a teacher revokes links of that room alone, and tells when it ends.
extension ModerationRoutes {
    /// Seconds that a link is valid: at least, at most, and unless said.
    private static let (shortest, longest, usual) = (60, 30 * 86_400, 12 * 3600)
    /// Seconds by which the clock of the gateway that made a link may differ.
    private static let clockMargin: Int64 = 3600

    private struct LinkBody: Decodable {
        let cohort: String?
        let expires: Int?
    }

    private struct Link: Encodable {
        /// Below the root of the gateway.
        let path: String
        let id: String?
        /// Seconds since 1970.
        let expires: Int?
    }

    private func makeLink(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let room = try context.room()
        let body: LinkBody = try await request.jsonBody("{\"cohort\":…,\"expires\":seconds}")
        let cohort = try CohortName(named: body.cohort ?? "main")
        let seconds = body.expires ?? Self.usual
        guard Self.shortest...Self.longest ~= seconds else {
            throw GatewayError.badRequest("A link is valid for \(Self.shortest) to \(Self.longest) seconds.")
        }
        let path = "rooms/\(room)" + (cohort == .main ? "" : "?cohort=\(cohort)")
        guard let claims = context.claims, let key = live.values.tokenKey else {
            return try Response.json(Link(path: path, id: nil, expires: nil))
        }
        try links.take("links", in: room)
        let end = Int(Date().timeIntervalSince1970) + seconds
        let id = "\(Self.prefix(of: room))\(String(end, radix: 36)).\(Self.random())"
        var student = TokenClaims(
            rooms: .some([room]), role: .student, cohort: cohort, expires: Date(timeIntervalSince1970: Double(end)),
            id: id, issued: Date())
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
        return try Response.json(Link(path: "\(path)#token=\(token)", id: id, expires: end))
    }

    private func revokeLink(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let room = try context.room()
        let id = context.parameters.get("id") ?? ""
        guard context.claims != nil else { throw GatewayError.badRequest("Without tokens links cannot be revoked.") }
        let parts = id.dropFirst(Self.prefix(of: room).count).split(separator: ".")
        let now = Int64(Date().timeIntervalSince1970)
        // A revocation is kept until its link ends: one of a link that nobody makes would be kept for ever.
        guard id.hasPrefix(Self.prefix(of: room)), parts.count == 2, let end = Int64(parts[0], radix: 36),
            end <= now + Int64(Self.longest) + Self.clockMargin, let revocation = Revocation.token(id, expires: end)
        else { throw GatewayError.badRequest("That is no link of the room \(room).") }
        guard end + Self.clockMargin > now else { return Response(status: .noContent) }
        try links.take("links", in: room)
        let commands = try commands(for: request, context)
        _ = try await commands.give(.revoke(revocation))
        return Response(status: .noContent)
    }

    private static func prefix(of room: RoomID) -> String { "\(Revocation.Target.linkPrefix)\(room)." }

    /// 96 random bits.
    private static func random() -> String {
        String(UInt64.random(in: .min ... .max), radix: 36) + String(UInt32.random(in: .min ... .max), radix: 36)
    }
}

/// How often commands are given about a room, so that nobody fills the audit log, which keeps the last of each room that the
/// gateways gave.
final class CommandRates: Sendable {
    private struct State {
        var buckets: [RoomID: TokenBucket] = [:]
        var sweptAt: TokenBucket.Instant?
    }

    /// Rooms that are kept; when there are more, those whose last command is long ago are forgotten.
    static let bound = 10_000
    /// Seconds until another command may be given. A command takes as many tokens, of which one comes back each second.
    private static let retryTime = 10
    private static let burst = 20 * retryTime

    private let state = Locked(State())

    /// Takes one command.
    /// - Returns: nil when it was taken, else after how many seconds to come again.
    func take(in room: RoomID, at now: TokenBucket.Instant = .now) -> Int? {
        state.withLock { state in
            if state.buckets[room] == nil, state.buckets.count >= Self.bound {
                if state.sweptAt.map({ now - $0 >= .seconds(1) }) ?? true {
                    state.sweptAt = now
                    state.buckets = state.buckets.filter { !$0.value.isFull(at: now) }
                }
                guard state.buckets.count < Self.bound else { return Self.retryTime }
            }
            var bucket = state.buckets[room] ?? TokenBucket(rate: 1, burst: Self.burst, at: now)
            bucket.refill(at: now)
            defer { state.buckets[room] = bucket }
            guard bucket.holds(Self.retryTime) else { return Self.retryTime }
            bucket.take(Self.retryTime)
            return nil
        }
    }

    /// - Parameter what: what is taken, for the error.
    fileprivate func take(_ what: String, in room: RoomID) throws(GatewayError) {
        guard let seconds = take(in: room) else { return }
        throw .tooManyRequests("A room takes 20 \(what) at once, and then one each 10 seconds.", retryAfter: seconds)
    }
}
