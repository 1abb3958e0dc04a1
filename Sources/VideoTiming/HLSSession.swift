/// What a player of HTTP Live Streaming loads next: it begins at a distance from the end of the list, takes one segment
/// after the other, asks for the list again while there is nothing new, and goes on where segments are lost.
///
/// Times named `now` are microseconds on a clock that never goes back.
package struct HLSSession: Sendable {
    /// The next step for the caller.
    package enum Action: Sendable, Equatable {
        /// Load a segment. `isNewTimeLine` where its times do not continue those of the one before.
        case load(MediaPlaylist.Segment, isNewTimeLine: Bool)
        /// Load the playlist again at this time.
        case reload(at: Int64)
        /// Everything has been loaded.
        case end
    }

    /// Where a player begins.
    package enum Start: Sendable, Equatable {
        /// At the distance that the playlist asks for, else three target durations before its end.
        case live
        /// So many microseconds before the end.
        case holdBack(Int64)
        /// At the first segment.
        case first
    }

    private let start: Start
    private var playlist: MediaPlaylist?
    private var loadedAt: Int64 = 0
    private var hasGrown = false
    /// The number of the next segment; nil before the first.
    private var next: Int64?
    private var discontinuity: Int64?
    private var isCut = false
    /// Attempts on the current segment that have failed.
    private var failures = 0

    /// How often a segment is asked for before it counts as lost.
    private static let attempts = 3
    /// Segments by which a server of a farm may be behind another.
    private static let lag: Int64 = 3

    package init(_ start: Start = .live) {
        self.start = start
    }

    /// How far behind the first picture of the first segment playing begins, in microseconds. Negative where the stream
    /// is younger than the distance: then it begins as much later, because that is where students stand who come soon.
    package private(set) var skip: Int64 = 0
    /// Segments that could not be loaded or were no longer there.
    package private(set) var lost = 0
    /// Times at which the list began anew.
    package private(set) var restarts = 0

    /// Takes the playlist as it is now.
    package mutating func receive(_ list: MediaPlaylist, at now: Int64) {
        hasGrown = list.nextNumber != playlist?.nextNumber || list.isEnded != playlist?.isEnded
        if let next, !list.segments.isEmpty, list.nextNumber < next {
            // A list that is a few segments older comes from another server of a farm, and begins as much lower; one that is
            // further behind is of an encoder that has begun again.
            let first = playlist?.firstNumber ?? 0
            if list.firstNumber + Self.lag < first || list.nextNumber + Self.lag < next {
                self.next = nil
                isCut = true
                restarts += 1
            }
        }
        playlist = list
        loadedAt = now
        if next == nil { begin(list) }
    }

    private mutating func begin(_ list: MediaPlaylist) {
        guard !list.segments.isEmpty else { return }
        var index = 0
        skip = 0
        // An encoder that begins again is played from its first picture: nobody has seen it yet.
        if !isCut, let distance = holdBack(list) {
            var length: Int64 = 0
            index = list.segments.count
            while index > 0, length < distance {
                index -= 1
                length += list.segments[index].duration
            }
            skip = length - distance
            if index == list.segments.count { index -= 1 }
        }
        next = list.segments[index].number
    }

    /// Microseconds before the end; nil for the first segment. What is complete already is no live stream.
    private func holdBack(_ list: MediaPlaylist) -> Int64? {
        switch start {
        case .first: nil
        case .live: list.isEnded ? nil : list.holdBack ?? 3 * list.targetDuration
        case .holdBack(let distance): list.isEnded ? nil : distance
        }
    }

    /// What to do now. The same until the outcome is reported.
    package mutating func action() -> Action {
        guard let playlist else { return .reload(at: loadedAt) }
        guard var next else { return playlist.isEnded ? .end : .reload(at: reloadTime) }
        if next < playlist.firstNumber {
            lost += Int(clamping: playlist.firstNumber - next)
            next = playlist.firstNumber
        }
        while next < playlist.nextNumber, playlist.segments[Int(next - playlist.firstNumber)].isGap {
            next += 1
            lost += 1
        }
        self.next = next
        guard next < playlist.nextNumber else { return playlist.isEnded ? .end : .reload(at: reloadTime) }
        let segment = playlist.segments[Int(next - playlist.firstNumber)]
        return .load(segment, isNewTimeLine: isCut || discontinuity.map { $0 != segment.discontinuity } ?? false)
    }

    /// The segment has been read, at least in part.
    package mutating func loaded(_ segment: MediaPlaylist.Segment) {
        guard next == segment.number else { return }
        next = segment.number + 1
        discontinuity = segment.discontinuity
        isCut = false
        failures = 0
    }

    /// Nothing of the segment could be read.
    /// - Returns: whether it is to be tried again after a moment.
    package mutating func failed(_ segment: MediaPlaylist.Segment) -> Bool {
        guard next == segment.number else { return false }
        failures += 1
        guard failures >= Self.attempts else { return true }
        next = segment.number + 1
        lost += 1
        failures = 0
        return false
    }

    /// A target duration after the last load, half of one where that brought nothing new; 200 ms … 10 s.
    private var reloadTime: Int64 {
        let target = playlist?.targetDuration ?? 0
        let last = playlist?.segments.last?.duration ?? target
        return loadedAt + max(200_000, min(hasGrown ? min(last, target) : target / 2, 10_000_000))
    }
}
