import Hosting
import Journal
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternServer

@Suite struct RoomLimitTests {
    @Test func `a message to a room beyond the limit on stored rooms is rejected by its number`() async throws {
        var configuration = ServerConfiguration()
        configuration.storedRooms = 1
        try await RunningService.with(configuration) { service in
            let first = try Hand(service.client, service.address("first"))
            let second = try Hand(service.client, service.address("second"))
            let applied = try await Inbox(service.client, first.address.subject(.feedback(first.author)))
            let refused = try await Inbox(service.client, second.address.subject(.feedback(second.author)))
            try first.publish(Hand.stroke(1, at: 0))
            _ = try await applied.next()
            try second.publish(Hand.stroke(7, at: 0))
            guard case .rejected(7, nil, let rejection) = try Feedback(decoding: try await refused.next().payload)
            else { throw Unexpected("no rejection") }
            #expect(rejection.code == .roomFull)
        }
    }

    @Test func `rooms beyond the limit in memory are hibernated, and continue where they were`() async throws {
        var configuration = ServerConfiguration()
        configuration.rooms = 2
        configuration.workers = 1
        try await RunningService.with(configuration) { service in
            let hands = try (0..<10).map { try Hand(service.client, service.address("room-\($0)")) }
            let feedback = try await Inbox(service.client, "*.0.*.feedback.*")
            for number in 1...3 {
                for hand in hands { try hand.publish(Hand.stroke(number, at: 0)) }
                for _ in hands {
                    #expect(
                        try Feedback(decoding: try await feedback.next().payload)
                            == .applied(number: Int64(number), index: UInt64(number)))
                }
            }
        }
    }

    @Test func `with a journal, rooms beyond the limit in memory are saved, and beyond the stored ones refused`()
        async throws
    {
        try await NATSTestServer.with(jetStream: true) { nats in
            var configuration = ServerConfiguration()
            configuration.journal = JournalSettings()
            configuration.rooms = 2
            configuration.storedRooms = 10
            configuration.workers = 1
            let settings = configuration
            try await RunningDaemon.with(settings, nats) {
                try await NATSConnection.with(nats) { client in
                    let feedback = try await Inbox(client, "ink.0.*.feedback.*")
                    let hands = try (0..<10).map { try Hand(client, settings.address("room-\($0)")) }
                    for number in 1...3 {
                        for hand in hands { try hand.publish(Hand.stroke(number, at: 0)) }
                        for _ in hands {
                            #expect(
                                try Feedback(decoding: try await feedback.next().payload)
                                    == .applied(number: Int64(number), index: UInt64(number)))
                        }
                    }
                    try Hand(client, settings.address("one-more")).publish(Hand.stroke(7, at: 0))
                    guard case .rejected(7, nil, let rejection) = try Feedback(decoding: await feedback.next().payload)
                    else {
                        throw Unexpected("no rejection")
                    }
                    #expect(rejection.code == .roomFull)
                }
            }
        }
    }

    @Test func `clocks of rooms without messages do not keep a teacher out`() async throws {
        var configuration = ServerConfiguration()
        configuration.rooms = 2
        configuration.workers = 1
        try await RunningService.with(configuration) { service in
            for number in 0..<10 { try service.client.setClock(service.address("blank-\(number)"), 0) }
            let hand = try Hand(service.client, service.address("written"))
            let feedback = try await Inbox(service.client, hand.address.subject(.feedback(hand.author)))
            try hand.publish(Hand.stroke(1, at: 0))
            #expect(try Feedback(decoding: try await feedback.next().payload) == .applied(number: 1, index: 1))
        }
    }
}

