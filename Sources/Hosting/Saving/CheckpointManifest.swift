public import StrokeWire
public import Whiteboard

/// The checkpoint of a room at a point of its log, with the place of the room's state.
///
/// Its sequences are those of the partition's log.
public struct CheckpointManifest: Sendable, Equatable {
    /// A room's state, which is stored in parts.
    public struct State: Sendable, Equatable {
        /// The sequences of the parts in the checkpoint stream, in order.
        public var parts: [UInt64]
        /// Bytes of all parts together.
        public var bytes: Int
        /// FNV-1a (64 bit) of all bytes.
        public var hash: UInt64
        /// A token of the parts' subjects, 0 ... 2, so that states that are kept never share a subject. Nil for a state
        /// written by the first release.
        public var slot: Int?
        /// The format of the bytes, at most ``RoomCheckpoint/formatVersion`` of the release that wrote them.
        public var format: UInt8
        /// The rules that made the room, at most ``RoomCheckpoint/foldVersion`` of the release that wrote the state.
        public var fold: UInt64

        /// - Parameters:
        ///   - format: by default this release's.
        ///   - fold: by default this release's.
        public init(
            parts: [UInt64], bytes: Int, hash: UInt64, slot: Int?, format: UInt8 = RoomCheckpoint.formatVersion,
            fold: UInt64 = RoomCheckpoint.foldVersion
        ) {
            self.parts = parts
            self.bytes = bytes
            self.hash = hash
            self.slot = slot
            self.format = format
            self.fold = fold
        }
    }

    /// A state, and the records that it contains.
    public struct Generation: Sendable, Equatable {
        /// The state contains all records of the room up to this one.
        public var sequence: UInt64
        /// The state.
        public var state: State

        public init(sequence: UInt64, state: State) {
            self.sequence = sequence
            self.state = state
        }
    }

    /// The room.
    public var room: RoomID
    /// The `PartitionLog.incarnationPrefix` of the log that the sequences belong to.
    public var log: String
    /// The room's incarnation.
    public var incarnation: String
    /// The state contains all records of the room up to this one.
    public var sequence: UInt64
    /// The feedback to authors was published for all records of the room up to this one.
    public var handled: UInt64
    /// The position of each cohort.
    public var cursors: [CohortName: CohortCursor]
    /// Whether nothing happens in the room without an input, so that it need not be restored before one comes.
    public var isQuiet: Bool
    /// Nil when the room was closed and there is nothing to restore.
    public var state: State?
    /// The generation before `state`, in case `state` is damaged; kept until the next one is acknowledged.
    public var previous: Generation?
    /// How often the room was restored after the log had lost its end: `sequence` and `handled` count from there.
    public var restorations: UInt32
    /// When the record `sequence` was logged, by the log's clock; nil where it is not known, as in older releases' manifests.
    public var loggedAt: Instant?
    /// When the record `handled` was logged. With it a log is told from one that has lost this record and has another at its
    /// place.
    public var handledAt: Instant?

    public init(
        room: RoomID, log: String, incarnation: String, sequence: UInt64, handled: UInt64,
        cursors: [CohortName: CohortCursor], isQuiet: Bool, state: State?, previous: Generation? = nil,
        restorations: UInt32 = 0, loggedAt: Instant? = nil, handledAt: Instant? = nil
    ) {
        self.room = room
        self.log = log
        self.incarnation = incarnation
        self.sequence = sequence
        self.handled = handled
        self.cursors = cursors
        self.isQuiet = isQuiet
        self.state = state
        self.previous = previous
        self.restorations = restorations
        self.loggedAt = loggedAt
        self.handledAt = handledAt
    }

    /// Whether it holds less than another of the room: a sequence counts from the last restoration.
    public func isBehind(_ other: CheckpointManifest) -> Bool {
        (restorations, sequence) < (other.restorations, other.sequence)
    }

    /// Sorts a room's manifests so that the best comes last: the one that contains the most records, of these the one that was
    /// written last.
    /// - Parameter manifests: in the order in which they were written.
    public static func ranked(_ manifests: [CheckpointManifest]) -> [CheckpointManifest] {
        manifests.enumerated().sorted {
            ($0.element.restorations, $0.element.sequence, $0.element.handled, $0.offset)
                < ($1.element.restorations, $1.element.sequence, $1.element.handled, $1.offset)
        }.map(\.element)
    }

    /// The generations that the room can be restored from, the newest first.
    public var generations: [Generation] {
        [state.map { Generation(sequence: sequence, state: $0) }, previous].compactMap(\.self)
    }

