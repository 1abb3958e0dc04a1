import Foundation
import NATSClient
import NATSTestServer
import TestSupport
import Testing

@testable import Journal

/// Backups of a log from which records go meanwhile. A purge stands for records that expire.
@Suite struct StreamBackupTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("backup-\(UUID())")

    /// What happens on the server between the copy of the checkpoints and that of the log, each time.
    private struct Meanwhile: Sendable {
        /// The records that go, at each copy.
        var gone: UInt64 = 1
        /// Whether a checkpoint is written.
        var saves = true
        /// Whether it is noted that all that has gone is covered.
        var covers = false
    }

    /// Makes a backup of a log of 40 records, of which checkpoints hold some.
    /// - Returns: how often the log was copied.
    private func backUp(
        covered: UInt64?, of log: String? = nil, _ meanwhile: Meanwhile = Meanwhile()
    ) async throws -> Int {
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await TestJournal.with { test, _ in
            let there = try await test.journal.provision(0)
            for number in 1...40 { try await test.write("\(number)") }
            if let covered { try await test.store.save(covered: covered, of: 0, log: log ?? there.incarnationPrefix) }
            let connection = test.connection
            var gone: UInt64 = 0
            var copies = 0
            try await StreamBackup(root: "ink", folder: folder, connection: connection).make { progress in
                guard case .done(let stream, _) = progress else { return }
                if stream == "INK_LOG_0" { copies += 1 }
                guard stream == "INK_CHECKPOINT_0" else { return }
                gone += meanwhile.gone
                // In the order in which the server gets them, before the copy of the log.
                try? connection.publish(
                    Array(#"{"seq":\#(gone + 1)}"#.utf8), to: "$JS.API.STREAM.PURGE.INK_LOG_0", reply: "nobody")
                let coverage = Coverage(log: there.incarnationPrefix, covered: gone).encoded()
                if meanwhile.covers { try? connection.publish(coverage, to: "ink.0.COVERED.checkpoint") }
                if meanwhile.saves { try? connection.publish([1], to: "ink.0.physics.checkpoint.0") }
            }
            #expect(try StreamBackup.verify(folder) == ["INK_CHECKPOINT_0", "INK_LOG_0"])
            return copies
        }
    }

    @Test(arguments: [1, 7] as [UInt64])
    func `records that go while they are copied do no harm where the copied checkpoints hold them`(
        _ gone: UInt64
    ) async throws {
        #expect(try await backUp(covered: 7, Meanwhile(gone: gone)) == 1)
    }

    @Test func `while no checkpoint is written the copies are what the server has`() async throws {
        #expect(try await backUp(covered: nil, Meanwhile(saves: false)) == 1)
    }

    @Test func `records that go and are in no checkpoint are named, and there is no backup`() async throws {
        let failure = StreamBackup.Failure.uncovered(stream: "INK_LOG_0", from: 8, through: 40)
        await #expect(throws: failure) { try await backUp(covered: 7, Meanwhile(gone: 8)) }
        #expect("\(failure)".hasPrefix("uncovered: records 8 to 40 of INK_LOG_0"))
    }

    @Test func `checkpoints of another log of that name do not count`() async throws {
        await #expect(throws: StreamBackup.Failure.uncovered(stream: "INK_LOG_0", from: 1, through: 5)) {
            try await backUp(covered: 30, of: "another")
        }
    }

    @Test func `a log that is trimmed by what newer checkpoints hold is copied again with them`() async throws {
        await #expect(throws: StreamBackup.Failure.neverStill(stream: "INK_LOG_0")) {
            try await backUp(covered: nil, Meanwhile(covers: true))
        }
    }

    @Test func `checkpoints whose log is gone are copied, in a folder that is made with those above it`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let place = folder.appendingPathComponent("of/today")
        try await TestJournal.provisioned { test, _ in
            try await test.store.save(covered: 0, of: 0, log: "abc")
            try await test.connection.deleteStream("INK_LOG_0")
            try await StreamBackup(root: "ink", folder: place, connection: test.connection).make { _ in }
        }
        #expect(try StreamBackup.verify(place) == ["INK_CHECKPOINT_0"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: place.path).sorted() == [
                "INK_CHECKPOINT_0.snapshot", "backup.json",
            ])
    }
}
