import StrokeWire
import Whiteboard

@testable import Hosting

/// The stream of checkpoints of ``PowerCutHistory``.
struct PowerCutCheckpoints {
    enum Message {
        case state([UInt8])
        case manifest(CheckpointManifest)
        /// One that a room is restored from.
        case base(CheckpointManifest)
        case coverage(through: UInt64, rewinds: Int)
    }

    static let configuration = RoomConfiguration(
        intake: IntakeLimits(authors: 1000), cohorts: CohortsConfiguration(defaults: CohortSettings(gate: .none)))

    private var messages: [Message] = []
    /// What a cut leaves of them: a state that was restored from is there for good.
    private var synced = 0

    /// The sequence of the last message.
    var last: UInt64 { UInt64(messages.count) }

    /// How many messages a cut may take.
    var unsynced: Int { messages.count - synced }

    mutating func append(_ message: Message) { messages.append(message) }

    mutating func sync() { synced = messages.count }

    mutating func lose(_ count: Int) { messages.removeLast(count) }

    func manifests(of room: RoomID) -> [CheckpointManifest] {
        messages.compactMap { if case .manifest(let manifest) = $0, manifest.room == room { manifest } else { nil } }
    }

    func best(_ room: RoomID, at now: Instant) -> CheckpointManifest? {
        CheckpointManifest.ranked(manifests(of: room)).last { manifest in
            manifest.state.map { self.room(of: $0, at: now) != nil } ?? true
        }
    }

    var coverage: (through: UInt64, rewinds: Int) {
        messages.reduce((0, 0)) { best, message in
            guard case .coverage(let through, let rewinds) = message else { return best }
            return (best.1, best.0) < (rewinds, through) ? (through, rewinds) : best
        }
    }

    /// - Returns: nil for one that is gone, or no base.
    func base(_ sequence: UInt64) -> CheckpointManifest? {
        guard sequence > 0, sequence <= last, case .base(let base) = messages[Int(sequence) - 1] else { return nil }
        return base
    }

    /// - Returns: nil for a state that is gone.
    func room(of state: CheckpointManifest.State, at now: Instant) -> Room? {
        guard let part = state.parts.first, part <= last, case .state(let bytes) = messages[Int(part) - 1],
            FNV1a64.hash(bytes) == state.hash
        else { return nil }
        return try? Room(restoring: bytes, configuration: Self.configuration, at: now, logClockAhead: .zero)
    }
}
