/// The list of rooms, gathered once for all who ask meanwhile and within a second after.
///
/// An error goes to those who wait, and is not kept. Whoever waits costs no request to NATS: how many may is bounded by
/// the connections.
actor SharedListing {
    typealias Outcome = Result<Listing, GatewayError>

    static let freshness = Duration.seconds(1)

    private var fresh: Listing?
    private var underWay: Task<Outcome, Never>?

    /// - Parameter gather: makes the list, where there is none to be shared.
    func get(
        _ gather: @escaping @Sendable () async throws(GatewayError) -> Listing
    ) async throws(GatewayError) -> Listing {
        if let fresh { return fresh }
        let task = underWay ?? Task { await make(gather) }
        underWay = task
        return try await task.value.get()
    }

    private func make(_ gather: @Sendable () async throws(GatewayError) -> Listing) async -> Outcome {
        defer { underWay = nil }
        do throws(GatewayError) {
            let listing = try await gather()
            fresh = listing
            Task {
                try? await Task.sleep(for: Self.freshness)
                fresh = nil
            }
            return .success(listing)
        } catch {
            return .failure(error)
        }
    }
}
