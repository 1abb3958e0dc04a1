import StrokeWire
import TestSupport
import Testing

/// Every rule of the stroke message, broken.
@Suite struct `A malformed message` {
    static let draw = #""d":[{"x":1,"y":2}]"#

    @Test(arguments: [
        ("n", ""), ("n", #""n":null"#), ("n", #""n":"1""#), ("n", #""n":true"#), ("n", #""n":[1]"#), ("n", #""n":{}"#),
        ("n", #""n":1.5"#), ("n", #""n":-1"#), ("n", #""n":9007199254740992"#), ("n", #""n":1e999"#),
        ("n", #""n":1e300"#), ("n", #""n":-1e300"#),
    ])
    func `without a usable number has no number`(_: String, member: String) throws {
        let members = [member, Self.draw].filter { !$0.isEmpty }.joined(separator: ",")
        let error = try #require(throws: MalformedMessage.self) {
            try StrokeMessage(decoding: Array("{\(members)}".utf8))
        }
        #expect(error.number == nil)
        #expect(error.order == 0)
        #expect(error.rejection.field == "n")
    }

    /// Besides those of the published vectors, and of the comparison with another reader.
    @Test(arguments: [
        (#"{"n":0.00000000000000000000000000000000000001}"#, Fault(.wrongType, "n")),
        (#"{"n":1000000000000000000000000000000000.5}"#, Fault(.wrongType, "n")),
        (#"{"n":1e999}"#, Fault(.outOfRange, "n")), (#"{"n":1,"c":4294967296}"#, Fault(.outOfRange, "c")),
        (#"{"n":1,"c":1e999}"#, Fault(.outOfRange, "c")), (#"{"n":1,"l":1e-400}"#, Fault(.outOfRange, "l")),
        (#"{"n":1,"l":512.001}"#, Fault(.outOfRange, "l")), (#"{"n":1,"l":1e999}"#, Fault(.outOfRange, "l")),
        (#"{"n":1,"s":1e999}"#, Fault(.outOfRange, "s")), (#"{"n":1,"s":-1e300}"#, Fault(.outOfRange, "s")),
        (#"{"n":1,"s":1,"o":2}"#, Fault(.outOfRange, "o")), (#"{"n":1,"e":256}"#, Fault(.unknownElement, "e")),
        (#"{"n":1,"e":1e300}"#, Fault(.unknownElement, "e")), (#"{"n":1,"e":1e999}"#, Fault(.outOfRange, "e")),
        (#"{"n":1,"a":257}"#, Fault(.unknownAction, "a")), (#"{"n":1,"a":-1e999}"#, Fault(.outOfRange, "a")),
        (#"{"n":1,"t":9223372036854775808}"#, Fault(.outOfRange, "t")),
        (#"{"n":1,"t":-9223372036854775809}"#, Fault(.outOfRange, "t")),
        (#"{"n":1,"t":1e999}"#, Fault(.outOfRange, "t")), (#"{"n":1,"h":1e999}"#, Fault(.outOfRange, "h")),
        (#"{"n":1,"d":null}"#, Fault(.wrongType, "d")), (#"{"n":1,"d":"[]"}"#, Fault(.wrongType, "d")),
        (#"{"n":1,"s":1,"o":1,"d":[ ]}"#, Fault(.outOfRange, "d")),
        (#"{"n":1,"d":[{"x":1e999,"y":1}]}"#, Fault(.outOfRange, "d[0].x")),
        (#"{"n":1,"d":[{"x":1,"y":1,"z":-1e999}]}"#, Fault(.outOfRange, "d[0].z")),
    ])
    func `is rejected for its fault`(text: String, fault: Fault) {
        #expect(decode(text).fault == fault)
    }

    @Test func `is rejected for the first fault in the order of the table, wherever that stands`() {
        let faults = [
            ("c", #""c":16"#), ("l", #""l":0"#), ("s", #""s":-1"#), ("o", #""o":7"#), ("e", #""e":99"#),
            ("a", #""a":9"#), ("t", #""t":"x""#), ("w", #""w":0"#), ("h", #""h":0"#), ("d", #""d":0"#),
        ]
        for first in faults.indices {
            let members = faults[first...].reversed().map(\.1).joined(separator: ",")
            #expect(decode("{\(members),\"n\":1}").fault?.field == faults[first].0)
        }
    }

    @Test func `is rejected for the first fault in the order x, y, f, i, z, m of the first bad point`() {
        let keys = ["x", "y", "f", "i", "z", "m"]
        for first in keys.indices {
            let bad = keys[first...].reversed().map { "\"\($0)\":null" }
            let good = keys[..<first].map { "\"\($0)\":1" }
            let point = "{\((bad + good).joined(separator: ","))}"
            #expect(
                decode(#"{"n":1,"d":[{"x":0,"y":0},\#(point),0]}"#).fault == Fault(.wrongType, "d[1].\(keys[first])"))
        }
    }

    @Test func `is counted and read as JSON behind its first bad point, and no more`() {
        #expect(decode(#"{"n":1,"d":[{},"x",{"x":1},[[]],null]}"#).fault == Fault(.missingField, "d[0].x"))
        #expect(decode(#"{"n":1,"d":[7,{},{"x":]}"#).fault == Fault(.notJSON))
        #expect(decode(#"{"n":1,"d":[{"x":1e999,"y":0},[[[[[[[[]]]]]]]]]}"#).fault == Fault(.notJSON))
        #expect(decode(#"{"n":1,"d":[{},{}],"d":[{"x":1,"y":1}]}"#).fault == nil)
        let limits = WireLimits(points: 2)
        #expect(decode(#"{"n":1,"d":[{},{},{}]}"#, limits: limits).fault == Fault(.tooManyPoints, "d"))
    }

    @Test func `is rejected for the same fault whether its points are wanted or not`() throws {
        let infinity = "179769313486231580793728971405303415079934132710037826936173778980444968292764"
        let starts = ["0", "1", "65536", "65535.9", "65536.000000000001", "65537", infinity, "0.000", "17976931348"]
        var random = SeededGenerator(seed: TestSeed.choose())
        var rejected = 0
        for _ in 0..<20_000 {
            let digits = (0..<random.int(0...random.pick([2, 30]))).map { _ in String(random.int(0...9)) }.joined()
            let start = random.pick(starts)
            let exponents = ["", "e\(random.int(-330...330))", "E+\(random.int(225...310))", "e\(random.int(0...6))"]
            let fraction = start.contains(".") || digits.isEmpty ? digits : ".\(digits)"
            let number = (random.chance(1, in: 4) ? "-" : "") + start + fraction + random.pick(exponents)
            let text = #"{"n":1,"d":[{"x":1,"y":2,"\#(random.pick(["x", "y", "f", "m"]))":\#(number)}]}"#
            var points: [StrokePoint] = []
            let wanted = Result { () throws(MalformedMessage) in
                try StrokeMessage(decoding: Array(text.utf8), points: &points)
            }
            #expect(decode(text).fault == wanted.fault, "\(text), seed \(random.seed)")
            if wanted.fault != nil { rejected += 1 }
        }
        #expect((1000...19_000).contains(rejected), "seed \(random.seed)")
    }

    @Test(arguments: ["{}", "0", #"{"x":"","y":0}"#, #"{"x":1e9,"y":0}"#])
    func `with many bad points is read no slower than one with good ones`(point: String) throws {
        func message(of point: String) -> [UInt8] {
            let points = [String](repeating: point, count: 200_000 / (point.utf8.count + 1))
            return Array(#"{"n":1,"d":[\#(points.joined(separator: ","))]}"#.utf8)
        }
        func time(of bytes: [UInt8], isGood: Bool) -> Duration {
            leastProcessorTime { #expect((decode(bytes).fault == nil) == isGood) }
        }
        let good = time(of: message(of: #"{"x":1,"y":2}"#), isGood: true)
        let bad = time(of: message(of: point), isGood: false)
        #expect(bad < good * 10, "\(bad), good ones \(good)")
        let tiny = time(of: message(of: #"{"x":1e-300,"y":1e-300,"m":1e308}"#), isGood: true)
        #expect(tiny < good * 30, "\(tiny), good ones \(good)")
    }

    @Test func `says number and order wherever they can be read`() throws {
        func identity(_ text: String) throws -> [Int64?] {
            let error = try #require(throws: MalformedMessage.self) {
                try StrokeMessage(decoding: Array(text.utf8))
            }
            return [error.number, error.order.map(Int64.init)]
        }
        #expect(try identity(#"{"n":7,"c":99,"s":4,"o":2}"#) == [7, 2])
        #expect(try identity(#"{"n":7,"d":[]}"#) == [7, 0])
        #expect(try identity(#"{"n":7,"s":2000,"o":2}"#) == [7, nil])
        #expect(try identity(#"{"n":7,"s":4,"o":5}"#) == [7, nil])
        #expect(try identity(#"{"n":-7,"s":4,"o":3}"#) == [nil, 3])
        #expect(try identity(#"[7]"#) == [nil, nil])
        #expect(try identity(#"{"n":7"#) == [nil, nil])
    }

    @Test(arguments: ["[]", "1", "null", "\"{}\"", " [ {} ] ", "true"])
    func `whose root is no object has the wrong type`(text: String) {
        #expect(decode(text).fault == Fault(.wrongType))
    }

    @Test func `beyond a limit has that limit's code`() {
        let valid = #"{"n":1,"s":3,"d":[{"x":1,"y":2},{"x":1,"y":2},{"x":3,"y":4}]}"#
        func fault(_ change: (inout WireLimits) -> Void) -> Fault? {
            var limits = WireLimits()
            change(&limits)
            return decode(valid, limits: limits).fault
        }
        #expect(fault { $0.messageBytes = valid.utf8.count } == nil)
        #expect(fault { $0.messageBytes = valid.utf8.count - 1 } == Fault(.tooLarge))
        #expect(fault { $0.shards = 3 } == nil)
        #expect(fault { $0.shards = 2 } == Fault(.tooManyShards, "s"))
        #expect(fault { $0.points = 3 } == nil)
        #expect(fault { $0.points = 2 } == Fault(.tooManyPoints, "d"))
        #expect(fault { $0.colours = .palette(count: 0) } == Fault(.outOfRange, "c"))
    }

    @Test func `too large is told before it is read`() {
        let limits = WireLimits(messageBytes: 4)
        #expect(decode("nonsense", limits: limits).fault == Fault(.tooLarge))
    }
}
