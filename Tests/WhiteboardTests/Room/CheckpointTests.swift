import Foundation
import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

@Suite struct `A checkpoint and back` {
    @Test("Numbers of an earlier session, those applied out of turn, and those still open survive a restart")
    func applied() throws {
        var probe = RoomProbe()
        probe.send(draw(1), session: "a")
        probe.send(draw(5), draw(9), session: "b")
        probe.record(.gaveUp(7...8))
        probe.send(draw(7), session: "b")
        var restored = try probe.restarted()
        restored.send(draw(1), draw(2), session: "a")
        restored.send(draw(7), draw(4), draw(6), draw(7), session: "b")
        #expect(
            restored.takeTold().filter { !$0.hasPrefix("missing") } == [
                "applied 1 as 1", "rejected 2 0 session-over", "applied 7 as 3", "applied 4 as 4", "applied 6 as 5",
                "applied 9 as 6", "applied 7 as 3",
            ])
    }
}

@Suite struct `Size of a checkpoint` {
    @Test(arguments: [false, true])
    func `Of a board of handwriting it is that of the packed strokes and a few bytes each`(isReleased: Bool) throws {
        for lesson in SampleLesson.available {
            var probe = try RoomProbe(hearing: lesson)
            if isReleased {
                probe.clock(1e7, .main, #","d":true"#)
                // Operations logged long before the last one are not kept.
                probe.wait(.seconds(61))
                probe.send(draw(1), by: .bob)
            }
            let bytes = probe.room.checkpoint().encoded()
            let strokes = (isReleased ? Array(probe.room.head.visible) : probe.applied.compactMap(\.stroke))
            let points = strokes.reduce(0) { $0 + $1.pointCount }
            let packed = strokes.reduce(0) { $0 + $1.message.byteCount }
            let over = Double(bytes.count - packed) / Double(strokes.count)
            print(
                """
                \(lesson.rawValue), \(isReleased ? "released" : "held"): \(bytes.count) bytes, \(bytes.count / strokes.count) a \
                stroke, \(over) over its packed points, \(Double(bytes.count) / Double(points)) a point
                """)
            #expect(over <= (isReleased ? 45 : 64))
            let restored = try probe.restored(bytes)
            #expect(restored.head.visible.map(\.message.bytes) == probe.room.head.visible.map(\.message.bytes))
        }
    }
}

extension Whiteboard.Operation {
    fileprivate var stroke: Stroke? { if case .draw(let stroke) = effect { stroke } else { nil } }
}

@Suite struct `Checkpoints that are not what was written` {
    /// Checkpoints of a class with every kind of trouble.
    private func checkpoints(_ random: inout SeededGenerator) -> [[UInt8]] {
        let history = HistoryConfiguration(depth: 8, clear: .undoable)
        var probe = RoomProbe(RoomConfiguration(history: history))
        probe.decisionsReturn = [.milliseconds(40)]
        var lesson = TroubledClass(seed: random.next(), at: probe.now, operations: 30, isWild: true)
        var found: [[UInt8]] = []
        while !lesson.isOver {
            lesson.step(&probe)
            if random.chance(1, in: 100) { found.append(probe.room.checkpoint().encoded()) }
        }
        return found + [probe.room.checkpoint().encoded()]
    }

