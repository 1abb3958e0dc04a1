internal import CNATS

extension NATSSettings {
    /// Builds libnats' options and lends them; the callbacks that they carry get `session` as their context.
    func withOptions<Result>(
        session: UnsafeMutableRawPointer?, _ body: (OpaquePointer) throws(NATSError) -> Result
    ) throws(NATSError) -> Result {
        var created: OpaquePointer?
        try check(natsOptions_Create(&created))
        guard let options = created else { throw NATSError(NATS_NO_MEMORY) }
        defer { natsOptions_Destroy(options) }
        try setServers(options)
        try setLimits(options)
        try setDelivery(options)
        try check(natsOptions_SetClosedCB(options, connectionClosed, session))
        try check(natsOptions_SetErrorHandler(options, connectionReported, session))
        return try body(options)
    }

    private func setServers(_ options: OpaquePointer) throws(NATSError) {
        try check(natsOptions_SetName(options, name))
        let servers = url.split(separator: ",").map { $0.filter { !$0.isWhitespace } }
        var status = NATS_OK
        withCStrings(servers) { status = natsOptions_SetServers(options, $0, Int32(servers.count)) }
        try check(status)
        if let credentialsFile {
            try check(natsOptions_SetUserCredentialsFromFiles(options, credentialsFile, nil))
        }
        if let token {
            try check(natsOptions_SetToken(options, token))
        }
    }

    private func setLimits(_ options: OpaquePointer) throws(NATSError) {
        try check(natsOptions_SetTimeout(options, connectTimeout.wholeMilliseconds))
        try check(natsOptions_SetPingInterval(options, pingInterval.wholeMilliseconds))
        try check(natsOptions_SetMaxPingsOut(options, Int32(clamping: unansweredPings)))
        try check(natsOptions_SetWriteDeadline(options, writeDeadline.wholeMilliseconds))
        try check(natsOptions_SetMaxPendingMsgs(options, Int32(clamping: maxPendingMessages)))
        try check(natsOptions_SetSendAsap(options, sendAsap))
        // libnats' own reconnect keeps what is published meanwhile and gives up for good on some errors. The
        // supervisor makes a new connection instead, after every kind of loss: one way back, always the same.
        try check(natsOptions_SetAllowReconnect(options, false))
    }

    private func setDelivery(_ options: OpaquePointer) throws(NATSError) {
        // One thread for all subscriptions: that is what keeps messages in order across them.
        try check(nats_SetMessageDeliveryPoolSize(1))
        try check(natsOptions_UseGlobalMessageDelivery(options, true))
    }

    private func check(_ status: natsStatus) throws(NATSError) {
        guard status == NATS_OK else { throw NATSError(status) }
    }
}

/// Lends an array of C strings; the pointers die with the call.
private func withCStrings(
    _ strings: [String], _ body: (UnsafeMutablePointer<UnsafePointer<CChar>?>) -> Void
) {
    let copies = strings.map { $0.utf8CString }
    var pointers: [UnsafePointer<CChar>?] = []
    func lend(_ index: Int) {
        guard index < copies.count else {
            pointers.withUnsafeMutableBufferPointer { buffer in
                if let base = buffer.baseAddress { body(base) }
            }
            return
        }
        copies[index].withUnsafeBufferPointer { buffer in
            pointers.append(buffer.baseAddress)
            lend(index + 1)
        }
    }
    lend(0)
}
