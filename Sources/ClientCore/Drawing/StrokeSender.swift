import StrokeWire

/// A request that a shell sends to the gateway: a POST with `Content-Type: application/x-ndjson` and the header `Ink-Session`.
public struct DrawingPost: Sendable, Equatable {
    /// Where it goes, below `api/rooms/ROOM/` and with the query `author`.
    public enum Target: UInt8, Sendable {
        /// `strokes`. The answer counts.
        case strokes
        /// `wet`. It is given up after ``WetSender/timeout``.
        case wet
    }

    /// For ``DrawingSession/answered(_:with:at:)`` and ``DrawingSession/failed(_:_:at:)``.
    public let id: Int
    public let target: Target
    /// Value of `Ink-Session`.
    public let session: String
    /// Messages or updates, each ended by LF.
    public let body: [UInt8]
    /// Whether it is to arrive also where the shell ends meanwhile, as by `keepalive` of `fetch`.
    public let outlivesShell: Bool
}

/// Why a request has no answer.
public struct GatewayFailure: Error, Sendable, Equatable {
    /// The HTTP status; 0 where no answer came.
    public let status: Int
    /// As in the documentation of the gateway's API; `unreachable` where no answer came.
    public let code: String
    /// One English sentence.
    public let message: String
    /// When the gateway wants to be asked again; nil where it does not say.
    public let retryAfter: Duration?

    /// - Parameter retryAfter: of more than an hour, an hour.
    public init(status: Int, code: String, message: String, retryAfter: Duration? = nil) {
        (self.status, self.code, self.message) = (status, code, message)
        self.retryAfter = retryAfter.map { min($0, .seconds(3600)) }
    }

    /// Reads an answer that is none of success.
    /// - Parameters:
    ///   - body: as it came; that of a proxy may be anything.
    ///   - retryAfter: the value of `Retry-After`.
    public init(status: Int, body: [UInt8], retryAfter: String? = nil) {
        let error = StrokeResults.error(of: body)
        let seconds = retryAfter.flatMap { Double($0) }.flatMap { $0 >= 0 ? min($0, 3600) : nil }
        self.init(
            status: status, code: error?.code ?? "unavailable",
            message: error?.message ?? "The server answered \(status).",
            retryAfter: seconds.map { .milliseconds(Int64($0 * 1000)) })
    }

    /// No answer came.
    public static let unreachable = GatewayFailure(
        status: 0, code: "unreachable", message: "The server cannot be reached.")

    /// Whether asking again may help.
    public var isTransient: Bool { status == 0 || status == 408 || status == 429 || status >= 500 }
}

/// Sends what is in an outbox, in order, until it has an answer for each operation. One request at a time, so that the room gets
/// it in order.
struct StrokeSender: Sendable {
    enum Next: Equatable {
        case post(session: String, body: [UInt8])
        case wait(until: Duration)
        /// Until something is in the outbox, or the answer is there.
        case idle
    }

    /// What has become of the operations of a batch.
    struct Outcome {
        var applied: [(key: OperationKey, index: UInt64)] = []
        var rejected: [(key: OperationKey, code: String, message: String)] = []
        /// Refused for a reason that passes: they go again under new numbers.
        var renumbered: [OperationKey] = []
        var isSessionOver = false
        /// Whether something may have been applied all the same; the same number shows it.
        var isUnknown = false
    }

    /// Operations that are being sent; a stroke that is too long for one request goes out in several.
    private struct Batch {
        let keys: [OperationKey]
        /// Messages that did not go out yet.
        var lines: ArraySlice<[UInt8]>
        var outcomes: [Int64: StrokeResults.Outcome] = [:]
    }

    /// Messages and bytes of one request.
    private static let mostLines = 64
    private static let mostBytes = 512 << 10
    /// Until the next try after a refusal that asking again does not help.
    private static let refusedPause = Duration.seconds(15)
    /// Rejections that say nothing about the operation.
    private static let passing = ["rate-limited", "too-many-pending", "room-full", "not-ready"]

    private var batch: Batch?
    private var isSending = false
    private var rate = SendingRate()
    private var backoff = Backoff(first: .milliseconds(400), longest: .seconds(8))
    private var pausedUntil = Duration.zero