@Suite struct JournalSpaceTests {
    /// A stroke of about 1 KB.
    private func stroke(_ number: Int) -> String {
        let points = (0..<60).map { #"{"x":\#(100 + $0 + number % 7),"y":\#(200 + $0)}"# }.joined(separator: ",")
        return #"{"n":\#(number),"t":0,"w":1024,"h":768,"d":[\#(points)]}"#
    }

    @Test(.timeLimit(.minutes(3)))
    func `a log held by checkpoints never fills, even with idle rooms`() async throws {
        try await DurableClass.with {
            $0.journal?.maxBytes = 96 << 10
            $0.checkpoints.interval = .milliseconds(200)
            $0.checkpoints.cursors = .milliseconds(50)
            $0.room.intake.messagesPerSecond = 10_000
            $0.upkeepInterval = .milliseconds(100)
        } _: { lesson in
            let (idle, busy) = (try lesson.address("idle"), try lesson.address("busy"))
            let jetStream = JetStream(lesson.client)
            try await lesson.serve {
                for number in 1...3 {
                    try await lesson.client.publishDurably(stroke(number), to: idle)
                    // One generation each.
                    try await eventually("the stroke is saved") {
                        let log = try await jetStream.streamInfo("INK_LOG_0").lastSequence
                        return try await covered(jetStream) == log ? () : nil
                    }
                }
                for number in 1...150 {
                    // Teachers repeat refused messages; here JetStream has to accept them soon.
                    try await eventually("stroke \(number) is acknowledged", within: .seconds(30)) {
                        try await lesson.client.publishDurably(stroke(number), to: busy)
                    }
                    guard number.isMultiple(of: 30) else { continue }
                    try await eventually("there is space", within: .seconds(30)) {
                        let log = try await jetStream.streamInfo("INK_LOG_0")
                        return log.bytes * 10 < (96 << 10) * 8 ? () : nil
                    }
                }
                #expect(try await jetStream.streamInfo("INK_LOG_0").firstSequence > 60)
                try lesson.client.setClock(idle, 1000)
                try lesson.client.setClock(busy, 1000)
                _ = try await lesson.joined(idle, at: 3)
                _ = try await lesson.joined(busy, at: 150)
            }
            // The next owner has all rooms, too.
            try await lesson.serve(as: "b") {
                try lesson.client.setClock(idle, 1000)
                try lesson.client.setClock(busy, 1000)
                _ = try await lesson.joined(idle, at: 3)
                _ = try await lesson.joined(busy, at: 150)
            }
        }
    }

    /// Last record that checkpoints hold with all before it.
    private func covered(_ jetStream: JetStream) async throws -> UInt64? {
        guard let note = try await jetStream.lastMessage("INK_CHECKPOINT_0", subject: "ink.0.COVERED.checkpoint")
        else { return nil }
        let text = String(decoding: note.payload, as: UTF8.self)
        return text.split(separator: "\"covered\":").last.flatMap { UInt64($0.prefix { $0.isNumber }) }
    }

    @Test func `a decision takes effect although an author has used all message ids that it could have`() async throws {
        try await DurableClass.with { _ in
        } _: { lesson in
            let (room, other) = (try lesson.address("gap"), try lesson.address("other"))
            guard let author = AuthorID("eve") else { return }
            try await lesson.serve {
                let head = try await Inbox(lesson.client, room.subject(.head))
                try await lesson.client.publishDurably(Hand.stroke(1, at: 0), to: room)
                // The second stroke will be the 22nd record.
                for sequence in 15...34 {
                    _ = try await lesson.client.request(
                        Array("{}".utf8), to: other.subject(.input(author)),
                        headers: ["Nats-Msg-Id": "gap.\(sequence).gave-up.anna.2-2"])
                }
                try await lesson.client.publishDurably(Hand.stroke(3, at: 0), to: room)
                _ = try await head.next(within: .seconds(10)) { $0.index == "2" }
            }
        }
    }

    @Test func `releases that a killed NATS server had not received are published again`() async throws {
        try await DurableClass.with { lesson in
            let address = try lesson.address("buffer")
            // This stream keeps releases, also those published before the client has reconnected.
            let kept = #"{"name":"OUT","subjects":["ink.*.*.out.*"],"storage":"file","num_replicas":1}"#
            _ = try await lesson.client.request(Array(kept.utf8), to: "$JS.API.STREAM.CREATE.OUT")
            let jetStream = JetStream(lesson.client)
            try await lesson.serve {
                try lesson.client.setClock(address, 1000)
                try await lesson.client.publishDurably(Hand.stroke(1, at: 0), to: address)
                try await lesson.client.publishDurably(Hand.stroke(2, at: 2500), to: address)
                _ = try await lesson.joined(address, at: 1)
                try lesson.client.publish(Array(#"{"m":1400}"#.utf8), to: address.subject(.clock(.main)))
                try await lesson.client.flush()
                // The video runs on: the second stroke is due after 1.1 s, and the server takes nothing any more.
                await lesson.nats.pause()
                try await Task.sleep(for: .milliseconds(1500))
                await lesson.nats.kill()
                try await lesson.nats.restart()
                try await eventually("the second stroke has arrived", within: .seconds(20)) {
                    let last = try await jetStream.lastMessage("OUT", subject: address.subject(.out(.main)))
                    return last.map { $0.payload == Array(Hand.stroke(2, at: 2500).utf8) } == true ? () : nil
                }
            }
        }
    }
}
