public import StrokeWire

// Whether this device writes, and what the room tells it.

extension DrawingSession {
    /// This shell has the right to write now, before all others that share its store, or has it no more.
    public mutating func rightChanged(_ hasRight: Bool, at now: Duration) {
        // The shell may not be there any more when the answer comes.
        if !hasRight, let wetPost { failed(wetPost, .unreachable, at: now) }
        carryOut(claim.rightChanged(hasRight), at: now)
    }

    /// The records of the outbox.
    ///
    /// - Parameters:
    ///   - records: all that are stored for this author and room; nil where the store cannot be read.
    ///   - wroteHere: whether the last ``Step/note(writesHere:)`` was true: else the author may write on another device, and
    ///     is asked before that one is cut off.
    public mutating func loaded(_ records: [StoredOperation]?, wroteHere: Bool, at now: Duration) {
        guard claim.isLoading else { return }
        outbox.open(records, session: makeSession(at: now, after: records ?? []))
        isLiveStale = true
        carryOut(claim.loaded(wroteHere: wroteHere, at: now), at: now)
    }

    /// What the room tells of itself.
    ///
    /// - Parameters:
    ///   - isWriting: whether its `writers` have the author; nil where it has not answered.
    ///   - isMuted: whether its `muted` have the author; nil where it has not answered. A room that was closed has nobody muted.
    public mutating func looked(isWriting: Bool?, isMuted: Bool?, at now: Duration) {
        carryOut(claim.looked(isWriting: isWriting), at: now)
        if self.isMuted, let isMuted { noteMuted(isMuted, at: now) }
    }

    /// Writes here from now on, where another device does. Where another shell of the same store writes, that is for the shell:
    /// see ``rightChanged(_:at:)``.
    public mutating func takeOver(at now: Duration) {
        guard state == .superseded else { return }
        claim.takenOver()
        // What was left may be in the room: the answers show it, if it goes out under the numbers that it has.
        outbox.begin(makeSession(at: now))
        isLiveStale = true
        if claim.hasRight { write() } else { stopSending() }
    }

    mutating func carryOut(_ decision: WriterClaim.Decision?, at now: Duration) {
        switch decision {
        case .load: steps.append(.load)
        case .write: write()
        case .leaveToOther:
            stopSending()
            giveUpStroke()
            become(.elsewhere)
        case .standBack:
            become(.superseded)
            sendLeft()
        case .supersede: supersede(at: now)
        case .resume: resume(at: now)
        case nil: break
        }
    }

    private mutating func resume(at now: Duration) {
        claim.resumed()
        stopSending()
        outbox.renumberAll(session: makeSession(at: now), isLeft: false, at: now)
        isLiveStale = true
        if claim.hasRight { write() }
    }

    mutating func write() {
        stopSending()
        followsSessions = true
        steps.append(.note(writesHere: true))
        become(.writer)
        isLiveStale = true
        // What an earlier run has sent may have to go out again, before anything new: the room says so.
        isSending = outbox.uncovered.isEmpty
        followRoom()
    }

    private mutating func supersede(at now: Duration) {
        // As far as it is drawn: its pen is taken away.
        finishStroke(at: now)
        steps.append(.note(writesHere: false))
        become(.superseded)
        guard !outbox.waiting.isEmpty else { return }
        // What was drawn before anybody could know goes out in a session of its own, and says that it is no more than that.
        renumberLeft(at: now)
        sendLeft()
    }

    /// Sends what this device has left; another one writes.
    private mutating func sendLeft() {
        guard claim.hasRight, !outbox.waiting.isEmpty else { return }
        stopSending()
        (isSending, followsSessions) = (true, false)
    }

    /// The other device goes on and has ended the session of what was left. The rest goes out in another one, and says that it is
    /// no more than that.
    mutating func renumberLeft(at now: Duration) {
        outbox.renumberAll(session: makeSession(at: now), isLeft: true, at: now)
        isLiveStale = true
    }

    mutating func stopSending() {
        isSending = false
        strokePost = nil
        sender.restart()
    }

    mutating func become(_ state: WriterClaim.State) {
        claim.state = state
        pen.isEnabled = canWrite
        steps.append(.event(.writer(state)))
        tellOutbox()
    }

    /// A name that no client has used before: the time and 64 random bits. What is stored is sent before it, also where the
    /// device's clock was set back since.
    private mutating func makeSession(at now: Duration, after stored: [StoredOperation] = []) -> String {
        let (seconds, attoseconds) = now.components
        let time = startTime + Double(seconds) * 1000 + Double(attoseconds / 1_000_000_000_000_000)
        var number = time.isFinite && time > 0 && time < 0x1p53 ? Int64(time) : 0
        let last = [outbox.waiting.last?.key, outbox.uncovered.last?.key].compactMap { $0 }
        for key in stored.map({ $0.key }) + last {
            let digits = key.session.utf8.prefix { $0 != UInt8(ascii: "-") }
            let begun = Int64(Substring(digits), radix: 36) ?? 0
            if begun < 1 << 53 { number = max(number, begun + 1) }
        }
        return "\(String(number, radix: 36))-\(String(random.next(), radix: 36))"
    }

    /// What a look at the room has shown: whether it takes nothing of this author.
    public mutating func noteMuted(_ isMuted: Bool, at now: Duration) {
        guard claim.noteMuted(isMuted, at: now) else { return }
        if isMuted { giveUpStroke() }
        pen.isEnabled = canWrite
        steps.append(.event(.muted(isMuted)))
    }
}

extension DrawingSession {
    /// The board at the head was joined, or has its first operation.
    /// - Parameter incarnation: "" while nobody has written to the room.
    public mutating func joined(incarnation: String) {
        self.incarnation = incarnation
        if head.joined(incarnation) { isLiveStale = true }
        followRoom()
    }

    /// The board is not in step with the room.
    public mutating func left() { incarnation = nil }

    private mutating func followRoom() {
        guard state == .writer, let incarnation else { return }
        if !outbox.follow(incarnation).isEmpty { tellOutbox() }
        isSending = true
    }

    /// The size of the board in its units.
    public mutating func boardChanged(width: Double, height: Double) { head.size = (width, height) }

    /// The pages of the board.
    public mutating func boardChanged(pages: BoardPages) {
        head.pages = pages
        isLiveStale = true
    }

    /// The board shows all operations through this one.
    public mutating func boardChanged(index: UInt64) {
        head.shows(through: index)
        isLiveStale = true
    }

    /// The board shows an operation of this author: one that waits for its answer is not drawn twice.
    /// - Parameter message: as the room tells it; that of a stroke in shards is joined.
    public mutating func boardShows(_ message: [UInt8], at now: Duration) {
        guard let header = try? StrokeMessage(decoding: message, limits: .any) else { return }
        if let operation = outbox.waiting.first(where: { $0.isSame(header, message) }) {
            outbox.see(operation.key)
            isLiveStale = true
        } else if state == .writer, StrokeMessage.isLeft(message) {
            carryOut(claim.sawLeft(at: now), at: now)
        }
    }

    /// A stored checkpoint holds the author's operations of a session through this one.
    public mutating func covered(session: String, number: Int64) {
        if state == .writer { outbox.cover(OperationKey(session: session, number: number)) }
    }
}