    /// Restores the room where the bytes can be read, and uses all of it.
    /// - Returns: whether they could.
    private func use(_ bytes: [UInt8], _ random: inout SeededGenerator) -> Bool {
        let now = Instant(nanoseconds: 1 << 40)
        let configuration = RoomConfiguration(history: HistoryConfiguration(depth: 8, clear: .undoable))
        guard
            let room = try? Room(
                restoring: bytes, configuration: configuration, at: now,
                logClockAhead: .seconds(random.chance(50, in: 100) ? 0 : .min))
        else { return false }
        for stroke in room.head.visible { _ = stroke.decoded() }
        for operation in room.log.operations.kept { _ = operation.restoredMessage }
        var probe = RoomProbe(room, at: now, logAhead: .zero)
        probe.decisionsReturn = [.milliseconds(1)]
        probe.restoreCursors([
            .main: CohortCursor(
                random.next(), pausedTime: .nanoseconds(Int64(bitPattern: random.next())),
                pausedSince: Instant(nanoseconds: Int64(bitPattern: random.next())))
        ])
        for author in ["author-0", "author-1", "carol", "mallory"] {
            for text in [draw(20), undo(21), shard(22, 1, of: 2), draw(40), redo(41), clear(42), undo(43)] {
                probe.send(text, by: .known(author), session: random.chance(20, in: 100) ? "s1" : nil)
            }
        }
        probe.clock(1e7, .main, #","d":true,"ep":9000"#)
        probe.record(.epoch(9000))
        probe.clock(1e7, .main, #","ep":9000"#)
        probe.wait(.seconds(45))
        _ = probe.room.catchUp(JoinRequest(), cohort: .main)
        return
            (try? Room(
                restoring: probe.room.checkpoint().encoded(), configuration: configuration, at: now,
                logClockAhead: .zero)) != nil
    }

    @Test func `Cut short anywhere they are refused`() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        let bytes = try #require(checkpoints(&random).max { $0.count < $1.count })
        for count in 0..<bytes.count {
            #expect(throws: CheckpointError.self, "seed \(random.seed)") {
                try Room(
                    restoring: Array(bytes[..<count]), configuration: RoomConfiguration(), at: Instant(nanoseconds: 0),
                    logClockAhead: .zero)
            }
        }
        #expect(throws: CheckpointError.damaged(at: bytes.count), "seed \(random.seed)") {
            try Room(
                restoring: bytes + [0], configuration: RoomConfiguration(), at: Instant(nanoseconds: 0),
                logClockAhead: .zero)
        }
    }

    /// The second seed undoes a stroke that the damage has made invisible.
    @Test(arguments: [TestSeed.choose(), 581_252_792])
    func `With changed bytes nothing traps: neither reading them nor the room that comes of them`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let found = checkpoints(&random)
        var usable = 0
        for _ in 0..<600 {
            guard var bytes = found.randomElement(using: &random) else { break }
            for _ in 0..<random.int(1...3) {
                let position = random.int(4...(bytes.count - 1))
                switch random.int(0...3) {
                case 0: bytes[position] ^= 1 << random.int(0...7)
                case 1: bytes[position] = [0, 1, 0x7f, 0x80, 0xff][random.int(0...4)]
                case 2: bytes.insert(contentsOf: [UInt8](repeating: 0xff, count: 8) + [1], at: position)
                default: bytes[position] = UInt8(random.int(0...255))
                }
            }
            if use(bytes, &random) { usable += 1 }
        }
        for _ in 0..<200 {
            let frame: [UInt8] = random.chance(50, in: 100) ? [1] : [2, 2]
            let noise = (0..<random.int(0...300)).map { _ in UInt8(random.int(0...255)) }
            _ = use([0x4c, 0x43, 0x50] + frame + noise, &random)
        }
        #expect(usable > 20, "seed \(seed): hardly a room came of it")
    }
}

@Suite("Checkpoints of other releases")
struct CheckpointVersionTests {
    private func restore(_ bytes: [UInt8]) throws -> Room {
        try Room(
            restoring: bytes,
            configuration: RoomConfiguration(history: HistoryConfiguration(depth: 8, clear: .undoable)),
            at: Instant(nanoseconds: 0), logClockAhead: .zero)
    }

    private var current: [UInt8] {
        Room(configuration: RoomConfiguration(), at: Instant(nanoseconds: 0)).checkpoint().encoded()
    }

    @Test func `Of a newer form they are refused as such, and not called damaged`() {
        var bytes = current
        bytes[3] = CheckpointFormat.version + 1
        #expect(throws: CheckpointError.newerFormat(CheckpointFormat.version + 1)) { try restore(bytes) }
    }

