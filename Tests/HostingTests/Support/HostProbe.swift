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

    /// - Parameters:
    ///   - stored: what is known of rooms from before.
    ///   - kept: how long what is saved is there.
    ///   - after: the last record before those that this host is given.
    init(
        isDurable: Bool = true, gate: CohortSettings.Gating = .none, stored: [RoomID: StoredRoom] = [:],
        kept: Duration? = nil, after sequence: UInt64 = 0, isLive: Bool = true
    ) {
        let settings = CohortSettings(gate: gate)
        host = RoomHost(
            configuration: HostConfiguration(
                room: RoomConfiguration(cohorts: CohortsConfiguration(defaults: settings)),
                checkpoints: isDurable ? CheckpointSchedule() : nil, idle: .seconds(60), waitingBytes: 1000),
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
            JournalRecord(partition: 0, room: room, content: content, sequence: sequence, loggedAt: now), at: now)
        return sequence
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
        }
        now = end
    }

    /// Acknowledges what was saved.
    @discardableResult
    func acknowledge(isSaved: Bool = true) -> [SaveRequest] {
        let saves = world.takeSaves()
        for save in saves { host.saved(save.room, isSaved: isSaved, at: now) }
        return saves
    }

    /// The room, where it is in memory.
    func room(_ id: RoomID = .algebra) -> Room? {
        if case .here(let hosted) = host.known(id) { hosted.room } else { nil }
    }
}

extension RoomID {
    static let algebra = known("algebra")
    static let botany = known("botany")

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
