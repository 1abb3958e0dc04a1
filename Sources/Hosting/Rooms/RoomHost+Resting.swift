import StrokeWire
import Whiteboard

/// Rooms leave memory.
extension RoomHost {
    /// Lets a room go that has long been idle, or whose partition is being closed.
    /// - Returns: whether it is gone, or asleep.
    func rest(_ hosted: HostedRoom, at now: Instant) -> Bool {
        if isClosing(hosted) {
            // An answer that comes later would be taken for that to another question.
            guard !hosted.isWaking, !hosted.savings.isSaving else { return false }
            guard hosted.isVoid || hosted.unsent.isEmpty && nextSave(of: hosted) == nil else { return false }
            letGo(hosted)
            return true
        }
        guard let room = hosted.room, let due = nextRest(of: hosted), due <= now else { return false }
        if configuration.checkpoints == nil, !room.isBlank {
            hosted.asleep = room.checkpoint().encoded()
            hosted.room = nil
            wakes.set(hosted.id, to: nil)
            output.left(hosted)
            return true
        }
        retire(hosted, at: now)
        return true
    }

    /// Lets go of a room that can be had again, or need not be.
    private func retire(_ hosted: HostedRoom, at now: Instant) {
        if configuration.checkpoints != nil, hosted.hasState, let noted = hosted.savings.noted {
            let kept = partitions[hosted.partition]?.kept
            stored.put(noted, of: hosted.id, until: kept.map { now + $0 })
        }
        forget(hosted)
    }

    /// When a room has been idle for long enough, nil while something is going on in it.
    func nextRest(of hosted: HostedRoom) -> Instant? {
        isAtRest(hosted) ? hosted.lastUse + configuration.idle : nil
    }

    /// Whether nothing is going on in a room, and all of it is saved where it is to survive.
    private func isAtRest(_ hosted: HostedRoom) -> Bool {
        guard let room = hosted.room, isLive(hosted), hosted.unsent.isEmpty, isSaved(hosted) else { return false }
        return room.isQuiet || room.isBlank
    }

    /// Whether nothing of a room would be lost with it, where it is to survive.
    private func isSaved(_ hosted: HostedRoom) -> Bool {
        guard configuration.checkpoints != nil else { return true }
        let savings = hosted.savings
        return !savings.isSaving && savings.firstUncovered == nil && (savings.noted != nil || !hosted.hasState)
            && nextSave(of: hosted) == nil
    }

    /// Makes place for a room: one that is blank goes, or one that is saved and in which nothing happens, the one
    /// longest idle. For a room that is only looked at or has only a clock, none goes that was used a short time ago.
    func makePlace(isWritten: Bool, at now: Instant) -> Bool {
        let idle = rooms.values.filter { hosted in
            hosted.hasPlace && isAtRest(hosted)
                && (configuration.checkpoints != nil || hosted.room?.isBlank ?? false)
        }
        guard let oldest = idle.min(by: { ($0.lastUse, $0.id) < ($1.lastUse, $1.id) }),
            isWritten || now - oldest.lastUse >= configuration.idle
        else { return false }
        retire(oldest, at: now)
        return output.takePlace()
    }

    /// A room of a partition that is being closed.
    func letGo(_ hosted: HostedRoom) {
        forget(hosted)
        sayClosed(hosted.partition)
    }

    func forget(_ hosted: HostedRoom) {
        _ = takeWaiting(of: hosted)
        wakes.set(hosted.id, to: nil)
        rooms[hosted.id] = nil
        if hosted.hasPlace { output.giveBackPlace() }
        output.left(hosted)
    }
}
