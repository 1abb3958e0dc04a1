import NATSClient
import StrokeWire
import Whiteboard

extension JournalRecord.Content {
    /// What a message on a room's subject says; nil on a subject that the journal does not keep.
    /// - Throws: why a control record cannot be read.
    init?(_ message: borrowing NATSMessage, on subject: InboundSubject) throws(Rejection) {
        switch subject.kind {
        case .input(let author):
            self = .message(
                author: author, session: message.header(HeaderName.session), bytes: message.copyPayload())
        case .control:
            self = .control(try ControlRecord(decoding: message.copyPayload()))
        default:
            return nil
        }
    }
}
