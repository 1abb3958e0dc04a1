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

    /// Whether a text reads from right to left: by its first letter.
    public static func isRightToLeft(_ text: String) -> Bool {
        for scalar in text.unicodeScalars {
            switch scalar.value {
            // Marks of direction.
            case 0x200e: return false
            case 0x200f, 0x061c: return true
            // Digits, marks and signs among the letters of the blocks that follow.
            case 0x0591...0x05bd, 0x0600...0x0607, 0x0609...0x060a, 0x060c, 0x060e...0x061a, 0x064b...0x066c, 0x0670,
                0x06d6...0x06e4, 0x06e7...0x06ed, 0x06f0...0x06f9:
                continue
            // Hebrew, Arabic, Syriac, Thaana, N'Ko and others of the blocks of scripts from right to left.
            case 0x0590...0x08ff, 0xfb1d...0xfdff, 0xfe70...0xfefe, 0x10800...0x10fff, 0x1e800...0x1efff: return true
            // Letters of ASCII and Latin 1.
            case 0x41...0x5a, 0x61...0x7a, 0xaa, 0xb5, 0xba, 0xc0...0xd6, 0xd8...0xf6: return false
            // Other signs of both, combining marks, punctuation, symbols, signs of East Asia, variation selectors.
            case 0...0xff, 0x02b9...0x02ba, 0x02c2...0x02cf, 0x0300...0x036f, 0x2000...0x2070, 0x2074...0x207e,
                0x2080...0x208e, 0x20a0...0x20f0, 0x2190...0x2bff, 0x2e00...0x3004, 0x3008...0x3020, 0xfe00...0xfe6f,
                0xfeff, 0xff01...0xff20, 0xff3b...0xff40, 0xff5b...0xff65, 0x1f000...0x1faff, 0xe0000...0xe01ef:
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
