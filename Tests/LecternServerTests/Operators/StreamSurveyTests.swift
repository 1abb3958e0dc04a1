import Journal
import Locking
import Metrics
import NATSClient
import NATSTestServer
import TestSupport
import Testing

@testable import LecternServer

@Suite(.timeLimit(.minutes(4))) struct StreamSurveyTests {
    @Test
    func `records beyond the last one read are counted, and the age of the first of them is reported`() async throws {
        try await NATSTestServer.withConnection(jetStream: true) { nats, connection in
            let journal = try await connection.makeJournal()
            let jetStream = JetStream(connection)
            for number in 1...10 as ClosedRange<UInt8> {
                _ = try await jetStream.publish([number], to: "ink.0.room.in.anna")
            }
            let log = try await journal.streams(of: 0).log
            #expect(log.name == "INK_LOG_0" && log.bytes > 0 && log.sequences == (1, 10))
            let survey = StreamSurvey(journal: journal, interval: .seconds(1))
            let all = await survey.backlog(of: 0, log, after: 10)
            #expect(all.records == 0 && all.age == .zero)
            let first = await survey.backlog(of: 0, log, after: 4)
            #expect(first.records == 6 && first.age < .seconds(60))
            try await eventually(
                "it becomes older", is: await survey.backlog(of: 0, log, after: 4).age > first.age + .milliseconds(50))
            // What was deleted cannot be read any more.
            try await journal.trim(0, before: 8)
            let trimmed = try await journal.streams(of: 0).log
            #expect(await survey.backlog(of: 0, trimmed, after: 4).records == 3)
            try await journal.trim(0, before: 11)
            let emptied = try await journal.streams(of: 0).log
            #expect(emptied.sequences == (11, 10))
            #expect(await survey.backlog(of: 0, emptied, after: 4).records == 0)
        }
    }

    @Test func `nothing is told any more of a partition that another daemon serves`() async throws {
        try await NATSTestServer.withConnection(jetStream: true) { nats, connection in
            let journal = try await connection.makeJournal()
            let recorder = MeterRecorder()
            let open = Locked([0])
            let surveying = Task {
                await withMetricsFactory(recorder) {
                    ServerMetrics.logFullness(of: 0).set(0.95)
                    await StreamSurvey(journal: journal, interval: .milliseconds(10)).run {
                        open.withLock { $0 }
                    } position: { _ in
                        0
                    }
                }
            }
            defer { surveying.cancel() }
            let names = ["lectern_stream_bytes INK_LOG_0", "lectern_log_unread_records 0", "lectern_log_fullness 0"]
            try await eventually(
                "the partition is told of", is: names.allSatisfy { recorder.gauges.keys.contains($0) })
            open.withLock { $0 = [] }
            try await eventually(
                "it is told of no more",
                is: !recorder.gauges.keys.contains { $0.contains("_stream_") || $0.contains("_log_") })
        }
    }
}
