extension Duration {
    /// Whole milliseconds for libnats, which takes nothing below 1; what is too long for it counts as a year.
    var wholeMilliseconds: Int64 {
        let year: Int64 = 365 * 86_400
        let (seconds, attoseconds) = components
        guard seconds < year else { return year * 1000 }
        guard seconds >= 0 else { return 1 }
        return max(1, seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}
