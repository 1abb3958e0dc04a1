import StrokeWire
import TestSupport
import Testing

@Suite struct `A join reply in the binary form` {
    /// A reply with random lists of random operations of a few authors.
    private func reply(_ random: inout SeededGenerator) throws -> JoinReply {
        let authors = try (0..<random.int(1...40)).map { try #require(AuthorID("author-\($0)")) }
        var index = UInt64(random.int(0...1000))
        let mostPages = random.pick([1, 1, 5, 1000])
        func operations(_ count: Int, digests: Bool) -> [JoinedOperation] {
            (0..<count).map { _ in
                index += UInt64(random.int(1...300))
                return JoinedOperation(
                    index: index, author: random.pick(authors),
                    reference: random.chance(1, in: 5) ? UInt64(random.int(0...5000)) : nil,
                    isLate: random.chance(1, in: 6),
                    digest: digests ? BoardDigest(value: random.next()) : nil, page: random.int(0..<mostPages),
                    message: Array(
                        (random.chance(1, in: 4) ? RandomMessage.any(&random) : .usual(&random)).text.utf8)[...])
            }
        }
        let content =
            random.chance(1, in: 2)
            ? JoinReply.Content.tail(operations(random.int(0...30), digests: true))
            : .board(
                width: random.pick([1024, 1366.25, 1]), height: random.pick([768, 16384]),
                visible: operations(random.int(0...40), digests: false),
                redo: operations(random.int(0...5), digests: false).reversed(),
                cleared: (0..<random.int(0...2)).map { _ in
                    ClearedBoard(
                        index: UInt64(random.int(1...99)), page: random.int(0..<mostPages),
                        visible: operations(random.int(0...9), digests: false))
                })
        return JoinReply(
            room: random.pick(["", "k3f9-17", "ö"]), index: index, digest: BoardDigest(value: random.next()),
            palette: random.chance(1, in: 2) ? .standard : try #require(Palette(["#010203"])),
            style: random.pick(["smooth", "pen"]), isProvisional: random.chance(1, in: 4),
            pages: try pages(of: mostPages, &random), content: content)
    }

    private func pages(of count: Int, _ random: inout SeededGenerator) throws -> BoardPages {
        guard count > 1 else { return BoardPages() }
        let all = Array(0..<count).shuffled(using: &random)
        let seen = random.int(1...count)
        let hidden = random.int(0..<seen)
        return try #require(
            BoardPages(shown: all[hidden], order: Array(all[hidden..<seen]), hidden: Array(all[..<hidden])))
    }

    @Test func `is read as the reply that it was written from, message for message`() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        for _ in 0..<300 {
            var reply = try reply(&random)
            // A tail has no size.
            if case .tail = reply.content { reply.isProvisional = false }
            let bytes = reply.binaryEncoded()
            #expect(BinaryMessage.isBinary(bytes))
            if try JoinReply(binary: bytes) != reply { Issue.record("seed \(random.seed)") }
        }
    }

    @Test func `takes a seventh of the JSON of a lesson's board, or less`() throws {
        for lesson in SampleLesson.available {
            let author = try #require(AuthorID("teacher"))
            let operations = try lesson.messages().enumerated().map { place, message in
                JoinedOperation(index: UInt64(place + 1), author: author, message: message[...])
            }
            let reply = JoinReply(
                room: "k3f9-17", index: UInt64(operations.count), digest: .empty, palette: .standard, style: "smooth",
                content: .board(width: 1024, height: 768, visible: operations, redo: [], cleared: []))
            let json = JoinReplyWriter(
                room: reply.room, index: reply.index, digest: reply.digest, palette: reply.palette, style: reply.style
            ).board(width: 1024, height: 768, visible: operations, redo: [])
            #expect(reply.binaryEncoded().count * 7 <= json.count, "\(lesson)")
        }
    }

    @Test func `of another version, cut short, continued or of a message is refused`() throws {
        let author = try #require(AuthorID("a"))
        let operation = JoinedOperation(
            index: 9, author: author, message: Array(#"{"n":1,"d":[{"x":1,"y":2}]}"#.utf8)[...])
        let bytes = JoinReply(
            room: "r", index: 9, digest: .empty, palette: .standard, style: "smooth", content: .tail([operation])
        ).binaryEncoded()
        #expect(throws: Never.self) { try JoinReply(binary: bytes) }
        for count in 0..<bytes.count {
            let error = #expect(throws: BinaryFormError.self) { try JoinReply(binary: Array(bytes.prefix(count))) }
            #expect(error?.code == "damaged")
        }
        #expect(throws: BinaryFormError.damaged(at: bytes.count)) { try JoinReply(binary: bytes + [0]) }
        #expect(throws: BinaryFormError.unknownVersion(3)) { try JoinReply(binary: [0xb3] + bytes.dropFirst()) }
        #expect(throws: BinaryFormError.self) { try JoinReply(binary: [0xb1, 0] + Array("{}".utf8)) }
    }

    @Test func `that is damaged anywhere is read or refused, and never stops the reader`() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        var refused = 0
        for _ in 0..<200 {
            let bytes = try reply(&random).binaryEncoded()
            for _ in 0..<30 {
                var damaged = bytes
                for _ in 0..<random.int(1...3) { damaged[random.int(1..<bytes.count)] = UInt8(random.int(0...255)) }
                do { _ = try JoinReply(binary: damaged) } catch { refused += 1 }
            }
        }
        #expect(refused > 1000, "seed \(random.seed)")
    }

    @Test func `does not claim more memory than a reply may take`() throws {
        // Operations of an empty text each, of four bytes.
        var bytes: [UInt8] = [0xb1, 3, 1, 0, 0] + [UInt8](repeating: 0, count: 8) + [1, 0, 0, 0, 0]
        let count = 4_000_000
        bytes += [0, 7, 14].map { 0x80 | UInt8(count >> $0 & 127) } + [UInt8(count >> 21)]
        bytes += [0, 1, 0x61, 0, 2, 0] + [UInt8](repeating: 0, count: 3 * (count - 1))
        #expect(throws: BinaryFormError.tooLarge(limit: JoinReply.maximumBytes)) { try JoinReply(binary: bytes) }
    }
}

@Suite struct `A join request` {
    @Test func `asks for the form of the reply`() throws {
        #expect(try JoinRequest(decoding: Array("{}".utf8)).encoding == .json)
        #expect(try JoinRequest(decoding: []).encoding == .json)
        let request = JoinRequest(incarnation: "r-1", have: 4, encoding: .binary)
        #expect(String(decoding: request.encoded(), as: UTF8.self) == #"{"room":"r-1","have":4,"encoding":"binary"}"#)
        #expect(try JoinRequest(decoding: request.encoded()) == request)
        #expect(JoinRequest().encoded() == Array("{}".utf8))
    }

    @Test(arguments: [
        (#"{"encoding":"xml"}"#, RejectionCode.outOfRange), (#"{"encoding":1}"#, .wrongType),
        (#"{"encoding":null}"#, .wrongType),
    ])
    func `for an unknown form is refused`(body: String, code: RejectionCode) {
        let error = #expect(throws: Rejection.self) { try JoinRequest(decoding: Array(body.utf8)) }
        #expect(error?.code == code && error?.field == "encoding")
    }
}
