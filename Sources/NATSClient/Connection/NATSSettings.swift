internal import CNATS

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The settings of a connection to NATS.
///
/// The defaults suit a server on the same host or network: a dead server is noticed within about six seconds, and
/// reconnecting is tried every 50 to 250 milliseconds without end.
public struct NATSSettings: Sendable {
    /// One server URL or several, separated by commas: `nats://user:password@host:port` or `tls://…`, all with the same
    /// scheme. See ``ServerURL`` for what a user's name and password may contain.
    public var url: String
    /// User for URLs without one, not percent-encoded.
    public var user: String?
    /// Password for URLs without one, not percent-encoded.
    public var password: String?
    /// TLS is used with `tls://`, and with `nats://` where a file is named here.
    public var tls = TLS()
    /// First tokens of the reply subjects of requests; 22 random characters and the request's number follow. With
    /// permissions, each user has a prefix of its own.
    public var inboxPrefix = "_INBOX"
    /// The name that the server shows for this connection.
    public var name: String
    /// A file of a JWT and its nkey seed, as `nsc` writes it.
    public var credentialsFile: String?
    /// An authentication token.
    public var token: String?
    /// The time limit of one attempt to connect.
    public var connectTimeout: Duration = .seconds(2)
    /// The time between a PONG and the next PING.
    public var pingInterval: Duration = .seconds(2)
    /// A connection is lost when a PING is not answered within this many intervals.
    public var unansweredPings = 2
    /// The wait before the next attempt to connect is drawn at random from this range, so that the clients of a server
    /// do not reconnect all at once.
    public var reconnectWait: ClosedRange<Duration> = .milliseconds(50) ... .milliseconds(250)
    /// A connection is lost when the server accepts no data for this long while some waits to be sent.
    public var writeDeadline: Duration = .seconds(5)
    /// Bytes that may wait to be sent; publishing fails with `.backlogged` above that.
    public var maxBufferedBytes = 32 << 20
    /// Messages that a subscription holds for its handler, 1 to 1,048,576; further ones are dropped and counted.
    public var maxPendingMessages = 65_536
    /// Bytes of bodies and headers that a subscription holds for its handler; further messages are dropped and counted.
    public var maxPendingBytes = 64 << 20

    /// `_INBOX.<user>` for a ``userName``, else `_INBOX`.
    public var usualInboxPrefix: String { userName.map { "_INBOX.\($0)" } ?? "_INBOX" }

    /// The user's name, if it has a password and the name is a subject token: a user without a password may be a token,
    /// which is a secret.
    public var userName: String? {
        let first = (try? ServerURL.list(url))?.first
        let account = first?.user == nil ? (user, password) : (first?.user, first?.password)
        guard let name = account.0, account.1 != nil, !name.contains("."), Subject.isLiteral(name),
            name.utf8.count <= 64
        else { return nil }
        return name
    }

    /// Certificates for TLS. The server's certificate must always be valid for the host in the URL.
    public struct TLS: Sendable, Equatable {
        /// PEM file of certificate authorities to trust beside the system's.
        public var authorityFile: String?
        /// PEM file of the client's certificate chain.
        public var certificateFile: String?
        /// PEM file of the client certificate's private key.
        public var keyFile: String?

        /// No files.
        public init() {}

        /// Each with what stands in it.
        var files: [(path: String, mark: String)] {
            [(authorityFile, "CERTIFICATE-----"), (certificateFile, "CERTIFICATE-----"), (keyFile, "PRIVATE KEY-----")]
                .compactMap { file, mark in file.map { ($0, mark) } }
        }
    }

    /// Settings with the defaults above.
    public init(url: String = "nats://127.0.0.1:4222", name: String = "lectern") {
        self.url = url
        self.name = name
    }

    /// Checks that the files of credentials and certificates can be read, and look like such. libnats would not say which
    /// file it cannot read, nor why, and would try for ever with one that is something else.
    ///
    /// - Throws: `.unreadableFile`.
    private func checkFiles() throws(NATSError) {
        let credentials = credentialsFile.map { [(path: $0, mark: "-----BEGIN")] } ?? []
        for (file, mark) in credentials + tls.files {
            if let why = Self.readError(file, mark: mark) { throw .unreadableFile(path: file, why: why) }
        }
    }

    /// Checks that the settings are valid and their files can be read; connecting would fail for ever otherwise.
    ///
    /// - Throws: `.invalidSettings`, and what `checkFiles` throws.
    public func check() throws(NATSError) {
        _ = try ServerURL.list(url)
        guard Subject.isLiteral(inboxPrefix), inboxPrefix.utf8.count <= 256 else {
            throw .invalidSettings("an inbox prefix is made of subject tokens without wildcards, 256 bytes at most")
        }
        try checkFiles()
    }

    /// - Parameter mark: a text that such a file has in its first 64 KiB.
    private static func readError(_ file: String, mark: String) -> String? {
        guard let stream = fopen(file, "r") else { return String(cString: strerror(errno)) }
        defer { fclose(stream) }
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = fread(&bytes, 1, bytes.count, stream)
        guard count > 0 || ferror(stream) == 0 else { return String(cString: strerror(errno)) }
        return String(decoding: bytes[..<count], as: UTF8.self).contains(mark) ? nil : "there is no \(mark) in it"
    }

