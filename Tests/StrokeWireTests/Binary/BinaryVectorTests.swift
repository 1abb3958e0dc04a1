import StrokeWire
import TestSupport
import Testing

@Suite struct `The vectors of the binary form` {
    private struct Vector: Decodable {
        let name, hex: String
        /// The message, of a message.
        let json: String?
        /// The reply in JSON, of a join reply.
        let reply: String?
        /// The code, of what cannot be read.
        let error: String?

        func bytes() throws -> [UInt8] { try hexadecimal(hex) }
    }

    private func vectors() throws -> [Vector] {
        try ProtocolVectors.cases("binary.json", of: Vector.self, atLeast: 46)
    }

    @Test func `of messages are read as their JSON, and written as their bytes`() throws {
        var count = 0
        for vector in try vectors() {
            guard let json = vector.json else { continue }
            #expect(
                try String(decoding: BinaryMessage.json(of: vector.bytes()), as: UTF8.self) == json, "\(vector.name)")
            let message = try StrokeMessage(decoding: Array(json.utf8))
            #expect(
                try BinaryMessage.encode(Array(json.utf8), points: message.points) == vector.bytes(), "\(vector.name)")
            var points: [StrokePoint] = []
            _ = try BinaryMessage.decode(vector.bytes(), points: &points)
            #expect(points == message.decodePoints(of: Array(json.utf8)), "\(vector.name)")
            count += 1
        }
        #expect(count > 15)
    }

    @Test func `of join replies are read as their JSON, and written as their bytes`() throws {
        var count = 0
        for vector in try vectors() {
            guard let json = vector.reply else { continue }
            let reply = try JoinReply(decoding: Array(json.utf8))
            #expect(try JoinReply(binary: vector.bytes()) == reply, "\(vector.name)")
            #expect(try reply.binaryEncoded() == vector.bytes(), "\(vector.name)")
            count += 1
        }
        #expect(count >= 4)
    }

    @Test func `that cannot be read are refused with their codes`() throws {
        var codes: Set<String> = []
        for vector in try vectors() {
            guard let code = vector.error else { continue }
            let bytes = try vector.bytes()
            let error = #expect(throws: BinaryFormError.self, "\(vector.name)") {
                _ =
                    try bytes.dropFirst().first == 3
                    ? JoinReply(binary: bytes).index : UInt64(BinaryMessage.json(of: bytes).count)
            }
            #expect(error?.code == code, "\(vector.name)")
            codes.insert(code)
        }
        #expect(codes == ["damaged", "unknown-version"])
    }

    @Test func `have the worked example of the article`() throws {
        let article = try ProtocolVectors.article("BinaryForm")
        let example = try #require(try vectors().first)
        #expect(article.contains("`\(try #require(example.json))`"))
        let pairs = try example.bytes().map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
        for line in [pairs.prefix(4), pairs.dropFirst(4)] { #expect(article.contains(line.joined(separator: " "))) }
    }

    @Test(.enabled(if: InstalledProgram("node") != nil, "needs node"))
    func `are read by the page of the article, in a hundred lines`() throws {
        let article = try ProtocolVectors.article("BinaryForm")
        let start = try #require(article.firstRange(of: "```javascript\n")).upperBound
        let page = String(
            article[start...].prefix(upTo: try #require(article[start...].firstRange(of: "```")).lowerBound))
        #expect(page.split(separator: "\n").count <= 100)
        var script = page.replacing("export ", with: "") + "const same = require('node:assert').deepStrictEqual;\n"
        var count = 0
        for vector in try vectors() {
            guard let json = vector.json ?? vector.reply else { continue }
            script += "same(decode(Buffer.from('\(vector.hex)', 'hex')), JSON.parse(String.raw`\(json)`));\n"
            script += "same(decode(Buffer.from(String.raw`\(json)`)), JSON.parse(String.raw`\(json)`));\n"
            count += 1
        }
        #expect(count > 20)
        script += "console.log('read');\n"
        let printed = try #require(InstalledProgram("node")).run(["-e", script])
        #expect(printed.map { String(decoding: $0, as: UTF8.self) } == "read\n")
    }
}
