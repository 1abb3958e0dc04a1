extension Notation where Value == Int {
    /// Bytes, written `65536`, `256KiB`, `1MiB` or `2GiB`.
    static func size(_ allowed: ClosedRange<Int>) -> Self {
        let notation = UnitNotation.sizes
        let range = "\(notation.text(allowed.lowerBound)) … \(notation.text(allowed.upperBound))"
        return Notation(name: "size", range: range) { text throws(Misspelling) in
            guard let bytes = notation.amount(text) else {
                throw Misspelling(text, "is no size; write 65536, 256KiB, 1MiB or 2GiB (\(range))")
            }
            guard allowed.contains(bytes) else { throw Misspelling(text, "is out of range (\(range))") }
            return bytes
        } format: { bytes in
            notation.text(bytes)
        }
    }
}
