import Whiteboard

/// The teacher's video as it is made: its time line, with pauses, and sessions that begin again at 0.
final class Encoder {
    struct Picture {
        let session: Int64
        /// Milliseconds.
        let media: Int64
        let isPaused: Bool
    }

    private struct Stretch {
        let from: Moment
        let session: Int64
        let media: Int64
        let isPaused: Bool
    }

    private var stretches: [Stretch]

    /// - Parameters:
    ///   - pauses: when the video stands still, not overlapping.
    ///   - restarts: when a new session begins.
    init(media: Int64, pauses: [(from: Moment, to: Moment)], restarts: [Moment]) {
        stretches = [Stretch(from: Moment(nanoseconds: .min / 2), session: 1, media: media, isPaused: true)]
        stretches.append(Stretch(from: Moment(nanoseconds: 0), session: 1, media: media, isPaused: false))
        let changes =
            pauses.flatMap { [($0.from, true as Bool?), ($0.to, false)] } + restarts.map { ($0, nil) }
        for (at, isPaused) in changes.sorted(by: { $0.0 < $1.0 }) {
            let before = picture(at: at)
            stretches.append(
                Stretch(
                    from: at, session: isPaused == nil ? before.session + 1 : before.session,
                    media: isPaused == nil ? 0 : before.media, isPaused: isPaused ?? before.isPaused))
        }
    }

    func picture(at moment: Moment) -> Picture {
        guard let stretch = stretches.last(where: { $0.from <= moment }) ?? stretches.first else {
            return Picture(session: 1, media: 0, isPaused: true)
        }
        let elapsed = stretch.isPaused ? 0 : (moment.nanoseconds - stretch.from.nanoseconds) / 1_000_000
        return Picture(session: stretch.session, media: stretch.media + elapsed, isPaused: stretch.isPaused)
    }

    /// When something about it changes.
    var changes: [Moment] { stretches.map(\.from).filter { $0.nanoseconds > 0 } }
}
