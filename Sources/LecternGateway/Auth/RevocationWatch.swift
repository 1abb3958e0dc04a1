internal import Foundation
internal import Locking
internal import Logging
internal import Metrics
internal import NATSClient
internal import StrokeWire

/// The revocations of tokens, as the daemons have them: reads all of them at the start, is told of new ones on
/// `<root>.revoked`, and asks again each ``interval`` and after a reconnect for those it was not told of.
///
/// Until it has read the list once, no token counts; while NATS is away those that it knows hold. What it has been told
/// once holds until its tokens have ended, whatever becomes of the daemons' list: up to ``limit``, some 20 MB, beyond which
/// the oldest go. Any thread.
final class RevocationWatch: Sendable {
    private struct State {
        var table = RevocationTable()
        /// Up to where the list was read.
        var position = RevocationRequest()
        var isRead = false
        /// Streams that end with their token, by what they could be revoked by; by nil all of them, for a new key.
        var readers: [Revocation.Target?: [ObjectIdentifier: EventReader]] = [:]
        /// Tokens that were verified with an earlier key no longer count.
        var keyNumber = 0
        /// The places of those of the daemons' lists cannot be compared over time: here they are numbered anew.
        var count: UInt64 = 0

        func revokes(_ claims: TokenClaims) -> Bool { claims.keyNumber < keyNumber || table.revokes(claims) }
    }

    static let interval: Duration = .seconds(5)
    /// Those of two full lists.
    static let limit = 2 * RevocationTable.limit
    private static let timeout: Duration = .seconds(2)
    private static let longestPause: Duration = .seconds(2)
    /// How long the list may not be readable before that is logged.
    private static let failureTimeout: Duration = .seconds(10)

    private let root: String
    private let connection: NATSConnection
    private let logger: Logger
    private let state = Locked(State())
    private let known: Gauge
    private let refused: Counter
    private let (wakes, waker) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(root: String, connection: NATSConnection, registry: PrometheusRegistry, logger: Logger) {
        self.root = root
        self.connection = connection
        self.logger = logger
        (known, refused) = Self.metrics(in: registry)
    }

    /// Its metrics, which are there where no token is needed too.
    @discardableResult
    static func metrics(in registry: PrometheusRegistry) -> (known: Gauge, refused: Counter) {
        let known = Gauge(label: GatewayMetrics.revokedTokens, factory: registry)
        let refused = Counter(label: GatewayMetrics.revokedRequests, factory: registry)
        known.record(0)
        refused.increment(by: 0)
        return (known, refused)
    }

    /// Why no token counts yet, one sentence; nil when the list has been read.
    var obstacle: String? {
        state.withLock { $0.isRead } ? nil : "The gateway has not read yet which tokens are revoked."
    }

    /// - Throws: `revoked`; `not-ready` before the list has been read.
    func check(_ claims: TokenClaims) throws(GatewayError) {
        if let obstacle { throw .notReady(obstacle) }
        guard revokes(claims) else { return }
        refused.increment()
        throw .revoked
    }

    func revokes(_ claims: TokenClaims) -> Bool {
        state.withLock { $0.revokes(claims) }
    }
}

/// Event streams.
extension RevocationWatch {
    /// Ends a stream when its token is revoked. To be called on the reader's loop, like ``remove(_:_:)``.
    /// - Throws: `revoked` where it is already.
    func add(_ reader: EventReader, _ claims: TokenClaims) throws(GatewayError) {
        let isRevoked = state.withLock { state in
            if state.revokes(claims) { return true }
            for target in claims.targets { state.readers[target, default: [:]][ObjectIdentifier(reader)] = reader }
            return false
        }
        guard isRevoked else { return }
        refused.increment()
        throw .revoked
    }

    func remove(_ reader: EventReader, _ claims: TokenClaims) {
        state.withLock { state in
            for target in claims.targets {
                state.readers[target]?[ObjectIdentifier(reader)] = nil
                if state.readers[target]?.isEmpty == true { state.readers[target] = nil }
            }
        }
    }
}

