import Testing

@testable import StrokeWire

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
