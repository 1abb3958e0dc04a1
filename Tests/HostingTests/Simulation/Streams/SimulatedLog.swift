import StrokeWire
import TestSupport
import Whiteboard

/// The stream of one partition's log: takes what is published once for each name, acknowledges it, and keeps its order.
/// Its times are those of the server that leads it.
final class SimulatedLog {
    struct Entry {
        let record: JournalRecord
        /// What an author meant by it; nil for decisions.
        let sent: Sent?
        let at: Moment
    }

    let partition: Int
    private let world: World
    private(set) var entries: [Entry] = []
    /// Those of them that are decisions.
    private(set) var decisions: [Entry] = []
    private var known: [String: Moment] = [:]
    private var leaderlessUntil = Moment(nanoseconds: 0)
    /// By how much the leading server's clock is ahead.
    private var skew = Duration.zero
    private var whenGrown: [() -> Void] = []

    /// The server's clock at the beginning of the world.
    private static let origin: Int64 = 1_700_000_000_000_000_000
    private static let duplicateWindow = Duration.seconds(120)

    init(partition: Int, world: World) {
        self.partition = partition
        self.world = world
    }

    /// Begins the names of the lives of its rooms.
    var prefix: String { "log\(partition)" }
    var last: UInt64 { UInt64(entries.count) }
    var serverTime: Instant {
        Instant(nanoseconds: Self.origin + world.now.nanoseconds + skew.wholeNanoseconds)
    }

    func record(_ sequence: UInt64) -> JournalRecord { entries[Int(sequence - 1)].record }

    /// The records of a room after that one.
    func records(of room: RoomID, after sequence: UInt64) -> [JournalRecord] {
        entries.dropFirst(Int(sequence)).map(\.record).filter { $0.room == room }
    }

    /// A message has come to the server.
    /// - Parameter acknowledge: called where it was taken, or was there already, and the answer is not lost.
    func take(
        _ content: JournalRecord.Content, of room: RoomID, id: String?, sent: Sent? = nil,
        acknowledge: @escaping () -> Void = {}
    ) {
        if world.now < leaderlessUntil {
            // Lost, or taken when there is a leader again, and then nobody is told.
            if world.chance(500) {
                world.at(leaderlessUntil + .milliseconds(1)) { [self] in take(content, of: room, id: id, sent: sent) }
            }
            return
        }
        let before = id.flatMap { known[$0] }
        if before.map({ world.now - $0 > Self.duplicateWindow }) ?? true {
            if let id { known[id] = world.now }
            let record = JournalRecord(
                partition: partition, room: room, content: content, sequence: last + 1, loggedAt: serverTime)
            let entry = Entry(record: record, sent: sent, at: world.now)
            entries.append(entry)
            if sent == nil { decisions.append(entry) }
            world.note("log \(partition): \(last) \(room) \(sent?.summary ?? "\(content)")")
            for grown in whenGrown { grown() }
        }
        if !world.chance(30) { world.after(0...3, acknowledge) }
    }

    /// Calls `grown` after each new record.
    func follow(_ grown: @escaping () -> Void) { whenGrown.append(grown) }

    /// The leading server dies; another takes over, whose clock is another.
    func loseLeader(for duration: Duration) {
        world.note("log \(partition) has no leader for \(duration)")
        world.trouble(for: duration)
        leaderlessUntil = world.now + duration
        skew = world.random.milliseconds(-40...40)
    }
}
