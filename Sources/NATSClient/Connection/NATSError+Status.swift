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

    /// The error for an attempt to connect that has just failed in this thread, for which libnats has more words.
    init(connecting status: natsStatus) {
        self.init(status)
        guard case .status(let code, let text) = self, let words = nats_GetLastError(nil) else { return }
        // `(conn.c:4212): no nkey user seed found in 'class.creds'`
        let detail = String(cString: words).split(separator: "): ", maxSplits: 1).last.map(String.init) ?? ""
        guard !detail.isEmpty, detail != text else { return }
        self = .status(code: code, text: status == NATS_ERR ? detail : "\(text): \(detail)")
    }
}
