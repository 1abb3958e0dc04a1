import StrokeWire
public import Whiteboard

/// The effects of a room that the NATS server has not confirmed, oldest first. A lost connection takes what it had
/// buffered with it: then they are published again.
struct UnconfirmedEffects {
    /// Published before the confirmation that is under way was asked for.
    private var asked: [RoomEffect] = []
    /// Published since.
    private var since: [RoomEffect] = []
    /// Memory that they hold, about.
    private(set) var bytes = 0

    var isEmpty: Bool { asked.isEmpty && since.isEmpty }

    mutating func append(_ effect: RoomEffect) {
        since.append(effect)
        bytes += effect.cost
    }

    /// A confirmation of all that was published so far is asked for.
    mutating func ask() {
        guard !since.isEmpty else { return }
        asked = asked.isEmpty ? since : asked + since
        since = []
    }

    /// What was published when it was asked for has arrived.
    mutating func confirm() {
        asked = []
        bytes = since.reduce(0) { $0 + $1.cost }
    }

    mutating func removeAll(where isUnwanted: (RoomEffect) -> Bool) {
        asked.removeAll(where: isUnwanted)
        since.removeAll(where: isUnwanted)
        bytes = (asked + since).reduce(0) { $0 + $1.cost }
    }

    /// All of it, to go out again.
    mutating func takeAll() -> [RoomEffect] {
        defer { self = UnconfirmedEffects() }
        return asked + since
    }
}

extension RoomEffect {
    /// Whether it is not said again by itself.
    var isSaidOnce: Bool {
        switch self {
        case .feedback(_, _, .missingShards), .feedback(_, _, .missingRange), .feedback(_, _, .covered),
            .feedback(_, _, .behindLive), .mark, .record:
            false
        // Points go out again every second.
        case .wet(_, let wet): wet.isEnd
        case .feedback, .head, .release: true
        }
    }

    /// Whether it goes out although the room's life has ended meanwhile.
    fileprivate var outlastsLife: Bool {
        switch self {
        case .feedback: true
        case .wet(_, let wet): wet.isEnd
        case .head, .release, .mark, .record: false
        }
    }

    /// Bytes that it holds while it waits, about.
    var cost: Int {
        switch self {
        case .head(let operation), .release(_, let operation, _, _): operation.message.count + 256
        case .feedback, .wet, .mark, .record: 256
        }
    }
}

/// Publishing effects, and keeping them until the server has confirmed them.
extension RoomHost {
    /// When the server is asked for a confirmation, over all rooms.
    struct Confirmation {
        var due: Instant?
        var isAsked = false
        /// Bytes of all that is not confirmed.
        var bytes = 0
        /// Whether something was held back for its sake.
        var isHoldingBack = false
    }

    /// How long after something was published a confirmation is asked for. One PING for all rooms.
    static var confirmationInterval: Duration { .milliseconds(250) }

    /// Bytes of effects that are not confirmed from which on a confirmation is asked for at once.
    static var confirmationBytes: Int { 2 << 20 }

    /// Bytes of effects that are not confirmed; beyond, nothing more is published until the server answers.
    static var unconfirmedBound: Int { 16 << 20 }

    func remember(_ effect: RoomEffect, of hosted: HostedRoom, at now: Instant) {
        guard effect.isSaidOnce else { return }
        if !hosted.isUnconfirmed {
            hosted.isUnconfirmed = true
            unconfirmedRooms.append(hosted)
        }
        hosted.unconfirmed.append(effect)
        confirmation.bytes += effect.cost
        guard !confirmation.isAsked else { return }
        if confirmation.bytes >= Self.confirmationBytes {
            confirmation.due = now
        } else if confirmation.due == nil {
            confirmation.due = now + Self.confirmationInterval
        }
    }

    /// Asks for a confirmation where one is due.
    func confirm(at now: Instant) {
        guard let due = confirmation.due, due <= now else { return }
        confirmation.due = nil
        guard isOutputOpen, !unconfirmedRooms.isEmpty else { return }
        confirmation.isAsked = true
        for hosted in unconfirmedRooms { hosted.unconfirmed.ask() }
        output.confirm()
    }

