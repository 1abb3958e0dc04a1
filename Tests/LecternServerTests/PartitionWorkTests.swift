import Journal
import NATSClient
import NATSTestServer
import Testing
import Whiteboard

@testable import LecternServer

@Suite struct PartitionWorkTests {
    @Test func `A partition is open when the last worker is ready, and closed when the last one has closed`() {
        let work = PartitionWork(0, workers: 3) { _ in }
        #expect((0..<3).map { _ in work.countReady() || work.isReady } == [false, false, true])
        #expect((0..<3).map { work.countClosed(isWhole: $0 != 1) } == [false, false, true])
        #expect(work.covered == nil)
    }

    @Test func `Records that are dropped after the rooms were discarded count as held by no checkpoint`() async throws {
        try await NATSTestServer.withConnection(jetStream: true) { nats, connection in
            let journal = try await connection.makeJournal()
            let address = try ServerConfiguration().address("physics")
            for number in 1...5 { try await connection.publishDurably(Hand.stroke(number, at: number), to: address) }
            let work = PartitionWork(0, workers: 1) { _ in }
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
            #expect(work.countClosed(isWhole: true))
            #expect(work.covered == nil)
        }
    }
}
