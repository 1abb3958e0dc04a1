import Dispatch
import Glibc
import Logging
import NATSClient
import StrokeWire
import Synchronization
import Whiteboard

/// Answers requests about rooms: takes a snapshot on the worker's thread, and has the reply made from it elsewhere.
struct RequestHandler: Sendable {
    let configuration: ServerConfiguration
    let sink: ReplySink
    let joins: JoinQueue
    let infos: ReplyQueue
    let renders: RenderQueue
    let replays: ReplayQueue
    let assets: AssetPictures
    let metrics: ServerMetrics

    /// Answers a request.
    /// - Parameters:
    ///   - room: nil if nobody has written to it.
    ///   - isCurrent: whether its log is known to have no further record of it.
    func answer(_ request: RoomRequest, _ room: Room?, isCurrent: Bool = false, at now: Instant) {
        switch request.kind {
        case .join(let view):
            join(room, isCurrent, request.address.room, view, request.payload, reply: request.reply)
        case .image(let view): image(room, request.address.room, view, request.payload, reply: request.reply)
        case .replay(let view): replay(room, request.address.room, view, request.payload, reply: request.reply)
        case .asset(let view): asset(room, request.address.room, view, request.payload, reply: request.reply)
        case .info: info(room, request.address, at: now, reply: request.reply)
        }
    }

    /// Refuses a request that would have to wait.
    func refuseForNow(_ request: RoomRequest) {
        sink.refuse(request.reply, RequestError(.notReady, "The room is being fetched; ask again in a second."))
    }

    /// Answers a join of a cohort or of the head.
    private func join(
        _ room: Room?, _ isCurrent: Bool, _ id: RoomID, _ view: RoomFeed, _ bytes: [UInt8], reply: String
    ) {
        let count = { metrics.countJoin(.badRequest) }
        guard let request = decoded(bytes, reply, JoinRequest.init(decoding:), orCount: count) else { return }
        // A room that nobody has written to is blank.
        let room = room ?? Room(configuration: configuration.room, at: MonotonicClock.now())
        let found: CatchUp?
        switch view {
        case .head: found = room.catchUpHead(request, isCurrent: isCurrent)
        case .cohort(let cohort):
            guard room.serves(cohort) else {
                metrics.countJoin(.unknownCohort)
                return sink.refuse(reply, unknown(cohort))
            }
            found = room.catchUp(request, cohort: cohort, isCurrent: isCurrent)
        }
        guard let snapshot = found else {
            metrics.countJoin(.unknownIndex)
            return sink.refuse(reply, .unknownIndex)
        }
        guard joins.answer(snapshot, of: id, view, to: request, reply: reply) else {
            return metrics.countJoin(.notReady)
        }
        if case .tail = snapshot.content { metrics.countJoin(.tail) } else { metrics.countJoin(.board) }
    }

    /// Has the board rendered as released to a cohort, or at the end of the log; now, or at an earlier position.
    private func image(_ room: Room?, _ id: RoomID, _ view: RoomFeed, _ bytes: [UInt8], reply: String) {
        func refuse(_ outcome: PictureOutcome, _ error: RequestError) {
            metrics.countPicture(outcome)
            sink.refuse(reply, error)
        }
        let count = { metrics.countPicture(.badRequest) }
        guard let request = decoded(bytes, reply, ImageRequest.init(decoding:), orCount: count) else { return }
        if let fault = Self.fault(of: request) { return refuse(.badRequest, RequestError(.badRequest, fault)) }
        guard let room else { return refuse(.unknownRoom, unknown(id)) }
        if case .cohort(let cohort) = view, !room.serves(cohort) {
            return refuse(.unknownCohort, unknown(cohort))
        }
        guard room.isOf(request.incarnation), let board = board(of: room, view, at: request.index) else {
            return refuse(.unknownIndex, .unknownIndex)
        }
        // The board of an earlier position is made of the operations before it: not here, where all rooms wait.
        if let part = request.part {
            let size = board.size
            if Double(part.x) >= size.width || Double(part.y) >= size.height {
                return refuse(.badRequest, RequestError(.badRequest, "The part lies beyond the board."))
            }
        }
        let life = RoomIncarnation(room: id, incarnation: room.incarnation)
        let key = RenderKey(room: life, view: view, index: request.index, form: PictureForm(request))
        if let unless = request.unless {
            let (headers, tag) = renders.headers(of: key, of: board)
            if unless == tag || unless == "*" {
                metrics.countPicture(.notModified)
                return sink.send([], headers, reply)
            }
        }
        renders.render(key, of: board, slowest: room.slowestCursor, reply: reply)
    }

    /// What a well-formed request asks for that cannot be had; nil for nothing.
    private static func fault(of request: ImageRequest) -> String? {
        if request.format == .pdf, request.background == .transparent { return "The pages of a PDF are white." }
        if request.format != .png, request.part != nil { return "A part of the board is a PNG." }
        if request.format == .inkml, request.width != nil || request.background == .transparent {
            return "InkML is ink without a width in pixels and without a background."
        }
        return nil
    }

    private func board(of room: Room, _ view: RoomFeed, at index: UInt64?) -> BoardVersion? {
        switch (view, index) {
        case (.head, nil): BoardVersion(room.head)
        case (.head, let index?): room.head(at: index)
        case (.cohort(let cohort), nil): BoardVersion(room.board(of: cohort))
        case (.cohort(let cohort), let index?): room.board(of: cohort, at: index)
        }
    }

