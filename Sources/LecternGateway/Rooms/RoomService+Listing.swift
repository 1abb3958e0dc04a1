internal import Foundation
internal import Logging
internal import NATSClient

extension RoomService {
    /// All rooms of all daemons that answer within the window.
    ///
    /// - Throws: `not-ready` when no daemon answers; `bad-gateway` when none answers anything that can be read.
    func listing() async throws(GatewayError) -> RoomList {
        let replies = try await permits.withPermit { () async throws(NATSError) in
            try await connection.requestMany(to: listingSubject, window: limits.listing)
        }
        guard !replies.isEmpty else { throw .notReady("No service answers.") }
        var lists: [RoomList] = []
        for body in ListingReplies.bodies(of: replies) {
            do {
                lists.append(try JSONDecoder().decode(RoomList.self, from: Data(body)))
            } catch {
                logger.warning("a daemon's list of rooms cannot be read", metadata: ["error": "\(error)"])
            }
        }
        guard !lists.isEmpty else { throw .badGateway("No service's list of rooms can be read.") }
        return RoomList.merging(lists)
    }
}
