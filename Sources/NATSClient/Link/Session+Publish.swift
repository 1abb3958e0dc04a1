internal import CNATS

extension Session {
    /// Hands a message to libnats, which copies it into its write buffer. The subjects are known to be valid.
    func publish(
        _ payload: UnsafeRawBufferPointer, to subject: String, reply: String?, headers: NATSHeaders
    ) throws(NATSError) {
        guard let size = Int32(exactly: payload.count) else {
            throw .payloadTooLarge(size: payload.count, limit: maxPayload)
        }
        let body = payload.baseAddress?.assumingMemoryBound(to: CChar.self)
        let status: natsStatus
        if !headers.isEmpty {
            status = try publish(body, size, to: subject, reply: reply, with: headers)
        } else if let reply {
            status = natsConnection_PublishRequest(raw, subject, reply, body, size)
        } else {
            status = natsConnection_Publish(raw, subject, body, size)
        }
        switch status {
        case NATS_OK where !lastWriteFailed: return
        case NATS_MAX_PAYLOAD: throw .payloadTooLarge(size: payload.count, limit: maxPayload)
        case NATS_OK, NATS_TIMEOUT, NATS_IO_ERROR:
            // The stream may be cut in the middle of a message: nothing more may be written to it.
            end("a write failed")
            throw .disconnected
        default: throw NATSError(status)
        }
    }

    private func publish(
        _ body: UnsafePointer<CChar>?, _ size: Int32, to subject: String, reply: String?, with headers: NATSHeaders
    ) throws(NATSError) -> natsStatus {
        var created: OpaquePointer?
        let status = natsMsg_Create(&created, subject, reply, body, size)
        guard status == NATS_OK, let message = created else { return status }
        defer { natsMsg_Destroy(message) }
        try headers.write(to: message)
        return natsConnection_PublishMsg(raw, message)
    }

    /// Whether libnats' own flusher, which has nobody to tell, failed to write.
    private var lastWriteFailed: Bool {
        var text: UnsafePointer<CChar>?
        let status = natsConnection_GetLastError(raw, &text)
        return status == NATS_TIMEOUT || status == NATS_IO_ERROR
    }
}
