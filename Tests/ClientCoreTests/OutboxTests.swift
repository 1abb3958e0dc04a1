import StrokeWire
import TestSupport
import Testing

@testable import ClientCore

/// A store that several outboxes share, as the tabs of a browser do.
private struct SharedStore {
    var records: [OperationKey: [UInt8]] = [:]
    var isFull = false
    private var sessions = 0

    mutating func open(_ outbox: inout Outbox) {
        sessions += 1
        let stored = isFull ? nil : records.map { StoredOperation($0.key, bytes: $0.value) }
        outbox.open(stored, session: "session-\(sessions)")
        write(&outbox)
    }

    /// A page that has just been opened.
    mutating func opened() -> Outbox {
        var outbox = Outbox()
        open(&outbox)
        return outbox
    }

    mutating func write(_ outbox: inout Outbox) {
        while let write = outbox.takeWrite() {
            if !isFull {
                for record in write.records { records[record.key] = record.bytes }
                for key in write.deleted { records[key] = nil }
            }
            outbox.stored(write.id, isKept: !isFull)
        }
    }

    mutating func add(_ name: String, to outbox: inout Outbox) throws {
        try addUnwritten(name, to: &outbox)
        write(&outbox)
    }

    func addUnwritten(_ name: String, to outbox: inout Outbox) throws {
        let message = Array("{\"by\":\"\(name)\",\"n\":\(outbox.next),\"d\":[{\"x\":1,\"y\":2}]}".utf8)
        outbox.add([message], try StrokeMessage(decoding: message, limits: .any), at: .zero)
    }

    mutating func applyAll(_ outbox: inout Outbox) {
        for key in outbox.waiting.map(\.key) { _ = outbox.applied(key, in: outbox.room) }
        write(&outbox)
    }

    mutating func follow(_ outbox: inout Outbox, _ incarnation: String) -> Bool {
        let isChanged = !outbox.follow(incarnation).isEmpty
        write(&outbox)
        return isChanged
    }
}

extension Outbox {
    fileprivate var names: String {
        waiting.map { operation in
            let fields = String(decoding: operation.messages[0].bytes, as: UTF8.self).split(separator: "\"")
            return fields.firstIndex(of: "by").map { String(fields[$0 + 2]) } ?? ""
        }.joined(separator: ",")
    }

    /// The numbers of what waits, with the ends of its sessions.
    fileprivate var keys: [String] { waiting.map { "\($0.key.session.suffix(1)).\($0.key.number)" } }
}

@Suite struct `What a teacher has drawn and no checkpoint holds` {
    private var store = SharedStore()

