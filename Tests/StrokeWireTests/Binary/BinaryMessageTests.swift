import TestSupport
import Testing

@testable import StrokeWire

/// What the second byte says of the rest.
private func kind(_ bytes: [UInt8]) -> MessageLayout.Kind? { MessageLayout.Kind(rawValue: bytes[1]) }

/// The binary form of a message, as a service makes it: with the points of the decoded message where it has any.
private func binary(_ json: [UInt8]) -> [UInt8] {
    let limits = WireLimits(messageBytes: .max, shards: .max, points: .max, colours: .rgb)
    let points = (try? StrokeMessage(decoding: json, limits: limits).points) ?? .empty
    return BinaryMessage.encode(json, points: points)
}

private func binary(_ json: String) -> [UInt8] { binary(Array(json.utf8)) }

@Suite struct `A message in the binary form` {
    @Test(arguments: [
        (#"{"n":1,"d":[{"x":1,"y":2}]}"#, MessageLayout.Kind.keys),
        (#"{"n":7,"c":2,"l":2.5,"s":0,"o":0,"e":4,"a":1,"t":-81250,"w":1024,"h":768,"d":[{"x":10.5,"y":-20}]}"#, .keys),
        (#"{"n":1,"d":[{"x":1,"y":2,"f":0.5,"i":1.1,"z":0,"m":0},{"x":1.25,"y":2,"f":0,"i":1,"z":-3,"m":4}]}"#, .keys),
        (#"{"n":2,"d":[{"x":1,"y":2,"m":0},{"x":1,"y":2,"m":16}]}"#, .keys), (#"{"n":7,"a":2,"t":5000}"#, .keys),
        (#"{"n":7,"c":0,"a":4}"#, .keys),
        (#"{"n":1,"k":"7 \" 8","d":[{"x":1,"y":2},{"x":1.5,"y":2.25}]}"#, .template),
        (#" {"d" : [{"y":1,"x":2},{"y":1,"x":3},{"y":1,"x":4},{"y":0.5,"x":5}], "n":1} "#, .template),
        (#"{"t":1,"n":1,"d":[{"x":1,"y":2},{"x":1,"y":3},{"x":1,"y":4},{"x":1,"y":5}]}"#, .template),
        (#"{"n":1,"n":2,"d":[{"x":1,"y":2},{"x":2,"y":3},{"x":3,"y":4},{"x":4,"y":5}]}"#, .template),
        (#"{"n":7,"a":2,"d":[1,2,3]}"#, .json), (#"{"n":1,"d":[{"x":1e1,"y":2}]}"#, .json),
        (#"{"n":01.0.0,"a":2}"#, .json), (#"{"n":1.,"a":2}"#, .json), (#"{"n":1,"d":[{"x":-0,"y":2}]}"#, .json),
        (#"{"n":1,"d":[{"x":1,"y":2},{"y":2,"x":1}]}"#, .json),
        (#"{"n":1,"d":[{"x":1,"y":2,"f":0.5},{"x":1,"y":2}]}"#, .json),
        (#"{"n":9007199254740991,"d":[{"x":0.12345678901234567,"y":2}]}"#, .json),
        (#"{"n":1,"d":[{"x":1,"y":2},{"x":0.0000000001,"y":2},{"x":123456,"y":3}]}"#, .json),
    ])
    func `gives back the bytes of its JSON, whatever the spelling`(text: String, layout: MessageLayout.Kind) throws {
        let bytes = binary(text)
        #expect(try String(decoding: BinaryMessage.json(of: bytes), as: UTF8.self) == text)
        #expect(kind(bytes) == layout)
        #expect(bytes.count <= text.utf8.count + 2)
        #expect(BinaryMessage.isBinary(bytes) && !BinaryMessage.isBinary(Array(text.utf8)))
    }

    @Test func `gives back the bytes of random JSON, of the usual spelling and of others`() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        var kinds: [MessageLayout.Kind: Int] = [:]
        for round in 0..<3000 {
            let text = round % 2 == 0 ? RandomMessage.usual(&random).text : RandomMessage.any(&random).text
            let bytes = binary(text)
            let json = try BinaryMessage.json(of: bytes)
            if String(decoding: json, as: UTF8.self) != text { Issue.record("\(text), seed \(random.seed)") }
            kinds[try #require(kind(bytes)), default: 0] += 1
        }
        #expect(kinds.values.allSatisfy { $0 > 100 } && kinds.count == 3, "\(kinds), seed \(random.seed)")
    }

    @Test func `is decoded to the same fields and points as its JSON, or refused with the same rejection`() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        var limits = WireLimits()
        limits.points = 50
        var counts = (accepted: 0, rejected: 0)
        for round in 0..<6000 {
            let text = round % 2 == 0 ? RandomMessage.usual(&random).text : RandomMessage.any(&random).text
            limits.features = random.pick([.all, []])
            var points: [StrokePoint] = []
            let fromJSON = Result { () throws(MalformedMessage) in
                try StrokeMessage(decoding: Array(text.utf8), limits: limits, points: &points)
            }
            var binaryPoints: [StrokePoint] = []
            let fromBinary = Result { () throws(BinaryFormError) in
                try BinaryMessage.decode(binary(text), limits: limits, points: &binaryPoints)
            }
            switch (fromJSON, fromBinary) {
            case (.success(var message), .success(let other)):
                message.points = PointArray(count: message.points.count, interior: 0..<0)
                if message != other || points != binaryPoints { Issue.record("\(text), seed \(random.seed)") }
                counts.accepted += 1
            case (.failure(let fault), .failure(.rejected(let rejection))):
                if fault.rejection.code != rejection.code || fault.rejection.field != rejection.field {
                    Issue.record("\(text): \(fault.rejection), \(rejection), seed \(random.seed)")
                }
                #expect(binaryPoints.isEmpty)
                counts.rejected += 1
            default: Issue.record("\(text): \(fromJSON), \(fromBinary), seed \(random.seed)")
            }
        }
        #expect(counts.accepted > 1000 && counts.rejected > 500, "\(counts), seed \(random.seed)")
    }

    @Test func `of every message of the lessons gives back its bytes and its points`() throws {
        for json in try SampleLesson.allMessages() {
            let bytes = binary(json)
            #expect(try BinaryMessage.json(of: bytes) == json)
            var (points, other) = ([StrokePoint](), [StrokePoint]())
            let message = try StrokeMessage(decoding: json, points: &points)
            let decoded = try BinaryMessage.decode(bytes, points: &other)
            #expect(points == other)
            #expect(decoded.time == message.time && decoded.number == message.number)
        }
    }

    @Test(arguments: SampleLesson.available)
    func `takes three bytes for a point of handwriting, with force and angles six`(_ lesson: SampleLesson) throws {
        var (bytes, points, hasPen) = (0, 0, false)
        for json in try lesson.messages() {
            let message = try StrokeMessage(decoding: json)
            guard message.points.count >= 15 else { continue }
            bytes += binary(json).count
            points += message.points.count
            hasPen = hasPen || message.decodePoints(of: json).contains { $0.force != nil }
        }
        #expect(points > 1000)
        #expect(Double(bytes) / Double(points) <= (hasPen ? 6 : 3), "\(lesson)")
    }
}

@Suite struct `Bytes that are no binary form` {
    @Test func `of another version are told apart from damage`() {
        #expect(throws: BinaryFormError.unknownVersion(2)) { try BinaryMessage.json(of: [0xb2, 0]) }
        #expect(throws: BinaryFormError.unknownVersion(0)) { try BinaryMessage.json(of: [0xb0]) }
        #expect(throws: BinaryFormError.damaged(at: 0)) { try BinaryMessage.json(of: []) }
        #expect(throws: BinaryFormError.damaged(at: 0)) { try BinaryMessage.json(of: Array("{}".utf8)) }
        #expect(BinaryFormError.unknownVersion(2).code == "unknown-version")
        #expect(BinaryFormError.damaged(at: 1).code == "damaged")
        #expect(BinaryFormError.tooLarge(limit: 1).code == "too-large")
    }

    @Test(
        arguments: [
            // Nothing, a kind that there is not, half a varint, an unknown key.
            [], [9], [1], [1, 0x80], [1, 0x80, 0x80, 0x01],
            // No numbers; a number that goes on; another number than n; a fraction of 16 digits.
            [1, 0], [1, 0, 0xff], [1, 0, 0x00, 0x02, 0x22], [1, 0, 0x80, 0xf2, 0x11],
            // Points that are not there; points of no keys.
            [1, 0x80, 0x04, 0x07, 0x02], [1, 0, 0x05, 0x02],
            // A point in a column of 2⁶⁴−1 decimals.
            [1, 0x80, 0x04, 0x01, 0xf2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x00, 0x00],
            // A template that ends early; a gap beyond its text.
            [2, 5, 0x7b], [2, 1, 0x7b, 1, 2],
        ] as [[UInt8]])
    func `are refused where numbers are missing or left over, or keys are unknown`(_ bytes: [UInt8]) {
        let error = #expect(throws: BinaryFormError.self) { try BinaryMessage.json(of: [0xb1] + bytes) }
        #expect(error?.code == "damaged")
        var points: [StrokePoint] = []
        #expect(throws: BinaryFormError.self) { try BinaryMessage.decode([0xb1] + bytes, points: &points) }
    }

    @Test func `do not claim more memory than is allowed`() throws {
        // Each of 1000 points stands for a text of 50,000 bytes.
        let filler = String(repeating: "k", count: 50_000)
        let text = #"{"n":1,"d":[{"\#(filler)":1}]}"#
        let json = Array(text.utf8)
        let template = try #require(
            MessageTemplate(of: json, interior: 12..<json.count - 2, pointCount: 1, atMost: .max))
        var message: [UInt8] = [0xb1]
        MessageLayout.template(template).append(to: &message)
        // 1000 points, no decimals, n; a column, and its values.
        message += [0xd8, 0x1f, 0x20, 0x00] + [UInt8](repeating: 0, count: 500)
        #expect(try BinaryMessage.json(of: message).count > 50_000_000)
        #expect(throws: BinaryFormError.tooLarge(limit: 1 << 20)) {
            try BinaryMessage.json(of: message, limit: 1 << 20)
        }
    }

    @Test func `never stop the reader, however they are made`() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        var counts = (read: 0, refused: 0)
        for _ in 0..<30_000 {
            var bytes = binary(RandomMessage.any(&random).text)
            if random.chance(1, in: 10) {
                bytes = [0xb1] + (0..<random.int(0...40)).map { _ in UInt8(random.int(0...255)) }
            }
            for _ in 0..<random.int(1...4) {
                switch random.int(0...3) {
                case 0: bytes.removeLast(min(bytes.count, random.int(1...8)))
                case 1: bytes.append(UInt8(random.int(0...255)))
                default:
                    guard bytes.count > 1 else { continue }
                    let place =
                        random.chance(1, in: 2) ? random.int(1..<min(bytes.count, 8)) : random.int(1..<bytes.count)
                    bytes[place] = UInt8(random.int(0...255))
                }
            }
            let limit = 100_000
            do throws(BinaryFormError) {
                let json = try BinaryMessage.json(of: bytes, limit: limit)
                if json.count > limit { Issue.record("\(json.count) bytes, seed \(random.seed)") }
                counts.read += 1
            } catch {
                if case .rejected = error { Issue.record("\(error), seed \(random.seed)") }
                counts.refused += 1
            }
            var points: [StrokePoint] = []
            _ = try? BinaryMessage.decode(bytes, points: &points)
            if points.count > 2 * bytes.count { Issue.record("\(points.count) points, seed \(random.seed)") }
            _ = try? JoinReply(binary: bytes)
        }
        #expect(counts.read > 100 && counts.refused > 1000, "\(counts), seed \(random.seed)")
    }
}

@Suite struct `Integers of variable length` {
    @Test(arguments: [(0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), (UInt64.max >> 1, 9), (.max, 10)])
    func `Every integer is read as it was written, in seven bits a byte`(_ value: UInt64, _ size: Int) {
        var bytes: [UInt8] = [7]
        Varint.append(value, to: &bytes)
        #expect(bytes.count == 1 + size)
        var position = 1
        #expect(Varint.read(bytes, &position) == value)
        #expect(position == bytes.count)
    }

    @Test(arguments: [
        [], [0x80], [0xff, 0xff], Array(repeating: 0xff, count: 9) + [0x02],
        Array(repeating: 0x80, count: 10) + [0],
    ]) func `Bytes that end within an integer, or give more than 64 bits, are none`(_ bytes: [UInt8]) {
        var position = 0
        #expect(Varint.read(bytes, &position) == nil)
    }

    @Test(arguments: [(0, 0), (-1, 1), (1, 2), (-2, 3), (Int64.max, UInt64.max - 1), (.min, .max)])
    func `Signed integers near zero become small unsigned ones`(_ signed: Int64, _ unsigned: UInt64) {
        #expect(UInt64(zigzag: signed) == unsigned)
        #expect(Int64(zigzag: unsigned) == signed)
    }
}
