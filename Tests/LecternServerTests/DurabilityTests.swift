import Hosting
import Journal
import LecternServer
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@Suite struct DurabilityTests {
    @Test func `what was published while no service ran is applied by the next one`() async throws {
        try await DurableClass.with { lesson in
            let address = try lesson.address("gap")
            let first = try await lesson.serve {
                try lesson.client.setClock(address, 1000)
                for number in 1...3 { try await lesson.client.publishDurably(Hand.stroke(number, at: 0), to: address) }
                return try await lesson.joined(address, at: 3)
            }
            for number in 4...6 { try await lesson.client.publishDurably(Hand.stroke(number, at: 0), to: address) }
            try await lesson.serve {
                try lesson.client.setClock(address, 1000)
                let second = try await lesson.joined(address, at: 6)
                #expect(second.room == first.room)
                #expect(second.index == 6)
            }
        }
    }

    @Test func `a successor releases only what has not been released, under the same indices and digests`() async throws
    {
        try await DurableClass.with { lesson in
            let address = try lesson.address("again")
            let out = try await Inbox(lesson.client, address.subject(.out(.main)))
            let before = try await lesson.serve {
                try lesson.client.setClock(address, 1000)
                for number in 1...4 {
                    try await lesson.client.publishDurably(
                        Hand.stroke(number, at: number < 4 ? 0 : 5000), to: address)
                }
                return try await out.next(3)
            }
            #expect(before.map(\.index) == ["1", "2", "3"])
            try await lesson.serve {
                try await lesson.client.publishDurably(Hand.stroke(5, at: 5500), to: address)
                // Held until the video has come so far, and there is no video yet.
                let standing = try await lesson.client.join(address)
                #expect(standing.index == 3)
                #expect(standing.digest.description == before[2].digest)
                try lesson.client.setClock(address, 6000)
                let after = try await out.next(2)
                #expect(after.map(\.index) == ["4", "5"])
                #expect(after.allSatisfy { $0.room == before[0].room && $0.late == nil })
            }
        }
    }

    @Test func `after an orderly end all of the log is in checkpoints`() async throws {
        try await DurableClass.with(partitions: 2) { lesson in
            let rooms = try (0..<20).map { try lesson.address("room-\($0)") }
            try await lesson.serve {
                for address in rooms { try await lesson.client.publishDurably(Hand.stroke(1, at: 0), to: address) }
                // What has not been read from the log by the end is read after the next start.
                for address in rooms { try await lesson.known(address) }
            }
            let store = CheckpointStore(
                root: lesson.configuration.root, partitions: 2, connection: lesson.client, logger: .silent)
            let journal = JetStreamJournal(
                root: lesson.configuration.root, partitions: 2, settings: JournalSettings(), connection: lesson.client,
                logger: .silent)
            for partition in 0..<2 {
                let log = try await journal.provision(partition)
                let catalogue = try await store.catalogue(of: partition, log: log.incarnationPrefix)
                #expect(catalogue.rooms.count == rooms.count { $0.partition == partition })
                #expect(catalogue.covered == UInt64(catalogue.rooms.count))
            }
        }
    }

    @Test func `after a log was deleted what its checkpoints say of a room is in nobody's way`() async throws {
        try await DurableClass.with { lesson in
            let (room, other) = (try lesson.address("physics"), try lesson.address("algebra"))
            let before = try await lesson.serve {
                try lesson.client.setClock(room, 1000)
                for number in 1...5 { try await lesson.client.publishDurably(Hand.stroke(number, at: 0), to: room) }
                return try await lesson.joined(room, at: 5)
            }
            _ = try await lesson.client.request(to: "$JS.API.STREAM.DELETE.INK_LOG_0")
            // Coverage is of the new log from now on, the checkpoint of the room still of the old one.
            try await lesson.serve { try await lesson.client.publishDurably(Hand.stroke(1, at: 0), to: other) }
            try await lesson.serve {
                try lesson.client.setClock(room, 1000)
                for number in 1...2 { try await lesson.client.publishDurably(Hand.stroke(number, at: 0), to: room) }
                let after = try await lesson.joined(room, at: 2)
                #expect(after.room != before.room)
                #expect(after.index == 2)
            }
        }
    }

    @Test func `undo after a restart takes the stroke drawn before it`() async throws {
        try await DurableClass.with { lesson in
            let address = try lesson.address("undo")
            try await lesson.serve {
                for number in 1...2 { try await lesson.client.publishDurably(Hand.stroke(number, at: 0), to: address) }
            }
            try await lesson.serve {
                let head = try await Inbox(lesson.client, address.subject(.head))
                try await lesson.client.publishDurably(Hand.command(2, 3, at: 0), to: address)
                let undo = try await head.next { $0.index == "3" }
                #expect(undo.ref == "2")
            }
        }
    }

    @Test func `an idle room leaves memory and comes back for a student`() async throws {
        try await DurableClass.with {
            $0.idle = .milliseconds(300)
            $0.checkpoints.interval = .milliseconds(100)
            $0.checkpoints.cursors = .milliseconds(50)
        } _: { lesson in
            let address = try lesson.address("idle")
            try await lesson.serve {
                try lesson.client.setClock(address, 1000)
                try await lesson.client.publishDurably(Hand.stroke(1, at: 0), to: address)
                let awake = try await lesson.joined(address, at: 1)
                try await eventually("the room is asleep", within: .seconds(10)) {
                    try await lesson.listing().contains(#""asleep":true"#) ? () : nil
                }
                let back = try await lesson.client.join(address)
                #expect(back.index == 1)
                #expect(back.digest == awake.digest)
                // The list may be a second old, and the room asleep again by then.
                try await eventually("the room is awake") {
                    _ = try await lesson.client.join(address)
                    return try await lesson.listing().contains(#""asleep":false"#) ? () : nil
                }
            }
        }
    }

    @Test func `a closed room begins a new life, also for a successor`() async throws {
        try await DurableClass.with { lesson in
            let address = try lesson.address("closing")
            let lives = try await lesson.serve {
                try lesson.client.setClock(address, 1000)
                try await lesson.client.publishDurably(Hand.stroke(1, at: 0), to: address)
                let first = try await lesson.joined(address, at: 1).room
                _ = try await lesson.client.request(ControlRecord.close.encoded(), to: address.subject(.control))
                try await lesson.client.publishDurably(Hand.stroke(1, at: 0), to: address)
                try lesson.client.setClock(address, 1000)
                try await eventually("the room has a new life", within: .seconds(10)) {
                    try await lesson.client.join(address).room == first ? nil : ()
                }
                return [first, try await lesson.joined(address, at: 1).room]
            }
            #expect(Set(lives).count == 2)
            try await lesson.serve {
                try lesson.client.setClock(address, 1000)
                #expect(try await lesson.joined(address, at: 1).room == lives[1])
            }
        }
    }

    @Test func `partitions are shared by two services and go over to the one that stays`() async throws {
        try await DurableClass.with(partitions: 8) { lesson in
            let rooms = try (0..<16).map { try lesson.address("room-\($0)") }
            try await lesson.serve(as: "a") {
                let other = try await lesson.daemon("b")
                for address in rooms {
                    try lesson.client.setClock(address, 1000)
                    try await lesson.client.publishDurably(Hand.stroke(1, at: 0), to: address)
                }
                for address in rooms { _ = try await lesson.joined(address, at: 1) }
                try await other.stop()
                for address in rooms {
                    try lesson.client.setClock(address, 1000)
                    try await lesson.client.publishDurably(Hand.stroke(2, at: 0), to: address)
                }
                for address in rooms {
                    #expect(try await lesson.joined(address, at: 2).index == 2)
                }
            }
        }
    }
}

extension DurableClass {
    /// Joins until a cohort is as far as that; its clock is set again and again, as a video side does.
    func joined(_ address: RoomAddress, at index: UInt64) async throws -> JoinReply {
        try await eventually("the cohort is at \(index)", within: .seconds(15)) {
            try client.setClock(address, 1000)
            let reply = try await client.join(address)
            return reply.index >= index ? reply : nil
        }
    }

    /// Waits until the service has a room.
    func known(_ address: RoomAddress) async throws {
        try await eventually("\(address.room) is known", within: .seconds(15)) {
            let reply = try await client.request(to: address.subject(.info))
            return String(decoding: reply.payload, as: UTF8.self).contains(#""error""#) ? nil : ()
        }
    }

    func listing() async throws -> String {
        let replies = try await client.requestMany(to: "\(configuration.root).rooms", window: .milliseconds(100))
        return replies.map { String(decoding: $0.payload, as: UTF8.self) }.joined()
    }
}
