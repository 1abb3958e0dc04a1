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
        }
        guard current.pendingBytes + incoming.bytes.count <= context.limits.pendingBytes else {
            return refuse(header, .tooManyPending("bytes pending"), &current, into: &output)
        }
        let outcome = current.late[header.number]?.add(
            header, incoming.bytes, limits: context.limits.wire, at: incoming.loggedAt)
        switch outcome {
        case .added, nil:
            break
        case .repeated:
            output.counts.repeats += 1
            output.feedback.append((id, .gaveUp(from: header.number, to: header.number)))
        case .conflict(let rejection):
            answer(header, rejection, into: &output)
        case .tooManyPoints(let rejection):
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
}

extension NumberCount {
    /// Makes room for an assembly by letting go of the given-up one that has waited longest.
    mutating func dropOldestLate() -> Bool {
        guard let oldest = late.min(by: { ($0.value.lastShardAt, $0.key) < ($1.value.lastShardAt, $1.key) }) else {
            return false
        }
        late[oldest.key] = nil
        return true
    }
}
