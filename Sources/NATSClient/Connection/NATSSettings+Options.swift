internal import CNATS

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

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
        let urls = url.split(separator: ",").map { strdup($0.filter { !$0.isWhitespace }) }
        defer { for url in urls { free(url) } }
        guard !urls.isEmpty else { throw NATSError(NATS_ADDRESS_MISSING) }
        var servers: [UnsafePointer<CChar>?] = urls.map { UnsafePointer($0) }
        try check(natsOptions_SetServers(options, &servers, Int32(clamping: servers.count)))
        if let credentialsFile {
            try checkCredentials()
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
        try check(natsOptions_SetMaxPendingMsgs(options, pendingLimits.messages))
        try check(natsOptions_SetSendAsap(options, sendAsap))
        // libnats' own reconnect keeps what is published meanwhile and gives up for good on some errors. The
        // supervisor makes a new connection instead, after every kind of loss: one way back, always the same.
        try check(natsOptions_SetAllowReconnect(options, false))
    }

    /// What libnats takes: it multiplies the messages by 1,024 for a limit in bytes of 32 bits, which must not overflow
    /// although the one given here replaces it.
    var pendingLimits: (messages: Int32, bytes: Int32) {
        (Int32(min(max(1, maxPendingMessages), 1 << 20)), Int32(clamping: max(1, maxPendingBytes)))
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
