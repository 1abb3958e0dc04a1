/// What was sent and is not confirmed yet, by the number of the operation.
///
/// Bounded: beyond 16,384 operations or 64 MiB the oldest is forgotten and counted. It can no longer be sent again, as
/// if the client had been closed; sending goes on, because a lesson does not wait for the service.
struct Outbox: Sendable {
    struct Operation: Sendable {
        fileprivate(set) var messages: [OutgoingMessage] = []
        /// Whether the operation was given up and has been sent again since.
        fileprivate(set) var isSecondChance = false
    }

    private(set) var operations: [Int64: Operation] = [:]
    private(set) var forgotten = 0
    private var bytes = 0
    private let maximumOperations: Int
    private let maximumBytes: Int

    init(maximumOperations: Int = 16_384, maximumBytes: Int = 64 << 20) {
        self.maximumOperations = max(1, maximumOperations)
        self.maximumBytes = maximumBytes
    }

    var isEmpty: Bool { operations.isEmpty }

    /// The numbers of what is kept, in order.
    var numbers: [Int64] { operations.keys.sorted() }

    /// Keeps a message that is being sent for the first time.
    mutating func keep(_ message: OutgoingMessage) {
        operations[message.number, default: Operation()].messages.append(message)
        bytes += message.bytes.count
        while operations.count > 1, operations.count > maximumOperations || bytes > maximumBytes {
            guard let oldest = operations.keys.min(), remove(oldest) else { return }
            forgotten += 1
        }
    }

    /// Forgets an operation that is settled.
    /// - Returns: whether it was there.
    mutating func remove(_ number: Int64) -> Bool {
        guard let operation = operations.removeValue(forKey: number) else { return false }
        bytes -= operation.messages.reduce(0) { $0 + $1.bytes.count }
        return true
    }

    mutating func giveSecondChance(_ number: Int64) {
        operations[number]?.isSecondChance = true
    }

    /// The kept message of a shard.
    func message(_ number: Int64, order: Int) -> OutgoingMessage? {
        operations[number]?.messages.first { $0.order == order }
    }
}
