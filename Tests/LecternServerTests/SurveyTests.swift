import Journal
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternServer

@Suite struct SurveyTests {
    /// Where the walk stood when something else was handled.
    private struct Progress: Sendable {
        var found: Int?
        var passed = false
        var foundWhenPassed: Int?
    }

    @Test func `while its rooms are gone through a worker does what else has come`() async throws {
        var configuration = ServerConfiguration()
        configuration.workers = 1
        let connection = NATSConnection(NATSSettings(url: "nats://127.0.0.1:1"), logger: .silent)
        let floor = WorkFloor(configuration, connection, .silent)
        let worker = floor.workers.all[0]
        let author = try #require(AuthorID("anna"))
        let rooms = 10 * RoomSurvey.stride + 1
        let progress = Locked(Progress())
        // All of it waits before the worker begins, so that it is one batch.
        worker.post(.partition(.open(0, prefix: "test", stored: [:], kept: nil)))
        worker.post(.partition(.caughtUp(0)))
        for number in 1...rooms {
            let room = try configuration.address("room-\(number)").room
            let content = JournalRecord.Content.message(
                author: author, session: nil, bytes: Array(Hand.stroke(1, at: 0).utf8))
            worker.post(
                .record(
                    JournalRecord(
                        partition: 0, room: room, content: content, sequence: UInt64(number),
                        loggedAt: MonotonicClock.now())))
        }
        let survey = RoomSurvey(workers: 1) { reports in progress.withLock { $0.found = reports.count } }
        worker.post(.survey(survey, left: nil))
        let note = { @Sendable in
            progress.withLock { progress in
                progress.passed = true
                progress.foundWhenPassed = progress.found
            }
        }
        worker.post(.partition(.barrier(pass: note)))
        let journal = VolatileJournal(root: configuration.root, partitions: 1, logger: .silent)
        let ends = floor.start(journal, keeper: nil)
        let found = try await eventually("the walk ends") { progress.withLock { $0.found } }
        #expect(found == rooms)
        let end = progress.withLock { $0 }
        #expect(end.passed && end.foundWhenPassed == nil)
        await floor.stop(ends)
    }
}
