import Hosting
import StrokeWire
import Testing
import Whiteboard

/// A host of one partition in virtual time. Its rooms release at once unless they are gated.
final class HostProbe {
    let world = FakeWorld()
    let host: RoomHost<FakeWorld>
    private(set) var now = Instant(nanoseconds: 1_000_000_000_000)
    private var sequence: UInt64
    /// What was acknowledged of each room.
    private var shelf: [RoomID: (bytes: [UInt8], sequence: UInt64)] = [:]

    /// - Parameters:
    ///   - cohorts: in place of those that `gate` makes.
    ///   - stored: what is known of rooms from before.
    ///   - kept: how long what is saved is there.
    ///   - after: the last record before those that this host is given.
    init(
        isDurable: Bool = true, gate: CohortSettings.Gating = .none, cohorts: CohortsConfiguration? = nil,
        stored: [RoomID: StoredRoom] = [:], kept: Duration? = nil, rooms: Int = 100, departing: Int = 0,
        sleepingBytes: Int = 1 << 20,
        after sequence: UInt64 = 0, isLive: Bool = true
    ) {
        let cohorts = cohorts ?? CohortsConfiguration(defaults: CohortSettings(gate: gate))
        host = RoomHost(
            configuration: HostConfiguration(
                room: RoomConfiguration(cohorts: cohorts),
                checkpoints: isDurable ? CheckpointSchedule() : nil, idle: .seconds(60), rooms: rooms,
                departing: departing,
                waitingBytes: 2500, sleepingBytes: sleepingBytes, unsentBytes: 4096),
            output: world, isOutputOpen: true)
        self.sequence = sequence
        world.isVolatile = !isDurable
        host.open(0, prefix: "log", stored: stored, kept: kept, at: now)
        host.setLogClock(of: 0, ahead: .zero)
        if isLive { host.caughtUp(0, at: now) }
    }

    @discardableResult
    func send(_ text: String, to room: RoomID = .algebra, by author: String = "ann") -> UInt64 {
        guard let author = AuthorID(author) else { return 0 }
        return log(.message(author: author, session: nil, bytes: Array(text.utf8)), of: room)
    }

    @discardableResult
    func log(_ content: JournalRecord.Content, of room: RoomID = .algebra) -> UInt64 {
        sequence += 1
        host.take(
            JournalRecord(partition: 0, room: room, content: content, sequence: sequence, loggedAt: now),
            arrivedAt: now, at: now)
        return sequence
    }

    /// A clock sample, handled so long after it came.
    func sample(
        _ text: String, of room: RoomID = .algebra, cohort: CohortName = .main, handledAfter delay: Duration = .zero
    ) {
        let arrivedAt = now
        now = now + delay
        host.sample(
            IncomingSample(room: room, partition: 0, cohort: cohort, bytes: Array(text.utf8), arrivedAt: arrivedAt),
            at: now)
    }

    func draw(_ number: Int, to room: RoomID = .algebra) {
        send(#"{"n":\#(number),"t":\#(number),"d":[{"x":1,"y":1}]}"#, to: room)
    }

    /// Time passes; the host is called when it asks to be.
    func wait(_ duration: Duration) {
        let end = now + duration
        while let wake = host.nextWake, wake <= end {
            now = max(now, wake)
            host.advance(to: now)
            guard host.nextWake.map({ $0 > now }) ?? true else {
                Issue.record("the host asks to be woken again at once")
                break
            }
            confirm()
        }
        now = end
    }

    /// Answers a confirmation that was asked for.
    /// - Returns: whether one was.
    @discardableResult
    func confirm() -> Bool {
        guard world.takeConfirmation() else { return false }
        host.confirmed(true, at: now)
        return true
    }

    /// Acknowledges what was saved.
    @discardableResult
    func acknowledge(isSaved: Bool = true) -> [SaveRequest] {
        let saves = world.takeSaves()
        for save in saves {
            if isSaved, let bytes = save.bytes { shelf[save.room] = (bytes, save.stored.sequence) }
            host.saved(save.room, isSaved: isSaved, at: now)
        }
        return saves
    }

    /// Answers what the host asks for until it asks for nothing more.
    func serve() {
        while true {
            if let wake = host.nextWake, wake <= now + .milliseconds(5) {
                now = max(now, wake)
                host.advance(to: now)
            }
            let (isConfirmed, saves, fetches) = (confirm(), acknowledge(), world.takeFetches())
            guard isConfirmed || !saves.isEmpty || !fetches.isEmpty else { return }
            for room in fetches {
                guard let saved = shelf[room] else {
                    Issue.record("\(room) was never saved")
                    continue
                }
                let restored = try? Room(
                    restoring: saved.bytes, configuration: host.configuration.room, at: now, logClockAhead: .zero)
                host.restored(room, restored, sequence: saved.sequence, tail: [], at: now)
            }
        }
    }

    /// The room, where it is in memory.
    func room(_ id: RoomID = .algebra) -> Room? {
        if case .here(let hosted) = host.known(id) { hosted.room } else { nil }
    }
}

extension RoomID {
    static let algebra = known("algebra")
    static let botany = known("botany")
    static let chemistry = known("chemistry")

    private static func known(_ name: String) -> RoomID {
        guard let room = RoomID(name) else { preconditionFailure("\(name) is no room's name") }
        return room
    }
}

extension SaveRequest {
    /// The state as bytes, nil where only cursors are saved.
    var bytes: [UInt8]? {
        if case .changed(let checkpoint) = state { checkpoint.encoded() } else { nil }
    }
}
