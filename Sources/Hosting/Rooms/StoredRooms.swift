import HeapModule
import StrokeWire
import Whiteboard

/// The hibernated rooms of a host, each until its checkpoint expires.
///
/// A room with a name of 16 bytes and two cohorts takes at most 200 bytes: 40 for its slot, at most 11 of the index, at most
/// 40 of the queue of wakes, and the packed room. Its state, where that is kept here, comes on top; so do up to 18 bytes for
/// each cohort's clock, and, where a cohort has paused, up to 17 for each cohort and 9 for the room.
struct StoredRooms {
    private struct Slot {
        /// A `PackedRoom`; empty where the slot is free.
        var bytes: [UInt8] = []
        /// When it has to be loaded though nobody asks for it.
        var wake = Instant.distantFuture
        /// When nothing is stored of it any more.
        var end = Instant.distantFuture
        var hash: UInt32 = 0
        /// Neighbours in the order in which they were put here; of a free slot, the next free one.
        var older = none
        var newer = none
    }

    /// A hibernated room.
    struct Entry {
        let room: RoomID
        let stored: StoredRoom
        /// Empty where it is kept elsewhere.
        let state: [UInt8]
        /// Whether it counts among the rooms that may be stored.
        let isCounted: Bool
        /// Where a cohort has paused: since when what it holds waits at the earliest, in this process.
        let waitsFrom: Instant?
    }

    private struct Wake: Comparable {
        let at: Instant
        let slot: UInt32
        static func < (left: Wake, right: Wake) -> Bool {
            left.at == right.at ? left.slot < right.slot : left.at < right.at
        }
    }

    private static let none = UInt32.max
    private static let pageSize = 1024

    /// In pages, so that growing copies nothing and leaves nothing unused.
    private var pages: [[Slot]] = []
    private var firstFree = none
    private var oldest = none
    private var newest = none
    /// Slots by hash, with linear probing; a power of two, at most three quarters full.
    private var index: [UInt32] = Array(repeating: none, count: 64)
    private var wakes = Heap<Wake>()
    private var wakeCount = 0
    private var prefixes = IncarnationPrefixes()
    private(set) var count = 0
    /// Bytes of the states that are kept here.
    private(set) var stateBytes = 0

    subscript(room: RoomID) -> StoredRoom? {
        place(of: room).map { PackedRoom(bytes: self[slot: index[$0]].bytes).entry(prefixes).stored }
    }

    /// - Parameters:
    ///   - state: kept with it where there is no other place for it.
    ///   - waitsFrom: where a cohort has paused: since when what it holds waits at the earliest.
    ///   - wake: when it has to come into memory though nobody asks for it; nil for never.
    ///   - end: nothing is stored of the room any more from then on; nil for never.
    mutating func put(
        _ stored: StoredRoom, state: [UInt8] = [], of room: RoomID, isCounted: Bool, waitsFrom: Instant? = nil,
        wake: Instant? = nil, until end: Instant?
    ) {
        _ = take(room)
        if (count + 1) * 4 > index.count * 3 { growIndex() }
        var slot = Slot()
        slot.bytes = PackedRoom(room, stored, state: state, isCounted: isCounted, waitsFrom, &prefixes).bytes
        slot.wake = .distantFuture
        slot.end = end ?? .distantFuture
        slot.hash = Self.hash(room)
        slot.older = newest
        let number = freeSlot()
        self[slot: number] = slot
        if newest != Self.none { self[slot: newest].newer = number } else { oldest = number }
        newest = number
        insert(number, hash: slot.hash)
        count += 1
        stateBytes += state.count
        if let wake { setWake(wake, slot: number) }
    }

    /// Has a room come into memory at some time.
    mutating func setWake(_ wake: Instant, of room: RoomID) {
        if let place = place(of: room) { setWake(wake, slot: index[place]) }
    }

    mutating func take(_ room: RoomID) -> Entry? {
        guard let place = place(of: room) else { return nil }
        let number = index[place]
        let packed = PackedRoom(bytes: self[slot: number].bytes)
        let taken = packed.entry(prefixes)
        stateBytes -= taken.state.count
        setWake(.distantFuture, slot: number)
        removeFromIndex(place)
        let slot = self[slot: number]
        if slot.older != Self.none { self[slot: slot.older].newer = slot.newer } else { oldest = slot.newer }
        if slot.newer != Self.none { self[slot: slot.newer].older = slot.older } else { newest = slot.older }
        self[slot: number] = Slot()
        self[slot: number].newer = firstFree
        firstFree = number
        count -= 1
        if count == 0 { self = StoredRooms() }
        return taken
    }

    // MARK: By time

    /// When `takeGone` has something to take; never too late where rooms are kept for the same time.
    var nextEnd: Instant? {
        guard oldest != Self.none, self[slot: oldest].end < .distantFuture else { return nil }
        return self[slot: oldest].end
    }

