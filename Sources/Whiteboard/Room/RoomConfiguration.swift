public import StrokeWire

/// The settings of a room. A value whose copies share their memory, because there are very many rooms with the same.
public struct RoomConfiguration: Sendable {
    private struct Settings: Sendable, Equatable {
        var intake: IntakeLimits
        var history: HistoryConfiguration
        var cohorts: CohortsConfiguration
        var boardSize: BoardSize?
        var log: LogRetention
    }

    private final class Shared: Sendable {
        let settings: Settings
        init(_ settings: Settings) { self.settings = settings }
    }

    private var shared: Shared
    private var settings: Settings {
        get { shared.settings }
        set { shared = Shared(newValue) }
    }

    public var intake: IntakeLimits {
        get { shared.settings.intake }
        set { settings.intake = newValue }
    }
    public var history: HistoryConfiguration {
        get { shared.settings.history }
        set { settings.history = newValue }
    }
    public var cohorts: CohortsConfiguration {
        get { shared.settings.cohorts }
        set { settings.cohorts = newValue }
    }
    /// The board's size; nil to take it from the first draw.
    public var boardSize: BoardSize? {
        get { shared.settings.boardSize }
        set { settings.boardSize = newValue }
    }
    public var log: LogRetention {
        get { shared.settings.log }
        set { settings.log = newValue }
    }

    public init(
        intake: IntakeLimits = IntakeLimits(), history: HistoryConfiguration = HistoryConfiguration(),
        cohorts: CohortsConfiguration = CohortsConfiguration(), boardSize: BoardSize? = nil,
        log: LogRetention = LogRetention()
    ) {
        shared = Shared(
            Settings(intake: intake, history: history, cohorts: cohorts, boardSize: boardSize, log: log))
    }
}

extension RoomConfiguration: Equatable {
    public static func == (left: RoomConfiguration, right: RoomConfiguration) -> Bool {
        left.shared === right.shared || left.settings == right.settings
    }
}

/// How much of its log a room keeps in memory.
public struct LogRetention: Sendable, Equatable {
    /// Number of released operations kept for students who join again. A student who missed more gets the board.
    public var tail: Int
    /// Bytes of released operations kept; beyond, the oldest are dropped.
    public var tailBytes: Int
    /// Bytes of operations that some cohort still holds. Beyond, the slowest cohort's oldest operations are released
    /// late, so that one dead video cannot use up the memory of all rooms.
    public var heldBytes: Int
    /// Time after the last release until the tail is dropped, if nothing is held or pending. A student who missed any of
    /// it gets the board, and a new cohort starts with the board.
    public var quiet: Duration

    public init(
        tail: Int = 1024, tailBytes: Int = 16 << 20, heldBytes: Int = 64 << 20, quiet: Duration = .seconds(60)
    ) {
        (self.tail, self.tailBytes, self.heldBytes, self.quiet) = (tail, tailBytes, heldBytes, quiet)
    }
}

/// The limits of a room's intake. Messages beyond them are rejected with a code and counted.
public struct IntakeLimits: Sendable, Equatable {
    /// Size of a message, its shards and its points. A message beyond the size is `too-large` before all other checks,
    /// and does not count for its author's rates.
    public var wire: WireLimits
    /// Strokes under assembly for each author; beyond: `too-many-pending`.
    public var assembling: Int
    /// Complete operations of each author that wait behind a gap; beyond, the gap is given up. While that is being
    /// decided, as many again are held; beyond those: `too-many-pending`.
    public var held: Int
    /// Bytes under assembly and held for each author; beyond: `too-many-pending`.
    public var pendingBytes: Int
    /// Authors of a room; beyond: `room-full`.
    public var authors: Int
    /// Time without a message and with nothing pending after which an author's place is free.
    public var authorIdle: Duration
    /// Messages a second from each author, with bursts of twice that; beyond: `rate-limited`.
    public var messagesPerSecond: Int
    /// Bytes a second from each author, with bursts of twice that; beyond: `rate-limited`.
    public var bytesPerSecond: Int
    /// How far a number may lie ahead of the next expected one; beyond: `out-of-range`.
    public var numberLead: Int64
    /// Points of all strokes of a board that are visible or could be brought back. A stroke counts for at least 8 points,
    /// and for at least one for every 32 bytes of its message as it came or was joined. Beyond, the oldest undoable
    /// clears become final; where there is none: `too-many-points`.
    public var boardPoints: Int

    public init(
        wire: WireLimits = WireLimits(), assembling: Int = 64, held: Int = 256, pendingBytes: Int = 16 << 20,
        authors: Int = 32, authorIdle: Duration = .seconds(600), messagesPerSecond: Int = 200,
        bytesPerSecond: Int = 1 << 20, numberLead: Int64 = 100_000, boardPoints: Int = 4_000_000
    ) {
        (self.wire, self.assembling, self.held, self.pendingBytes) = (wire, assembling, held, pendingBytes)
        (self.authors, self.authorIdle, self.messagesPerSecond) = (authors, authorIdle, messagesPerSecond)
        (self.bytesPerSecond, self.numberLead, self.boardPoints) = (bytesPerSecond, numberLead, boardPoints)
    }
}

