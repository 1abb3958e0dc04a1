import StrokeWire

extension Author {
    /// Puts an acceptable message where its number has its place: next, held, under assembly, late, or a repeat.
    mutating func place(
        _ header: StrokeMessage, _ incoming: IncomingMessage, _ context: IntakeContext,
        into output: inout IntakeOutput
    ) {
        guard var current = count else { return }
        // Taken out while it changes, so that nothing is copied.
        count = nil
        defer { count = current }
        current.beginning.note(header.number, header, incoming.bytes)
        if header.number > current.expected, header.number - current.expected > context.limits.numberLead {
            let rejection = Rejection.numberTooFarAhead(expected: current.expected)
            answer(header, rejection, into: &output)
            return
        }
        if let index = current.applied.index(of: header.number) {
            output.counts.repeats += 1
            output.feedback.append((id, .applied(number: header.number, index: index)))
            return
        }
        if case .rejected(let rejection) = current.settled.reason(of: header.number) {
            output.counts.repeats += 1
            output.feedback.append((id, .rejected(number: header.number, order: header.shardOrder, rejection)))
            return
        }
        if let head = current.givenUpHead(of: header.number, at: incoming.loggedAt) {
            placeLate(header, incoming, givenUpAt: head, &current, context, into: &output)
            return
        }
        if header.number < current.expected {
            output.counts.repeats += 1
            return
        }
        placeInOrder(header, incoming, &current, context, into: &output)
    }

    private mutating func placeInOrder(
        _ header: StrokeMessage, _ incoming: IncomingMessage, _ current: inout NumberCount,
        _ context: IntakeContext, into output: inout IntakeOutput
    ) {
        let position = current.position(of: header.number)
        if position.isThere, current.pending[position.at].isComplete {
            output.counts.repeats += 1
            return
        }
        if header.isSharded && header.action == .draw {
            placeShard(header, incoming, position, &current, context, into: &output)
        } else if position.isThere {
            // It cannot be a shard of the stroke that is under assembly.
            answer(
                header,
                .shardConflict(field: header.action == .draw ? "s" : "a", "A stroke in shards came under this number."),
                into: &output)
        } else {
            // What is applied at once takes no room.
            let size = header.number == current.expected ? 0 : incoming.bytes.count
            guard current.room(for: size, of: context.limits.pendingBytes) >= size else {
                return refuse(header, .bytesPending, &current, into: &output)
            }
            let ready = ReadyOperation(
                author: id, header: header, bytes: incoming.bytes, isLate: false, isJoined: false)
            complete(ready, at: position.at, incoming.loggedAt, &current, context, into: &output)
        }
    }

    private mutating func placeShard(
        _ header: StrokeMessage, _ incoming: IncomingMessage, _ position: (at: Int, isThere: Bool),
        _ current: inout NumberCount, _ context: IntakeContext, into output: inout IntakeOutput
    ) {
        if !position.isThere {
            if current.assemblingCount >= context.limits.assembling, !current.dropOldestLate() {
                return refuse(header, .tooManyPending("strokes under assembly"), &current, into: &output)
            }
            let assembly = ShardAssembly(header: header, at: incoming.loggedAt)
            current.pending.insert(NumberCount.Pending(number: header.number, assembly: assembly), at: position.at)
        }
        let room = current.room(for: incoming.bytes.count, of: context.limits.pendingBytes)
        let outcome = current.pending[position.at].assembly?.add(
            header, incoming.bytes, points: context.limits.wire.points, room: room, at: incoming.loggedAt)
        switch outcome {
        case .added, nil:
            break
        case .repeated:
            output.counts.repeats += 1
        case .conflict(let rejection):
            answer(header, rejection, into: &output)
        case .refused(let rejection):
            refuse(header, rejection, &current, into: &output)
        case .complete:
            completeAssembly(header, at: position.at, incoming.loggedAt, &current, context, into: &output)
        }
    }

    private mutating func completeAssembly(
        _ header: StrokeMessage, at position: Int, _ now: Instant, _ current: inout NumberCount,
        _ context: IntakeContext, into output: inout IntakeOutput
    ) {
        guard let assembly = current.pending.remove(at: position).assembly else { return }
        do {
            let joined = try assembly.joined()
            let ready = ReadyOperation(
                author: id, header: joined.header, bytes: joined.bytes, isLate: false, isJoined: true)
            complete(ready, at: position, now, &current, context, into: &output)
        } catch {
            refuse(header, error, &current, into: &output)
        }
    }

    /// An operation is whole: it is ready if its turn has come, else it waits and its author is told for what.
    private mutating func complete(
        _ ready: ReadyOperation, at position: Int, _ now: Instant, _ current: inout NumberCount,
        _ context: IntakeContext, into output: inout IntakeOutput
    ) {
        if ready.number == current.expected {
            output.ready.append(ready)
            current.expected += 1
            current.advance(into: &output.ready)
            return
        }
        guard current.heldCount < 2 * context.limits.held else {
            return refuse(ready.header, .tooManyPending("operations held"), &current, into: &output)
        }
        current.pending.insert(
            NumberCount.Pending(number: ready.number, ready: ready, completeAt: now), at: position)
        let missing = current.missing(below: ready.number)
        guard !missing.isEmpty else { return }
        // Older gaps keep their time.
        if current.heldCount == 1 { lastNotice = now }
        output.counts.gaps += 1
        output.feedback.append(contentsOf: missing.map { (id, $0) })
    }

    /// Tells the author of a rejection that does not settle the number.
    func answer(_ header: StrokeMessage, _ rejection: Rejection, into output: inout IntakeOutput) {
        output.counts.reject(rejection.code)
        output.feedback.append((id, .rejected(number: header.number, order: header.shardOrder, rejection)))
    }

    /// Rejects an acceptable message and settles its number, the whole stroke with it.
    func refuse(
        _ header: StrokeMessage, _ rejection: Rejection, _ current: inout NumberCount, into output: inout IntakeOutput
    ) {
        answer(header, rejection, into: &output)
        current.reject(header.number, rejection)
        current.advance(into: &output.ready)
    }
}
