extension Duration {
    /// Whole nanoseconds, as JetStream wants its times; what is too long for it counts as 292 years.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        guard overflow || carry else { return sum }
        return seconds < 0 ? .min : .max
    }
}
