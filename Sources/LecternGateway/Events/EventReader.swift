internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import StrokeWire

/// One connection that follows a feed: an HTTP response that goes on until one side ends it.
///
/// Events are written to the connection as they are, past all handlers but the socket's own. What it has not been able
/// to send is bounded: beyond `EventLimits.readerBuffer` the connection is closed, and its client comes back by the id of
/// the last event that it has.
///
/// All variables belong to the connection's event loop.
final class EventReader: @unchecked Sendable {
    /// Why a stream ends.
    enum EndReason {
        /// The client has closed its side, or the connection is broken.
        case disconnected
        /// Too many events wait to be sent, or nothing could be sent for too long.
        case slow
        /// The token of its request has expired.
        case expired
        /// The token of its request has been revoked.
        case revoked
        /// The gateway stops.
        case shutdown
        /// The feed has no start for it.
        case refused
    }

    let channel: any Channel
    /// Whether it gets a gzip stream.
    private let isCompressed: Bool
    /// Whether events are chunks of its body; one of HTTP/1.0 has none.
    private let isChunked: Bool
    private let limits: EventLimits
    private let deadlines: RequestDeadlines
    /// Of the HTTP encoder: what is written from here goes to the socket.
    private let output: ChannelHandlerContext
    private let admission: EventLoopPromise<Void>
    private let end: EventLoopPromise<Void>

    private(set) var isEnded = false
    private var isAdmitted = false
    private var isStarted = false
    /// Called once, at the end.
    private let onEnd: @Sendable (EventReader) -> Void
    /// Index of the last operation that it has been given.
    private var cursor: UInt64 = 0
    /// What came before the head of the response was written.
    private var backlog: [StreamEvent] = []
    private var backlogBytes = 0
    /// How many events of the backlog are what it starts with.
    private var startCount = 0
    private var needsFlush = false
    /// Bytes written, sent or not.
    private var written = 0
    /// Bytes written at the end of the last start, a board or what it has missed, which may be larger than the buffer.
    private var startEnd = 0
    /// Bytes sent at the last check for progress.
    private var sentBefore = -1
    private var expiry: Scheduled<Void>?
    /// Its place among the readers of its feed and loop.
    var place: Int?

    /// Makes a reader of a connection, whose request is under way, on the connection's loop. It may have ended at once.
    /// - Parameters:
    ///   - isCompressed: whether it gets a gzip stream.
    ///   - end: when the stream ends at the latest; nil for never.
    ///   - onEnd: called once when the stream has ended, on the connection's loop.
    init(
        on channel: any Channel, isCompressed: Bool, _ limits: EventLimits, until end: Date? = nil,
        onEnd: @escaping @Sendable (EventReader) -> Void
    ) throws {
        let pipeline = channel.pipeline.syncOperations
        deadlines = try pipeline.handler(type: RequestDeadlines.self)
        output = try pipeline.context(handlerType: HTTPResponseEncoder.self)
        isChunked = deadlines.takesChunks
        self.onEnd = onEnd
        self.channel = channel
        self.isCompressed = isCompressed
        self.limits = limits
        admission = channel.eventLoop.makePromise()
        self.end = channel.eventLoop.makePromise()
        deadlines.reader = self
        if let end {
            // A year at most: what lasts longer is not worth a timer.
            let seconds = min(max(0, end.timeIntervalSinceNow), 365 * 86_400)
            expiry = channel.eventLoop.scheduleTask(in: .milliseconds(Int64(seconds * 1000))) {
                [weak self] () -> Void in self?.end(.expired)
            }
        }
        if !channel.isActive {
            self.end(.disconnected)
        } else if deadlines.isQuiescing {
            self.end(.shutdown)
        }
    }

    /// When the feed has a start for it; fails where there is none, and when the stream ends before.
    var admitted: EventLoopFuture<Void> { admission.futureResult }

    /// Sends events until the stream ends. Call it when the head of the response is written.
    func run() async {
        channel.eventLoop.execute { self.start() }
        try? await end.futureResult.get()
    }

    /// Ends a stream whose token no longer counts. Any thread.
    func revoke() {
        channel.eventLoop.execute { self.end(.revoked) }
    }

    private func start() {
        // Also of a stream that has just ended: it is to be asked for again after this time.
        write(.prelude)
        guard !isEnded else { return }
        isStarted = true
        deadlines.streamBegan(on: channel)
        let waiting = backlog
        (backlog, backlogBytes) = ([], 0)
        for (place, event) in waiting.enumerated() {
            write(event)
            if place < startCount { startEnd = written }
        }
        flush()
    }
}

/// What a feed does with a reader, on the reader's loop.
extension EventReader {
    /// The reader starts with these events.
    /// - Parameter index: of the last operation that it has.
    func admit(_ events: [StreamEvent], after index: UInt64) {
        guard !isEnded else { return }
        cursor = index
        for event in events { deliver(event, isStart: true) }
        isAdmitted = true
        admission.succeed()
    }

