import StrokeWire

/// Authors as the log has made them. Not written is what they were told is missing and which decisions were asked for:
/// the next owner tells and asks again.
extension Intake {
    /// The lowest format of checkpoints that knows all that waits, and the reasons for what was refused.
    var checkpointFormat: UInt8 {
        authorsByName.reduce(4) { max($0, $1.sequence?.checkpointFormat ?? 0) }
    }
}

extension SequenceState {
    fileprivate var checkpointFormat: UInt8 {
        let headers =
            pending.held.map { $0.value.ready.header } + pending.assemblies.map { $0.value.first }
            + pending.late.values.map { $0.first }
        let isRemovalRefused = [settled, unseen].contains { numbers in
            numbers.entries.contains {
                if case .rejected(let rejection) = $0.reason { rejection.code == .nothingToRemove } else { false }
            }
        }
        return headers.reduce(isRemovalRefused ? 8 : 4) { max($0, $1.checkpointFormat) }
    }
}

extension StrokeMessage {
    /// The first format of checkpoints whose readers know the message.
    fileprivate var checkpointFormat: UInt8 {
        switch action {
        case .remove: 8
        case .paper: 7
        case .draw where element == .text: 9
        case .draw where element == .pointer: 5
        case .draw, .undo, .redo, .clear, .turn, .arrange: 4
        }
    }
}

extension CheckpointWriter {
    mutating func write(_ author: Author) {
        write(author.id.text)
        write(logTime: author.lastHeard)
        write(list: author.sessions.known) { writer, known in
            writer.write(known.name)
            writer.write(known.applied)
        }
        write(author.sessions.current != nil)
        write(author.messageTokens)
        write(author.byteTokens)
        write(optional: author.sequence) { $0.write($1) }
    }

    private mutating func write(_ bucket: TokenBucket) {
        write(bucket.shortfall)
        write(logTime: Instant(nanoseconds: bucket.filledAt))
    }
}

extension CheckpointReader {
    mutating func author(_ limits: IntakeLimits) throws(CheckpointError) -> Author {
        let id: AuthorID = try name()
        let lastHeard = try logTime()
        let known = try list { (reader) throws(CheckpointError) in
            let name = try reader.text()
            guard reader.version > 1 else { return Sessions.Known(name: name) }
            return Sessions.Known(name: name, applied: try reader.appliedNumbers())
        }
        let sessions = Sessions(known: known, isNamed: try flag())
        let messages = try bucket(rate: limits.messagesPerSecond)
        let bytes = try bucket(rate: limits.bytesPerSecond)
        let sequence = try optional { (reader) throws(CheckpointError) in try reader.sequenceState(of: id) }
        return Author(
            id, lastHeard: lastHeard, sequence: sequence, sessions: sessions, messageTokens: messages,
            byteTokens: bytes)
    }

    mutating func mutedAuthors() throws(CheckpointError) -> [AuthorID] {
        let muted: [AuthorID] = try list { (reader) throws(CheckpointError) in try reader.name() }
        try require(muted.count <= ControlRecord.mutedLimit && zip(muted, muted.dropFirst()).allSatisfy { $0 < $1 })
        return muted
    }

    private mutating func bucket(rate: Int) throws(CheckpointError) -> TokenBucket {
        TokenBucket(rate: rate, shortfall: try integer(), nanoseconds: try logTime().nanoseconds)
    }
}

extension CheckpointWriter {
    mutating func write(_ sequence: SequenceState) {
        write(UInt64(bitPattern: sequence.start))
        write(logTime: sequence.startedAt)
        write(sequence.startHead)
        write(UInt64(bitPattern: sequence.expected))
        let pending = sequence.pending
        // Each is either complete or under assembly.
        write(list: pending.numbers) { writer, number in
            writer.write(optional: pending.assemblies[number]) { $0.write($1) }
            guard let held = pending.held[number] else { return }
            writer.write(held.ready.bytes)
            writer.write(held.ready.isJoined)
            writer.write(logTime: held.completeAt)
        }
        write(list: pending.late.sorted { $0.key < $1.key }) { $0.write($1.value) }
        write(sequence.settled)
        write(sequence.applied)
        write(sequence.restartDetector)
        write(sequence.unseen)
    }
}

