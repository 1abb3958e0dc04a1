import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// The pictures of one room from several daemons.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct PictureTests {
    @Test
    func `after a take-over, and after the way back, the picture of a room is the same, byte for byte`() async throws {
        let seed = TestSeed.choose()
        try await NATSTestServer.withConnection(jetStream: true) { nats, connection in
            let pair = try DaemonPair(nats.url, connection, ["checkpoint.interval=1s", "checkpoint.operations=9"])
            let first = try await pair.owner()
            let ann = try ScriptedAuthor("ann", room: "lesson", on: connection)
            var random = SeededGenerator(seed: seed)
            try ann.clock(1_000_000)
            for number in 1...60 {
                try await ann.send(message(number, &random), appliedAt: UInt64(number))
                // The canvas of the first daemon comes to be step by step.
                if number % 7 == 0 { _ = try await pictures(of: ann, at: nil, connection) }
            }
            let before = try await pictures(of: ann, at: 60, connection)
            #expect(before.allSatisfy { $0.count > 5000 } && Set(before).count == before.count)

            await first.kill()
            let second = pair.other(than: first)
            try await eventually("the other one serves", is: pair.monitor.servers().contains(second.name))
            #expect(try await pictures(of: ann, at: 60, connection) == before)

            try pair.replace(first)
            _ = try await pair.owner()
            #expect(await second.terminate() == 0)
            #expect(try await pictures(of: ann, at: 60, connection) == before)
        }
    }

    /// Pictures of several widths.
    /// - Parameter index: of the operation that they have to show; nil for any.
    private func pictures(
        of ann: ScriptedAuthor, at index: UInt64?, _ connection: NATSConnection
    ) async throws -> [[UInt8]] {
        if let index {
            try await eventually("operation \(index) is released") { () -> Void? in
                try ann.clock(1_000_000)
                let state = try AnyJSON.decode(try await connection.request(to: ann.address.subject(.info)).payload)
                guard case .array(let cohorts)? = state["cohorts"] else { return nil }
                return cohorts.first?["index"] == .number(Double(index)) ? () : nil
            }
        }
        var pictures: [[UInt8]] = []
        for width in [nil, 333, 2000] {
            let picture = try await eventually("a picture of width \(width ?? 0)") { () -> [UInt8]? in
                let request = ImageRequest(width: width).encoded()
                let picture = try await connection.requestParts(request, to: ann.address.subject(.image(.main))).payload
                return picture.starts(with: [0x89, 0x50, 0x4e, 0x47]) ? picture : nil
            }
            pictures.append(picture)
        }
        return pictures
    }

    /// Handwriting, shapes and erasers in all colours and widths; some of it undone and redone.
    private func message(_ number: Int, _ random: inout SeededGenerator) -> String {
        if number > 10, random.chance(15, in: 100) { return #"{"n":\#(number),"a":2,"t":0}"# }
        let element = random.pick([0, 0, 0, 0, 1, 2, 3, 4])
        let points = random.pick(Handwriting.strokes).map { #"{"x":\#($0.x),"y":\#($0.y)}"# }.joined(separator: ",")
        let style = #""c":\#(random.int(0...7)),"l":\#(random.int(1...12)),"e":\#(element)"#
        return #"{"n":\#(number),\#(style),"t":0,"w":1024,"h":768,"d":[\#(points)]}"#
    }
}

@Suite(.timeLimit(.minutes(10)), .endsProcesses) struct OddStrokeTests {
    @Test func `a stroke with very many numbers in its first point crashes no daemon, nor the next that reads it`()
        async throws
    {
        try await NATSTestServer.withConnection(jetStream: true) { nats, client in
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
        try await eventually("\(address.room) is at \(index)") {
            try client.publish(Array(#"{"m":1000,"r":0}"#.utf8), to: address.subject(.clock(.main)))
            let reply = try await client.requestParts(JoinRequest().encoded(), to: address.subject(.join(.main)))
            guard let joined = try? JoinReply(decoding: reply.payload) else { return nil }
            return joined.index >= index ? joined.digest : nil
        }
    }
}
