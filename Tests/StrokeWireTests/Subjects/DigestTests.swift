import StrokeWire
import Testing

@Suite struct `Digests` {
    @Test(arguments: [
        // From the reference of Fowler, Noll and Vo.
        ("", 0x811c_9dc5), ("a", 0xe40c_292c), ("b", 0xe70c_2de5), ("foobar", UInt32(0xbf9c_f968)),
    ])
    func `of names are FNV-1a in 32 bits`(text: String, hash: UInt32) {
        #expect(FNV1a32.hash(text.utf8) == hash)
    }

    @Test func `of boards are FNV-1a in 64 bits over little-endian indices`() {
        #expect(BoardDigest.empty.description == "cbf29ce484222325")
        var digest = BoardDigest.empty
        digest.append(index: 1)
        #expect(digest.description == "89cd31291d2aefa4")
        #expect(digest == BoardDigest.empty.appending(index: 1))
        digest.append(index: 2)
        #expect(digest.description == "7717980363c8e066")
        digest.append(index: 5)
        #expect(digest.description == "9c366d10482e8ac3")
        #expect(BoardDigest.empty.appending(index: 0x0102_0304_0506_0708).description == "0c6d4496e17859d5")
    }

    @Test func `tell the order of the strokes`() {
        let empty = BoardDigest.empty
        #expect(empty.appending(index: 1).appending(index: 2) != empty.appending(index: 2).appending(index: 1))
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
