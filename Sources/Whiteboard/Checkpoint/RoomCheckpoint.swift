import StrokeWire

/// A room's state for a checkpoint.
///
/// A value that shares storage with the room: taking it is cheap, but what the room changes while it is kept is copied
/// first. Encode it on any thread, and let go of it.
///
/// It holds what the room has taken from its log, and the cohorts' cursors; not the settings, nor the clocks, which are
/// unknown after a restart, nor operations that every cohort has released, but for the latest.
public struct RoomCheckpoint: Sendable {
    private let room: Room

    /// Operations logged so long before the last one are held though every cohort has released them: a cohort that came
    /// to be just after starts there, and not with ink that its video has not reached.
    static let memory = Duration.seconds(60)

    init(_ room: Room) {
        self.room = room
    }

    /// The state as bytes: a mark and a version first. They carry no sum of their own; who stores them sees to it that
    /// they come back as they were.
    public func encoded() -> [UInt8] {
        var room = room
        var retention = room.configuration.log
        retention.tail = min(retention.tail, room.gate.timeline.count(within: Self.memory))
        room.trimLog(keeping: retention)
        var writer = CheckpointWriter(logClock: room.logClock)
        writer.write(Array(room.incarnation.utf8))
        writer.write(optional: room.shapes.recent) { $0.write($1) }
        writer.write(room.base)
        writer.write(list: room.log.kept) { $0.write($1) }
        writer.write(room.gate)
        writer.write(list: room.intake.authorsByName) { $0.write($1) }
        return writer.finished()
    }
}

extension GateTimeline {
    /// How many of the operations kept were logged at most so long before the last one.
    fileprivate func count(within span: Duration) -> Int {
        guard last > forgotten else { return 0 }
        let earliest = self[last].loggedAt + (.zero - span)
        var first = last
        while first > forgotten, self[first].loggedAt >= earliest { first -= 1 }
        return Int(last - first)
    }
}