/// Reading the list.
extension RevocationWatch {
    /// Follows the list until cancelled.
    func run() async {
        let observation = connection.onStateChange { [waker] state in if state == .connected { waker.yield() } }
        defer { observation.cancel() }
        do throws(NATSError) {
            let news = try connection.subscribe("\(root).revoked") { [self] message in
                if let page = try? RevocationPage(decoding: message.copyPayload()) { take(page.revocations) }
            }
            defer { news.unsubscribe() }
            await follow()
        } catch {
            logger.error("revocations cannot be followed", metadata: ["error": "\(error)"])
        }
    }

    private func follow() async {
        var pause: Duration = .milliseconds(100)
        var hasTold = false
        var lastSuccess = ContinuousClock.now
        while !Task.isCancelled {
            if let problem = await read() {
                // A service that starts has not read its list yet.
                if !hasTold, connection.state == .connected, lastSuccess.duration(to: .now) > Self.failureTimeout {
                    hasTold = true
                    logger.warning(
                        "revocations of tokens not read, retrying",
                        metadata: ["error": "\(problem)", "hint": "may this NATS user publish to \(root).revocations?"])
                }
                await sleep(pause)
                pause = min(pause * 2, Self.longestPause)
            } else {
                (pause, hasTold, lastSuccess) = (.milliseconds(100), false, .now)
                await sleep(Self.interval)
            }
        }
    }

    /// Waits for so long, or until there is a new connection.
    private func sleep(_ pause: Duration) async {
        let alarm = Task { [waker] in
            // One that was cancelled would wake the next sleep.
            guard (try? await Task.sleep(for: pause)) != nil else { return }
            waker.yield()
        }
        defer { alarm.cancel() }
        for await _ in wakes { return }
    }

    /// Reads what is new in the list, page by page.
    /// - Returns: why it could not be read; nil where it was.
    private func read() async -> String? {
        while true {
            let page: RevocationPage
            do {
                let request = state.withLock { $0.position }
                let reply = try await connection.request(
                    request.encoded(), to: "\(root).revocations", timeout: Self.timeout)
                if let refusal = RequestError(decoding: reply.payload) { return refusal.message }
                page = try RevocationPage(decoding: reply.payload)
            } catch let error as Rejection {
                return error.message
            } catch {
                return "\(error)"
            }
            take(page.revocations)
            let now = Int64(Date().timeIntervalSince1970)
            let isDone = state.withLock { state in
                // This clock may be ahead.
                if !page.hasMore { _ = state.table.removeExpired(at: min(now, page.ended)) }
                state.position = RevocationRequest(list: page.list, after: page.through)
                if !page.hasMore { state.isRead = true }
                return !page.hasMore
            }
            if isDone { return nil }
        }
    }

    private func take(_ revocations: [Revocation]) {
        let (readers, count) = state.withLock { state -> ([EventReader], Int) in
            var readers: [EventReader] = []
            for revocation in revocations {
                state.count += 1
                guard state.table.insert(revocation, at: state.count) else { continue }
                // Of a subject those that were issued later go on: the client comes again and is let in.
                if let ended = state.readers.removeValue(forKey: revocation.target) { readers += ended.values }
            }
            state.table.removeOldest(beyond: Self.limit)
            return (readers, state.table.count)
        }
        known.record(count)
        end(readers)
    }

    /// Ends all streams, also those that are just being opened with a token of an earlier key.
    func endStreams(beforeKey number: Int) {
        let readers = state.withLock { state in
            state.keyNumber = number
            return state.readers.removeValue(forKey: nil).map { Array($0.values) } ?? []
        }
        end(readers)
    }

    private func end(_ readers: [EventReader]) {
        guard !readers.isEmpty else { return }
        refused.increment(by: Int64(readers.count))
        for reader in readers { reader.revoke() }
    }
}

extension RevocationTable {
    fileprivate func revokes(_ claims: TokenClaims) -> Bool {
        revokes(
            id: claims.id, subject: claims.subject,
            // Within the range that an integer has.
            issued: claims.issued.map { Int64(min(max($0.timeIntervalSince1970, -1e15), 1e15)) })
    }
}

extension TokenClaims {
    /// What they could be revoked by, and nil for a new key.
    fileprivate var targets: [Revocation.Target?] {
        [nil] + [id.map { .token($0) }, subject.map { .subject($0) }].compactMap(\.self)
    }
}
