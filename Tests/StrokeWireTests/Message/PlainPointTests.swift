import StrokeWire
import TestSupport
import Testing

/// Points as clients write them are taken by a shorter way, which must lead to the same place.
@Suite struct `Points written plainly` {
    @Test func `are read and refused like those with white space in them`() {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        var accepted = 0
        for _ in 0..<20_000 {
            let points = (0..<random.int(1...4)).map { _ in Self.randomPoint(&random) }
            let plain = decoded(points.joined(separator: ","))
            let spaced = decoded(points.map { $0.replacing("{", with: "{ ") }.joined(separator: ","))
            // What is said to a person names offsets, which are others.
            #expect(plain.fault == spaced.fault, "\(points), seed \(seed)")
            #expect((try? plain.get()) == (try? spaced.get()), "\(points), seed \(seed)")
            if case .success = plain { accepted += 1 }
        }
        #expect(accepted > 2000, "hardly any was right, seed \(seed)")
    }

    private func decoded(_ points: String) -> Result<[StrokePoint], MalformedMessage> {
        let bytes = Array(#"{"n":1,"d":[\#(points)]}"#.utf8)
        return decode(bytes).map { $0.decodePoints(of: bytes) }
    }

    /// Mostly a point, with all that clients get wrong now and then.
    private static func randomPoint(_ random: inout SeededGenerator) -> String {
        var members = ["x", "y"]
        for key in ["f", "i", "z", "m"] where random.chance(1, in: 4) { members.append(key) }
        if random.chance(1, in: 20) { members.append(random.pick(["x", "y", "q", "xy", "", "f"])) }
        if random.chance(1, in: 20) { members.removeFirst() }
        if random.chance(1, in: 5) { members.shuffle(using: &random) }
        var text = members.map { "\"\($0)\":\(randomValue(&random))" }.joined(separator: ",")
        if random.chance(1, in: 30) { text += random.pick([",", " ", "}", "\"", ":", "\n"]) }
        return "{\(text)}"
    }

    private static func randomValue(_ random: inout SeededGenerator) -> String {
        func digits(_ range: ClosedRange<Int>) -> String {
            (0..<random.int(range)).map { _ in String(random.int(0...9)) }.joined()
        }
        var text = random.chance(1, in: 5) ? "-" : ""
        text += random.pick(["0", String(random.int(1...9)), String(random.int(10...4000))])
        if random.chance(2, in: 3) { text += "." + digits(1...3) }
        guard random.chance(1, in: 12) else { return text }
        return random.pick([
            text + digits(1...14), "0" + text, text + ".", "." + text, text + "e1", text + "E-2", "+" + text, "-", "",
            "null", "true", "\"1\"", "[1]", "{}", text + text, "1e999", "65536", "65537", "-65536.5", "-0", "1.5.2",
        ])
    }
}
