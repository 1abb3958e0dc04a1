import Hosting
import StrokeWire
import Whiteboard

/// What comes to a worker from outside.
enum InboundItem: Sendable {
    case record(JournalRecord)
    case clock(RoomAddress, CohortName, [UInt8])
    case request(RoomRequest)
    /// Asks for a line on every room of the worker, or on those that are left; nil for all.
    case survey(RoomSurvey, left: ArraySlice<RoomID>?)
    /// Whether anything can be published.
    case output(isOpen: Bool)
    case partition(PartitionItem)
    /// A room that was asked for has been fetched.
    case restored(RoomID, Restoration)
    /// What was to be saved of a room has been acknowledged, or not.
    case saved(RoomID, isSaved: Bool)
    /// Another daemon has stored more of it.
    case superseded(RoomID)
    case stop

    /// Bytes it occupies while it waits.
    var cost: Int {
        switch self {
        case .record(let record): record.cost
        case .clock(_, _, let bytes): bytes.count + 256
        case .request(let request): request.cost
        case .survey, .output, .partition, .restored, .saved, .superseded, .stop: 0
        }
    }
}

/// What happens to a partition as a whole. Every worker is told, for each has a share of its rooms.
enum PartitionItem: Sendable {
    case open(Int, prefix: String, stored: [RoomID: StoredRoom], kept: Duration?)
    case logClock(Int, ahead: Duration)
    /// Everything before it has to be folded in, or wait within bounds, before `pass` is called.
    case barrier(pass: @Sendable () -> Void)
    /// The journal has been read to where its end was.
    case caughtUp(Int)
    /// All records through `sequence` were posted before this: how far are they in checkpoints?
    case position(Int, sequence: UInt64, report: @Sendable (UInt64) -> Void)
    /// Whose requests are answered.
    case duties(Duties)
    case close(Int, discarding: Bool)
}

/// Which partitions' requests a daemon answers.
struct Duties: Sendable, Equatable {
    /// Those that it serves.
    var serving: Set<Int> = []
    /// Those that another serves, though this daemon may work on them, too.
    var servedByOthers: Set<Int> = []
    /// Beyond, nothing is known: a daemon that stood still must not answer from what it had before.
    var validUntil = Instant.distantPast

    func saysTheSame(as other: Duties) -> Bool {
        serving == other.serving && servedByOthers == other.servedByOthers
    }

    func areAnswered(_ partition: Int) -> Bool {
        serving.contains(partition) || !servedByOthers.contains(partition)
    }
}
