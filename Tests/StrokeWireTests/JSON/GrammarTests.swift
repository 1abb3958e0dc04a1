import StrokeWire
import Testing

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

    @Test func `does not begin with a byte-order mark`() {
        #expect(decode([0xef, 0xbb, 0xbf] + Array(#"{"n":1,"a":2}"#.utf8)).fault == Fault(.notJSON))
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
