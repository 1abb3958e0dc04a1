import Logging
import Metrics
import NATSClient
import NATSTestServer
import ServiceLifecycle
import StrokeWire
import Testing
import Whiteboard

@testable import LecternServer

@Suite struct WorkerProbeTests {
    @Test func `a worker that does not answer is told by how long, and gets no second probe`() {
        let probe = WorkerProbe()
        let workers = [RoomWorker(capacity: 1 << 20), RoomWorker(capacity: 1 << 20)]
        let start = Instant(nanoseconds: 0)
        #expect(probe.stall(at: start) == .zero)
        probe.send(to: workers, at: start)
        probe.answered(by: 0, at: start + .milliseconds(5))
        probe.send(to: workers, at: start + .seconds(3))
        #expect(probe.stall(at: start + .seconds(10)) == .seconds(10))
        probe.answered(by: 1, at: start + .seconds(11))
        #expect(probe.stall(at: start + .seconds(11)) == .seconds(8))
        probe.answered(by: 0, at: start + .seconds(12))
        #expect(probe.stall(at: start + .seconds(12)) == .zero)
        // An answer that nobody asked for counts for nothing.
        probe.answered(by: 1, at: start + .seconds(13))
        #expect(probe.stall(at: start + .seconds(13)) == .zero)
    }

    @Test func `no worker is asked, nor said not to answer, while the service waits for its NATS server`() async throws
    {
        let (lines, inlet) = AsyncStream.makeStream(of: String.self)
        let logger = Logger.calling { inlet.yield("\($0.message)") }
        let settings = NATSSettings(url: "nats://127.0.0.1:1")
        let server = Server(
            configuration: ServerConfiguration(), connection: NATSConnection(settings, logger: .silent), logger: logger)
        let group = ServiceGroup(services: [server], logger: .silent)
        let running = Task { try await group.run() }
        for await line in lines where line.hasPrefix("no NATS server yet") { break }
        #expect(server.readiness.stall == .zero)
        await group.triggerGracefulShutdown()
        try await running.value
    }
}

@Suite struct RoomSurveyTests {
    private static let start = Instant(nanoseconds: 0)

    /// A room that has heard a clock, and holds a stroke for it.
    private static func room(clockAt media: Int, strokeAt time: Int, _ cohort: CohortName = .main) throws -> Room {
        var effects = RoomEffects()
        var room = Room(configuration: RoomConfiguration(), at: start)
        room.setOutput(isOpen: true)
        let anna = try #require(AuthorID("anna"))
        let stroke = Array(#"{"n":1,"t":\#(time),"d":[{"x":1,"y":1}]}"#.utf8)
        let incoming = IncomingMessage(author: anna, session: nil, bytes: stroke, loggedAt: start)
        room.receive(clockSample: Array(#"{"m":\#(media)}"#.utf8), cohort: cohort, at: start, into: &effects)
        room.receive(incoming, incarnation: { "test" }, at: start, into: &effects)
        room.advance(to: start + .milliseconds(1), into: &effects)
        return room
    }

    @Test func `a clock that is no longer heard shows where something is held for it, and nowhere else`() throws {
        let holding = try Self.room(clockAt: 1000, strokeAt: 60_000)
        let idle = try Self.room(clockAt: 1000, strokeAt: 500)
        var live = RoomSurvey()
        live.add(holding, unsavedSince: nil, at: Self.start + .seconds(1))
        #expect(live.cohorts["main"] == .init(oldestClock: .seconds(1), stale: 0))
        #expect(live.heldBytes > 0)
        var dead = RoomSurvey()
        dead.add(holding, unsavedSince: Self.start + .seconds(3), at: Self.start + .seconds(20))
        dead.add(idle, unsavedSince: Self.start + .seconds(8), at: Self.start + .seconds(20))
        #expect(dead.cohorts["main"] == .init(oldestClock: .seconds(20), stale: 1))
        var both = live
        both.formUnion(dead)
        #expect(both.cohorts["main"] == .init(oldestClock: .seconds(20), stale: 1))
        #expect(both.heldBytes == live.heldBytes + dead.heldBytes)
        var none = RoomSurvey()
        none.add(idle, unsavedSince: nil, at: Self.start + .seconds(20))
        #expect(none.cohorts.isEmpty && none.heldBytes == 0)
        // The oldest change of all rooms, whose checkpoints do not hold it.
        #expect(live.oldestUnsaved == .zero)
        #expect(dead.oldestUnsaved == .seconds(17) && both.oldestUnsaved == .seconds(17))
    }

    @Test func `cohorts that wait no more are told to be fine, and left out where there have been many`() throws {
        let recorder = MeterRecorder()
        func stale() -> [String: Double] { recorder.gauges.filter { $0.key.hasPrefix("lectern_stale_clocks ") } }
        try withMetricsFactory(recorder) { () throws in
            let surveys = RoomSurveys()
            func complete(_ names: [String]) throws {
                var survey = RoomSurvey()
                for name in names {
                    let room = try Self.room(clockAt: 1000, strokeAt: 60_000, try #require(CohortName(name)))
                    survey.add(room, unsavedSince: nil, at: Self.start + .seconds(20))
                }
                surveys.complete(survey, of: 0)
            }
            try complete(["first"])
            #expect(stale()["lectern_stale_clocks first"] == 1)
            try complete([])
            #expect(stale()["lectern_stale_clocks first"] == 0)
            for round in 0..<20 { try complete((0..<10).map { "c-\(round)-\($0)" }) }
            #expect(stale().count <= 64 && stale()["lectern_stale_clocks c-19-9"] == 1)
        }
    }
}
