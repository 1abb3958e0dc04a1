import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

/// Rule 16: `gate: auto`.
@Suite struct `A cohort that may have no video` {
    private static let auto = RoomConfiguration(cohorts: CohortsConfiguration(defaults: CohortSettings(gate: .auto)))
    private var probe = RoomProbe(Self.auto)

    @Test mutating func `34: no sample, then samples: at once, then by V`() {
        probe.send(draw(1, #","t":9000"#))
        #expect(probe.shown() == [1])
        #expect(probe.shown.allSatisfy { !$0.isLate && $0.at == probe.now })
        probe.clock(10_000)
        probe.send(draw(2, #","t":11000"#))
        #expect(probe.shown() == [1])
        #expect(probe.after(.milliseconds(1000)).shown() == [1])
        #expect(probe.after(.milliseconds(1)).shown() == [1, 2])
    }

    @Test mutating func `A sample that waits for its encoder session closes the gate, too`() {
        probe.send(draw(1))
        probe.decisionsReturn = [.seconds(5)]
        probe.clock(10_000, .main, #","ep":4"#)
        probe.send(draw(2, #","t":12000"#))
        #expect(probe.after(.seconds(4)).shown() == [1])
    }

    @Test mutating func `Marks, replies to joins and the room's status say which it is`() throws {
        func joined(_ request: JoinRequest = JoinRequest()) throws -> GateState? {
            let catchUp = try #require(probe.room.catchUp(request, cohort: .main))
            return try catchUp.reply(.json).gate
        }
        #expect(try joined() == .open)
        probe.send(draw(1))
        probe.wait(.seconds(1))
        #expect(try #require(probe.marks.last).mark.gate == .open)
        #expect(probe.room.status(at: probe.now).cohorts.map(\.gate) == [.open])
        #expect(try joined() == .open)
        probe.clock(10_000)
        #expect(try joined() == .video)
        #expect(try joined(JoinRequest(incarnation: RoomProbe.incarnation, have: 0)) == .video)
        let head = try #require(probe.room.catchUpHead(JoinRequest()))
        #expect(try head.reply(.json).gate == nil)
        probe.wait(.seconds(1))
        #expect(try #require(probe.marks.last).mark.gate == .video)
        #expect(probe.room.status(at: probe.now).cohorts.map(\.gate) == [.video])
    }

    @Test(arguments: [1, 30])
    mutating func `With 'gate: video' nothing goes out before the first sample but by max_hold`(seconds: Int64) {
        let settings = CohortSettings(gate: .video, maxHold: .seconds(seconds))
        probe = RoomProbe(settings)
        probe.send(draw(1))
        #expect(probe.after(.seconds(seconds) - .nanoseconds(1)).shown() == [])
        #expect(probe.after(.nanoseconds(1)).shown() == [1])
    }

    /// The room in another process, with the cursors that were saved with it.
    private func restarted(_ probe: RoomProbe) throws -> RoomProbe {
        try probe.takenOver(cursors: probe.room.cursors)
    }

    @Test
    mutating func `After a restart an open cohort waits a second: its clock may not have been heard yet`() throws {
        probe.send(draw(1))
        var after = try restarted(probe)
        after.send(draw(2, #","t":16000"#))
        #expect(after.after(.seconds(1) - .nanoseconds(1)).shown() == [])
        var silent = after
        #expect(silent.after(.nanoseconds(1)).shown() == [2])
        after.clock(10_000)
        #expect(after.after(.seconds(5)).shown() == [])
    }

    @Test mutating func `A room of an earlier release that has had a clock has a video`() throws {
        var cursors: [CohortName: CohortCursor] = [:]
        probe.send(draw(1, #","t":9000"#))
        for (name, cursor) in probe.room.cursors { cursors[name] = CohortCursor(cursor.released) }
        let silent = try probe.takenOver(state: probe.room.checkpoint().encoded(hasNotes: false), cursors: cursors)
        #expect(silent.room.status(at: probe.now).cohorts.map(\.gate) == [.open])
        probe.clock(10_000)
        probe.send(draw(2, #","t":10500"#))
        for (name, cursor) in probe.room.cursors { cursors[name] = CohortCursor(cursor.released) }
        let heard = try probe.takenOver(state: probe.room.checkpoint().encoded(hasNotes: false), cursors: cursors)
        #expect(heard.room.status(at: probe.now).cohorts.map(\.gate) == [.video])
    }

    @Test
    mutating func `A state says which cohorts have a video where the cursors that were saved with it are not known`()
        throws
    {
        let hls = try CohortName.named("hls")
        probe.send(draw(1))
        probe.clock(10_000, hls)
        probe.send(draw(2, #","t":16000"#))
        #expect(probe.shown() == [1, 2])
        var after = try probe.takenOver()
        #expect(after.room.status(at: after.now).cohorts.map(\.gate) == [.video, .open])
        after.send(draw(3, #","t":17000"#))
        after.wait(.seconds(20))
        #expect(after.shown() == [3])
        #expect(after.shown(hls) == [])
    }

    @Test
    mutating func
        `A clock that was heard before anything was judged by it is known after a restart, by the state alone`() throws
    {
        probe.send(draw(1))
        probe.wait(.seconds(120))
        probe.clock(10_000)
        var after = try probe.takenOver()
        after.send(draw(2, #","t":16000"#))
        after.wait(.seconds(20))
        #expect(after.shown() == [])
    }

    @Test mutating func `A room that is made of its log alone has a video if the log names a session of it`() throws {
        for hasSession in [false, true] {
            var room = Room(configuration: Self.auto, at: probe.now)
            var effects = RoomEffects()
            let message = IncomingMessage(
                author: .alice, session: nil, bytes: Array(draw(1, #","t":16000"#).utf8), loggedAt: probe.now)
            room.receive(message, incarnation: { RoomProbe.incarnation }, at: probe.now, into: &effects)
            if hasSession { room.receive(.epoch(3), loggedAt: probe.now, at: probe.now, into: &effects) }
            room.beginReleases(at: probe.now)
            var after = RoomProbe(room, at: probe.now, logAhead: .zero)
            after.wait(.seconds(20))
            #expect(after.shown() == (hasSession ? [] : [1]))
        }
    }

    @Test mutating func `A live clock goes on in the room's next life, before its next sample`() {
        probe.clock(10_000)
        probe.send(draw(1, #","t":9000"#))
        probe.record(.close)
        probe.send(draw(1, #","t":16000"#))
        #expect(probe.after(.seconds(5)).shown() == [1])
        #expect(probe.room.head.index == 1)
    }

    @Test mutating func `Wet ink of a progressive cohort without a video goes out as it is drawn`() {
        let settings = CohortSettings(gate: .auto, ink: .progressive)
        probe = RoomProbe(settings)
        let style = WetStrokeStyle(time: 9000, boardWidth: 1024, boardHeight: 768)
        let points = [StrokePoint(x: 1, y: 1, milliseconds: 0), StrokePoint(x: 2, y: 2, milliseconds: 10)]
        func update(_ number: Int64) -> WetUpdate {
            WetUpdate(number: number, update: 1, .points(WetPoints(style: style, first: 0, points: points)))
        }
        probe.draw(update(1))
        #expect(probe.takeWet().filter { $0.cohort == .main }.map(\.wet.newPoints) == [2])
        probe.send(draw(1, #","t":9000"#))
        probe.clock(1000)
        probe.draw(update(2))
        probe.wait(.seconds(1))
        #expect(probe.takeWet().filter { $0.cohort == .main && $0.wet.newPoints > 0 }.isEmpty)
    }

    @Test func `Wet ink waits, too, for the second in which a clock may not have been heard yet`() {
        let settings = CohortSettings(gate: .auto, ink: .progressive)
        var room = RoomProbe(settings).room
        room.beginReleases(at: probe.now)
        let style = WetStrokeStyle(time: 16_000, boardWidth: 1024, boardHeight: 768)
        let points = WetPoints(style: style, first: 0, points: [StrokePoint(x: 1, y: 1), StrokePoint(x: 2, y: 2)])
        for hasClock in [false, true] {
            var after = RoomProbe(room, at: probe.now, logAhead: .zero)
            after.draw(WetUpdate(number: 1, update: 1, .points(points)))
            after.wait(.seconds(1) - .nanoseconds(1))
            #expect(after.takeWet().filter { $0.cohort == .main }.isEmpty)
            if hasClock { after.clock(10_000) }
            after.wait(.nanoseconds(1))
            #expect(after.takeWet().filter { $0.cohort == .main }.map(\.wet.newPoints) == (hasClock ? [] : [2]))
        }
    }
}
