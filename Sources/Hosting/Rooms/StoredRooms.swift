import HeapModule
import StrokeWire
import Whiteboard

/// The rooms of a host that are not in memory, each until its checkpoint has gone by its age.
///
/// A room costs at most 200 bytes where its name has 16 and it has two cohorts, all told, plus its state where that is
/// kept here, and where a cohort has paused up to 17 for each and 9 for all: 40 for its slot, at most 11 of the index, at most 40 of
/// the queue of wakes, and the packed room.
struct StoredRooms {
    private struct Slot {
        /// A `PackedRoom`; empty where the slot is free.
        var bytes: [UInt8] = []
        /// When it has to come into memory though nobody asks for it.
        var wake = Instant.distantFuture
        /// When nothing is stored of it any more.
        var end = Instant.distantFuture
        var hash: UInt32 = 0
        /// Neighbours in the order in which they were put here; of a free slot, the next free one.
        var older = none
        var newer = none
    }

    /// What is known of a room.
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

    /// In the order of their names.
    func names(where isWanted: (RoomID, StoredRoom) -> Bool) -> [RoomID] {
        var names: [RoomID] = []
        forEach { packed in
            let room = packed.room
            if isWanted(room, packed.entry(prefixes).stored) { names.append(room) }
        }
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

    /// Where the index has a room.
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

/// What names of lives begin with: one for each partition's log, so that a room need not have it of its own.
struct IncarnationPrefixes {
    private var texts: [String] = []
    /// Beyond, a name is kept whole.
    private static let bound = 128

    subscript(number: Int) -> String { texts[number] }

    /// - Returns: the number of the prefix, nil where there are too many.
    mutating func number(of prefix: Substring) -> Int? {
        if let known = texts.firstIndex(where: { $0 == prefix }) { return known }
        guard texts.count < Self.bound else { return nil }
        texts.append(String(prefix))
        return texts.count - 1
    }
}

/// A room that is not in memory, in as few bytes as it takes: its name first.
private struct PackedRoom {
    private(set) var bytes: [UInt8]

    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let quiet = Flags(rawValue: 1)
        static let state = Flags(rawValue: 2)
        /// The life's name is a known prefix and a number.
        static let prefix = Flags(rawValue: 4)
        static let counted = Flags(rawValue: 8)
        /// Cursors have pauses, which are rare.
        static let pauses = Flags(rawValue: 16)
        static let waits = Flags(rawValue: 32)
    }

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    init(
        _ room: RoomID, _ stored: StoredRoom, state: [UInt8], isCounted: Bool, _ waitsFrom: Instant?,
        _ prefixes: inout IncarnationPrefixes
    ) {
        let life = Self.split(stored.incarnation).flatMap { parts in
            prefixes.number(of: parts.prefix).map { (prefix: $0, number: parts.number) }
        }
        var flags: Flags = []
        if stored.isQuiet { flags.insert(.quiet) }
        if stored.hasState { flags.insert(.state) }
        if isCounted { flags.insert(.counted) }
        if life != nil { flags.insert(.prefix) }
        let hasPauses = stored.cursors.values.contains { $0 != CohortCursor($0.released) }
        if hasPauses { flags.insert(.pauses) }
        if waitsFrom != nil { flags.insert(.waits) }
        var writer = PackedWriter()
        writer.write(room.text)
        writer.bytes.append(flags.rawValue)
        if let life {
            writer.write(UInt64(life.prefix))
            writer.write(life.number)
        } else {
            writer.write(stored.incarnation)
        }
        writer.write(stored.sequence)
        writer.write(stored.handled &- stored.sequence)
        if let waitsFrom { writer.write(UInt64(bitPattern: waitsFrom.nanoseconds)) }
        writer.write(UInt64(stored.cursors.count))
        for (name, cursor) in stored.cursors {
            writer.write(name == .main ? "" : name.text)
            writer.write(cursor.released)
            if hasPauses { writer.writePauses(of: cursor) }
        }
        bytes = Array(unsafeUninitializedCapacity: writer.bytes.count + state.count) { buffer, count in
            count = writer.bytes.count + state.count
            _ = buffer.initialize(from: writer.bytes + state)
        }
    }

    var room: RoomID {
        guard let room = RoomID(String(decoding: bytes[1..<(1 + Int(bytes[0]))], as: UTF8.self)) else {
            preconditionFailure("a name that was packed is none")
        }
        return room
    }

    func isNamed(_ room: RoomID) -> Bool {
        bytes[1..<(1 + Int(bytes[0]))].elementsEqual(room.text.utf8)
    }

    func entry(_ prefixes: IncarnationPrefixes) -> StoredRooms.Entry {
        var reader = PackedReader(bytes: bytes, position: 1 + Int(bytes[0]))
        let flags = Flags(rawValue: reader.byte())
        let incarnation: String
        if flags.contains(.prefix) {
            let prefix = prefixes[Int(reader.integer())]
            incarnation = "\(prefix)-\(reader.integer())"
        } else {
            incarnation = reader.text()
        }
        let sequence = reader.integer()
        let handled = sequence &+ reader.integer()
        let waitsFrom = flags.contains(.waits) ? Instant(nanoseconds: Int64(bitPattern: reader.integer())) : nil
        var cursors: [CohortName: CohortCursor] = [:]
        for _ in 0..<reader.integer() {
            let name = CohortName(reader.text()) ?? .main
            var cursor = CohortCursor(reader.integer())
            if flags.contains(.pauses) { reader.readPauses(of: &cursor) }
            cursors[name] = cursor
        }
        let stored = StoredRoom(
            sequence: sequence, handled: handled, cursors: cursors, isQuiet: flags.contains(.quiet),
            hasState: flags.contains(.state), incarnation: incarnation)
        return StoredRooms.Entry(
            room: room, stored: stored, state: Array(bytes[reader.position...]), isCounted: flags.contains(.counted),
            waitsFrom: waitsFrom)
    }

    /// The prefix and the number of a life's name; nil where they would not give the same name again.
    private static func split(_ incarnation: String) -> (prefix: Substring, number: UInt64)? {
        guard let dash = incarnation.lastIndex(of: "-"), let number = UInt64(incarnation[dash...].dropFirst()),
            incarnation[dash...].dropFirst() == "\(number)"
        else { return nil }
        return (incarnation[..<dash], number)
    }
}

/// Integers take seven bits a byte, lowest first; texts have their length before them.
private struct PackedWriter {
    var bytes: [UInt8] = []

    mutating func write(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func write(_ text: String) {
        write(UInt64(text.utf8.count))
        bytes += text.utf8
    }

    mutating func writePauses(of cursor: CohortCursor) {
        let (seconds, attoseconds) = cursor.pausedTime.components
        write(UInt64(bitPattern: seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000))
        bytes.append(cursor.pausedSince == nil ? 0 : 1)
        if let since = cursor.pausedSince { write(UInt64(bitPattern: since.nanoseconds)) }
    }
}

private struct PackedReader {
    let bytes: [UInt8]
    var position: Int

    mutating func byte() -> UInt8 {
        defer { position += 1 }
        return bytes[position]
    }

    mutating func integer() -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = byte()
            value |= UInt64(byte & 0x7f) << shift
            shift += 7
            if byte < 0x80 { return value }
        }
    }

    mutating func readPauses(of cursor: inout CohortCursor) {
        cursor.pausedTime = .nanoseconds(Int64(bitPattern: integer()))
        if byte() == 1 { cursor.pausedSince = Instant(nanoseconds: Int64(bitPattern: integer())) }
    }

    mutating func text() -> String {
        let count = Int(integer())
        defer { position += count }
        return String(decoding: bytes[position..<(position + count)], as: UTF8.self)
    }
}