    /// Takes out a room of which nothing is stored any more.
    mutating func takeGone(at now: Instant) -> Entry? {
        guard let end = nextEnd, end <= now else { return nil }
        return takeOldest()
    }

    /// Takes out the room that was put here first.
    mutating func takeOldest() -> Entry? {
        oldest == Self.none ? nil : take(PackedRoom(bytes: self[slot: oldest].bytes).room)
    }

    /// When a room has to come into memory; possibly too early, never too late.
    var nextWake: Instant? { wakes.min?.at }

    /// A room that has to come into memory now. It stays here until it is taken; it is named once.
    mutating func popDue(at now: Instant) -> RoomID? {
        while let wake = wakes.min, wake.at <= now {
            wakes.removeMin()
            guard self[slot: wake.slot].wake == wake.at else { continue }
            self[slot: wake.slot].wake = .distantFuture
            wakeCount -= 1
            return PackedRoom(bytes: self[slot: wake.slot].bytes).room
        }
        return nil
    }

    private mutating func setWake(_ wake: Instant, slot: UInt32) {
        if self[slot: slot].wake < .distantFuture { wakeCount -= 1 }
        self[slot: slot].wake = wake
        guard wake < .distantFuture else { return }
        wakeCount += 1
        wakes.insert(Wake(at: wake, slot: slot))
        if wakes.count > wakeCount + wakeCount / 4 + 64 {
            wakes = Heap(wakes.unordered.filter { self[slot: $0.slot].wake == $0.at })
        }
    }

    // MARK: All of them

    /// In no order.
    var names: [RoomID] {
        var names: [RoomID] = []
        names.reserveCapacity(count)
        forEach { packed in names.append(packed.room) }
        return names
    }

    /// In the order of their names. Looks at each room, while those in memory wait: what is wanted has to be cheap to tell.
    func names(where isWanted: (PackedRoom) -> Bool) -> [RoomID] {
        var names: [RoomID] = []
        forEach { packed in if isWanted(packed) { names.append(packed.room) } }
        return names.sorted()
    }

    private func forEach(_ body: (PackedRoom) -> Void) {
        for page in pages { for slot in page where !slot.bytes.isEmpty { body(PackedRoom(bytes: slot.bytes)) } }
    }

    /// Bytes that it occupies.
    /// - Parameter sizeOf: bytes that an array with so many bytes occupies.
    func footprint(sizeOf: ([UInt8]) -> Int) -> Int {
        var sum = index.capacity * MemoryLayout<UInt32>.stride
        sum += pages.reduce(0) { $0 + $1.capacity * MemoryLayout<Slot>.stride + 32 }
        // The heap's array may be half empty.
        sum += wakes.count * 2 * MemoryLayout<Wake>.stride
        forEach { sum += sizeOf($0.bytes) }
        return sum
    }

    // MARK: Slots and index

    private subscript(slot number: UInt32) -> Slot {
        _read { yield pages[Int(number) / Self.pageSize][Int(number) % Self.pageSize] }
        _modify { yield &pages[Int(number) / Self.pageSize][Int(number) % Self.pageSize] }
    }

    private mutating func freeSlot() -> UInt32 {
        if firstFree == Self.none {
            let first = UInt32(pages.count * Self.pageSize)
            var page = Array(repeating: Slot(), count: Self.pageSize)
            for position in page.indices.dropLast() { page[position].newer = first + UInt32(position) + 1 }
            pages.append(page)
            firstFree = first
        }
        defer { firstFree = self[slot: firstFree].newer }
        return firstFree
    }

    private static func hash(_ room: RoomID) -> UInt32 {
        var hasher = Hasher()
        hasher.combine(room.text)
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }

    private func place(of room: RoomID) -> Int? {
        let hash = Self.hash(room)
        var place = home(hash)
        while index[place] != Self.none {
            if self[slot: index[place]].hash == hash, PackedRoom(bytes: self[slot: index[place]].bytes).isNamed(room) {
                return place
            }
            place = (place + 1) & (index.count - 1)
        }
        return nil
    }

    private func home(_ hash: UInt32) -> Int { Int(hash) & (index.count - 1) }

    private mutating func insert(_ slot: UInt32, hash: UInt32) {
        var place = home(hash)
        while index[place] != Self.none { place = (place + 1) & (index.count - 1) }
        index[place] = slot
    }

    /// Moves those behind it that were put aside for it.
    private mutating func removeFromIndex(_ place: Int) {
        let mask = index.count - 1
        var free = place
        var next = (place + 1) & mask
        while index[next] != Self.none {
            let home = home(self[slot: index[next]].hash)
            if (next - home) & mask >= (next - free) & mask {
                index[free] = index[next]
                free = next
            }
            next = (next + 1) & mask
        }
        index[free] = Self.none
    }

    private mutating func growIndex() {
        let slots = index.filter { $0 != Self.none }
        index = Array(repeating: Self.none, count: index.count * 2)
        for slot in slots { insert(slot, hash: self[slot: slot].hash) }
    }
}
