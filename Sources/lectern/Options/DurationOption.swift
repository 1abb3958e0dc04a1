import ArgumentParser

/// Reads a duration as it is written in options: `250ms`, `2s`, `1.5s`, `3m`, `1h`.
///
/// Not negative, and at most 1000 hours: no command runs longer, and nothing overflows.
@Sendable func duration(_ text: String) throws -> Duration {
    let units: [(suffix: String, seconds: Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600)]
    guard let unit = units.first(where: { text.hasSuffix($0.suffix) }),
        let count = Double(text.dropLast(unit.suffix.count)),
        0 <= count * unit.seconds, count * unit.seconds <= 3_600_000
    else {
        throw ValidationError("\(text.debugDescription) is no duration: write 250ms, 2s, 1.5s, 3m or 1h, at most 1000h")
    }
    return .seconds(count * unit.seconds)
}
