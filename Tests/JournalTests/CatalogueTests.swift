import Hosting
import NATSClient
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import Journal

/// What is known of a partition's checkpoints when it is opened, also where some are damaged, foreign or newer.
@Suite struct CatalogueTests {
    @Test func `A checkpoint of a log that is gone counts for nothing and hinders no other`() async throws {
        try await TestJournal.provisioned { test, _ in
            let old = try await test.save(sampleBytes(parts: 1, 1), at: 300)
            #expect(try await test.store.catalogue(of: 0, log: "new").rooms.isEmpty)
            #expect(try await test.store.catalogue(of: 0, log: "new").foreign == 1)
            var new = old
            new.log = "new"
            new.sequence = 21
            #expect(try await test.store.newest(notBeyond: new) == nil)
            try await test.store.save(new)
            #expect(try await test.store.catalogue(of: 0, log: "new").rooms == [try .physics: new])
            #expect(try await test.store.catalogue(of: 0, log: "abc").rooms == [try .physics: old])
            #expect(try await test.store.manifest(before: new) == nil)
        }
    }

    @Test func `The catalogue has the newest manifest of each of many rooms, and closed ones, too`() async throws {
        try await TestJournal.provisioned { test, _ in
            #expect(try await test.store.catalogue(of: 0, log: "abc") == CheckpointCatalogue())
            for round in 1...2 as ClosedRange<UInt64> {
                for room in 0..<300 {
                    try await test.store.save(try sampleManifest("room\(room)", at: round * 1000 + UInt64(room)))
                }
            }
            let catalogue = try await test.store.catalogue(of: 0, log: "abc")
            #expect(catalogue.rooms.count == 300)
            for (room, manifest) in catalogue.rooms {
                #expect(manifest == (try sampleManifest(room.text, at: manifest.sequence)))
                #expect(manifest.sequence >= 2000)
            }
        }
    }

    @Test func `How far the log is in checkpoints is the most that was said of the newest log`() async throws {
        try await TestJournal.provisioned { test, _ in
            for (log, sequence) in [("old", 900), ("new", 40), ("new", 70), ("new", 60)] as [(String, UInt64)] {
                try await test.store.save(covered: sequence, of: 0, log: log)
            }
            let catalogue = try await test.store.catalogue(of: 0, log: "new")
            #expect(catalogue.covered == 70)
            #expect(catalogue.rooms.isEmpty && catalogue.damaged.isEmpty)
        }
    }

    @Test func `The manifest before a damaged newest one counts`() async throws {
        try await TestJournal.provisioned { test, _ in
            let old = try await test.save([1, 2, 3], at: 10)
            for damaged in ["", "0123456789abcdef\n{}", "no manifest", String(repeating: "f", count: 500)] {
                _ = try await test.jetStream.publish(Array(damaged.utf8), to: "ink.0.physics.checkpoint")
                let catalogue = try await test.store.catalogue(of: 0, log: "abc")
                #expect(catalogue.rooms == [try .physics: old])
                #expect(catalogue.outdated == [try .physics])
                #expect(try await test.state(of: old) == [1, 2, 3])
                // It may have held more: whoever writes behind it is told.
                #expect(try await test.store.save(old))
                #expect(try await !test.store.save(old))
            }
        }
    }

    @Test func `A room of which only damaged manifests are there is named`() async throws {
        try await TestJournal.provisioned { test, _ in
            let good = try await test.save([1], at: 10)
            for room in ["latin", "greek"] { _ = try await test.jetStream.publish([0], to: "ink.0.\(room).checkpoint") }
            // A manifest of another room, and something else.
            let stray = try #require(try await test.jetStream.lastMessage("INK_CHECKPOINT_0", subject: good.subject))
            _ = try await test.jetStream.publish(stray.payload, to: "ink.0.music.checkpoint")
            _ = try await test.jetStream.publish(stray.payload, to: "ink.0.MUSIC.checkpoint")
            let catalogue = try await test.store.catalogue(of: 0, log: "abc")
            #expect(Array(catalogue.rooms.keys) == [try .physics])
            #expect(Set(catalogue.damaged.map(\.text)) == ["latin", "greek", "music"])
        }
    }

    @Test func `A damaged manifest beside one of another log may be of this log`() async throws {
        try await TestJournal.provisioned { test, _ in
            let foreign = try await test.save([1], at: 10)
            #expect(try await test.store.catalogue(of: 0, log: "new").foreign == 1)
            _ = try await test.jetStream.publish([0], to: foreign.subject)
            let catalogue = try await test.store.catalogue(of: 0, log: "new")
            #expect(catalogue.damaged == [try .physics])
            #expect(catalogue.rooms.isEmpty && catalogue.foreign == 0)
        }
    }

    @Test func `Coverage from before the log lost its end no longer counts`() async throws {
        try await TestJournal.with { test, _ in
            let log = try await test.journal.provision(0).incarnationPrefix
            try await test.store.save(covered: 120, of: 0, log: log)
            try await test.store.save(covered: 100, of: 0, log: log, rewinds: 1)
            // A daemon that does not know it yet.
            try await test.store.save(covered: 130, of: 0, log: log)
            let catalogue = try await test.store.catalogue(of: 0, log: log)
            #expect(catalogue.covered == 100)
            #expect(catalogue.rewinds == 1)
        }
    }

    @Test func `A checkpoint of a newer release is refused as such, for the log that is there`() async throws {
        try await TestJournal.provisioned { test, _ in
            var newer = try await test.save([1], at: 10)
            newer.state?.fold += 1
            _ = try await test.jetStream.publish(newer.encoded(), to: newer.subject)
            try await expectNewer { _ = try await test.store.catalogue(of: 0, log: "abc") }
            try await expectNewer { _ = try await test.store.newest(notBeyond: sampleManifest(at: 99)) }
            try await expectNewer { try await test.store.save(try sampleManifest(at: 99)) }
            #expect(try await test.store.catalogue(of: 0, log: "other").foreign == 1)
        }
    }

    @Test func `Without the stream the catalogue is an error, not an empty one`() async throws {
        try await TestJournal.with { test, _ in
            let error = await #expect(throws: JournalError.self) {
                try await test.store.catalogue(of: 0, log: "abc")
            }
            guard case .stream(_, let cause)? = error else { throw Unexpected("\(String(describing: error))") }
            #expect(cause.isStreamMissing)
        }
    }

    private func expectNewer(_ body: () async throws -> Void) async throws {
        let error = await #expect(throws: JournalError.self) { try await body() }
        guard case .newer("INK_CHECKPOINT_0", let what)? = error else {
            throw Unexpected("\(String(describing: error))")
        }
        #expect(what.contains("this release knows"))
    }
}
