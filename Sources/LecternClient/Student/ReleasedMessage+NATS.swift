package import ClientCore
package import NATSClient
import StrokeWire

extension ReleasedMessage {
    /// Decodes a message in the handler of its subscription.
    package init(_ message: borrowing NATSMessage) throws(MalformedRelease) {
        try self.init(bytes: message.copyPayload()) { message.header($0) }
    }
}
