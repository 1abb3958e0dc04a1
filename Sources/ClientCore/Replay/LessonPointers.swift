import StrokeWire
import Whiteboard

/// The pointers of a recorded lesson that are seen at the player's time.
struct LessonPointers: Sendable {
    /// Pointers are looked for among so many operations before the player.
    private static let mostBehind = 256
    private static let mostShown = 32

    private(set) var sights: [PointerSight] = []
    /// Those of ``sights``, by the indices of their operations.
    private var tracks: [UInt64: PointerTrack] = [:]

    /// Shows the pointers of the player's time, also after a seek.
    /// - Parameter ahead: those that the player has not passed to their end.
    /// - Returns: whether other pointers are seen, and how long, in media time, until there is more to show.
    mutating func look(
        _ time: MediaTime, _ epoch: Int64?, in lesson: RecordedLesson, on board: StudentBoard,
        ahead: [LessonReplay.Entry]
    ) -> (isChanged: Bool, wait: Duration?) {
        let page = board.pages.shown
        var (seen, left) = ([LessonReplay.Entry](), Self.mostBehind)
        lesson.forEach(through: board.index) { entry in
            guard left > 0, entry.order.epoch == epoch else { return false }
            left -= 1
            if entry.isPointed(at: time, on: page) { seen.append(entry) }
            return seen.count < Self.mostShown
        }
        seen.reverse()
        seen += ahead.filter { $0.isPointed(at: time, on: page) }
        var tracks: [UInt64: PointerTrack] = [:]
        var shown: [(track: PointerTrack, elapsed: Int64)] = []
        for entry in seen.prefix(Self.mostShown) {
            let index = entry.operation.index
            guard let start = entry.pointer?.start, let track = self.tracks[index] ?? PointerTrack(entry.operation)
            else { continue }
            tracks[index] = track
            shown.append((track, time - start))
        }
        self.tracks = tracks
        let (sights, wait) = PointerTrack.sights(shown, on: board.size)
        defer { self.sights = sights }
        return (sights != self.sights, wait.map { Duration.microseconds($0) })
    }

    /// - Returns: whether a pointer was seen.
    mutating func clear() -> Bool {
        defer { (sights, tracks) = ([], [:]) }
        return !sights.isEmpty
    }
}

extension LessonReplay.Entry {
    /// Whether it is a pointer of a page that is seen at a time, or may be.
    fileprivate func isPointed(at time: MediaTime, on page: Int) -> Bool {
        guard let pointer, operation.page == page else { return false }
        return pointer.start < time && time - pointer.start < pointer.reach + PointerTrack.fadeTime
    }
}
