import Journal
import NATSClient
import NATSTestServer
import Testing
import Whiteboard

@testable import LecternServer

/// What is known of a partition whose rooms are discarded because records were missing.
@Suite struct PartitionWorkTests {
    @Test func `Records that are dropped after the rooms were discarded count as held by no checkpoint`() async throws {
        try await NATSTestServer.withConnection(jetStream: true) { nats, connection in
            let journal = try await connection.makeJournal()
            let address = try ServerConfiguration().address("physics")
            for number in 1...5 { try await connection.publishDurably(Hand.stroke(number, at: number), to: address) }
            let work = PartitionWork(0) { _ in }
            let delivered = Recorder<UInt64>()
            work.attach(
                journal.read(0, from: 1, now: MonotonicClock.now) { event in
                    guard case .record(let record) = event else { return }
                    if record.sequence == 3 { work.discard() }
                    delivered.append(record.sequence)
                })
            #expect(try await delivered.values(5) == [1, 2, 3, 4, 5])
            #expect(work.position == nil)
            work.close()
            #expect(work.countClosed(isWhole: true) == 1)
            #expect(work.covered == nil)
        }
    }
}
