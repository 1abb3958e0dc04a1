import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

/// What authors send that is not as it has to be.
@Suite("Malformed bytes")
struct HostileTests {
    private static let mallory = AuthorID.known("mallory")

    @Test("Of every kind, in the middle of a lesson, change nothing of another author's ink")
    func otherInk() throws {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        let rules = HistoryConfiguration(scope: .author)
        let intake = IntakeLimits(messagesPerSecond: 1_000_000, bytesPerSecond: 1 << 30)
        var quiet = RoomProbe(RoomConfiguration(intake: intake, history: rules))
        var loud = quiet
        quiet.clock(0)
        loud.clock(0)
        var lesson = LossyClass(seed: random.next(), at: quiet.now, authors: 2...2, operations: 60)
        var sent = 0
        while !lesson.isOver {
            let before = lesson.arrivals.count
            lesson.step(&quiet)
            let text = lesson.arrivals.count > before ? lesson.lastText : nil
            for _ in 0..<random.int(0...8) {
                let bytes = Malformed.message(&random)
                // What happens to be a clear is everybody's.
                if let header = try? StrokeMessage(decoding: bytes), header.action == .clear { continue }
                loud.send(bytes, by: Self.mallory, session: random.chance(10, in: 100) ? "s\(random.int(0...99))" : nil)
                sent += 1
            }
            loud.receiveClock(Malformed.message(&random))
            loud.record(.gaveUp(author: Self.mallory, from: .random(in: .min ... .max, using: &random), to: .max))
            loud.wait(quiet.now - loud.now)
            if let text, let author = lesson.arrivals.last?.author { loud.send(text, by: .known(author)) }
        }
        quiet.wait(.seconds(40))
        loud.wait(.seconds(40))

        func ink(_ probe: RoomProbe) -> [[UInt8]] {
            probe.room.head.visible.map(\.stroke).filter { $0.author != Self.mallory }.map(\.message.bytes)
        }
        func log(_ probe: RoomProbe) -> [String] {
            probe.applied.filter { $0.author != Self.mallory }.map { "\($0.author.text) \($0.number) \($0.action)" }
        }
        #expect(log(loud) == log(quiet), "seed \(seed)")
        #expect(ink(loud) == ink(quiet), "seed \(seed)")
        #expect(log(quiet).count > 20, "seed \(seed)")
        // Each is counted, and told.
        let rejected =
            loud.counts.intake.rejected.values.reduce(0, +) - quiet.counts.intake.rejected.values.reduce(0, +)
        #expect(rejected > sent / 4, "seed \(seed)")
        #expect(loud.counts.samplesRejected > 0, "seed \(seed)")
        #expect(loud.applied.map(\.index) == Array(1...UInt64(loud.applied.count)), "seed \(seed)")
        #expect(loud.shown() == loud.applied.map(\.index), "seed \(seed)")
    }

    @Test("A message that cannot be read is answered without a number, and a room begins with it")
    func unreadable() {
        var probe = RoomProbe()
        for text in ["", "{", "[]", #"{"n":-1}"#, #"{"n":9007199254740992}"#, #"{"d":[]}"#, #"{"n":"1"}"#] {
            probe.send(text)
        }
        #expect(
            probe.takeTold() == [
                "rejected - - not-json", "rejected - - not-json", "rejected - - wrong-type",
                "rejected - 0 out-of-range n", "rejected - 0 out-of-range n", "rejected - 0 missing-field n",
                "rejected - 0 wrong-type n",
            ])
        #expect(probe.room.incarnation == "life")
        #expect(probe.room.head.index == 0)
    }

    @Test("The greatest number there is can be sent and followed by nothing")
    func greatest() {
        var probe = RoomProbe()
        probe.send(draw((1 << 53) - 1))
        probe.send(draw((1 << 53) - 1))
        probe.send(#"{"n":9007199254740991,"e":9,"d":[]}"#)
        probe.wait(.seconds(60))
        #expect(probe.applied.count == 1)
    }
}

/// Bytes that nobody's client should send: cut short, changed, nested, repeated, enormous, or nothing like a message.
enum Malformed {
    static func message(_ random: inout SeededGenerator) -> [UInt8] {
        let number = Int64(random.int(0...60))
        let texts = [
            draw(number, points: random.int(0...5)), shard(number, random.int(0...9), of: random.int(0...9)),
            undo(number), redo(number),
            #"{"n":\#(number),"a":\#(random.int(-2...9)),"e":\#(random.int(-2...9)),"d":[]}"#,
            #"{"n":\#(number),"s":\#(random.int(-5...2000)),"o":\#(random.int(-5...2000)),"d":[{"x":1,"y":1e400}]}"#,
            #"{"n":1e\#(random.int(0...400)),"l":\#(random.int(-1...1000)),"d":[{"x":1,"y":1}]}"#,
            #"{"n":\#(number),"n":\#(Int64.random(in: .min ... .max, using: &random)),"t":1e300,"d":{}}"#,
            #"{"n":\#(number),"q":\#(String(repeating: "[", count: random.int(1...20)))}"#,
            #"{"n":\#(number),"w":0,"h":1e9,"d":[1,null,"x",{}]}"#,
        ]
        var bytes = Array((texts.randomElement(using: &random) ?? "").utf8)
        switch random.int(0...5) {
        case 0: bytes.removeLast(random.int(0...bytes.count))
        case 1:
            for _ in 0..<random.int(1...4) { bytes[random.int(0...(bytes.count - 1))] = UInt8(random.int(0...255)) }
        case 2: bytes = (0..<random.int(0...200)).map { _ in UInt8(random.int(0...255)) }
        case 3: bytes.insert(contentsOf: [0xef, 0xbb, 0xbf], at: 0)
        default: break
        }
        return bytes
    }
}
