import StrokeWire
import TestSupport
import Testing

@Suite struct `Digests` {
    @Test(arguments: [
        // From the reference of Fowler, Noll and Vo.
        ("", 0x811c_9dc5), ("a", 0xe40c_292c), ("b", 0xe70c_2de5), ("foobar", UInt32(0xbf9c_f968)),
    ])
    func `of names are FNV-1a in 32 bits`(text: String, hash: UInt32) {
        #expect(FNV1a32.hash(text.utf8) == hash)
    }

    @Test func `of boards are sums of SplitMix64 over the indices`() {
        #expect(BoardDigest.empty.description == "0000000000000000")
        #expect(BoardDigest(of: [1]).description == "910a2dec89025cc1")
        #expect(BoardDigest(of: [1, 2]).description == "286263caa599b38f")
        #expect(BoardDigest(of: [1, 2, 3]).description == "456d78af809b437c")
        #expect(BoardDigest(of: [0x0102_0304_0506_0708]).description == "0acc9c175458d409")
        #expect(BoardDigest(of: [.max]).description == "e4d971771b652c20")
    }

    @Test func `of boards depend on what is visible, not on the way there`() {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
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
            #expect(digest.value == plainDigest(visible.sorted()), "seed \(seed)")
            #expect(digest == BoardDigest(of: visible), "seed \(seed)")
        }
        for index in visible { digest.remove(index) }
        #expect(digest == .empty, "seed \(seed)")
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
