public import StrokeWire

/// How many operations each step of the person was, as far as this run has made them: what is drawn anew is one step of many.
///
/// An undo or a redo is sent for each operation of a step. Where another author has drawn on the page meanwhile, and
/// the room undoes whatever is newest, these strokes are among them.
struct UndoSteps: Sendable {
    private struct Page: Sendable {
        var done: [Int] = []
        var undone: [Int] = []
    }

    /// Steps of a page that are known, as many as the largest one has operations; older ones count as one operation each.
    private static let bound = StrokeMessage.removalBound + 1

    /// By page; none is kept for a page whose steps are not known.
    private var pages: [Int: Page] = [:]

    /// An operation was sent.
    mutating func add(_ header: StrokeMessage) {
        guard let page = header.page else { return }
        switch header.action {
        case .draw where header.element == .pointer: return
        case .draw, .clear, .remove: break
        case .undo, .redo, .turn, .arrange, .paper: return
        }
        var steps = pages[page] ?? Page()
        steps.done.append(1)
        if steps.done.count > Self.bound { steps.done.removeFirst() }
        steps.undone = []
        pages[page] = steps
    }

    /// Makes one step of the last ones.
    mutating func join(_ count: Int, on page: Int) {
        guard let steps = pages[page], steps.done.count >= count else { return }
        pages[page]?.done.removeLast(count)
        pages[page]?.done.append(count)
    }

    /// The room has refused an operation of a page: which step it belonged to is not known.
    mutating func forget(_ page: Int) { pages[page] = nil }

    /// Goes a step back, or forth again: how many operations it was.
    mutating func go(back isUndo: Bool, on page: Int) -> Int {
        guard var steps = pages[page] else { return 1 }
        let count = (isUndo ? steps.done.popLast() : steps.undone.popLast()) ?? 1
        if isUndo { steps.undone.append(count) } else { steps.done.append(count) }
        if steps.undone.count > Self.bound { steps.undone.removeFirst() }
        pages[page] = steps
        return count
    }
}

extension DrawingSession {
    /// Draws entries of the page that is seen in another colour or width, and takes the old ones off the board. They lie above all
    /// others, in their own order, for nothing can be put between operations; each is all there at the time. It is one step for
    /// ``DrawingCommand/undo`` and redo of this run.
    ///
    /// The removal comes last, so that an undo brings the old entries back first: where the room does not remember as many
    /// operations, some new ones stay, and no ink is lost.
    ///
    /// - Parameters:
    ///   - indices: 1 … 256, different from each other.
    ///   - strokes: messages that draw, in board units, and their points.
    ///   - time: the media time in milliseconds; nil while it is not known.
    /// - Returns: whether it was taken; see ``perform(_:time:at:)``. An outbox whose bytes become too many has taken
    ///   some strokes, and no removal.
    public mutating func redraw(
        _ indices: [UInt64], as strokes: [(header: StrokeMessage, points: [StrokePoint])], time: Int64?,
        at now: Duration
    ) -> Bool {
        if hover != nil { finishStroke(at: now) }
        guard !strokes.isEmpty, canWrite, drawn == nil, outbox.takes(strokes.count + 1) else { return false }
        let page = page
        var count = 0
        defer { undoSteps.join(count, on: page) }
        for (header, points) in strokes {
            var header = header
            (header.time, header.page) = (time, page)
            guard enqueue(header, PointEncoder.interior(of: points.drawnBefore), at: now) else { return false }
            count += 1
        }
        guard perform(.remove(indices), time: time, at: now) else { return false }
        count += 1
        return true
    }

    /// Sends an undo or a redo for each operation of a step.
    /// - Returns: false where the first one was not taken.
    mutating func enqueueStep(_ header: StrokeMessage, at now: Duration) -> Bool {
        let count = outbox.isFull ? 1 : undoSteps.go(back: header.action == .undo, on: header.page ?? page)
        for number in 0..<count {
            guard enqueue(header, [], at: now) else { return number > 0 }
        }
        return true
    }
}

extension [StrokePoint] {
    /// The points of a stroke that was drawn before its time, and is all there at it. Widths follow from the differences of times,
    /// which stay.
    var drawnBefore: [StrokePoint] {
        let end = lazy.compactMap { $0.milliseconds }.max() ?? 0
        guard end > 0 else { return self }
        return map { point in
            var point = point
            point.milliseconds = point.milliseconds.map { ($0 - end).rounded(parts: 10) }
            return point
        }
    }
}
