public import Whiteboard

/// What an announcement says of the daemon that sent it.
public enum PeerStatus: Sendable, Equatable {
    case known
    /// A member's first announcement: it wants to hear the others at once.
    case newcomer
    /// The first announcement of a daemon whose settings do not go with this one's: it is no member.
    case incompatible([CommonSettings.Conflict])
}

/// Daemons of the root with settings that do not go with this one's, as far as they have been told of.
///
/// Bounded: beyond 1,024 the one heard longest ago is forgotten, and told of again should it come back.
public struct IncompatiblePeers: Sendable {
    private var heardAt: [String: Instant] = [:]

    private static let bound = 1024

    public init() {}

    /// - Returns: whether it is the first announcement of that daemon.
    public mutating func note(_ name: String, at now: Instant) -> Bool {
        let isNew = heardAt.updateValue(now, forKey: name) == nil
        if heardAt.count > Self.bound, let oldest = heardAt.min(by: { ($0.value, $0.key) < ($1.value, $1.key) })?.key {
            heardAt[oldest] = nil
        }
        return isNew
    }
}
