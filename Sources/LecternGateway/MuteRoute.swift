internal import Foundation
internal import Hummingbird
internal import LecternClient
internal import Locking
internal import NATSClient
internal import NIOCore
internal import StrokeWire

/// `PUT` and `DELETE /api/rooms/ROOM/authors/A/mute`: takes no more of what an author sends, or takes it again.
///
/// A command over NATS in the name of the gateway; whose token it was and from which address stands in the audit log.
struct MuteRoute {
    /// The gateway's name as one who gives commands.
    private static let name = "gateway"
    /// Authors that teachers may mute in a room; an operator has place for more.
    private static let teacherMutes = 192

    let rooms: RoomService
    let connection: NATSConnection
    let root: String
    let rates: CommandRates
    let live: LiveSettings

    func add(to router: Router<GatewayContext>) {
        router.put("api/rooms/:room/authors/:author/mute") { [self] request, context in
            try await answer(request, context, mutes: true) { commands, author, address throws(RoomDirectoryError) in
                try await commands.mute(author, at: address)
            }
        }
        router.delete("api/rooms/:room/authors/:author/mute") { [self] request, context in
            try await answer(request, context, mutes: false) { commands, author, address throws(RoomDirectoryError) in
                try await commands.unmute(author, at: address)
            }
        }
    }

    /// - Returns: 204 when it is in force, 202 when the service has yet to read it.
    private func answer(
        _ request: Request, _ context: GatewayContext, mutes: Bool,
        _ give: (RoomCommands, AuthorID, RoomAddress) async throws(RoomDirectoryError) -> CommandEffect?
    ) async throws(GatewayError) -> Response {
        let address = rooms.address(of: try context.room())
        let text = context.parameters.get("author") ?? ""
        guard let author = AuthorID(text.removingPercentEncoding ?? text), let name = OperatorName(Self.name) else {
            throw .badRequest("The name of an author is 1 to 64 characters of a to z, 0 to 9, _ and -.")
        }
        // Else a muted teacher would undo it, or mute the one who did it.
        if let claims = context.claims, claims.role != .operator, let own = claims.author {
            let muted = try await rooms.mutedAuthors(in: address.room, butNot: own)
            // Else invented names would leave no place for one that an operator has to mute.
            guard !mutes || muted.count < Self.teacherMutes || muted.contains(author.text) else {
                throw GatewayError(
                    .conflict, "too-many-muted",
                    "The room has \(muted.count) muted authors; for more, ask who runs the service."
                ).about(address)
            }
        }
        if let seconds = rates.take(in: address.room) {
            throw .tooManyRequests(
                "A room takes 20 commands at once, and then one each 10 seconds.", retryAfter: seconds)
        }
        let commands = RoomCommands(connection: connection, root: root, from: name, for: asker(request, context, live))
        let effect: CommandEffect?
        do throws(RoomDirectoryError) {
            effect = try await give(commands, author, address)
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
}

/// The holder of the token that a command came with, and the address it came from, for the audit log.
func asker(_ request: Request, _ context: GatewayContext, _ live: LiveSettings) -> String {
    let address = request.clientAddress(context.channel, proxies: live.values.trustedProxies)
    guard let claims = context.claims else { return "no token, \(address)" }
    return [claims.role.rawValue, claims.author?.text].compactMap(\.self).joined(separator: " ") + ", \(address)"
}

/// How often commands are given about a room, so that nobody fills the audit log, which keeps the last of each room that the
/// gateways gave.
final class CommandRates: Sendable {
    private struct Bucket {
        var tokens = burst
        var updated: ContinuousClock.Instant
    }

    /// Rooms that are kept; when there are more, those whose last command is long ago are forgotten.
    private static let bound = 10_000
    private static let burst = 20.0
    private static let perSecond = 0.1
    /// Seconds.
    private static let retryTime = Int(1 / perSecond)

    private let buckets = Locked<[RoomID: Bucket]>([:])

    /// Takes one command.
    /// - Returns: nil when it was taken, else after how many seconds to come again.
    func take(in room: RoomID, at now: ContinuousClock.Instant = .now) -> Int? {
        buckets.withLock { buckets in
            if buckets.count >= Self.bound {
                buckets = buckets.filter { now - $0.value.updated < .seconds(Self.burst / Self.perSecond) }
                if buckets.count >= Self.bound { return Self.retryTime }
            }
            var bucket = buckets[room] ?? Bucket(updated: now)
            bucket.tokens = min(Self.burst, bucket.tokens + (now - bucket.updated) / .seconds(1) * Self.perSecond)
            bucket.updated = now
            defer { buckets[room] = bucket }
            guard bucket.tokens >= 1 else { return Self.retryTime }
            bucket.tokens -= 1
            return nil
        }
    }
}
