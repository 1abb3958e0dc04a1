import Journal
import Logging
import StrokeWire
import Whiteboard

/// The rooms of one worker. Confined to the worker's thread.
final class RoomLoop {
    let configuration: ServerConfiguration
    let journal: VolatileJournal
    let fanout: Fanout
    let replies: Replies
    let metrics: ServerMetrics
    let logger: Logger
    var rooms: [RoomID: RoomSlot] = [:]
    private var wakes = WakeQueue()
    private var effects = RoomEffects()
    private var isOutputOpen: Bool
    private let budget: Budget

    /// A room that nobody has written to makes place for another such after so long.
    private static let blankTime = Duration.seconds(600)

    init(
        configuration: ServerConfiguration, budget: Budget, journal: VolatileJournal, fanout: Fanout, replies: Replies,
        metrics: ServerMetrics, isOutputOpen: Bool, logger: Logger
    ) {
        self.configuration = configuration
        self.journal = journal
        self.fanout = fanout
        self.replies = replies
        self.metrics = metrics
        self.isOutputOpen = isOutputOpen
        self.logger = logger
        self.budget = budget
    }

    var nextWake: Instant? { wakes.earliest }

    /// Handles what has come and what is due.
    /// - Returns: false after `.stop`.
    func run(_ batch: [InboundItem]) -> Bool {
        var goesOn = true
        for item in batch {
            if case .stop = item { goesOn = false } else { handle(item) }
        }
        let now = MonotonicClock.now()
        while let room = wakes.popDue(at: now) {
            if let slot = rooms[room] { settle(slot, at: now) }
        }
        return goesOn
    }

    private func handle(_ item: InboundItem) {
        let now = MonotonicClock.now()
        switch item {
        case .record(let record): take(record, at: now)
        case .clock(let room, let cohort, let bytes):
            guard let slot = slot(for: room, at: now, isWritten: false) else { return }
            slot.room.receive(clockSample: bytes, cohort: cohort, at: now, into: &effects)
            settle(slot, at: now)
        case .join(let room, let cohort, let bytes, let reply):
            replies.join(rooms[room], room, cohort, bytes, reply: reply)
        case .image(let room, let cohort, let bytes, let reply):
            replies.image(rooms[room], room, cohort, bytes, reply: reply)
        case .info(let room, let reply):
            replies.info(rooms[room], room, at: now, reply: reply)
        case .list(let reply):
            replies.list(rooms.values, at: now, reply: reply)
        case .output(let isOpen):
            setOutput(isOpen: isOpen, at: now)
        case .stop:
            break
        }
    }

    private func take(_ record: JournalRecord, at now: Instant) {
        guard let slot = slot(for: record.room, at: now, isWritten: true) else {
            refuse(record)
            return
        }
        feed(record, to: slot, at: now)
        settle(slot, at: now)
    }

    private func feed(_ record: JournalRecord, to slot: RoomSlot, at now: Instant) {
        switch record.content {
        case .control(let control):
            slot.room.receive(control, loggedAt: record.loggedAt, at: now, into: &effects)
        case .message(let author, let session, let bytes):
            let wasBlank = slot.room.incarnation.isEmpty
            slot.room.receive(
                IncomingMessage(author: author, session: session, bytes: bytes, loggedAt: record.loggedAt),
                incarnation: { "\(journal.incarnationPrefix)-\(String(record.sequence, radix: 36))" },
                at: now, into: &effects)
            if wasBlank {
                logger.info("room opened", metadata: ["room": "\(record.room)", "author": "\(author)"])
            }
        }
    }

    /// Lets the room do what is due, carries out what it asks for, and notes when to come back.
    private func settle(_ slot: RoomSlot, at now: Instant) {
        slot.lastUse = now
        slot.room.advance(to: now, into: &effects)
        var next = 0
        while next < effects.list.count {
            perform(effects.list[next], in: slot, at: now)
            next += 1
        }
        metrics.add(effects.counts)
        metrics.reportDepth(of: slot)
        effects.removeAll()
        wakes.set(slot.address.room, to: slot.room.nextWake(after: now))
    }

    private func perform(_ effect: RoomEffect, in slot: RoomSlot, at now: Instant) {
        if case .record(let control) = effect {
            // Decisions take effect where they stand in the journal, which may be at once.
            feed(journal.append(control, room: slot.address.room, at: now), to: slot, at: now)
            slot.room.advance(to: now, into: &effects)
            return
        }
        if !slot.unsent.isEmpty || !fanout.perform(effect, in: slot, metrics) { keep(effect, in: slot) }
    }

    /// Releases wait for the connection; everything else is said again by the protocol itself.
    private func keep(_ effect: RoomEffect, in slot: RoomSlot) {
        guard case .release = effect else { return }
        slot.unsent.append(effect)
        slot.room.setOutput(isOpen: false)
    }

    private func setOutput(isOpen: Bool, at now: Instant) {
        isOutputOpen = isOpen
        for slot in rooms.values {
            if isOpen {
                let unsent = slot.unsent
                slot.unsent = []
                for effect in unsent where !slot.unsent.isEmpty || !fanout.perform(effect, in: slot, metrics) {
                    keep(effect, in: slot)
                }
            }
            slot.room.setOutput(isOpen: isOpen && slot.unsent.isEmpty)
            settle(slot, at: now)
        }
    }

    /// The room, made if there is none; nil where the server has as many as it may.
    private func slot(for id: RoomID, at now: Instant, isWritten: Bool) -> RoomSlot? {
        if let slot = rooms[id] { return slot }
        guard budget.take() || makeRoom(at: now, isWritten: isWritten) else { return nil }
        var room = Room(configuration: configuration.room, at: now)
        room.setOutput(isOpen: isOutputOpen)
        let address = RoomAddress(root: configuration.root, room: id, partitions: configuration.partitions)
        let slot = RoomSlot(address: address, room: room, at: now)
        rooms[id] = slot
        metrics.countRoom()
        return slot
    }

    /// Lets go of the room that has been blank and unused longest, so that another takes its place: one that is
    /// written to at once, another clock's only after a while.
    private func makeRoom(at now: Instant, isWritten: Bool) -> Bool {
        let blank = rooms.values.filter { $0.room.isBlank }
        guard let oldest = blank.min(by: { $0.lastUse < $1.lastUse }),
            isWritten || now - oldest.lastUse >= Self.blankTime
        else { return false }
        wakes.set(oldest.address.room, to: nil)
        rooms[oldest.address.room] = nil
        metrics.forgetRoom()
        return true
    }

    private func refuse(_ record: JournalRecord) {
        guard case .message(let author, _, let bytes) = record.content else { return }
        let rejection = Rejection(
            code: .roomFull, field: nil, message: "The server has as many rooms as it may.")
        let address = RoomAddress(root: configuration.root, room: record.room, partitions: configuration.partitions)
        let known: (number: Int64?, order: Int?)
        do {
            let header = try StrokeMessage(decoding: bytes, limits: configuration.room.intake.wire)
            known = (header.number, header.shardOrder)
        } catch {
            known = (error.number, error.order)
        }
        metrics.reject(rejection.code)
        _ = fanout.publish(.rejected(number: known.number, order: known.order, rejection), to: author, at: address)
    }
}
