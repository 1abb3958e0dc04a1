import NATSClient
import StrokeWire
import Whiteboard

/// Answers requests about rooms: takes a snapshot on the worker's thread, makes the reply from it elsewhere.
struct Replies: Sendable {
    let configuration: ServerConfiguration
    let joins: ReplyQueue
    let pictures: PictureDesk
    let metrics: ServerMetrics

    /// A student who joins.
    func join(_ slot: RoomSlot?, _ room: RoomID, _ cohort: CohortName, _ bytes: [UInt8], reply: String) {
        let request: JoinRequest
        do {
            request = try JoinRequest(decoding: bytes)
        } catch {
            metrics.countJoin("bad-request")
            return joins.refuse(reply, RequestError(.badRequest, error.message))
        }
        guard let snapshot = catchUp(slot, request, cohort) else {
            metrics.countJoin("unknown-cohort")
            return joins.refuse(reply, unknown(cohort))
        }
        if case .tail = snapshot.content { metrics.countJoin("tail") } else { metrics.countJoin("board") }
        let palette = configuration.palette
        joins.answer(reply) { snapshot.encoded(palette: palette) }
    }

    private func catchUp(_ slot: RoomSlot?, _ request: JoinRequest, _ cohort: CohortName) -> CatchUp? {
        if let slot { return slot.room.catchUp(request, cohort: cohort) }
        // A room nobody has written to.
        return Room(configuration: configuration.room, at: MonotonicClock.now()).catchUp(request, cohort: cohort)
    }

    /// The picture of the board as released to a cohort.
    func image(_ slot: RoomSlot?, _ room: RoomID, _ cohort: CohortName, _ bytes: [UInt8], reply: String) {
        let request: ImageRequest
        do {
            request = try ImageRequest(decoding: bytes)
        } catch {
            return pictures.refuse(reply, RequestError(.badRequest, error.message))
        }
        guard let slot else {
            return pictures.refuse(reply, RequestError(.unknownRoom, "Nobody has written to the room \(room)."))
        }
        guard slot.room.serves(cohort) else { return pictures.refuse(reply, unknown(cohort)) }
        let life = PictureSubject.RoomLife(room: room, incarnation: slot.room.incarnation)
        let subject = PictureSubject(room: life, cohort: cohort, width: request.width)
        pictures.order(subject, of: slot.room.board(of: cohort), reply: reply)
    }

    /// Where a room stands.
    func info(_ slot: RoomSlot?, _ room: RoomID, at now: Instant, reply: String) {
        guard let slot else {
            return joins.refuse(reply, RequestError(.unknownRoom, "Nobody has written to the room \(room)."))
        }
        let report = RoomReport(slot.room.status(at: now), address: slot.address)
        joins.answer(reply) { report.encoded() }
    }

    /// A line on every room of one worker, in messages that each can be read alone: whoever asks gathers them.
    func list(_ slots: some Sequence<RoomSlot>, at now: Instant, reply: String) {
        var lines = slots.map { RoomReport($0.room.status(at: now), address: $0.address) }[...]
        repeat {
            let page = Array(lines.prefix(RoomReport.pageLength))
            lines = lines.dropFirst(page.count)
            joins.answer(reply) { RoomReport.encoded(page) }
        } while !lines.isEmpty
    }

    /// Finishes the replies that are being made and refuses those that wait.
    func close() {
        joins.close()
        pictures.close()
    }

    private func unknown(_ cohort: CohortName) -> RequestError {
        RequestError(.unknownCohort, "The room has no cohort \(cohort).")
    }
}
