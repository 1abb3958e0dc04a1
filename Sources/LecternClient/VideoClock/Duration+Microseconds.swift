extension Duration {
    /// Whole microseconds, rounded toward zero; what does not fit becomes the nearest that does.
    var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, carry) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000)
        guard overflow || carry else { return sum }
        return seconds < 0 ? .min : .max
    }
}
