internal import StrokeWire

/// What has gone out of a stroke that is being drawn.
struct SentWetStroke: Sendable {
    /// Time between two updates of a stroke.
    static let interval = Duration.milliseconds(33)
    /// Time between two repeats of a stroke, so that losses heal.
    static let repeatInterval = Duration.seconds(1)
    /// Size of an update in bytes.
    private static let updateBytes = 32 << 10

    let number: Int64
    let style: WetStrokeStyle
    /// Number of the last update.
    private(set) var update: Int64
    /// Points that went out, and those that have arrived for certain.
    private(set) var sent = 0
    private var arrived = 0
    /// When the whole stroke goes out next, or a part of one that is too large, and where that part begins.
    private(set) var nextRepeat: Duration
    private var repeatFrom = 0

    /// - Parameter update: of the stroke that had the number before and was given up; 0 for none.
    init(number: Int64, style: WetStrokeStyle, update: Int64 = 0, nextRepeat: Duration) {
        (self.number, self.style, self.update, self.nextRepeat) = (number, style, update, nextRepeat)
    }

    /// The points from a place on are other than before.
    mutating func change(from first: Int) { (sent, arrived) = (min(sent, first), min(arrived, first)) }

    /// What went out has arrived.
    mutating func arrive() { arrived = sent }

    /// What went out since then is lost.
    mutating func lose() { sent = arrived }

    /// The points that have not gone out, and once a second the whole stroke, or a part of a large one.
    /// - Parameters:
    ///   - count: the points that there are.
    ///   - predicted: with the last update.
    ///   - hasNews: whether there is to be an update in any case.
    mutating func takeUpdates(
        _ points: [StrokePoint], count: Int, predicted: [StrokePoint] = [], hasNews: Bool = false, at now: Duration,
        into updates: inout [[UInt8]]
    ) {
        let before = updates.count
        if now >= nextRepeat {
            nextRepeat = now + Self.repeatInterval
            let (bytes, end) = encode(points, repeatFrom..<count, predicted, count)
            if repeatFrom <= sent { sent = max(sent, end) }
            repeatFrom = end < count ? end : 0
            updates.append(bytes)
        }
        while sent < count || hasNews && updates.count == before {
            let (bytes, end) = encode(points, sent..<count, predicted, count)
            sent = end
            updates.append(bytes)
        }
    }

    /// What tells that it will not come.
    mutating func giveUp() -> [UInt8] {
        update += 1
        return WetUpdate(number: number, update: update, .givenUp).encoded()
    }

    /// The next update, with as many points of a range as fit.
    private mutating func encode(
        _ points: [StrokePoint], _ range: Range<Int>, _ predicted: [StrokePoint], _ count: Int
    ) -> (bytes: [UInt8], end: Int) {
        update += 1
        var end = range.upperBound
        while true {
            let content = WetPoints(
                style: style, first: range.lowerBound, points: Array(points[range.lowerBound..<end]),
                predicted: end == count ? predicted : [])
            let bytes = WetUpdate(number: number, update: update, .points(content)).encoded()
            let taken = end - range.lowerBound
            guard bytes.count > Self.updateBytes, taken > 1 else { return (bytes, end) }
            end = range.lowerBound + max(1, min(taken - 1, taken * Self.updateBytes / bytes.count))
        }
    }
}

/// Sends the stroke under the pen while it is being drawn, to the gateway.
///
/// Nothing answers for what is sent here, and nothing depends on it: the operation follows when the pen is lifted. One request
/// at a time: where requests are slow, updates are fewer and larger.
struct WetSender: Sendable {
    enum Next: Equatable {
        case post(session: String, body: [UInt8], outlivesShell: Bool)
        case wait(until: Duration)
        case idle
    }

    /// The stroke that is being drawn.
    private struct Current {
        let style: WetStrokeStyle
        /// Nil before its first update.
        var sent: SentWetStroke?
        var session = ""
        var hasNews = true
        var nextUpdate = Duration.zero
    }

    /// How long a request may take until it counts as lost.
    static let timeout = Duration.seconds(3)
    /// Until the next try after a failure, and after a refusal.
    private static let failedPause = Duration.milliseconds(500)
    private static let refusedPause = Duration.seconds(15)

