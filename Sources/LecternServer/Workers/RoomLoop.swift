import Hosting
import Logging
import StrokeWire
import Whiteboard

/// What runs the rooms of one worker: hands the host what has come, answers requests. Confined to the worker's thread.
final class RoomLoop {
    private let host: RoomHost<WorkerOutput>
    private let output: WorkerOutput
    private let replies: Replies
    private var duties = Duties()
    private var waiting: WaitingRequests
    private let answersAlways: Bool

    init(configuration: ServerConfiguration, output: WorkerOutput, replies: Replies, isOutputOpen: Bool) {
        self.output = output
        self.replies = replies
        host = RoomHost(configuration: configuration.host, output: output, isOutputOpen: isOutputOpen)
        answersAlways = configuration.journal == nil
        waiting = WaitingRequests(limit: configuration.replies)
    }

    var nextWake: Instant? { host.nextWake }

    /// Handles what has come and what is due.
    /// - Returns: false after `.stop`.
    func run(_ batch: [InboundItem]) -> Bool {
        var goesOn = true
        for item in batch {
            if case .stop = item { goesOn = false } else { handle(item, at: MonotonicClock.now()) }
        }
        host.advance(to: MonotonicClock.now())
        return goesOn
    }

    private func handle(_ item: InboundItem, at now: Instant) {
        switch item {
        case .record(let record): host.take(record, at: now)
        case .clock(let address, let cohort, let bytes):
            host.sample(bytes, of: address.room, cohort: cohort, partition: address.partition, at: now)
        case .request(let request): answer(WaitingRequests.Entry(request: request, since: now), at: now)
        case .survey(let survey, let left): look(at: left ?? host.roomNames[...], for: survey, at: now)
        case .output(let isOpen): host.setOutput(isOpen: isOpen, at: now)
        case .partition(let item): handle(item, at: now)
        case .restored(let room, let restoration):
            host.restored(
                room, restoration.room, sequence: restoration.sequence, tail: restoration.tail, at: now)
        case .saved(let room, let isSaved): host.saved(room, isSaved: isSaved, at: now)
        case .superseded(let room): host.superseded(room, at: now)
        case .stop: break
        }
        for room in output.takeOpened() { answerWaiting(for: room, at: now) }
    }

    private func handle(_ item: PartitionItem, at now: Instant) {
        switch item {
        case .open(let partition, let prefix, let stored, let kept):
            host.open(partition, prefix: prefix, stored: stored, kept: kept, at: now)
        case .logClock(let partition, let ahead): host.setLogClock(of: partition, ahead: ahead)
        case .barrier(let pass): host.barrier(pass)
        case .caughtUp(let partition):
            host.caughtUp(partition, at: now)
            for room in waiting.rooms(of: partition) { answerWaiting(for: room, at: now) }
        case .position(let partition, let sequence, let report):
            report(host.covered(of: partition, through: sequence))
        case .duties(let duties):
            self.duties = duties
            for room in waiting.rooms { answerWaiting(for: room, at: now) }
        case .close(let partition, let discarding):
            output.willClose(partition, isWhole: !discarding && host.holdsAll(of: partition))
            host.close(partition, discarding: discarding, at: now)
        }
    }

    private func answer(_ entry: WaitingRequests.Entry, at now: Instant) {
        let request = entry.request
        let partition = request.address.partition
        if !answersAlways {
            guard now < duties.validUntil else { return wait(entry) }
            guard duties.areAnswered(partition) else { return }
        }
        switch host.look(for: request.address.room, partition: partition, at: now) {
        case .here(let hosted): replies.answer(request, hosted.room, at: now)
        case .absent: replies.answer(request, nil, at: now)
        case .waking, .recovering: wait(entry)
        case .elsewhere: break
        }
    }

    private func wait(_ entry: WaitingRequests.Entry) {
        if !waiting.add(entry) { replies.refuseForNow(entry.request) }
    }

    private func answerWaiting(for room: RoomID, at now: Instant) {
        for entry in waiting.take(room, at: now) { answer(entry, at: now) }
    }

    /// A few rooms at a time: what else has come is handled before the next.
    private func look(at rooms: ArraySlice<RoomID>, for survey: RoomSurvey, at now: Instant) {
        let rest = rooms.dropFirst(RoomSurvey.stride)
        let reports = rooms.prefix(RoomSurvey.stride).compactMap { room -> RoomReport? in
            switch host.known(room) {
            case .here(let hosted): hosted.room.map { RoomReport($0.status(at: now), address: hosted.address) }
            case .stored(let state): RoomReport(state, address: output.address(of: room))
            case nil: nil
            }
        }
        survey.add(reports, isLast: rest.isEmpty)
        if !rest.isEmpty { output.postAgain(.survey(survey, left: rest)) }
    }
}
