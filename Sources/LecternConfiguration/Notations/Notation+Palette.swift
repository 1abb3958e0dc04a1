internal import StrokeWire

extension Notation where Value == Palette {
    /// Colours, each `#rrggbb`.
    static var palette: Self {
        Notation(name: "list of colours", range: "1 … 256 of #rrggbb", isList: true) { text throws(Misspelling) in
            let texts =
                text.isEmpty ? [] : text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            if let palette = Palette(texts) { return palette }
            guard let stranger = texts.first(where: { Palette([$0]) == nil }) else {
                throw Misspelling("a palette has 1 … 256 colours, not \(texts.count)")
            }
            // In YAML an unquoted # begins a comment, which is the likeliest reason for an empty colour.
            throw Misspelling(stranger, "is to be a colour, written \"#rrggbb\", in quotes in the file")
        } format: { palette in
            palette.texts.joined(separator: ",")
        }
    }
}
