import Journal
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternServer

/// What is of the life of a room that an erasure ends, and what of the next one.
@Suite(.timeLimit(.minutes(2))) struct ErasureRepeatTests {
    /// Writes the decision of a command, as a daemon that ended then.
    private func decide(
        _ address: RoomAddress, by command: String, assetsBefore: UInt64, _ lesson: DurableClass
    ) async throws {
        let eraser = RoomEraser(
            root: "ink", partitions: lesson.configuration.partitions, settings: lesson.journal,
            connection: lesson.client, logger: .silent)
        try await eraser.decide(address.room, by: command, assetsBefore: assetsBefore)
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
                #expect(try await lesson.messages("ink.assets.>", in: "INK_ASSETS").isEmpty)
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
                #expect(try await lesson.messages("ink.assets.>", in: "INK_ASSETS").isEmpty)
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
                    guard progress.step == "waiting until the end of the room is saved", uploads.values.isEmpty else {
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

    @Test func `a command that comes in again erases nothing of what was written since`() async throws {
        try await DurableClass.with {
            quickCheckpoints(&$0)
            $0.journal?.duplicateWindow = .milliseconds(500)
        } _: { lesson in
            let doomed = try lesson.address("doomed")
            try await lesson.serve {
                try await lesson.client.publishDurably(Hand.stroke(1, at: 0), to: doomed)
                _ = try await lesson.joined(doomed, at: 1)
                let commands = ["first", "second"]
                var decisions: [UInt64] = []
                for command in commands { decisions.append(try await lesson.erase(doomed, by: command).sequence) }
                for number in 1...3 { try await lesson.client.publishDurably(Hand.stroke(number, at: 0), to: doomed) }
                let life = RoomState(try await lesson.joined(doomed, at: 3))

                // An id that the log took later is forgotten.
                func isDuplicate() async throws -> Bool {
                    try await JetStream(lesson.client).publish(
                        ControlRecord.epoch(0).encoded(), to: lesson.address("other").subject(.control),
                        headers: [HeaderName.msgID: "later"]
                    ).isDuplicate
                }
                _ = try await isDuplicate()
                try await eventually("the duplicate window has passed") { try await isDuplicate() ? nil : () }
                for (command, decision) in zip(commands, decisions) {
                    let again = try await lesson.erase(doomed, by: command)
                    #expect(again.sequence == decision)
                    #expect(again.what.contains(/deleted 0 records|nothing was stored/), "\(again.what)")
                    #expect(RoomState(try await lesson.joined(doomed, at: 3)) == life)
                    #expect(try await lesson.messages("\(doomed).in.*", in: "INK_LOG_0").count == 3)
                }
            }
        }
    }
}
