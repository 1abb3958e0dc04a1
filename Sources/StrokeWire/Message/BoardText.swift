/// What a text of a board may say, and how it lies in its box.
///
/// The box is the same for all, fonts are not. So every renderer lays a text out by the same rules: lines part at `\n` alone,
/// as far apart as a line is high, in a sans-serif font; then all of it is scaled evenly until it fits the box, at the upper left
/// corner, or at the upper right one where it reads from right to left.
public enum BoardText {
    /// Bytes of UTF-8, at most.
    public static let byteBound = 2000
    /// Heights of a line in board units; `l` of the message, which a text needs.
    public static let lineHeights = 4.0...512.0

    /// The size of the font, in heights of a line.
    public static let fontSize = 0.8
    /// From the top of a line to the base line, in heights of a line.
    public static let baseline = 0.78

    /// Whether a message may have it: 1 … 2,000 bytes, no control characters but `\n`, and none that change the direction of
    /// what follows (U+202A … U+202E, U+2066 … U+2069).
    public static func isValid(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= byteBound && text.unicodeScalars.allSatisfy(isAllowed)
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0a: true
        case 0..<0x20, 0x7f..<0xa0, 0x202a...0x202e, 0x2066...0x2069: false
        default: true
        }
    }

    /// The lines, with a space for each character that some renderers end a line at or do not know.
    public static func lines(of text: String) -> [String] {
        text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            var shown = String.UnicodeScalarView()
            for scalar in line { shown.append(isShown(scalar) ? scalar : " ") }
            return String(shown)
        }
    }

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Separators of lines and paragraphs, and what XML has no place for.
        case 0x2028, 0x2029, 0xfffe, 0xffff: false
        default: true
        }
    }

    /// Whether a text reads from right to left: by its first letter, or what else Unicode gives a strong direction.
    public static func isRightToLeft(_ text: String) -> Bool {
        for scalar in text.unicodeScalars {
            switch scalar.value {
            // Marks of direction.
            case 0x200e: return false
            case 0x200f, 0x061c: return true
            // Digits, marks and signs among the letters of the blocks that follow.
            case 0x0591...0x05bd, 0x05bf, 0x05c1...0x05c2, 0x05c4...0x05c5, 0x05c7, 0x0600...0x0607, 0x0609...0x060a,
                0x060c, 0x060e...0x061a, 0x064b...0x066c, 0x0670, 0x06d6...0x06e4, 0x06e7...0x06ed, 0x06f0...0x06f9,
                0x0711, 0x0730...0x074a, 0x07a6...0x07b0, 0x07eb...0x07f3, 0x07f6...0x07f9, 0x07fd, 0x0816...0x0819,
                0x081b...0x0823, 0x0825...0x0827, 0x0829...0x082d, 0x0859...0x085b, 0x0890...0x089f, 0x08ca...0x08ff,
                0xfb1e, 0xfb29, 0xfd3e...0xfd4f, 0xfdcf, 0xfdfd...0xfdff, 0x1091f, 0x10a01...0x10a0f, 0x10a38...0x10a3f,
                0x10ae5...0x10ae6, 0x10b39...0x10b3f, 0x10d24...0x10d39, 0x10e60...0x10e7e, 0x10eab...0x10eac,
                0x10f46...0x10f50, 0x10f82...0x10f85, 0x1e8d0...0x1e8d6, 0x1e944...0x1e94a, 0x1eef0...0x1eef1:
                continue
            // Hebrew, Arabic, Syriac, Thaana, N'Ko and others of the blocks of scripts from right to left.
            case 0x0590...0x08ff, 0xfb1d...0xfdff, 0xfe70...0xfefe, 0x10800...0x10fff, 0x1e800...0x1efff: return true
            // Letters of ASCII and Latin 1, and what is one among symbols: APL, ⒜ and ⓐ, Braille, 🄐 and 🅐, flags.
            case 0x41...0x5a, 0x61...0x7a, 0xaa, 0xb5, 0xba, 0xc0...0xd6, 0xd8...0xf6, 0xf8...0xff,
                0x2336...0x237a, 0x2395, 0x249c...0x24e9, 0x26ac, 0x2800...0x28ff, 0x1f110...0x1f12e, 0x1f130...0x1f169,
                0x1f170...0x1f1ac, 0x1f1e6...0x1f251:
                return false
            // Other signs of both, accents, combining marks, punctuation, signs of currencies, letterlike symbols, fractions.
            case 0...0xff, 0x02b9...0x02ba, 0x02c2...0x02cf, 0x02d2...0x02df, 0x02e5...0x02ed, 0x02ef...0x036f,
                0x0374...0x0375, 0x037e, 0x0384...0x0385, 0x0387, 0x03f6, 0x0483...0x0489, 0x058a...0x058f, 0x0e3f,
                0x17db,
                0x2000...0x2070, 0x2074...0x207e, 0x2080...0x208e, 0x20a0...0x2101, 0x2103...0x2106, 0x2108...0x2109,
                0x2114, 0x2116...0x2118, 0x211e...0x2123, 0x2125, 0x2127, 0x2129, 0x212e, 0x213a...0x213b,
                0x2140...0x2144, 0x214a...0x214d, 0x2150...0x215f, 0x2189...0x2bff,
                // Signs of East Asia, variation selectors, digits of mathematics, pictures, tags.
                0x2e00...0x3004, 0x3008...0x3020, 0x302a...0x302d, 0x3030, 0x3036...0x3037, 0x303d...0x303f,
                0x3099...0x309c, 0x30a0, 0x30fb, 0x31c0...0x31e3, 0xfe00...0xfe6f, 0xfeff...0xff20, 0xff3b...0xff40,
                0xff5b...0xff65, 0xffe0...0xfffd, 0x1d7ce...0x1d7ff, 0x1f000...0x1fbff, 0xe0000...0xe01ef:
                continue
            default: return false
            }
        }
        return false
    }
}

extension Rejection {
    static var invalidText: Rejection {
        .outOfRange(
            "x",
            "1 to \(BoardText.byteBound) bytes without control characters but line feeds, or overrides of direction")
    }
}
