/// Which sending of a message an acknowledgement is about: the last token of the subject that it comes to.
public struct Receipt: Hashable, Sendable {
    let key: MessageKey
    /// 0 for the first message id that the message was sent under, then one more for each new id.
    let generation: Int
}

extension Receipt: LosslessStringConvertible {
    /// `number-order-generation`.
    public var description: String { "\(key.number)-\(key.order)-\(generation)" }

    /// - Returns: nil for a text that is written otherwise.
    public init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let number = Int64(parts[0]), let order = Int(parts[1]), let generation = Int(parts[2])
        else { return nil }
        self.init(key: MessageKey(number: number, order: order), generation: generation)
    }
}
