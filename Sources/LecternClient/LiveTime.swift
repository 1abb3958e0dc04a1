import NATSClient
public import StrokeWire

/// The media time at the teacher, measured once: what strokes that are drawn now are stamped with.
///
/// It is ahead of what students see by the delay of their video. Measure it again every few seconds: the encoder may begin
/// anew.
public struct LiveTime: Sendable, Equatable {
    private let media: MediaTime
    private let measuredAt: ContinuousClock.Instant

    /// - Parameter measuredAt: when it was `media`.
    public init(_ media: MediaTime, measuredAt: ContinuousClock.Instant) {
        (self.media, self.measuredAt) = (media, measuredAt)
    }

    /// The media time at an instant.
    public func media(at instant: ContinuousClock.Instant = .now) -> MediaTime {
        media + measuredAt.duration(to: instant).wholeMicroseconds
    }

    /// The same in whole milliseconds, rounded down: the `t` of a stroke that begins at the instant.
    public func milliseconds(at instant: ContinuousClock.Instant = .now) -> Int64 {
        Int64((Double(media(at: instant).microseconds) / 1000).rounded(.down))
    }
}

/// The media time with which a writer stamps new operations of a room, as far as the room knows it.
public enum RoomTime: Sendable, Equatable {
    /// The media time at the teacher is known.
    case live(LiveTime)
    /// Students watch a video at this media time, in milliseconds, and nothing tells how late it is: what is stamped with it is
    /// seen before the teacher's voice is heard. Ask the teacher.
    case unknownLatency(video: Int64)
    /// No clock is live: operations may have no time.
    case noVideo
}

extension RoomTime {
    /// Reads a room's state.
    /// - Parameter measuredAt: when the service wrote it, about.
    public init(_ room: RoomSummary?, measuredAt: ContinuousClock.Instant) {
        if let live = room?.live.flatMap({ MediaTime(milliseconds: $0) }) {
            self = .live(LiveTime(live, measuredAt: measuredAt))
        } else if let video = room?.fastestVideo {
            self = .unknownLatency(video: video)
        } else {
            self = .noVideo
        }
    }

    /// The time of operations that are written now and name none; nil for none.
    public var stamp: Int64? {
        switch self {
        case .live(let live): live.milliseconds()
        case .unknownLatency(let video): video
        case .noVideo: nil
        }
    }

    /// Why ``stamp`` may be too early, for people; nil where it is right.
    public var warning: String? {
        guard case .unknownLatency = self else { return nil }
        return """
            the clock of the students' video does not tell how late it is, so they may see this before the voice that goes \
            with it; give the time, or have the clock tell its age
            """
    }
}

extension RoomDirectory {
    /// The media time at the teacher of a room, or what is known instead: of some requests the one that was answered fastest
    /// counts.
    ///
    /// - Throws: as ``room(at:)``.
    public func time(of address: RoomAddress) async throws(RoomDirectoryError) -> RoomTime {
        var best: (delay: Duration, time: RoomTime)?
        for _ in 0..<3 {
            let asked = ContinuousClock.now
            let room = try await state(at: address)
            let delay = asked.duration(to: .now)
            if delay < best?.delay ?? .seconds(1000) {
                best = (delay, RoomTime(room, measuredAt: asked + delay / 2))
            }
        }
        return best?.time ?? .noVideo
    }
}
