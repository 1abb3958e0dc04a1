/// The numbers of one author, in the one count that tests use (wire.md, "Order and loss").
struct ModelAuthor {
    enum Outcome: Equatable {
        case applied(UInt64)
        case rejected
    }

    private enum Standing {
        case assembling([ModelMessage])
        case complete([ModelMessage])
        /// Index of the log's last operation when it was given up, and the shards that came.
        case givenUp(head: UInt64, [ModelMessage])
        case settled(Outcome)
    }

    private var standings: [Int64: Standing] = [:]
    private var expected: Int64?

    /// What became of each number that is settled and was not just given up.
    var outcomes: [Int64: Outcome] {
        standings.compactMapValues { if case .settled(let outcome) = $0 { outcome } else { nil } }
    }

    /// Numbers that something waits for or that wait.
    var isPending: Bool {
        standings.contains { number, standing in
            switch standing {
            case .assembling, .complete: true
            case .givenUp(_, let shards): !shards.isEmpty
            case .settled: false
            }
        }
    }

    /// - Returns: an operation that is whole but late, where the message makes one so.
    mutating func receive(_ message: ModelMessage, lastClear: UInt64) -> (number: Int64, shards: [ModelMessage])? {
        if expected == nil { expected = message.number }
        switch standings[message.number] {
        case .settled, .complete:
            return nil
        case .givenUp(let head, let shards):
            guard message.isAcceptable, message.action == .draw, lastClear <= head else {
                standings[message.number] = .settled(.rejected)
                return nil
            }
            let all = Self.adding(message, to: shards)
            standings[message.number] = .givenUp(head: head, all)
            return Self.isWhole(all) ? (message.number, all) : nil
        case .assembling(let shards):
            stand(message, Self.adding(message, to: shards))
        case nil:
            stand(message, [message])
        }
        return nil
    }

    private mutating func stand(_ message: ModelMessage, _ shards: [ModelMessage]) {
        if !message.isAcceptable {
            standings[message.number] = .settled(.rejected)
        } else {
            standings[message.number] = Self.isWhole(shards) ? .complete(shards) : .assembling(shards)
        }
    }

    /// The next operation in order, if it is whole.
    mutating func next() -> (number: Int64, shards: [ModelMessage])? {
        while let number = expected {
            switch standings[number] {
            case .settled, .givenUp: expected = number + 1
            case .complete(let shards):
                expected = number + 1
                return (number, shards)
            case .assembling, nil: return nil
            }
        }
        return nil
    }

    mutating func settle(_ number: Int64, _ outcome: Outcome) {
        standings[number] = .settled(outcome)
    }

    mutating func giveUp(_ from: Int64, _ to: Int64, head: UInt64) {
        let waiting = standings.filter { number, standing in
            switch standing {
            case .assembling, .complete: number >= expected ?? 0
            case .givenUp, .settled: false
            }
        }
        guard let last = waiting.keys.max(), let expected, max(from, expected) <= min(to, last) else { return }
        for number in max(from, expected)...min(to, last) {
            switch standings[number] {
            case nil: standings[number] = .givenUp(head: head, [])
            case .assembling(let shards): standings[number] = .givenUp(head: head, shards)
            case .complete, .givenUp, .settled: break
            }
        }
    }

    private static func adding(_ message: ModelMessage, to shards: [ModelMessage]) -> [ModelMessage] {
        guard message.isSharded, !shards.contains(where: { $0.shardOrder == message.shardOrder }) else {
            return message.isSharded ? shards : [message]
        }
        return (shards + [message]).sorted { $0.shardOrder < $1.shardOrder }
    }

    private static func isWhole(_ shards: [ModelMessage]) -> Bool {
        guard let first = shards.first else { return false }
        return !first.isSharded || shards.count == first.shardCount
    }
}
