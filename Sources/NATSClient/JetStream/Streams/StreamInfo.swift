/// A stream as it stands.
public struct StreamInfo: Sendable, Equatable {
    /// How it is made.
    public let configuration: StreamConfiguration
    /// When it was made, in nanoseconds since 1970: two streams of one name are told apart by it.
    public let created: Int64
    /// The oldest message that is there; `lastSequence + 1`, or 0 in a new stream, when there is none.
    public let firstSequence: UInt64
    /// The newest message that was ever there; 0 before the first.
    public let lastSequence: UInt64
    /// How many there are.
    public let messages: UInt64
    /// What they take.
    public let bytes: UInt64
}

extension StreamInfo {
    /// The API's form.
    struct Wire: Decodable {
        struct State: Decodable {
            var messages: UInt64
            var bytes: UInt64
            var firstSeq: UInt64
            var lastSeq: UInt64
        }
        var config: StreamConfiguration.Wire
        var created: String
        var state: State

        /// Whether the time when it was made has not been set.
        var isBeingMade: Bool { created.hasPrefix("0001-01-01") }
    }

    init(_ wire: Wire) throws(JetStreamError) {
        configuration = StreamConfiguration(wire.config)
        created = try ServerTime.parse(wire.created)
        firstSequence = wire.state.firstSeq
        lastSequence = wire.state.lastSeq
        messages = wire.state.messages
        bytes = wire.state.bytes
    }
}
