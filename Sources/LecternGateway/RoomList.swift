internal import Foundation
internal import StrokeWire

/// The list of rooms, gathered once for all requests that come meanwhile and within ``maxAge`` after.
///
/// An error goes to the waiting requests and is not cached. A waiting request takes no permit for NATS; the number of
/// connections bounds how many wait.
actor RoomListCache {
    typealias Outcome = Result<RenderedRoomList, GatewayError>

    static let maxAge = Duration.seconds(1)

    private var cached: RenderedRoomList?
    private var pending: Task<Outcome, Never>?

    /// - Parameter gather: makes the list when none is cached or pending.
    func get(
        _ gather: @escaping @Sendable () async throws(GatewayError) -> RenderedRoomList
    ) async throws(GatewayError) -> RenderedRoomList {
        if let cached { return cached }
        let task = pending ?? Task { await make(gather) }
        pending = task
        return try await task.value.get()
    }

    private func make(_ gather: @Sendable () async throws(GatewayError) -> RenderedRoomList) async -> Outcome {
        defer { pending = nil }
        do throws(GatewayError) {
            let listing = try await gather()
            cached = listing
            Task {
                try? await Task.sleep(for: Self.maxAge)
                cached = nil
            }
            return .success(listing)
        } catch {
            return .failure(error)
        }
    }
}

/// The list of rooms as it is sent.
struct RenderedRoomList: Sendable {
    /// The body of `GET /api/rooms`.
    let json: [UInt8]
    /// The page at `/`.
    let page: String

    init(_ list: RoomList) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings and numbers that came as JSON always encode.
        let rooms = list.rooms.map {
            RoomSummary(
                room: $0.room, address: $0.address, index: $0.index, visible: $0.visible, cohorts: $0.cohorts)
        }
        json = (try? encoder.encode(RoomList(rooms: rooms))).map(Array.init) ?? []
        page = IndexPage(rooms: list.rooms, notice: nil).html
    }
}
