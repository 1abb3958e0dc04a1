internal import StrokeWire

/// The name of an operation of an author: its session, and its number there.
public struct OperationKey: Sendable, Hashable, Comparable {
    public let session: String
    public let number: Int64

    public init(session: String, number: Int64) {
        (self.session, self.number) = (session, number)
    }

    /// Sessions in the order in which they began: their names begin with the time.
    public static func < (one: OperationKey, other: OperationKey) -> Bool {
        if one.session == other.session { return one.number < other.number }
        return one.session.utf8.lexicographicallyPrecedes(other.session.utf8)
    }
}

/// Operations in their order, with the bytes of their messages.
struct OperationList: Sendable {
    typealias Entry = OperationOutbox.Entry

    private(set) var entries: [Entry] = []
    private(set) var byteCount = 0

    init() {}

    init(_ entries: [Entry]) {
        self.entries = entries.sorted { $0.key < $1.key }
        byteCount = entries.reduce(0) { $0 + $1.byteCount }
    }

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }

    subscript(_ key: OperationKey) -> Entry? {
        let place = place(of: key)
        return place < entries.count && entries[place].key == key ? entries[place] : nil
    }

    mutating func insert(_ entry: Entry) {
        // Mostly behind all others.
        let isLast = entries.last.map { $0.key < entry.key } ?? true
        entries.insert(entry, at: isLast ? entries.count : place(of: entry.key))
        byteCount += entry.byteCount
    }

    mutating func remove(_ key: OperationKey) -> Entry? {
        let place = place(of: key)
        guard place < entries.count, entries[place].key == key else { return nil }
        byteCount -= entries[place].byteCount
        return entries.remove(at: place)
    }

    mutating func removeFirst() -> Entry {
        byteCount -= entries[0].byteCount
        return entries.removeFirst()
    }

    mutating func removeAll(where isMeant: (Entry) -> Bool) -> [Entry] {
        let removed = entries.filter(isMeant)
        guard !removed.isEmpty else { return [] }
        entries.removeAll(where: isMeant)
        byteCount -= removed.reduce(0) { $0 + $1.byteCount }
        return removed
    }

    mutating func change(_ key: OperationKey, _ body: (inout Entry) -> Void) {
        let place = place(of: key)
        if place < entries.count, entries[place].key == key { body(&entries[place]) }
    }

    private func place(of key: OperationKey) -> Int { entries.partitioningIndex { $0.key >= key } }
}
