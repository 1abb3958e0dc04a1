/// Finds where one point ends and the next begins.
enum PointBoundaries {
    /// Where each element of an array lies in `interior`, without the white space around it.
    /// - Parameter interior: what stands between the brackets, in well-formed JSON. In any other text, whatever
    ///   stands between commas outside of brackets and strings counts as an element.
    static func parts(of interior: ArraySlice<UInt8>) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var depth = 0
        var isInString = false
        var isEscaped = false
        var start: Int?
        var end = interior.startIndex
        for (offset, byte) in zip(interior.indices, interior) {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
            } else {
                switch byte {
                case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
                    continue
                case UInt8(ascii: ",") where depth == 0:
                    if let begin = start { parts.append(begin..<end) }
                    start = nil
                    continue
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
                case UInt8(ascii: "\""): isInString = true
                default: break
                }
            }
            start = start ?? offset
            end = offset + 1
        }
        if let begin = start { parts.append(begin..<end) }
        return parts
    }
}
