extension Notation where Value == Duration {
    /// A time, written `250ms`, `30s`, `10m`, `2h` or `30d`.
    static func duration(_ allowed: ClosedRange<Duration>) -> Self {
        let range = "\(allowed.lowerBound.spelled) … \(allowed.upperBound.spelled)"
        return Notation(name: "duration", range: range) { text throws(Misspelling) in
            guard let milliseconds = UnitNotation.durations.amount(text) else {
                throw Misspelling(text, "is no duration; write 250ms, 30s, 10m, 2h or 30d (\(range))")
            }
            let duration = Duration.milliseconds(milliseconds)
            guard allowed.contains(duration) else { throw Misspelling(text, "is out of range (\(range))") }
            return duration
        } format: { duration in
            duration.spelled
        }
    }
}

extension Duration {
    /// As a setting is written; what is less than a millisecond is cut off.
    fileprivate var spelled: String {
        let (seconds, attoseconds) = components
        return UnitNotation.durations.text(Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
    }
}
