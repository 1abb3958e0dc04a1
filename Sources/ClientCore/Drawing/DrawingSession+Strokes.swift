internal import Ink
public import StrokeWire

// The pen: strokes and pointers, as they are drawn.

extension DrawingSession {
    /// Whether fingers draw, too.
    public var drawsWithFingers: Bool {
        get { pen.drawsWithFingers }
        set { pen.drawsWithFingers = newValue }
    }

    /// A pointer touches the board; see ``Pen``.
    ///
    /// - Parameters:
    ///   - isGesture: whether what it draws is for the shell and not for the room. The eraser end of a pen erases all the same.
    ///   - time: the media time in milliseconds; nil while it is not known.
    public mutating func penDown(
        _ pointer: Pen.Pointer, _ sample: Pen.Sample, isGesture: Bool = false, time: Int64?
    ) -> Pen.Change {
        let change = pen.down(pointer, sample)
        if change.isCancelled { giveUpStroke() }
        if change.hasBegun {
            if let hover { finishStroke(at: hover.at) }
            if !isGesture || pen.stroke.isErasing { beginStroke(time) }
            pen.constraint = isEven ? drawn?.element.constraint : nil
        }
        return change
    }

    /// A pointer has moved.
    public mutating func penMoved(
        _ id: Int, kind: Pen.Kind, _ samples: [Pen.Sample], predicted: [Pen.Sample] = [], at now: Duration
    ) -> Pen.Change {
        moved(pen.move(id, kind: kind, samples, predicted: predicted), at: now)
    }

    /// The pen rests on the board, half a second after it has moved last. A rough shape of freehand ink becomes an even
    /// one. The next undo brings the rough one back.
    ///
    /// - Parameters:
    ///   - time: on the clock of samples.
    ///   - reach: board units within which the pen rests: as much as a hand trembles on the screen, so that it is less
    ///     where the board is seen larger.
    /// - Returns: the change, and what is drawn from now on; nil where nothing has changed.
    public mutating func penRested(
        _ id: Int, time: Double, within reach: Double = 4, at now: Duration
    ) -> (change: Pen.Change, element: Element)? {
        guard hover == nil, var header = drawn, header.element == .freehand,
            let found = pen.rest(id, at: time, within: reach)
        else { return nil }
        header.element = found.shape.element
        (drawn, rough) = (header, found.rough)
        beginWetInk(header)
        return (Pen.Change(first: 0), header.element)
    }

    /// Values of a point of the stroke under the pen have come late.
    public mutating func penRevised(_ place: Int, _ sample: Pen.Sample, at now: Duration) -> Pen.Change {
        moved(pen.revise(place, sample), at: now)
    }

    private mutating func moved(_ change: Pen.Change, at now: Duration) -> Pen.Change {
        if drawn != nil, hover == nil, change.first != nil { wetSender.moved(change.first) }
        if change.hasEnded { finishStroke(at: now) }
        return change
    }

    /// A pointer is lifted, or was taken away without a word on its stroke.
    /// - Parameters:
    ///   - time: of the lift, on the clock of samples, for taps; those who have none pass infinity.
    ///   - now: the clock of the session.
    public mutating func penUp(_ id: Int, time: Double = .infinity, at now: Duration) -> Pen.Change {
        let change = pen.up(id, time: time)
        if change.hasEnded { finishStroke(at: now) }
        return change
    }

    /// The stroke of a pointer is taken back.
    public mutating func penCancelled(_ id: Int) -> Pen.Change {
        let change = pen.cancel(id)
        if change.isCancelled { giveUpStroke() }
        return change
    }

    private mutating func beginStroke(_ time: Int64?) {
        let isErasing = hover == nil && pen.stroke.isErasing
        // Its page is named, so that a turn by another teacher does not move the ink.
        let header = StrokeMessage(
            number: 0, colour: tool.colour, width: tool.width, element: isErasing ? .eraser : tool.element,
            time: time, boardWidth: head.size.width, boardHeight: head.size.height, page: page)
        (drawn, rough) = (header, nil)
        pointerBegan = nil
        beginWetInk(header)
        if hover == nil { steps.append(.event(.drawing(true))) }
    }

    private mutating func beginWetInk(_ header: StrokeMessage) {
        wetSender.begin(WetStrokeStyle(header, page: header.page))
    }

    mutating func finishStroke(at now: Duration) {
        guard let header = drawn else { return }
        drawn = nil
        var points = hover?.stroke.points ?? pen.stroke.points
        if header.element == .pointer, let pointerBegan {
            points = (hover?.stroke ?? pen.stroke).points(until: (now - pointerBegan).milliseconds)
        }
        if outbox.isFull { wetSender.giveUp() } else { wetSender.end() }
        if hover == nil { steps.append(.event(.drawing(false))) }
        (hover, isLiveStale) = (nil, true)
        guard !points.isEmpty else { return }
        let operation = OperationKey(session: outbox.session, number: outbox.next)
        let rough = rough.take()
        guard enqueue(header, PointEncoder.interior(of: points), at: now), let rough else { return }
        var before = header
        before.element = .freehand
        replaced = (operation, before, rough.points)
    }

