/// A value as it stands in a JSON text. Nothing of it is decoded.
enum JSONToken {
    case null
    case bool(Bool)
    case number(JSONNumber)
    /// Offsets of what is between the quotes.
    case string(Range<Int>)
    /// Offsets from the opening to after the closing bracket.
    case array(Range<Int>)
    /// Offsets from the opening to after the closing brace.
    case object(Range<Int>)
}