    /// Makes libnats' options for the length of the call. Their callbacks get `context`.
    func withOptions<Result>(
        context: UnsafeMutableRawPointer?, loop: SocketLoop, _ body: (OpaquePointer) throws(NATSError) -> Result
    ) throws(NATSError) -> Result {
        var created: OpaquePointer?
        try check(natsOptions_Create(&created))
        guard let options = created else { throw NATSError(NATS_NO_MEMORY) }
        defer { natsOptions_Destroy(options) }
        try setServers(options)
        try setLimits(options)
        try setDelivery(options)
        try check(loop.install(in: options))
        try check(natsOptions_SetClosedCB(options, connectionClosed, context))
        try check(natsOptions_SetErrorHandler(options, connectionReported, context))
        return try body(options)
    }

    private func setServers(_ options: OpaquePointer) throws(NATSError) {
        try check(natsOptions_SetName(options, name))
        let servers = try ServerURL.list(url)
        let urls = servers.map { strdup($0.raw) }
        defer { for url in urls { free(url) } }
        var pointers: [UnsafePointer<CChar>?] = urls.map { UnsafePointer($0) }
        try check(natsOptions_SetServers(options, &pointers, Int32(clamping: pointers.count)))
        if try isSecure { try setTLS(options) }
        if let user {
            try check(natsOptions_SetUserInfo(options, user.escapedForJSON, password?.escapedForJSON ?? ""))
        }
        if let credentialsFile {
            try checkFiles()
            try check(natsOptions_SetUserCredentialsFromFiles(options, credentialsFile, nil))
        }
        if let token {
            try check(natsOptions_SetToken(options, token.escapedForJSON))
        }
    }

    /// The servers' URLs without users and passwords, for display.
    public var place: String {
        guard let urls = try? ServerURL.list(url) else { return "NATS" }
        return urls.map { ($0.isSecure ? "tls://" : "nats://") + $0.address }.joined(separator: ",")
    }

    /// Whether connections use TLS.
    var isSecure: Bool {
        get throws(NATSError) { try ServerURL.list(url).contains(where: \.isSecure) || !tls.files.isEmpty }
    }

    /// libnats ignores the scheme: with `tls://` alone it connects in plain text. `SetSecure` makes it refuse a server
    /// without TLS, and check the chain and the name of the server's certificate.
    private func setTLS(_ options: OpaquePointer) throws(NATSError) {
        try checkFiles()
        try check(natsOptions_SetSecure(options, true))
        if let file = tls.authorityFile {
            try checkDetailed(natsOptions_LoadCATrustedCertificates(options, file))
        }
        if tls.certificateFile != nil || tls.keyFile != nil {
            guard let certificate = tls.certificateFile, let key = tls.keyFile else {
                throw .invalidSettings("a client certificate for NATS needs its key, and the key its certificate")
            }
            try checkDetailed(natsOptions_LoadCertificatesChain(options, certificate, key))
        }
    }

    private func setLimits(_ options: OpaquePointer) throws(NATSError) {
        try check(natsOptions_SetTimeout(options, connectTimeout.wholeMilliseconds))
        // libnats' own PINGs would close a dead connection on its timer thread while the loop may read from it. The
        // supervisor sends PINGs instead.
        try check(natsOptions_SetPingInterval(options, 0))
        try check(natsOptions_SetWriteDeadline(options, writeDeadline.wholeMilliseconds))
        try check(natsOptions_SetMaxPendingMsgs(options, pendingLimits.messages))
        // Each message wakes the loop, which writes all that has been buffered meanwhile. No flusher thread.
        try check(natsOptions_SetSendAsap(options, true))
        // libnats' own reconnect keeps what is published meanwhile and gives up for good on some errors. The supervisor
        // makes a new connection instead, after every kind of loss.
        try check(natsOptions_SetAllowReconnect(options, false))
    }

    /// The limits in libnats' range: it multiplies the messages by 1,024 for a limit in bytes, which must not overflow
    /// 32 bits although the limit given here replaces it.
    var pendingLimits: (messages: Int32, bytes: Int32) {
        (Int32(min(max(1, maxPendingMessages), 1 << 20)), Int32(clamping: max(1, maxPendingBytes)))
    }

    private func setDelivery(_ options: OpaquePointer) throws(NATSError) {
        // One thread for all subscriptions keeps messages in order across them.
        try check(nats_SetMessageDeliveryPoolSize(1))
        try check(natsOptions_UseGlobalMessageDelivery(options, true))
    }

    private func check(_ status: natsStatus) throws(NATSError) {
        guard status == NATS_OK else { throw NATSError(status) }
    }

    /// The same, with libnats' detailed text in the error.
    private func checkDetailed(_ status: natsStatus) throws(NATSError) {
        guard status == NATS_OK else { throw NATSError(connecting: status) }
    }

    /// A random time from `reconnectWait`.
    func drawReconnectWait() -> Duration {
        let span = reconnectWait.upperBound - reconnectWait.lowerBound
        return reconnectWait.lowerBound + span * Double.random(in: 0...1)
    }
}

extension Duration {
    /// Whole milliseconds in libnats' range: at least 1, at most a year.
    var wholeMilliseconds: Int64 { Int64(min(max(self / .milliseconds(1), 1), 365 * 86_400_000)) }
}
