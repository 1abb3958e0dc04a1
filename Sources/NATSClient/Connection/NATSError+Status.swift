internal import CNATS

extension NATSError {
    /// The error for a status that is not `NATS_OK`.
    init(_ status: natsStatus) {
        switch status {
        case NATS_CONNECTION_CLOSED, NATS_CONNECTION_DISCONNECTED, NATS_STALE_CONNECTION, NATS_IO_ERROR:
            self = .disconnected
        case NATS_DRAINING:
            self = .closed
        case NATS_TIMEOUT:
            self = .timeout
        case NATS_NO_RESPONDERS:
            self = .noResponders
        default:
            let text = natsStatus_GetText(status).map { String(cString: $0) } ?? "unknown"
            self = .status(code: Int(status.rawValue), text: text)
        }
    }
}
