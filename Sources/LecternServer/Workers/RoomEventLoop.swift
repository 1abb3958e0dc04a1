import DequeModule
import Hosting
import StrokeWire
import Whiteboard

/// The event loop of one worker: passes items to the room host and answers requests.
///
/// Used by one thread at a time: the worker's, or the connection's with a round of brief items, as the ``Mailbox`` grants it.
final class RoomEventLoop {
    private let host: RoomHost<WorkerOutput>
    private let output: WorkerOutput
    private let requests: RequestHandler
    private var assignment = ServingAssignment()
    private var waiting = WaitingRequests()
    /// All partitions without a journal, where no other daemon has any of these rooms; else nil.
    private let standalonePartitions: Set<Int>?

    init(
        configuration: ServerConfiguration, host: HostConfiguration, output: WorkerOutput, requests: RequestHandler,
        isOutputOpen: Bool
    ) {
        self.output = output
        self.requests = requests
        self.host = RoomHost(configuration: host, output: output, isOutputOpen: isOutputOpen)
        standalonePartitions = configuration.journal == nil ? Set(0..<configuration.partitions) : nil
    }

    var nextWake: Instant? { host.nextWake }

    /// Between two slices of a backlog the rooms do what is due. A slice ends after an item that takes longer, too.
    private static let sliceDuration = Duration.milliseconds(1)

    /// Handles a batch of items, and what is due. Empties the batch.
    /// - Returns: false after `.stop`.
    func run(_ batch: inout Deque<InboundItem>) -> Bool {
        var goesOn = true
        var sliceEnd = MonotonicClock.now() + Self.sliceDuration
        while let item = batch.popFirst() {
            var now = MonotonicClock.now()
            if now >= sliceEnd {
                advance(to: now)
                now = MonotonicClock.now()
                sliceEnd = now + Self.sliceDuration
            }
            if case .stop = item { goesOn = false } else { handle(item, at: now) }
        }
        advance(to: MonotonicClock.now())
        return goesOn
    }

    private func advance(to now: Instant) {
        host.advance(to: now)
        answerOpened(at: now)
        output.flush()
    }

    private func handle(_ item: consuming InboundItem, at now: Instant) {
        switch consume item {
        case .record(let record, let arrivedAt): host.take(record, arrivedAt: arrivedAt, at: now)
        case .clock(let sample): host.sample(sample, at: now)
        case .wet(let update): host.draw(update, at: now)
        case .request(let request): answer(request, at: now)
        case .scan(let scan, let remaining): self.scan(remaining ?? host.roomNames[...], for: scan, at: now)
        case .output(let isOpen):
            // The item that reports the loss of the last connection may come later, or never.
            if isOpen, output.takeNewestConnection() { host.setOutput(isOpen: false, at: now) }
            host.setOutput(isOpen: isOpen, at: now)
        case .confirmed(let isConfirmed): host.confirmed(isConfirmed, at: now)
        case .partition(let item): handle(item, at: now)
        case .restored(let room, let stay, let restoration):
            guard output.isAwaited(room, stay: stay) else { return }
            host.restored(
                room, restoration.room, sequence: restoration.sequence, restorations: restoration.restorations,
                tail: restoration.tail, at: now)
        case .saved(let room, let stay, let outcome):
            guard output.isAwaited(room, stay: stay) else { return }
            switch outcome {
            case .saved, .failed: host.saved(room, isSaved: outcome == .saved, at: now)
            case .superseded: host.superseded(room, at: now)
            }
        case .probe(let probe, let worker): probe.answered(by: worker, at: now)
        case .survey(let turn): survey(turn, at: now)
        case .stop: break
        }
        answerOpened(at: now)
    }

    /// Answers what has waited for rooms that were loaded: by an item, or because a place has become free in time.
    private func answerOpened(at now: Instant) {
        while case let rooms = output.takeOpened(), !rooms.isEmpty {
            for room in rooms { answerWaiting(for: room, at: now) }
        }
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
        case .level(let partition, let until): host.setLevel(of: partition, until: until, at: now)
        case .position(let partition, let sequence, let report):
            report(host.covered(of: partition, through: sequence))
        case .saveSoon(let partition): host.saveSoon(partition, at: now)
        case .assignment(let assignment):
            self.assignment = assignment
            for room in waiting.rooms { answerWaiting(for: room, at: now) }
        case .close(let partition, let saving): host.close(partition, saving: saving, at: now)
        }
    }

    private func answer(_ request: RoomRequest, at now: Instant) {
        let partition = request.address.partition
        if standalonePartitions == nil {
            guard assignment.isValid(at: BootClock.now()) else { return wait(request, at: now) }
            guard assignment.answers(partition) else { return }
        }
        switch host.look(for: request.address.room, partition: partition, at: now) {
        case .here(let hosted):
            requests.answer(request, hosted.room, isCurrent: host.isCurrent(hosted, at: now), at: now)
        case .absent:
            // A room that nobody has written to can have a clock: it knows the time at the teacher, and that ink will wait.
            switch request.kind {
            case .info, .join:
                if case .here(let hosted)? = host.known(request.address.room), let room = hosted.room, room.isBlank,
                    room.hasClock
                {
                    return requests.answer(request, room, at: now)
                }
            case .image, .replay, .asset: break
            }
            requests.answer(request, nil, at: now)
        case .full: requests.refuseForNow(request)
        // One that is about to be opened, too: no other daemon answers.
        case .waking, .recovering, .elsewhere: wait(request, at: now)
        }
    }

    private func wait(_ request: RoomRequest, at now: Instant) {
        if !waiting.add(request, at: now) { requests.refuseForNow(request) }
    }

    private func answerWaiting(for room: RoomID, at now: Instant) {
        for request in waiting.take(room, at: now) { answer(request, at: now) }
    }

    /// Lists a few rooms; the rest is posted again, so that other items are handled in between.
    private func scan(_ rooms: ArraySlice<RoomID>, for scan: RoomScan, at now: Instant) {
        let rest = rooms.dropFirst(RoomScan.stride)
        let reports = rooms.prefix(RoomScan.stride).compactMap { room -> RoomSummary? in
            switch host.known(room) {
            case .here(let hosted): hosted.withRoom { RoomSummary($0.status(at: now), address: hosted.address) }
            case .stored(let state):
                RoomSummary(state, address: output.address(of: room), host.configuration.room.cohorts)
            case nil: nil
            }
        }
        scan.add(reports, serving: serving, isLast: rest.isEmpty)
        if !rest.isEmpty { output.postAgain(.scan(scan, remaining: rest)) }
    }

    private func survey(_ turn: SurveyTurn, at now: Instant) {
        var turn = turn
        let rooms = turn.remaining ?? host.residentRooms[...]
        for room in rooms.prefix(RoomSurvey.stride) {
            if case .here(let hosted)? = host.known(room), let room = hosted.room {
                turn.survey.add(room, unsavedSince: host.unsavedSince(hosted), at: now)
            }
        }
        let rest = rooms.dropFirst(RoomSurvey.stride)
        guard !rest.isEmpty else { return turn.surveys.complete(turn.survey, of: turn.worker) }
        turn.remaining = rest
        output.postAgain(.survey(turn))
    }

    /// The partitions that this daemon serves; none when it does not know, after it was suspended.
    private var serving: Set<Int> {
        if let standalonePartitions { return standalonePartitions }
        return assignment.isValid(at: BootClock.now()) ? assignment.serving : []
    }
}
