import StrokeWire

/// What a room knows of one author: the current count, earlier ones by name, and what may still be sent.
struct Author: Sendable {
    let id: AuthorID
    var lastHeard: Instant
    var count: NumberCount?
    var sessions = Sessions()
    var messages: TokenBucket
    var bytes: TokenBucket
    /// When the author was last told what is missing.
    var lastNotice = Instant.distantPast
    /// Give-ups that were asked for and have not come back from the log yet, by their first number.
    var asked: [Int64: Instant] = [:]

    init(_ id: AuthorID, limits: IntakeLimits, at now: Instant) {
        self.id = id
        lastHeard = now
        messages = TokenBucket(rate: limits.messagesPerSecond, at: now)
        bytes = TokenBucket(rate: limits.bytesPerSecond, at: now)
    }

    /// Whether the author's place may be given to another.
    func isIdle(at now: Instant, after idle: Duration) -> Bool {
        now - lastHeard >= idle && (count?.pending.isEmpty ?? true)
    }

    /// Takes one message: judges, counts, puts it where it belongs.
    mutating func receive(_ incoming: IncomingMessage, _ context: IntakeContext, into output: inout IntakeOutput) {
        lastHeard = incoming.loggedAt
        let isWithinRate = takeTokens(for: incoming)
        let header: StrokeMessage
        do {
            header = try StrokeMessage(decoding: incoming.bytes, limits: context.limits.wire)
        } catch {
            let rejection = isWithinRate ? error.rejection : .rateLimited
            refuse(incoming, number: error.number, order: error.order, nil, rejection, context, into: &output)
            return
        }
        guard isWithinRate else {
            refuse(
                incoming, number: header.number, order: header.shardOrder, header, .rateLimited, context,
                into: &output)
            return
        }
        switch sessions.standing(of: incoming.session) {
        case .earlier:
            output.counts.repeats += 1
            return
        case .new(let name):
            beginCount(at: header.number, named: name, incoming.loggedAt, context, into: &output)
        case .unnamed where isRestart(header, incoming):
            beginCount(at: header.number, named: nil, incoming.loggedAt, context, into: &output)
        case .unnamed, .current:
            break
        }
        place(header, incoming, context, into: &output)
    }

    private mutating func takeTokens(for incoming: IncomingMessage) -> Bool {
        let size = incoming.bytes.count
        guard messages.holds(1, at: incoming.loggedAt), bytes.holds(size, at: incoming.loggedAt) else { return false }
        messages.take(1)
        bytes.take(size)
        return true
    }

    /// Whether an unnamed message begins a count: the author's first one, or a new one from 0 or 1.
    private func isRestart(_ header: StrokeMessage, _ incoming: IncomingMessage) -> Bool {
        guard let count else { return true }
        return header.number < count.expected
            && count.givenUpHead(of: header.number, at: incoming.loggedAt) == nil
            && count.beginning.isRestart(header, incoming.bytes)
    }

    private mutating func beginCount(
        at number: Int64, named name: String?, _ now: Instant, _ context: IntakeContext,
        into output: inout IntakeOutput
    ) {
        if let old = count { abandon(old, into: &output) }
        sessions.begin(name)
        asked = [:]
        count = NumberCount(start: number, at: now, head: context.head)
    }

    /// At a new count, what was held or under assembly is given up.
    private func abandon(_ old: NumberCount, into output: inout IntakeOutput) {
        var numbers = old.pending.map(\.number)[...]
        while let from = numbers.popFirst() {
            var to = from
            while numbers.first == to + 1 { to = numbers.removeFirst() }
            output.counts.gaveUp += 1
            output.feedback.append((id, .gaveUp(from: from, to: to)))
        }
    }

    /// Rejects a message that was not acceptable. Its number, where it could be read, is settled by that.
    mutating func refuse(
        _ incoming: IncomingMessage, number: Int64?, order: Int?, _ header: StrokeMessage?, _ rejection: Rejection,
        _ context: IntakeContext, into output: inout IntakeOutput
    ) {
        output.counts.reject(rejection.code)
        output.feedback.append((id, .rejected(number: number, order: order, rejection)))
        guard let number else { return }
        switch sessions.standing(of: incoming.session) {
        case .earlier: return
        case .new(let name): beginCount(at: number, named: name, incoming.loggedAt, context, into: &output)
        case .unnamed where count == nil:
            beginCount(at: number, named: nil, incoming.loggedAt, context, into: &output)
        case .unnamed, .current: break
        }
        count?.beginning.note(number, header, incoming.bytes)
        settleRefused(number, rejection, incoming.loggedAt, context, into: &output)
    }

    private mutating func settleRefused(
        _ number: Int64, _ rejection: Rejection, _ now: Instant, _ context: IntakeContext,
        into output: inout IntakeOutput
    ) {
        guard var current = count else { return }
        count = nil
        defer { count = current }
        if number < current.expected {
            // Applied, rejected and given-up numbers stay what they are; one not seen before the start is settled.
            guard number < current.start, current.settled.reason(of: number) == nil,
                current.givenUpHead(of: number, at: now) != nil
            else { return }
            current.reject(number, rejection)
            return
        }
        let (lead, overflow) = number.subtractingReportingOverflow(current.expected)
        guard !overflow, lead <= context.limits.numberLead else { return }
        let position = current.position(of: number)
        if position.isThere, current.pending[position.at].isComplete { return }
        if current.settled.reason(of: number) != nil { return }
        current.reject(number, rejection)
        current.advance(into: &output.ready)
    }
}
