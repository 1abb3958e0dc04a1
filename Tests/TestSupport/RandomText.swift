/// Texts as strangers may write them.
extension SeededGenerator {
    /// A text of several scripts, marks without letters, characters that take no space or change the direction, words without end.
    ///
    /// - Parameters:
    ///   - bytes: of UTF-8, at most; a text has nearly as many.
    ///   - mayBeRefused: whether there may be characters that no text on a board has.
    package mutating func text(bytes: Int, mayBeRefused: Bool = false) -> String {
        var kinds = (0..<int(1...4)).map { _ in pick(RandomText.kinds) }
        if mayBeRefused, chance(1, in: 4) { kinds.append(RandomText.refused) }
        // Of one byte, which fits.
        var text = pick(["a", " ", "<", "7"])
        while true {
            let piece = chance(1, in: 16) ? anyCharacter() : pick(pick(kinds))
            guard text.utf8.count + piece.utf8.count <= bytes else { return text }
            text += piece
        }
    }

    /// Any that Unicode has a number for, but those that are refused.
    private mutating func anyCharacter() -> String {
        while true {
            guard let scalar = Unicode.Scalar(UInt32(int(0xa0...0x10_ffff))) else { continue }
            switch scalar.value {
            case 0x202a...0x202e, 0x2066...0x2069: continue
            default: return String(scalar)
            }
        }
    }
}

private enum RandomText {
    static let kinds = [
        // Words without end, and short ones.
        ["a", "W", "é", "ß", "Ж", "Ω", "ffi"], ["a ", "Wort ", "\n", "naïve ", "\n\n", "12,5 % "],
        // Chinese, Japanese and Korean.
        ["数", "学", "かな", "ハ", "한", "글", "𠮷", "、"],
        // Emoji of one character and of several.
        ["😀", "👨‍👩‍👧‍👦", "🏳️‍🌈", "👍🏿", "🇩🇪", "☃\u{fe0f}", "1\u{fe0f}\u{20e3}", "🧑\u{200d}"],
        // Marks, on letters and alone.
        ["\u{301}", "\u{489}", "e\u{302}\u{323}", "क्ष", "ก็", "क्", "\u{1ab0}"],
        // From right to left.
        ["שלום", "مرحبا", "ﷺ", "123", "\u{200e}", "\u{200f}", "\u{61c}", "(a]", " "],
        // Without a width.
        ["\u{200b}", "\u{200c}", "\u{200d}", "\u{2060}", "\u{feff}", "\u{ad}", "\u{34f}", "\u{e0061}"],
        // What fonts, lines and XML have no place for.
        ["\u{10fffd}", "\u{e000}", "\u{ffff}", "\u{fffe}", "\u{2028}", "\u{2029}", "𓀀", "\u{fffd}"],
        // Markup.
        ["<b>", "&amp;", "]]>", "\"", "'", "\\", "<!--", "&#0;"],
    ]

    static let refused = ["\0", "\t", "\r", "\u{1b}", "\u{7f}", "\u{85}", "\u{202e}", "\u{2066}"]
}
