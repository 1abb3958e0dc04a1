internal import NATSClient

extension PublishReply {
    /// Decodes JetStream's reply to a publish (ADR-22 of NATS, nats-server 2.9).
    /// - Returns: nil for another message.
    init?(_ body: [UInt8]) {
        do throws(JetStreamError) {
            // nats-server 2.9 answers 0 where later ones answer the error.
            self = try PublishAcknowledgement(decoding: body).sequence > 0 ? .stored : .idTaken
        } catch .malformed {
            return nil
        } catch {
            self = error.isIDTaken ? .idTaken : .refused(error.description)
        }
    }

    /// Decodes a message on the reply subject.
    init?(_ message: borrowing NATSMessage) {
        if message.payloadSize == 0, message.header("Status") == "503" {
            self = .noResponders
        } else {
            self.init(message.copyPayload())
        }
    }
}