    /// Has a page of an asset rendered for those who may see it. The same answer for a room, a cohort and an asset that are
    /// not there as for a page that is not to be seen yet.
    private func asset(_ room: Room?, _ id: RoomID, _ view: RoomFeed, _ bytes: [UInt8], reply: String) {
        let count = { metrics.count(AssetPictureOutcome.badRequest) }
        guard let request = decoded(bytes, reply, AssetPageRequest.init(decoding:), orCount: count) else { return }
        let source = ImageSource(asset: request.id, page: request.page)
        let isShown =
            switch (room, view) {
            case (nil, _): false
            case (let room?, .head): room.head.hasImage(source)
            case (let room?, .cohort(let cohort)): room.board(of: cohort).hasImage(source)
            }
        assets.answer(
            request, to: RenderSchedule.Waiter(feed: RenderSchedule.Feed(room: id, view: view), reply: reply),
            isShown: isShown)
    }

    /// Answers with a part of the recorded lesson, as far as a cohort has seen it, or to the end of the log.
    private func replay(_ room: Room?, _ id: RoomID, _ view: RoomFeed, _ bytes: [UInt8], reply: String) {
        guard let request = decoded(bytes, reply, ReplayRequest.init(decoding:)) else { return }
        guard let room, !room.isBlank else { return sink.refuse(reply, unknown(id)) }
        var last = room.headIndex
        if case .cohort(let cohort) = view {
            guard room.serves(cohort) else { return sink.refuse(reply, unknown(cohort)) }
            last = room.board(of: cohort).index
        }
        replays.answer(request, of: id, incarnation: room.incarnation, through: last, reply: reply)
    }

    /// Answers with the room's summary.
    private func info(_ room: Room?, _ address: RoomAddress, at now: Instant, reply: String) {
        guard let room else { return sink.refuse(reply, unknown(address.room)) }
        let summary = RoomSummary(room.status(at: now), address: address, writers: room.lastWriters)
        infos.answer(reply) { summary.encoded() }
    }

    /// The request; nil, refused and counted, where it cannot be read.
    private func decoded<Request>(
        _ bytes: [UInt8], _ reply: String, _ decode: ([UInt8]) throws(Rejection) -> Request,
        orCount count: () -> Void = {}
    ) -> Request? {
        do throws(Rejection) {
            return try decode(bytes)
        } catch {
            count()
            sink.refuse(reply, RequestError(.badRequest, error.message))
            return nil
        }
    }

    /// Finishes the replies being made and refuses the requests that wait.
    func close() {
        joins.close()
        infos.close()
        renders.close()
        replays.close()
        assets.close()
    }

    private func unknown(_ room: RoomID) -> RequestError {
        RequestError(.unknownRoom, "Nobody has written to the room \(room).")
    }

    private func unknown(_ cohort: CohortName) -> RequestError {
        RequestError(.unknownCohort, "The room has no cohort \(cohort).")
    }
}

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

    /// Sends an error reply.
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

    /// Makes a reply on the queue and sends it.
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
/// reference. One room has at most half of either, so that requests for one room do not keep out those for another.
///
/// A single reply may exceed the bound on bytes: it is accepted if nothing else is pending.
struct ReplyBudget: Sendable {
    private struct Share: Equatable {
        var requests = 0
        var bytes = 0
    }

    private let limit: Share
    private let turnBytes: Int
    private var taken = Share()
    private var rooms: [RoomID: Share] = [:]

    /// - Parameter turnBytes: bytes of replies that are sent to those who share one, before other replies have their turn.
    init(requests: Int, bytes: Int, turnBytes: Int = 4 << 20) {
        limit = Share(requests: requests, bytes: bytes)
        self.turnBytes = turnBytes
    }

    /// Replies of a size that are sent in one turn, at least one.
    func turn(bytes: Int) -> Int { max(1, turnBytes / max(bytes, 1)) }

    /// Reserves one request.
    /// - Parameter bytes: that it adds to those pending; negative if its snapshot is smaller than the one it replaces for
    ///   all requests that share the reply.
    /// - Returns: false if the bound is reached; nothing was reserved.
    mutating func reserve(_ room: RoomID, bytes: Int) -> Bool {
        let share = rooms[room, default: Share()]
        guard taken.requests < limit.requests, share.requests < max(1, limit.requests / 2) else { return false }
        guard bytes <= 0 || taken.requests == 0 || taken.bytes + bytes <= limit.bytes else { return false }
        guard bytes <= 0 || share.requests == 0 || share.bytes + bytes <= limit.bytes / 2 else { return false }
        rooms[room] = Share(requests: share.requests + 1, bytes: share.bytes + bytes)
        taken.requests += 1
        taken.bytes += bytes
        return true
    }

    /// Releases answered requests of a room, and their bytes.
    mutating func release(_ room: RoomID, requests: Int, bytes: Int) {
        taken.requests -= requests
        taken.bytes -= bytes
        guard var share = rooms[room] else { return }
        share.requests -= requests
        share.bytes -= bytes
        rooms[room] = share == Share() ? nil : share
    }

    /// Whether nothing is reserved.
    var isUnused: Bool { taken == Share() && rooms.isEmpty }
}

extension RequestError {
    /// The bound on pending requests is reached.
    static let busy = RequestError(.notReady, "The server is busy with other requests; ask again in a second.")
    static let unknownIndex = RequestError(
        .unknownIndex, "The room's log does not hold this position, or it lies ahead of what may be seen.")
    static let pictureTooLarge = RequestError(
        .tooLarge, "The board has too many points for this format; ask for a PNG.")
    static let shuttingDown = RequestError(.notReady, "The server is shutting down.")
}
