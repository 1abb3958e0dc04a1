/// A service's list of its rooms, or a page of it, `{"page":{…},"rooms":[…]}`: a reply to `<root>.rooms`.
public struct RoomList: Sendable, Hashable, Codable {
    /// The place of a page in the list of one service, and what that list covers.
    public struct Page: Sendable, Hashable, Codable {
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
            self.service = service
            self.number = number
            self.count = count
            self.partitions = partitions
            self.covered = covered
        }
    }

    /// Nil in the lists of older services.
    public let page: Page?
    public let rooms: [RoomSummary]

    public init(page: Page? = nil, rooms: [RoomSummary]) {
        self.page = page
        self.rooms = rooms
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
