import StrokeWire
import TestSupport
import Testing

@Suite struct `A join reply` {
    private func operation(
        _ index: UInt64, _ message: String, ref: UInt64? = nil, late: Bool = false, digest: UInt64? = nil
    ) throws -> JoinedOperation {
        JoinedOperation(
            index: index, author: try #require(AuthorID("a")), reference: ref, isLate: late,
            digest: digest.map(BoardDigest.init(value:)), message: Array(message.utf8)[...])
    }

    private let writer = JoinReplyWriter(
        room: "x-1", index: 9, digest: BoardDigest(value: 0xabc), palette: .standard, style: "pen")

    private let start =
        ##"{"room":"x-1","index":9,"digest":"0000000000000abc","palette":["#000000","#d92020","#1f4fd8","#1a9850","#f08c00","#7b2cbf","#6b4423","#7f7f7f","#f2c200","#e0559c","#4aa8e0","#0f8b8d","#7cb518","#8b1e3f","#1b2a5c","#ffffff"],"style":"pen","pages":{"shown":0,"order":[0]}"##

    @Test func `with a tail has the operations as they are`() throws {
        let operations = [
            try operation(8, #"{ "n":1,"d":[{"x":1,"y":2}] }"#, late: true),
            try operation(9, #"{"n":2,"a":2}"#, ref: 8, digest: 0xdef),
        ]
        let bytes = writer.tail(operations)
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == start
                + #","ops":[{"index":8,"author":"a","late":true,"page":0,"message":{ "n":1,"d":[{"x":1,"y":2}] }},{"index":9,"author":"a","ref":8,"digest":"0000000000000def","page":0,"message":{"n":2,"a":2}}]}"#
        )
        let reply = try JoinReply(decoding: bytes)
        #expect(reply.content == .tail(operations))
        #expect(reply.style == "pen" && !reply.isProvisional)
        #expect(reply.room == "x-1" && reply.index == 9 && reply.digest.value == 0xabc && reply.palette == .standard)
    }

    @Test func `with an empty tail or board is complete too`() throws {
        #expect(try JoinReply(decoding: writer.tail([])).content == .tail([]))
        let bytes = writer.board(width: 1024, height: 768, visible: [], redo: [])
        #expect(
            String(decoding: bytes, as: UTF8.self) == start + #","board":{"w":1024,"h":768},"visible":[],"redo":[]}"#)
        let board = JoinReply.Content.board(width: 1024, height: 768, visible: [], redo: [], cleared: [])
        #expect(try JoinReply(decoding: bytes).content == board)
    }

    @Test func `says that the first draw will settle the size of the board`() throws {
        let bytes = writer.board(width: 1024, height: 768, isProvisional: true, visible: [], redo: [])
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == start + #","board":{"w":1024,"h":768},"provisional":true,"visible":[],"redo":[]}"#)
        #expect(try JoinReply(decoding: bytes).isProvisional)
    }

    @Test func `with a board has all its lists`() throws {
        let visible = try (1...3).map { try operation($0, #"{"n":\#($0)}"#) }
        let redo = [try operation(4, #"{"n":4}"#, late: true)]
        let cleared = [ClearedBoard(index: 7, visible: visible), ClearedBoard(index: 8, visible: [])]
        let bytes = writer.board(
            width: 800.5, height: 600, visible: visible.lazy.map { $0 }, redo: redo, cleared: cleared)
        #expect(
            try JoinReply(decoding: bytes).content
                == .board(width: 800.5, height: 600, visible: visible, redo: redo, cleared: cleared))
    }

    @Test func `holds messages of the deepest nesting that is accepted`() throws {
        let deep = #"{"n":1,"a":2,"k":[[[[[[[]]]]]]]}"#
        #expect(decode(deep).fault == nil)
        let cleared = [ClearedBoard(index: 7, visible: [try operation(1, deep)])]
        let bytes = writer.board(width: 1, height: 1, visible: [], redo: [], cleared: cleared)
        let board = JoinReply.Content.board(width: 1, height: 1, visible: [], redo: [], cleared: cleared)
        #expect(try JoinReply(decoding: bytes).content == board)
    }

    @Test(arguments: [
        (#""ops":[1]"#, Fault(.wrongType, "ops")), (#""ops":{}"#, Fault(.wrongType, "ops")),
        (#""ops":[{"index":1,"author":"a"}]"#, Fault(.missingField, "message")),
        (#""ops":[{"index":1,"author":"a","message":7}]"#, Fault(.wrongType, "message")),
        (#""ops":[{"index":1,"author":"A","message":{}}]"#, Fault(.outOfRange, "author")),
        (#""ops":[{"author":"a","message":{}}]"#, Fault(.missingField, "index")),
        (#""board":{"w":1,"h":1},"visible":[]"#, Fault(.missingField, "redo")),
        (#""board":{"w":1},"visible":[],"redo":[]"#, Fault(.missingField, "h")),
        (#""visible":[],"redo":[]"#, Fault(.missingField, "board")),
        (#""palette":["red"],"ops":[]"#, Fault(.outOfRange, "palette")),
        (#""palette":[7],"ops":[]"#, Fault(.wrongType, "palette")),
        (#""style":7,"ops":[]"#, Fault(.wrongType, "style")),
        (#""ops":[{"index":1,"author":"a","digest":"1","message":{}}]"#, Fault(.outOfRange, "digest")),
    ])
    func `is refused for its fault`(rest: String, fault: Fault) {
        let body = Array("\(start),\(rest)}".utf8)
        #expect(Fault.found { () throws(Rejection) in _ = try JoinReply(decoding: body) } == fault)
    }
}

@Suite struct `A palette` {
    @Test func `is the standard one unless another is given`() {
        #expect(Palette.standard.colours.count == 16)
        #expect(Palette.standard.texts[2] == "#1f4fd8")
        #expect(Palette.standard[0] == 0x000000)
        #expect(Palette.standard[7] == 0x7f7f7f)
        #expect(Palette.standard[16] == nil)
        #expect(Palette(Palette.standard.texts) == .standard)
    }

    @Test func `reads colours in letters of either case`() {
        #expect(Palette(["#00fFa1"])?.colours == [0x00ffa1])
        #expect(Palette(["#00fFa1"])?.texts == ["#00ffa1"])
    }

    @Test(arguments: [
        [], [""], ["#12345"], ["#1234567"], ["123456"], ["#12345g"], ["#+12345"], ["# 1234"], ["#000000", "red"],
        Array(repeating: "#000000", count: 257),
    ])
    func `has 1 to 256 colours and nothing else`(texts: [String]) {
        #expect(Palette(texts) == nil)
    }
}

@Suite struct `Digests` {
    @Test(arguments: [
        // From the reference of Fowler, Noll and Vo.
        ("", 0x811c_9dc5), ("a", 0xe40c_292c), ("b", 0xe70c_2de5), ("foobar", UInt32(0xbf9c_f968)),
    ])
    func `of names are FNV-1a in 32 bits`(text: String, hash: UInt32) {
        #expect(FNV1a32.hash(text.utf8) == hash)
    }

    @Test func `of boards depend on what is visible, not on the way there`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        var visible: Set<UInt64> = []
        var digest = BoardDigest.empty
        for _ in 0..<500 {
            let index = UInt64(random.int(1...40))
            if visible.remove(index) != nil {
                digest.remove(index)
            } else {
                visible.insert(index)
                digest.insert(index)
            }
            #expect(digest.value == plainDigest(visible.sorted()), "seed \(random.seed)")
            #expect(digest == BoardDigest(of: visible), "seed \(random.seed)")
        }
        for index in visible { digest.remove(index) }
        #expect(digest == .empty, "seed \(random.seed)")
    }

    @Test func `are written with 16 lower-case digits and read back`() {
        let digest = BoardDigest(value: 0xabc)
        #expect(digest.description == "0000000000000abc")
        #expect(BoardDigest(hexadecimal: digest.description) == digest)
        #expect(BoardDigest(hexadecimal: "ffffffffffffffff")?.value == .max)
        for text in ["", "abc", "0000000000000ABC", "0x00000000000abc", "00000000000000abc", "000000000000 abc"] {
            #expect(BoardDigest(hexadecimal: text) == nil)
        }
    }
}

@Suite struct FNV1a64Tests {
    @Test func `FNV-1a has its published values`() {
        #expect(FNV1a64.hash("".utf8) == 0xcbf2_9ce4_8422_2325)
        #expect(FNV1a64.hash("a".utf8) == 0xaf63_dc4c_8601_ec8c)
        #expect(FNV1a64.hash("foobar".utf8) == 0x8594_4171_f739_67e8)
    }

    @Test func `All kinds of sequences have the same hash`() {
        let bytes = Array("the same bytes".utf8)
        #expect(FNV1a64.hash(bytes.lazy.map { $0 }) == FNV1a64.hash(bytes))
    }
}
