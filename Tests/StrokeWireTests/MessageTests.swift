import StrokeWire
import TestSupport
import Testing

/// The tests of StrokeWire: each body is written and read as the specification states, refused for its fault, compared
/// with another reader (`OracleTests`) and with the published vectors, and read from damaged bytes.
@Suite struct `An acceptable message` {
    private func message(_ text: String, limits: WireLimits = WireLimits()) throws -> StrokeMessage {
        try StrokeMessage(decoding: Array(text.utf8), limits: limits)
    }

    @Test(arguments: ["0", "-0", "0.0", "0e999", "0e-999", "1e-400", "-1e-999999999999", "0.000e99999999999999999999"])
    func `takes what underflows for zero`(zero: String) throws {
        let message = try message(#"{"n":\#(zero),"t":\#(zero),"d":[{"x":\#(zero),"y":2}]}"#)
        #expect(message.number == 0)
        #expect(message.time == 0)
    }

    @Test(arguments: [
        ("12.9", 12), ("-12.9", -12), ("0.999", 0), ("9223372036854775807", Int64.max),
        ("9223372036854775807.99", Int64.max), ("-9223372036854775808", Int64.min),
        ("-9223372036854775808.5", Int64.min), ("123456.789e3", 123_456_789), ("123456789e-3", 123_456),
        ("9007199254740993", 9_007_199_254_740_993),
    ])
    func `has its time cut off toward zero, exactly`(text: String, time: Int64) throws {
        #expect(try message(#"{"n":1,"a":2,"t":\#(text)}"#).time == time)
    }

    @Test(arguments: [2, 3, 4])
    func `that is no draw has JSON in place of its points`(action: Int) {
        #expect(decode(#"{"n":1,"a":\#(action),"d":[}"#).fault == Fault(.notJSON))
        #expect(decode(#"{"n":1,"a":\#(action),"d":[{"x":"no"}]}"#).fault == nil)
    }

    @Test func `counts the last of a repeated key`() throws {
        let text = #"{"n":"x","d":[1],"n":2,"a":{},"a":1,"d":[{"x":null,"x":1,"y":2,"x":5}]}"#
        let message = try message(text)
        #expect(message.number == 2)
        #expect(message.decodePoints(of: Array(text.utf8)) == [StrokePoint(x: 5, y: 2)])
        #expect(decode(#"{"n":1,"d":[{"x":1,"y":2}],"d":null}"#).fault == Fault(.wrongType, "d"))
    }

    @Test func `may escape its keys`() throws {
        let text = #"{"\u006e":3,"\u0064":[{"\u0078":1,"\u0079":2,"\u006D":4}],"\u004E":"N, not n"}"#
        let message = try message(text)
        #expect(message.number == 3)
        #expect(message.decodePoints(of: Array(text.utf8)) == [StrokePoint(x: 1, y: 2, milliseconds: 4)])
        // An escape with a letter of a key is not that key: \n is a new line.
        #expect(decode(#"{"\n":3}"#).fault == Fault(.missingField, "n"))
    }

    @Test func `may carry anything under other keys`() throws {
        let text =
            #"{"nn":[[[[[[[]]]]]]],"N":null,"":{"n":9},"\ud800":"\udfff","n":1,"é":"\"\\\/\b\f\n\r\t","d":[{"x":1,"ü":[{"y":{}}],"y":2,"xx":"😀"}]}"#
        let message = try message(text)
        #expect(message.number == 1)
        #expect(message.decodePoints(of: Array(text.utf8)) == [StrokePoint(x: 1, y: 2)])
    }

    @Test func `may have white space anywhere, and its points lie without that around them`() throws {
        let text = " \t\r\n{ \"n\" : 1 , \"d\" : [ \n { \"x\" : 1 , \"y\" : 2 } , {\"x\":3,\"y\":4} \t ] } \n"
        let bytes = Array(text.utf8)
        let message = try StrokeMessage(decoding: bytes)
        let interior = String(decoding: bytes[message.points.interior], as: UTF8.self)
        #expect(interior == "{ \"x\" : 1 , \"y\" : 2 } , {\"x\":3,\"y\":4}")
        #expect(message.decodePoints(of: bytes) == [StrokePoint(x: 1, y: 2), StrokePoint(x: 3, y: 4)])
    }
}

@Suite struct `Writing a message` {
    private static func paper(_ random: inout SeededGenerator) -> Paper {
        func number() -> Double { random.pick([0, 1, -2.5, 65536]) }
        guard random.chance(1, in: 2),
            let asset = AssetID(digest: (0..<32).map { _ in UInt8.random(in: 0 ... .max, using: &random) })
        else {
            return Paper(.ruled(random.pick(Paper.Ruling.allCases), distance: random.pick([8, 32, 10.5, 256])))
        }
        return Paper(
            .slide(
                Paper.Slide(
                    asset, page: random.int(0...499), from: SIMD2(number(), number()), to: SIMD2(number(), number()),
                    quarters: random.int(0...3))))
    }

