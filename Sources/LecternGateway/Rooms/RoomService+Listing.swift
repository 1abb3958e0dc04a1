internal import Foundation
internal import Logging
internal import NATSClient
internal import StrokeWire

extension RoomService {
    /// All rooms of all daemons that answer within the window, at most a second old.
    ///
    /// - Throws: `not-ready` when no daemon answers, or none wants to; `bad-gateway` when none answers anything that can
    ///   be read.
    func listing() async throws(GatewayError) -> Listing {
        try await shared.get { () async throws(GatewayError) in Listing(try await gather()) }
    }

    private func gather() async throws(GatewayError) -> RoomList {
        let replies = try await permits.withPermit { () async throws(NATSError) in
            try await connection.requestMany(to: listingSubject, window: limits.listing)
        }
        guard !replies.isEmpty else { throw .notReady("No service answers.") }
        var lists: [RoomList] = []
        var refusal: RequestError?
        for body in ListingReplies.bodies(of: replies) {
            if let error = RequestError(decoding: body) {
                refusal = error
                continue
            }
            do {
                lists.append(try JSONDecoder().decode(RoomList.self, from: Data(body)))
            } catch {
                logger.warning("a daemon's list of rooms cannot be read", metadata: ["error": "\(error)"])
            }
        }
        if lists.isEmpty, let refusal { throw GatewayError(refusal) }
        guard !lists.isEmpty else { throw .badGateway("No service's list of rooms can be read.") }
        return RoomList.merging(lists)
    }
}
