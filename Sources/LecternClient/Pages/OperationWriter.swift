public import Logging
public import NATSClient
public import StrokeWire

/// Writes operations of one author into a room, all in one sequence, some at a time, as fast as the service takes them from
/// one author. A batch is written when the service has answered every operation of it.
///
/// What was sent of a batch that failed must not take effect later: the next batch then begins another session.
public struct OperationWriter: Sendable {
    /// An operation without its number. A draw may be larger than a message; it is then cut into shards.
    public struct Operation: Sendable {
        /// Everything but number, shards and points.
        public var header: StrokeMessage
        /// Of a draw: the bytes between the brackets of its points.
        public var interior: [UInt8]

        public init(_ header: StrokeMessage, interior: [UInt8] = []) {
            (self.header, self.interior) = (header, interior)
        }

        public init(_ header: StrokeMessage, points: [StrokePoint]) {
            self.init(header, interior: PointEncoder.interior(of: points))
        }
    }

    /// What has become of a batch.
    public struct Outcome: Sendable {
        /// The index of each operation, in their order; nil where it was not applied.
        public fileprivate(set) var indices: [UInt64?]
        /// Why some were not applied; nil when all were.
        public fileprivate(set) var failure: String?

        /// Number of operations that were applied.
        public var applied: Int { indices.count { $0 != nil } }
    }

    public let address: RoomAddress
    public let author: AuthorID
    /// Who boards say that it was: whoever asked for it; nil for the author.
    public var name: String?
    let connection: NATSConnection
    private let teacher: Teacher
    private let answerTimeout: Duration
    private var session = Teacher.newSession()
    private var next: Int64 = 1

    /// - Parameters:
    ///   - connection: a connection that `connect` was called on; it may be lost and restored at any time.
    ///   - address: the room's address.
    ///   - author: no other writer has the same author at the same time.
    ///   - answerTimeout: how long the service may be silent.
    ///   - logger: for what goes wrong and mends itself.
    public init(
        connection: NATSConnection, address: RoomAddress, author: AuthorID,
        answerTimeout: Duration = .seconds(10), logger: Logger
    ) {
        (self.connection, self.address) = (connection, address)
        (self.author, self.answerTimeout) = (author, answerTimeout)
        teacher = Teacher(connection: connection, address: address, author: author, logger: logger)
    }

    /// Writes operations in their order.
    ///
    /// - Parameter progress: called about twice a second with the number of operations applied.
    /// - Returns: what has become of each, also when the task was cancelled or the service fell silent.
    public mutating func write(
        _ operations: [Operation], progress: (_ applied: Int) -> Void = { _ in }
    ) async -> Outcome {
        var outcome = Outcome(indices: Array(repeating: nil, count: operations.count))
        guard !operations.isEmpty else { return outcome }
        let first = next
        var messages: [(bytes: [UInt8], header: StrokeMessage)] = []
        for operation in operations {
            var header = operation.header
            header.number = next
            messages += header.messages(interior: operation.interior).map { message in
                (name.map { StrokeMessage.named(message.bytes, $0) } ?? message.bytes, message.header)
            }
            next += 1
        }
        do throws(TeacherError) {
            let report = try await teacher.publish(
                PublishPlan(immediately: messages), session: session, wetInk: false, answerTimeout: answerTimeout,
                progress: { progress($0.applied) },
                onSettled: { number, result in
                    let place = Int(number - first)
                    guard case .applied(let index) = result, outcome.indices.indices.contains(place) else { return }
                    outcome.indices[place] = index
                })
            outcome.failure = report.failure
        } catch {
            outcome.failure = "\(error)"
        }
        if outcome.failure != nil {
            session = Teacher.newSession()
            next = 1
        }
        return outcome
    }
}

extension TeacherReport {
    /// Why not every operation was applied; nil when all were.
    fileprivate var failure: String? {
        guard !isComplete else { return nil }
        if let first = firstRejections.first {
            return "an operation was rejected, \(first.rejection.code.rawValue): \(first.rejection.message)"
        }
        if endedSession != nil { return "another writer has the same author" }
        if gaveUp > 0 { return "the service has given up waiting for an operation" }
        if let refusal { return "the journal refuses messages: \(refusal)" }
        return isConnected ? "the service does not answer" : "the connection to NATS is lost"
    }
}

extension StrokeMessage {
    /// Bytes of a message: much less than a service takes, so that no other author waits behind one.
    private static let messageBytes = 65_536

    /// The messages of an operation as they are published: one, or shards where it is large.
    /// - Parameter interior: the bytes between the brackets of its points.
    public func messages(interior: [UInt8]) -> [(bytes: [UInt8], header: StrokeMessage)] {
        let messages = ShardCutter.cut(self, interior: interior[...], maxBytes: Self.messageBytes)
        return messages.enumerated().map { order, bytes in
            var shard = self
            (shard.shardOrder, shard.shardCount) = messages.count > 1 ? (order, messages.count) : (0, 0)
            return (bytes, shard)
        }
    }
}
