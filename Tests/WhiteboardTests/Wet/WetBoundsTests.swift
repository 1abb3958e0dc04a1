import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

/// What a thousand of the worst updates, or of the worst operations, may cost.
@Suite struct `Wet ink within its bounds` {
    private static let fast = CohortName("fast") ?? .main

    private func room(authors: Int = 32) -> RoomProbe {
        let progressive = CohortSettings(ink: .progressive)
        var limits = IntakeLimits()
        limits.authors = authors
        limits.messagesPerSecond = 100_000
        limits.bytesPerSecond = 1 << 30
        return RoomProbe(
            RoomConfiguration(
                intake: limits, cohorts: CohortsConfiguration(named: [.main: progressive, Self.fast: progressive])))
    }

    private func update(_ number: Int64, u: Int64, k: Int = 0, y: Double = 0, count: Int) -> WetUpdate {
        WetUpdate(
            number: number, update: u,
            .points(
                WetPoints(
                    style: WetStrokeStyle(time: 0), first: k,
                    points: (k..<k + count).map { StrokePoint(x: Double($0), y: y) })))
    }

    private func author(_ number: Int) throws -> AuthorID { try #require(AuthorID("author-\(number)")) }

    private func releases(_ room: inout RoomProbe, _ cohort: CohortName?) throws -> [(points: WetPoints, bytes: Int)] {
        try room.takeWet().filter { $0.cohort == cohort }.compactMap { published in
            guard case .points(let points) = try WetRelease(decoding: published.wet.body).content else { return nil }
            return (points, published.wet.body.count)
        }
    }

    @Test func `an author sends 200 updates and a mebibyte a second, with bursts of twice that`() throws {
        var room = room()
        for index in 0..<1000 {
            room.draw(update(1, u: Int64(index + 1), count: 1))
            room.wait(.milliseconds(1))
        }
        #expect((595...605).contains(room.counts.wetUpdates[.taken] ?? 0))
        let large = update(1, u: 1, count: 2500).encoded()
        for _ in 0..<100 {
            room.draw(large, by: .bob)
            room.wait(.milliseconds(10))
        }
        let taken = 100 - ((room.counts.wetUpdates[.limited] ?? 0) - (1000 - (room.counts.wetUpdates[.taken] ?? 0) + 1))
        #expect((taken - 2) * large.count <= 3 << 20)
        #expect((taken + 2) * large.count >= 3 << 20)
    }

    @Test func `sessions are kept of the log's operations alone, where strokes grow in no cohort yet`() {
        var room = RoomProbe(
            RoomConfiguration(
                cohorts: CohortsConfiguration(
                    defaults: CohortSettings(ink: .progressive), named: [.main: CohortSettings()]),
                log: LogRetention(tail: 10)))
        room.clock(1_000_000)
        for number in 1...1000 {
            room.send(#"{"n":\#(number),"t":0,"d":[{"x":1,"y":1}]}"#, session: "s")
            room.wait(Duration.milliseconds(50))
            #expect(room.room.ink.sessions.count <= room.room.log.operations.count)
        }
        #expect(room.room.head.index == 1000)
    }

    @Test func `nothing is kept beyond what the worker has to spare`() throws {
        var room = Room(configuration: room().room.configuration, at: Instant(nanoseconds: 0))
        var effects = RoomEffects()
        let spare = 1 << 20
        for number in 0..<40 {
            let before = room.wetBytes
            room.receive(
                wetUpdate: update(Int64(number % 4 + 1), u: 1, count: 1500).encoded(), of: try author(number / 4),
                session: nil, spare: spare - before, at: Instant(nanoseconds: 0), into: &effects)
            #expect(room.wetBytes <= spare)
        }
        #expect(effects.counts.wetUpdates[.taken] ?? 0 > 5)
        #expect(effects.counts.wetUpdates[.full] ?? 0 > 5)
    }

    @Test
    func `a changed point far behind the end does not have the whole stroke sent again with each message`() throws {
        var room = room()
        room.clock(1000)
        room.clock(1000, Self.fast)
        for part in 0..<4 {
            room.draw(update(1, u: Int64(part + 1), k: part * 500, count: 500))
            room.wait(.milliseconds(300))
        }
        room.wait(.milliseconds(100))
        _ = room.takeWet()
        // 190 updates of 60 bytes in a second.
        for index in 0..<190 {
            if index % 50 == 0 { room.clock(2500 + Double(index * 5)) }
            room.draw(update(1, u: Int64(index + 10), k: index % 2 == 0 ? 0 : 1000, y: Double(index + 1), count: 1))
            room.wait(.milliseconds(5))
        }
        let published = try releases(&room, nil)
        #expect(published.reduce(0) { $0 + $1.bytes } < 3 * GrowingPoints.messageBytes)
        // The changes are there with the repeats.
        #expect(published.contains { $0.points.first == 0 && ($0.points.points.first?.y ?? 0) > 0 })
        room.wait(.seconds(2))
        _ = room.takeWet()
        // Near the end they come at once.
        room.draw(update(1, u: 500, k: 1990, y: 7, count: 1))
        room.wait(.milliseconds(40))
        #expect(try releases(&room, nil).contains { $0.points.first == 1990 && $0.points.points.first?.y == 7 })
    }

    @Test func `strokes of the log grow among the next 256 operations, and 4 MiB of them at a time`() throws {
        let fitting = (4 << 20) / GrowingPoints.byteCount(of: 1501)
        for (pointCount, authors, expected) in [(1, 300, 256), (1500, 120, fitting)] {
            var room = room(authors: 400)
            room.clock(1000)
            room.clock(1000, Self.fast)
            // The last point holds the others back.
            let points = (0...pointCount).map { #"{"x":\#($0 % 900),"y":0,"m":\#($0 == pointCount ? 3000 : 0)}"# }
            for number in 0..<authors {
                room.send(#"{"n":1,"t":900,"d":[\#(points.joined(separator: ","))]}"#, by: try author(number))
            }
            room.wait(.milliseconds(40))
            let grown = try Set(
                room.takeWet().filter { $0.cohort == .main }.map { try WetRelease(decoding: $0.wet.body).author })
            #expect(grown.count == expected, "\(pointCount) points")
            #expect(room.room.wetBytes <= 4 << 20)
            room.clock(3950)
            room.clock(3950, Self.fast)
            #expect(room.after(.milliseconds(100)).shown().count == authors)
            #expect(room.room.wetBytes == 0)
        }
    }

    @Test func `an update costs no message of another's stroke`() throws {
        var room = room()
        room.clock(1000)
        for number in 0..<30 { room.draw(update(1, u: 1, count: 10), by: try author(number)) }
        room.wait(.milliseconds(50))
        _ = room.takeWet()
        room.draw(update(1, u: 2, k: 10, count: 1), by: try author(3))
        let published = room.takeWet()
        #expect(published.count == 2)
        #expect(try published.allSatisfy { try WetRelease(decoding: $0.wet.body).author == author(3) })
    }

    @Test func `those who have points of a stroke are told when its room ends`() throws {
        var room = room()
        room.clock(1000)
        room.draw(update(2, u: 1, count: 2), by: .bob)
        room.send(#"{"n":1,"t":1,"d":[{"x":1,"y":1}]}"#)
        room.draw(update(2, u: 1, count: 2))
        _ = room.takeWet()
        room.record(.close)
        let ends = try room.takeWet().map { try WetRelease(decoding: $0.wet.body) }
        #expect(ends.count == 4)
        #expect(ends.allSatisfy { $0.content == .givenUp })
        #expect(room.room.wetBytes == 0)
    }
}
