internal import DequeModule
package import StrokeWire

/// Where a student's player stands in a stream: it waits for a first buffer, plays at the pace of real time, stalls where
/// nothing has come, goes on when something has, and ends.
///
/// Times named `now` are microseconds on a clock that never goes back.
package struct StreamPlayer: Sendable {
    /// The buffering of a player, in microseconds.
    package struct Settings: Sendable, Equatable {
        /// What is buffered before playing begins, also after a stall, in microseconds.
        package var startBuffer: Int64 = 200_000
        /// With more than this buffered, a live player jumps to the end of the stream, less `startBuffer`; nil where it
        /// never does.
        package var maxBehind: Int64? = 2_000_000
        /// Microseconds that may be read ahead of the position.
        package var readAhead: Int64 = 60_000_000
        /// Marks of media times that may be read ahead, 32 bytes each.
        package var capacity = 65_536
        /// How many marks have to agree on a jump of the media time.
        package var confirmations = 3
        /// Added to the media time in samples, microseconds.
        package var lead: Int64 = 0
        /// Encoder session of the first samples; nil leaves it to the service.
        package var epoch: Int64?
        /// Stream id in the samples.
        package var stream = ""

        package init() {}
    }

    private enum State: Equatable {
        case waiting
        /// At `position` at the time `since`, moving.
        case playing
        case stalled
        case ended
    }

    /// Counters of a run.
    package struct Statistics: Sendable, Equatable {
        package var pictures = 0
        /// Pictures, and times apart from them, with a media time.
        package var times = 0
        package var stalls = 0
        /// Declared jumps of the media time.
        package var jumps = 0
        /// Jumps of the position to the end of a live stream.
        package var catchUps = 0

        package init() {}
    }

    private let settings: Settings
    private var reader: StretchReader
    private var state = State.waiting
    private var position: Int64 = 0
    private var since: Int64 = 0
    /// How far behind the first picture playing begins.
    private var skip: Int64 = 0
    private var notBefore = Int64.min
    /// When the last picture came.
    private var received = Int64.min
    private var isEnded = false
    private var number: Int64
    /// Of the last sample: its media time, without lead, and when.
    private var last: (media: MediaTime, at: Int64, isPlaying: Bool)?
    /// Encoder session of the samples.
    package private(set) var epoch: Int64?
    /// Bits after which the media time in samples wraps, as a counter of milliseconds; nil for never.
    package var wrapBits: Int?
    package private(set) var statistics = Statistics()

    /// A media time that is off by more than this from what the last sample predicted is a declared jump.
    private static let jump: Int64 = 1_000_000

    /// - Parameter firstNumber: number of the first sample; has to grow from run to run.
    package init(_ settings: Settings = Settings(), firstNumber: Int64 = 0) {
        self.settings = settings
        reader = StretchReader(confirmations: settings.confirmations)
        number = firstNumber
        epoch = settings.epoch
    }
}

// MARK: - What comes from the stream

extension StreamPlayer {
    /// Playing begins this many microseconds behind the first picture; where it is negative, with the first picture and
    /// as much later. Before the first picture only.
    package mutating func begin(after skip: Int64, at now: Int64) {
        guard state == .waiting else { return }
        self.skip = max(0, skip)
        notBefore = now - min(0, skip)
    }

    package mutating func receive(_ picture: TimedPicture, at now: Int64) {
        advance(to: now)
        isEnded = false
        statistics.pictures += 1
        if picture.media != nil { statistics.times += 1 }
        reader.append(picture)
        received = now
        advance(to: now)
    }

    /// A media time that comes apart from the pictures.
    package mutating func receive(_ media: MediaTime, presentation: Int64) {
        statistics.times += 1
        reader.mark(presentation, media)
    }

    /// What comes next begins a time line of its own.
    package mutating func receiveDiscontinuity() { reader.cut() }

    /// Nothing comes after what has come.
    package mutating func receiveEnd(at now: Int64) {
        advance(to: now)
        reader.settle()
        isEnded = true
        advance(to: now)
    }

