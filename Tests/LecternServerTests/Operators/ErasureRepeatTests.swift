import Journal
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import LecternServer

/// What is of the life of a room that an erasure ends, and what of the next one.
@Suite(.timeLimit(.minutes(4))) struct ErasureRepeatTests {
    /// Writes the decision of a command, as a daemon that ended then.
    private func decide(
        _ address: RoomAddress, by command: String, assetsBefore: UInt64, _ lesson: DurableClass
    ) async throws {
        let deletion = StoredRoomDeletion(
            root: "ink", partitions: lesson.configuration.partitions, settings: lesson.journal,
            connection: lesson.client, logger: .silent)
        try await deletion.decide(address.room, by: command, assetsBefore: assetsBefore)
    }

    @Test func `files that came before the decision go, though the clock of their server is ahead`() async throws {
        try await DurableClass.with(quickCheckpoints) { lesson in
            let doomed = try lesson.address("doomed")
            let files = try ["brought and shown", "brought"].map(SampleFile.init)
            try await lesson.assets.provision()
            try await lesson.serve {
                try await lesson.client.publishDurably(image(1, files[0].id), to: doomed)
                _ = try await lesson.savedState(of: doomed, through: 1)
                // Its time is before that of the files, its sequence of assets after.
                try await decide(doomed, by: "command", assetsBefore: 100, lesson)
                for file in files { try await lesson.assets.save(file.bytes, file.manifest, for: doomed.room) }
                let done = try await lesson.erase(doomed, by: "command")
                #expect(done.what.hasSuffix(", 2 of 2 files"), "\(done.what)")
                #expect(try await lesson.messages("ink.assets.*.>", in: "INK_ASSETS").isEmpty)
            }
        }
    }

    @Test func `with a file that came at the moment of the decision it fails and says so, and the next one deletes it`()
        async throws
    {
        try await DurableClass.with(quickCheckpoints) { lesson in
            let doomed = try lesson.address("doomed")
            let (early, late) = (try SampleFile("before it"), try SampleFile("at the moment"))
            let store = lesson.assets
            try await store.provision()
            try await lesson.serve {
                try await store.save(early.bytes, early.manifest, for: doomed.room)
                try await lesson.client.publishDurably(image(1, late.id), to: doomed)
                try await decide(doomed, by: "command", assetsBefore: try await store.lastSequence(), lesson)
                try await store.save(late.bytes, late.manifest, for: doomed.room)
                let error = await #expect(throws: RequestError.self) { try await lesson.erase(doomed, by: "command") }
                let message = try #require(error?.message)
                #expect(message.contains("1 of 2 files") && message.hasSuffix("Erase it again."), "\(message)")
                #expect(try await store.bytes(of: early.id) == nil)
                #expect(try await store.bytes(of: late.id) == late.bytes)
                let done = try await lesson.erase(doomed)
                #expect(done.what.hasSuffix(", 1 of 1 files"), "\(done.what)")
                #expect(try await lesson.messages("ink.assets.*.>", in: "INK_ASSETS").isEmpty)
            }
        }
    }

    @Test func `files that come after the decision stay, also one that the room had before`() async throws {
        try await DurableClass.with(quickCheckpoints) { lesson in
            let doomed = try lesson.address("doomed")
            let files = try ["in both lives", "in the next one"].map(SampleFile.init)
            let store = lesson.assets
            try await store.provision()
            try await lesson.serve {
                try await store.save(files[0].bytes, files[0].manifest, for: doomed.room)
                try await lesson.client.publishDurably(image(1, files[0].id), to: doomed)
                _ = try await lesson.savedState(of: doomed, through: 1)
                let uploads = Recorder<Task<Void, any Error>>()
                let done = try await lesson.erase(doomed) { progress in
                    // From here on the decision is in the log.
                    guard progress.detail == "waiting until the end of the room is saved", uploads.values.isEmpty else {
                        return
                    }
                    uploads.append(
                        Task { for file in files { try await store.save(file.bytes, file.manifest, for: doomed.room) } }
                    )
                }
                try await #require(uploads.values.first).value
                #expect(done.what.hasSuffix(", 0 of 1 files"), "\(done.what)")
                for file in files {
                    #expect(try await store.bytes(of: file.id) == file.bytes)
                    #expect(try await store.wasUploaded(file.id, to: doomed.room))
                }
            }
        }
    }

    /// Waits until the log has forgotten the ids of all commands so far.
    private func passDuplicateWindow(_ lesson: DurableClass) async throws {
        let other = try lesson.address("other")
        // An id that the log took later is forgotten.
        func isDuplicate() async throws -> Bool {
            try await JetStream(lesson.client).publish(
                ControlRecord.epoch(0).encoded(), to: other.subject(.control), headers: [HeaderName.msgID: "later"]
            ).isDuplicate
        }
        _ = try await isDuplicate()
        try await eventually("the duplicate window has passed") { try await isDuplicate() ? nil : () }
    }

    /// Gives a command again, of a room whose next life has 3 operations.
    private func expectNothingErased(
        _ address: RoomAddress, by command: String, _ life: RoomState, _ lesson: DurableClass
    ) async throws {
        let again = try await lesson.erase(address, by: command)
        #expect(again.what.contains(/deleted 0 records|nothing was stored/), "\(again.what)")
        #expect(RoomState(try await lesson.joined(address, at: 3)) == life)
    }

    private static let shortWindow: @Sendable (inout ServerConfiguration) -> Void = {
        quickCheckpoints(&$0)
        $0.journal?.duplicateWindow = .milliseconds(500)
    }

    @Test func `a command that comes in again erases nothing of what was written since`() async throws {
        try await DurableClass.with(Self.shortWindow) { lesson in
            let doomed = try lesson.address("doomed")
            try await lesson.serve {
                try await lesson.client.publishDurably(Hand.stroke(1, at: 0), to: doomed)
                _ = try await lesson.joined(doomed, at: 1)
                let commands = ["first", "second"]
                var decisions: [UInt64] = []
                for command in commands { decisions.append(try await lesson.erase(doomed, by: command).sequence) }
                for number in 1...3 { try await lesson.client.publishDurably(Hand.stroke(number, at: 0), to: doomed) }
                let life = RoomState(try await lesson.joined(doomed, at: 3))
                try await passDuplicateWindow(lesson)
                for (command, decision) in zip(commands, decisions) {
                    #expect(try await lesson.erase(doomed, by: command).sequence == decision)
                    try await expectNothingErased(doomed, by: command, life, lesson)
                    #expect(try await lesson.messages("\(doomed).in.*", in: "INK_LOG_0").count == 3)
                }
            }
        }
    }

    @Test func `so does one whose decision a nearly full log has given back`() async throws {
        try await DurableClass.with(Self.shortWindow) { lesson in
            let doomed = try lesson.address("doomed")
            try await lesson.serve {
                try await lesson.client.publishDurably(Hand.stroke(1, at: 0), to: doomed)
                _ = try await lesson.joined(doomed, at: 1)
                let decisions = ["first", "sec*nd.>"]
                for command in decisions { _ = try await lesson.erase(doomed, by: command) }
                let last = try await lesson.lastSequence()
                for number in 1...3 { try await lesson.client.publishDurably(Hand.stroke(number, at: 0), to: doomed) }
                let life = RoomState(try await lesson.joined(doomed, at: 3))
                _ = try await lesson.savedState(of: doomed, through: last + 3)
                try await lesson.client.journal().trim(0, before: last + 1)
                #expect(try await lesson.messages("\(doomed).ctl", in: "INK_LOG_0").isEmpty)
                try await passDuplicateWindow(lesson)
                for command in decisions {
                    try await expectNothingErased(doomed, by: command, life, lesson)
                    #expect(try await lesson.messages("\(doomed).in.*", in: "INK_LOG_0").count == 3)
                }
            }
        }
    }

    @Test func `so does one whose decision was moved to another log`() async throws {
        try await DurableClass.with(Self.shortWindow) { lesson in
            var life: RoomState?
            try await lesson.serve {
                let doomed = try lesson.address("doomed")
                try await lesson.client.publishDurably(Hand.stroke(1, at: 0), to: doomed)
                _ = try await lesson.joined(doomed, at: 1)
                for command in ["first", "second"] { _ = try await lesson.erase(doomed, by: command) }
                for number in 1...3 { try await lesson.client.publishDurably(Hand.stroke(number, at: 0), to: doomed) }
                _ = try await lesson.joined(doomed, at: 3)
                _ = try await lesson.savedState(of: doomed, through: try await lesson.lastSequence())
            }
            for partitions in [2, 3, 1] {
                try await Repartitioning(
                    root: "ink", partitions: partitions, connection: lesson.client, logger: .silent
                ).run { _ in }
                var configuration = lesson.configuration
                configuration.partitions = partitions
                let moved = DurableClass(nats: lesson.nats, client: lesson.client, configuration: configuration)
                let before = life
                life = try await moved.serve {
                    let doomed = try moved.address("doomed")
                    let state = RoomState(try await moved.joined(doomed, at: 3))
                    if let before { #expect(state == before) }
                    for command in ["first", "second"] {
                        try await expectNothingErased(doomed, by: command, state, moved)
                        let log = "INK_LOG_\(doomed.partition)"
                        #expect(try await moved.messages("\(doomed).moved.in.*", in: log).count == 3)
                        #expect(try await moved.messages("\(doomed).moved.ctl", in: log).count == 2)
                    }
                    return state
                }
            }
        }
    }
}
