@testable import NATSClient

extension NATSConnection {
    /// Ends the connection as a lost network does; a new one is made.
    func cut() {
        try? link.session().end("cut by the test")
    }
}
