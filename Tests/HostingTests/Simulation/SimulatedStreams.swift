import Hosting
import StrokeWire
import Synchronization
import TestSupport
import Whiteboard

/// The stream of a partition's log: stores each message id once, acknowledges, keeps the order. Record times come from
/// the clock of its leader.
final class SimulatedLog {
    struct Entry {
        let record: JournalRecord
        /// The author's message; nil for decisions.
        let sent: SentMessage?
        let at: Moment
        /// When it was sent. A decision waits for the next leader of a log that has none.
        let sentAt: Moment
    }

    let partition: Int
    private let world: World
    private(set) var entries: [Entry] = []
    /// The decisions among the entries.
    private(set) var decisions: [Entry] = []
    /// What is stored of the entries: a subject for each room.
    private var stream = ModelStream<Void>()
    /// The last record that somebody has read.
    private(set) var readThrough: UInt64 = 0
    /// Records that have expired before anybody read them.
    private var lost: Set<UInt64> = []
    private var leaderlessUntil = Moment(nanoseconds: 0)
    /// By how much the leader's clock is ahead.
    private var skew = Duration.zero
    /// When decisions about the log were held up although daemons served: one was lost, or a reader was behind.
    private var holdUps: [(from: Moment, to: Moment)] = []
    private var whenGrown: [() -> Void] = []

    /// The leader's clock at the start.
    private static let origin: Int64 = 1_700_000_000_000_000_000

    /// First part of the incarnations of its rooms.
    let prefix: String

    init(partition: Int, prefix: String, world: World) {
        (self.partition, self.prefix, self.world) = (partition, prefix, world)
    }

    var last: UInt64 { UInt64(entries.count) }
    var serverTime: Instant { Instant(nanoseconds: Self.origin + world.now.nanoseconds + skew.nanoseconds) }

    func read(_ sequence: UInt64) -> JournalRecord {
        readThrough = max(readThrough, sequence)
        return entries[Int(sequence - 1)].record
    }

    func records(of room: RoomID, after sequence: UInt64) -> [JournalRecord] {
        readThrough = last
        return entries.dropFirst(Int(sequence)).map(\.record).filter { $0.room == room && !isDeleted($0.sequence) }
    }

    /// Deletes the records through `sequence`, or those of a room alone.
    func delete(through sequence: UInt64, of room: RoomID? = nil) {
        stream.purge(before: sequence + 1, of: room?.text)
    }

    /// The records through `sequence` are older than the log's `max_age`, those that nobody has read among them.
    func expire(through sequence: UInt64) {
        for entry in entries.prefix(Int(sequence)).dropFirst(Int(readThrough)) { lost.insert(entry.record.sequence) }
        delete(through: sequence)
    }

    /// Whether nobody can know of a record.
    func isLost(_ sequence: UInt64) -> Bool { lost.contains(sequence) }

    func isDeleted(_ sequence: UInt64) -> Bool { stream.message(sequence) == nil }

    /// The last decision to erase a room.
    func erasure(of room: RoomID) -> UInt64? {
        decisions.last {
            if case .control(.erase) = $0.record.content { $0.record.room == room } else { false }
        }?.record.sequence
    }

    /// A message has arrived.
    /// - Parameters:
    ///   - sentAt: when it was sent; nil for now.
    ///   - acknowledge: called when it is stored, also before, unless the acknowledgement is lost.
    func take(
        _ content: JournalRecord.Content, of room: RoomID, id: String?, sent: SentMessage? = nil,
        sentAt: Moment? = nil, acknowledge: @escaping () -> Void = {}
    ) {
        let sentAt = sentAt ?? world.now
        if world.now < leaderlessUntil {
            // Lost, or stored by the next leader without an acknowledgement.
            if world.chance(500) {
                world.at(leaderlessUntil + .milliseconds(1)) { [self] in
                    take(content, of: room, id: id, sent: sent, sentAt: sentAt)
                }
            }
            return
        }
        let now = Duration.nanoseconds(world.now.nanoseconds)
        if case .stored(let sequence) = stream.append((), to: room.text, id: id, at: now) {
            let record = JournalRecord(
                partition: partition, room: room, content: content, sequence: sequence, loggedAt: serverTime)
            append(Entry(record: record, sent: sent, at: world.now, sentAt: sentAt))
            world.note("log \(partition): \(last) \(room) \(sent?.summary ?? "\(content)")")
            for grown in whenGrown { grown() }
        }
        if !world.chance(30) { world.after(0...3, acknowledge) }
    }

    private func append(_ entry: Entry) {
        entries.append(entry)
        if entry.sent == nil { decisions.append(entry) }
    }

    /// Takes over a record of another log, from which rooms are moved.
    /// - Returns: its sequence.
    func adopt(_ entry: Entry, from log: SimulatedLog) -> UInt64 {
        let old = entry.record
        _ = stream.append((), to: old.room.text)
        let record = JournalRecord(
            partition: partition, room: old.room, content: old.content, sequence: stream.last, loggedAt: old.loggedAt,
            origin: old.place(in: log.prefix))
        append(Entry(record: record, sent: entry.sent, at: entry.at, sentAt: entry.sentAt))
        return last
    }

    /// Decisions about rooms that are moved were held up as in their log.
    func holdUp(as log: SimulatedLog) { holdUps += log.holdUps }

