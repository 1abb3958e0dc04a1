/// JetStream over a connection that mends itself.
///
/// libnats has a JetStream of its own, but it belongs to one `natsConnection`, and ours come and go; so it is spoken
/// here as what it is, requests to `$JS.API.…` and messages on plain subjects (ADR-8 and ADR-15 of NATS, nats-server
/// 2.9).
///
/// A value; any thread. Every call has a time limit and can be made again.
public struct JetStream: Sendable {
    /// The connection that everything goes over.
    public let connection: NATSConnection
    /// How long a request to the server's API may take.
    public let timeout: Duration

    /// - Parameter timeout: for requests to the API. A cluster that has just lost a server takes some seconds.
    public init(_ connection: NATSConnection, timeout: Duration = .seconds(5)) {
        self.connection = connection
        self.timeout = timeout
    }

    /// Asks the API.
    /// - Parameter operation: the subject after `$JS.API.`.
    func ask<Answer: Decodable>(
        _ operation: String, _ body: some Encodable = [String: String](), for answer: Answer.Type
    ) async throws(JetStreamError) -> Answer {
        let subject = "$JS.API.\(operation)"
        let request = try APIBody.encode(body)
        let reply: NATSReply
        do throws(NATSError) {
            reply = try await connection.request(request, to: subject, timeout: timeout)
        } catch {
            throw JetStreamError(error, asking: subject)
        }
        return try APIBody.decode(answer, from: reply.payload)
    }
}
