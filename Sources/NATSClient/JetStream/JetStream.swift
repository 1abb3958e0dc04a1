internal import Foundation
internal import Locking
public import Logging

/// JetStream over a `NATSConnection`.
///
/// libnats' JetStream belongs to one `natsConnection` and ends with it. So this is JetStream's protocol: requests to
/// `$JS.API.…` and messages on plain subjects (ADR-8 and ADR-15 of NATS, nats-server 2.9).
///
/// A value; any thread. Every call has a time limit and can be repeated.
public struct JetStream: Sendable {
    /// The connection for all requests and deliveries.
    public let connection: NATSConnection
    /// The time limit of a request to the API.
    public let timeout: Duration

    /// - Parameter timeout: of requests to the API. A cluster that has just lost a server takes some seconds.
    public init(_ connection: NATSConnection, timeout: Duration = .seconds(5)) {
        self.connection = connection
        self.timeout = timeout
    }

    /// Sends a request to the API.
    /// - Parameter operation: the subject after `$JS.API.`.
    func apiRequest<Answer: Decodable>(
        _ operation: String, _ body: some Encodable = [String: String](), for answer: Answer.Type
    ) async throws(JetStreamError) -> Answer {
        let reply = try await ask(try APIBody.encode(body), "$JS.API.\(operation)", timeout)
        return try APIBody.decode(answer, from: reply)
    }

    /// The answer to a request, which may be an error of the server.
    func ask(_ payload: [UInt8], _ subject: String, _ limit: Duration) async throws(JetStreamError) -> [UInt8] {
        do throws(NATSError) {
            return try await connection.request(payload, to: subject, timeout: limit).payload
        } catch {
            throw JetStreamError(error, asking: subject)
        }
    }
}

/// Messages.
extension JetStream {
    /// Publishes a message and waits until a stream has stored it.
    ///
    /// After an error it may have been stored all the same. With a `Nats-Msg-Id` header it is safe to try again within
    /// the stream's duplicate window.
    /// - Throws: `.notCaptured`; `.noAnswer`; `.api`, for example when the stream is full.
    public func publish(
        _ payload: [UInt8], to subject: String, headers: NATSHeaders = [:], timeout: Duration? = nil
    ) async throws(JetStreamError) -> PublishAcknowledgement {
        let reply: NATSReply
        do throws(NATSError) {
            reply = try await connection.request(
                payload, to: subject, headers: headers, timeout: timeout ?? self.timeout)
        } catch {
            throw error == .noResponders ? .notCaptured(subject: subject) : JetStreamError(error, asking: subject)
        }
        return try PublishAcknowledgement(decoding: reply.payload)
    }

    /// The message with this sequence; nil when there is none, or none any more.
    public func message(_ stream: String, _ sequence: UInt64) async throws(JetStreamError) -> StoredMessage? {
        try await message(stream, MessageRequest(seq: sequence))
    }

    /// The newest message of a subject; nil when there is none.
    public func lastMessage(_ stream: String, subject: String) async throws(JetStreamError) -> StoredMessage? {
        try await message(stream, MessageRequest(lastBySubj: subject))
    }

    /// The first message of a subject from this sequence on; nil when there is none.
    public func nextMessage(
        _ stream: String, subject: String, from sequence: UInt64
    ) async throws(JetStreamError) -> StoredMessage? {
        try await message(stream, MessageRequest(seq: max(1, sequence), nextBySubj: subject))
    }

    /// Asks the stream's leader, not any replica, so all that was acknowledged is found.
    private func message(_ stream: String, _ request: MessageRequest) async throws(JetStreamError) -> StoredMessage? {
        let answer: MessageAnswer
        do throws(JetStreamError) {
            answer = try await apiRequest("STREAM.MSG.GET.\(stream)", request, for: MessageAnswer.self)
        } catch {
            guard error.isMessageMissing else { throw error }
            return nil
        }
        let message = answer.message
        return StoredMessage(
            subject: message.subject, sequence: message.seq, time: try ServerTime.parse(message.time),
            payload: message.data.map { Array($0) } ?? [])
    }
}

private struct MessageRequest: Encodable {
    var seq: UInt64?
    var lastBySubj: String?
    var nextBySubj: String?
}

private struct MessageAnswer: Decodable {
    struct Message: Decodable {
        var subject: String
        var seq: UInt64
        var time: String
        /// Base 64.
        var data: Data?
    }
    var message: Message
}

/// Ends what waits for something that no longer comes.
struct StallWatch: Sendable {
    private let signs = Locked(0)

    /// Counts a sign of life.
    /// - Returns: how many there were.
    @discardableResult
    func note() -> Int {
        signs.withLock { count in
            count += 1
            return count
        }
    }

