import Hosting
import Journal
import LecternClient
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import LecternServer

@Suite(.timeLimit(.minutes(5))) struct ErasureTests {
    /// A stroke with numbers that stand nowhere else.
    private func stroke(_ number: Int, _ mark: String, _ step: Int) -> String {
        let points = (0..<40).map { #"{"x":\#(100 + $0 * step % 31).\#(mark),"y":\#(50 + $0 * step % 23).\#(mark)}"# }
        return #"{"n":\#(number),"c":1,"l":4,"t":0,"w":400,"h":300,"d":[\#(points.joined(separator: ","))]}"#
    }

    @Test func `nothing of an erased room is in any file of the store, and other rooms are as before`() async throws {
        try await DurableClass.with(partitions: 2, quickCheckpoints) { lesson in
            let (doomed, other) = (try lesson.address("doomed"), try lesson.address("other"))
            let files = try ["only doomed has it", "both have it", "the other one shows it"].map(SampleFile.init)
            let store = lesson.assets
            try await store.provision()
            for file in files { try await store.save(file.bytes, file.manifest, for: doomed.room) }
            try await store.save(files[1].bytes, files[1].manifest, for: other.room)
            var windows: [[UInt8]] = []
            let (before, life) = try await lesson.serve {
                for number in 1...30 {
                    try await lesson.client.publishDurably(
                        stroke(number, "7182818", 7), to: doomed, author: "doomed-hand")
                    try await lesson.client.publishDurably(
                        stroke(number, "1415926", 11), to: other, author: "other-hand")
                }
                try await lesson.client.publishDurably(image(31, files[0].id), to: doomed, author: "doomed-hand")
                try await lesson.client.publishDurably(image(32, files[1].id), to: doomed, author: "doomed-hand")
                try await lesson.client.publishDurably(image(31, files[2].id), to: other, author: "other-hand")
                // Several states, one after the other, so that older ones were deleted before.
                var state: [UInt8] = []
                for number in 33...36 {
                    try await lesson.client.publishDurably(
                        stroke(number, "7182818", 7), to: doomed, author: "doomed-hand")
                    let last = try await lesson.lastSequence(doomed.partition)
                    state = try await lesson.savedState(of: doomed, through: last)
                }
                _ = try await lesson.savedState(of: other, through: 1)
                let before = RoomState(try await lesson.joined(other, at: 31))
                return (before, (try await lesson.joined(doomed, at: 36), state))
            }
            // The name of a file that another room has, too, stays.
            let names = files.map { $0.id.description }.joined()
            windows = stride(from: 64, to: life.1.count - 40, by: 97).map { Array(life.1[$0..<$0 + 40]) }
                .filter { !names.utf8.contains($0) }
            let patterns = [Array("7182818".utf8), Array("doomed-hand".utf8), Array("only doomed has it".utf8)]
            let there = try StoreFiles(lesson.nats)
            for pattern in patterns { #expect(there.contains(pattern)) }
            let known = windows.filter(there.contains)
            #expect(known.count > 5)

            try await lesson.serve {
                let done = try await lesson.erase(doomed)
                #expect(done.what.hasPrefix("deleted 36 records, "), "\(done.what)")
                #expect(done.what.hasSuffix(", 1 of 2 files") || done.what.hasSuffix(", 1 of 3 files"), "\(done.what)")
                #expect(try await lesson.client.join(doomed).index == 0)
                try await lesson.client.publishDurably(Hand.stroke(37, at: 0), to: doomed, author: "new")
                #expect(RoomState(try await lesson.joined(other, at: 31)) == before)
                let new = try await lesson.joined(doomed, at: 1)
                #expect(new.index == 1 && new.room != life.0.room)
            }
            /// - Parameter isRestarted: before, the server's indexes of subjects (`.fss`) may have the room's still.
            func check(isRestarted: Bool = true) throws {
                let files = try StoreFiles(lesson.nats)
                let found: [String] = (patterns + known).flatMap { files.places(of: $0) }
                    .filter { isRestarted || !$0.contains(".fss at ") }
                #expect(found.isEmpty)
                let missing = ["1415926", "other-hand", "both have it", "the other one shows it"]
                    .filter { !files.contains(Array($0.utf8)) }
                #expect(missing.isEmpty)
            }
            try check(isRestarted: false)
            try await lesson.nats.restart()
            try check()
            await lesson.nats.kill()
            try await lesson.nats.restart()
            try check()
            for name in ["b", "c"] {
                try await lesson.serve(as: name) { () async throws in
                    #expect(RoomState(try await lesson.joined(other, at: 31)) == before)
                    #expect(try await lesson.joined(doomed, at: 1).index == 1)
                }
            }
            #expect(try await store.manifest(of: files[0].id) == nil)
            #expect(try await store.bytes(of: files[1].id) == files[1].bytes)
            #expect(try await store.bytes(of: files[2].id) == files[2].bytes)
            #expect(try await store.usedBytes(of: doomed.room) == 0)
            try check()
        }
    }

    @Test func `a record on another partition's subject does not keep the file of an erased room`() async throws {
        try await DurableClass.with(partitions: 2, quickCheckpoints) { lesson in
            let doomed = try lesson.address("doomed")
            let file = try SampleFile("only doomed has it")
            let store = lesson.assets
            try await store.provision()
            try await store.save(file.bytes, file.manifest, for: doomed.room)
            try await lesson.serve {
                try await lesson.client.publishDurably(image(1, file.id), to: doomed, author: "anna")
                _ = try await lesson.joined(doomed, at: 1)
                // As many as to have greater sequences in their log than the decision has in its own.
                for number in 1...20 {
                    _ = try await JetStream(lesson.client).publish(
                        Array(image(number, file.id).utf8), to: "ink.\(1 - doomed.partition).doomed.in.anna")
                }
                try await lesson.erase(doomed)
                #expect(try await store.manifest(of: file.id) == nil)
            }
        }
    }

    @Test
    func `an erasure that was cut off is finished by the next one, which takes no new life with it`() async throws {
        try await DurableClass.with(quickCheckpoints) { lesson in
            let (doomed, other) = (try lesson.address("doomed"), try lesson.address("other"))
            let count = 3000
            try await lesson.serve {
                // No author is above the limit of messages a second.
                for number in 0..<count {
                    let hand = "hand-\(number / 150)"
                    try await lesson.client.publishDurably(
                        Hand.stroke(number % 150 + 1, at: 0), to: doomed, author: "doomed-\(hand)")
                    guard number % 3 == 0 else { continue }
                    try await lesson.client.publishDurably(
                        Hand.stroke(number % 150 / 3 + 1, at: 0), to: other, author: "other-\(hand)")
                }
                let before = RoomState(try await lesson.joined(other, at: UInt64(count / 3)))
                _ = try await lesson.joined(doomed, at: UInt64(count))
                let stream = JetStream(lesson.client)
                let full = try await stream.streamInfo("INK_LOG_0").messages
                let cut = Task { try await lesson.erase(doomed) }
                try await eventually(
                    "records are being deleted", is: await stream.streamInfo("INK_LOG_0").messages < full)
                cut.cancel()
                _ = await cut.result
                let left = try await lesson.messages("\(doomed).in.*", in: "INK_LOG_0").count
                #expect(left > 0 && left < count, "\(left)")

                let decisions = try await lesson.messages(doomed.subject(.control), in: "INK_LOG_0").count
                let done = try await lesson.erase(doomed)
                #expect(done.what.hasPrefix("deleted \(left) records"), "\(done.what)")
                // Each command has a decision of its own.
                #expect(try await lesson.messages(doomed.subject(.control), in: "INK_LOG_0").count == decisions + 1)
                #expect(try await lesson.messages("\(doomed).in.*", in: "INK_LOG_0").isEmpty)
                #expect(RoomState(try await lesson.joined(other, at: UInt64(count / 3))) == before)
            }
            let places = try StoreFiles(lesson.nats).places(of: "doomed-hand".utf8)
            #expect(places == [])
        }
    }

    private func outcome(
        of command: OperatorCommand, by commands: RoomCommands
    ) async throws -> (reply: CommandReply?, refusal: String?) {
        do throws(RoomDirectoryError) {
            return (try await commands.give(command), nil)
        } catch {
            guard case .refused(let message) = error else { throw error }
            return (nil, message)
        }
    }

    @Test func `an erasure that cannot delete a file fails and says so, and the next one finishes it`() async throws {
        let deletions = "$JS.API.STREAM.MSG.DELETE.INK_ASSETS"
        try await DurableClass.serve(denying: deletions, quickCheckpoints) { lesson in
            let (nats, client) = (lesson.nats, lesson.client)
            let doomed = try lesson.address("doomed")
            let file = try SampleFile("only doomed has it")
            try await lesson.assets.save(file.bytes, file.manifest, for: doomed.room)
            // Another one is shown, and neither uploaded to it nor named in the log any more.
            let shown = try SampleFile("doomed shows it")
            try await lesson.assets.save(shown.bytes, shown.manifest)
            try await client.publishDurably(image(1, shown.id), to: doomed, author: "doomed-hand")
            try await client.publishDurably(stroke(2, "7182818", 7), to: doomed, author: "doomed-hand")
            _ = try await lesson.savedState(of: doomed, through: 2)
            try await JetStream(client).deleteMessage("INK_LOG_0", 1)
            let otto = RoomCommands(connection: client, root: "ink", from: try #require(OperatorName("otto")))
            let refusal = try #require(try await outcome(of: .erase(doomed.room), by: otto).refusal)
            #expect(refusal.contains("2 of 2 files") && refusal.hasSuffix("Erase it again."), "\(refusal)")
            let audit = AuditReader(connection: client, root: "ink")
            #expect(try await audit.entries().map(\.outcome) == [.failed])
            #expect(try StoreFiles(nats).contains(Array("only doomed has it".utf8)))

            try await nats.restart(configuration: DurableClass.accounts(denying: "nothing"))
            let reply = try await eventually("the service is back") {
                try await outcome(of: .erase(doomed.room), by: otto).reply
            }
            #expect(reply.detail?.hasSuffix(", 2 of 2 files") == true, "\(reply)")
            #expect(try await lesson.messages("ink.assets.*.>", in: "INK_ASSETS").isEmpty)
            for text in ["only doomed has it", "doomed shows it", "7182818"] {
                #expect(try !StoreFiles(nats).contains(Array(text.utf8)))
            }
            #expect(try await audit.entries().last?.outcome == .done)
        }
    }

    @Test func `an idle room beside it makes an erasure wait no longer than a few seconds`() async throws {
        try await DurableClass.with {
            $0.checkpoints = CheckpointSchedule(interval: .seconds(40), operations: 1000, cursors: .milliseconds(200))
            $0.upkeepInterval = .milliseconds(200)
        } _: { lesson in
            let (doomed, other) = (try lesson.address("doomed"), try lesson.address("other"))
            try await lesson.serve {
                for address in [doomed, other] {
                    try await lesson.client.publishDurably(Hand.stroke(1, at: 0), to: address)
                    _ = try await lesson.savedState(of: address, through: 1)
                    // In no checkpoint until 40 s later.
                    try await lesson.client.publishDurably(Hand.stroke(2, at: 0), to: address)
                    _ = try await lesson.joined(address, at: 2)
                }
                let began = ContinuousClock.now
                try await lesson.erase(doomed)
                #expect(ContinuousClock.now - began < .seconds(20))
                let manifest = try #require(try await lesson.manifest(of: other))
                #expect(manifest.sequence >= 4)
            }
        }
    }

    @Test func `a teacher who goes on writing keeps what comes after the decision, on every daemon`() async throws {
        try await DurableClass.with(quickCheckpoints) { lesson in
            let (doomed, other) = (try lesson.address("doomed"), try lesson.address("other"))
            let daemons = [try await lesson.daemon("a"), try await lesson.daemon("b")]
            let writing = Task {
                for number in 1...2000 where !Task.isCancelled {
                    try await lesson.client.publishDurably(Hand.stroke(number, at: 0), to: doomed)
                    try await lesson.client.publishDurably(Hand.stroke(number, at: 0), to: other)
                    try await Task.sleep(for: .milliseconds(2))
                }
            }
            _ = try await lesson.joined(doomed, at: 50)
            let first = try await lesson.erase(doomed)
            _ = try await lesson.joined(doomed, at: 20)
            let second = try await lesson.erase(doomed)
            #expect(second.sequence > first.sequence)
            _ = try await lesson.joined(doomed, at: 20)
            writing.cancel()
            _ = await writing.result
            let kept = try await lesson.messages("\(doomed).in.*", in: "INK_LOG_0")
            #expect(kept.allSatisfy { $0 > second.sequence })
            let others = try await lesson.messages("\(other).in.*", in: "INK_LOG_0")
            let state = RoomState(try await lesson.joined(doomed, at: UInt64(kept.count)))
            #expect(state.index == UInt64(kept.count))
            #expect(state.incarnation.hasSuffix("-\(try #require(kept.first))"))
            let before = RoomState(try await lesson.joined(other, at: UInt64(others.count)))
            for daemon in daemons { try await daemon.stop() }
            await lesson.nats.kill()
            try await lesson.nats.restart()
            try await lesson.serve(as: "c") { () async throws in
                #expect(RoomState(try await lesson.joined(doomed, at: UInt64(kept.count))) == state)
                #expect(RoomState(try await lesson.joined(other, at: UInt64(others.count))) == before)
            }
        }
    }

    @Test func `a daemon that reads the whole log again passes over the gaps of erased rooms`() async throws {
        try await DurableClass.with(quickCheckpoints) { lesson in
            let (doomed, other) = (try lesson.address("doomed"), try lesson.address("other"))
            let before = try await lesson.serve {
                for number in 1...200 {
                    try await lesson.client.publishDurably(Hand.stroke(number, at: 0), to: doomed)
                    try await lesson.client.publishDurably(Hand.stroke(number, at: 0), to: other)
                }
                _ = try await lesson.joined(doomed, at: 200)
                let before = RoomState(try await lesson.joined(other, at: 200))
                try await lesson.erase(doomed)
                return before
            }
            // Nothing tells any more what checkpoints hold, nor is there one.
            for subject in ["*.checkpoint", "*.checkpoint.>"] {
                for sequence in try await lesson.messages("ink.0.\(subject)", in: "INK_CHECKPOINT_0") {
                    try await JetStream(lesson.client).deleteMessage("INK_CHECKPOINT_0", sequence)
                }
            }
            try await lesson.serve(as: "b") { () async throws in
                #expect(RoomState(try await lesson.joined(other, at: 200)) == before)
                #expect(try await lesson.client.join(doomed).index == 0)
            }
        }
    }

    @Test func `a room that nobody has written to, and one that was closed before, can be erased`() async throws {
        try await DurableClass.with(quickCheckpoints) { lesson in
            let (blank, closed) = (try lesson.address("blank"), try lesson.address("closed"))
            try await lesson.serve {
                #expect(try await lesson.erase(blank).what == "nothing was stored of it")
                for number in 1...20 {
                    try await lesson.client.publishDurably(
                        Hand.stroke(number, at: 0), to: closed, author: "closed-hand")
                }
                _ = try await lesson.savedState(of: closed, through: 20)
                _ = try await JetStream(lesson.client).publish(
                    ControlRecord.close.encoded(), to: closed.subject(.control))
                try await eventually("it is closed", is: await lesson.client.join(closed).index == 0)
                #expect(try StoreFiles(lesson.nats).contains(Array("closed-hand".utf8)))
                #expect(try await lesson.erase(closed).what.hasPrefix("deleted 21 records"))
                #expect(try !StoreFiles(lesson.nats).contains(Array("closed-hand".utf8)))
            }
        }
    }
}
