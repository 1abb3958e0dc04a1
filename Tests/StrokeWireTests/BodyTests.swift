import StrokeWire
import TestSupport
import Testing

extension [UInt8] {
    /// The bytes of a body as text.
    var text: String { String(decoding: self, as: UTF8.self) }
}

extension Fault {
    /// The fault that a decoder finds; nil for none.
    static func found(_ decode: () throws(Rejection) -> Void) -> Fault? {
        do {
            try decode()
            return nil
        } catch {
            return Fault(error)
        }
    }
}

/// The small bodies, as they stand in the specification.
@Suite struct `A body` {
    static let feedback: [(Feedback, String)] = [
        (.applied(number: 7, index: 41), #"{"kind":"applied","n":7,"index":41}"#),
        (.missingShards(number: 7, orders: [2, 3]), #"{"kind":"missing","n":7,"o":[2,3]}"#),
        (.missingShards(number: 7, orders: []), #"{"kind":"missing","n":7,"o":[]}"#),
        (.missingRange(from: 7, to: 9), #"{"kind":"missing","from":7,"to":9}"#),
        (.gaveUp(from: 7, to: 7), #"{"kind":"gave-up","from":7,"to":7}"#),
        (.covered(number: 7, incarnation: "x.1-9"), #"{"kind":"covered","n":7,"room":"x.1-9"}"#),
        (.behindLive(number: 7, milliseconds: 6012), #"{"kind":"hint","hint":"behind-live","n":7,"behind":6012}"#),
        (
            .rejected(
                number: 7, order: 0, Rejection(code: .outOfRange, field: "d[3].x", message: "It \"is\" too far.")),
            #"{"kind":"rejected","n":7,"o":0,"error":{"code":"out-of-range","field":"d[3].x","message":"It \"is\" too far."}}"#
        ),
        (
            .rejected(number: nil, order: nil, Rejection(code: .notJSON, message: "No.")),
            #"{"kind":"rejected","error":{"code":"not-json","message":"No."}}"#
        ),
    ]

    @Test func `of feedback names the session that it is about`() throws {
        let message = FeedbackMessage(session: "a\"7", feedback: .applied(number: 7, index: 41))
        let body = Array(#"{"kind":"applied","n":7,"index":41,"session":"a\"7"}"#.utf8)
        #expect(message.encoded() == body)
        #expect(try FeedbackMessage(decoding: body) == message)
        #expect(try FeedbackMessage(decoding: message.feedback.encoded()).session == nil)
        #expect(throws: Rejection.self) {
            try FeedbackMessage(decoding: Array(#"{"kind":"gave-up","from":1,"to":1,"session":7}"#.utf8))
        }
    }

    @Test(arguments: feedback)
    func `of feedback is written and read`(feedback: Feedback, body: String) throws {
        #expect(feedback.encoded().text == body)
        #expect(try Feedback(decoding: Array(body.utf8)) == feedback)
    }

    @Test func `of a hint is read however far the ink runs ahead`() throws {
        let hint = Feedback.behindLive(number: 7, milliseconds: .max / 1000)
        #expect(try Feedback(decoding: hint.encoded()) == .behindLive(number: 7, milliseconds: 1 << 53 - 1))
    }

    @Test(arguments: RejectionCode.allCases)
    func `of a rejection may have any code`(code: RejectionCode) throws {
        let feedback = Feedback.rejected(number: 1, order: nil, Rejection(code: code, message: "No."))
        #expect(try Feedback(decoding: feedback.encoded()) == feedback)
    }

    @Test(arguments: [
        (#"{}"#, Fault(.missingField, "kind")), (#"{"kind":"what"}"#, Fault(.outOfRange, "kind")),
        (#"{"kind":7}"#, Fault(.wrongType, "kind")), (#"{"kind":"applied","n":1}"#, Fault(.missingField, "index")),
        (#"{"kind":"applied","n":1,"index":-1}"#, Fault(.outOfRange, "index")),
        (#"{"kind":"missing"}"#, Fault(.missingField, "from")),
        (#"{"kind":"missing","n":1,"o":2}"#, Fault(.wrongType, "o")),
        (#"{"kind":"missing","n":1,"o":["2"]}"#, Fault(.wrongType, "o")),
        (#"{"kind":"gave-up","from":5,"to":4}"#, Fault(.outOfRange, "to")),
        (#"{"kind":"rejected"}"#, Fault(.missingField, "error")),
        (#"{"kind":"rejected","error":1}"#, Fault(.wrongType, "error")),
        (#"{"kind":"rejected","error":{"code":"x","message":""}}"#, Fault(.outOfRange, "code")),
    ])
    func `of feedback is refused for its fault`(body: String, expected: Fault) {
        #expect(Fault.found { () throws(Rejection) in _ = try Feedback(decoding: Array(body.utf8)) } == expected)
    }

    @Test(
        arguments: [
            (nil, "null"), (0, "0"), (1_500_000, "1500"), (1_500_001, "1500.001"), (-500, "-0.5"),
            (-1_234_560, "-1234.56"), (100_020, "100.02"),
        ] as [(Int64?, String)])
    func `of a mark is written and read`(microseconds: Int64?, milliseconds: String) throws {
        let mark = Mark(
            room: "a-1", index: 41, digest: BoardDigest(value: 0xabc),
            video: microseconds.map { MediaTime(microseconds: $0) })
        let body = #"{"room":"a-1","index":41,"digest":"0000000000000abc","page":0,"v":\#(milliseconds)}"#
        #expect(mark.encoded().text == body)
        #expect(try Mark(decoding: Array(body.utf8)) == mark)
    }

    @Test func `of a mark says whether the cohort has a video, and at the head the time at the teacher`() throws {
        let begin = #"{"room":"a-1","index":41,"digest":"0000000000000abc","page":0,"v":null"#
        for (gate, live, end) in [
            (GateState.open, nil, #","gate":"open"}"#), (.video, nil, #","gate":"video"}"#),
            (nil, MediaTime(microseconds: 16_000_500), #","live":16000.5}"#),
        ] as [(GateState?, MediaTime?, String)] {
            let mark = Mark(
                room: "a-1", index: 41, digest: BoardDigest(value: 0xabc), video: nil, gate: gate, live: live)
            #expect(mark.encoded().text == begin + end)
            #expect(try Mark(decoding: Array((begin + end).utf8)) == mark)
        }
    }

    @Test func `of a mark at the head says what a checkpoint holds of an author`() throws {
        var mark = Mark(room: "a-1", index: 41, digest: BoardDigest(value: 0xabc), video: nil)
        let begin = #"{"room":"a-1","index":41,"digest":"0000000000000abc","page":0,"v":null,"author":"anna""#
        for (session, middle) in [(nil, ""), ("s-1", #","session":"s-1""#)] as [(String?, String)] {
            mark.covered = Mark.Covered(author: try #require(AuthorID("anna")), session: session, number: 200)
            let body = begin + middle + #","covered":200}"#
            #expect(mark.encoded().text == body)
            #expect(try Mark(decoding: Array(body.utf8)) == mark)
        }
    }

    @Test func `of a mark is refused for its fault`() {
        func fault(_ body: String) -> Fault? {
            Fault.found { () throws(Rejection) in _ = try Mark(decoding: Array(body.utf8)) }
        }
        #expect(fault(#"{"room":"a","index":1}"#) == Fault(.missingField, "digest"))
        #expect(fault(#"{"room":"a","index":1,"digest":"xyz"}"#) == Fault(.outOfRange, "digest"))
        #expect(fault(#"{"index":1,"digest":"0000000000000abc"}"#) == Fault(.missingField, "room"))
        #expect(fault(#"{"room":"a","index":1,"digest":"0000000000000abc","v":"1"}"#) == Fault(.wrongType, "v"))
    }

    @Test func `of a control record is written and read`() throws {
        let author = try #require(AuthorID("a"))
        for (record, body) in [
            (
                ControlRecord.gaveUp(author: author, from: 7, to: 8, incarnation: "x-1"),
                #"{"v":1,"kind":"gave-up","author":"a","from":7,"to":8,"room":"x-1"}"#
            ),
            (
                .gaveUp(author: author, from: 7, to: 8, incarnation: nil),
                #"{"v":1,"kind":"gave-up","author":"a","from":7,"to":8}"#
            ),
            (
                .provisionalEpoch(from: 41, age: 6_000_500),
                #"{"v":1,"kind":"provisional-epoch","from":41,"age":6000.5}"#
            ),
            (.provisionalEpochOver(from: 41), #"{"v":1,"kind":"provisional-epoch-over","from":41}"#),
            (.epoch(3), #"{"v":1,"kind":"epoch","ep":3}"#), (.close, #"{"v":1,"kind":"close"}"#),
            (.full(through: 9), #"{"v":1,"kind":"close","code":"room-full","through":9}"#),
            (.mute(author), #"{"v":1,"kind":"mute","author":"a"}"#),
            (.unmute(author), #"{"v":1,"kind":"unmute","author":"a"}"#),
            (.erase, #"{"v":1,"kind":"close","code":"erased"}"#),
            (
                .restore(RoomRestoration(checkpoint: 812, after: 127, number: 1)),
                #"{"v":1,"kind":"restore","checkpoint":812,"after":127,"number":1}"#
            ),
        ] {
            #expect(record.encoded().text == body)
            #expect(try ControlRecord(decoding: Array(body.utf8)) == record)
        }
    }

    @Test(arguments: [
        (#"{"kind":"close"}"#, Fault(.missingField, "v")), (#"{"v":2,"kind":"close"}"#, Fault(.outOfRange, "v")),
        (#"{"v":1,"kind":"open"}"#, Fault(.outOfRange, "kind")),
        (#"{"v":1,"kind":"epoch"}"#, Fault(.missingField, "ep")),
        (#"{"v":1,"kind":"provisional-epoch","from":0,"age":1}"#, Fault(.outOfRange, "from")),
        (#"{"v":1,"kind":"provisional-epoch","from":1}"#, Fault(.missingField, "age")),
        (#"{"v":1,"kind":"provisional-epoch","from":1,"age":600000.5}"#, Fault(.outOfRange, "age")),
        (#"{"v":1,"kind":"provisional-epoch-over"}"#, Fault(.missingField, "from")),
        (#"{"v":1,"kind":"mute"}"#, Fault(.missingField, "author")),
        (#"{"v":1,"kind":"unmute","author":"A"}"#, Fault(.outOfRange, "author")),
        (#"{"v":1,"kind":"gave-up","author":"A","from":1,"to":1}"#, Fault(.outOfRange, "author")),
        (#"{"v":1,"kind":"gave-up","author":"a","from":2,"to":1}"#, Fault(.outOfRange, "to")),
        (#"{"v":1,"kind":"gave-up","author":"a","from":1,"to":1,"room":1}"#, Fault(.wrongType, "room")),
        (
            #"{"v":1,"kind":"restore","checkpoint":812,"after":127,"number":4294967295}"#,
            Fault(.outOfRange, "number")
        ),
    ])
    func `of a control record is refused for its fault`(body: String, expected: Fault) {
        #expect(Fault.found { () throws(Rejection) in _ = try ControlRecord(decoding: Array(body.utf8)) } == expected)
    }

    @Test(arguments: [
        (JoinRequest(), "{}"), (JoinRequest(incarnation: "x-1"), #"{"room":"x-1"}"#),
        (JoinRequest(have: 4), #"{"have":4}"#), (JoinRequest(incarnation: "", have: 0), #"{"room":"","have":0}"#),
    ])
    func `of a join request is written and read`(request: JoinRequest, body: String) throws {
        #expect(request.encoded().text == body)
        #expect(try JoinRequest(decoding: Array(body.utf8)) == request)
    }

    @Test func `of a join request may be empty, and is refused for its fault`() throws {
        #expect(try JoinRequest(decoding: []) == JoinRequest())
        func fault(_ body: String) -> Fault? {
            Fault.found { () throws(Rejection) in _ = try JoinRequest(decoding: Array(body.utf8)) }
        }
        #expect(fault(#"{"room":7}"#) == Fault(.wrongType, "room"))
        #expect(fault(#"{"have":-1}"#) == Fault(.outOfRange, "have"))
        #expect(fault(#"{"have":18446744073709551616}"#) == Fault(.outOfRange, "have"))
        #expect(fault(#"{"index":true}"#) == Fault(.wrongType, "index"))
        let past = JoinRequest(incarnation: "k3f9-17", index: 41)
        #expect(past.encoded().text == #"{"room":"k3f9-17","index":41}"#)
        #expect(try JoinRequest(decoding: past.encoded()) == past)
        #expect(fault(" ") == Fault(.notJSON))
        #expect(fault("[]") == Fault(.wrongType))
    }

    @Test func `of an image request is written and read`() throws {
        #expect(try ImageRequest(decoding: []) == ImageRequest())
        #expect(try ImageRequest(decoding: Array("{}".utf8)) == ImageRequest())
        #expect(try ImageRequest(decoding: ImageRequest(width: 320).encoded()) == ImageRequest(width: 320))
        #expect(ImageRequest(width: 320).encoded().text == #"{"width":320}"#)
        for width in ["0", "4097", "1e999"] {
            let body = Array(#"{"width":\#(width)}"#.utf8)
            #expect(
                Fault.found { () throws(Rejection) in _ = try ImageRequest(decoding: body) }
                    == Fault(.outOfRange, "width"))
        }
        let whole = ImageRequest(
            width: 4096, format: .svg, background: .transparent, page: 0, incarnation: "k3f9-17", index: 41, unless: "*"
        )
        #expect(
            whole.encoded().text
                == #"{"width":4096,"format":"svg","room":"k3f9-17","index":41,"page":0,"background":"transparent","unless":"*"}"#
        )
        #expect(try ImageRequest(decoding: whole.encoded()) == whole)
        let part = ImageRequest(width: 9, part: BoardPart(x: 0, y: 16_383, width: 16_384, height: 1))
        #expect(part.encoded().text == #"{"width":9,"x":0,"y":16383,"w":16384,"h":1}"#)
        #expect(try ImageRequest(decoding: part.encoded()) == part)
        #expect(BoardPart(x: -1, y: 0, width: 1, height: 1) == nil)
        #expect(BoardPart(x: 0, y: 0, width: 1, height: 0) == nil)
    }

    @Test(
        arguments: [
            (#"{"format":"gif"}"#, .outOfRange, "format"), (#"{"format":1}"#, .wrongType, "format"),
            (#"{"background":"black"}"#, .outOfRange, "background"), (#"{"page":-1}"#, .outOfRange, "page"),
            (#"{"page":1000}"#, .outOfRange, "page"), (#"{"page":0.5}"#, .wrongType, "page"),
            (#"{"room":7}"#, .wrongType, "room"), (#"{"index":-1}"#, .outOfRange, "index"),
            (#"{"index":9223372036854775807}"#, .outOfRange, "index"), (#"{"index":"1"}"#, .wrongType, "index"),
            (#"{"unless":[]}"#, .wrongType, "unless"), (#"{"x":0,"y":0,"w":4}"#, .missingField, "h"),
            (#"{"h":4}"#, .missingField, "x"), (#"{"x":0,"y":0,"w":0,"h":4}"#, .outOfRange, "w"),
            (#"{"x":0.5,"y":0,"w":1,"h":4}"#, .wrongType, "x"), (#"{"x":0,"y":16384,"w":1,"h":4}"#, .outOfRange, "y"),
        ] as [(String, RejectionCode, String)])
    func `of an image request is refused for its fault`(body: String, code: RejectionCode, field: String) {
        let found = Fault.found { () throws(Rejection) in _ = try ImageRequest(decoding: Array(body.utf8)) }
        #expect(found == Fault(code, field))
    }

    @Test func `A request for a page of an asset names it, and has defaults for the rest`() throws {
        let name = String(repeating: "0f", count: 32)
        let id = try #require(AssetID(hexadecimal: name))
        #expect(AssetPageRequest(id: id).encoded().text == #"{"id":"\#(name)"}"#)
        let whole = AssetPageRequest(id: id, page: 499, width: 4096, unless: "*")
        #expect(whole.encoded().text == #"{"id":"\#(name)","page":499,"width":4096,"unless":"*"}"#)
        for request in [AssetPageRequest(id: id), whole] {
            #expect(try AssetPageRequest(decoding: request.encoded()) == request)
        }
        for (body, expected) in [
            ("", Fault(.missingField, "id")), ("{}", Fault(.missingField, "id")),
            (#"{"id":"\#(name.uppercased())"}"#, Fault(.outOfRange, "id")),
            (#"{"id":"\#(name)","page":500}"#, Fault(.outOfRange, "page")),
            (#"{"id":"\#(name)","page":-1}"#, Fault(.outOfRange, "page")),
            (#"{"id":"\#(name)","width":4097}"#, Fault(.outOfRange, "width")),
        ] {
            let found = Fault.found { () throws(Rejection) in _ = try AssetPageRequest(decoding: Array(body.utf8)) }
            #expect(found == expected, "\(body)")
        }
    }

    @Test func `of an error is written and read`() {
        for code in RequestError.Code.allCases {
            let error = RequestError(code, "There is no \"room\".")
            #expect(
                error.encoded().text
                    == #"{"error":{"code":"\#(code.rawValue)","message":"There is no \"room\"."}}"#)
            #expect(RequestError(decoding: error.encoded()) == error)
        }
        let elsewhere = RequestError(.badRequest, "No.", partitions: 3)
        let body = #"{"error":{"code":"bad-request","message":"No.","partitions":3}}"#
        #expect(elsewhere.encoded().text == body)
        #expect(RequestError(decoding: Array(body.utf8)) == elsewhere)
        for other in ["", "{}", #"{"error":1}"#, #"{"error":{"code":"x","message":""}}"#, #"{"error":{"message":""}}"#]
        {
            #expect(RequestError(decoding: Array(other.utf8)) == nil)
        }
    }

    @Test func `keeps every character of a string`() throws {
        let scalars = (0..<0x300).compactMap(Unicode.Scalar.init) + ["\u{2028}", "\u{ffff}", "\u{10000}", "\u{10ffff}"]
        let all = String(String.UnicodeScalarView(scalars.prefix(120)))
        #expect(try JoinRequest(decoding: JoinRequest(incarnation: all).encoded()).incarnation == all)
        for scalar in scalars {
            let request = JoinRequest(incarnation: String(scalar))
            #expect(try JoinRequest(decoding: request.encoded()) == request)
        }
        let escaped = #"{"room":"\u0041\ud83d\ude00\ud83d-\ude00\/\b\f\r\t\n\\\"é"}"#
        #expect(
            try JoinRequest(decoding: Array(escaped.utf8)).incarnation
                == "A😀\u{fffd}-\u{fffd}/\u{8}\u{c}\r\t\n\\\"é")
    }

    @Test func `of any bytes never traps`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        let bodies = Self.feedback.map(\.1) + [#"{"m":1.5,"q":7,"s":"play","st":"\u00e9","d":true,"b":32}"#]
        for _ in 0..<5000 {
            var bytes = Array(random.pick(bodies).utf8)
            for _ in 0..<3 where !bytes.isEmpty {
                let at = random.int(0..<bytes.count)
                if random.chance(1, in: 2) {
                    bytes[at] = UInt8.random(in: 0 ... .max, using: &random)
                } else {
                    bytes.remove(at: at)
                }
            }
            _ = try? Feedback(decoding: bytes)
            _ = try? ClockSample(decoding: bytes)
            _ = try? Mark(decoding: bytes)
            _ = try? ControlRecord(decoding: bytes)
            _ = try? CommandRequest(decoding: bytes)
            _ = try? AuditPage(decoding: bytes)
            _ = try? JoinRequest(decoding: bytes)
            _ = try? JoinReply(decoding: bytes)
            _ = RequestError(decoding: bytes)
        }
    }
}
