internal import StrokeWire

/// The values of `Nats-Msg-Id`: the same for each sending of a message under one generation, and nobody else's.
///
/// The journal drops a message whose id it has had lately. That is right for one that may not have got there, and wrong
/// for one that it has and the room wants once more: so that one gets a new id.
struct MessageIDs: Sendable {
    private let prefix: String
    /// Tells the further ids of this run from those of an earlier one.
    private let run: String

    /// - Parameter run: another one for each run that goes on with the same session.
    init(room: String, author: String, session: String, run: String) {
        // A stream has many rooms. The session may have slashes; the numbers that follow have none.
        prefix = "\(room)/\(author)/\(session)"
        self.run = run
    }

    func id(_ receipt: Receipt) -> String {
        let id = "\(prefix)/\(receipt.key.number)/\(receipt.key.order)"
        return receipt.generation == 0 ? id : "\(id)-\(run)-\(receipt.generation)"
    }
}
