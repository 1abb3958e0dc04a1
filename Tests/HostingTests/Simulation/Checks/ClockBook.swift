import Hosting
import StrokeWire
import Whiteboard

/// What the rooms that a process has or had in memory have heard of the clocks of their cohorts.
struct ClockBook {
    /// How far a process has read a room's log.
    struct Naming {
        /// How many lives of the room have ended.
        var life = 0
        /// The newest session of the encoder that the log has named in this one.
        var session: Int64 = -1
    }

    private struct Key: Hashable {
        let room: ObjectIdentifier
        let life: Int
        let cohort: CohortName
    }

    private var clocks: [Key: PlainClock] = [:]
    /// Kept, so that no two have the same identity.
    private var rooms: [ObjectIdentifier: HostedRoom] = [:]

    mutating func receive(
        _ bytes: [UInt8], of room: HostedRoom, _ cohort: CohortName, named: Naming, at now: Instant
    ) {
        guard let sample = try? ClockSample(decoding: bytes) else { return }
        rooms[ObjectIdentifier(room)] = room
        let key = Key(room: ObjectIdentifier(room), life: named.life, cohort: cohort)
        clocks[key, default: PlainClock()].receive(sample, named: named.session, at: now.nanoseconds)
    }

    /// The clock as it stands when the room's log has named a session.
    mutating func clock(of room: HostedRoom, _ cohort: CohortName, named: Naming) -> PlainClock? {
        let key = Key(room: ObjectIdentifier(room), life: named.life, cohort: cohort)
        clocks[key]?.takeWaiting(named.session)
        return clocks[key]
    }
}
