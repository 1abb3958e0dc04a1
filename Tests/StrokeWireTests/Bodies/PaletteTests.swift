import StrokeWire
import Testing

@Suite struct `A palette` {
    @Test func `is the standard one unless another is given`() {
        #expect(Palette.standard.colours.count == 8)
        #expect(Palette.standard.texts[2] == "#1f4fd8")
        #expect(Palette.standard[0] == 0x000000)
        #expect(Palette.standard[7] == 0x7f7f7f)
        #expect(Palette.standard[8] == nil)
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
