import StrokeWire
import Whiteboard

/// Rooms leave memory.
extension RoomHost {
    /// Lets a room go that has long been idle, or whose partition is being closed.
    /// - Returns: whether it is gone, or asleep.
    func rest(_ hosted: HostedRoom, at now: Instant) -> Bool {
        guard let room = hosted.room else { return false }
        if isClosing(hosted) {
            guard nextSave(of: hosted) == nil, !hosted.savings.isSaving else { return false }
            forget(hosted)
            sayClosed(hosted.partition)
            return true
        }
        guard let due = nextRest(of: hosted), due <= now else { return false }
        if configuration.checkpoints == nil, !room.isBlank {
            hosted.asleep = room.checkpoint().encoded()
            hosted.room = nil
            wakes.set(hosted.id, to: nil)
            output.left(hosted)
            return true
        }
        return retire(hosted)
    }

    /// Lets go of a room that can be had again, or need not be.
    private func retire(_ hosted: HostedRoom) -> Bool {
        guard let room = hosted.room, !hosted.savings.isSaving, hosted.savings.firstUncovered == nil,
            nextSave(of: hosted) == nil
        else { return false }
        if let noted = hosted.savings.noted, !room.isBlank { stored[hosted.id] = noted }
        forget(hosted)
        return true
    }

    /// When a room has been idle for long enough, nil while something is going on in it.
    func nextRest(of hosted: HostedRoom) -> Instant? {
        guard let room = hosted.room, partitions[hosted.partition]?.phase == .live, hosted.unsent.isEmpty,
            room.isQuiet || room.isBlank
        else { return nil }
        if configuration.checkpoints != nil, hosted.savings.firstUncovered != nil { return nil }
        return hosted.lastUse + configuration.idle
    }

    /// Makes place for a room: one that is blank goes, or one that is saved and in which nothing happens, the one
    /// longest idle. For a room that is only looked at or has only a clock, none goes that was used a short time ago.
    func makePlace(isWritten: Bool, at now: Instant) -> Bool {
        let idle = rooms.values.filter { hosted in
            guard let room = hosted.room, hosted.unsent.isEmpty else { return false }
            return room.isBlank || configuration.checkpoints != nil && room.isQuiet
        }
        guard let oldest = idle.min(by: { ($0.lastUse, $0.id) < ($1.lastUse, $1.id) }),
            isWritten || now - oldest.lastUse >= configuration.idle, retire(oldest)
        else { return false }
        return output.takePlace()
    }

    func forget(_ hosted: HostedRoom) {
        _ = takeWaiting(of: hosted)
        wakes.set(hosted.id, to: nil)
        rooms[hosted.id] = nil
        if hosted.hasPlace { output.giveBackPlace() }
        output.left(hosted)
    }
}
