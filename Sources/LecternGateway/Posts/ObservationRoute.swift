internal import Foundation
internal import Hummingbird
internal import LecternClient
internal import Metrics
internal import StrokeWire

/// `POST /api/rooms/ROOM/observations?cohort=C&reader=R`: how far ink and picture are apart at a reader. Telemetry; it
/// changes nothing.
struct ObservationRoute {
    let rooms: RoomService
    let hub: EventHub
    let skews: SkewTable
    let live: LiveSettings
    let limits: GatewayLimits
    let failures: Counter

    func add(to router: Router<GatewayContext>) {
        router.post("api/rooms/:room/observations") { [self] request, context in
            let address = rooms.address(of: try context.room())
            let cohort = try request.cohort()
            let reader = SkewTable.Reader(
                address: request.clientAddress(context.channel, proxies: live.values.trustedProxies),
                name: try request.text("reader").map { name throws(GatewayError) in
                    try AuthorID(name, of: "a reader").text
                } ?? "",
                cohort: cohort)
            let (_, lines) = try await request.lines("observations", atMost: limits.messages, bytes: 64 << 10)
            let decoder = JSONDecoder()
            let observations: [Observation]
            do {
                observations = try lines.map { try decoder.decode(Observation.self, from: Data($0)) }
            } catch {
                throw GatewayError.badRequest("An observation is {\"v\":ms,\"index\":number,\"skew\":ms}.")
            }
            let skews = observations.compactMap(\.skew)
            guard observations.allSatisfy({ $0.skew != nil || $0.fault != nil }),
                skews.allSatisfy({ abs($0) <= Observation.maxSkew })
            else { throw GatewayError.badRequest("An observation has a skew, at most a day, or a fault.") }
            failures.increment(by: observations.count { $0.fault != nil })
            // A student's cohort is the token's. Other names are the client's own.
            let isKnown = context.claims?.role == .student || hub.hasReaders(of: .cohort(cohort), in: address)
            guard !skews.isEmpty else { return Response(status: .accepted) }
            self.skews.take(skews, by: reader, in: address.room, isKnown: isKnown)
            return Response(status: .accepted)
        }
    }

    private struct Observation: Decodable {
        /// More is nonsense, and would hide the sum of all others.
        static let maxSkew = 86_400_000.0

        /// The player's media time, in milliseconds.
        let v: Double?
        /// The last operation drawn.
        let index: UInt64
        /// Milliseconds that the ink was drawn after its picture.
        let skew: Double?
        /// Why the board's core has failed, where it has.
        let fault: String?
    }
}