    /// The answer to ``HostOutput/confirm()``.
    /// - Parameter isConfirmed: whether the server has received all that was published before, on the connection that
    ///   `setOutput` was last told of; otherwise it is asked again.
    public func confirmed(_ isConfirmed: Bool, at now: Instant) {
        guard confirmation.isAsked else { return }
        confirmation.isAsked = false
        if isConfirmed {
            var done: [HostedRoom] = []
            for hosted in unconfirmedRooms {
                confirmation.bytes -= hosted.unconfirmed.bytes
                hosted.unconfirmed.confirm()
                confirmation.bytes += hosted.unconfirmed.bytes
                if hosted.unconfirmed.isEmpty, waitsForConfirmation(hosted, at: now) { done.append(hosted) }
            }
            dropConfirmed()
            for hosted in done { settle(hosted, at: now) }
            if confirmation.isHoldingBack, isOutputOpen {
                confirmation.isHoldingBack = false
                for hosted in rooms(where: { !$0.unsent.isEmpty }) { sendUnsent(of: hosted, at: now) }
            }
        }
        guard !unconfirmedRooms.isEmpty, isOutputOpen else { return }
        // Rooms that give up their places wait for it.
        let isUrgent = leaving + departing > 0 || confirmation.bytes >= Self.confirmationBytes
        confirmation.due = isConfirmed && isUrgent ? now : now + Self.confirmationInterval
    }

    /// Whether a room leaves memory as soon as nothing of it is unconfirmed.
    private func waitsForConfirmation(_ hosted: HostedRoom, at now: Instant) -> Bool {
        hosted.isLeaving || isClosing(hosted) || hosted.room?.isBlank ?? true
            || now >= hosted.lastUse + configuration.idle
    }

    /// Forgets the rooms of which nothing is unconfirmed any more.
    private func dropConfirmed() {
        unconfirmedRooms.removeAll { hosted in
            hosted.isUnconfirmed = !hosted.unconfirmed.isEmpty
            return !hosted.isUnconfirmed
        }
    }

    /// The connection is lost, and what it had buffered with it.
    func takeBackUnconfirmed() {
        for hosted in unconfirmedRooms {
            hosted.isUnconfirmed = false
            guard !hosted.unconfirmed.isEmpty else { continue }
            putAside(hosted.unconfirmed.takeAll(), in: hosted, isFirst: true)
        }
        unconfirmedRooms = []
        confirmation = Confirmation(isAsked: confirmation.isAsked)
    }

    /// A room's effects are void, or the room leaves memory.
    func forgetUnconfirmed(of hosted: HostedRoom) {
        guard !hosted.unconfirmed.isEmpty else { return }
        confirmation.bytes -= hosted.unconfirmed.bytes
        hosted.unconfirmed = UnconfirmedEffects()
        // A room that has just come for an answer leaves at once: many of them must not stay until a confirmation comes.
        if unconfirmedRooms.last === hosted {
            unconfirmedRooms.removeLast()
            hosted.isUnconfirmed = false
        }
    }

    /// A room's life has ended: of what is not sent, or not confirmed, the answers to its authors and the ends of strokes
    /// remain.
    func keepAnswers(of hosted: HostedRoom) {
        let unsent = hosted.unsent.filter(\.outlastsLife)
        dropUnsent(of: hosted)
        if !unsent.isEmpty { putAside(unsent, in: hosted) }
        guard !hosted.unconfirmed.isEmpty else { return }
        confirmation.bytes -= hosted.unconfirmed.bytes
        hosted.unconfirmed.removeAll { !$0.outlastsLife }
        confirmation.bytes += hosted.unconfirmed.bytes
    }

    /// Publishes what waited for the connection, or for a confirmation, and lets the room go on.
    func sendUnsent(of hosted: HostedRoom, at now: Instant) {
        let unsent = hosted.unsent
        dropUnsent(of: hosted)
        // What has waited is not dropped for want of room.
        for effect in unsent where !send(effect, of: hosted, at: now) { putAside([effect], in: hosted) }
        hosted.room?.setOutput(isOpen: hosted.unsent.isEmpty)
        settle(hosted, at: now)
    }

    /// Publishes an effect, or keeps it where that cannot be done now.
    func publish(_ effect: RoomEffect, of hosted: HostedRoom, at now: Instant) {
        if !send(effect, of: hosted, at: now) { keep(effect, in: hosted) }
    }

    /// - Returns: false where it has to wait.
    private func send(_ effect: RoomEffect, of hosted: HostedRoom, at now: Instant) -> Bool {
        guard hosted.unsent.isEmpty else { return false }
        guard confirmation.bytes < Self.unconfirmedBound else {
            confirmation.isHoldingBack = true
            return false
        }
        guard output.publish(effect, of: hosted) else { return false }
        remember(effect, of: hosted, at: now)
        return true
    }
}
