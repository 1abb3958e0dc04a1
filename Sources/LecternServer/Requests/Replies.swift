import Dispatch
import Glibc
import Locking
import Logging
import NATSClient
import StrokeWire
import Synchronization
import Whiteboard

/// Sends replies, from any thread.
struct ReplySender: Sendable {
    /// Bytes of a reply's message at most, and fewer where the server allows no such message; a larger reply is sent in
    /// parts.
    static let partBytes = 256 * 1024

    /// How long a message waits at most; then it is sent in any case.
    private static let drainTimeout = Duration.seconds(2)

    let connection: NATSConnection
    let logger: Logger

    /// Sends a reply, in parts if it is large. Blocks the calling thread while too much waits for the socket: operations
    /// that are released meanwhile must not wait behind megabytes of replies. Small replies never wait.
    /// - Parameter headers: of each of its messages.
    func send(_ bytes: [UInt8], _ headers: NATSHeaders = [:], to reply: String) {
        do {
            if bytes.count >= Fanout.largeMessage { waitForSocket() }
            let size = min(Self.partBytes, connection.maxBody)
            guard bytes.count > size else {
                try connection.publish(bytes, to: reply, headers: headers)
                return
            }
            let count = (bytes.count + size - 1) / size
            guard count <= NATSConnection.maxParts else {
                throw NATSError.replyTooLarge(limit: size * NATSConnection.maxParts)
            }
            for part in 0..<count {
                let range = part * size..<min(bytes.count, (part + 1) * size)
                if part > 0 { waitForSocket() }
                var headers = headers
                headers.append(HeaderName.part, "\(part + 1)/\(count)")
                try connection.publish(Array(bytes[range]), to: reply, headers: headers)
            }
        } catch {
            // Lost with its connection, or the server takes less since a moment ago: who asked asks again.
            logger.debug("reply not sent", metadata: ["reply": "\(reply)", "error": "\(error)"])
        }
    }

    /// At least for a millisecond, which leaves other threads and the NATS server some time between large messages.
    private func waitForSocket() {
        let end = MonotonicClock.now() + Self.drainTimeout
        repeat { usleep(1000) } while connection.bufferedBytes > Fanout.backlog && MonotonicClock.now() < end
    }

    func refuse(_ reply: String, _ error: RequestError) {
        send(error.encoded(), to: reply)
    }

    var sink: ReplySink { ReplySink(send: { send($0, $1, to: $2) }, refuse: refuse) }
}

/// Where queues send their replies; called from any thread.
struct ReplySink: Sendable {
    let send: @Sendable (_ bytes: [UInt8], _ headers: NATSHeaders, _ reply: String) -> Void
    let refuse: @Sendable (_ reply: String, _ error: RequestError) -> Void

    func send(_ bytes: [UInt8], _ reply: String) { send(bytes, [:], reply) }

    /// Only inboxes get replies: a client must not make the service publish on another subject.
    static func isInbox(_ subject: String) -> Bool { subject.hasPrefix("_INBOX.") }
}

/// Makes and sends small replies on a queue of its own, apart from the threads that release operations.
///
/// Bounded: beyond `limit` pending requests the answer is `not-ready`.
final class ReplyQueue: Sendable {
    private let queue: DispatchQueue
    private let permits: Permits
    private let sink: ReplySink
    private let isClosing = Atomic(false)

    init(label: String, limit: Int, sink: ReplySink) {
        queue = DispatchQueue(label: label)
        permits = Permits(limit)
        self.sink = sink
    }

    func answer(_ reply: String, _ make: @escaping @Sendable () -> [UInt8]) {
        guard permits.acquire() else { return sink.refuse(reply, .busy) }
        queue.async { [self] in
            defer { permits.release() }
            if isClosing.load(ordering: .relaxed) {
                sink.refuse(reply, .shuttingDown)
            } else {
                sink.send(make(), reply)
            }
        }
    }

    /// Finishes the reply being made and refuses the requests that wait.
    func close() {
        isClosing.store(true, ordering: .relaxed)
        queue.sync {}
    }
}

/// The bound on pending replies of one kind: a number of requests, and of bytes of the boards and operations that they
/// reference. One group, such as a room, has at most a share of either, so that its requests do not keep out those of others.
///
/// A single reply may exceed the bound on bytes: it is accepted if nothing else is pending.
struct ReplyBudget<Group: Hashable & Sendable>: Sendable {
    private struct Share: Equatable {
        var requests = 0
        var bytes = 0
    }

    private let limit: Share
    /// A group has one part in so many.
    private let parts: Int
    private let turnBytes: Int
    private var taken = Share()
    private var groups: [Group: Share] = [:]