    /// Whether no more should be read until the position has moved.
    package var isFull: Bool {
        state != .waiting && (buffered > settings.readAhead || reader.markCount >= settings.capacity)
            || state == .waiting && buffered > settings.readAhead + skip
    }

    /// Microseconds between the position and the end of what has been read.
    package var buffered: Int64 {
        guard let first = reader.stretches.first else { return 0 }
        let start = state == .waiting ? first.start : position
        return reader.stretches.dropFirst().reduce(first.end - start) { $0 + $1.end - $1.start }
    }

    package var isPlaying: Bool { state == .playing }
    package var hasEnded: Bool { state == .ended }
}

// MARK: - What a player does

extension StreamPlayer {
    /// Lets the player play until `now`.
    package mutating func advance(to now: Int64) {
        start(at: now)
        while state == .playing, let stretch = reader.stretches.first {
            let reached = position + max(0, now - since)
            guard reached >= stretch.end else {
                position = reached
                since = max(since, now)
                break
            }
            since += stretch.end - position
            position = stretch.end
            if reader.stretches.count > 1 {
                reader.removeFirst()
                position = reader.stretches[0].start
            } else if isEnded {
                state = .ended
            } else {
                state = .stalled
                statistics.stalls += 1
            }
        }
        catchUp(at: now)
        reader.forget(before: position)
    }

    private mutating func start(at now: Int64) {
        guard state != .playing else { return }
        guard let first = reader.stretches.first else {
            if isEnded { state = .ended }
            return
        }
        if state == .waiting {
            guard now >= notBefore else { return }
            guard first.end - first.start >= skip + settings.startBuffer || reader.stretches.count > 1 || isEnded else {
                return
            }
            position = min(first.start + skip, first.end)
            since = min(now, max(notBefore, received))
        } else {
            let isNew = reader.stretches.count > 1 || first.end > position
            guard isNew, buffered >= settings.startBuffer || isEnded else {
                if state == .stalled, isEnded { state = .ended }
                return
            }
            since = now
        }
        state = .playing
    }

    private mutating func catchUp(at now: Int64) {
        guard state == .playing, let limit = settings.maxBehind, buffered > limit + settings.startBuffer else { return }
        reader.keepLast()
        guard let last = reader.stretches.first else { return }
        position = max(last.start, last.end - settings.startBuffer, position <= last.end ? position : last.start)
        since = now
        statistics.catchUps += 1
    }

    /// When the state changes next if nothing comes; nil for not at all.
    package func nextChange(after now: Int64) -> Int64? {
        if state == .waiting { return notBefore > now ? notBefore : nil }
        guard state == .playing, let stretch = reader.stretches.first else { return nil }
        return max(now, since + (stretch.end - position))
    }

    /// What the students see; nil while nothing tells the media time.
    package mutating func sample(at now: Int64) -> ClockSample? {
        advance(to: now)
        guard state != .waiting, let media = reader.stretches.first?.media(at: position) else { return nil }
        let isJump = takeJump(to: media, at: now)
        number += 1
        var shown = media + settings.lead
        if let bits = wrapBits {
            let period = (Int64(1) << Int64(bits)) * 1000
            let rest = shown.microseconds % period
            shown = MediaTime(microseconds: rest < 0 ? rest + period : rest)
        }
        return ClockSample(
            media: shown, number: number, epoch: epoch, state: sampleState, stream: settings.stream,
            isDiscontinuity: isJump, wrapBits: wrapBits)
    }

    private var sampleState: ClockSample.State {
        switch state {
        case .waiting, .stalled: .stall
        case .playing: .play
        case .ended: .end
        }
    }

    /// Whether the media time is another than the last sample predicted. One that falls back is a new session.
    private mutating func takeJump(to media: MediaTime, at now: Int64) -> Bool {
        defer { last = (media, now, state == .playing) }
        guard let last else { return false }
        // Between two samples it may have stalled: anything from the last one on is no jump.
        let ahead = media - last.media
        if ahead < -Self.jump {
            if let epoch { self.epoch = epoch + 1 }
            statistics.jumps += 1
            return true
        }
        guard ahead > max(0, now - last.at) + Self.jump else { return false }
        statistics.jumps += 1
        return true
    }
}
