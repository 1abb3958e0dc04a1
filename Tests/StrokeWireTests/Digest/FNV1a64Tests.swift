import Testing

@testable import StrokeWire

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
