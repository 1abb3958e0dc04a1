internal import StrokeWire

/// Makes the values of `Nats-Msg-Id`, one for each message and generation.
///
/// The journal drops a message whose id it has stored lately. That is right for a message whose acknowledgement may be
/// lost, and wrong for a stored message that the room requests again, so the latter gets a new generation.
package struct MessageIDs: Sendable {
    private let prefix: String
    /// Distinguishes the new generations of this run from those of earlier ones.
    private let run: String

    /// - Parameter run: a new one for each run of the same session.
    package init(room: String, author: String, session: String, run: String) {
        // A stream has many rooms. A session may contain slashes, the numbers after it do not.
        prefix = "\(room)/\(author)/\(session)"
        self.run = run
    }

    package func id(_ receipt: Receipt) -> String {
        let id = "\(prefix)/\(receipt.key.number)/\(receipt.key.order)"
        return receipt.generation == 0 ? id : "\(id)-\(run)-\(receipt.generation)"
    }
}

/// Identifies the sending of a message that a publish reply is for: the last token of the reply subject.
public struct Receipt: Hashable, Sendable {
    let key: MessageKey
    /// 0 for the message's first id, then one more for each new id.
    let generation: Int
}

extension Receipt: LosslessStringConvertible {
    /// `number-order-generation`.
    public var description: String { "\(key.number)-\(key.order)-\(generation)" }

    /// - Returns: nil for another format.
    public init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let number = Int64(parts[0]), let order = Int(parts[1]), let generation = Int(parts[2])
        else { return nil }
        self.init(key: MessageKey(number: number, order: order), generation: generation)
    }
}

extension Outbox {
    /// Notes that a message is sent now; an acknowledged one gets a new id.
    mutating func send(_ key: MessageKey, at now: Duration) {
        change(key) { message in
            if message.isAcknowledged {
                message.isAcknowledged = false
                message.generation += 1
            }
            message.sentAt = now
        }
    }

    /// Notes an acknowledgement; one for an earlier id is ignored.
    /// - Returns: whether the message is newly stored.
    mutating func acknowledge(_ receipt: Receipt) -> Bool {
        var isNews = false
        change(receipt.key) { message in
            guard message.generation == receipt.generation, !message.isAcknowledged else { return }
            message.isAcknowledged = true
            isNews = !message.isStored
            message.isStored = true
        }
        return isNews
    }

    /// Gives a message another id, unless it is acknowledged or has one already.
    mutating func changeID(_ receipt: Receipt) {
        change(receipt.key) { message in
            if message.generation == receipt.generation, !message.isAcknowledged { message.generation += 1 }
        }
    }

    /// The room has answered an operation. In which incarnation it was applied, feedback does not say.
    mutating func settle(_ number: Int64, _ outcome: OutboxRecord.Outcome) -> Operation? {
        if case .applied = outcome { applied(key(number), in: nil) } else { remove(key(number)) }
    }

    /// A checkpoint holds the operations through this one, in an incarnation of the room.
    /// - Returns: what waits again.
    @discardableResult
    mutating func cover(_ number: Int64, in incarnation: String) -> [OperationKey] {
        cover(key(number))
        return follow(incarnation)
    }
}

/// The reply to a published message, from a journal's stream or the NATS server.
///
/// A service without a journal sends no reply, only feedback.
public enum PublishReply: Sendable, Equatable {
    /// The stream has stored the message, now or before.
    case stored
    /// The stream refuses the message, with JetStream's reason.
    case refused(String)
    /// The stream knows the id of the message, but not the message: it is being stored, or was lost when a leader was. The
    /// stream may say so for as long as it remembers ids.
    case idTaken
    /// No service or stream subscribes to the subject.
    case noResponders
}
