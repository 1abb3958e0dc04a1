import LecternGateway
import LecternServer
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
        case EmbeddedServerError.programMissing:
            """
            \(error). Install nats-server, say where it is with --set nats.server=FILE, or use a server that runs with \
            --nats (nats.url)
            """
        case let error as SettingsConflict:
            """
            \(error). Of the daemons of one root all need the same subjects.partitions and journal.mode, and with none \
            there can be just one; set these alike, stop the other daemon, or choose another subjects.root
            """
        default:
            "\(error)"
        }
    }
}
