import StrokeWire

/// Puts what the authors of a room send into order: joins shards, waits for what is missing, drops repeats.
///
/// A deterministic machine over the room's log: the same messages and decisions in the same order, at the log's own
/// times, give the same operations on every replica.
struct Intake: Sendable {
    private var authors: [AuthorID: Author] = [:]
    let limits: IntakeLimits

    init(_ limits: IntakeLimits) {
        self.limits = limits
    }

    init(_ limits: IntakeLimits, authors: [Author]) {
        self.limits = limits
        for author in authors { self.authors[author.id] = author }
    }

    /// By name.
    var authorsByName: [Author] { authors.values.sorted { $0.id < $1.id } }

    mutating func receive(_ incoming: IncomingMessage, _ context: IntakeContext, into output: inout IntakeOutput) {
        output.counts.messages += 1
        guard admit(incoming.author, at: incoming.loggedAt) else {
            let known: (Int64?, Int?)
            do {
                let header = try StrokeMessage(decoding: incoming.bytes, limits: limits.wire)
                known = (header.number, header.shardOrder)
            } catch {
                known = (error.number, error.order)
            }
            output.counts.reject(.roomFull)
            output.feedback.append((incoming.author, .rejected(number: known.0, order: known.1, .roomFull)))
            return
        }
        authors[incoming.author]?.receive(incoming, context, into: &output)
    }

    /// A place for an author; one that has long been silent makes room for a new one.
    private mutating func admit(_ id: AuthorID, at now: Instant) -> Bool {
        if authors[id] != nil { return true }
        if authors.count >= limits.authors {
            let idle = authors.values.filter { $0.isIdle(at: now, after: limits.authorIdle) }
            guard let longest = idle.min(by: { ($0.lastHeard, $0.id) < ($1.lastHeard, $1.id) }) else { return false }
            authors[longest.id] = nil
        }
        authors[id] = Author(id, limits: limits, at: now)
        return true
    }

    /// A decision to give up, where it stands in the log.
    mutating func giveUp(
        _ author: AuthorID, from: Int64, to: Int64, _ context: IntakeContext, into output: inout IntakeOutput
    ) {
        authors[author]?.giveUp(from, to, context, into: &output)
    }

    /// The room has applied a ready operation.
    mutating func recordApplied(_ operation: ReadyOperation, index: UInt64) {
        authors[operation.author]?.count?.recordApplied(operation.number, index: index)
    }

    /// The room had to refuse a ready operation.
    mutating func recordRejected(_ operation: ReadyOperation, _ rejection: Rejection) {
        authors[operation.author]?.count?.reject(operation.number, rejection)
    }

    /// When `remind(at:into:)` has something to do; nil for never.
    var deadline: Instant? {
        authors.values.lazy.compactMap { $0.deadline(heldLimit: limits.held) }.min()
    }

    mutating func remind(at now: Instant, into output: inout IntakeOutput) {
        for id in authors.keys.sorted() {
            authors[id]?.remind(at: now, heldLimit: limits.held, into: &output)
        }
    }

    /// Whether some operation waits for something that has not come.
    var hasPending: Bool { authors.values.contains { $0.count?.pending.isEmpty == false } }

    /// Strokes under assembly, of all authors.
    var assemblingCount: Int { authors.values.reduce(0) { $0 + ($1.count?.assemblingCount ?? 0) } }
    var authorCount: Int { authors.count }
}