extension CheckpointReader {
    mutating func sequenceState(of author: AuthorID) throws(CheckpointError) -> SequenceState {
        let (start, startedAt, startHead) = (try operationNumber(), try logTime(), try number())
        let expected = try operationNumber()
        var sequence = SequenceState(
            start: start, startedAt: startedAt, startHead: startHead, expected: expected,
            pending: try pendingOperations(of: author, expected: expected), settled: try settledNumbers(),
            applied: try appliedNumbers(), restartDetector: try restartDetector(),
            unseen: version > 1 ? try settledNumbers() : SettledNumbers())
        if version == 1 { sequence.closeApplied() }
        return sequence
    }

    /// A number of an author's sequence.
    mutating func operationNumber() throws(CheckpointError) -> Int64 { Int64(try number()) }

    private mutating func pendingOperations(
        of author: AuthorID, expected: Int64
    ) throws(CheckpointError) -> PendingOperations {
        var pending = PendingOperations()
        for _ in 0..<(try count()) {
            let least = pending.last.map { $0 + 1 } ?? expected
            if let assembly = try optional({ (reader) throws(CheckpointError) in try reader.shardAssembly() }) {
                try require(assembly.first.number >= least)
                pending.restore(assembly, isLate: false)
            } else {
                let bytes = try data()
                let ready = ReadyOperation(
                    author: author, header: try header(of: bytes), bytes: bytes, isLate: false, isJoined: try flag())
                // The next one would have been applied.
                try require(ready.number >= least && ready.number > expected)
                pending.restore(PendingOperations.Held(ready: ready, completeAt: try logTime()))
            }
        }
        for _ in 0..<(try count()) {
            let assembly = try shardAssembly()
            try require(pending.late[assembly.first.number] == nil)
            pending.restore(assembly, isLate: true)
        }
        return pending
    }

    /// The fields of a message that was accepted once, under other limits perhaps.
    private func header(of bytes: [UInt8]) throws(CheckpointError) -> StrokeMessage {
        guard var header = try? StrokeMessage(accepted: bytes) else { throw damaged }
        if !hasPages { header.page = nil }
        return header
    }
}

extension CheckpointWriter {
    mutating func write(_ detector: SequenceRestartDetector) {
        for sent in [detector.sent.zero, detector.sent.one] {
            write(optional: sent) { writer, sent in
                writer.write(optional: sent.shardCount) { $0.write($1) }
                writer.write(fixed: sent.fingerprint)
            }
        }
    }
}

extension CheckpointReader {
    mutating func restartDetector() throws(CheckpointError) -> SequenceRestartDetector {
        SequenceRestartDetector(zero: try sent(), one: try sent())
    }

    private mutating func sent() throws(CheckpointError) -> SequenceRestartDetector.Sent? {
        try optional { (reader) throws(CheckpointError) in
            let shardCount = try reader.optional { (reader) throws(CheckpointError) in Int(try reader.number()) }
            return SequenceRestartDetector.Sent(shardCount: shardCount, fingerprint: try reader.fixed())
        }
    }
}

extension CheckpointWriter {
    /// The shards as they came, and which came first; everything else follows from them.
    mutating func write(_ assembly: ShardAssembly) {
        write(assembly.shards.firstIndex { $0.order == assembly.first.shardOrder } ?? 0)
        write(list: assembly.shards) { $0.write($1.bytes) }
        write(logTime: assembly.lastShardAt)
    }
}

