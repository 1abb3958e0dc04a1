import StrokeWire
import Whiteboard

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
    let reply: String
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

    var isPicture: Bool {
        switch kind {
        case .image, .asset: true
        case .join, .replay, .info: false
        }
    }

    /// Bytes that it occupies while it waits, about.
    var cost: Int { payload.count + reply.utf8.count + 256 }
}

/// Requests about rooms that are being fetched, or whose partition is being recovered.
///
/// Bounded in bytes, pictures apart from all others; a request beyond the bound is refused. Requests expire after the time
/// that clients wait for a reply.
struct WaitingRequests {
    private let limit: Int
    private var requests: [RoomID: [RoomRequest]] = [:]
    private var bytes = (pictures: 0, others: 0)
    /// When expired requests were last removed.
    private var cleanedAt = Instant.distantPast

    private static let timeout = Duration.seconds(5)
    private static let cleaningInterval = Duration.seconds(1)

    /// - Parameter limit: bytes of pictures, and as many of all other requests.
    init(limit: Int = 4 << 20) {
        self.limit = limit
    }

    /// - Returns: false if the bound is reached.
    mutating func add(_ request: RoomRequest, at now: Instant) -> Bool {
        func fits() -> Bool { (request.isPicture ? bytes.pictures : bytes.others) + request.cost <= limit }
        if !fits() { removeExpired(at: now) }
        guard fits() else { return false }
        count(request.cost, request)
        requests[request.address.room, default: []].append(request)
        return true
    }

    /// Removes and returns the requests for a room that have not expired.
    mutating func take(_ room: RoomID, at now: Instant) -> [RoomRequest] {
        guard let waiting = requests.removeValue(forKey: room) else { return [] }
        for request in waiting { count(-request.cost, request) }
        return waiting.filter { now - $0.arrivedAt < Self.timeout }
    }

    var rooms: [RoomID] { Array(requests.keys) }

    func rooms(of partition: Int) -> [RoomID] {
        requests.compactMap { $1.first?.address.partition == partition ? $0 : nil }
    }

    private mutating func removeExpired(at now: Instant) {
        guard now - cleanedAt >= Self.cleaningInterval else { return }
        cleanedAt = now
        for room in rooms {
            let waiting = take(room, at: now)
            for request in waiting { count(request.cost, request) }
            requests[room] = waiting.isEmpty ? nil : waiting
        }
    }

    private mutating func count(_ cost: Int, _ request: RoomRequest) {
        if request.isPicture { bytes.pictures += cost } else { bytes.others += cost }
    }
}
