import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

/// Strokes that grow, in virtual time.
@Suite struct `A growing stroke` {
    private static let fast = CohortName("fast") ?? .main

    private func room(_ change: (inout CohortSettings) -> Void = { _ in }) -> RoomProbe {
        var settings = CohortSettings(ink: .progressive)
        change(&settings)
        return RoomProbe(
            RoomConfiguration(
                cohorts: CohortsConfiguration(named: [.main: settings, Self.fast: settings])))
    }

    private func update(
        _ number: Int64 = 1, u: Int64 = 1, k: Int = 0, t: Int64? = 1000, at milliseconds: [Double],
        predicted: [Double] = []
    ) -> WetUpdate {
        func points(_ times: [Double]) -> [StrokePoint] { times.map { StrokePoint(x: $0, y: 0, milliseconds: $0) } }
        return WetUpdate(
            number: number, update: u,
            .points(
                WetPoints(
                    style: WetStrokeStyle(time: t), first: k, points: points(milliseconds),
                    predicted: points(predicted))))
    }

    private func stroke(_ number: Int64 = 1, t: Int64? = 1000, at milliseconds: [Double], a: Int = 1) -> String {
        let points = milliseconds.map { #"{"x":\#(min($0, 999)),"y":0,"m":\#($0)}"# }.joined(separator: ",")
        let time = t.map { ",\"t\":\($0)" } ?? ""
        return #"{"n":\#(number),"a":\#(a)\#(time),"d":[\#(points)]}"#
    }

    /// `k:x,x,…` of each message to a cohort since the last call, with `#index`; `x` for one that gives up.
    private func taken(
        _ room: inout RoomProbe, _ cohort: CohortName? = .main, after duration: Duration = .zero
    ) throws -> [String] {
        if duration > .zero { room.wait(duration) }
        return try room.takeWet().filter { $0.cohort == cohort }.map { published in
            let release = try WetRelease(decoding: published.wet.body)
            guard case .points(let points) = release.content else { return "x" }
            let list = points.points.map { "\(Int($0.x))" }.joined(separator: ",")
            let ahead = points.predicted.isEmpty ? "" : "+" + points.predicted.map { "\(Int($0.x))" }.joined()
            return "\(points.first):\(list)\(ahead)" + (release.index.map { "#\($0)" } ?? "")
        }
    }

    @Test func `goes out point by point as the video passes each`() throws {
        var room = room()
        room.clock(1000)
        room.draw(update(at: [0, 100, 200]))
        #expect(try taken(&room) == [])
        #expect(try taken(&room, after: .milliseconds(2)) == ["0:0"])
        #expect(try taken(&room, after: .milliseconds(97)) == [])
        room.clock(1099)
        #expect(try taken(&room, after: .milliseconds(2)) == ["1:100"])
        room.clock(1160)
        #expect(try taken(&room, after: .milliseconds(40)) == [])
        #expect(try taken(&room, after: .milliseconds(1)) == ["2:200"])
    }

    @Test func `goes out at most every 33 ms, and whole once a second`() throws {
        var room = room()
        room.clock(10_000)
        for index in 0..<50 {
            room.draw(update(u: Int64(index + 1), k: index, at: [Double(index)]))
            room.wait(.milliseconds(10))
        }
        room.wait(.milliseconds(600))
        let published = room.takeWet().filter { $0.cohort == .main }
        for (one, next) in zip(published, published.dropFirst()) { #expect(next.at - one.at >= .milliseconds(33)) }
        #expect(published.reduce(0) { $0 + $1.wet.newPoints } == 50)
        let whole = try #require(published.last)
        guard case .points(let points) = try WetRelease(decoding: whole.wet.body).content else { return }
        #expect(points.first == 0 && points.points.count == 50)
    }

    @Test func `is taken back where its operation has fewer points`() throws {
        var room = room()
        room.clock(1150)
        room.draw(update(at: [0, 10, 20, 30]))
        #expect(try taken(&room) == ["0:0,10,20,30"])
        room.send(stroke(at: [0, 500]))
        #expect(try taken(&room) == ["x", "0:0#1"])
    }

    @Test func `goes out once, but for what has changed, when the video steps back`() throws {
        var room = room()
        room.clock(1150)
        room.draw(update(at: [0, 10, 20, 200]))
        #expect(try taken(&room) == ["0:0,10,20"])
        room.clock(1015)
        room.wait(.milliseconds(40))
        room.clock(1012)
        room.send(stroke(at: [0, 11, 20, 200]))
        #expect(try taken(&room) == ["1:11#1"])
        #expect(try taken(&room, after: .milliseconds(150)) == [])
    }

    @Test func `has the session that its author drew it in, also when the next one has begun`() throws {
        var room = room()
        room.clock(1000)
        room.send(stroke(1, t: 1500, at: [0, 100]), session: "monday")
        room.send(stroke(1, t: 1600, at: [0, 100]), session: "tuesday")
        room.clock(1550)
        room.clock(1650)
        room.wait(.milliseconds(20))
        let releases = try room.takeWet().filter { $0.cohort == .main }.map { try WetRelease(decoding: $0.wet.body) }
        #expect(releases.map(\.session) == ["monday", "tuesday"])
        #expect(releases.map(\.index) == [1, 2])
    }

    @Test func `shows predicted points at the head alone`() throws {
        var room = room()
        room.clock(5000)
        room.draw(update(at: [0], predicted: [7]))
        let published = room.takeWet()
        #expect(published.map(\.cohort) == [.main, nil] || published.map(\.cohort) == [nil, .main])
        for message in published {
            guard case .points(let points) = try WetRelease(decoding: message.wet.body).content else { continue }
            #expect(points.predicted.count == (message.cohort == nil ? 1 : 0))
        }
        room.wait(.milliseconds(40))
        room.draw(update(u: 2, k: 1, at: []))
        #expect(try taken(&room, nil) == ["1:"])
    }

    @Test func `takes late values, and ignores repeats, old updates and gaps`() throws {
        var room = room()
        room.clock(5000)
        room.draw(update(u: 2, at: [0, 1, 2]))
        room.draw(update(u: 2, at: [9, 9, 9]))
        room.draw(update(u: 1, at: [9, 9, 9]))
        room.draw(update(u: 5, k: 4, at: [4]))
        #expect(try taken(&room, after: .milliseconds(40)) == ["0:0,1,2"])
        room.draw(update(u: 6, k: 1, at: [5]))
        #expect(try taken(&room) == ["1:5"])
        #expect(room.counts.wetUpdates == [.taken: 2, .repeated: 2, .gap: 1])
    }

    @Test func `is forgotten when it is given up, rejected or silent`() throws {
        var room = room()
        room.clock(5000)
        room.draw(update(at: [0]))
        room.draw(WetUpdate(number: 1, update: 2, .givenUp))
        #expect(try taken(&room) == ["0:0", "x"])
        room.draw(update(2, at: [0]))
        room.send(#"{"n":1,"d":[{"x":1,"y":1}],"t":1}"#, #"{"n":2,"d":7}"#)
        #expect(try taken(&room) == ["0:0", "x"])
        room.draw(update(2, u: 3, at: [0]))
        #expect(room.counts.wetUpdates[.settled] == 1)
        room.draw(update(3, at: [0]))
        room.wait(.seconds(11))
        #expect(try taken(&room).last == "x")
        #expect(room.room.wetBytes == 0)
    }

    @Test func `goes out to no cohort with a clock where it has no time, or belongs to another epoch`() throws {
        var room = room()
        room.clock(5000, .main, #","ep":1"#)
        room.draw(update(t: nil, at: [0]))
        #expect(try taken(&room) == [])
        room.send(#"{"n":7,"d":[{"x":1,"y":1}],"t":1}"#, by: .bob)
        room.draw(update(2, at: [0]))
        room.record(.epoch(2))
        room.clock(5000, .main, #","ep":2"#)
        room.wait(.milliseconds(40))
        _ = try taken(&room)
        room.draw(update(2, u: 2, k: 1, at: [1]))
        #expect(try taken(&room, after: .milliseconds(40)) == [])
    }

    @Test func `on a time line that has begun anew at the teacher waits for the video of each cohort`() throws {
        var room = room()
        for cohort in [CohortName.main, Self.fast] { room.clock(100_000, cohort, #","a":1000"#) }
        room.send(stroke(t: 99_000, at: [0]))
        room.draw(update(2, t: 100, at: [0]))
        for media in [0.0, 250] {
            room.wait(.milliseconds(250))
            room.clock(media, Self.fast, #","a":1000"#)
        }
        #expect(room.decisions == [.epoch(0), .epoch(1)])
        let published = room.takeWet().filter { $0.cohort != nil }
        #expect(published.map(\.cohort) == [Self.fast])
    }

    @Test func `goes out at once to a cohort that nothing holds back`() throws {
        var room = room { $0.gate = .none }
        room.draw(update(t: nil, at: [0, 500]))
        #expect(try taken(&room) == ["0:0,500"])
    }

    @Test func `stays within its bounds`() throws {
        var room = room()
        room.clock(5000)
        for number in 1...6 { room.draw(update(Int64(number), at: [0])) }
        #expect(room.counts.wetUpdates == [.taken: 4, .full: 2])
        for index in 0..<600 { room.draw(update(1, u: Int64(index + 2), at: [0])) }
        #expect(room.counts.wetUpdates[.limited] == 206)
        room.draw(Array("{".utf8), by: .bob)
        #expect(room.counts.wetUpdates[.rejected] == 1)
        var many = WetPoints(style: WetStrokeStyle(time: 0), first: 0, points: [])
        for round in 0..<120 {
            many.points = (0..<1000).map { StrokePoint(x: Double($0), y: 1) }
            many.first = round * 1000
            room.draw(WetUpdate(number: 9, update: Int64(round + 1), .points(many)), by: .bob)
            room.wait(.milliseconds(200))
        }
        #expect(room.room.wetBytes <= 5 << 20)
        #expect(room.counts.wetUpdates[.full] ?? 0 > 2)
    }

    @Test func `has one gate time on every replica, after a checkpoint too`() throws {
        var room = room()
        room.send(stroke(1, t: 1000, at: [0, 700]), stroke(2, t: 1200, at: [0]))
        var successor = try room.restarted()
        for position in 0...1 {
            var probe = position == 0 ? room : successor
            probe.clock(1700)
            #expect(probe.shown() == [])
            probe.clock(1701)
            #expect(probe.shown() == [1, 2])
        }
        successor.clock(1100)
        #expect(try taken(&successor) == ["0:0#1"])
    }

    @Test func `of the session before goes by the video of that, where it ends after the last picture seen`() throws {
        var room = room()
        for cohort in [CohortName.main, Self.fast] { room.clock(1_000_000_000, cohort, #","ep":1"#) }
        room.send(stroke(t: 999_999_000, at: [0]))
        room.clock(0, Self.fast, #","ep":2"#)
        room.send(stroke(2, t: 1_000_000_500, at: [0, 2000]))
        #expect(room.shown(Self.fast) == [1, 2])
        room.clock(1_000_000_501, .main, #","ep":1"#)
        #expect(try taken(&room) == ["0:0#2"])
        #expect(room.shown() == [1])
        room.clock(1_000_002_501, .main, #","ep":1"#)
        #expect(room.shown() == [1, 2])
    }

    @Test func `with an absurd end has all its points at its time`() throws {
        var room = room()
        room.clock(1000)
        room.send(stroke(1, t: 1000, at: [0, 1e9]))
        room.clock(1001)
        #expect(room.shown() == [1])
    }
}