    @Test
    mutating func `an outbox opened again keeps what is in memory only, and drops what another page has sent`() throws {
        var outbox = store.opened()
        try store.add("a", to: &outbox)
        try store.add("b", to: &outbox)
        #expect(outbox.isKept)
        store.isFull = true
        try store.add("c", to: &outbox)
        #expect(!outbox.isKept)
        store.open(&outbox)
        #expect(outbox.names == "a,b,c")
        store.isFull = false
        var other = store.opened()
        _ = other.remove(try #require(other.waiting.first).key)
        try store.add("d", to: &other)
        store.open(&outbox)
        #expect(outbox.names == "b,c,d")
        try store.add("e", to: &outbox)
        #expect(outbox.isKept)
        #expect(store.opened().names == "b,c,d,e")
    }

    @Test(
        "operations that no checkpoint holds wait again when a room is restored, also after a reload, under their numbers"
    )
    mutating func uncovered() throws {
        var outbox = store.opened()
        #expect(store.follow(&outbox, "log-7") == false)
        for name in ["a", "b", "c"] { try store.add(name, to: &outbox) }
        store.applyAll(&outbox)
        outbox.cover(OperationKey(session: outbox.session, number: 1))
        outbox.cover(OperationKey(session: "another device's", number: 9))
        store.write(&outbox)
        var next = store.opened()
        try store.add("d", to: &next)
        #expect(outbox.waiting.isEmpty)
        #expect(store.follow(&outbox, "log-7") == false)
        #expect(next.waiting.count == 1)
        #expect(store.follow(&next, "log.11795865688427-9") == true)
        #expect(next.names == "b,c,d")
        #expect(next.keys == ["1.2", "1.3", "2.1"])
        // The board shows those when the room has them.
        #expect(next.waiting.map(\.wasApplied) == [true, true, false])
        store.applyAll(&next)
        var last = store.opened()
        #expect(last.waiting.isEmpty)
        #expect(store.follow(&last, "log.11795865688427-9") == false)
        #expect(store.follow(&last, "log.11795865688428-12") == true)
        #expect(last.names == "b,c,d")
    }

    @Test(
        "applied operations are forgotten when a checkpoint holds a later session's, and when the room has another life"
    )
    func forgotten() throws {
        for (place, life) in ["covered", "log-9", "", "gol.1-9"].enumerated() {
            var store = SharedStore()
            var outbox = store.opened()
            try store.add("a", to: &outbox)
            store.applyAll(&outbox)
            #expect(store.follow(&outbox, "log-7") == false)
            var next = store.opened()
            #expect(!next.uncovered.isEmpty)
            if place == 0 {
                try store.add("b", to: &next)
                store.applyAll(&next)
                next.cover(OperationKey(session: next.session, number: 1))
                store.write(&next)
            } else {
                #expect(store.follow(&next, life) == false)
            }
            #expect(next.uncovered.isEmpty, "\(life)")
            #expect(store.opened().uncovered.isEmpty, "\(life)")
        }
    }

    @Test
    mutating func `applied operations are kept up to a number, then the oldest is forgotten, also by the store`() throws
    {
        var outbox = store.opened()
        store.isFull = true
        for place in 0..<10_003 {
            let message = Array("{\"n\":\(outbox.next),\"c\":\(place),\"a\":4}".utf8)
            outbox.add([message], try StrokeMessage(decoding: message, limits: .any), at: .zero)
        }
        store.write(&outbox)
        store.isFull = false
        store.applyAll(&outbox)
        try store.add("last", to: &outbox)
        var next = store.opened()
        #expect(store.follow(&next, "log.1-7") == true)
        #expect(next.waiting.count == 10_001)
        #expect(next.waiting.first?.key.number == 4)
        #expect(next.names.hasSuffix("last"))
    }

    @Test
    mutating func `two pages that write at once lose nothing to each other; each numbers in its own session`() throws {
        var one = store.opened()
        try store.add("a", to: &one)
        var other = store.opened()
        try store.add("c", to: &other)
        try store.add("b", to: &one)
        var next = store.opened()
        #expect(next.names == "a,b,c")
        #expect(next.keys == ["1.1", "1.2", "2.1"])
        next.renumberAll(session: "session-8", isLeft: true, at: .zero)
        store.write(&next)
        let third = store.opened()
        #expect(third.names == "a,b,c")
        #expect(third.keys == ["8.1", "8.2", "8.3"])
        for (place, entry) in third.waiting.enumerated() {
            #expect(try StrokeMessage(decoding: entry.messages[0].bytes, limits: .any).number == Int64(place + 1))
            #expect(StrokeMessage.isLeft(entry.messages[0].bytes))
        }
    }

    @Test mutating func `an entry deleted while the store fails is deleted later, and does not come again`() throws {
        var outbox = store.opened()
        try store.add("a", to: &outbox)
        store.isFull = true
        _ = outbox.remove(OperationKey(session: outbox.session, number: 1))
        store.write(&outbox)
        store.isFull = false
        #expect(store.records.count == 1)
        store.open(&outbox)
        #expect(outbox.names == "")
        try store.add("b", to: &outbox)
        #expect(store.opened().names == "b")
    }

    @Test mutating func `nothing is to be deleted of what no store ever had`() throws {
        store.isFull = true
        var outbox = store.opened()
        for _ in 0..<20 {
            try store.add("a", to: &outbox)
            _ = outbox.remove(try #require(outbox.waiting.first).key)
            // Also while a write of it is under way, which fails.
            try store.addUnwritten("b", to: &outbox)
            let taken = outbox.takeWrite()
            let write = try #require(taken)
            _ = outbox.remove(try #require(outbox.waiting.first).key)
            outbox.stored(write.id, isKept: false)
        }
        try store.addUnwritten("c", to: &outbox)
        let last = outbox.takeWrite()
        #expect(try #require(last).deleted == [])
    }

    @Test mutating func `an entry deleted while it is being stored is deleted with the next write`() throws {
        var outbox = store.opened()
        try store.addUnwritten("a", to: &outbox)
        let key = try #require(outbox.waiting.first).key
        let taken = outbox.takeWrite()
        _ = outbox.remove(key)
        outbox.stored(try #require(taken).id, isKept: true)
        let next = outbox.takeWrite()
        #expect(try #require(next).deleted == [key])
    }

    @Test mutating func `a store that fails is asked to store what is new alone, and all of it once it can`() throws {
        store.isFull = true
        var outbox = store.opened()
        for name in ["a", "b", "c"] {
            try store.addUnwritten(name, to: &outbox)
            let taken = outbox.takeWrite()
            let write = try #require(taken)
            #expect(write.records.map(\.key) == [try #require(outbox.waiting.last).key])
            outbox.stored(write.id, isKept: false)
        }
        #expect(!outbox.isKept)
        store.isFull = false
        try store.add("d", to: &outbox)
        #expect(outbox.isKept)
        #expect(store.opened().names == "a,b,c,d")
    }

    @Test func `an operation is sent when it is stored, or when the store takes too long`() throws {
        var outbox = Outbox()
        outbox.open([], session: "s")
        let message = Array("{\"n\":1,\"a\":4}".utf8)
        outbox.add([message], try StrokeMessage(decoding: message, limits: .any), at: .seconds(5))
        let taken = outbox.takeWrite()
        let write = try #require(taken)
        let entry = try #require(outbox.waiting.first)
        #expect(!outbox.isSendable(entry, at: .milliseconds(5999)))
        #expect(outbox.isSendable(entry, at: .seconds(6)))
        outbox.stored(write.id, isKept: false)
        #expect(outbox.isSendable(try #require(outbox.waiting.first), at: .seconds(5)))
    }

    @Test func `a record that is damaged is left out, and what no room would take is sent all the same`() {
        let key = OperationKey(session: "s", number: 1)
        var outbox = Outbox()
        outbox.open(
            [
                StoredOperation(key, bytes: Array("w\n{\"n\":1,\"e\":77}".utf8)),
                StoredOperation(OperationKey(session: "s", number: 2), bytes: Array("x\n{}".utf8)),
                StoredOperation(OperationKey(session: "s", number: 3), bytes: []),
            ], session: "t")
        #expect(outbox.waiting.map(\.key) == [key])
        #expect(outbox.waiting.first?.header == nil)
    }

    @Test func `the members of a message but its number stay as they are when it is numbered anew`() throws {
        let message = Array("{\"by\":\"n\",\"n\" : 1e0,\"d\":[{\"x\":1.50,\"n\":3}],\"\\u006e\":7}".utf8)
        let again = try #require(StrokeMessage.renumbered(message, 12))
        #expect(
            String(decoding: again, as: UTF8.self)
                == "{\"by\":\"n\",\"n\" : 12,\"d\":[{\"x\":1.50,\"n\":3}],\"\\u006e\":12}")
        #expect(StrokeMessage.renumbered(Array("[1]".utf8), 1) == nil)
        #expect(!StrokeMessage.isLeft(again))
        let left = try #require(StrokeMessage.renumbered(again, 3, isLeft: true))
        #expect(StrokeMessage.isLeft(left))
        #expect(StrokeMessage.renumbered(left, 3, isLeft: true) == left)
        #expect(StrokeMessage.renumbered(left, 12, isLeft: false) == again)
        #expect(StrokeMessage.renumbered(again, 12, isLeft: false) == again)
    }
}

@Suite("Messages that an outbox keeps") struct OutboxMessageTests {
    private func message(_ number: Int64, order: Int = 0, bytes: Int = 10) -> OutgoingMessage {
        OutgoingMessage(
            number: number, order: order, isStroke: true, bytes: Array(repeating: 0, count: bytes), due: .zero,
            isWithheld: false)
    }

    @Test func `is full at so many operations, but not for more of one that it has`() {
        var outbox = Outbox(limits: Outbox.Limits(operations: 3, bytes: .max))
        for number in [1, 2, 2, 3] as [Int64] { outbox.keep(message(number), at: .zero) }
        #expect(!outbox.takes(message(4)))
        #expect(outbox.takes(message(3, order: 1)))
        let wasThere = outbox.remove(outbox.key(2)) != nil
        #expect(wasThere)
        #expect(outbox.takes(message(4)))
    }

    @Test func `is full at so many bytes, but never for a single message`() {
        var outbox = Outbox(limits: Outbox.Limits(operations: .max, bytes: 100))
        #expect(outbox.takes(message(1, bytes: 500)))
        outbox.keep(message(1, bytes: 60), at: .zero)
        // A repeat takes no space, other content takes the difference.
        outbox.keep(message(1, bytes: 60), at: .zero)
        outbox.keep(message(1, bytes: 70), at: .zero)
        #expect(outbox.takes(message(2, bytes: 30)))
        #expect(!outbox.takes(message(2, bytes: 31)))
        _ = outbox.remove(outbox.key(1))
        #expect(outbox.takes(message(2, bytes: 100)))
    }

    @Test func `queues each message once for sending again, and none that has arrived unless it is wanted`() {
        var outbox = Outbox()
        var queue = ResendQueue()
        for number in [1, 2, 3, 4] as [Int64] {
            outbox.keep(message(number), at: .zero)
            queue.add(message(number).key, isWanted: false)
            queue.add(message(number).key, isWanted: number == 4)
        }
        _ = outbox.remove(outbox.key(1))
        for number in [3, 4] as [Int64] {
            let isNews = outbox.acknowledge(Receipt(key: message(number).key, generation: 0))
            #expect(isNews)
        }
        var sent: [Int64] = []
        while let next = queue.first(in: outbox) {
            sent.append(next.number)
            queue.removeFirst()
        }
        #expect(sent == [2, 4])
        #expect(queue.isEmpty)
    }
}
