import Hosting
import Journal
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternServer

@Suite struct ReleaseTests {
    @Test func `operations reach students byte for byte, in order, with their headers`() async throws {
        try await RunningService.withRoom("room-1") { service, address, hand in
            let out = try await Inbox(service.client, address.subject(.out(.main)))
            let sent = (1...40).map { Hand.stroke($0, at: $0 * 10, #","extra":[1,{"z":"\u00e9"}]"#) }
            for text in sent { try hand.publish(text) }
            try service.client.setClock(address, 10_000, #","d":true"#)

            let received = try await out.next(40)
            #expect(received.map(\.text) == sent)
            #expect(received.map(\.index) == (1...40).map(String.init))
            #expect(Set(received.map(\.room)).count == 1)
            #expect(received.allSatisfy { $0.author == "anna" && $0.late == nil && $0.ref == nil })
            var digest = BoardDigest.empty
            for (position, message) in received.enumerated() {
                digest.insert(UInt64(position + 1))
                #expect(message.digest == digest.description)
            }
        }
    }

    @Test func `a room tells the time and whether it has a video, also before anybody has written, and who is behind`()
        async throws
    {
        try await RunningService.withRoom("room-live", .test { $0.room.cohorts.defaults.gate = .auto }) {
            service, address, hand in
            func info() async throws -> RoomSummary? {
                try? RoomSummary(decoding: try await service.client.requestParts(to: address.subject(.info)).payload)
            }
            #expect(try await info() == nil)
            try service.client.setClock(address, 10_000, #","a":6000"#)
            var blank = try await info()
            while blank == nil { blank = try await info() }
            #expect(blank?.index == 0 && blank?.incarnation == "" && blank?.live == 16_000)
            #expect(blank?.cohorts.first?.age == 6000 && blank?.cohorts.first?.gate == .video)
            #expect(try await service.client.join(address).gate == .video)
            let told = try await Inbox(service.client, address.subject(.feedback(hand.author)))
            // What students see now.
            try hand.publish(Hand.stroke(1, at: 10_000))
            let feedback = try await told.next(2).map { try Feedback(decoding: $0.payload) }
            #expect(feedback == [.applied(number: 1, index: 1), .behindLive(number: 1, milliseconds: 6000)])
            #expect(try await info()?.behindLive == [hand.author.text])
        }
    }

    @Test func `a stroke in shards is sent whole if it fits, else in shards`() async throws {
        try await RunningService.withRoom("room-4", .test { $0.fanoutBytes = 1000 }) { service, address, hand in
            let out = try await Inbox(service.client, address.subject(.out(.main)))
            try service.client.setClock(address, 100_000, #","d":true"#)
            func shard(_ number: Int, _ order: Int, of count: Int, points: Int) -> String {
                let points = (0..<points).map { #"{"x":\#(order),"y":\#($0),"k":"\#(number)"}"# }
                return #"{"n":\#(number),"s":\#(count),"o":\#(order),"t":5,"d":[\#(points.joined(separator: ","))]}"#
            }
            for order in [2, 1, 3] { try hand.publish(shard(1, order, of: 3, points: 2)) }
            let whole = try await out.next()
            let header = try StrokeMessage(decoding: whole.payload)
            #expect(header.shardCount == 0 && header.points.count == 6)
            #expect(header.points.decodePoints(of: whole.payload).map(\.x) == [1, 1, 2, 2, 3, 3])

            for order in 0..<4 { try hand.publish(shard(2, order, of: 4, points: 40)) }
            var points = 0
            var count = 1
            while points < 160 {
                let part = try await out.next()
                let header = try StrokeMessage(decoding: part.payload)
                #expect(part.index == "2" && part.payload.count <= 1000)
                #expect(header.shardOrder == count - 1)
                points += header.points.count
                count += 1
            }
            #expect(points == 160)
        }
    }

    @Test func `a mark carries the position of the cohort after a release`() async throws {
        try await RunningService.withRoom("room-5") { service, address, hand in
            let marks = try await Inbox(service.client, address.subject(.mark(.main)))
            try hand.publish(Hand.stroke(1, at: 1))
            try service.client.setClock(address, 50)
            let mark = try Mark(decoding: try await marks.next().payload)
            #expect(mark.index == 1)
            #expect(mark.video == MediaTime(milliseconds: 50))
            #expect(mark.digest == BoardDigest(of: [1]))
        }
    }
}

@Suite struct ReconnectTests {
    @Test func `an operation that became due while NATS was away is released when it is back`() async throws {
        try await RunningService.withRoom("away") { service, address, hand in
            let out = try await Inbox(service.client, address.subject(.out(.main)))
            let head = try await Inbox(service.client, address.subject(.head))
            // The video runs on: operation 2 becomes due a second later.
            try service.client.publish(Array(#"{"m":1000}"#.utf8), to: address.subject(.clock(.main)))
            try hand.publish(Hand.stroke(1, at: 500))
            try hand.publish(Hand.stroke(2, at: 2000))
            _ = try await head.next(2)
            #expect(try await out.next().index == "1")
            let due = ContinuousClock.now + .milliseconds(1200)
            await service.nats.kill()
            try await Task.sleep(until: due)
            try await service.nats.restart()
            // The client may reconnect later than the service and miss the release: it joins.
            try await eventually("operation 2 is released", is: await service.client.join(address).index == 2)
        }
    }

    @Test func `releases beyond the connection's buffer are published when there is space again`() async throws {
        try await NATSTestServer.with { nats in
            let daemon = try await RunningDaemon(ServerConfiguration(), nats) { $0.maxBufferedBytes = 1000 }
            try await NATSConnection.with(nats) { client in
                let address = try ServerConfiguration().address("full")
                let head = try await Inbox(client, address.subject(.head))
                let out = try await Inbox(client, address.subject(.out(.main)))
                let hand = try Hand(client, address)
                try client.setClock(address, 0)
                let padding = String(repeating: "x", count: 4000)
                let count = 20
                for number in 1...count {
                    try hand.publish(Hand.stroke(number, at: number, #","extra":"\#(padding)""#))
                }
                _ = try await head.next(count)
                // All are due at once, far more than the buffer may hold.
                try client.setClock(address, 10_000, #","d":true"#)
                let released = try await out.next(count)
                #expect(released.map(\.index) == (1...count).map(String.init))
            }
            try await daemon.stop()
        }
    }
}

@Suite struct BacklogTests {
    private static let length = 5000

    @Test func `a room releases in time while its worker has a long backlog of another`() async throws {
        try await NATSTestServer.withConnection { nats, client in
            let configuration = Self.configuration
            let connection = NATSConnection(NATSSettings(url: nats.url), logger: .silent)
            try await connection.connect()
            let (waiting, busy) = (try configuration.address("waiting"), try configuration.address("busy"))
            // One subscription keeps the order of publishing.
            let said = try await Inbox(client, "\(configuration.root).0.>")
            try await WorkerPool.with(configuration, connection) { worker in
                try worker.deliver(Hand.stroke(1, at: 20), sequence: 1, in: waiting.room)
                worker.post(
                    .clock(
                        IncomingSample(
                            room: waiting.room, partition: 0, cohort: .main, bytes: Array(#"{"m":0}"#.utf8),
                            arrivedAt: MonotonicClock.now())))
                for number in 1...Self.length {
                    try worker.deliver(Hand.stroke(number, at: 0), sequence: number, in: busy.room)
                }
            } _: {
                let (release, head) = (waiting.subject(.out(.main)), busy.subject(.head))
                _ = try await said.next { $0.subject == release }
                let next = try await said.next { $0.subject == head }
                #expect(next.index != nil)
            }
        }
    }

    private static let configuration = ServerConfiguration.test {
        $0.workers = 1
        ($0.room.intake.messagesPerSecond, $0.room.intake.bytesPerSecond) = (1_000_000, 1 << 30)
    }
}
