import StrokeWire
import Whiteboard

/// A request about one room.
struct RoomRequest: Sendable {
    enum Kind: Sendable {
        case join(RoomFeed)
        case image(RoomFeed)
        case replay(RoomFeed)
        case asset(RoomFeed)
        case info
    }

    let kind: Kind
    let address: RoomAddress
    let payload: [UInt8]
    /// The subject to reply to.
    let reply: String
    /// When it arrived.
    let arrivedAt: Instant

    init(kind: Kind, address: RoomAddress, payload: [UInt8], reply: String, arrivedAt: Instant) {
        self.kind = kind
        self.address = address
        // A byte too many is enough to refuse it: clients are not to fill what others wait in, too.
        let most = JoinRequest.maximumBytes + 1
        self.payload = payload.count > most ? Array(payload.prefix(most)) : payload
        self.reply = reply
        self.arrivedAt = arrivedAt
    }

    /// Bytes that it occupies while it waits, about.
    var cost: Int { payload.count + reply.utf8.count + 256 }
}

/// Requests about rooms that are being fetched, or whose partition is being recovered.
///
/// Bounded in bytes, joins apart from pictures; a request beyond the bound is refused. Requests expire after the time
/// that clients wait for a reply.
struct WaitingRequests {
    private struct Share {
        var bytes = 0
        /// When expired requests were last removed.
        var cleanedAt = Instant.distantPast
    }

    private let limit: Int
    private var requests: [RoomID: [RoomRequest]] = [:]
    /// Of pictures.
    private var images = Share()
    /// Of all other requests.
    private var joins = Share()

    private static let timeout = Duration.seconds(5)
    private static let cleaningInterval = Duration.seconds(1)

    /// - Parameter limit: bytes of pictures, and as many of all other requests.
    init(limit: Int = 4 << 20) {
        self.limit = limit
    }

    /// - Returns: false if the bound is reached.
    mutating func add(_ request: RoomRequest, at now: Instant) -> Bool {
        let share = share(of: request)
        if self[keyPath: share].bytes + request.cost > limit { removeExpired(share, at: now) }
        guard self[keyPath: share].bytes + request.cost <= limit else { return false }
        self[keyPath: share].bytes += request.cost
        requests[request.address.room, default: []].append(request)
        return true
    }

    /// Removes and returns the requests for a room that have not expired.
    mutating func take(_ room: RoomID, at now: Instant) -> [RoomRequest] {
        guard let waiting = requests.removeValue(forKey: room) else { return [] }
        for request in waiting { self[keyPath: share(of: request)].bytes -= request.cost }
        return waiting.filter { !Self.isExpired($0, at: now) }
    }

    var rooms: [RoomID] { Array(requests.keys) }

    func rooms(of partition: Int) -> [RoomID] {
        requests.compactMap { $1.first?.address.partition == partition ? $0 : nil }
    }

    private mutating func removeExpired(_ share: WritableKeyPath<Self, Share>, at now: Instant) {
        guard now - self[keyPath: share].cleanedAt >= Self.cleaningInterval else { return }
        self[keyPath: share].cleanedAt = now
        for room in rooms {
            let waiting = take(room, at: now)
            for request in waiting { self[keyPath: self.share(of: request)].bytes += request.cost }
            requests[room] = waiting.isEmpty ? nil : waiting
        }
    }

    private func share(of request: RoomRequest) -> WritableKeyPath<Self, Share> {
        switch request.kind {
        case .image, .asset: \.images
        case .join, .replay, .info: \.joins
        }
    }

    private static func isExpired(_ request: RoomRequest, at now: Instant) -> Bool {
        now - request.arrivedAt >= timeout
    }
}
