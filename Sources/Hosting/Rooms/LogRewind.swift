public import StrokeWire
public import Whiteboard

/// What a partition's log has lost: a power cut takes what the server had acknowledged and not yet synced, a damaged file all
/// that stood behind it. The log goes on at a sequence that was given out before.
public struct LogRewind: Sendable, Equatable {
    /// The log is what it was up to this record, as far as checkpoints show; it may be a little more.
    public let end: UInt64
    /// The last record that is known to have been there.
    public let known: UInt64
    /// How many records are gone, at most.
    public let lost: UInt64
    /// The newest manifests of the rooms that have lost records.
    public let rooms: [CheckpointManifest]

    /// The decision by which a room goes on that has lost records.
    /// - Parameters:
    ///   - manifest: one of ``rooms``.
    ///   - base: the message of the checkpoint stream that has this manifest for good; not needed where it has no state.
    public func decision(about manifest: CheckpointManifest, base: UInt64) -> ControlRecord {
        // The log may have the life again that had ended.
        guard manifest.state != nil else { return .close }
        return .restore(
            RoomRestoration(
                checkpoint: base, after: min(end, manifest.sequence), number: manifest.restorations + 1))
    }
}

/// Compares a log with what checkpoints say of it: a record at a place that has another time is another record. It asks for one
/// record where the log is whole.
///
/// A log that was repaired before may have lost a decision of that repair, while other rooms went on: then a room whose last
/// record lies below another's, which is there, has none the less the state of a log that was cut. So behind a repair it asks for a
/// record of each room that has not been saved since.
public struct RewindSearch {
    private let manifests: [CheckpointManifest]
    private let covered: UInt64
    private let log: (first: UInt64, last: UInt64)
    private let wasRepaired: Bool
    private var position = 0
    private var end: UInt64 = 0
    private var lost: UInt64?
    /// Rooms below ``end`` whose last record is another one.
    private var stale: [CheckpointManifest] = []

    /// - Parameters:
    ///   - manifests: the best of each room.
    ///   - covered: up to where checkpoints hold all records of the partition.
    ///   - first: sequence of the log's first record.
    ///   - last: sequence of the log's last record; 0 where it has had none.
    ///   - wasRepaired: whether the log has lost records before.
    public init(
        _ manifests: some Sequence<CheckpointManifest>, covered: UInt64, first: UInt64, last: UInt64, wasRepaired: Bool
    ) {
        self.wasRepaired = wasRepaired
        self.manifests = manifests.sorted { ($0.handled, $0.room) > ($1.handled, $1.room) }
        self.covered = covered
        log = (max(1, first), last)
    }

    /// The sequence of the next record that has to be looked at, to be answered by ``found(_:)``; nil at the end of the search.
    public mutating func next() -> UInt64? {
        while position < manifests.count {
            let manifest = manifests[position]
            // What is covered was saved since the last repair, or lies before what was lost.
            if end > 0, !wasRepaired || manifest.handled <= covered { return nil }
            if manifest.handled > log.last {
                lost = manifest.handled
            } else if manifest.handledAt != nil, manifest.handled >= log.first {
                return manifest.handled
            }
            position += 1
        }
        return nil
    }

    /// - Parameter loggedAt: the time of the record that ``next()`` has named; nil where the log does not have it: a damaged
    ///   sequence has the log end far behind what it has lost.
    public mutating func found(_ loggedAt: Instant?) {
        let manifest = manifests[position]
        position += 1
        if loggedAt == manifest.handledAt {
            end = max(end, manifest.handled)
        } else if end > 0 {
            stale.append(manifest)
        } else {
            lost = manifest.handled
        }
    }

    /// What the log has lost; nil for one that has all records that the checkpoints know of.
    public var rewind: LogRewind? {
        let behind = covered > log.last ? log.last + 1 : nil
        guard let lost = lost ?? behind ?? stale.last?.handled else { return nil }
        let known = max(covered, manifests.first?.handled ?? 0)
        // A log that has not grown again ends where it was cut.
        let cut = log.last < lost ? log.last : end
        // Where the logs of stale rooms part from this one is not known: not before what is covered.
        let whole = stale.isEmpty ? end : covered
        let isLost = self.lost != nil || behind != nil
        return LogRewind(
            end: min(whole, lost - 1, log.last), known: known, lost: known - min(known, cut),
            rooms: stale.reversed() + manifests.filter { isLost && $0.handled >= lost }.reversed())
    }
}

extension RoomRestoration {
    /// The records that are applied to the state that the decision names: those that the log has had since it lost its end, the
    /// decision among them. Records that the state holds, and that the log may have kept, are not told twice.
    ///
    /// They are told by their times. After a power cut the clock of a machine without a battery may be behind. Then the decision
    /// seems no later than what the state holds, and of the records before it those that seem no later than it are new.
    /// - Parameters:
    ///   - records: of the room, those after `after` or more.
    ///   - decision: sequence of the decision.
    ///   - held: when the last record was logged that the state holds; nil where that is not known.
    public func tail(of records: [JournalRecord], decision: UInt64, held: Instant?) -> [JournalRecord] {
        let decidedAt = records.first { $0.sequence == decision }?.loggedAt
        return records.filter { record in
            record.sequence <= decision
                && (record.sequence == decision || record.isNew(behind: held, in: decidedAt))
        }
    }
}

extension JournalRecord {
    /// - Parameters:
    ///   - held: when the last record was logged that a state holds; nil where that is not known.
    ///   - end: a later time of the log that the record is in; nil where that is not known.
    fileprivate func isNew(behind held: Instant?, in end: Instant?) -> Bool {
        guard let held, loggedAt <= held else { return true }
        return end.map { $0 <= held && loggedAt <= $0 } ?? false
    }
}

extension LogRewind {
    /// Whether the state of a manifest lacks a record of the log.
    /// - Parameters:
    ///   - manifest: one of ``rooms``.
    ///   - last: when the log's last record was logged; nil where that is not known.
    public func isNew(_ record: JournalRecord, to manifest: CheckpointManifest, in last: Instant?) -> Bool {
        record.isNew(behind: manifest.loggedAt, in: record.sequence > end ? last : nil)
    }
}
