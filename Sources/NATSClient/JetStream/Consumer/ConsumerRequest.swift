/// The request for a consumer that keeps nothing and asks for no acknowledgements: only its order matters.
struct ConsumerRequest: Encodable {
    /// How long the server keeps a consumer that nobody listens to.
    static let inactiveThreshold = Duration.seconds(10)

    struct Configuration: Encodable {
        var deliverSubject: String
        var deliverPolicy: String
        var optStartSeq: UInt64?
        var filterSubject: String?
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

    /// - Parameter sequence: where to begin; 0: with the newest message of each subject.
    init(_ settings: OrderedConsumerSettings, from sequence: UInt64, deliverSubject: String) {
        streamName = settings.stream
        config = Configuration(
            deliverSubject: deliverSubject,
            deliverPolicy: sequence == 0 ? "last_per_subject" : "by_start_sequence",
            optStartSeq: sequence == 0 ? nil : sequence,
            filterSubject: settings.filterSubject,
            idleHeartbeat: settings.heartbeat.wholeNanoseconds)
    }
}

/// The server's answer.
struct ConsumerAnswer: Decodable {
    struct Delivered: Decodable {
        /// One before the place where delivery begins.
        var streamSeq: UInt64
    }
    var name: String
    var created: String
    var delivered: Delivered
    var numPending: UInt64
}