/// How undo, redo and clear work in a room.
public struct HistoryConfiguration: Sendable, Equatable {
    /// The scope of an undo: the newest stroke of the room, or of its author.
    public enum Scope: String, Sendable, CaseIterable {
        /// The newest stroke of the room.
        case room
        /// The newest stroke of the author who undoes.
        case author
    }

    /// Whether a clear can be undone.
    public enum Clear: String, Sendable, CaseIterable {
        /// A clear empties both stacks and cannot be undone.
        case final
        /// A clear goes onto the undo stack like a stroke.
        case undoable
    }

    public var scope: Scope
    /// The greatest number of entries on the undo stack of a room, 1 or more. Older ones stay on the board for good.
    public var depth: Int
    public var clear: Clear

    public init(scope: Scope = .room, depth: Int = 100, clear: Clear = .final) {
        (self.scope, self.depth, self.clear) = (scope, depth, clear)
    }

    /// Whether the board follows a service, which tells it what an undo or a redo refers to.
    private(set) var isFollowed = false

    /// A follower's: what any service may name is kept, so many entries of a page at most.
    static let followed: HistoryConfiguration = {
        var configuration = HistoryConfiguration(scope: .author, depth: 1024, clear: .undoable)
        configuration.isFollowed = true
        return configuration
    }()
}

/// The cohorts of a room: which exist from the start, whether others may be made, and their settings.
public struct CohortsConfiguration: Sendable, Equatable {
    /// Settings of cohorts that have none of their own.
    public var defaults: CohortSettings
    /// Cohorts that exist from the start, with their settings. `main` always exists.
    public var named: [CohortName: CohortSettings]
    /// Whether other cohorts are made with their first clock sample.
    public var open: Bool
    /// The greatest number of cohorts that others may be added up to, `main` and the named ones included.
    public var maximum: Int

    public init(
        defaults: CohortSettings = CohortSettings(), named: [CohortName: CohortSettings] = [:], open: Bool = true,
        maximum: Int = 8
    ) {
        (self.defaults, self.named, self.open, self.maximum) = (defaults, named, open, maximum)
    }

    /// The cohorts that exist from the start: `main`, then the named ones by name.
    var initialNames: [CohortName] { [.main] + named.keys.filter { $0 != .main }.sorted() }

    /// Whether strokes may grow in a cohort.
    var hasProgressive: Bool {
        defaults.ink == .progressive || named.values.contains { $0.ink == .progressive }
    }

    /// The settings of a cohort: its own, or the default ones.
    public func settings(of name: CohortName) -> CohortSettings { named[name] ?? defaults }
}

/// How one cohort is kept in step with its video, and how its operations are written.
public struct CohortSettings: Sendable, Equatable {
    /// What holds operations back for the cohort.
    public enum Gating: String, Sendable, CaseIterable {
        /// Nothing before the first sample of the cohort's video clock; from then on that clock, for good.
        case auto
        /// The cohort's video clock. Before its first sample the policy alone releases.
        case video
        /// Nothing: operations are released when they are logged.
        case none
    }

    /// What happens to operations that the clock does not release.
    public enum Policy: String, Sendable, CaseIterable {
        /// Released late when they have waited ``CohortSettings/maxHold``.
        case maxhold
        /// Held for ever.
        case hold
        /// The clock is extrapolated without end; operations that it does not release are held for ever.
        case freerun
    }

    /// How strokes appear.
    public enum Ink: String, Sendable, CaseIterable {
        /// Whole, when the video has reached their beginning.
        case whole
        /// Point by point, each when the video has reached it; the operation when it has reached their end.
        case progressive
    }

    public var gate: Gating
    public var policy: Policy
    /// The longest wait under ``Policy/maxhold``, counted from when the operation was logged. Negative counts as 0.
    public var maxHold: Duration
    /// Time for which a clock is believed after its last sample. Negative counts as 0.
    public var staleAfter: Duration
    /// Whether video time runs on between samples. If not, operations are compared with the last sample alone, whatever
    /// the policy.
    public var extrapolate: Bool
    /// Form of the operations that are published to the cohort.
    public var encoding: WireEncoding
    public var ink: Ink

    public init(
        gate: Gating = .video, policy: Policy = .maxhold, maxHold: Duration = .seconds(30),
        staleAfter: Duration = .seconds(2), extrapolate: Bool = true, encoding: WireEncoding = .json, ink: Ink = .whole
    ) {
        (self.gate, self.policy, self.maxHold, self.staleAfter) = (gate, policy, maxHold, staleAfter)
        (self.extrapolate, self.encoding, self.ink) = (extrapolate, encoding, ink)
    }
}
