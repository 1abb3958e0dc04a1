import TestSupport
import Testing

@testable import StrokeWire

/// The grammar of JSON, tried through a key that the message ignores.
@Suite struct `The JSON of a message` {
    private func isJSON(_ bytes: [UInt8]) -> Bool { decode(bytes).fault?.code != .notJSON }

    private func isJSON(value: [UInt8]) -> Bool { isJSON(Array(#"{"k":"#.utf8) + value + Array(#","n":1}"#.utf8)) }

    private func isJSON(value: String) -> Bool { isJSON(value: Array(value.utf8)) }

    @Test(arguments: [
        "0", "-0", "10", "0.0", "-1.5e+10", "1E-3", "1e05", "true", "false", "null", "\"\"", "[]", "{}", "[1,[2]]",
        "[ ]", "{ }", #"{"":0}"#, #""\u0000\uFFFF\/""#, "\"\u{7f}\"", "123456789012345678901234567890",
    ])
    func `may hold`(value: String) {
        #expect(isJSON(value: value))
    }

    @Test(arguments: [
        "", "01", "-", "+1", ".5", "1.", "1.e1", "1e", "1e+", "0x1", "--1", "NaN", "Infinity", "1 2", "tru", "True",
        "nul", "nulll", "'a'", "\"", "\"\\\"", #""\x""#, #""\u12""#, #""\u12g4""#, "\"\t\"", "\"\n\"", "\"\0\"", "[",
        "[1", "[1,", "[1,]", "[,1]", "[1 2]", "]", "{", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, "{a:1}", "{1:1}",
        #"{"a":1 "b":2}"#, "/**/1", "1;", "\u{a0}1", "\0",
    ])
    func `must not hold`(value: String) {
        #expect(!isJSON(value: value))
    }

    @Test(arguments: [
        "", " ", "{", "}", #"{"n":1,"a":2}x"#, #"{"n":1,"a":2}{}"#, #"{"n":1,"a":2},"#, #","n":1}"#, "\0", "{}\0",
    ])
    func `is one value with nothing around it`(text: String) {
        #expect(decode(text).fault == Fault(.notJSON))
    }

    @Test func `is not nested deeper than 8, the object itself being level 1`() {
        for (open, close) in [("[", "]"), (#"{"k":"#, "}")] {
            let inner = open == "[" ? "" : "0"
            func nested(_ levels: Int) -> String {
                String(repeating: open, count: levels) + inner + String(repeating: close, count: levels)
            }
            #expect(isJSON(value: nested(7)))
            #expect(!isJSON(value: nested(8)))
            #expect(!isJSON(value: nested(20_000)))
            let root = decode(nested(8)).fault
            #expect(root == Fault(open == "[" ? .wrongType : .missingField, open == "[" ? nil : "n"))
            #expect(decode(nested(9)).fault == Fault(.notJSON))
        }
        #expect(decode(#"{"n":1,"d":[{"x":1,"y":2,"k":[[[[[]]]]]}]}"#).fault == nil)
        #expect(decode(#"{"n":1,"d":[{"x":1,"y":2,"k":[[[[[[]]]]]]}]}"#).fault == Fault(.notJSON))
    }

    @Test func `is UTF-8, for every sequence of two and all kinds of three and four bytes`() {
        // The standard library's own validation is the judge.
        var sequences: [[UInt8]] = []
        for first in UInt8(0x80)...0xff { for second in UInt8(0x70)...0xff { sequences.append([first, second]) } }
        let edges: [UInt8] = [0x00, 0x22, 0x5c, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff]
        for first in UInt8(0xe0)...0xff {
            for second in edges {
                for third in edges {
                    sequences.append([first, second, third])
                    for fourth in edges { sequences.append([first, second, third, fourth]) }
                }
            }
        }
        for sequence in sequences where !sequence.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5c }) {
            let valid = String(validating: sequence, as: UTF8.self) != nil
            #expect(isJSON(value: [0x22] + sequence + [0x22]) == valid, "\(sequence)")
            #expect(!isJSON(value: sequence), "outside of a string: \(sequence)")
        }
    }

    @Test func `may break off anywhere and is no JSON then`() {
        let whole = Array(#" {"n":-1.5e+3,"k\u0041":"é😀\n","d":[{"x":1,"y":true},null,false]} "#.utf8)
        for length in 0..<(whole.count - 1) {
            #expect(decode(Array(whole[..<length])).fault == Fault(.notJSON), "\(length)")
        }
    }
}

/// Numbers have to be read as the nearest double, and integers without any rounding.
@Suite struct `A number` {
    /// The number as the decoder of points reads it.
    private func double(_ text: String) -> Double? {
        let bytes = Array(#"{"n":1,"d":[{"x":0,"y":0,"z":\#(text)}]}"#.utf8)
        return try? StrokeMessage(decoding: bytes).decodePoints(of: bytes).first?.azimuth
    }

    @Test(arguments: [
        // Ties and near ties at the last place, from the literature on reading floating point numbers.
        "9007199254740993", "9007199254740992.5", "9007199254740991.5", "45.300000000000004", "1.7976931348623157e308",
        "5e-324", "2.4703282292062328e-324", "2.2250738585072011e-308", "6.02214076e23", "1e22", "1e23", "8.41e21",
        "9214843084008499", "18446744073709551615", "18446744073709551616", "0.1", "0.3", "123456789.123456789",
        "7205759403792793200001e-5", "100000000000000016777215", "100000000000000016777216", "-1.0e-0019",
        "1.2345678901234567890123456789", "0.000000000000000000000000000000000001e36", "3e-19", "12e-20", "1e-22",
        "4503599627370497.5", "4503599627370496.5", "9007199254740995e-1", "1152921504606846977e-1",
    ])
    func `is read as the standard library reads it`(text: String) {
        #expect(double(text)?.bitPattern == Double(text)?.bitPattern, "\(text)")
    }

    @Test func `is read as the standard library reads it, of any form`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        for _ in 0..<20_000 {
            let text = randomNumber(&random)
            guard let expected = Double(text), expected.isFinite else { continue }
            #expect(double(text)?.bitPattern == expected.bitPattern, "\(text), seed \(random.seed)")
        }
    }

    @Test func `written by a browser keeps all its bits`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        for _ in 0..<20_000 {
            // What a client sends that scales coordinates: 15 to 17 digits.
            let value = Double.random(in: -65536...65536, using: &random)
            #expect(double(value.description) == value, "seed \(random.seed)")
        }
    }

    @Test func `is an integer if and only if its decimal digits say so`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        for _ in 0..<20_000 {
            let digits = random.int(1...24)
            let point = random.int(0...24)
            let exponent = random.int(-24...24)
            var text = (0..<digits).map { _ in random.chance(1, in: 2) ? "0" : String(random.int(0...9)) }
            while text.first == "0", text.count > 1 { text.removeFirst() }
            let whole = text.joined()
            var written = whole
            var scale = exponent
            if point > 0 {
                let tail = String((0..<point).map { _ in random.chance(8, in: 10) ? "0" : "5" })
                written += ".\(tail)"
                scale -= point
                text.append(contentsOf: tail.map(String.init))
            }
            let sign = exponent > 0 ? random.pick(["", "+"]) : ""
            if exponent != 0 { written += random.pick(["e", "E"]) + sign + "\(exponent)" }
            let expected = Self.integer(digits: text.joined(), scale: scale)
            let actual = decode(#"{"n":1,"a":2,"t":\#(written)}"#)
            switch expected {
            case .some(let value):
                #expect((try? actual.get().time) == value.whole, "\(written), seed \(random.seed)")
            case nil:
                #expect(actual.fault == Fault(.outOfRange, "t"), "\(written), seed \(random.seed)")
            }
            let strict = decode(#"{"n":\#(written),"a":2}"#)
            if expected?.isInteger == false {
                #expect(strict.fault == Fault(.wrongType, "n"), "\(written), seed \(random.seed)")
            } else if let value = expected?.whole, value < 1 << 53 {
                #expect((try? strict.get().number) == value, "\(written), seed \(random.seed)")
            }
        }
    }

    /// digits · 10^scale, by moving the point in the string. nil beyond 64 bits.
    private static func integer(digits: String, scale: Int) -> (whole: Int64, isInteger: Bool)? {
        let padded = scale >= 0 ? digits + String(repeating: "0", count: scale) : digits
        let cut = max(0, padded.count + min(0, scale))
        let whole = padded.prefix(cut).drop { $0 == "0" }
        let rest = padded.dropFirst(cut)
        guard let value = whole.isEmpty ? 0 : Int64(whole) else { return nil }
        return (value, rest.allSatisfy { $0 == "0" })
    }

    @Test(arguments: [
        ("1e4294967300", Double.infinity), ("1e2147483648", .infinity), ("-1e18446744073709551617", -.infinity),
        ("1e-4294967300", 0), ("0.1e-2147483648", 0), ("0e99999999999999999999", 0),
    ])
    func `may have an exponent beyond all bounds`(text: String, value: Double) {
        // What is infinite is out of range.
        #expect(double(text) == (value.isFinite ? value : nil))
    }

    /// As in browsers.
    @Test func `has an exponent that an integer of 32 bits holds while it is read`() {
        #expect(Int32(exactly: JSONNumber.exponentBound * 10 + 9) != nil)
    }

    private func randomNumber(_ random: inout SeededGenerator) -> String {
        func digits(_ range: ClosedRange<Int>) -> String {
            let count = random.int(range)
            return String((0..<count).map { _ in Character(String(random.int(0...9))) })
        }
        var text = random.chance(3, in: 10) ? "-" : ""
        text += random.chance(3, in: 10) ? "0" : String(random.int(1...9)) + digits(0...22)
        if random.chance(7, in: 10) { text += "." + digits(1...22) }
        if random.chance(3, in: 10) {
            text += random.pick(["e", "E"]) + random.pick(["", "+", "-"]) + String(random.int(0...330))
        }
        return text
    }
}
