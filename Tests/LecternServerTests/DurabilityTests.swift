import Hosting
import Journal
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import LecternServer

@Suite struct DurabilityTests {
    @Test func `messages published while no service ran are applied by the next one`() async throws {
        try await DurableClass.withRoom("gap") { lesson, address in
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

    @Test func `a successor releases only unreleased operations, with the same indices and digests`() async throws {
        try await DurableClass.withRoom("again") { lesson, address in
            let out = try await Inbox(lesson.client, address.subject(.out(.main)))
            let before = try await lesson.serve {
                try lesson.client.setClock(address, 1000)
                for number in 1...4 {
                    try await lesson.client.publishDurably(Hand.stroke(number, at: number < 4 ? 0 : 5000), to: address)
                }
                return try await out.next(3)
            }
            #expect(before.map(\.index) == ["1", "2", "3"])
            try await lesson.serve {
                try await lesson.client.publishDurably(Hand.stroke(5, at: 5500), to: address)
                // Held: there is no video clock yet.
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

    @Test func `after an orderly end checkpoints hold the whole log`() async throws {
        try await DurableClass.with(partitions: 2) { lesson in
            let rooms = try (0..<20).map { try lesson.address("room-\($0)") }
            try await lesson.serve {
                for address in rooms { try await lesson.client.publishDurably(Hand.stroke(1, at: 0), to: address) }
                // Records not read by the end would be read after the next start.
                for address in rooms { try await lesson.known(address) }
            }
            for partition in 0..<2 {
                let log = try await lesson.client.journal(of: 2).provision(partition).incarnationPrefix
                let catalogue = try await lesson.client.checkpoints(of: 2).catalogue(of: partition, log: log)
                #expect(catalogue.rooms.count == rooms.count { $0.partition == partition })
                #expect(catalogue.covered == UInt64(catalogue.rooms.count))
            }
        }
    }

    @Test func `checkpoints of a deleted log do not disturb its rooms`() async throws {
        try await DurableClass.with {
            $0.journal?.recreatesStreams = true
        } _: { lesson in
            let (room, other) = (try lesson.address("physics"), try lesson.address("algebra"))
            let before = try await lesson.serve {
                try lesson.client.setClock(room, 1000)
                for number in 1...5 { try await lesson.client.publishDurably(Hand.stroke(number, at: 0), to: room) }
                return try await lesson.joined(room, at: 5)
            }
            _ = try await lesson.client.request(to: "$JS.API.STREAM.DELETE.INK_LOG_0")
            // The coverage is of the new log now, the checkpoint of the room still of the old one.
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

    @Test func `two services share the partitions, and the one that stays takes all of them`() async throws {
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
                for address in rooms { #expect(try await lesson.joined(address, at: 2).index == 2) }
            }
        }
    }
}

@Suite struct LeaderlessTests {
    @Test func `partitions whose coverage is not acknowledged are closed in parallel`() async throws {
        try await DurableClass.with(partitions: 4) {
            $0.journal?.timeout = .seconds(2)
        } _: { lesson in
            let daemon = try await lesson.daemon("a")
            // As without a JetStream leader: there is a subscriber, and no reply.
            for partition in 0..<4 {
                _ = try await lesson.client.request(
                    Array("{}".utf8), to: "$JS.API.STREAM.DELETE.INK_CHECKPOINT_\(partition)")
            }
            let silence = try lesson.client.subscribe("ink.*.COVERED.checkpoint") { _ in }
            defer { silence.unsubscribe() }
            // Records of no room: their coverage has to be noted, and there is nothing to save.
            for partition in 0..<4 {
                let reply = try await lesson.client.request(Array("{}".utf8), to: "ink.\(partition).NOBODY.in.anna")
                #expect(String(decoding: reply.payload, as: UTF8.self).contains(#""seq":1"#))
            }
            let start = ContinuousClock.now
            try await daemon.stop()
            // Each note times out after 2 s: one after the other they would take 8 s.
            #expect(start.duration(to: .now) < .milliseconds(7500))
        }
    }
}

@Suite struct OwnershipInboxTests {
    @Test func `a flood of peer messages drops no partition event`() async throws {
        let inbox = OwnershipInbox()
        inbox.put(.progress(.closed(7, isWhole: true)))
        let message = PeerMessage(
            announcement: Announcement(member: "b", serving: [], isLeaving: false), isForeign: true)
        for _ in 0..<OwnershipInbox.messageBound + 1 { inbox.receive(message) }
        inbox.put(.lacks(8, .end))
        var events = inbox.events.makeAsyncIterator()
        guard case .progress(.closed(7, true)) = await events.next(), case .lacks(8, .end) = await events.next() else {
            throw Unexpected("an event is missing")
        }
    }
}