    private var current: Current?
    /// Of strokes that were given up: what tells so, and the last one, whose number the next stroke has.
    private var lines: [[UInt8]] = []
    private var session = ""
    private var last: (number: Int64, session: String, update: Int64)?
    private var isSending = false
    /// Whether the request under way has updates of the current stroke.
    private var sendsCurrent = false
    private var pausedUntil = Duration.zero

    /// The pen is down.
    mutating func begin(_ style: WetStrokeStyle) {
        giveUp()
        current = Current(style: style)
    }

    /// The points from a place on are new or other ones, or those that are predicted; nil for these alone.
    mutating func moved(_ first: Int?) {
        if let first { current?.sent?.change(from: first) }
        current?.hasNews = true
    }

    /// The pen is up: the operation says all.
    mutating func end() { (current, sendsCurrent) = (nil, false) }

    /// The stroke will not come.
    mutating func giveUp() {
        if var stroke = current?.sent, let own = current?.session {
            lines.append(stroke.giveUp())
            session = own
            last = (stroke.number, own, stroke.update)
        }
        end()
    }

    /// Gives up the stroke at once: the shell may be about to go.
    /// - Returns: the body of a request that goes out whatever is under way.
    mutating func leave() -> (session: String, body: [UInt8])? {
        giveUp()
        guard !lines.isEmpty else { return nil }
        return (session, takeBody([]))
    }

    /// The next request.
    /// - Parameters:
    ///   - key: the number that the next operation will have.
    ///   - stroke: the points of the stroke that is being drawn.
    mutating func next(_ key: OperationKey, _ stroke: PenStroke, at now: Duration) -> Next {
        guard !isSending else { return .idle }
        if !lines.isEmpty {
            isSending = true
            return .post(session: session, body: takeBody([]), outlivesShell: true)
        }
        guard var current else { return .idle }
        let due = max(current.hasNews ? .zero : current.sent?.nextRepeat ?? .zero, current.nextUpdate, pausedUntil)
        guard due <= now else { return .wait(until: due) }
        if current.sent?.number != key.number || current.session != key.session {
            // Its number went to another operation: it begins anew under the next one.
            if var old = current.sent, current.session == key.session { lines.append(old.giveUp()) }
            let update = last.map { $0.number == key.number && $0.session == key.session ? $0.update : 0 } ?? 0
            current.sent = SentWetStroke(
                number: key.number, style: current.style, update: update,
                nextRepeat: current.sent?.nextRepeat ?? now + SentWetStroke.repeatInterval)
            current.session = key.session
        }
        var updates: [[UInt8]] = []
        current.sent?.takeUpdates(
            stroke.points, count: stroke.points.count, predicted: stroke.predicted, hasNews: current.hasNews, at: now,
            into: &updates)
        current.hasNews = false
        current.nextUpdate = now + SentWetStroke.interval
        self.current = current
        guard !updates.isEmpty else { return .wait(until: max(current.nextUpdate, current.sent?.nextRepeat ?? now)) }
        (isSending, sendsCurrent) = (true, true)
        return .post(session: key.session, body: takeBody(updates), outlivesShell: false)
    }

    private mutating func takeBody(_ updates: [[UInt8]]) -> [UInt8] {
        var body: [UInt8] = []
        for line in lines + updates {
            body.append(contentsOf: line)
            body.append(UInt8(ascii: "\n"))
        }
        lines = []
        return body
    }

    /// The request under way has arrived.
    mutating func arrived() {
        isSending = false
        if sendsCurrent { current?.sent?.arrive() }
        sendsCurrent = false
    }

    /// The request under way is lost.
    mutating func failed(_ failure: GatewayFailure, at now: Duration) {
        isSending = false
        if sendsCurrent {
            current?.sent?.lose()
            current?.hasNews = true
        }
        sendsCurrent = false
        let isRefused = failure.status > 0 && !failure.isTransient
        pausedUntil = now + (isRefused ? Self.refusedPause : max(failure.retryAfter ?? .zero, Self.failedPause))
    }
}
