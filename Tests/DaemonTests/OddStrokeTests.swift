import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)), .endsProcesses) struct OddStrokeTests {
    @Test func `a stroke with very many numbers in its first point crashes no daemon, nor the next that reads it`()
        async throws
    {
        try await NATSTestServer.with(jetStream: true) { nats in
            try await NATSConnection.with(nats) { client in
                var daemon = try DaemonProcess("a", nats: nats.url)
                try await daemon.waitUntilServing()
                let odd = try Self.address("odd")
                let good = try Self.address("good")
                for message in Self.stroke { try await Self.publish(message, to: odd, on: client) }
                try await Self.publish(Self.plain(1), to: good, on: client)
                #expect(try await Self.head(odd, reaches: 1, on: client) == BoardDigest(of: [1]))
                #expect(try await Self.head(good, reaches: 1, on: client) == BoardDigest(of: [1]))
                #expect(!daemon.hasExited)
                // The next one finds no checkpoint: it applies the stroke again.
                await daemon.kill()
                daemon = try DaemonProcess("b", nats: nats.url)
                try await daemon.waitUntilServing()
                try await Self.publish(Self.plain(2), to: odd, on: client)
                #expect(try await Self.head(odd, reaches: 2, on: client) == BoardDigest(of: [1, 2]))
                #expect(await daemon.terminate() == 0)
                // This one reads the checkpoint that the last one wrote.
                daemon = try DaemonProcess("c", nats: nats.url)
                try await daemon.waitUntilServing()
                #expect(try await Self.head(odd, reaches: 2, on: client) == BoardDigest(of: [1, 2]))
                #expect(!daemon.hasExited)
            }
        }
    }

    /// One stroke in 7 shards: a point with 125,000 numbers under an unknown key, then 99,999 plain points.
    private static let stroke: [[UInt8]] = {
        let numbers = [String](repeating: "1", count: 125_000).joined(separator: ",")
        let parts = [17_000, 17_000, 17_000, 17_000, 17_000, 14_999].map { count in
            [String](repeating: #"{"x":1,"y":2}"#, count: count).joined(separator: ",")
        }
        return ([#"{"x":1,"y":2,"q":[\#(numbers)]}"#] + parts).enumerated().map { order, points in
            Array(#"{"n":1,"s":7,"o":\#(order),"t":0,"d":[\#(points)]}"#.utf8)
        }
    }()

    private static func plain(_ number: Int) -> [UInt8] {
        Array(#"{"n":\#(number),"t":0,"d":[{"x":1,"y":2},{"x":3,"y":4}]}"#.utf8)
    }

    private static func address(_ room: String) throws -> RoomAddress {
        guard let id = RoomID(room) else { throw Unexpected("not a room: \(room)") }
        return RoomAddress(root: "ink", room: id, partitions: 1)
    }

    private static func publish(_ bytes: [UInt8], to address: RoomAddress, on client: NATSConnection) async throws {
        guard let author = AuthorID("anna") else { throw Unexpected("not an author") }
        let reply = try await client.request(bytes, to: address.subject(.input(author)))
        let answer = String(decoding: reply.payload, as: UTF8.self)
        guard answer.contains(#""seq""#), !answer.contains(#""error""#) else {
            throw Unexpected("not acknowledged: \(answer)")
        }
    }

    /// The digest of the board once a cohort has reached an index.
    private static func head(
        _ address: RoomAddress, reaches index: UInt64, on client: NATSConnection
    ) async throws -> BoardDigest {
        try await eventually("\(address.room) is at \(index)", within: .seconds(30)) {
            try client.publish(Array(#"{"m":1000,"r":0}"#.utf8), to: address.subject(.clock(.main)))
            let reply = try await client.requestParts(JoinRequest().encoded(), to: address.subject(.join(.main)))
            guard let joined = try? JoinReply(decoding: reply.payload) else { return nil }
            return joined.index >= index ? joined.digest : nil
        }
    }
}
