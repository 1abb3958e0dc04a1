import NATSClient
import StrokeWire
import Whiteboard

/// Answers requests about rooms: takes a snapshot on the worker's thread, makes the reply from it elsewhere.
struct Replies: Sendable {
    let configuration: ServerConfiguration
    let joins: ReplyQueue
    let pictures: PictureDesk
    let metrics: ServerMetrics

    /// Answers a request.
    /// - Parameter room: nil where nobody has written to it.
    func answer(_ request: RoomRequest, _ room: Room?, at now: Instant) {
        switch request.kind {
        case .join(let cohort): join(room, cohort, request.payload, reply: request.reply)
        case .image(let cohort): image(room, request.address.room, cohort, request.payload, reply: request.reply)
        case .info: info(room, request.address, at: now, reply: request.reply)
        }
    }

    /// There is no place for the request while it would have to wait.
    func refuseForNow(_ request: RoomRequest) {
        joins.refuse(request.reply, RequestError(.notReady, "The room is being fetched; ask again in a second."))
    }

    /// A student who joins.
    private func join(_ room: Room?, _ cohort: CohortName, _ bytes: [UInt8], reply: String) {
        let request: JoinRequest
        do {
            request = try JoinRequest(decoding: bytes)
        } catch {
            metrics.countJoin("bad-request")
            return joins.refuse(reply, RequestError(.badRequest, error.message))
        }
        guard let snapshot = catchUp(room, request, cohort) else {
            metrics.countJoin("unknown-cohort")
            return joins.refuse(reply, unknown(cohort))
        }
        if case .tail = snapshot.content { metrics.countJoin("tail") } else { metrics.countJoin("board") }
        let palette = configuration.palette
        joins.answer(reply) { snapshot.encoded(palette: palette) }
    }

    private func catchUp(_ room: Room?, _ request: JoinRequest, _ cohort: CohortName) -> CatchUp? {
        if let room { return room.catchUp(request, cohort: cohort) }
        // A room nobody has written to.
        return Room(configuration: configuration.room, at: MonotonicClock.now()).catchUp(request, cohort: cohort)
    }

    /// The picture of the board as released to a cohort.
    private func image(_ room: Room?, _ id: RoomID, _ cohort: CohortName, _ bytes: [UInt8], reply: String) {
        let request: ImageRequest
        do {
            request = try ImageRequest(decoding: bytes)
        } catch {
            return pictures.refuse(reply, RequestError(.badRequest, error.message))
        }
        guard let room else { return pictures.refuse(reply, unknown(id)) }
        guard room.serves(cohort) else { return pictures.refuse(reply, unknown(cohort)) }
        let life = PictureSubject.RoomLife(room: id, incarnation: room.incarnation)
        let subject = PictureSubject(room: life, cohort: cohort, width: request.width)
        pictures.order(subject, of: room.board(of: cohort), reply: reply)
    }

    /// Where a room stands.
    private func info(_ room: Room?, _ address: RoomAddress, at now: Instant, reply: String) {
        guard let room else { return joins.refuse(reply, unknown(address.room)) }
        let report = RoomReport(room.status(at: now), address: address)
        joins.answer(reply) { report.encoded() }
    }

    /// Finishes the replies that are being made and refuses those that wait.
    func close() {
        joins.close()
        pictures.close()
    }

    private func unknown(_ room: RoomID) -> RequestError {
        RequestError(.unknownRoom, "Nobody has written to the room \(room).")
    }

    private func unknown(_ cohort: CohortName) -> RequestError {
        RequestError(.unknownCohort, "The room has no cohort \(cohort).")
    }
}
