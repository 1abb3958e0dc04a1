import StrokeWire

@testable import LecternClient

/// A model of the service's side for one author, in virtual time: applies operations in order, reports what is missing
/// at once and every 500 ms, gives a gap up 2 s after what waits behind it was complete.
struct VirtualService {
    private(set) var applied: [Int64] = []
    private var arrived: [Int64: (orders: Set<Int>, count: Int, completed: Duration?)] = [:]
    private var settled: [Int64: Feedback] = [:]
    private var next: Int64 = 1
    private var nextReport: Duration?
    var rejects: Set<Int64> = []

    /// A message arrives.
    mutating func receive(_ message: OutgoingMessage, at now: Duration) -> [Feedback] {
        guard let header = try? StrokeMessage(decoding: message.bytes) else { return [] }
        let number = header.number
        if let answer = settled[number], case .applied = answer { return [answer] }
        if rejects.contains(number) {
            settled[number] = .rejected(
                number: number, order: nil, Rejection(code: .nothingToUndo, message: "There is nothing to undo."))
            return [settled[number]].compactMap { $0 } + proceed(at: now)
        }
        var operation = arrived[number] ?? ([], max(1, header.shardCount), nil)
        operation.orders.insert(header.shardOrder)
        if operation.orders.count == operation.count, operation.completed == nil { operation.completed = now }
        arrived[number] = operation
        if number < next {
            // Given up, and here all the same.
            guard operation.completed != nil else { return [] }
            return [apply(number)]
        }
        var feedback = proceed(at: now)
        if isWaiting, nextReport == nil {
            nextReport = now + .milliseconds(500)
            if arrived.contains(where: { $0.key > next }) { feedback += report() }
        }
        return feedback
    }

    /// Time has passed.
    mutating func wake(at now: Duration) -> [Feedback] {
        var feedback: [Feedback] = []
        let first = arrived.filter { $0.key > next && $0.value.completed != nil }.values.compactMap(\.completed).min()
        if let first, now >= first + .seconds(2) {
            feedback.append(.gaveUp(from: next, to: next))
            settled[next] = feedback.last
            feedback += proceed(at: now)
        }
        if let time = nextReport, now >= time {
            nextReport = isWaiting ? now + .milliseconds(500) : nil
            feedback += isWaiting ? report() : []
        }
        return feedback
    }

    private var isWaiting: Bool { arrived.contains { $0.key >= next } }

    private func report() -> [Feedback] {
        if let partial = arrived[next] {
            return [.missingShards(number: next, orders: (0..<partial.count).filter { !partial.orders.contains($0) })]
        }
        guard let behind = arrived.keys.filter({ $0 > next }).min() else { return [] }
        return [.missingRange(from: next, to: behind - 1)]
    }

    private mutating func proceed(at now: Duration) -> [Feedback] {
        var feedback: [Feedback] = []
        while true {
            if settled[next] == nil, let operation = arrived[next], operation.completed != nil {
                feedback.append(apply(next))
            }
            guard settled[next] != nil else { return feedback }
            next += 1
        }
    }

    private mutating func apply(_ number: Int64) -> Feedback {
        applied.append(number)
        let answer = Feedback.applied(number: number, index: UInt64(applied.count))
        settled[number] = answer
        return answer
    }
}
