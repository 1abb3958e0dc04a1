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

struct RenderedRoomList: Sendable {
    /// All rooms: the body of `GET /api/rooms`.
    let json: [UInt8]
    private let list: MergedRoomList

    init(_ list: MergedRoomList) {
        self.list = list
        json = Self.json(list, list.rooms, addressesOnly: false)
    }

    func json(_ filter: RoomFilter) -> [UInt8] {
        filter.isNone ? json : Self.json(list, filter.rooms(of: list.rooms), addressesOnly: filter.seesAddressesOnly)
    }

    /// `{"complete":true,"rooms":[…]}`, with the partitions of which rooms may be missing.
    /// - Parameter addressesOnly: whether where the rooms stand is left out.
    private static func json(
        _ list: MergedRoomList, _ rooms: some Sequence<RoomSummary>, addressesOnly: Bool
    ) -> [UInt8] {
        var bytes = Array("{\"complete\":\(list.isComplete),".utf8)
        if !list.isComplete, let missing = list.missing {
            bytes += "\"missing\":[\(missing.map(String.init).joined(separator: ","))],".utf8
        }
        bytes += "\"rooms\":[".utf8
        for (position, room) in rooms.enumerated() {
            if position > 0 { bytes.append(UInt8(ascii: ",")) }
            if addressesOnly {
                bytes += "{\"room\":".utf8
                bytes.append(string: room.room)
                bytes += ",\"address\":".utf8
                bytes.append(string: room.address)
                bytes.append(UInt8(ascii: "}"))
                continue
            }
            let line = RoomSummary(
                room: room.room, address: room.address, index: room.index, visible: room.visible,
                live: room.live, behindLive: room.behindLive, cohorts: room.cohorts)
            line.encode(into: &bytes)
        }
        bytes += "]}".utf8
        return bytes
    }
}

/// Which rooms a list shows: those whose name begins with a prefix, after a name, so many, of those that a token is for.
struct RoomFilter {
    var prefix = ""
    var after: String?
    var limit: Int?
    var claims: TokenClaims?

    var seesAddressesOnly: Bool { claims?.seesAddressesOnly == true }

    var isNone: Bool {
        prefix.isEmpty && after == nil && limit == nil && !seesAddressesOnly && claims.map { $0.rooms == .all } != false
    }

    /// - Parameter rooms: sorted by name.
    func rooms(of rooms: [RoomSummary]) -> some Sequence<RoomSummary> {
        let own: Set<String>? =
            if let claims, claims.role != .operator, case .some(let names) = claims.rooms {
                Set(names.map(\.text))
            } else {
                nil
            }
        return rooms.lazy.filter { room in
            guard room.room.hasPrefix(prefix), after.map({ room.room > $0 }) ?? true else { return false }
            return own?.contains(room.room) ?? true
        }.prefix(limit ?? .max)
    }
}

extension TokenClaims {
    /// Whether the state of a room is not for the holder: the log's head is the future.
    var seesAddressesOnly: Bool { role == .student || role == .clock }
}
