import LecternGateway
import NATSClient

extension Daemon {
    /// What ended the daemon, and which setting mends it where there is one that does.
    static func explanation(of error: any Error) -> String {
        switch error {
        case let error as ListenError:
            "\(error). Choose another address with --http (http.listen), or off"
        case EmbeddedServerError.portTaken(let port):
            """
            \(error), probably by a NATS server that runs already. Use that one with \
            --nats nats://127.0.0.1:\(port) (nats.url), or stop it
            """
        default:
            "\(error)"
        }
    }
}
