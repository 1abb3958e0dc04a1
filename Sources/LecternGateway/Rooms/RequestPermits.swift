internal import NATSClient
internal import Synchronization

/// Bounds the requests to NATS that are under way. One beyond is not queued but refused, as `not-ready`: a client
/// that asks again later is better off than one in a queue of unknown length.
final class RequestPermits: Sendable {
    private let limit: Int
    private let taken = Atomic<Int>(0)

    init(_ limit: Int) {
        self.limit = limit
    }

    /// Does something that asks NATS, when there is a permit left.
    func withPermit<Value: Sendable>(
        _ body: () async throws(NATSError) -> Value
    ) async throws(GatewayError) -> Value {
        defer { taken.subtract(1, ordering: .relaxed) }
        guard taken.add(1, ordering: .relaxed).newValue <= limit else {
            throw .notReady("The gateway is busy with other requests; ask again in a second.")
        }
        do throws(NATSError) {
            return try await body()
        } catch {
            throw GatewayError(error)
        }
    }
}
