import Journal
import NATSClient
import NATSTestServer
import TestSupport
import Testing

@testable import LecternServer

@Suite(.timeLimit(.minutes(4))) struct StreamSurveyTests {
    @Test
    func `what a log has beyond the last record read is counted, and the age of the first of it told`() async throws {
        try await NATSTestServer.withConnection(jetStream: true) { nats, connection in
            let journal = JetStreamJournal(
                root: "ink", partitions: 1, settings: JournalSettings(), connection: connection, logger: .silent)
            _ = try await journal.provision(0)
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
        }
    }
}
