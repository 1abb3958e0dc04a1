public import StrokeWire

/// A part of a recorded room, to be sent. A snapshot: encode it on any thread.
public struct ReplayPage: Sendable {
    fileprivate let incarnation: String
    fileprivate let epochs: [ReplayTimes.Span]
    fileprivate let board: BoardVersion?
    fileprivate let operations: [RecordedRoom.TimedOperation]
    fileprivate let next: UInt64?
}

extension RecordedRoom {
    /// Answers a request for a part.
    /// - Parameter last: the last operation that may be seen.
    /// - Returns: nil where the request is about another incarnation.
    public func page(_ request: ReplayRequest, through last: UInt64) -> ReplayPage? {
        guard request.incarnation.map({ $0 == incarnation }) ?? true else { return nil }
        let last = min(last, count)
        let start = min(
            request.after ?? request.from.map { index(before: $0, epoch: request.epoch, through: last) } ?? 0, last)
        // Up to and with `to`: gate times are whole microseconds.
        let end = min(request.to.map { index(before: $0 + 1, epoch: request.epoch, through: last) } ?? last, last)
        var stop = start
        var bytes = 0
        while stop < end, stop - start < UInt64(request.limit), bytes < ReplayRequest.pageBytes {
            stop += 1
            bytes += messageByteCount(of: stop)
        }
        return ReplayPage(
            incarnation: incarnation, epochs: epochs.compactMap { $0.limited(to: last, of: self) },
            board: request.after == nil ? board(at: start) : nil, operations: operations(after: start, through: stop),
            next: stop < end ? stop : nil)
    }
}

extension ReplayTimes.Span {
    /// The part of it that may be seen; nil where that is nothing.
    fileprivate func limited(to last: UInt64, of recording: RecordedRoom) -> Self? {
        guard indices.lowerBound <= last else { return nil }
        guard indices.upperBound > last else { return self }
        var span = self
        // Stragglers of an epoch lie among the operations of the next one.
        var end = last
        while recording.time(of: end).epoch != number { end -= 1 }
        span.indices = indices.lowerBound...end
        span.through = recording.time(of: end).gateTime
        // As long as no operation that may be seen has a time, the span has none.
        span.from = min(from, span.through)
        return span
    }
}

extension ReplayPage {
    /// The body of the reply.
    /// - Parameters:
    ///   - palette: the colours in force.
    ///   - style: name of the ink style in force.
    ///   - features: what the service offers.
    public func encoded(palette: Palette, style: String, features: BoardFeatures? = nil) -> [UInt8] {
        let board = board.map { version in
            CatchUp(incarnation: incarnation, version)
                .encoded(palette: palette, style: style, features: features, as: .json)
        }
        var writer = ReplayReplyWriter(room: incarnation, epochs: epochs.map(ReplayReply.Epoch.init), board: board)
        for timed in operations {
            writer.add(
                ReplayReply.Entry(
                    epoch: timed.time.epoch, gateTime: timed.time.gateTime.known, endTime: timed.time.endTime.known,
                    operation: JoinedOperation(timed.operation)))
        }
        return writer.end(next: next)
    }
}

extension ReplayReply.Epoch {
    fileprivate init(_ span: ReplayTimes.Span) {
        self.init(number: span.number, indices: span.indices, from: span.from.known, to: span.through.known)
    }
}

extension MediaTime {
    /// nil for that of operations without a time.
    fileprivate var known: MediaTime? { self == .distantPast ? nil : self }
}