    private func content(
        _ action: Action, _ element: Element, _ random: inout SeededGenerator
    ) -> MessageContent? {
        switch (action, element) {
        case (.arrange, _): .order(Array((0...9).shuffled(using: &random).prefix(random.int(1...10))))
        case (.paper, _): .paper(Self.paper(&random))
        case (.remove, _):
            .indices(Array(Set((1...random.int(1...256)).map { _ in UInt64.random(in: 1..<1 << 53, using: &random) })))
        case (.draw, .image):
            AssetID(digest: (0..<32).map { _ in UInt8.random(in: 0 ... .max, using: &random) }).map {
                .image($0, page: random.int(0...499))
            }
        case (.draw, .lasso):
            .lasso(
                random.pick([nil, .identity, LassoMap(a: 0.5, b: -1e-9, c: 3, d: 16384, e: -16384, f: 0.1)]),
                keepsOriginal: random.chance(1, in: 2))
        case (.draw, .text):
            .text(random.pick(["a", "zwei\nZeilen", "\"\\/<&>", "שלום 1", "数学 😀", "e\u{301}\u{2028}"]))
        default: nil
        }
    }

    @Test func `and reading it gives the same message`() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        for _ in 0..<5000 {
            let shards = random.pick([0, 0, 1, 2, 3, 1024])
            let (action, element) = (random.pick(Action.allCases), random.pick(Element.allCases))
            var message = StrokeMessage(
                number: random.pick([0, 1, (1 << 53) - 1, Int64.random(in: 0..<(1 << 53), using: &random)]),
                colour: UInt32.random(in: 0..<8, using: &random),
                width: random.pick([1, 512, 0.1, .leastNonzeroMagnitude, .random(in: 0.001...512, using: &random)]),
                shardCount: shards, shardOrder: random.int(0...shards),
                element: element, action: action,
                time: random.pick([nil, 0, Int64.min, Int64.max, Int64.random(in: -9999...9999, using: &random)]),
                boardWidth: random.pick([nil, 1, 16384, Double.random(in: 1...16384, using: &random)]),
                boardHeight: random.pick([nil, 768, 1.5]),
                page: action == .turn ? random.int(0...999) : random.pick([nil, 0, 7, 999]),
                content: content(action, element, &random))
            if message.text != nil { message.width = max(message.width, 4) }
            if let paper = message.paper {
                // Its board and the distance of its lines are those of the message.
                if case .ruled(_, let distance) = paper.kind { message.width = distance }
                message.content = .paper(
                    Paper(paper.kind, boardWidth: message.boardWidth, boardHeight: message.boardHeight))
            }
            let interior = Array(#"{"x":1,"y":2},{"x":3,"y":4,"?":[]}"#.utf8)
            let bytes = message.encoded(interior: interior[...])
            var expected = message
            if message.action == .draw {
                let end = bytes.count - 2
                expected.points = PointArray(count: 2, interior: (end - interior.count)..<end)
                #expect(bytes[expected.points.interior].elementsEqual(interior))
            }
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(try StrokeMessage(decoding: bytes) == expected, "\(text), seed \(random.seed)")
        }
    }

    @Test func `is compact and in the order of the table`() {
        let message = StrokeMessage(number: 7, colour: 2, width: 2.5, time: -40, boardWidth: 1024, boardHeight: 767.5)
        let bytes = message.encoded(interior: Array(#"{"x":1,"y":2}"#.utf8)[...])
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"n":7,"c":2,"l":2.5,"s":0,"o":0,"e":0,"a":1,"t":-40,"w":1024,"h":767.5,"d":[{"x":1,"y":2}]}"#)
    }

    @Test(arguments: [Action.undo, .redo, .clear])
    func `leaves out the points of what is no draw`(action: Action) {
        let bytes = StrokeMessage(number: 7, action: action).encoded(interior: [1, 2, 3])
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"n":7,"c":0,"l":1,"s":0,"o":0,"e":0,"a":\#(action.rawValue)}"#)
    }

    @Test(arguments: SampleLesson.available)
    func `of a lesson of handwriting gives its very bytes`(lesson: SampleLesson) throws {
        for bytes in try lesson.messages() {
            let message = try StrokeMessage(decoding: bytes)
            // The lessons leave out `s`, `o` and the like in commands only.
            guard message.action == .draw else { continue }
            #expect(message.encoded(interior: bytes[message.points.interior]) == bytes)
        }
    }

    @Test func `with a number that JSON cannot hold gives what every reader refuses`() {
        for value in [Double.nan, .infinity, -.infinity] {
            let interior = PointEncoder.interior(of: [StrokePoint(x: value, y: 0)])
            let bytes = StrokeMessage(number: 1).encoded(interior: interior[...])
            #expect(decode(bytes).fault == Fault(.wrongType, "d[0].x"))
        }
    }
}

func decode(_ text: String, limits: WireLimits = WireLimits()) -> Result<StrokeMessage, MalformedMessage> {
    decode(Array(text.utf8), limits: limits)
}

func decode(_ bytes: [UInt8], limits: WireLimits = WireLimits()) -> Result<StrokeMessage, MalformedMessage> {
    Result { () throws(MalformedMessage) in try StrokeMessage(decoding: bytes, limits: limits) }
}

/// Code and field of a rejection, as a test states them.
struct Fault: Equatable, CustomStringConvertible {
    var code: RejectionCode
    var field: String?

    init(_ code: RejectionCode, _ field: String? = nil) {
        self.code = code
        self.field = field
    }

    init(_ rejection: Rejection) {
        self.init(rejection.code, rejection.field)
    }

    var description: String { "\(code.rawValue) at \(field ?? "the message")" }
}

extension Result where Failure == MalformedMessage {
    var fault: Fault? { if case .failure(let error) = self { Fault(error.rejection) } else { nil } }
}
