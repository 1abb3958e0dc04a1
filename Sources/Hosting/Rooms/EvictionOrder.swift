import Whiteboard

/// The order in which rooms give up their places in memory: the one unused for longest first, residents not at all.
///
/// A room in steady use becomes a resident. Where more rooms are used in turn than there are places, the least recently
/// used one is the very room that is needed next, so that without residents every room would be saved and fetched all
/// the time; with them some rooms are always there, and the others take turns in the places that are left. A segmented
/// LRU (Karedla, Love and Wherry, IEEE Computer 27:3, 1994) with seniority: a resident makes place for another one only
/// when it is no longer used. Every operation takes constant time.
struct EvictionOrder: ~Copyable {
    /// A room's place in the order, and how steadily the room has been used since it came.
    struct Entry {
        fileprivate var newer: HostedRoom?
        /// Is in the list, which keeps it alive.
        fileprivate unowned(unsafe) var older: HostedRoom?
        fileprivate var isListed = false
        fileprivate var isResident = false
        fileprivate var uses = 0
        fileprivate var countedUse = Instant.distantPast
    }

    /// Uses within this time of each other count once.
    private static var useInterval: Duration { .milliseconds(100) }
    /// Counted uses after which a room becomes a resident.
    private static var steadyUses: Int { 10 }
    /// A resident that is unused for so long may leave.
    private static var residentIdle: Duration { .seconds(10) }

    private let residentBound: Int
    private var residentCount = 0
    private var residents = RecencyList()
    private var visitors = RecencyList()

    /// - Parameter places: rooms in memory at most. A quarter of them, at least one, is never taken by residents.
    init(places: Int) {
        residentBound = places - max(1, places / 4)
    }

    /// A room with a place has come, or was used.
    mutating func use(_ room: HostedRoom, at now: Instant) {
        if room.eviction.uses == 0 || now - room.eviction.countedUse >= Self.useInterval {
            room.eviction.uses += 1
            room.eviction.countedUse = now
        }
        if room.eviction.isResident { return residents.append(room) }
        guard room.eviction.uses >= Self.steadyUses, room.room?.isBlank == false, hasResidency(at: now) else {
            return visitors.append(room)
        }
        visitors.remove(room)
        room.eviction.isResident = true
        residentCount += 1
        residents.append(room)
    }

    mutating func remove(_ room: HostedRoom) {
        guard room.eviction.isResident else { return visitors.remove(room) }
        residents.remove(room)
        room.eviction.isResident = false
        residentCount -= 1
    }

    /// The room that leaves next; nil where every room that could leave is a resident in use.
    func next(at now: Instant) -> HostedRoom? {
        guard let resident = idleResident(at: now) else { return visitors.oldest }
        guard let visitor = visitors.oldest, visitor.lastUse < resident.lastUse else { return resident }
        return visitor
    }

    /// When a resident may leave that is not used until then.
    var nextIdleResident: Instant? { residents.oldest.map { $0.lastUse + Self.residentIdle } }

    private func idleResident(at now: Instant) -> HostedRoom? {
        residents.oldest.flatMap { now - $0.lastUse >= Self.residentIdle ? $0 : nil }
    }

    /// Whether there may be one resident more. One that is no longer used becomes a visitor.
    private mutating func hasResidency(at now: Instant) -> Bool {
        if residentCount == residentBound, residentBound > 0, let idle = idleResident(at: now) {
            remove(idle)
            visitors.prepend(idle)
        }
        return residentCount < residentBound
    }
}

/// Rooms in the order in which they were last used: a doubly linked list through the rooms.
struct RecencyList: ~Copyable {
    private(set) var oldest: HostedRoom?
    private var newest: HostedRoom?

    /// Each room keeps the next one alive: rooms that were released with the list would release each other, one call within
    /// another, until the stack is full.
    deinit {
        var next = oldest
        while let room = next {
            next = room.eviction.newer
            room.eviction.newer = nil
        }
    }

    /// Puts a room last, wherever it was.
    mutating func append(_ room: HostedRoom) {
        guard newest !== room else { return }
        remove(room)
        room.eviction.isListed = true
        room.eviction.older = newest
        if let newest { newest.eviction.newer = room } else { oldest = room }
        newest = room
    }

    /// Puts a room first that is in no list.
    mutating func prepend(_ room: HostedRoom) {
        room.eviction.isListed = true
        room.eviction.newer = oldest
        if let oldest { oldest.eviction.older = room } else { newest = room }
        oldest = room
    }

    mutating func remove(_ room: HostedRoom) {
        guard room.eviction.isListed else { return }
        room.eviction.isListed = false
        let (older, newer) = (room.eviction.older, room.eviction.newer)
        if let older { older.eviction.newer = newer } else { oldest = newer }
        if let newer { newer.eviction.older = older } else { newest = older }
        room.eviction.older = nil
        room.eviction.newer = nil
    }
}
