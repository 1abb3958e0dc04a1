internal import StrokeWire

extension OutboxRecord {
    /// The line's content: `m NUMBER ORDER s|c MESSAGE`, `a NUMBER ORDER`, `s NUMBER applied INDEX`,
    /// `s NUMBER rejected CODE`, `s NUMBER gave-up`.
    var content: [UInt8] {
        switch self {
        case .message(let number, let order, let isStroke, let bytes):
            Array("m \(number) \(order) \(isStroke ? "s" : "c") ".utf8) + bytes
        case .stored(let number, let order): Array("a \(number) \(order)".utf8)
        case .settled(let number, .applied(let index)): Array("s \(number) applied \(index)".utf8)
        case .settled(let number, .rejected(let code)): Array("s \(number) rejected \(code.rawValue)".utf8)
        case .settled(let number, .gaveUp): Array("s \(number) gave-up".utf8)
        }
    }

    /// - Returns: nil for what is no record.
    init?(_ content: [UInt8]) {
        // A message may have blanks, and stays as it is.
        let fields = content.split(separator: UInt8(ascii: " "), maxSplits: 4, omittingEmptySubsequences: false)
        let words = fields.prefix(4).map { String(decoding: $0, as: UTF8.self) }
        guard words.count >= 3, let number = Int64(words[1]) else { return nil }
        switch (words[0], words[2], words.count > 3 ? words[3] : nil) {
        case ("m", let order, let kind?) where fields.count == 5 && (kind == "s" || kind == "c"):
            guard let order = Int(order) else { return nil }
            self = .message(number: number, order: order, isStroke: kind == "s", bytes: Array(fields[4]))
        case ("a", let order, nil):
            guard let order = Int(order) else { return nil }
            self = .stored(number: number, order: order)
        case ("s", "applied", let index?) where fields.count == 4:
            guard let index = UInt64(index) else { return nil }
            self = .settled(number: number, .applied(index: index))
        case ("s", "rejected", let code?) where fields.count == 4:
            guard let code = RejectionCode(rawValue: code) else { return nil }
            self = .settled(number: number, .rejected(code))
        case ("s", "gave-up", nil):
            self = .settled(number: number, .gaveUp)
        default:
            return nil
        }
    }
}
