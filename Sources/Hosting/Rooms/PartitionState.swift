import StrokeWire
import Whiteboard

/// A partition that this host works on.
struct PartitionState {
    enum Phase {
        /// Its journal is being read up to its end; nothing is released yet.
        case recovering
        case live
        /// Its rooms are being saved, and then let go of. Nothing is released any more.
        case closing
    }

    var phase = Phase.recovering
    let openedAt: Instant
    /// When its releases began, or went on on a new connection; nil while it is being recovered.
    var releasesFrom: Instant?
    /// Begins the names of the lives of its rooms.
    let prefix: String
    /// How long what is saved of a room is there; nil for ever.
    let kept: Duration?
    /// How far the journal's clock is ahead of the host's, nil where that has not been said: it is not, then.
    var logClockAhead: Duration?
    /// Its rooms in the host's hands, and those of them that are not there yet.
    var rooms = 0
    var waking = 0
    /// Rooms in which something is going on, and that are not being fetched yet.
    var busy: Set<RoomID> = []
    /// Whether `ready` has been said.
    var isReady = false
}