extension CheckpointReader {
    mutating func shardAssembly() throws(CheckpointError) -> ShardAssembly {
        let first = try integer()
        var shards: [(header: StrokeMessage, bytes: [UInt8])] = []
        for _ in 0..<(try count()) {
            let bytes = try data()
            shards.append((try header(of: bytes), bytes))
        }
        try require(first < UInt64(shards.count))
        let header = shards[Int(first)].header
        let lastShardAt = try logTime()
        var assembly = ShardAssembly(header: header, at: lastShardAt)
        for shard in shards {
            try require(
                shard.header.isSharded && shard.header.action == .draw && shard.header.number == header.number)
            let outcome = assembly.add(shard.header, shard.bytes, points: .max, room: .max, at: lastShardAt)
            guard case .added = outcome else { throw damaged }
        }
        return assembly
    }
}

extension CheckpointWriter {
    mutating func write(_ settled: SettledNumbers) {
        write(settled.insertions)
        var last: Int64 = 0
        write(list: settled.entries) { writer, entry in
            writer.write(UInt64(bitPattern: entry.from - last))
            writer.write(UInt64(bitPattern: entry.to - entry.from))
            last = entry.to
            writer.write(settled.insertions - entry.age)
            writer.write(entry.reason)
        }
    }

    private mutating func write(_ reason: SettledNumbers.Reason) {
        switch reason {
        case .gaveUp(let head):
            write(0)
            write(head)
        case .applied:
            write(2)
        case .rejected(let rejection):
            write(1)
            write(rejection.code.rawValue)
            write(optional: rejection.field) { $0.write($1) }
            write(rejection.message)
        }
    }
}

extension CheckpointReader {
    mutating func settledNumbers() throws(CheckpointError) -> SettledNumbers {
        let insertions = try number()
        var entries: [SettledNumbers.Entry] = []
        for _ in 0..<(try count()) {
            let last = entries.last?.to
            let from = (last ?? 0) + (try operationNumber())
            let to = from + (try operationNumber())
            let age = try number()
            try require(from > last ?? -1 && to <= Int64(CheckpointFormat.numberBound) && age <= insertions)
            entries.append(
                SettledNumbers.Entry(from: from, to: to, reason: try settledReason(), age: insertions - age))
        }
        return SettledNumbers(entries, insertions: insertions)
    }

    private mutating func settledReason() throws(CheckpointError) -> SettledNumbers.Reason {
        switch try integer() {
        case 0: return .gaveUp(head: try number())
        case 1:
            guard let code = RejectionCode(rawValue: try text()) else { throw damaged }
            let field = try optional { (reader) throws(CheckpointError) in try reader.text() }
            return .rejected(Rejection(code: code, field: field, message: try text()))
        case 2 where version > 1: return .applied
        default: throw damaged
        }
    }
}

extension CheckpointWriter {
    mutating func write(_ applied: AppliedNumbers) {
        var last = AppliedNumbers.Run(number: 0, index: 0, length: 0)
        write(list: applied.runs) { writer, run in
            writer.write(signed: run.number - last.number)
            writer.write(signed: Int64(bitPattern: run.index &- last.index))
            writer.write(UInt64(bitPattern: run.length))
            last = run
        }
    }
}

extension CheckpointReader {
    mutating func appliedNumbers() throws(CheckpointError) -> AppliedNumbers {
        let bound = Int64(CheckpointFormat.numberBound)
        var runs: [AppliedNumbers.Run] = []
        for _ in 0..<(try count()) {
            let last = runs.last
            let number = (last?.number ?? 0) &+ (try signed())
            let index = (last?.index ?? 0) &+ UInt64(bitPattern: try signed())
            let length = try operationNumber()
            try require((0...bound).contains(number) && index <= CheckpointFormat.numberBound && length > 0)
            try require(last.map { $0.index < index } ?? true)
            runs.append(AppliedNumbers.Run(number: number, index: index, length: length))
        }
        return AppliedNumbers(runs)
    }
}
