import StrokeWire

extension Feedback {
    /// One line that a test can compare.
    var summary: String {
        switch self {
        case .applied(let number, let index): "applied \(number) as \(index)"
        case .missingShards(let number, let orders): "missing \(number) \(orders)"
        case .missingRange(let from, let to): "missing \(from)...\(to)"
        case .gaveUp(let from, let to): "gave up \(from)...\(to)"
        case .rejected(let number, let order, let rejection):
            [
                "rejected", number.map(String.init) ?? "-", order.map(String.init) ?? "-", rejection.code.rawValue,
                rejection.field,
            ]
            .compactMap(\.self).joined(separator: " ")
        }
    }
}