    func refuse(_ error: GatewayError) {
        guard !isEnded, !isAdmitted else { return }
        isAdmitted = true
        admission.fail(error)
        end(.refused)
    }

    /// Takes an event of the feed; ``flush()`` sends it.
    /// - Parameter isStart: whether a board is sent whatever the reader has.
    @inline(__always)
    func deliver(_ event: StreamEvent, isStart: Bool = false) {
        guard !isEnded else { return }
        switch event.kind {
        case .operation(let index):
            guard index > cursor else { return }
            cursor = index
        case .start(let index):
            guard isStart || index > cursor else { return }
            cursor = index
        case .wet:
            // It heals by itself; what waits to be sent is for the rest.
            guard isStarted, unsentBytes + event.size <= limits.wetBuffer else { return }
            return write(event)
        case .other:
            break
        }
        guard isStarted else {
            // What it starts with is shared, and bounded by what the feed keeps.
            if event.lease == nil, !isStart { backlogBytes += event.size }
            guard backlogBytes <= limits.readerBuffer else { return end(.slow) }
            backlog.append(event)
            if isStart { startCount = backlog.count }
            return
        }
        guard channel.isWritable || hasRoom(for: event) else { return end(.slow) }
        write(event)
    }

    func flush() {
        guard needsFlush else { return }
        needsFlush = false
        output.flush()
    }

    /// Ends the stream unless something was sent since the last call, or nothing waits.
    func checkProgress() {
        guard isStarted, !isEnded else { return }
        let waiting = unsentBytes
        let sent = written - waiting
        if waiting > 0, sent == sentBefore { return end(.slow) }
        sentBefore = sent
    }

    /// Ends the stream; a second call does nothing.
    func end(_ reason: EndReason) {
        guard !isEnded else { return }
        isEnded = true
        backlog = []
        expiry?.cancel()
        deadlines.reader = nil
        if !isAdmitted {
            isAdmitted = true
            admission.fail(GatewayError.notReady("The stream has ended before it began."))
        }
        if reason == .slow {
            deadlines.closeSlowReader(channel)
        } else if isStarted {
            deadlines.streamEnded(on: channel)
        }
        end.succeed()
        onEnd(self)
    }

    private func write(_ event: StreamEvent) {
        let bytes = event.bytes(isCompressed: isCompressed, isChunked: isChunked)
        written += bytes.readableBytes
        needsFlush = true
        guard let lease = event.lease else {
            output.write(NIOAny(IOData.byteBuffer(bytes)), promise: nil)
            return
        }
        startEnd = written
        let promise = channel.eventLoop.makePromise(of: Void.self)
        // The memory is in use until the socket has it.
        promise.futureResult.whenComplete { _ in withExtendedLifetime(lease) {} }
        output.write(NIOAny(IOData.byteBuffer(bytes)), promise: promise)
    }

    private var unsentBytes: Int {
        (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    /// A board waits for nothing but the board before it; other events wait within the reader's buffer.
    private func hasRoom(for event: StreamEvent) -> Bool {
        let unsent = unsentBytes
        let isSendingStart = written - unsent < startEnd
        if event.lease != nil { return !isSendingStart }
        // Beyond the buffer, so that none but slow readers are cut off while strokes are being drawn.
        let bound = limits.readerBuffer + limits.wetBuffer
        return (isSendingStart ? written - startEnd : unsent) + event.size <= bound
    }
}

/// The bounds of event streams.
struct EventLimits: Sendable {
    /// Bytes of events that may wait to be sent to one reader; boards do not count.
    var readerBuffer = 1 << 20
    /// Bytes that may wait to be sent to a reader for it to get points of a stroke being drawn.
    var wetBuffer = 128 << 10
    var readersPerAddress = 1000
    /// Readers in all: what the service's unit allows of open files, 65,536, less other connections and what the daemon itself
    /// opens.
    var readers = 50_000
    /// Joins under way, half of them of one room at most.
    var joins = 256
    /// Bytes of boards and tails that are kept, or are being sent, half of them of one room at most, or one of them. A board
    /// counts plain and compressed, and twice before it is compressed.
    var boardBytes = 2 * JoinReply.maximumBytes
    /// Bytes of operations that all feeds remember together.
    var recentBytes = 64 << 20
    /// Time for the service to answer a join.
    var joinTimeout = Duration.seconds(5)
    /// Time between comments. A reader that takes nothing for twice this time while something waits is cut off.
    var commentInterval = Duration.seconds(15)
    /// Time for a client to take the rest of a stream that has ended; then the connection is closed.
    var endTimeout = Duration.seconds(5)
}
