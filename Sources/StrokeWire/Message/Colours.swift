/// Meaning of a message's colour.
public enum ColourSpace: Sendable, Equatable {
    /// An index into a palette of `count` colours.
    case palette(count: Int)
    /// `0xRRGGBB`.
    case rgb

    /// Whether `colour` names a colour of this space.
    public func contains(_ colour: Int64) -> Bool {
        switch self {
        case .palette(let count): 0 <= colour && colour < Int64(count)
        case .rgb: 0 <= colour && colour <= 0xff_ffff
        }
    }
}

/// The colours that messages refer to by index.
public struct Palette: Sendable, Hashable {
    /// Each `0xRRGGBB`; 1 … 256 of them.
    public let colours: [UInt32]

    /// Black, red, blue, green, orange, violet, brown, grey; yellow, pink, sky, turquoise, lime, wine, navy, white.
    public static let standard = Palette(unchecked: [
        0x000000, 0xd92020, 0x1f4fd8, 0x1a9850, 0xf08c00, 0x7b2cbf, 0x6b4423, 0x7f7f7f,
        0xf2c200, 0xe0559c, 0x4aa8e0, 0x0f8b8d, 0x7cb518, 0x8b1e3f, 0x1b2a5c, 0xffffff,
    ])

    /// - Parameter texts: each `#rrggbb`, letters of either case.
    /// - Returns: nil if one of them has another form, or for fewer than 1 or more than 256.
    public init?(_ texts: [String]) {
        let colours = texts.compactMap(Self.colour)
        guard colours.count == texts.count else { return nil }
        self.init(colours: colours)
    }

    /// - Parameter colours: each `0xRRGGBB`; nil for fewer than 1 or more than 256.
    package init?(colours: [UInt32]) {
        guard (1...256).contains(colours.count) else { return nil }
        self.colours = colours.map { $0 & 0xff_ffff }
    }

    private init(unchecked colours: [UInt32]) { self.colours = colours }

    /// - Returns: `0xRRGGBB`, nil for an index beyond the palette.
    public subscript(index: UInt32) -> UInt32? { index < colours.count ? colours[Int(index)] : nil }

    /// Each `#rrggbb`, in lower case.
    public var texts: [String] { colours.map { "#" + String(hexadecimal: $0, digits: 6) } }

    private static func colour(_ text: String) -> UInt32? {
        let digits = text.utf8.dropFirst()
        guard text.utf8.first == UInt8(ascii: "#"), digits.count == 6, digits.allSatisfy({ $0.hexadecimalValue != nil })
        else {
            return nil
        }
        return UInt32(Substring(digits), radix: 16)
    }
}