    /// Calls a body when no sign has come for a time. Cancel the task when none is awaited any more.
    func start(_ limit: Duration, _ onStall: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        Task {
            var known = -1
            while signs.withLock({ $0 }) != known {
                known = signs.withLock { $0 }
                guard (try? await Task.sleep(for: limit)) != nil else { return }
            }
            onStall()
        }
    }
}

extension JetStream {
    private enum ReadEvent<Element: Sendable>: Sendable {
        case began(serverTime: Int64)
        case element(Element)
        case barrier(FlowControlBarrier)
        case end
        case failed

        init?(_ event: OrderedConsumerEvent) {
            switch event {
            case .caughtUp: self = .end
            case .barrier(let barrier): self = .barrier(barrier)
            case .rewound: self = .failed
            case .began(let start): self = .began(serverTime: start.serverTime)
            case .level, .interrupted: return nil
            }
        }
    }

    /// Reads a stream, as the settings say, up to its end as of the start of reading. The server sends no more messages than
    /// its flow control allows until those before are taken.
    ///
    /// - Parameters:
    ///   - timeout: the longest time without a message; reading all may take longer.
    ///   - decode: runs on the delivery thread, in the order of the stream; must not block. Nil passes a message over.
    ///   - take: called in the caller's task for each message that is not passed over; it may take its time. An error ends
    ///     reading.
    /// - Returns: the wall clock of the server that leads the stream, as reading began, in nanoseconds since 1970; or the error
    ///   of `take`.
    /// - Throws: an error with `isStreamMissing`; `.noAnswer` when nothing came for `timeout` before the end.
    @discardableResult
    public func readToEnd<Element: Sendable, Failure: Error>(
        _ settings: OrderedConsumerSettings, logger: Logger, timeout: Duration = .seconds(60),
        decode: @escaping @Sendable (borrowing NATSMessage, DeliveryMetadata) -> Element?,
        take: (Element) async throws(Failure) -> Void
    ) async throws(JetStreamError) -> Result<Int64, Failure> {
        // The consumer would wait for a missing stream.
        _ = try await streamInfo(settings.stream)
        let (events, inlet) = AsyncStream.makeStream(of: ReadEvent<Element>.self)
        let origin = ContinuousClock.now
        // Of messages that came and that were taken.
        let progress = StallWatch()
        do throws(NATSError) {
            let consumer = try read(
                settings, logger: logger, clock: { origin.duration(to: .now).wholeNanoseconds },
                onEvent: { event in if let event = ReadEvent<Element>(event) { inlet.yield(event) } },
                onMessage: { message, metadata in
                    progress.note()
                    if let element = decode(message, metadata) { inlet.yield(.element(element)) }
                })
            defer { consumer.cancel() }
            let watch = progress.start(timeout) { inlet.yield(.failed) }
            defer { watch.cancel() }
            var serverTime: Int64 = 0
            for await event in events {
                switch event {
                case .began(let time): serverTime = time
                case .element(let element):
                    do throws(Failure) { try await take(element) } catch { return .failure(error) }
                    // Long work shares its thread with other tasks.
                    if progress.note().isMultiple(of: 64) { await Task.yield() }
                case .barrier(let barrier): barrier.pass()
                case .end: return .success(serverTime)
                case .failed: throw .timeout
                }
            }
            throw .cancelled
        } catch {
            throw JetStreamError(error, asking: settings.stream)
        }
    }
}

/// JetStream's acknowledgement of a published message.
public struct PublishAcknowledgement: Sendable, Equatable {
    /// The stream that has stored the message.
    public let stream: String
    /// The message's sequence in the stream; of a duplicate, that of the first message.
    public let sequence: UInt64
    /// Whether the stream had a message with the same `Nats-Msg-Id` already.
    public let isDuplicate: Bool
}

extension PublishAcknowledgement {
    private struct Wire: Decodable {
        var stream: String
        var seq: UInt64
        var duplicate: Bool?
    }

    /// - Throws: the error of a publish that was refused; `.malformed`.
    package init(decoding bytes: [UInt8]) throws(JetStreamError) {
        let wire = try APIBody.decode(Wire.self, from: bytes)
        stream = wire.stream
        sequence = wire.seq
        isDuplicate = wire.duplicate ?? false
    }
}

/// A message of a stream.
public struct StoredMessage: Sendable, Equatable {
    public let subject: String
    /// Its sequence in the stream.
    public let sequence: UInt64
    /// When the stream stored it, in nanoseconds since 1970.
    public let time: Int64
    public let payload: [UInt8]
}
