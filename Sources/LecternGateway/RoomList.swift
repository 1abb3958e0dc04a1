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

    /// `{"complete":true,"rooms":[…]}`
    private struct Body: Encodable {
        /// Whether every daemon has answered that has rooms.
        let complete: Bool
        /// Partitions of which rooms may be missing; not there in a complete list, and when no daemon tells.
        let missing: [Int]?
        let rooms: [RoomSummary]
    }

    init(_ list: MergedRoomList) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let rooms = list.rooms
        // Strings and numbers that came as JSON always encode.
        let body = Body(
            complete: list.isComplete, missing: list.isComplete ? nil : list.missing,
            rooms: rooms.map {
                RoomSummary(
                    room: $0.room, address: $0.address, index: $0.index, visible: $0.visible, cohorts: $0.cohorts)
            })
        json = (try? encoder.encode(body)).map(Array.init) ?? []
        page = IndexPage(rooms: rooms, notice: list.isComplete ? nil : Self.notice(list.missing)).html
    }

    private static func notice(_ missing: [Int]?) -> String {
        let daemons = "Rooms may be missing: not every daemon has answered"
        guard let missing else { return "\(daemons)." }
        let partitions = missing.map(String.init).joined(separator: ", ")
        return "\(daemons) (partition\(missing.count == 1 ? "" : "s") \(partitions))."
    }
}
