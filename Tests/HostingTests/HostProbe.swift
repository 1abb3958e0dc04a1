import Hosting
import StrokeWire
import Synchronization
import Testing
import Whiteboard

/// The tests of Hosting drive one host with this probe; `Simulation` plays whole schools of daemons that fail.
///
/// A host of one partition in virtual time. Its rooms release at once unless they are gated.
final class HostProbe {
    let output = FakeHostOutput()
    let host: RoomHost<FakeHostOutput>
    private(set) var now = Instant(nanoseconds: 1_000_000_000_000)
    private var sequence: UInt64
    /// The acknowledged checkpoint of each room.
    private var shelf: [RoomID: (bytes: [UInt8], sequence: UInt64)] = [:]

    /// - Parameters:
    ///   - cohorts: replaces the default with `gate`.
    ///   - stored: the rooms in the checkpoints.
    ///   - kept: how long checkpoints are kept.
    ///   - after: the sequence before the host's first record.
    init(
        isDurable: Bool = true, gate: CohortSettings.Gating = .none, cohorts: CohortsConfiguration? = nil,
        stored: [RoomID: StoredRoom] = [:], kept: Duration? = nil, rooms: Int = 100, departing: Int = 0,
        sleepingBytes: Int = 1 << 20, wetBytes: Int = 64 << 20,
        after sequence: UInt64 = 0, isLive: Bool = true
    ) {
        let cohorts = cohorts ?? CohortsConfiguration(defaults: CohortSettings(gate: gate))
        host = RoomHost(
            configuration: HostConfiguration(
                room: RoomConfiguration(cohorts: cohorts),
                checkpoints: isDurable ? CheckpointSchedule() : nil, idle: .seconds(60), rooms: rooms,
                departing: departing,
                waitingBytes: 2500, sleepingBytes: sleepingBytes, unsentBytes: 4096,
                wetBytes: wetBytes),
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

    /// Gives the host a clock sample, some time after its arrival.
    func sample(
        _ text: String, of room: RoomID = .algebra, cohort: CohortName = .main, handledAfter delay: Duration = .zero
    ) {
        let arrivedAt = now
        now = now + delay
        host.sample(
            IncomingSample(room: room, partition: 0, cohort: cohort, bytes: Array(text.utf8), arrivedAt: arrivedAt),
            at: now)
    }

    /// Gives the host an update of a stroke being drawn.
    func wet(_ update: [UInt8], to room: RoomID = .algebra, by author: String = "ann") {
        guard let author = AuthorID(author) else { return }
        host.draw(IncomingWetUpdate(room: room, partition: 0, author: author, session: nil, bytes: update), at: now)
    }

    func draw(_ numbers: Int..., to room: RoomID = .algebra) {
        for number in numbers { send(#"{"n":\#(number),"t":\#(number),"d":[{"x":1,"y":1}]}"#, to: room) }
    }

    /// Lets time pass, and advances the host whenever it asks to.
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

    /// The probe some time later.
    func after(_ duration: Duration) -> HostProbe {
        wait(duration)
        return self
    }

    /// Confirms what was published, if the host has asked.
    /// - Returns: whether it had.
    @discardableResult
    func confirm() -> Bool {
        guard output.takeConfirmation() else { return false }
        host.confirmed(true, at: now)
        return true
    }

    /// Acknowledges the checkpoints that the host writes, or fails them.
    @discardableResult
    func acknowledge(isSaved: Bool = true) -> [SaveRequest] {
        let saves = output.takeSaves()
        for save in saves {
            if isSaved, let bytes = save.bytes { shelf[save.room] = (bytes, save.stored.sequence) }
            host.saved(save.room, isSaved: isSaved, at: now)
        }
        return saves
    }

    /// Lets a second pass, and acknowledges what is saved by then.
    @discardableResult
    func save() -> [SaveRequest] {
        wait(.seconds(1))
        return acknowledge()
    }

    /// Gives the host its room back, as a checkpoint has it.
    func restore(
        _ bytes: [UInt8], sequence: UInt64, restorations: UInt32 = 0, tail: [JournalRecord] = []
    ) throws {
        let room = try Room(restoring: bytes, configuration: host.configuration.room, at: now, logClockAhead: .zero)
        host.restored(.algebra, room, sequence: sequence, restorations: restorations, tail: tail, at: now)
    }

    /// Lets time pass in steps, and answers the host's requests after each.
    func serve(every step: Duration, times: Int) {
        for _ in 0..<times {
            wait(step)
            serve()
        }
    }

    /// Answers the host's requests until there are no more.
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
                host.restored(room, restored, sequence: saved.sequence, restorations: 0, tail: [], at: now)
            }
        }
    }

    /// The room, if it is in memory.
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

extension [CohortName: CohortCursor] {
    /// The cursors without what is saved of clocks.
    var withoutClocks: Self {
        mapValues { CohortCursor($0.released, pausedTime: $0.pausedTime, pausedSince: $0.pausedSince) }
    }
}

extension SaveRequest {
    /// The encoded state; nil if only cursors are saved.
    var bytes: [UInt8]? { if case .changed(let checkpoint) = state { checkpoint.encoded() } else { nil } }
}

/// A host has nothing to hear from an output that does not care.
extension HostOutput {
    func countNew(_ partition: Int) -> Bool { true }
    func countStored(_ change: Int, of partition: Int) {}
    func settled(_ room: HostedRoom, _ counts: RoomCounts) {}
    func count(_ outcome: WetOutcome) {}
    func opened(_ room: HostedRoom) {}
    func left(_ room: HostedRoom) {}
    func forgotten(_ room: RoomID) {}
    func ready(_ partition: Int) {}
    func closed(_ partition: Int, isWhole: Bool) {}
}

/// Records what a host asks for, and does none of it.
final class FakeHostOutput: HostOutput {
    var isConnected = true
    /// The most rooms that may be stored, and their number.
    var storedLimit = 100
    private(set) var storedRooms = 0
    /// Whether decisions take effect at once, as without a journal.
    var isVolatile = false
    private(set) var published: [RoomEffect] = []
    private(set) var decisions: [ControlRecord] = []
    /// Whether the server confirms when asked.
    var confirms = true
    private var isAsked = false
    private(set) var confirmations = 0
    private(set) var fetched: [(room: RoomID, stored: StoredRoom)] = []
    /// The decisions by which rooms were fetched.
    private(set) var restorations: [RoomRestoration] = []
    private(set) var saves: [SaveRequest] = []
    private(set) var ready: [Int] = []
    private(set) var closed: [Int] = []
    /// Those closed partitions of which all was saved.
    private(set) var whole: [Int] = []
    private(set) var left: [RoomID] = []
    private(set) var forgotten: [RoomID] = []
    private(set) var wetUpdates: [WetOutcome: Int] = [:]
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

    /// Takes the host's question for a confirmation, if it is to be answered.
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
    func fetch(_ room: RoomID, _ stored: StoredRoom, _ restoration: RoomRestoration?) {
        fetched.append((room, stored))
        if let restoration { restorations.append(restoration) }
    }

    func save(_ request: SaveRequest) { saves.append(request) }
    func settled(_ room: HostedRoom, _ counts: RoomCounts) {
        wetUpdates.merge(counts.wetUpdates, uniquingKeysWith: +)
    }

    func count(_ outcome: WetOutcome) { wetUpdates[outcome, default: 0] += 1 }
    func left(_ room: HostedRoom) { left.append(room.id) }
    func forgotten(_ room: RoomID) { forgotten.append(room) }
    func ready(_ partition: Int) { ready.append(partition) }
    func closed(_ partition: Int, isWhole: Bool) {
        closed.append(partition)
        if isWhole { whole.append(partition) }
    }

    func released(_ cohort: CohortName = .main) -> [UInt64] {
        published.compactMap { if case .release(cohort, let operation, _, _) = $0 { operation.index } else { nil } }
    }

    /// The indices of the marks, in order.
    var marks: [UInt64] { published.compactMap { if case .mark(_?, let mark) = $0 { mark.index } else { nil } } }

    /// Whether the stroke with this number was released late; nil if it was not released.
    func lateness(of number: Int64) -> Bool? {
        published.compactMap {
            if case .release(_, let operation, let isLate, _) = $0, operation.number == number { isLate } else { nil }
        }
        .last
    }

    /// When the released operations were due, in order.
    var dueTimes: [Instant] { published.compactMap { if case .release(_, _, _, let due) = $0 { due } else { nil } } }

    /// The feedback to authors, but for ``covered``.
    var told: [Feedback] {
        published.compactMap { effect in
            guard case .feedback(_, _, let feedback) = effect else { return nil }
            if case .covered = feedback { return nil }
            return feedback
        }
    }

    /// What authors were told of checkpoints: the number, and the incarnation.
    var covered: [String] {
        published.compactMap { effect in
            guard case .feedback(_, _, .covered(let number, let incarnation)) = effect else { return nil }
            return "\(number) in \(incarnation)"
        }
    }

    func takeFetches() -> [RoomID] {
        defer { fetched = [] }
        return fetched.map(\.room)
    }

    /// The numbers of the messages that were rejected with a code.
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