    @Test func `Made by newer rules they are refused as such, and not called damaged`() {
        var bytes = current
        bytes[4] = UInt8(CheckpointFormat.fold + 1)
        #expect(throws: CheckpointError.newerFold(CheckpointFormat.fold + 1)) { try restore(bytes) }
    }

    @Test(arguments: [3, 4]) func `A version that no release ever had is damage`(_ position: Int) {
        var bytes = current
        bytes[position] = 0
        #expect(throws: CheckpointError.damaged(at: position + 1)) { try restore(bytes) }
    }

    @Test
    func `They are of the newest form where somebody was muted in the room's life, else of the one before`() throws {
        var probe = RoomProbe()
        probe.send(draw(1))
        #expect(try #require(RoomCheckpoint.versions(of: probe.room.checkpoint().encoded())) == (4, 3))
        probe.record(.mute(.bob))
        probe.record(.unmute(.bob))
        let bytes = probe.room.checkpoint().encoded()
        #expect(try #require(RoomCheckpoint.versions(of: bytes)) == (5, 4))
        #expect(try restore(bytes).checkpoint().encoded()[3] == 5)
        probe.record(.close)
        probe.send(draw(1))
        #expect(probe.room.checkpoint().encoded()[3] == 4)
    }

    @Test func `One of the first release is read, and written again in the lowest form that has all of it`() throws {
        let room = try restore(Self.versionOne)
        #expect(room.incarnation == "life")
        #expect(room.head.index == 17)
        #expect(room.head.visible.map(\.index) == [1, 2, 3, 4, 5, 6, 9, 10, 13, 14, 15])
        #expect(room.head.table.first.history.done.count == 7)
        #expect(room.head.table.first.history.undone.count == 1)
        #expect(room.cursors == [.main: 17])
        #expect(room.intake.authorsByName.map(\.id.text) == ["author-0", "author-1", "author-2", "carol", "mallory"])
        for stroke in room.head.visible { #expect(stroke.decoded() != nil) }
        let again = room.checkpoint().encoded()
        #expect(again[3] == 4)
        #expect(try restore(again).checkpoint().encoded() == again)
    }

    /// A small class with a gap, shards under assembly, late strokes and an undone one, as the first release wrote it.
    private static let versionOne = base64(
        """
        TENQAREIYXV0aG9yLTIFY2Fyb2wIYXV0aG9yLTEIYXV0aG9yLTAEbWFpbg9ub3RoaW5nLXRvLXJlZG8tVGhlcmUgaXMgbm8gb3BlcmF0aW9u
        IHRoYXQgY2FuIGJlIGRvbmUgYWdhaW4uAnMwAnMxAnMyAnMzCHRvby1sYXRlMlRoZSBvcGVyYXRpb24gaGFkIGJlZW4gZ2l2ZW4gdXAgYmVm
        b3JlIGl0IGFycml2ZWQuB21hbGxvcnkPdG9vLW1hbnktc2hhcmRzAXMmQSBzdHJva2UgbWF5IGhhdmUgYXQgbW9zdCAxMDI0IHNoYXJkcy4D
        C3sibiI6LCJkIjpbAQULeyJ4IjosInkiOn0CBQUBLAJdfQAueyJuIjosImMiOiwibCI6LCJzIjosIm8iOiwiZSI6LCJhIjosInQiOiwiZCI6
        WwgFBQUFBQUFBQt7IngiOiwieSI6fQIFBQEsAl19ABB7Im4iOiwidCI6LCJkIjpbAgUFC3sieCI6LCJ5Ijp9AgUFASwCXX0ABGxpZmUBAAAA
        AAAAAAARAEQBqgMBAQABAScvwBgAIAAAACCgbQAAACIAAAAAANABHgAAAAAA0AEeAAAAAADQAR4BBgABAAABAAYCBgAAIAIASAHACAEAAAEC
        Ii+AGYCYAgAAIAIAAAAAAB3gAQAAAAAAHeABAAAAAAAd4AEBCgGgCQEAAAECDgcagKwCACAiAgAAAAAdAi4BrggBAAABAiAu4AXeKAAAACIA
        AAAAANABHgAAAAAA0AEeAAAAAADQAQIwAcgIAQEAAQEmLoAGAAIAAAACmCkAAAAiAAAAAADQAR4AAAAAANABHgAAAAAA0AEDNgHSCgEAAAEC
        IjjgBqotAAAAIgAAAAAA0AEeAAAAAADQAR4AAAAAANABHgACMgGKCgIHFnsibiI6MjUsImEiOjIsInQiOjY0NX0ASgG2CgEAAAECIzigGeDO
        AgAAIAIAAAAAAB3gAQAAAAAAHeABAAAAAAAd4AEAAjQBtAwBAAABAiI4wAbsOAAAACIAAAAAANABHgAAAAAA0AEeAAAAAADQAR4AAEwBjA0B
        AAABAh8twBnAqQMAACACAAAAAAAd4AEAAAAAAB3gAQAAAAAAAzgBugwCCxZ7Im4iOjI4LCJhIjoyLCJ0Ijo3OTd9AzoBwg0BAAABAiEvoAeK
        OwAAACIAAAAAANABHgAAAAAA0AEeAAAAAADQAR4COAHEEAEAAAECIC6AB4xJAAAAIgAAAAAA0AEeAAAAAADQAR4AAAAAANABAQgAAQAAAQAG
        AhgAAAAiAE4B4BIEF3sibiI6MzksImEiOjQsInQiOjEyMDB9AjoBjhQCEBd7Im4iOjI5LCJhIjoyLCJ0IjoxMjg3fQEEgMCoypo6AbCNnQER
        AQAAAAABn42DAQEAxNK8lwIAAAEAmLSF2gEAAfCzKAEA6pqjQwABgO4FAQAAAAHP+gYB0PoGpI2nEAABv68FAcCvBeqglSkAAdDuCgEAitWE
        HgABv7IEAcCyBJq93iQAAd/aAQHg2gHG59QoAAHQ5Q0BAI6BgDwAAcCvBQEAypzXLAABz4AFAdCABd6IuyEAAfClAwEAuq6GQAAB0McXAQCS
        /YmGAQAAAQAAAAHgqhEBANbq5akBAAGwzwoBALa78CgBBBG0/oS528X///8BBQPThY+n2cX///8BAACAlOvcAwCA+NnTtQoAARvNlaKCBwYe
        AgECBT97Im4iOjMwLCJzIjo2LCJvIjoxLCJ0IjoxMjQxLCJkIjpbeyJ4IjowLCJ5IjowfSx7IngiOjEsInkiOjF9XX2xAXsibiI6MzAsInMi
        OjYsIm8iOjIsInQiOjEyNDEsImQiOlt7IngiOjIsInkiOjJ9LHsieCI6MywieSI6M30seyJ4Ijo0LCJ5Ijo0fSx7IngiOjUsInkiOjV9LHsi
        eCI6NiwieSI6Nn0seyJ4Ijo3LCJ5IjowfSx7IngiOjgsInkiOjF9LHsieCI6OSwieSI6Mn0seyJ4IjoxMCwieSI6M30seyJ4IjoxMSwieSI6
        NH1dfV97Im4iOjMwLCJzIjo2LCJvIjozLCJ0IjoxMjQxLCJkIjpbeyJ4IjoxMiwieSI6NX0seyJ4IjoxMywieSI6Nn0seyJ4IjoxNCwieSI6
        MH0seyJ4IjoxNSwieSI6MX1dfTJ7Im4iOjMwLCJzIjo2LCJvIjo0LCJ0IjoxMjQxLCJkIjpbeyJ4IjoxNiwieSI6Mn1dfVB7Im4iOjMwLCJz
        Ijo2LCJvIjo1LCJ0IjoxMjQxLCJkIjpbeyJ4IjoxNywieSI6M30seyJ4IjoxOCwieSI6NH0seyJ4IjoxOSwieSI6NX1dfZaJtPYEAOYCeyJu
        IjozMSwidCI6MTYwNCwiZCI6W3sieCI6MCwieSI6MH0seyJ4IjoxLCJ5IjoxfSx7IngiOjIsInkiOjJ9LHsieCI6MywieSI6M30seyJ4Ijo0
        LCJ5Ijo0fSx7IngiOjUsInkiOjV9LHsieCI6NiwieSI6Nn0seyJ4Ijo3LCJ5IjowfSx7IngiOjgsInkiOjF9LHsieCI6OSwieSI6Mn0seyJ4
        IjoxMCwieSI6M30seyJ4IjoxMSwieSI6NH0seyJ4IjoxMiwieSI6NX0seyJ4IjoxMywieSI6Nn0seyJ4IjoxNCwieSI6MH0seyJ4IjoxNSwi
        eSI6MX0seyJ4IjoxNiwieSI6Mn0seyJ4IjoxNywieSI6M30seyJ4IjoxOCwieSI6NH0seyJ4IjoxOSwieSI6NX0seyJ4IjoyMCwieSI6Nn0s
        eyJ4IjoyMSwieSI6MH0seyJ4IjoyMiwieSI6MX1dfQC4jO6LAgAAAAI2DgECCgIAAALf+PWRAgAAgJTr3AMAgMyg11UAARWHsJ+rBgEeAAAD
        AhUBAgEFAAYFAAABBQAGBS4KAgQGAQIEAQQIAQIGAQAAAI6fmsoIAACAlOvcAwCApKHE7QoAASK1/pWxCgAoAQD1AnsibiI6NDEsInQiOjE1
        MjEsImQiOlt7IngiOjAsInkiOjB9LHsieCI6MSwieSI6MX0seyJ4IjoyLCJ5IjoyfSx7IngiOjMsInkiOjN9LHsieCI6NCwieSI6NH0seyJ4
        Ijo1LCJ5Ijo1fSx7IngiOjYsInkiOjZ9LHsieCI6NywieSI6MH0seyJ4Ijo4LCJ5IjoxfSx7IngiOjksInkiOjJ9LHsieCI6MTAsInkiOjN9
        LHsieCI6MTEsInkiOjR9LHsieCI6MTIsInkiOjV9LHsieCI6MTMsInkiOjZ9LHsieCI6MTQsInkiOjB9LHsieCI6MTUsInkiOjF9LHsieCI6
        MTYsInkiOjJ9LHsieCI6MTcsInkiOjN9LHsieCI6MTgsInkiOjR9LHsieCI6MTksInkiOjV9LHsieCI6MjAsInkiOjZ9LHsieCI6MjEsInki
        OjB9LHsieCI6MjIsInkiOjF9LHsieCI6MjMsInkiOjJ9XX0Atv6VsQoAAQEjAAABBQAGBUQCAQQEAQIMAQIEAQIKAQAAAaX2hA0EBwgJCgGA
        lOvcAwCAmKbJogIAAQTrnszkAw4FAQEAAU57Im4iOjcsInMiOjMsIm8iOjMsInQiOi05MjIzMzcyMDM2ODU0Nzc1ODA4LCJkIjpbeyJ4Ijow
        LCJ5IjowfSx7IngiOjEsInkiOjF9XX20+vD+AQABAQMAAAELAAwBCB4BAAANs8bn6wEAAICU69wDAICY3JM0AAEPj5TWgAQEEAIADnsibiI6
        NDEsImEiOjN9AJCU1oAEAA57Im4iOjQ1LCJhIjozfQCR/YmGAQABAQ8AAAEOAQ8QAAAA
        """)

    static func base64(_ text: String) -> [UInt8] {
        Array(Data(base64Encoded: text, options: .ignoreUnknownCharacters) ?? Data())
    }
}
