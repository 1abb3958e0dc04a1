public import Raster

/// How a board is seen on a dark ground, where a person has chosen that: a view of the client, of which nobody else knows.
public enum DarkBoard {
    /// The colour of the lines and dots of a paper.
    public static let ruling = RGB(0x3A4048)

    /// Greys below this one become lighter the darker they are.
    private static let middleGrey: UInt32 = 0xA0
    private static let lightest: UInt32 = 0xF0
    /// Differences between red, green and blue up to it make a grey.
    private static let greyRange: UInt32 = 24
    /// Has a contrast of 3 : 1 to a ground of `#1b1e23`.
    private static let leastLuminance = 0.14

    /// What takes the place of a colour: black and dark grey, as 0 and 7 of the palette, become light grey; other colours become
    /// lighter where they would be hard to see.
    /// - Parameter colour: `0xRRGGBB`.
    public static func colour(_ colour: UInt32) -> UInt32 {
        let parts = [colour >> 16 & 0xFF, colour >> 8 & 0xFF, colour & 0xFF]
        let (low, high) = (min(parts[0], parts[1], parts[2]), max(parts[0], parts[1], parts[2]))
        if high - low <= greyRange {
            guard high < middleGrey else { return colour }
            return (lightest - high / 2) * 0x1_01_01
        }
        // Mixed with white until it is light enough.
        for step: UInt32 in 0...10 {
            let mixed = parts.map { $0 + (0xFF - $0) * step / 16 }
            if luminance(mixed) >= leastLuminance { return mixed[0] << 16 | mixed[1] << 8 | mixed[2] }
        }
        return colour
    }

    /// About that of WCAG, with squares in place of its curve.
    private static func luminance(_ parts: [UInt32]) -> Double {
        func linear(_ part: UInt32) -> Double { Double(part * part) / 65025 }
        return 0.2126 * linear(parts[0]) + 0.7152 * linear(parts[1]) + 0.0722 * linear(parts[2])
    }
}
