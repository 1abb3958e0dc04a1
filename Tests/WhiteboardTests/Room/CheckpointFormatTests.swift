import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

/// What earlier releases wrote: those before the growing strokes, before the pages, and before authors could be muted.
@Suite struct `A checkpoint of format 2, 3 or 4` {
    /// A class with an undone stroke, an operation that waits for the one before it, a stroke of which a shard is missing,
    /// one video that plays and one that is paused.
    private static func play(_ probe: inout RoomProbe) {
        probe.clock(1000)
        probe.clock(500, .hls)
        probe.send(draw(1, x: 3, #","c":"ff0000","l":2.5,"t":400"#), session: "s")
        probe.send(draw(1, x: 40, points: 12, #","t":450"#), by: .bob)
        probe.send(draw(2, x: 90, points: 5, #","t":800"#), session: "s")
        probe.wait(.milliseconds(250))
        probe.clock(750, .hls, #","s":"pause""#)
        probe.send(undo(3, #","t":900"#), draw(4, x: 200, points: 3, #","t":1600"#), session: "s")
        probe.send(draw(2, x: 60, #","t":1500"#), undo(3, #","t":1700"#), by: .bob)
        probe.wait(.milliseconds(500))
        probe.send(draw(6, x: 300, #","t":2000"#), session: "s")
        probe.send(shard(4, 1, of: 2, points: 0..<4, #","t":1900"#), by: .bob)
        probe.wait(.milliseconds(125))
    }

    private static let configuration = RoomConfiguration(history: HistoryConfiguration(depth: 8, clear: .undoable))

    /// The class as it went on before the checkpoint was written.
    private var played: RoomProbe {
        var probe = RoomProbe(Self.configuration)
        Self.play(&probe)
        return probe
    }

    /// A process that starts two seconds later, with a clock of its own.
    private func restored(_ bytes: [UInt8], _ configuration: RoomConfiguration = configuration) throws -> RoomProbe {
        let now = Instant(nanoseconds: 5_000_000_000)
        let ahead = played.now + .seconds(2) - now
        let room = try Room(restoring: bytes, configuration: configuration, at: now, logClockAhead: ahead)
        return RoomProbe(room, at: now, logAhead: ahead)
    }

    @Test(arguments: [2, 3, 4]) func `is read: board, stacks, digests, cursors, gate times`(format: UInt8) throws {
        let bytes = try #require(Self.bytes[format])
        #expect(bytes[3] == format)
        let room = try restored(bytes).room
        #expect(room.head.pages == BoardPages())
        #expect(room.incarnation == RoomProbe.incarnation)
        #expect(room.status(at: Instant(nanoseconds: 5_000_000_000)).muted.isEmpty)
        #expect(room.head.index == 6)
        #expect(room.head.visible.map(\.index) == [1, 4])
        let points = room.head.visible.map { $0.decoded()?.points.map(\.x) }
        #expect(points == [(40..<52).map(Double.init), [200, 201, 202]])
        #expect("\(room.head.digest)" == "ff7e115f6b35e78b")
        #expect(room.head.table.first.history.done.map(\.index) == [1, 4])
        #expect(room.head.table.first.history.undone.map(\.index) == [5])
        #expect(room.cursors[.main] == CohortCursor(6))
        #expect(room.cursors[.hls]?.released == 1)
        #expect(room.cursors[.hls]?.pausedSince != nil)
        #expect(room.board(of: .main).digest == room.head.digest)
        #expect("\(room.board(of: .hls).digest)" == "910a2dec89025cc1")
        #expect(room.board(of: .hls).visible.map(\.index) == [1])
        let gateTimes = (1...6).map { room.gate.timeline[UInt64($0)].gateTime }
        #expect(gateTimes == [450, 800, 900, 1600, 1600, 1700].map { MediaTime(milliseconds: $0) })
    }

    @Test(arguments: [2, 3, 4]) func `makes the room that the present release makes of the same class`(
        format: UInt8
    ) throws {
        let (old, bytes) = (try #require(Self.bytes[format]), played.room.checkpoint().encoded())
        // Nobody was ever muted: as the release before wrote it.
        #expect(bytes[3] == 4)
        // It had no notes.
        #expect(
            try restored(old).room.checkpoint().encoded(hasNotes: false)
                == restored(bytes).room.checkpoint().encoded(hasNotes: false))
    }

    @Test(arguments: [2, 3, 4])
    func `goes on with what waited: an operation, shards, an undone stroke and a paused video`(
        format: UInt8
    ) throws {
        var probe = try restored(try #require(Self.bytes[format]))
        probe.send(draw(5, x: 250, #","t":1800"#), session: "s")
        #expect(probe.takeTold() == ["applied 5 as 7", "applied 6 as 8"])
        probe.send(shard(4, 2, of: 2, points: 4..<6, #","t":1900"#), by: .bob)
        #expect(probe.takeTold(.bob).last == "applied 4 as 9")
        #expect(probe.room.head.visible.map(\.index) == [1, 4, 7, 8, 9])
        #expect(Array(probe.room.head.visible).last?.decoded()?.points.map(\.x) == [0, 1, 2, 3, 4, 5])
        // What is repeated is known.
        probe.send(draw(4, x: 200, points: 3, #","t":1600"#), session: "s")
        #expect(probe.takeTold() == ["applied 4 as 4"])
        probe.send(undo(7, #","t":2100"#), redo(8, #","t":2200"#), session: "s")
        #expect(probe.room.head.visible.map(\.index) == [1, 4, 7, 8, 9])
        probe.clock(1650, .hls)
        #expect(probe.shown(.hls) == [2, 3, 4, 5])
        #expect(probe.after(.milliseconds(51)).shown(.hls) == [2, 3, 4, 5, 6])
        probe.clock(2300, .main)
        #expect(probe.shown(.main) == [7, 8, 9, 10, 11])
        #expect(probe.shown.allSatisfy { !$0.isLate })
    }

    @Test(arguments: [2, 3, 4]) func `shows its strokes at their times in a cohort in which later ones grow`(
        format: UInt8
    ) throws {
        var configuration = Self.configuration
        configuration.cohorts = CohortsConfiguration(named: [.hls: CohortSettings(ink: .progressive)])
        var probe = try restored(try #require(Self.bytes[format]), configuration)
        probe.clock(1590, .hls)
        #expect(probe.shown(.hls) == [2, 3])
        #expect(probe.after(.milliseconds(11)).shown(.hls) == [2, 3, 4, 5])
    }

    private static let bytes: [UInt8: [UInt8]] = [
        2: CheckpointVersionTests.base64(
            """
            TENQAgIFA2JvYgVhbGljZQRtYWluA2hscwFzARB7Im4iOiwidCI6LCJkIjpbAgUFC3sieCI6LCJ5Ijp9AgUFASwCXX0ABGxpZmUBAAAAAAAAAA
            AGAAIBhAcBAAABABYcIIweAACooSECHeABAAAAAAAd4AEAAQQBwAwBAAABAA0FhJgDAMAuHLIBHgAAAQYBiA4CAhV7Im4iOjMsImEiOjIsInQi
            OjkwMH0BCAGAGQEAAAEACwMYiGoAAKiGIQIAAAQBuBcBAAABAAkChO8FAIAfGCIABgHIGgIFFnsibiI6MywiYSI6MiwidCI6MTcwMH0BAIDAqM
            qaOgHAws8BBgEAAAABAIDKte4BAAGfy5gBAQD/ybXuAQAB4NwqAQAAAAHAmgwBAIDKte4BAAHAuVUBAAAAAb+aDAHAmgwAAAHAmgwBAAACAgaA
            9qHH48X///8BAAADAf+/17Xlxf///wEAAYDKte4BAgGAlOvcAwEEAAGAlOvcAwCAuJqVyQEAAQL/3aDLBQEFAQA2eyJuIjo2LCJ0IjoyMDAwLC
            JkIjpbeyJ4IjozMDAsInkiOjZ9LHsieCI6MzAxLCJ5IjowfV19AIDeoMsFAAAAAQQEAwAAAQEAAQAAAQAAAACAlOvcAwCAiKyjzwIAAQH/3aDL
            BQAEAQEAAVp7Im4iOjQsInMiOjIsIm8iOjEsInQiOjE5MDAsImQiOlt7IngiOjAsInkiOjB9LHsieCI6MSwieSI6MX0seyJ4IjoyLCJ5IjoyfS
            x7IngiOjMsInkiOjN9XX2A3qDLBQAAAAICAgECCAIAAQEBxKFTdTMp14oBAQAAAAAA
            """),
        3: CheckpointVersionTests.base64(
            """
            TENQAwIFA2JvYgVhbGljZQRtYWluA2hscwFzARB7Im4iOiwidCI6LCJkIjpbAgUFC3sieCI6LCJ5Ijp9AgUFASwCXX0ABGxpZmUBAAAAAAAAAAAGAA
            IBhAcBAAABABYcIIweAACooSECHeABAAAAAAAd4AEAAQQBwAwBAAABAA0FhJgDAMAuHLIBHgAAAQYBiA4CAhV7Im4iOjMsImEiOjIsInQiOjkwMH0B
            CAGAGQEAAAEACwMYiGoAAKiGIQIAAAQBuBcBAAABAAkChO8FAIAfGCIABgHIGgIFFnsibiI6MywiYSI6MiwidCI6MTcwMH0BAIDAqMqaOgHAws8BBg
            EAAQABAAAAAQCAyrXuAQABn8uYAQEA/8m17gEAAeDcKgEAAAABwJoMAQCAyrXuAQABwLlVAQAAAAG/mgwBwJoMAAABwJoMAQAAAAICBoD2ocfjxf//
            /wEAAAMB/7/XteXF////AQABgMq17gECAYCU69wDAQQAAYCU69wDAIC4mpXJAQABAv/doMsFAQUBADZ7Im4iOjYsInQiOjIwMDAsImQiOlt7IngiOj
            MwMCwieSI6Nn0seyJ4IjozMDEsInkiOjB9XX0AgN6gywUAAAABBAQDAAABAQABAAABAAAAAICU69wDAICIrKPPAgABAf/doMsFAAQBAQABWnsibiI6
            NCwicyI6MiwibyI6MSwidCI6MTkwMCwiZCI6W3sieCI6MCwieSI6MH0seyJ4IjoxLCJ5IjoxfSx7IngiOjIsInkiOjJ9LHsieCI6MywieSI6M31dfY
            DeoMsFAAAAAgICAQIIAgABAQHEoVN1MynXigEBAAAAAAA=
            """),
        4: CheckpointVersionTests.base64(
            """
            TENQBAMFA2JvYgVhbGljZQRtYWluA2hscwFzARB7Im4iOiwidCI6LCJkIjpbAgUFC3sieCI6LCJ5Ijp9AgUFASwCXX0ABGxpZmUBAAAAAAAA
            AAAABgACAYQHAQAAAQAWHCCMHgAAqKEhAh3gAQAAAAAAHeABAAEEAcAMAQAAAQANBYSYAwDALhyyAR4AAAEGAYgOAgIAFXsibiI6MywiYSI6
            MiwidCI6OTAwfQEIAYAZAQAAAQALAxiIagAAqIYhAgAABAG4FwEAAAEACQKE7wUAgB8YIgAGAcgaAgUAFnsibiI6MywiYSI6MiwidCI6MTcw
            MH0BAIDAqMqaOgHAws8BBgEAAQABAAAAAQCAyrXuAQABn8uYAQEA/8m17gEAAeDcKgEAAAABwJoMAQCAyrXuAQABwLlVAQAAAAG/mgwBwJoM
            AAABwJoMAQAAAAICBoD2ocfjxf///wEAAAMB/7/XteXF////AQABgMq17gECAYCU69wDAQQAAYCU69wDAIC4mpXJAQABAv/doMsFAQUBADZ7
            Im4iOjYsInQiOjIwMDAsImQiOlt7IngiOjMwMCwieSI6Nn0seyJ4IjozMDEsInkiOjB9XX0AgN6gywUAAAABBAQDAAABAQABAAABAAAAAICU
            69wDAICIrKPPAgABAf/doMsFAAQBAQABWnsibiI6NCwicyI6MiwibyI6MSwidCI6MTkwMCwiZCI6W3sieCI6MCwieSI6MH0seyJ4IjoxLCJ5
            IjoxfSx7IngiOjIsInkiOjJ9LHsieCI6MywieSI6M31dfYDeoMsFAAAAAgICAQIIAgABAQHEoVN1MynXigEBAAAAAAA=
            """),
    ]
}

/// What earlier releases pass over.
@Suite struct `Notes of a checkpoint` {
    private var probe: RoomProbe {
        var probe = RoomProbe()
        probe.clock(1000)
        probe.send(draw(1, #","t":400"#))
        return probe
    }

    private func restore(_ bytes: [UInt8]) throws -> Room {
        try Room(restoring: bytes, configuration: RoomConfiguration(), at: probe.now, logClockAhead: .zero)
    }

    /// The state with another text of notes.
    private func state(_ change: (inout [UInt8]) -> Void) throws -> [UInt8] {
        var bytes = probe.room.checkpoint().encoded()
        let digits = Array("0123456789abcdef".utf8)
        // Its length, which is one byte here, its mark, and digits.
        let start = try #require(
            bytes.indices.dropFirst().first { place in
                let text = bytes[place...].prefix(Int(bytes[place - 1]))
                return bytes[place] == 1 && text.count > 20 && text.dropFirst().allSatisfy(digits.contains)
            })
        var text = Array(bytes[start...].prefix(Int(bytes[start - 1])))
        change(&text)
        bytes.replaceSubrange(start - 1..<start + Int(bytes[start - 1]), with: [UInt8(text.count)] + text)
        return bytes
    }

    @Test func `change neither its format nor the room that comes of the rest`() throws {
        let (bytes, plain) = (probe.room.checkpoint().encoded(), probe.room.checkpoint().encoded(hasNotes: false))
        #expect(bytes[3] == 4 && plain[3] == 4)
        #expect(try state { _ in } == bytes)
        let (room, old) = (try restore(bytes), try restore(plain))
        #expect(old.checkpoint().encoded(hasNotes: false) == plain)
        #expect(room.checkpoint().encoded(hasNotes: false) == plain)
        #expect(old.cursors == [.main: 1])
        #expect(room.cursors == probe.room.cursors)
    }

    @Test func `of a kind that a later release has are passed over, and so are fields behind the known ones`() throws {
        let bytes = probe.room.checkpoint().encoded()
        let later = try state { $0 += Array("6302abcd".utf8) }
        #expect(try restore(later).checkpoint().encoded() == bytes)
        // Kind 2, two bytes: the number 7, and another.
        let longer = try state { $0 += Array("02020709".utf8) }
        #expect(try restore(longer).gate.lastProvisional == 7)
    }

    @Test(arguments: ["0", "0g", "7f", "0105ff", "0302ffff"]) func `that are damaged are refused`(end: String) throws {
        let damaged = try state { $0 += Array(end.utf8) }
        #expect(throws: CheckpointError.self) { try restore(damaged) }
    }
}