    mutating func giveUpStroke() {
        guard drawn != nil else { return }
        drawn = nil
        wetSender.giveUp()
        if hover == nil { steps.append(.event(.drawing(false))) }
        (hover, isLiveStale) = (nil, true)
    }

    /// The shell may be about to end, and with it a stroke whose pen is down.
    /// - Returns: a request that is to go out at once.
    public mutating func leave() -> DrawingPost? {
        giveUpStroke()
        guard let (session, body) = wetSender.leave() else { return nil }
        return makePost(.wet, session, body, outlivesShell: true)
    }
}

extension DrawingSession {
    /// A pointer of this element is an operation for so long at most.
    static let longestPointer = Duration.seconds(10)

    /// The pen or the mouse is above the board and does not touch it, while the tool is a pointer and the person points
    /// without touching. At most 15 points a second go out. What rests for 2 s points no longer.
    ///
    /// - Parameters:
    ///   - sample: where it is; nil when it has left the board.
    ///   - time: the media time in milliseconds; nil while it is not known.
    public mutating func hover(_ sample: Pen.Sample?, time: Int64?, at now: Duration) {
        guard let sample, tool.element == .pointer, canWrite, !pen.isDown else {
            if hover != nil { finishStroke(at: now) }
            return
        }
        if hover == nil {
            hover = HoverStroke(sample, at: now)
            beginStroke(time)
            pointerBegan = now
        } else {
            hover?.move(sample, at: now)
        }
    }

    /// Cuts a long pointer, and ends one that rests above the board.
    mutating func tendPointer(at now: Duration) {
        guard let header = drawn, header.element == .pointer else { return }
        let began = pointerBegan ?? now
        pointerBegan = began
        if let first = hover?.take(at: now) { wetSender.moved(first) }
        if hover?.isResting(at: now) ?? false || hover != nil && header.page != pages.shown {
            return finishStroke(at: now)
        }
        guard now - began >= Self.longestPointer, !outbox.isFull else { return }
        let length = (now - began).milliseconds
        let stroke = hover?.stroke ?? pen.stroke
        wetSender.end()
        enqueue(header, PointEncoder.interior(of: stroke.points(until: length)), at: now)
        if hover == nil { pen.cut(after: length) } else { hover?.cut(after: length) }
        drawn?.time = header.time.map { $0 &+ Int64(length) }
        pointerBegan = now
        if let drawn { beginWetInk(drawn) }
    }

    /// When the pointer is to be looked at.
    var pointerWake: Duration? {
        guard drawn?.element == .pointer, let pointerBegan else { return nil }
        // A full outbox takes no more: the pointer becomes longer.
        let cut = outbox.isFull ? nil : pointerBegan + Self.longestPointer
        return cut.earlier(hover?.wake)
    }
}

/// A pointer above the board.
struct HoverStroke: Sendable {
    /// Between two points.
    private static let interval = Duration.microseconds(66_667)
    private static let longestRest = Duration.seconds(2)

    private(set) var stroke: PenStroke
    /// When it was last heard of, and when its last point was.
    private(set) var at: Duration
    private var pointAt: Duration
    /// Where it is since then.
    var waiting: Pen.Sample?

    init(_ sample: Pen.Sample, at now: Duration) {
        (stroke, at, pointAt) = (PenStroke(sample), now, now)
    }

    var wake: Duration { waiting == nil ? pointAt + Self.longestRest : pointAt + Self.interval }

    func isResting(at now: Duration) -> Bool { waiting == nil && now - pointAt >= Self.longestRest }

    mutating func move(_ sample: Pen.Sample, at now: Duration) { (waiting, at) = (sample, now) }

    /// Adds the place where it is, where that is due.
    /// - Returns: index of the new point; nil where there is none.
    mutating func take(at now: Duration) -> Int? {
        guard let sample = waiting, now >= pointAt + Self.interval else { return nil }
        waiting = nil
        let count = stroke.points.count
        stroke.add(sample)
        guard stroke.points.count > count else { return nil }
        pointAt = now
        return count
    }

    mutating func cut(after milliseconds: Double) { stroke = stroke.rest(after: milliseconds) }
}

extension Element {
    var constraint: Pen.Constraint? {
        switch self {
        case .line, .arrow: .angle
        case .ellipse, .rectangle: .square
        default: nil
        }
    }
}