    /// The slot of the next state, which no kept generation uses.
    /// - Parameter fallback: what the room was restored from; its slot is the last to be given out.
    public func freeSlot(beside fallback: Fallback? = nil) -> Int {
        let taken = generations.map(\.state.slot) + [fallback?.generation.state.slot]
        return (0..<3).first { !taken.contains($0) } ?? (0..<3).first { $0 != fallback?.generation.state.slot } ?? 0
    }

    /// An older generation that a room was restored from, because newer ones cannot be read. It is the only one that is known to
    /// be good until a newer one was read back.
    public struct Fallback: Sendable, Equatable {
        public let generation: Generation
        private let incarnation: String
        private let restorations: UInt32

        /// - Parameter manifest: the one that names the generation.
        public init(_ generation: Generation, of manifest: CheckpointManifest) {
            self.generation = generation
            (incarnation, restorations) = (manifest.incarnation, manifest.restorations)
        }

        /// Whether a manifest is of the same life of the room: from another one it cannot go back to the generation.
        fileprivate func isOfLife(of manifest: CheckpointManifest) -> Bool {
            (incarnation, restorations) == (manifest.incarnation, manifest.restorations)
        }
    }
}

/// What is written of a save, and what may be deleted then.
extension CheckpointManifest {
    /// The manifest of a save, without a state.
    /// - Parameters:
    ///   - log: the log's incarnation prefix.
    ///   - known: the manifest that its writer has written or read last.
    public init(_ request: SaveRequest, log: String, after known: CheckpointManifest?) {
        let stored = request.stored
        self.init(
            room: request.room, log: log, incarnation: stored.incarnation, sequence: stored.sequence,
            handled: stored.handled, cursors: stored.cursors, isQuiet: stored.isQuiet, state: nil,
            restorations: stored.restorations, handledAt: stored.handledAt)
        if handledAt == nil, known?.handled == handled { handledAt = known?.handledAt }
    }

    /// Has it name the states that stand, because only cursors have moved.
    ///
    /// Where another daemon has stored a state of the same records, that one: two that were stored since may have had the known
    /// one deleted.
    /// - Parameters:
    ///   - known: the manifest that its writer has written or read last.
    ///   - newest: the one that is stored.
    public mutating func keepState(of known: CheckpointManifest?, or newest: CheckpointManifest?) {
        let isSame =
            newest.map { $0.restorations == restorations && $0.sequence == sequence && $0.state != nil } ?? false
        let standing = isSame ? newest : known
        (state, previous, loggedAt) = (standing?.state, standing?.previous, standing?.loggedAt)
    }

    /// Has it name a new state.
    /// - Parameters:
    ///   - newest: the manifest that is stored.
    ///   - fallback: what the room was restored from; nil where that was the newest state, or a newer one was read back since.
    public mutating func begin(_ new: State, after newest: CheckpointManifest?, beside fallback: Fallback? = nil) {
        state = new
        if handled == sequence { loggedAt = handledAt }
        // A life that has ended is not gone back to.
        if let fallback {
            previous = fallback.isOfLife(of: self) ? fallback.generation : nil
        } else {
            previous = newest?.incarnation == incarnation ? newest?.generations.first : nil
        }
    }

    /// The states of the manifest before that this one does not name any more.
    public func obsoleteStates(of before: CheckpointManifest?) -> [State] {
        let kept = generations.map(\.state)
        return before?.generations.map(\.state).filter { !kept.contains($0) } ?? []
    }
}

extension StoredRoom {
    /// The room as a manifest has it.
    public init(_ manifest: CheckpointManifest) {
        self.init(
            sequence: manifest.sequence, handled: manifest.handled, cursors: manifest.cursors,
            isQuiet: manifest.isQuiet, hasState: manifest.state != nil, incarnation: manifest.incarnation,
            restorations: manifest.restorations, handledAt: manifest.handledAt)
    }

    /// Has the room fetched at once and the records after its checkpoint read again, because they may be missing in it.
    public mutating func setOutdated() {
        isQuiet = false
        hasState = true
    }

    /// Keeps quiet about records before one.
    public mutating func setTold(before sequence: UInt64) { handled = max(handled, sequence - 1) }

    /// No checkpoint of the room can be read: it is rebuilt from the whole log.
    public static let damaged = StoredRoom(
        sequence: 0, handled: 0, cursors: [:], isQuiet: false, hasState: true, incarnation: "")
}
