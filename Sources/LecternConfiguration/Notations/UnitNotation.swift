/// Whole numbers with a unit behind them, such as `256KiB` or `10m`.
struct UnitNotation: Sendable {
    struct Unit: Sendable {
        let suffix: String
        /// In units of the smallest.
        let factor: Int
    }

    /// From the smallest to the largest, each a multiple of the one before.
    let units: [Unit]
    /// How zero is written.
    let zero: String

    /// Bytes; a number without a unit is bytes too.
    static let sizes = UnitNotation(
        units: [
            Unit(suffix: "", factor: 1), Unit(suffix: "KiB", factor: 1 << 10), Unit(suffix: "MiB", factor: 1 << 20),
            Unit(suffix: "GiB", factor: 1 << 30),
        ], zero: "0")

    /// Milliseconds.
    static let durations = UnitNotation(
        units: [
            Unit(suffix: "ms", factor: 1), Unit(suffix: "s", factor: 1000), Unit(suffix: "m", factor: 60_000),
            Unit(suffix: "h", factor: 3_600_000), Unit(suffix: "d", factor: 86_400_000),
        ], zero: "0s")

    /// - Returns: the amount in the smallest unit; nil for a text that is no digits with one of the units, or for an
    ///   amount beyond `Int.max`.
    func amount(_ text: String) -> Int? {
        let digits = text.prefix { $0.utf8.allSatisfy(\.isDigit) }
        let suffix = text[digits.endIndex...]
        guard let number = Int(digits), let unit = units.first(where: { $0.suffix == suffix }) else { return nil }
        let (amount, overflow) = number.multipliedReportingOverflow(by: unit.factor)
        return overflow ? nil : amount
    }

    /// The amount in the largest unit that leaves no fraction.
    func text(_ amount: Int) -> String {
        guard amount != 0, let unit = units.last(where: { amount % $0.factor == 0 }) else { return zero }
        return "\(amount / unit.factor)\(unit.suffix)"
    }
}
