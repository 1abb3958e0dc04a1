import Foundation
import Hosting
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import Journal

/// Saving checkpoints, and reading the states that they name.
@Suite struct CheckpointTests {
    @Test func `A save that is behind the stored checkpoint is refused before anything of it is written`() async throws
    {
        try await TestJournal.provisioned { test, _ in
            let better = try await test.save(sampleBytes(parts: 1, 1), at: 300)
            for _ in 0..<4 {
                await #expect(throws: JournalError.superseded(room: try .physics, by: 300)) {
                    _ = try await test.store.newest(notBeyond: sampleManifest(at: 299))
                }
            }
            #expect(try await test.store.newest(notBeyond: sampleManifest(at: 300)) == better)
            #expect(try await test.state(of: better) == sampleBytes(parts: 1, 1))
        }
    }

    @Test func `A checkpoint comes back as it was saved, however many parts it has`() async throws {
        try await TestJournal.provisioned { test, _ in
            for size in [0, 1, 512 << 10, (512 << 10) + 1, 3 << 20] {
                let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
                let saved = try await test.save(bytes, at: UInt64(size) + 1)
                let catalogue = try await test.store.catalogue(of: 0, log: "abc")
                #expect(catalogue.rooms == [try .physics: saved])
                #expect(catalogue.damaged.isEmpty && catalogue.outdated.isEmpty)
                #expect(try await test.state(of: saved) == bytes)
            }
        }
    }

    @Test func `One who has stood still does not push out what another has saved since`() async throws {
        try await TestJournal.provisioned { test, _ in
            let late = try sampleManifest(at: 10)
            let newer = try await test.save([1, 2, 3], at: 20)
            await #expect(throws: JournalError.superseded(room: try .physics, by: 20)) {
                try await test.store.save(late)
            }
            // Both at the same time: the last one has read before the other wrote.
            _ = try await test.jetStream.publish(late.encoded(), to: late.subject)
            let catalogue = try await test.store.catalogue(of: 0, log: "abc")
            #expect(catalogue.rooms == [try .physics: newer])
            #expect(catalogue.outdated.isEmpty)
        }
    }

    @Test func `A daemon that is behind does not bury a damaged manifest of what was saved meanwhile`() async throws {
        try await TestJournal.provisioned { test, _ in
            let records = [try await test.write("{}").sequence, try await test.write("{}").sequence]
            try await test.store.save(sampleManifest(at: records[1]))
            try await test.store.save(covered: records[1], of: 0, log: "abc")
            // Of a daemon that has read less.
            try await test.store.save(covered: records[0], of: 0, log: "abc")
            _ = try await test.jetStream.publish([0], to: "ink.0.physics.checkpoint")
            for _ in 0..<3 {
                await #expect(throws: JournalError.superseded(room: try .physics, by: records[1])) {
                    try await test.store.save(sampleManifest(at: records[0]))
                }
            }
            #expect(try await test.store.catalogue(of: 0, log: "abc").outdated == [try .physics])
            #expect(try await test.store.save(sampleManifest(at: records[1])))
        }
    }

    @Test func `A state with a part missing, replaced or cut is not used, the one before is`() async throws {
        try await TestJournal.provisioned { test, _ in
            let old = try await test.save(sampleBytes(parts: 3, 1), at: 10)
            var new = try await test.save(sampleBytes(parts: 3, 2), at: 20)
            #expect(try await test.store.manifest(before: old) == nil)
            #expect(try await test.store.manifest(before: new) == old)
            let parts = try #require(new.state?.parts)

            new.state?.parts.swapAt(0, 1)
            #expect(try await test.state(of: new) == nil)
            new.state?.parts = Array(parts.dropLast())
            #expect(try await test.state(of: new) == nil)
            new.state?.parts = parts + parts
            #expect(try await test.state(of: new) == nil)
            new.state?.parts = [parts[0], try #require(old.state?.parts[1]), parts[2]]
            #expect(try await test.state(of: new) == nil)
            new.state?.parts = parts
            #expect(try await test.state(of: new) == sampleBytes(parts: 3, 2))

            try await test.connection.deleteMessage("INK_CHECKPOINT_0", parts[1])
            #expect(try await test.state(of: new) == nil)
            #expect(try await test.state(of: old) == sampleBytes(parts: 3, 1))
        }
    }

    @Test func `Saves that come to nothing, however many, do no harm to either generation`() async throws {
        try await TestJournal.provisioned { test, _ in
            let old = try await test.save(sampleBytes(parts: 2, 1), at: 10)
            let new = try await test.save(sampleBytes(parts: 2, 2), at: 20)
            for salt in 3...7 {
                _ = try await test.store.save(state: sampleBytes(parts: 2, salt), room: .physics, beside: new)
            }
            let catalogue = try await test.store.catalogue(of: 0, log: "abc")
            #expect(catalogue.rooms == [try .physics: new])
            #expect(new.generations.map(\.sequence) == [20, 10])
            #expect(new.previous?.state == old.state)
            #expect(try await test.state(of: new) == sampleBytes(parts: 2, 2))
            #expect(try await test.state(of: old) == sampleBytes(parts: 2, 1))
        }
    }

    @Test func `The checkpoint that a room is restored from stays, however often its repair begins again`() async throws
    {
        try await TestJournal.provisioned { test, _ in
            let saved = try await test.save(sampleBytes(parts: 1, 1), at: 10)
            let base = try await test.store.save(base: saved)
            for _ in 0..<5 { #expect(try await test.store.save(base: saved) == base) }
            #expect(try await test.store.base(base, of: .physics) == saved)
            // Another one is written beside it.
            let other = try await test.store.save(base: try sampleManifest(at: 12, state: saved.state))
            #expect(other > base)
            #expect(try await test.store.base(base, of: .physics) == saved)
        }
    }

    @Test func `Two generations are kept, and the one before them leaves nothing behind`() async throws {
        try await TestJournal.provisioned { test, _ in
            var manifests: [CheckpointManifest] = []
            for round in 1...6 {
                let saved = try await test.save(sampleBytes(parts: 2, round), at: UInt64(round))
                if let old = manifests.dropLast().last?.state { await test.store.discard(old, room: try .physics) }
                manifests.append(saved)
            }
            // Two generations of two parts, and three manifests.
            #expect(try await test.jetStream.streamInfo("INK_CHECKPOINT_0").messages == 7)
            #expect(try await test.state(of: manifests[5]) == sampleBytes(parts: 2, 6))
            #expect(try await test.state(of: manifests[4]) == sampleBytes(parts: 2, 5))
            // Again what is deleted already.
            await test.store.discard(try #require(manifests[0].state), room: try .physics)
        }
    }

    @Test(arguments: [false, true])
    func `Of two that save at once the one that holds less never has the last word`(isOneProcess: Bool) async throws {
        try await TestJournal.provisioned { test, _ in
            let other = isOneProcess ? test.store : TestJournal(test.connection).store
            for round in 1...40 {
                let (less, more) = (
                    try sampleManifest(at: UInt64(2 * round)), try sampleManifest(at: UInt64(2 * round + 1))
                )
                async let behind = test.store.save(less)
                async let ahead = other.save(more)
                // It may come too late.
                _ = try? await behind
                #expect(try await !ahead)
                let last = try await test.store.newest(notBeyond: try sampleManifest(at: 1000))
                #expect(last?.sequence == more.sequence)
            }
        }
    }

    @Test func `Cursors cost one request while nobody else writes`() async throws {
        try await TestJournal.provisioned { test, _ in
            let questions = Recorder<Void>()
            try test.connection.subscribe("$JS.API.STREAM.MSG.GET.>") { _ in questions.append(()) }
            let rooms = ["physics", "chemistry", "latin"]
            for room in rooms { try await test.store.save(try sampleManifest(room, at: 5)) }
            try await test.connection.flush()
            let before = questions.values.count
            for round in 1...10 {
                for room in rooms {
                    var moved = try sampleManifest(room, at: 5)
                    moved.handled = 5 + UInt64(round)
                    _ = try await test.store.save(cursors: moved, after: nil)
                }
            }
            try await test.connection.flush()
            #expect(before > 0 && questions.values.count == before)
            // What is known of a room that has left memory is asked for again.
            test.store.forget(try .physics)
            _ = try await test.store.save(cursors: try sampleManifest(at: 5), after: nil)
            try await test.connection.flush()
            #expect(questions.values.count > before)
        }
    }

    @Test(arguments: TestSeed.choose(3))
    func `The checkpoint with the most is the last of each room, whatever daemons save at once`(seed: UInt64)
        async throws
    {
        try await TestJournal.provisioned { test, _ in
            let stores = (0..<3).map { _ in TestJournal(test.connection).store }
            let rooms = ["physics", "chemistry"]
            var random = SeededGenerator(seed: seed)
            var most: [String: UInt64] = [:]
            for round in 1...60 {
                // Each daemon writes a room alone, beside those of others; some stand still for a while.
                var saves: [(store: CheckpointStore, manifest: CheckpointManifest)] = []
                for store in stores where random.chance(2, in: 3) {
                    let room = random.pick(rooms)
                    let sequence = UInt64(random.int(max(1, round - 3)...round))
                    saves.append((store, try sampleManifest(room, at: sequence)))
                }
                await withTaskGroup(of: (String, UInt64)?.self) { group in
                    for save in saves {
                        group.addTask {
                            do {
                                _ = try await save.store.save(cursors: save.manifest, after: nil)
                                return (save.manifest.room.text, save.manifest.sequence)
                            } catch { return nil }
                        }
                    }
                    for await case (let room, let sequence)? in group { most[room] = max(most[room] ?? 0, sequence) }
                }
                if random.chance(1, in: 6) { stores[random.int(0...2)].forget(partition: 0) }
                for (room, sequence) in most {
                    let last = try await test.store.newest(notBeyond: try sampleManifest(room, at: 1000))
                    #expect(last?.sequence == sequence, "seed \(seed), round \(round), \(room)")
                }
            }
        }
    }

    @Test func `A checkpoint of the first release is read, and is the older generation of the next`() async throws {
        try await TestJournal.provisioned { test, _ in
            let subject = "ink.0.physics.checkpoint"
            let part = try await test.jetStream.publish([1, 2, 3], to: "\(subject).0").sequence
            let hash = FNV1a64.digits(FNV1a64.hash([1, 2, 3]))
            let json = """
                {"cursors":{"main":7},"handled":11,"incarnation":"abc-1","log":"abc","quiet":false,"room":"physics",\
                "sequence":12,"state":{"bytes":3,"hash":"\(hash)","parts":[\(part)]},"version":1}
                """
            _ = try await test.jetStream.publish(
                Array("\(FNV1a64.digits(FNV1a64.hash(json.utf8)))\n\(json)".utf8), to: subject)
            let old = try #require(try await test.store.catalogue(of: 0, log: "abc").rooms[.physics])
            #expect(old.state?.format == 1 && old.state?.fold == 1)
            #expect(try await test.state(of: old) == [1, 2, 3])
            let new = try await test.save([4], at: 13)
            #expect(new.previous == old.generations.first)
            #expect(try await test.state(of: old) == [1, 2, 3])
        }
    }

    @Test func `Old checkpoints and records go by their age`() async throws {
        var settings = JournalSettings()
        settings.maxAge = .seconds(1)
        settings.duplicateWindow = .milliseconds(500)
        try await TestJournal.provisioned(settings) { test, _ in
            try await test.write("one")
            let saved = try await test.save([1], at: 1)
            let log = try await eventually("the log is cut") {
                let log = try await test.journal.provision(0)
                return log.firstSequence == 2 ? log : nil
            }
            #expect(log.lastSequence == 1)
            let (reader, book) = test.read()
            try await test.write("two")
            _ = try await book.records.values(1)
            #expect(book.sequences == [2])
            #expect(book.entries.values.contains(.missing(1...1)))
            reader.cancel()
            let left = try await eventually("the checkpoint is gone") {
                let catalogue = try await test.store.catalogue(of: 0, log: "abc")
                return catalogue.rooms.isEmpty ? catalogue : nil
            }
            #expect(left == CheckpointCatalogue())
            #expect(try await test.state(of: saved) == nil)
        }
    }
}
