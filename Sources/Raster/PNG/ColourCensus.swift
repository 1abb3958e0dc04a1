/// The different pixels of an image, while there are few enough of them for a palette.
struct ColourCensus {
    static let most = 256
    private static let slots = 1024

    /// The colours in order of their first appearance.
    private(set) var colours: [UInt32] = []
    /// Open addressing; 0 is a free slot, else the number of the colour and one.
    private var table = [UInt16](repeating: 0, count: slots)

    /// Counts all pixels of the rows; `nil` as soon as there are too many colours.
    init?(_ canvas: Canvas, background: PNGBackground) {
        let runs = PixelRuns(canvas)
        var isFew = true
        for y in 0..<canvas.height where isFew {
            runs.forEachRun(y) { pixel, _ in isFew = isFew && add(background.shown(pixel)) }
        }
        guard isFew else { return nil }
    }

    /// The number of a colour that was counted.
    @inline(__always)
    func index(of colour: UInt32) -> UInt8 {
        var slot = Self.slot(colour)
        while table[slot] != 0 {
            let index = Int(table[slot]) - 1
            if colours[index] == colour { return UInt8(truncatingIfNeeded: index) }
            slot = (slot &+ 1) % Self.slots
        }
        return 0
    }

    private mutating func add(_ colour: UInt32) -> Bool {
        var slot = Self.slot(colour)
        while table[slot] != 0 {
            if colours[Int(table[slot]) - 1] == colour { return true }
            slot = (slot &+ 1) % Self.slots
        }
        guard colours.count < Self.most else { return false }
        colours.append(colour)
        table[slot] = UInt16(colours.count)
        return true
    }

    @inline(__always)
    private static func slot(_ colour: UInt32) -> Int {
        Int(truncatingIfNeeded: (colour &* 0x9E37_79B1) >> 22)
    }
}
