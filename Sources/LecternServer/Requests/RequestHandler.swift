import StrokeWire
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
        let count = { metrics.joins.count(.badRequest) }
        guard let request = decoded(bytes, reply, JoinRequest.init(decoding:), orCount: count) else { return }
        // A room that nobody has written to is blank.
        let room = room ?? Room(configuration: configuration.room, at: MonotonicClock.now())
        let found: CatchUp?
        switch view {
        case .head: found = room.catchUpHead(request, isCurrent: isCurrent)
        case .cohort(let cohort):
            guard room.serves(cohort) else {
                metrics.joins.count(.unknownCohort)
                return sink.refuse(reply, unknown(cohort))
            }
            found = room.catchUp(request, cohort: cohort, isCurrent: isCurrent)
        }
        guard let snapshot = found else {
            metrics.joins.count(.unknownIndex)
            return sink.refuse(reply, .unknownIndex)
        }
        guard joins.answer(snapshot, of: id, view, to: request, reply: reply) else {
            return metrics.joins.count(.notReady)
        }
        if case .tail = snapshot.content { metrics.joins.count(.tail) } else { metrics.joins.count(.board) }
    }

    /// Has the board rendered as released to a cohort, or at the end of the log; now, or at an earlier position.
    private func image(_ room: Room?, _ id: RoomID, _ view: RoomFeed, _ bytes: [UInt8], reply: String) {
        func refuse(_ outcome: PictureOutcome, _ error: RequestError) {
            metrics.pictures.count(outcome)
            sink.refuse(reply, error)
        }
        let count = { metrics.pictures.count(.badRequest) }
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
                metrics.pictures.count(.notModified)
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
        let count = { metrics.assetPictures.count(.badRequest) }
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
