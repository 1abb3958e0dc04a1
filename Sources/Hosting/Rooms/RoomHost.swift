public import StrokeWire
public import Whiteboard

/// The rooms of one worker: fetches them, folds the journal's records into them, lets them do what is due, saves them
/// and lets them go.
///
/// A state machine without clocks or I/O: time is a parameter, the world is its output. The same machine runs in the
/// daemon and in simulations. Confined to one thread.
public final class RoomHost<Output: HostOutput> {
    public let configuration: HostConfiguration
    let output: Output
    var rooms: [RoomID: HostedRoom] = [:]
    /// Rooms of this worker that are not in memory. Bounded by the age to which checkpoints are kept.
    var stored = StoredRooms()
    var partitions: [Int: PartitionState] = [:]
    var wakes = WakeQueue()
    var effects = RoomEffects()
    var waitingBytes = 0
    var barriers: [@Sendable () -> Void] = []
    private var isOutputOpen: Bool

    public init(configuration: HostConfiguration, output: Output, isOutputOpen: Bool) {
        self.configuration = configuration
        self.output = output
        self.isOutputOpen = isOutputOpen
    }

    /// When `advance(to:)` has something to do; possibly too early, never too late.
    public var nextWake: Instant? {
        guard let wake = wakes.earliest, let end = stored.nextEnd else { return wakes.earliest ?? stored.nextEnd }
        return min(wake, end)
    }

    /// Lets rooms do what is due.
    public func advance(to now: Instant) {
        while let room = stored.takeGone(at: now) { output.forgotten(room) }
        while let room = wakes.popDue(at: now) {
            guard let hosted = rooms[room] else { continue }
            settle(hosted, at: now)
        }
    }

    /// A sample of a cohort's video clock. It may make a room; while a partition is being recovered it is passed over,
    /// for the next one comes soon.
    public func sample(_ bytes: [UInt8], of room: RoomID, cohort: CohortName, partition: Int, at now: Instant) {
        guard partitions[partition]?.phase == .live else { return }
        guard let hosted = rooms[room] ?? summon(room, isWritten: false, at: now) else { return }
        hosted.lastUse = now
        guard rouse(hosted, at: now) else { return }
        hosted.room?.receive(clockSample: bytes, cohort: cohort, at: now, into: &effects)
        settle(hosted, at: now)
    }

    /// Says whether anything can be published.
    public func setOutput(isOpen: Bool, at now: Instant) {
        isOutputOpen = isOpen
        for hosted in rooms(where: { _ in true }) {
            if isOpen {
                let unsent = hosted.unsent
                hosted.unsent = []
                for effect in unsent where !hosted.unsent.isEmpty || !output.publish(effect, of: hosted) {
                    keep(effect, in: hosted)
                }
            }
            hosted.room?.setOutput(isOpen: isOpen && hosted.unsent.isEmpty)
            settle(hosted, at: now)
        }
    }

    /// Lets the room do what is due, carries out what it asks for, and notes when to come back.
    func settle(_ hosted: HostedRoom, at now: Instant) {
        if isLive(hosted) { hosted.room?.advance(to: now, into: &effects) }
        perform(in: hosted, at: now)
        save(hosted, at: now)
        if rest(hosted, at: now) { return }
        wakes.set(hosted.id, to: nextWake(of: hosted, after: now))
    }

    /// Carries out what the room has asked for.
    func perform(in hosted: HostedRoom, at now: Instant) {
        var next = 0
        while next < effects.list.count {
            perform(effects.list[next], in: hosted, at: now)
            next += 1
        }
        output.settled(hosted, effects.counts)
        effects.removeAll()
    }

    private func perform(_ effect: RoomEffect, in hosted: HostedRoom, at now: Instant) {
        if case .record(let control) = effect {
            // Decisions take effect where they stand in the journal, which may be at once.
            let id = control.identifier(in: hosted)
            guard let record = output.append(control, to: hosted, id: id, at: now) else { return }
            // It is in order here and now, whatever its number: messages with lower ones may be on their way.
            apply(record, to: hosted, at: now)
            hosted.room?.advance(to: now, into: &effects)
            return
        }
        if !hosted.unsent.isEmpty || !output.publish(effect, of: hosted) { keep(effect, in: hosted) }
    }

    /// Effects of one room that wait for the connection, besides releases, which the closed output bounds. Beyond, an
    /// author has to ask again by repeating the message.
    private static var unsentBound: Int { 4096 }

    /// What would not be said again waits for the connection.
    private func keep(_ effect: RoomEffect, in hosted: HostedRoom) {
        switch effect {
        case .feedback(_, .missingShards), .feedback(_, .missingRange), .mark, .record: return
        case .feedback, .head: if hosted.unsent.count >= Self.unsentBound { return }
        case .release: break
        }
        hosted.unsent.append(effect)
        hosted.room?.setOutput(isOpen: false)
    }

    private func nextWake(of hosted: HostedRoom, after now: Instant) -> Instant? {
        var earliest: Instant?
        func consider(_ instant: Instant?) {
            if let instant { earliest = min(earliest ?? instant, instant) }
        }
        if isLive(hosted) { consider(hosted.room?.nextWake(after: now)) }
        consider(nextSave(of: hosted))
        consider(nextRest(of: hosted))
        return earliest
    }

    /// Puts a room into the hands of this host, new or brought back.
    func adopt(_ hosted: HostedRoom, _ room: consuming Room, at now: Instant) {
        var room = room
        room.setOutput(isOpen: isOutputOpen)
        room.setLogClock(ahead: logClockAhead(of: hosted.partition))
        hosted.room = room
        rooms[hosted.id] = hosted
    }
}

extension ControlRecord {
    /// Names the decision, for all rooms of a partition: whoever takes it at the same place of the journal gives it the
    /// same name.
    fileprivate func identifier(in hosted: HostedRoom) -> String {
        switch self {
        case .gaveUp(let author, let from, let to):
            "\(hosted.id).\(hosted.sequence).gave-up.\(author).\(from)-\(to)"
        case .epoch(let number): "\(hosted.id).\(hosted.sequence).epoch.\(number)"
        case .close: "\(hosted.id).\(hosted.sequence).close"
        }
    }
}
