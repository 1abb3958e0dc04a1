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

    init(_ list: MergedRoomList) {
        json = Self.json(list.rooms, missing: list.isComplete ? nil : list.missing, isComplete: list.isComplete)
    }

    /// `{"complete":true,"rooms":[…]}`
    /// - Parameters:
    ///   - missing: partitions of which rooms may be missing; nil in a complete list, and when no daemon tells.
    ///   - isComplete: whether every daemon has answered that has rooms.
    private static func json(_ rooms: [RoomSummary], missing: [Int]?, isComplete: Bool) -> [UInt8] {
        var bytes = Array("{\"complete\":\(isComplete),".utf8)
        if let missing {
            bytes += "\"missing\":[\(missing.map(String.init).joined(separator: ","))],".utf8
        }
        bytes += "\"rooms\":[".utf8
        for (position, room) in rooms.enumerated() {
            if position > 0 { bytes.append(UInt8(ascii: ",")) }
            let line = RoomSummary(
                room: room.room, address: room.address, index: room.index, visible: room.visible,
                cohorts: room.cohorts)
            line.encode(into: &bytes)
        }
        bytes += "]}".utf8
        return bytes
    }
}
