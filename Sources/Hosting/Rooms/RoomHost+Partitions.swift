public import StrokeWire
public import Whiteboard

/// Partitions come and go.
extension RoomHost {
    /// Begins to work on a partition: its journal's records follow, from the first that not all of `stored` holds.
    /// - Parameters:
    ///   - prefix: begins the names of the lives of its rooms.
    ///   - stored: those of its rooms that are this host's and have been saved.
    public func open(_ partition: Int, prefix: String, stored: [RoomID: StoredRoom], at now: Instant) {
        guard partitions[partition] == nil else { return }
        partitions[partition] = PartitionState(prefix: prefix)
        for (room, state) in stored {
            self.stored[room] = state
            // What is held has to be released though nothing more comes in.
            if !state.isQuiet, state.hasState { _ = summon(room, isWritten: true, at: now) }
        }
    }

    /// The journal has been read to where its end was: what is due is released from now on.
    public func caughtUp(_ partition: Int, at now: Instant) {
        guard partitions[partition]?.phase == .recovering else { return }
        partitions[partition]?.phase = .live
        for hosted in rooms.values where hosted.partition == partition && hosted.room != nil {
            resume(hosted, at: now)
            settle(hosted, at: now)
        }
        sayReady(partition)
    }

    /// Ends the work on a partition: saves what has not been saved, then forgets its rooms. Its journal must not be
    /// read any more.
    public func close(_ partition: Int, at now: Instant) {
        guard let phase = partitions[partition]?.phase else { return output.closed(partition) }
        guard phase != .closing else { return }
        partitions[partition]?.phase = .closing
        for hosted in rooms.values where hosted.partition == partition {
            // Before it was live nothing has happened that another would not find in the journal.
            if phase == .recovering || hosted.isWaking { forget(hosted) } else { settle(hosted, at: now) }
        }
        sayClosed(partition)
    }

    func sayReady(_ partition: Int) {
        guard let state = partitions[partition], state.phase == .live, !state.isReady,
            !rooms.values.contains(where: { $0.partition == partition && $0.isWaking })
        else { return }
        partitions[partition]?.isReady = true
        output.ready(partition)
    }

    /// Says that a partition is closed, when all of its rooms have been let go of.
    func sayClosed(_ partition: Int) {
        guard partitions[partition]?.phase == .closing, !rooms.values.contains(where: { $0.partition == partition })
        else { return }
        partitions[partition] = nil
        let count = configuration.partitions
        stored = stored.filter { RoomAddress.partition(of: $0.key, among: count) != partition }
        output.closed(partition)
    }
}
