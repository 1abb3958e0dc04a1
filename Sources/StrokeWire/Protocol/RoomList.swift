/// A service's list of its rooms, or a page of it, `{"page":{…},"rooms":[…]}`: a reply to `<root>.rooms`.
public struct RoomList: Sendable, Hashable {
    /// The place of a page in the list of one service, and what that list covers.
    public struct Page: Sendable, Hashable {
        /// The service, by its name among those of the root.
        public let service: String
        /// Number of this page, from 1.
        public let number: Int
        /// Number of pages of the list.
        public let count: Int
        /// Number of partitions of the root.
        public let partitions: Int
        /// Partitions, in order, of which the list has every room.
        public let covered: [Int]

        public init(service: String, number: Int, count: Int, partitions: Int, covered: [Int]) {
            (self.service, self.number, self.count) = (service, number, count)
            (self.partitions, self.covered) = (partitions, covered)
        }
    }

    /// Nil in the lists of older services.
    public let page: Page?
    public let rooms: [RoomSummary]

    public init(page: Page? = nil, rooms: [RoomSummary]) { (self.page, self.rooms) = (page, rooms) }
}

extension RoomList {
    /// Writes the reply.
    public func encoded() -> [UInt8] {
        var bytes = Self.head(page)
        for (position, room) in rooms.enumerated() {
            if position > 0 { bytes.append(",") }
            room.encode(into: &bytes)
        }
        bytes.append("]}")
        return bytes
    }

    /// The lists of a service that have all of these rooms, in order, each of at most so many bytes: one at least.
    ///
    /// A room alone may be longer than a list should be.
    public static func pages(
        of rooms: [RoomSummary], service: String, partitions: Int, covered: [Int], bytes limit: Int
    ) -> [[UInt8]] {
        func head(_ number: Int, of count: Int) -> [UInt8] {
            Self.head(Page(service: service, number: number, count: count, partitions: partitions, covered: covered))
        }
        // With the longest numbers that it may have, and the brackets at the end.
        let room = limit - head(rooms.count, of: rooms.count).count - 2
        var bodies: [[UInt8]] = [[]]
        var line: [UInt8] = []
        for summary in rooms {
            line.removeAll(keepingCapacity: true)
            summary.encode(into: &line)
            let last = bodies.count - 1
            if bodies[last].isEmpty {
                bodies[last] += line
            } else if bodies[last].count + 1 + line.count > room {
                bodies.append(line)
            } else {
                bodies[last].append(",")
                bodies[last] += line
            }
        }
        return bodies.enumerated().map { number, body in
            var bytes = head(number + 1, of: bodies.count)
            bytes += body
            bytes.append("]}")
            return bytes
        }
    }

    /// All that comes before the first room.
    private static func head(_ page: Page?) -> [UInt8] {
        var bytes = [UInt8(ascii: "{")]
        if let page {
            bytes.appendObject("page") { body in
                body.append("count", integer: page.count)
                body.append("covered", list: page.covered) { $0.append(integer: $1) }
                body.append("number", integer: page.number)
                body.append("partitions", integer: page.partitions)
                body.append("service", string: page.service)
            }
        }
        bytes.append(name: "rooms")
        bytes.append(UInt8(ascii: "["))
        return bytes
    }

    /// Reads a reply.
    /// - Throws: the first fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(bytes, keeping: ["page", "rooms"], limit: .max).withoutNulls
        let rooms = try body.objects("rooms", keeping: RoomSummary.keys) { body throws(Rejection) in
            try RoomSummary(body)
        }
        self.init(
            page: try body["page"].map { (token) throws(Rejection) in try Page(token, of: bytes) },
            rooms: try rooms.required("rooms"))
    }
}

extension RoomList.Page {
    fileprivate init(_ token: JSONToken, of bytes: [UInt8]) throws(Rejection) {
        let names = ["service", "number", "count", "partitions", "covered"]
        let body = try JSONObject(token, of: bytes, keeping: names, field: "page")
        let covered = try body.integers("covered", in: 0...Int64.max, atMost: .max)
        try self.init(
            service: body.requiredString("service", limit: .max), number: body.count("number").required("number"),
            count: body.count("count").required("count"), partitions: body.count("partitions").required("partitions"),
            covered: covered.required("covered").map { Int(clamping: $0) })
    }
}

/// The rooms of all services, from their lists. It knows when every partition is covered: no other service has a room
/// that is not here.
public struct MergedRoomList: Sendable {
    /// The pages of one service that have come.
    private struct Pages {
        var numbers: Set<Int> = []
        let count: Int
    }

    /// More partitions, pages or services than there can be are not kept account of.
    private static let bound = 4096

    private var known: [String: RoomSummary] = [:]
    private var pages: [String: Pages] = [:]
    private var partitions = 0
    private var covered: Set<Int> = []

    public init() {}

    /// The rooms by name, each once, without ill-named ones. Two services list a room while its owner changes: the higher
    /// index wins, then the one that has the room in memory.
    public var rooms: [RoomSummary] { known.values.sorted { $0.room < $1.room } }

    /// Partitions of which rooms may be missing; nil while no service has told how many there are.
    public var missing: [Int]? { partitions == 0 ? nil : (0..<partitions).filter { !covered.contains($0) } }

    /// Whether the rooms of all partitions are here.
    public var isComplete: Bool { partitions > 0 && covered.count == partitions }

    /// Adds a list, or a page of one.
    public mutating func add(_ list: RoomList) {
        for room in list.rooms where room.isWellNamed {
            if let other = known[room.room], other.rank >= room.rank { continue }
            known[room.room] = room
        }
        if let page = list.page { note(page) }
    }

    /// A list covers its partitions when all of its pages are here.
    private mutating func note(_ page: RoomList.Page) {
        guard 1...Self.bound ~= page.partitions, 1...Self.bound ~= page.count, 1...page.count ~= page.number,
            pages[page.service] != nil || pages.count < Self.bound
        else { return }
        partitions = max(partitions, page.partitions)
        var list = pages[page.service] ?? Pages(count: page.count)
        // Another process may have been given the same name.
        guard list.count == page.count else { return }
        list.numbers.insert(page.number)
        pages[page.service] = list
        if list.numbers.count == list.count { covered.formUnion(page.covered.filter((0..<partitions).contains)) }
    }
}

extension RoomSummary {
    fileprivate var rank: (UInt64, Int) { (index, isHibernated == true ? 0 : 1) }
}
