extension Notation where Value == Int? {
    /// Bytes as ``Notation/size(_:)`` has them; `unlimited` for no limit.
    static func sizeLimit(_ allowed: ClosedRange<Int>) -> Self {
        let size = Notation<Int>.size(allowed)
        return Notation(name: size.name, range: "\(size.range), or unlimited") { text throws(Misspelling) in
            if text == "unlimited" { return nil }
            do throws(Misspelling) {
                return try size.parse(text)
            } catch {
                throw Misspelling(error.complaint + ", or unlimited")
            }
        } format: { bytes in
            bytes.map(size.format) ?? "unlimited"
        }
    }
}

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
