import Journal
import LecternClient
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternServer

/// NATS servers whose `max_payload` is not the usual one.
@Suite struct PayloadLimitTests {
    private static func configuration(_ limit: Int) -> ServerConfiguration {
        var configuration = ServerConfiguration()
        configuration.room.intake.wire.messageBytes = min(256 << 10, limit - NATSConnection.headerBytes)
        configuration.room.intake.bytesPerSecond = 64 << 20
        return configuration
    }

    /// A stroke of so many bytes at least.
    private static func stroke(_ number: Int, bytes: Int, _ more: String = "") -> String {
        let points = (0...bytes / 20).map { #"{"x":\#(10_000 + $0 % 999),"y":\#(10_000 + $0 % 700)}"# }
        return #"{"n":\#(number),"t":1,\#(more)"d":[\#(points.joined(separator: ","))]}"#
    }

    @Test(arguments: [64 << 10, 100_000, 300_000])
    func `boards, pictures, lists and released strokes fit into what the server takes`(limit: Int) async throws {
        var settings = Self.configuration(limit)
        // More than the smaller servers take.
        settings.fanoutBytes = 256 << 10
        settings.room.cohorts.maximum = 256
        let configuration = settings
        try await RunningService.withRoom("narrow", configuration, server: "max_payload: \(limit)") {
            service, address, hand in
            #expect(service.client.maxPayload == limit)
            let out = try await Inbox(service.client, address.subject(.out(.main)))
            try service.client.setClock(address, 1_000_000, #","d":true"#)
            let bytes = configuration.room.intake.wire.messageBytes - 4096
            for number in 1...6 { try hand.publish(Self.stroke(number, bytes: bytes - bytes / 5)) }
            _ = try await out.next(6)
            // One stroke of four shards is as large as no message may be.
            for order in 0..<4 { try hand.publish(Self.stroke(7, bytes: bytes * 3 / 5, #""s":4,"o":\#(order),"#)) }
            let first = try await out.next()
            #expect(first.index == "7")
            var whole = try StrokeMessage(decoding: first.payload, limits: .accepted)
            var (points, count) = (whole.points.count, 1)
            while count < whole.shardCount {
                whole = try StrokeMessage(decoding: try await out.next().payload, limits: .accepted)
                points += whole.points.count
                count += 1
            }
            #expect(points == 4 * (bytes * 3 / 5 / 20 + 1))
            let joined = try await service.client.join(address)
            let visible = try joined.visible
            #expect(visible.count == 7 && joined.index == 7)
            #expect(visible.reduce(0) { $0 + $1.message.count } > limit)
            for number in 8...40 { try hand.publish(Hand.stroke(number, at: 1)) }
            _ = try await out.next(33)
            let picture = try await service.client.answer(
                ImageRequest(width: 4000).encoded(), from: address.subject(.image(.main)))
            #expect(picture.starts(with: [0x89, 0x50, 0x4e, 0x47]))
            let long = String(repeating: "c", count: 60)
            for number in 0..<255 {
                try service.client.setClock(address, 1, cohort: try #require(CohortName("\(long)-\(number)")))
            }
            let directory = RoomDirectory(connection: service.client, root: service.configuration.root)
            try await eventually("the list and the room's state have all cohorts") {
                let listed = try await directory.rooms().rooms.first?.cohorts.count
                let told = try await directory.room(at: address)?.cohorts.count
                return listed == 256 && told == 256 ? () : nil
            }
        }
    }

    @Test func `after a reconnect to a server that takes less, boards and strokes fit into that`() async throws {
        try await DurableClass.withRoom("moved") { lesson, address in
            try await lesson.serve {
                let client = lesson.client
                for number in 1...3 {
                    try await client.publishDurably(Self.stroke(number, bytes: 200_000), to: address)
                }
                try await eventually("the strokes are there", is: await client.join(address).index == 3)
                try await lesson.nats.restart(configuration: "max_payload: 65536")
                try await eventually("the whole board comes in smaller parts") {
                    guard client.state == .connected, client.maxPayload == 65_536,
                        let reply = try? await client.join(address)
                    else { return nil as Void? }
                    return reply.index == 3 ? () : nil
                }
            }
        }
    }

    /// Held until the server takes less than the operation is large.
    @Test func `a stroke that waits for its video is cut where the server takes less than when it came`() async throws {
        try await DurableClass.withRoom("held") { lesson, address in
            try await lesson.serve {
                let client = lesson.client
                let head = try await Inbox(client, address.subject(.head))
                try client.setClock(address, 0, #","d":true"#)
                try await client.publishDurably(Self.stroke(1, bytes: 200_000), to: address)
                _ = try await head.next()
                let out = try await Inbox(client, address.subject(.out(.main)))
                try await lesson.nats.restart(configuration: "max_payload: 65536")
                try await eventually("the client is back", is: client.maxPayload == 65_536)
                let clock = Task {
                    while !Task.isCancelled {
                        try? client.setClock(address, 1_000_000, #","d":true"#)
                        try await Task.sleep(for: .milliseconds(100))
                    }
                }
                defer { clock.cancel() }
                var (points, count, shards) = (0, 0, 1)
                while count < shards {
                    let shard = try StrokeMessage(decoding: try await out.next().payload, limits: .accepted)
                    (points, count, shards) = (points + shard.points.count, count + 1, shard.shardCount)
                }
                #expect(shards > 3 && points == 10_001)
            }
        }
    }

    @Test(arguments: [(65_536, 256 << 10), (266_239, 256 << 10), (65_535, 4096)])
    func `a server that takes less than a message of the protocol may have is refused at the start`(
        limit: Int, messageBytes: Int
    ) async throws {
        let settings = ServerConfiguration.test { $0.room.intake.wire.messageBytes = messageBytes }
        try await NATSTestServer.with(configuration: "max_payload: \(limit)") { nats in
            let daemon = try await RunningDaemon(settings, nats)
            let error = try await #require(throws: PayloadLimitTooLow.self) { try await daemon.stop() }
            #expect(error.limit == limit && error.needed == max(65_536, messageBytes + 4096))
        }
    }
}
