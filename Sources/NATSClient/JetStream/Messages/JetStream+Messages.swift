internal import Foundation

extension JetStream {
    /// Publishes and waits until a stream has the message.
    ///
    /// After an error it may have been stored all the same. With a `Nats-Msg-Id` header it is safe to try again within
    /// the stream's duplicate window.
    /// - Throws: `.notCaptured`; `.noAnswer`; what the stream says, such as that it is full.
    public func publish(
        _ payload: [UInt8], to subject: String, headers: NATSHeaders = [:], timeout: Duration? = nil
    ) async throws(JetStreamError) -> PublishAcknowledgement {
        let reply: NATSReply
        do throws(NATSError) {
            reply = try await connection.request(
                payload, to: subject, headers: headers, timeout: timeout ?? self.timeout)
        } catch {
            throw error == .noResponders ? .notCaptured(subject: subject) : JetStreamError(error, asking: subject)
        }
        return PublishAcknowledgement(try APIBody.decode(PublishAcknowledgement.Wire.self, from: reply.payload))
    }

    /// A message by its place; nil when it is not there (any more).
    public func message(_ stream: String, _ sequence: UInt64) async throws(JetStreamError) -> StoredMessage? {
        try await message(stream, MessageRequest(seq: sequence))
    }

    /// The newest message of a subject.
    public func lastMessage(_ stream: String, subject: String) async throws(JetStreamError) -> StoredMessage? {
        try await message(stream, MessageRequest(lastBySubj: subject))
    }

    /// The first message of a subject from a place on.
    public func nextMessage(
        _ stream: String, subject: String, from sequence: UInt64
    ) async throws(JetStreamError) -> StoredMessage? {
        try await message(stream, MessageRequest(seq: max(1, sequence), nextBySubj: subject))
    }

    /// Asks the stream's leader, not any replica: what was acknowledged before is there.
    private func message(_ stream: String, _ request: MessageRequest) async throws(JetStreamError) -> StoredMessage? {
        let answer: MessageAnswer
        do throws(JetStreamError) {
            answer = try await ask("STREAM.MSG.GET.\(stream)", request, for: MessageAnswer.self)
        } catch {
            guard error.isMessageMissing else { throw error }
            return nil
        }
        let message = answer.message
        return StoredMessage(
            subject: message.subject, sequence: message.seq, time: try ServerTime.parse(message.time),
            payload: message.data.map { Array($0) } ?? [])
    }
}

private struct MessageRequest: Encodable {
    var seq: UInt64?
    var lastBySubj: String?
    var nextBySubj: String?
}

private struct MessageAnswer: Decodable {
    struct Message: Decodable {
        var subject: String
        var seq: UInt64
        var time: String
        /// Base 64.
        var data: Data?
    }
    var message: Message
}
