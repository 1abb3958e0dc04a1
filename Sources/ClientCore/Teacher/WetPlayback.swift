import StrokeWire

/// Updates of the strokes of a plan while their pen is down: what goes out on `.wet-in`, and when.
///
/// Like ``TeacherSession`` it has no clock and no connection: methods take the time since the start. A point goes out when
/// the pen reaches it, at most one update every 33 ms; once a second the whole stroke goes out, or a part of a large one,
/// so that losses heal.
package struct WetPlayback {
    /// Strokes that an author draws at a time; the service keeps no more.
    private static let mostStrokes = 4
    /// Assumed points per second of strokes whose points have no times, as in ``Lesson``.
    private static let sampling: Int64 = 60

    /// The messages of a stroke, whose points are decoded when they are needed.
    private struct PlannedStroke {
        var messages: [OutgoingMessage]
        /// When the pen is lifted.
        var end: Duration
    }

    private let speed: Double
    /// Between two updates of a stroke: 33 ms of the lesson, and not less of real time.
    private let interval: Duration
    /// In the order of their ends, the last one first.
    private var planned: [PlannedStroke]
    /// The stroke after those under the pen.
    private var next: PenStroke?
    private var active: [PenStroke] = []

    /// - Parameters:
    ///   - messages: those to be sent; the shards of a stroke have its number.
    ///   - speed: seconds of the lesson per second.
    package init(_ messages: some Sequence<OutgoingMessage>, speed: Double) {
        self.speed = speed
        interval = max(SentWetStroke.interval, SentWetStroke.interval / speed)
        var places: [Int64: Int] = [:]
        var strokes: [PlannedStroke] = []
        for message in messages where message.isStroke {
            if let place = places[message.number] {
                strokes[place].messages.append(message)
                strokes[place].end = max(strokes[place].end, message.due)
            } else {
                places[message.number] = strokes.count
                strokes.append(PlannedStroke(messages: [message], end: message.due))
            }
        }
        planned = strokes.sorted { $0.end > $1.end }
        findNext()
    }

    /// When ``updates(at:)`` has something to do; nil for never.
    package var deadline: Duration? {
        var deadline = next?.start
        for stroke in active { deadline = min(deadline ?? stroke.wake, stroke.wake) }
        return deadline
    }

    /// The updates that are due, encoded.
    package mutating func updates(at now: Duration) -> [[UInt8]] {
        while let stroke = next, stroke.start <= now {
            if active.count < Self.mostStrokes { active.append(stroke) }
            findNext()
        }
        active.removeAll { $0.end <= now }
        var updates: [[UInt8]] = []
        for place in active.indices where active[place].wake <= now {
            active[place].takeUpdates(at: now, interval: interval, into: &updates)
        }
        return updates
    }

    /// Decodes the next stroke whose pen is down long enough for an update.
    private mutating func findNext() {
        next = nil
        while let stroke = planned.popLast() {
            guard let decoded = decode(stroke), decoded.end - decoded.start >= interval else { continue }
            next = decoded
            return
        }
    }

    private func decode(_ stroke: PlannedStroke) -> PenStroke? {
        var style: WetStrokeStyle?
        var points: [StrokePoint] = []
        for message in stroke.messages.sorted(by: { $0.order < $1.order }) {
            guard let header = try? StrokeMessage(decoding: message.bytes, limits: .any), header.element.isStroke
            else { return nil }
            style = style ?? WetStrokeStyle(header, page: header.page)
            points += header.decodePoints(of: message.bytes)
        }
        guard let style, !points.isEmpty else { return nil }
        var offsets: [Duration] = []
        offsets.reserveCapacity(points.count)
        var reach = Duration.zero
        for (place, point) in points.enumerated() {
            let own =
                point.milliseconds.map { Duration.milliseconds(min(max($0, 0), 0x1p53)) }
                ?? .milliseconds(Int64(place) * 1000) / Self.sampling
            reach = max(reach, own)
            offsets.append(reach / speed)
        }
        return PenStroke(
            number: stroke.messages[0].number, style: style, points: points, offsets: offsets,
            start: stroke.end - reach / speed, end: stroke.end)
    }
}

extension WetPlayback {
    /// A stroke under the pen.
    private struct PenStroke {
        private var stroke: SentWetStroke
        private let points: [StrokePoint]
        /// When the pen is at each point, from ``start`` on; never decreasing.
        private let offsets: [Duration]
        let start: Duration
        let end: Duration
        private var nextUpdate: Duration

        init(
            number: Int64, style: WetStrokeStyle, points: [StrokePoint], offsets: [Duration], start: Duration,
            end: Duration
        ) {
            stroke = SentWetStroke(number: number, style: style, nextRepeat: start + SentWetStroke.repeatInterval)
            (self.points, self.offsets, self.start, self.end) = (points, offsets, start, end)
            nextUpdate = start
        }

        /// When there is something to send, or nothing more to do.
        var wake: Duration {
            let fresh = stroke.sent < points.count ? max(nextUpdate, start + offsets[stroke.sent]) : end
            return min(fresh, stroke.nextRepeat, end)
        }

        mutating func takeUpdates(at now: Duration, interval: Duration, into updates: inout [[UInt8]]) {
            let known = offsets.partitioningIndex { start + $0 > now }
            stroke.takeUpdates(points, count: known, at: now, into: &updates)
            nextUpdate = now + interval
        }
    }
}