    /// Notes that decisions were held up, or will be.
    func holdUp(from: Moment, to: Moment) { holdUps.append((from, to)) }

    /// How long decisions were not held up between two moments.
    func freeTime(from start: Moment, to end: Moment) -> Duration {
        var (free, reached) = (Duration.zero, start)
        for holdUp in holdUps.sorted(by: { $0.from < $1.from }) where holdUp.to > reached && holdUp.from < end {
            free += max(.zero, holdUp.from - reached)
            reached = holdUp.to
        }
        return free + max(.zero, end - reached)
    }

    /// Calls `grown` after each new record.
    func follow(_ grown: @escaping () -> Void) { whenGrown.append(grown) }

    /// The leader dies; another server takes over, with another clock.
    func loseLeader(for duration: Duration) {
        world.note("log \(partition) has no leader for \(duration)")
        world.trouble(for: duration)
        leaderlessUntil = world.now + duration
        skew = world.random.milliseconds(-40...40)
    }
}

/// A process's ordered consumer of a log: delivers records with delays, with pauses where it is created again, and with
/// barriers that the process must pass.
final class SimulatedReader {
    enum Event {
        case logClock(ahead: Duration)
        case record(JournalRecord)
        /// A record was deleted before it was read.
        case missing
        case barrier(pass: @Sendable () -> Void)
        case caughtUp
        case level(until: Instant)
    }

    /// How long a sign counts that the log has been read to its end, and the time between two such signs of a log at rest.
    static let levelTime = (validity: Duration.seconds(2), heartbeat: Duration.seconds(1))

    private final class Gate: Sendable { let isOpen = Atomic<Bool>(false) }

    private let log: SimulatedLog
    private let world: World
    private let clock: LocalClock
    private let deliver: (Event) -> Void
    /// The log's end when reading began.
    private let end: UInt64
    /// The last record delivered.
    private(set) var position: UInt64
    private var told: Duration?
    private var isCaughtUp = false
    /// Whether reading was interrupted, and the log has not been read to its end since.
    private var isInterrupted: Bool { interruptedAt != nil }
    private var interruptedAt: Moment?
    /// Whether the consumer that goes on has not delivered anything yet.
    private var isRenewed = false
    /// Whether records come slowly until it has read the log to its end.
    private var isSlow = false
    private var isScheduled = false
    private var isEnded = false
    private var barrier: Gate?
    var isConnected = true

    init(
        _ log: SimulatedLog, from sequence: UInt64, world: World, clock: LocalClock, deliver: @escaping (Event) -> Void
    ) {
        (self.log, self.world, self.clock, self.deliver) = (log, world, clock, deliver)
        position = sequence - 1
        end = log.last
        log.follow { [weak self] in self?.goOn() }
        goOn()
        beat()
    }

    func cancel() { isEnded = true }

    /// The consumer is gone: another will go on after the last record.
    func interrupt() {
        guard !isEnded else { return }
        interruptedAt = interruptedAt ?? world.now
        isRenewed = true
        isSlow = world.chance(500)
        deliver(.level(until: .distantPast))
    }

    /// The heartbeat of a log at rest.
    private func beat() {
        world.after(Self.levelTime.heartbeat) { [weak self] in
            guard let self, !isEnded else { return }
            if isConnected, !isInterrupted, !isScheduled, position == log.last { tellLevel() }
            beat()
        }
    }

    private func tellLevel() {
        if let interruptedAt { log.holdUp(from: interruptedAt, to: world.now) }
        interruptedAt = nil
        isSlow = false
        deliver(.level(until: clock.time(at: world.now) + Self.levelTime.validity))
    }

    /// Schedules the next read, unless one is scheduled.
    func goOn() {
        guard !isScheduled, !isEnded, !isCaughtUp || isInterrupted || position < log.last else { return }
        isScheduled = true
        let isNew = world.chance(8)
        if isNew { interrupt() }
        world.after(isNew ? 100...1500 : isRenewed || isSlow ? 1...400 : isCaughtUp ? 0...4 : 0...1) { [weak self] in
            self?.isScheduled = false
            self?.read()
        }
    }

    private func read() {
        guard isConnected, !isEnded else { return }
        isRenewed = false
        tellClock()
        // Records come in batches.
        for _ in 0..<world.random.int(1...16) where position < log.last && !isHeld {
            position += 1
            guard !log.isDeleted(position) else {
                deliver(.missing)
                continue
            }
            deliver(.record(log.read(position)))
            if world.chance(60) { setBarrier() }
        }
        if position >= end, !isCaughtUp {
            isCaughtUp = true
            deliver(.caughtUp)
        }
        if position == log.last { tellLevel() }
        goOn()
    }

    private var isHeld: Bool {
        if barrier?.isOpen.load(ordering: .relaxed) ?? true { barrier = nil }
        return barrier != nil
    }

    private func setBarrier() {
        let gate = Gate()
        barrier = gate
        deliver(.barrier { gate.isOpen.store(true, ordering: .relaxed) })
    }

    /// Reports the difference of the clocks to within 8 ms, again when it has changed by 20 ms.
    private func tellClock() {
        let ahead = log.serverTime - clock.time(at: world.now)
        if let told, abs((ahead - told).nanoseconds) < 20_000_000 { return }
        let estimate = ahead + world.random.milliseconds(-8...8)
        told = estimate
        deliver(.logClock(ahead: estimate))
    }
}
