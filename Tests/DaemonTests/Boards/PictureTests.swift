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