    /// The next request.
    mutating func next(_ outbox: Outbox, at now: Duration) -> Next {
        guard !isSending else { return .idle }
        guard pausedUntil <= now else { return outbox.waiting.isEmpty ? .idle : .wait(until: pausedUntil) }
        if batch == nil {
            guard let first = outbox.waiting.first else { return .idle }
            guard outbox.isSendable(first, at: now) else { return .wait(until: outbox.sendableAt ?? now) }
            batch = Self.batch(of: outbox, at: now)
        }
        guard let lines = batch?.lines else { return .idle }
        var (count, bytes) = (0, 0)
        for line in lines.prefix(Self.mostLines) {
            guard count == 0 || bytes + line.count + 1 <= Self.mostBytes else { break }
            count += 1
            bytes += line.count + 1
        }
        let time = rate.earliest(messages: count, bytes: bytes)
        guard time <= now else { return .wait(until: time) }
        var body: [UInt8] = []
        body.reserveCapacity(bytes)
        for line in lines.prefix(count) {
            body.append(contentsOf: line)
            body.append(UInt8(ascii: "\n"))
            rate.take(bytes: line.count, at: now)
        }
        batch?.lines.removeFirst(count)
        isSending = true
        return .post(session: batch?.keys.first?.session ?? "", body: body)
    }

    /// The first operations that fit a request, of one session.
    private static func batch(of outbox: Outbox, at now: Duration) -> Batch {
        var (keys, lines, bytes): ([OperationKey], [[UInt8]], Int) = ([], [], 0)
        for operation in outbox.waiting {
            guard outbox.isSendable(operation, at: now) else { break }
            let size = operation.byteCount + operation.messages.count
            let fits = lines.count + operation.messages.count <= mostLines && bytes + size <= mostBytes
            guard keys.isEmpty || fits && operation.key.session == keys[0].session else { break }
            keys.append(operation.key)
            lines += operation.messages.map { $0.bytes }
            bytes += size
        }
        return Batch(keys: keys, lines: lines[...])
    }

    /// The answer to the request under way.
    /// - Returns: what is settled; nil where more requests of the batch follow.
    mutating func answered(_ results: StrokeResults, at now: Duration, using random: inout SeededGenerator) -> Outcome?
    {
        guard isSending, var batch else { return nil }
        isSending = false
        for result in results.results {
            guard let number = result.number else { continue }
            let known = batch.outcomes[number]
            if known.map({ $0.rank < result.outcome.rank }) ?? true { batch.outcomes[number] = result.outcome }
        }
        self.batch = batch
        guard batch.lines.isEmpty else { return nil }
        self.batch = nil
        var outcome = Outcome()
        for key in batch.keys {
            switch batch.outcomes[key.number] {
            case .applied(let index): outcome.applied.append((key, index))
            case .rejected("session-over", _): outcome.isSessionOver = true
            case .rejected(let code, _) where Self.passing.contains(code): outcome.renumbered.append(key)
            case .rejected(let code, let message): outcome.rejected.append((key, code, message))
            case .held, nil: outcome.isUnknown = true
            }
        }
        if outcome.applied.count + outcome.rejected.count == batch.keys.count {
            backoff.reset()
        } else {
            pausedUntil = now + backoff.next(atLeast: nil, using: &random)
        }
        return outcome
    }

    /// The request under way has no answer.
    /// - Returns: when it goes out again.
    mutating func failed(_ failure: GatewayFailure, at now: Duration, using random: inout SeededGenerator) -> Duration {
        (isSending, batch) = (false, nil)
        let pause =
            failure.isTransient ? backoff.next(atLeast: failure.retryAfter, using: &random) : Self.refusedPause
        pausedUntil = now + pause
        return pausedUntil
    }

    /// Tries again at once if it waits to do so.
    mutating func retry() { pausedUntil = .zero }

    /// Forgets the request under way: its answer comes too late.
    mutating func restart() {
        (isSending, batch) = (false, nil)
        retry()
    }
}

extension StrokeResults.Outcome {
    /// Of the outcomes of a stroke's shards the one that counts is that with the highest.
    fileprivate var rank: Int {
        switch self {
        case .held: 1
        case .rejected: 2
        case .applied: 3
        }
    }
}
