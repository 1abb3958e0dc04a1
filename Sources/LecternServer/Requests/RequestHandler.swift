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
        case .join(let view): join(request, room, isCurrent, view)
        case .image(let view): image(request, room, view)
        case .replay(let view): replay(request, room, view)
        case .asset(let view): asset(request, room, view)
        case .info: info(request, room, at: now)
        }
    }

    /// Refuses a request that would have to wait.
    func refuseForNow(_ request: RoomRequest) {
        sink.refuse(request.reply, RequestError(.notReady, "The room is being fetched; ask again in a second."))
    }

    /// Answers a join of a cohort or of the head.
    private func join(_ request: RoomRequest, _ room: Room?, _ isCurrent: Bool, _ view: RoomFeed) {
        func refuse(_ outcome: JoinOutcome, _ error: RequestError) {
            metrics.joins.count(outcome)
            sink.refuse(request.reply, error)
        }
        guard let body = decoded(request, JoinRequest.init(decoding:), orRefuse: { refuse(.badRequest, $0) }) else {
            return
        }
        // A room that nobody has written to is blank.
        let room = room ?? Room(configuration: configuration.room, at: MonotonicClock.now())
        let found: CatchUp?
        switch view {
        case .head: found = room.catchUpHead(body, isCurrent: isCurrent)
        case .cohort(let cohort):
            guard room.serves(cohort) else { return refuse(.unknownCohort, unknown(cohort)) }
            found = room.catchUp(body, cohort: cohort, isCurrent: isCurrent)
        }
        guard let snapshot = found else { return refuse(.unknownIndex, .unknownIndex) }
        guard joins.answer(snapshot, of: request.address.room, view, to: body, reply: request.reply) else {
            return metrics.joins.count(.notReady)
        }
        if case .tail = snapshot.content { metrics.joins.count(.tail) } else { metrics.joins.count(.board) }
    }

    /// Has the board rendered as released to a cohort, or at the end of the log; now, or at an earlier position.
    private func image(_ request: RoomRequest, _ room: Room?, _ view: RoomFeed) {
        func refuse(_ outcome: PictureOutcome, _ error: RequestError) {
            metrics.pictures.count(outcome)
            sink.refuse(request.reply, error)
        }
        guard let body = decoded(request, ImageRequest.init(decoding:), orRefuse: { refuse(.badRequest, $0) }) else {
            return
        }
        if let fault = Self.fault(of: body) { return refuse(.badRequest, RequestError(.badRequest, fault)) }
        let id = request.address.room
        guard let room else { return refuse(.unknownRoom, unknown(id)) }
        if case .cohort(let cohort) = view, !room.serves(cohort) {
            return refuse(.unknownCohort, unknown(cohort))
        }
        // The board of an earlier position is made of the operations before it: not here, where all rooms wait.
        guard room.isOf(body.incarnation), let board = board(of: room, view, at: body.index) else {
            return refuse(.unknownIndex, .unknownIndex)
        }
        if let part = body.part, Double(part.x) >= board.size.width || Double(part.y) >= board.size.height {
            return refuse(.badRequest, RequestError(.badRequest, "The part lies beyond the board."))
        }
        let life = RoomIncarnation(room: id, incarnation: room.incarnation)
        let key = RenderKey(room: life, view: view, index: body.index, form: PictureForm(body))
        if let unless = body.unless {
            let (headers, tag) = renders.headers(of: key, of: board)
            if unless == tag || unless == "*" {
                metrics.pictures.count(.notModified)
                return sink.send([], headers, request.reply)
            }
        }
        renders.render(key, of: board, slowest: room.slowestCursor, reply: request.reply)
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
    private func asset(_ request: RoomRequest, _ room: Room?, _ view: RoomFeed) {
        let body = decoded(request, AssetPageRequest.init(decoding:)) { error in
            metrics.assetPictures.count(.badRequest)
            sink.refuse(request.reply, error)
        }
        guard let body else { return }
        let source = ImageSource(asset: body.id, page: body.page)
        let isShown =
            switch (room, view) {
            case (nil, _): false
            case (let room?, .head): room.head.hasImage(source)
            case (let room?, .cohort(let cohort)): room.board(of: cohort).hasImage(source)
            }
        let feed = RenderSchedule.Feed(room: request.address.room, view: view)
        assets.answer(body, to: RenderSchedule.Waiter(feed: feed, reply: request.reply), isShown: isShown)
    }

    /// Answers with a part of the recorded lesson, as far as a cohort has seen it, or to the end of the log.
    private func replay(_ request: RoomRequest, _ room: Room?, _ view: RoomFeed) {
        let reply = request.reply
        guard let body = decoded(request, ReplayRequest.init(decoding:), orRefuse: { sink.refuse(reply, $0) }) else {
            return
        }
        let id = request.address.room
        guard let room, !room.isBlank else { return sink.refuse(reply, unknown(id)) }
        var last = room.headIndex
        if case .cohort(let cohort) = view {
            guard room.serves(cohort) else { return sink.refuse(reply, unknown(cohort)) }
            last = room.board(of: cohort).index
        }
        replays.answer(body, of: id, incarnation: room.incarnation, through: last, reply: reply)
    }

    /// Answers with the room's summary.
    private func info(_ request: RoomRequest, _ room: Room?, at now: Instant) {
        let address = request.address
        guard let room else { return sink.refuse(request.reply, unknown(address.room)) }
        let summary = RoomSummary(room.status(at: now), address: address, writers: room.lastWriters)
        infos.answer(request.reply) { summary.encoded() }
    }

    /// What a request asks for; nil, refused, where it cannot be read.
    private func decoded<Body>(
        _ request: RoomRequest, _ decode: ([UInt8]) throws(Rejection) -> Body,
        orRefuse refuse: (RequestError) -> Void
    ) -> Body? {
        do throws(Rejection) {
            return try decode(request.payload)
        } catch {
            refuse(RequestError(.badRequest, error.message))
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
