/// The questions between the creation of a consumer and the subscription to what it delivers: whether the stream still has the
/// last message that was delivered before, where it ends, and whether the consumer reads its leader's copy. Pure: each answer
/// returns the next step.
struct ConsumerStartCheck {
    /// A consumer that the server has made.
    struct Consumer {
        let attempt: UInt64
        /// The server's name of it.
        let name: String
        /// The first stream sequence to come.
        var first: UInt64
        /// Messages to come.
        let pending: UInt64
        /// In nanoseconds since 1970, by the server's clock.
        let serverTime: Int64
        /// By the caller's clock.
        let answeredAt: Int64
        /// The server of a cluster that has it.
        let server: String?
    }

    enum Question: Equatable {
        /// A stream that has lost its end, and has grown again meanwhile, has another message at that sequence.
        case last(sequence: UInt64)
        /// From nats-server 2.11 on a consumer begins where it is asked to, also beyond the end of its stream. In a cluster a
        /// server is drawn by lot for it, whose copy it reads: after a power cut that may differ from the leader's, for ever.
        case stream

        func subject(_ stream: String) -> String {
            switch self {
            case .last: "$JS.API.STREAM.MSG.GET.\(stream)"
            case .stream: "$JS.API.STREAM.INFO.\(stream)"
            }
        }

        var body: [UInt8] {
            switch self {
            case .last(let sequence): Array("{\"seq\":\(sequence)}".utf8)
            case .stream: []
            }
        }

        /// The last token of the subject for the answer; that of the consumer's has the attempt alone.
        func token(_ attempt: UInt64) -> String {
            switch self {
            case .last: "last-\(attempt)"
            case .stream: "stream-\(attempt)"
            }
        }
    }

    enum Answer {
        case consumer(ConsumerAnswer)
        /// When the stream stored the message; nil where it has none: it was deleted, or is beyond the end.
        case last(time: Int64?)
        case stream(StreamInfo.Wire)

        /// - Parameter token: see ``Question/token(_:)``.
        init(_ token: some StringProtocol, _ body: [UInt8]) throws(JetStreamError) {
            self =
                if token.hasPrefix("last-") {
                    .last(time: try Self.time(in: body))
                } else if token.hasPrefix("stream-") {
                    .stream(try APIBody.decode(StreamInfo.Wire.self, from: body))
                } else {
                    .consumer(try APIBody.decode(ConsumerAnswer.self, from: body))
                }
        }

        private static func time(in answer: [UInt8]) throws(JetStreamError) -> Int64? {
            struct Answer: Decodable {
                struct Message: Decodable { var time: String }
                var message: Message
            }
            do throws(JetStreamError) {
                return try ServerTime.parse(try APIBody.decode(Answer.self, from: answer).message.time)
            } catch {
                guard error.isMessageMissing else { throw error }
                return nil
            }
        }
    }

    enum Step {
        case ask(Question)
        case begin(Consumer)
        /// The stream has another message in the place of the last one delivered.
        case end
        /// The consumer, by its name, reads a copy that is not the leader's, the stream has no leader, or a later attempt has its
        /// consumer already.
        case dismiss(String, hasLeader: Bool)
    }

    /// The consumer whose questions are not answered yet.
    private var consumer: Consumer?

    /// - Parameters:
    ///   - next: the sequence after that of the last message delivered.
    ///   - lastTime: when the stream stored that message, if it is to be compared.
    ///   - now: the caller's clock.
    /// - Returns: nil for an answer to an earlier attempt.
    mutating func receive(
        _ answer: Answer, of attempt: UInt64, next: UInt64, lastTime: Int64?, at now: Int64
    ) throws(JetStreamError) -> Step? {
        switch answer {
        case .consumer(let answer):
            let made = Consumer(
                attempt: attempt, name: answer.name, first: answer.delivered.streamSeq &+ 1,
                pending: answer.numPending, serverTime: try ServerTime.parse(answer.created), answeredAt: now,
                server: answer.cluster?.leader)
            // A server that was drawn by lot may answer an attempt that was given up after another has answered the next one.
            if let consumer, consumer.attempt > attempt { return .dismiss(made.name, hasLeader: true) }
            guard lastTime != nil else { return beginOrAsk(made, next) }
            consumer = made
            return .ask(.last(sequence: next - 1))
        case .last(let time):
            guard let made = take(attempt) else { return nil }
            if let time, time != lastTime { return .end }
            return beginOrAsk(made, next)
        case .stream(let stream):
            guard var made = take(attempt) else { return nil }
            guard !stream.hasNoLeader, made.server == nil || made.server == stream.cluster?.leader else {
                return .dismiss(made.name, hasLeader: !stream.hasNoLeader)
            }
            made.first = min(made.first, stream.state.lastSeq &+ 1)
            return .begin(made)
        }
    }

    private mutating func beginOrAsk(_ made: Consumer, _ next: UInt64) -> Step {
        let mayBeBeyondEnd = made.pending == 0 && next > 1
        guard mayBeBeyondEnd || made.server != nil else { return .begin(made) }
        consumer = made
        return .ask(.stream)
    }

    private mutating func take(_ attempt: UInt64) -> Consumer? {
        guard consumer?.attempt == attempt else { return nil }
        defer { consumer = nil }
        return consumer
    }
}

/// The request for a consumer in memory, without acknowledgements: only the order of messages matters.
struct ConsumerRequest: Encodable {
    /// How long the server keeps a consumer without a subscriber.
    static let inactiveThreshold = Duration.seconds(10)

    struct Configuration: Encodable {
        var deliverSubject: String
        var deliverPolicy = "by_start_sequence"
        var optStartSeq: UInt64
        var filterSubject: String?
        var headersOnly: Bool
        var ackPolicy = "none"
        var maxDeliver = 1
        var replayPolicy = "instant"
        var flowControl = true
        var idleHeartbeat: Int64
        var inactiveThreshold = ConsumerRequest.inactiveThreshold.wholeNanoseconds
        var memStorage = true
        var numReplicas = 1
    }
    var streamName: String
    var config: Configuration

    /// - Parameter sequence: the first stream sequence.
    init(_ settings: OrderedConsumerSettings, from sequence: UInt64, deliverSubject: String) {
        streamName = settings.stream
        config = Configuration(
            deliverSubject: deliverSubject, optStartSeq: sequence, filterSubject: settings.filterSubject,
            headersOnly: settings.headersOnly,
            idleHeartbeat: settings.heartbeat.wholeNanoseconds)
    }
}

/// The server's answer to a ``ConsumerRequest``.
struct ConsumerAnswer: Decodable {
    struct Delivered: Decodable {
        /// One less than the first sequence to be delivered.
        var streamSeq: UInt64
    }
    struct Cluster: Decodable {
        /// The server that has the consumer.
        var leader: String?
    }
    var name: String
    var created: String
    var delivered: Delivered
    var numPending: UInt64
    var cluster: Cluster?
}
