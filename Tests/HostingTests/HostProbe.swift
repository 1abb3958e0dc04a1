import Hosting
import StrokeWire
import Synchronization
import Testing
import Whiteboard

/// A host of one partition in virtual time. Its rooms release at once unless they are gated.
final class HostProbe {
    let output = FakeHostOutput()
    let host: RoomHost<FakeHostOutput>
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
            output: output, isOutputOpen: true)
        self.sequence = sequence
        output.isVolatile = !isDurable
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
        guard output.takeConfirmation() else { return false }
        host.confirmed(true, at: now)
        return true
    }

    /// Acknowledges what was saved.
    @discardableResult
    func acknowledge(isSaved: Bool = true) -> [SaveRequest] {
        let saves = output.takeSaves()
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
            let (isConfirmed, saves, fetches) = (confirm(), acknowledge(), output.takeFetches())
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

/// Records what a host asks for, and does none of it.
final class FakeHostOutput: HostOutput {
    var isConnected = true
    /// Rooms that may be stored, and those that are.
    var storedLimit = 100
    private(set) var storedRooms = 0
    /// Whether decisions are in the journal at once.
    var isVolatile = false
    private(set) var published: [RoomEffect] = []
    private(set) var decisions: [ControlRecord] = []
    /// Whether the server answers when it is asked for a confirmation.
    var confirms = true
    private var isAsked = false
    private(set) var confirmations = 0
    private(set) var fetched: [(room: RoomID, stored: StoredRoom)] = []
    private(set) var saves: [SaveRequest] = []
    private(set) var ready: [Int] = []
    private(set) var closed: [Int] = []
    private(set) var left: [RoomID] = []
    private(set) var forgotten: [RoomID] = []
    var lastSequence: UInt64 = 0

    func publish(_ effect: RoomEffect, of room: HostedRoom) -> Bool {
        if isConnected { published.append(effect) }
        return isConnected
    }

    func append(_ record: ControlRecord, to room: HostedRoom, at now: Instant) -> JournalRecord? {
        decisions.append(record)
        guard isVolatile else { return nil }
        lastSequence += 10
        return JournalRecord(
            partition: 0, room: room.id, content: .control(record), sequence: lastSequence, loggedAt: now)
    }

    func confirm() {
        isAsked = true
        confirmations += 1
    }

    /// Whether a confirmation is to be answered now.
    func takeConfirmation() -> Bool {
        guard isAsked, confirms else { return false }
        isAsked = false
        return true
    }

    func countNew(_ partition: Int) -> Bool {
        guard storedRooms < storedLimit else { return false }
        storedRooms += 1
        return true
    }

    func countStored(_ change: Int, of partition: Int) { storedRooms += change }
    func fetch(_ room: RoomID, _ stored: StoredRoom) { fetched.append((room, stored)) }
    func save(_ request: SaveRequest) { saves.append(request) }
    func settled(_ room: HostedRoom, _ counts: RoomCounts) {}
    func opened(_ room: HostedRoom) {}
    func left(_ room: HostedRoom) { left.append(room.id) }
    func forgotten(_ room: RoomID) { forgotten.append(room) }
    func ready(_ partition: Int) { ready.append(partition) }
    func closed(_ partition: Int) { closed.append(partition) }

    /// Indices released to a cohort, in order.
    func released(_ cohort: CohortName = .main) -> [UInt64] {
        published.compactMap { if case .release(cohort, let operation, _, _) = $0 { operation.index } else { nil } }
    }

    /// Whether the stroke with that number was released late to a cohort; nil where it was not released.
    func lateness(of number: Int64) -> Bool? {
        published.compactMap {
            if case .release(_, let operation, let isLate, _) = $0, operation.number == number { isLate } else { nil }
        }
        .last
    }

    /// When what was released was due, in order.
    var dueTimes: [Instant] {
        published.compactMap { if case .release(_, _, _, let due) = $0 { due } else { nil } }
    }

    /// What authors were told.
    var told: [Feedback] {
        published.compactMap { if case .feedback(_, _, let feedback) = $0 { feedback } else { nil } }
    }

    func takeFetches() -> [RoomID] {
        defer { fetched = [] }
        return fetched.map(\.room)
    }

    /// Messages that were refused, by room.
    func refusals(of code: RejectionCode) -> [Int64?] {
        told.compactMap {
            if case .rejected(let number, _, let rejection) = $0, rejection.code == code { number } else { nil }
        }
    }

    func takeSaves() -> [SaveRequest] {
        defer { saves = [] }
        return saves
    }
}

/// A flag that any thread can set.
final class Flag: Sendable {
    private let flag = Atomic<Bool>(false)

    var isSet: Bool { flag.load(ordering: .acquiring) }
    func set() { flag.store(true, ordering: .releasing) }
}