    /// - Parameters:
    ///   - parts: a group has one part in so many.
    ///   - turnBytes: bytes of replies that are sent to those who share one, before other replies have their turn.
    init(requests: Int, bytes: Int, parts: Int = 2, turnBytes: Int = 4 << 20) {
        limit = Share(requests: requests, bytes: bytes)
        self.parts = parts
        self.turnBytes = turnBytes
    }

    /// Replies of a size that are sent in one turn, at least one.
    func turn(bytes: Int) -> Int { max(1, turnBytes / max(bytes, 1)) }

    /// Reserves one request.
    /// - Parameter bytes: that it adds to those pending; negative if its snapshot is smaller than the one it replaces for
    ///   all requests that share the reply.
    /// - Returns: false if the bound is reached; nothing was reserved.
    mutating func reserve(_ group: Group, bytes: Int) -> Bool {
        let share = groups[group, default: Share()]
        guard taken.requests < limit.requests, share.requests < max(1, limit.requests / parts) else { return false }
        guard bytes <= 0 || taken.requests == 0 || taken.bytes + bytes <= limit.bytes else { return false }
        guard bytes <= 0 || share.requests == 0 || share.bytes + bytes <= limit.bytes / parts else { return false }
        groups[group] = Share(requests: share.requests + 1, bytes: share.bytes + bytes)
        taken.requests += 1
        taken.bytes += bytes
        return true
    }

    /// Releases answered requests of a group, and their bytes.
    mutating func release(_ group: Group, requests: Int, bytes: Int) {
        taken.requests -= requests
        taken.bytes -= bytes
        guard var share = groups[group] else { return }
        share.requests -= requests
        share.bytes -= bytes
        groups[group] = share == Share() ? nil : share
    }

    /// Whether nothing is reserved.
    var isUnused: Bool { taken == Share() && groups.isEmpty }
}

/// Answers requests that share replies, within a ``ReplyBudget``: many who wait for one large reply get it in turns, between the
/// replies of others. Safe from any thread.
final class ReplyTurns: Sendable {
    private let state: Locked<(budget: ReplyBudget<RoomID>, isClosing: Bool)>

    init(_ budget: ReplyBudget<RoomID>) {
        state = Locked((budget, false))
    }

    var isClosing: Bool { state.withLock { $0.isClosing } }

    /// Whether no request is pending.
    var isIdle: Bool { state.withLock { $0.budget.isUnused } }

    /// Ends the turns: what waits for one is answered at once.
    func close() { state.withLock { $0.isClosing = true } }

    /// See ``ReplyBudget/reserve(_:bytes:)``.
    func reserve(_ room: RoomID, bytes: Int) -> Bool { state.withLock { $0.budget.reserve(room, bytes: bytes) } }

    /// Answers as many requests as one turn has, and the others when it is their turn again.
    /// - Parameters:
    ///   - bytes: of the reply.
    ///   - reserved: bytes that are released with the last request.
    ///   - queue: that this is called on. It is waited for after ``close()``, so that nothing is queued from then on.
    func answer(
        _ replies: ArraySlice<String>, of room: RoomID, bytes: Int, reserved: Int, on queue: DispatchQueue,
        _ answer: @escaping @Sendable (_ reply: String) -> Void
    ) {
        let count = state.withLock { $0.isClosing ? replies.count : $0.budget.turn(bytes: bytes) }
        for reply in replies.prefix(count) { answer(reply) }
        let rest = replies.dropFirst(count)
        let isClosing = state.withLock { state in
            state.budget.release(
                room, requests: replies.count - rest.count, bytes: rest.isEmpty ? reserved : 0)
            return state.isClosing
        }
        guard !rest.isEmpty else { return }
        let goOn: @Sendable () -> Void = { [self] in
            self.answer(rest, of: room, bytes: bytes, reserved: reserved, on: queue, answer)
        }
        if isClosing { goOn() } else { queue.async(execute: goOn) }
    }
}

extension RequestError {
    /// The bound on pending requests is reached.
    static let busy = RequestError(.notReady, "The server is busy with other requests; ask again in a second.")
    static let unknownIndex = RequestError(
        .unknownIndex, "The room's log does not hold this position, or it lies ahead of what may be seen.")
    static let pictureTooLarge = RequestError(
        .tooLarge, "The board has too many points for this format; ask for a PNG.")
    static let imagesPending = RequestError(
        .notReady, "The images of the document are being made; ask again in a second.")
    static let shuttingDown = RequestError(.notReady, "The server is shutting down.")
}
