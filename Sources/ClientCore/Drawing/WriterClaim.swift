/// Which of the devices and pages that share an author writes, as far as this one can know.
///
/// One device writes at a time. Pages that share a store settle it by a lock, which the shell holds; devices by sessions, which
/// the room answers for: a session ends when a newer one begins. A device that was cut off sends what it had left in a session
/// of its own, marked as that, and the other one goes on. Methods say what is to be done; see ``DrawingSession``.
public struct WriterClaim: Sendable {
    /// Whether this shell is the one that writes for its author.
    public enum State: UInt8, Sendable {
        /// Not known yet.
        case waiting
        case writer
        /// Another shell that shares the store writes.
        case elsewhere
        /// Another device has begun to write, or had before this one was opened; see ``DrawingSession/takeOver(at:)``.
        case superseded
    }

    /// What the session does.
    enum Decision: Sendable, Equatable {
        /// Read the outbox.
        case load
        case write
        /// Another shell of this store has the right.
        case leaveToOther
        /// The author writes on another device, and did not here, or not last.
        case standBack
        /// The author writes on another device from now on.
        case supersede
        /// Write on, in a new session.
        case resume
    }

    /// Time between two looks at whether a muted author is muted still.
    private static let mutedInterval = Duration.seconds(5)
    /// In which a device that another one has taken over from tells of what it had left, and for how long that is remembered:
    /// its session for it is not another take-over.
    private static let leftWait = Duration.milliseconds(1500)
    private static let leftTime = Duration.seconds(10)
    /// How long the answer is waited for whether the author writes on another device.
    private static let lookTime = Duration.seconds(3)

    var state = State.waiting
    /// Whether the room takes nothing of this author.
    private(set) var isMuted = false
    /// Whether this shell has the right to write, before all others that share the store.
    private(set) var hasRight = false
    private(set) var isLoading = false
    /// Until when the answer is waited for whether the author writes elsewhere.
    private var lookDeadline: Duration?
    private var (wantsLook, isLooking) = (false, false)
    private var nextMutedLook: Duration?
    /// Whether another device has written since the sessions before this run's: that they are over is known then.
    private(set) var knowsOther = false
    /// When a stroke that another device had left was seen last, and until when one is waited for after a session is over.
    private var leftTime: Duration?
    private var overDeadline: Duration?

    /// Whether pens draw and commands are taken.
    var canWrite: Bool { state == .writer && !isMuted }

    /// When ``passed(_:)`` is to be called; nil for not by itself.
    var wake: Duration? { [lookDeadline, nextMutedLook, overDeadline].compactMap { $0 }.min() }

    /// Whether the room is to be asked who writes and who is muted.
    mutating func takeLook() -> Bool {
        defer { wantsLook = false }
        guard wantsLook, !isLooking else { return false }
        isLooking = true
        return true
    }

    mutating func passed(_ now: Duration) -> Decision? {
        if let time = nextMutedLook, time <= now {
            nextMutedLook = now + Self.mutedInterval
            wantsLook = true
        }
        if let time = lookDeadline, time <= now { return decide(isElsewhere: false) }
        guard let time = overDeadline, time <= now else { return nil }
        overDeadline = nil
        return .supersede
    }

    mutating func rightChanged(_ hasRight: Bool) -> Decision {
        self.hasRight = hasRight
        isLoading = hasRight
        // The answer to a look under way may never come.
        if !hasRight { (lookDeadline, isLooking) = (nil, false) }
        return hasRight ? .load : .leaveToOther
    }

    mutating func loaded(wroteHere: Bool, at now: Duration) -> Decision? {
        isLoading = false
        knowsOther = !wroteHere
        if wroteHere { return .write }
        lookDeadline = now + Self.lookTime
        wantsLook = true
        return nil
    }

    /// - Parameter isWriting: whether the author writes; nil where the room has not answered.
    mutating func looked(isWriting: Bool?) -> Decision? {
        isLooking = false
        return lookDeadline == nil ? nil : decide(isElsewhere: isWriting ?? false)
    }

    private mutating func decide(isElsewhere: Bool) -> Decision? {
        lookDeadline = nil
        guard hasRight else { return nil }
        return isElsewhere ? .standBack : .write
    }

    /// Another device writes as this author; or it has only sent what it had left, and this one goes on.
    mutating func sessionOver(at now: Duration) -> Decision? {
        if let leftTime, now - leftTime < Self.leftTime { return .resume }
        // The pen draws on meanwhile: what it draws is kept.
        if overDeadline == nil { overDeadline = now + Self.leftWait }
        return nil
    }

    /// The board shows what another device had left.
    mutating func sawLeft(at now: Duration) -> Decision? {
        leftTime = now
        return overDeadline == nil ? nil : .resume
    }

    /// The person wants to write here, where another device does.
    mutating func takenOver() {
        resumed()
        knowsOther = true
    }

    mutating func resumed() {
        knowsOther = false
        (overDeadline, leftTime) = (nil, nil)
    }

    /// - Returns: whether that is new.
    mutating func noteMuted(_ isMuted: Bool, at now: Duration) -> Bool {
        guard isMuted != self.isMuted else { return false }
        self.isMuted = isMuted
        // Nobody is told of the end of it.
        nextMutedLook = isMuted ? now + Self.mutedInterval : nil
        return true
    }
}
