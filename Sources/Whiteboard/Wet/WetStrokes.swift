import Ink
import StrokeWire

/// The strokes that the authors of a room are drawing, bounded for each author.
///
/// Outside of the room's log: nothing of it decides about an operation.
struct WetStrokes: Sendable {
    /// One author's strokes, in the order of their first updates, and what the author may still send.
    struct Author: Sendable {
        let id: AuthorID
        var strokes: [WetStroke] = []
        fileprivate var updates: TokenBucket
        fileprivate var bytes: TokenBucket
        fileprivate var lastHeard: Instant

        var byteCount: Int { strokes.reduce(0) { $0 + $1.byteCount } }
    }

    enum Bounds {
        static let strokes = 4
        static let updatesPerSecond = 200
        static let bytesPerSecond = 1 << 20
        static let bytes = 4 << 20
    }

    private(set) var authors: [Author] = []
    /// Bytes of all strokes, about.
    private(set) var byteCount = 0
    /// When a stroke or an author is to be forgotten if no update comes, possibly too early; nil for never.
    private(set) var nextExpiry: Instant?

    var isEmpty: Bool { authors.isEmpty }
    var hasStrokes: Bool { authors.contains { !$0.strokes.isEmpty } }

    subscript(author: AuthorID, number: Int64, session: String?) -> WetStroke? {
        guard let place = place(of: author) else { return nil }
        return authors[place].strokes.first { $0.number == number && $0.session == session }
    }

    private func place(of author: AuthorID) -> Int? { authors.firstIndex { $0.id == author } }

    // MARK: - Updates

    /// Counts an update for its author's rate.
    /// - Parameter limit: greatest number of authors.
    /// - Returns: nil where it is to be read, else why not.
    mutating func admit(_ author: AuthorID, bytes: Int, limit: Int, at now: Instant) -> WetOutcome? {
        if nextExpiry == nil { nextExpiry = now + WetStroke.lifetime }
        if place(of: author) == nil {
            if authors.count >= limit {
                guard let idle = authors.firstIndex(where: { $0.strokes.isEmpty }) else { return .full }
                authors.remove(at: idle)
            }
            authors.append(
                Author(
                    id: author, updates: TokenBucket(rate: Bounds.updatesPerSecond, at: now),
                    bytes: TokenBucket(rate: Bounds.bytesPerSecond, at: now), lastHeard: now))
        }
        guard let place = place(of: author) else { return .full }
        authors[place].lastHeard = now
        guard authors[place].updates.holds(1, at: now), authors[place].bytes.holds(bytes, at: now) else {
            return .limited
        }
        authors[place].updates.take(1)
        authors[place].bytes.take(bytes)
        return nil
    }

    /// What a taken update has changed.
    struct Change {
        /// The first place with another point than before; nil where no point has changed.
        var first: Int?
        /// Points known before.
        var countBefore: Int
    }

    /// Takes points of an admitted author.
    /// - Parameter spare: bytes that may be added to what is kept.
    /// - Returns: what has changed where the outcome is `taken`.
    mutating func take(
        _ update: WetUpdate, _ points: WetPoints, of author: AuthorID, session: String?, epoch: Int64,
        shownPage: Int, spare: Int,
        at now: Instant
    ) -> (outcome: WetOutcome, change: Change?) {
        guard let place = place(of: author) else { return (.full, nil) }
        let known = authors[place].strokes.firstIndex { $0.number == update.number && $0.session == session }
        var stroke =
            known.map { authors[place].strokes[$0] }
            ?? WetStroke(
                number: update.number, session: session, style: points.style, shownPage: shownPage, epoch: epoch,
                at: now)
        let refusal = stroke.growing.model.refusal(of: update.update, first: points.first)
        guard refusal != .repeated else { return (.repeated, nil) }
        guard stroke.style == points.style else { return (.rejected, nil) }
        guard refusal == nil else { return (.gap, nil) }
        guard known != nil || authors[place].strokes.count < Bounds.strokes else { return (.full, nil) }
        let before = known == nil ? 0 : stroke.byteCount
        let added = stroke.byteCount(with: points) - before
        guard authors[place].byteCount + added <= Bounds.bytes, added <= max(0, spare) else { return (.full, nil) }
        let countBefore = stroke.growing.count
        // Taken out of its place, so that its points are not copied.
        if let known { authors[place].strokes.remove(at: known) }
        let first = stroke.take(update.update, points, at: now)
        byteCount += stroke.byteCount - before
        authors[place].strokes.insert(stroke, at: known ?? authors[place].strokes.count)
        return (.taken, Change(first: first, countBefore: countBefore))
    }

    // MARK: - Forgetting

    /// Removes the strokes for which `isOver` is true.
    /// - Returns: the removed ones.
    mutating func remove(where isOver: (AuthorID, WetStroke) -> Bool) -> [(author: AuthorID, stroke: WetStroke)] {
        var removed: [(author: AuthorID, stroke: WetStroke)] = []
        for place in authors.indices {
            let id = authors[place].id
            authors[place].strokes.removeAll { stroke in
                guard isOver(id, stroke) else { return false }
                removed.append((id, stroke))
                byteCount -= stroke.byteCount
                return true
            }
        }
        return removed
    }

    /// Forgets authors without strokes who have been silent.
    mutating func forgetSilent(at now: Instant) {
        authors.removeAll { $0.strokes.isEmpty && $0.lastHeard + WetStroke.lifetime <= now }
        nextExpiry =
            authors.lazy.map { author in
                (author.strokes.lazy.map { $0.updatedAt }.min() ?? author.lastHeard) + WetStroke.lifetime
            }.min()
    }

    /// Rule 6: the epoch that was there already has got its name.
    mutating func nameEpoch(_ old: Int64, _ new: Int64) {
        for place in authors.indices {
            for stroke in authors[place].strokes.indices where authors[place].strokes[stroke].epoch == old {
                authors[place].strokes[stroke].epoch = new
            }
        }
    }
}
