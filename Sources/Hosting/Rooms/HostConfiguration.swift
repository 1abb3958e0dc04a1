import StrokeWire
public import Whiteboard

/// The settings of a host.
public struct HostConfiguration: Sendable {
    /// The settings of every room.
    public var room: RoomConfiguration
    /// First token of all subjects.
    public var root: String
    /// Number of partitions of all rooms, 1 or more.
    public var partitions: Int
    /// When rooms are saved; nil if nothing survives the process.
    public var checkpoints: CheckpointSchedule?
    /// A room in which nothing has happened for so long leaves memory, once nothing is held or pending in it.
    public var idle: Duration
    /// Rooms in memory at most, 1 or more. Beyond, rooms hibernate in the order of ``EvictionOrder``.
    public var rooms: Int
    /// Small rooms that give back their place while they are being saved to leave memory, 0 or more. Each takes 64 KiB
    /// at most, about.
    public var departing: Int
    /// Bytes of records that wait for rooms being fetched, or for places in memory. Beyond, barriers are not passed,
    /// and the journal waits.
    public var waitingBytes: Int
    /// Without checkpoints: bytes of the states of hibernated rooms. Where seven eighths are taken no room is new;
    /// beyond all of them the room hibernated longest is forgotten.
    public var sleepingBytes: Int
    /// Bytes of what could not be published for want of a connection, releases aside. What comes beyond is dropped:
    /// authors who repeat their messages are told again.
    public var unsentBytes: Int
    /// Bytes of strokes being drawn, of all rooms. Beyond, their updates are dropped.
    public var wetBytes: Int

    public init(
        room: RoomConfiguration = RoomConfiguration(), root: String = "ink", partitions: Int = 1,
        checkpoints: CheckpointSchedule? = nil, idle: Duration = .seconds(600), rooms: Int = 10_000,
        departing: Int = 64, waitingBytes: Int = 8 << 20, sleepingBytes: Int = 256 << 20, unsentBytes: Int = 8 << 20,
        wetBytes: Int = 64 << 20
    ) {
        self.room = room
        self.root = root
        self.partitions = partitions
        self.checkpoints = checkpoints
        self.idle = idle
        self.rooms = max(1, rooms)
        self.departing = departing
        self.waitingBytes = waitingBytes
        self.sleepingBytes = sleepingBytes
        self.unsentBytes = unsentBytes
        self.wetBytes = wetBytes
    }
}

/// When a room's checkpoint is written.
public struct CheckpointSchedule: Sendable, Equatable {
    /// The whole state, so long after the first record that it does not hold …
    public var interval: Duration
    /// … or after so many operations, whichever comes first.
    public var operations: Int
    /// The cursors, at most this long after they moved. A successor releases again what came after them.
    public var cursors: Duration
    /// The cursors, at the latest after so many releases.
    public var releases: UInt64

    public init(
        interval: Duration = .seconds(30), operations: Int = 256, cursors: Duration = .seconds(1),
        releases: UInt64 = 256
    ) {
        self.interval = interval
        self.operations = operations
        self.cursors = cursors
        self.releases = releases
    }

    /// When what changes in a room at an instant is noted. The rooms of a partition do that together, for they share a record: at
    /// a time of their own each second, spread over some milliseconds, so that releases have their turn between them.
    func nextNote(after instant: Instant, of room: RoomAddress, among partitions: Int) -> Instant {
        let period = max(1, cursors.nanoseconds)
        let step = Int64(FNV1a64.mixed(room.room.text.utf8) % 8) * min(8_000_000, period / 64)
        let phase = period / Int64(max(1, partitions)) * Int64(room.partition) + step
        return Instant(nanoseconds: phase + (max(0, instant.nanoseconds - phase) / period + 1) * period)
    }
}
