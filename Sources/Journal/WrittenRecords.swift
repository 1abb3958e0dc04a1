import Hosting
import Locking
import StrokeWire

/// A manifest with its sequence in the checkpoint stream; without either where a room has none.
struct PlacedManifest: Sendable {
    let manifest: CheckpointManifest?
    let sequence: UInt64
    /// Whether there is one that cannot be read.
    var isDamaged = false
}

/// The records of checkpoint streams that this process has written: where all that lies between two of them is its own, no
/// other daemon has written between, and the server need not be asked.
///
/// What it knows ends with the connection, because a stream may have lost its end meanwhile. Any thread. A partition keeps at
/// most ``mostRanges`` ranges of sequences, and a manifest for each room in memory.
final class WrittenRecords: Sendable {
    /// Changed in place alone: a copy of what is known of all rooms would cost each record more than all else.
    private struct Partition {
        let generation: UInt64
        private var own = RangeSet<UInt64>()
        /// The manifest that was written last, by room.
        var last: [RoomID: PlacedManifest] = [:]

        init(generation: UInt64) {
            self.generation = generation
        }

        mutating func add(_ sequence: UInt64, on generation: UInt64) {
            // A stream that gives out a sequence again has lost records, or is another one.
            if self.generation != generation || own.contains(sequence) || own.ranges.count > WrittenRecords.mostRanges {
                self = Partition(generation: generation)
            }
            own.insert(contentsOf: sequence..<sequence + 1)
        }

        mutating func take(_ written: PlacedManifest, of room: RoomID, after place: UInt64) -> UInt64? {
            let before = last[room]?.sequence
            if written.sequence > before ?? 0 { last[room] = written }
            // Another task may write the same room.
            guard before == nil || before == place else { return place }
            return hasAll(between: place, written.sequence) ? nil : place
        }

        func hasAll(between first: UInt64, _ last: UInt64) -> Bool {
            own.isSuperset(of: RangeSet(first + 1..<last))
        }
    }

    private static let mostRanges = 1024
    private let partitions = Locked<[Int: Partition]>([:])

    /// The manifest of a room that was written last on a connection.
    func last(of room: RoomID, in partition: Int, on generation: UInt64) -> PlacedManifest? {
        partitions.withLock { partitions in
            guard let known = partitions[partition], known.generation == generation else { return nil }
            return known.last[room]
        }
    }

    /// A record was acknowledged on a connection.
    func add(_ sequence: UInt64, to partition: Int, on generation: UInt64) {
        partitions.withLock { partitions in
            partitions[partition, default: Partition(generation: generation)].add(sequence, on: generation)
        }
    }

    /// A manifest was acknowledged that was written behind another one.
    /// - Parameter place: the sequence of the other one; 0 for none.
    /// - Returns: the sequence behind which others may have written before it; nil where nobody can have.
    func take(_ written: PlacedManifest, of room: RoomID, in partition: Int, after place: UInt64) -> UInt64? {
        partitions.withLock { partitions in
            guard written.sequence > place else { return 0 }
            guard let index = partitions.index(forKey: partition) else { return place }
            return partitions.values[index].take(written, of: room, after: place)
        }
    }

    /// Whether all records between two, the first of which is this process's own, are its own.
    func hasAll(between first: UInt64, _ last: UInt64, in partition: Int) -> Bool {
        partitions.withLock { $0[partition]?.hasAll(between: first, last) ?? false }
    }

    func forget(_ room: RoomID, of partition: Int) {
        partitions.withLock { $0[partition]?.last[room] = nil }
    }

    func forget(partition: Int) {
        partitions.withLock { $0[partition] = nil }
    }
}
