import StrokeWire

extension Author {
    /// A message whose number was given up: a stroke is still drawn where it becomes whole, marked late, unless the
    /// board was cleared since; anything else has no place any more.
    func placeLate(
        _ header: StrokeMessage, _ incoming: IncomingMessage, givenUpAt head: UInt64, _ current: inout NumberCount,
        _ context: IntakeContext, into output: inout IntakeOutput
    ) {
        guard header.action == .draw, context.lastClear <= head else {
            return refuse(header, .tooLate, &current, into: &output)
        }
        guard header.isSharded else {
            guard current.late[header.number] == nil else {
                return answer(
                    header, .shardConflict(field: "s", "A stroke in shards came under this number."), into: &output)
            }
            output.ready.append(
                ReadyOperation(author: id, header: header, bytes: incoming.bytes, isLate: true, isJoined: false))
            return
        }
        if current.late[header.number] == nil {
            if current.assemblingCount >= context.limits.assembling, !current.dropOldestLate() {
                return refuse(header, .tooManyPending("strokes under assembly"), &current, into: &output)
            }
            current.late[header.number] = ShardAssembly(header: header, at: incoming.loggedAt)
            settleBelowStart(header.number, head, &current, into: &output)
        }
        let room = current.room(for: incoming.bytes.count, of: context.limits.pendingBytes, keeping: header.number)
        let outcome = current.late[header.number]?.add(
            header, incoming.bytes, points: context.limits.wire.points, room: room, at: incoming.loggedAt)
        switch outcome {
        case .added, nil:
            break
        case .repeated:
            output.counts.repeats += 1
            output.feedback.append((id, .gaveUp(from: header.number, to: header.number)))
        case .conflict(let rejection):
            answer(header, rejection, into: &output)
        case .refused(let rejection):
            refuse(header, rejection, &current, into: &output)
        case .complete:
            guard let assembly = current.late.removeValue(forKey: header.number) else { return }
            do {
                let joined = try assembly.joined()
                output.ready.append(
                    ReadyOperation(author: id, header: joined.header, bytes: joined.bytes, isLate: true, isJoined: true)
                )
            } catch {
                refuse(header, error, &current, into: &output)
            }
        }
    }

    /// A stroke from below the start of the count is begun: from now on it is one that was given up, and its author
    /// knows.
    private func settleBelowStart(
        _ number: Int64, _ head: UInt64, _ current: inout NumberCount, into output: inout IntakeOutput
    ) {
        guard current.settled.reason(of: number) == nil else { return }
        current.settled.insert(number...number, .gaveUp(head: head), expected: current.expected)
        output.counts.gaveUp += 1
        output.feedback.append((id, .gaveUp(from: number, to: number)))
    }
}

extension NumberCount {
    /// Lets go of the given-up stroke under assembly that has waited longest, but not of `number`.
    /// - Returns: false where there is none.
    mutating func dropOldestLate(keeping number: Int64? = nil) -> Bool {
        let others = late.filter { $0.key != number }
        guard let oldest = others.min(by: { ($0.value.lastShardAt, $0.key) < ($1.value.lastShardAt, $1.key) }) else {
            return false
        }
        late[oldest.key] = nil
        return true
    }

    /// How many bytes may still become pending. Given-up strokes under assembly, but not `number`, make room for
    /// `wanted`.
    mutating func room(for wanted: Int, of limit: Int, keeping number: Int64? = nil) -> Int {
        while pendingBytes + wanted > limit, dropOldestLate(keeping: number) {}
        return limit - pendingBytes
    }
}
