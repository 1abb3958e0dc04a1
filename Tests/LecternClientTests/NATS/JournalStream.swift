import LecternClient
import NATSClient
import NATSTestServer
import StrokeWire
import Testing

/// The stream of a partition's log, as a daemon makes it, and what is in it.
enum JournalStream {
    struct Stored: Sendable, Equatable {
        let messageID: String
        let bytes: [UInt8]
    }

    static let name = "INK_LOG_0"

    /// Makes it.
    static func create(
        over connection: NATSConnection, _ configure: (inout StreamConfiguration) -> Void = { _ in }
    ) async throws {
        var stream = StreamConfiguration(name: name, subjects: ["ink.0.*.in.*", "ink.0.*.ctl"])
        stream.discard = .new
        configure(&stream)
        _ = try await JetStream(connection).provision(stream)
    }

    /// Everything in it, in its order.
    static func read(over connection: NATSConnection) async throws -> [Stored] {
        let stored = Recorder<Stored>()
        let settings = OrderedConsumerSettings(stream: name, start: .sequence(1))
        try await JetStream(connection).readToEnd(settings, logger: .silent) { message, _ in
            stored.append(Stored(messageID: message.header(HeaderName.msgID) ?? "", bytes: message.copyPayload()))
        }
        return stored.values
    }

    /// Counts what authors send, whether it is stored or not.
    static func arrivals(over connection: NATSConnection) async throws -> Recorder<Int> {
        let arrivals = Recorder<Int>()
        try connection.subscribe("ink.0.*.in.*") { arrivals.append($0.payloadSize) }
        try await connection.flush()
        return arrivals
    }
}
