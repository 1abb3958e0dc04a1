public import StrokeWire

extension Room {
    /// A message of an author, in the order of the log.
    /// - Parameter incarnation: names the room's life if this is its first message.
    public mutating func receive(
        _ incoming: IncomingMessage, incarnation: () -> String, at now: Instant, into effects: inout RoomEffects
    ) {
        if self.incarnation.isEmpty { self.incarnation = incarnation() }
        var output = IntakeOutput()
        intake.receive(incoming, context, into: &output)
        apply(output, loggedAt: incoming.loggedAt, at: now, into: &effects)
    }

    /// A decision, where it stands in the log.
    /// - Parameter loggedAt: the log's own time of the record.
    public mutating func receive(
        _ record: ControlRecord, loggedAt: Instant, at now: Instant, into effects: inout RoomEffects
    ) {
        switch record {
        case .gaveUp(let author, let from, let to):
            var output = IntakeOutput()
            intake.giveUp(author, from: from, to: to, context, into: &output)
            apply(output, loggedAt: loggedAt, at: now, into: &effects)
        case .epoch(let epoch):
            gate.beginEpoch(epoch, at: logClock.localTime(of: loggedAt), now: now)
        case .close:
            close(at: now, into: &effects)
        }
    }

    /// Ends this life of the room, and tells those who follow it. The next message begins another.
    private mutating func close(at now: Instant, into effects: inout RoomEffects) {
        for cohort in gate.cohortNames {
            effects.list.append(.mark(cohort, Mark(room: "", index: 0, digest: .empty, video: nil)))
        }
        var blank = Room(configuration: configuration, at: now)
        blank.isOutputOpen = isOutputOpen
        blank.logClock = logClock
        self = blank
    }

    mutating func remind(at now: Instant, into effects: inout RoomEffects) {
        let logTime = logClock.logTime(of: now)
        guard let deadline = intake.deadline, deadline <= logTime else { return }
        var output = IntakeOutput()
        intake.remind(at: logTime, into: &output)
        apply(output, loggedAt: logTime, at: now, into: &effects)
    }

    private mutating func apply(
        _ output: IntakeOutput, loggedAt: Instant, at now: Instant, into effects: inout RoomEffects
    ) {
        effects.counts.intake += output.counts
        for (author, feedback) in output.feedback { effects.list.append(.feedback(author, feedback)) }
        for operation in output.ready { apply(operation, loggedAt: loggedAt, at: now, into: &effects) }
        for decision in output.decisions { effects.list.append(.record(decision)) }
    }

    /// Gives an operation its index, or refuses it for what the board says.
    private mutating func apply(
        _ ready: ReadyOperation, loggedAt: Instant, at now: Instant, into effects: inout RoomEffects
    ) {
        let operation: Operation
        do {
            operation = try logged(ready)
        } catch {
            intake.recordRejected(ready, error)
            effects.counts.intake.reject(error.code)
            let feedback = Feedback.rejected(number: ready.number, order: ready.header.shardOrder, error)
            effects.list.append(.feedback(ready.author, feedback))
            return
        }
        log.append(operation)
        gate.append(time: operation.time, at: logClock.localTime(of: loggedAt), now: now)
        intake.recordApplied(ready, index: operation.index)
        effects.counts.count(operation.action)
        if ready.isLate { effects.counts.intake.late += 1 }
        effects.list.append(.head(operation))
        effects.list.append(.feedback(ready.author, .applied(number: ready.number, index: operation.index)))
    }

    private mutating func logged(_ ready: ReadyOperation) throws(Rejection) -> Operation {
        let effect = try effect(of: ready)
        let index = head.index + 1
        head.apply(effect, at: index)
        return Operation(
            index: index, author: ready.author, number: ready.number, effect: effect, isLate: ready.isLate,
            time: ready.header.time, digest: head.digest, message: ready.bytes,
            isJoined: ready.isJoined)
    }

    private mutating func effect(of ready: ReadyOperation) throws(Rejection) -> Operation.Effect {
        let header = ready.header
        let reference = try head.reference(of: header.action, by: ready.author)
        switch (header.action, reference) {
        case (.undo, let reference?): return .undo(reference: reference)
        case (.redo, let reference?): return .redo(reference: reference)
        case (.clear, _):
            return .clear(Clear(index: head.index + 1, author: ready.author, message: ready.bytes))
        default:
            let packed = PackedMessage(ready.bytes, points: header.points, shapes: &shapes)
            let stroke = Stroke(
                index: head.index + 1, author: ready.author, isLate: ready.isLate, pointCount: header.points.count,
                message: packed, origins: &origins)
            guard stroke.weight <= configuration.intake.boardPoints - head.weight else { throw .boardFull }
            return .draw(stroke)
        }
    }
}
