public import StrokeWire

/// Rule 17: L, the media time at the teacher now.
extension Gate {
    /// L: what the time of an operation that is drawn now has to be; nil while unknown. From the freshest clock of the newest
    /// epoch whose samples tell their age; else UTC, where the room's time line is that.
    /// - Parameter utc: UTC at `now`; nil where it is not known.
    public func liveTime(at now: Instant, utc: MediaTime?) -> MediaTime? {
        guard hasClocks else { return waitingTime(at: now) }
        if let position = liveClock(at: now) { return cohorts[position].clock?.liveTime(at: now) }
        guard let utc else { return nil }
        let isUTC = cohorts.contains { cohort in
            guard let clock = cohort.clock else { return false }
            // The difference saturates: the least has no positive counterpart.
            return (clock.prediction(at: now) - utc).magnitude <= GateThresholds.utcDistance.magnitude
        }
        return isUTC ? utc : nil
    }

    /// L by a sample that waits for its epoch: a room that nobody has written to has no log to name it.
    private func waitingTime(at now: Instant) -> MediaTime? {
        for position in cohorts.indices {
            guard let waiting = cohorts[position].waiting else { continue }
            let anchor = ClockAnchor(waiting.sample, media: waiting.sample.media, received: waiting.received)
            if let live = anchor.liveTime(at: now) { return live }
        }
        return nil
    }

    /// Whether a sample of any cohort has come.
    var hasSamples: Bool { hasClocks || cohorts.contains { $0.waiting != nil } }

    /// Whether a clock was ever heard in this life of the room, by whomever.
    var hasEverHeard: Bool { timeline.epochs.haveSeenClock || cohorts.contains { $0.hasVideo } }

    /// Whether a clock of the newest epoch tells its age.
    var hasAge: Bool {
        let newest = timeline.epochs.confirmed.number
        return hasClocks && cohorts.contains { $0.clock?.epoch == newest && $0.clock?.anchor.age != nil }
    }

    /// The greatest media time of the clocks that were saved; nil for none.
    var savedMedia: MediaTime? { cohorts.compactMap { $0.savedClock?.media }.max() }

    /// Microseconds by which the slowest cohort is behind.
    var greatestAge: Int64? { cohorts.compactMap { $0.clock?.anchor.age }.max() }

    /// The position of the cohort whose clock tells L: one of an earlier epoch is on a time line that is over for the teacher.
    private func liveClock(at now: Instant) -> Int? {
        let newest = timeline.epochs.confirmed.number
        var best: (position: Int, received: Instant)?
        // No copies of clocks here: this may run once for each operation.
        for position in cohorts.indices where cohorts[position].clock?.epoch == newest {
            guard cohorts[position].clock?.liveTime(at: now) != nil,
                let received = cohorts[position].clock?.anchor.received
            else { continue }
            if let best, best.received >= received { continue }
            best = (position, received)
        }
        return best?.position
    }
}

/// Rules 17 and 18: the times of a room's authors beside the time at the teacher. Output and decisions only: of what it has,
/// checkpoints keep what rule 18 needs.
///
/// At most 64 authors; beyond, the one heard longest ago is forgotten.
struct AuthorTimes: Sendable {
    /// A draw that may have begun a time line anew, while no clock told its age.
    struct UnjudgedDraw: Sendable {
        let index: UInt64
        let time: MediaTime
        let loggedAt: Instant
    }

    private struct Author: Sendable {
        let id: AuthorID
        var heardAt: Instant
        /// The time of the last draw.
        var lastDraw: MediaTime?
        /// When an operation was last behind L, and when the author was last told so.
        var behindAt: Instant?
        var hintedAt: Instant?
    }

    private var authors: [Author] = []
    private(set) var unjudged: UnjudgedDraw?
    private static let bound = 64

    /// When authors have drawn last, in the order of their names.
    var lastDraws: [(author: AuthorID, time: MediaTime)] {
        authors.compactMap { author in author.lastDraw.map { (author.id, $0) } }.sorted { $0.author < $1.author }
    }

    /// Notes a draw to be judged by the next clock that tells its age. Of several in a minute the first one counts, unless it was
    /// low beside an absurd time alone: a later one lies as far below it.
    mutating func noteUnjudged(_ draw: UnjudgedDraw) {
        if let unjudged, draw.loggedAt - unjudged.loggedAt <= GateThresholds.unjudgedTime,
            unjudged.time - draw.time <= GateThresholds.teacherRestart
        {
            return
        }
        unjudged = draw
    }

    /// Removes and returns the draw that is to be judged.
    mutating func takeUnjudged() -> UnjudgedDraw? {
        defer { unjudged = nil }
        return unjudged
    }

    /// The time of an author's last draw; nil for none.
    func lastDraw(of id: AuthorID) -> MediaTime? { authors.first { $0.id == id }?.lastDraw }

    /// Notes the time of a draw.
    mutating func drew(_ id: AuthorID, at time: MediaTime, now: Instant) {
        authors[position(of: id, now: now)].lastDraw = time
    }

    /// Notes an operation behind L.
    /// - Returns: whether its author is to be told.
    mutating func wasBehind(_ id: AuthorID, now: Instant) -> Bool {
        let position = position(of: id, now: now)
        authors[position].behindAt = now
        if let hinted = authors[position].hintedAt, now - hinted < GateThresholds.hintInterval { return false }
        authors[position].hintedAt = now
        return true
    }

    /// Authors with an operation behind L in the last minute, in the order of their names.
    func behind(at now: Instant) -> [AuthorID] {
        authors.filter { $0.behindAt.map { now - $0 < GateThresholds.hintInterval } ?? false }.map { $0.id }.sorted()
    }

    private mutating func position(of id: AuthorID, now: Instant) -> Int {
        if let position = authors.firstIndex(where: { $0.id == id }) {
            authors[position].heardAt = now
            return position
        }
        if authors.count == Self.bound {
            let oldest = authors.indices.min { authors[$0].heardAt < authors[$1].heardAt }
            if let oldest { authors.remove(at: oldest) }
        }
        authors.append(Author(id: id, heardAt: now))
        return authors.count - 1
    }
}
