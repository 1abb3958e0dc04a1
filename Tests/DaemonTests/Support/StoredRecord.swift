import Foundation
import NATSClient
import NATSTestServer
import TestSupport

/// A message of the journal, read back from JetStream.
struct StoredRecord: Sendable {
    let sequence: UInt64
    /// When JetStream stored it, in nanoseconds.
    let time: Int64
    let subject: String
    let payload: [UInt8]
}

/// The part of the reply to `$JS.API.STREAM.INFO` that tests use.
struct StreamState: Sendable, Decodable {
    struct State: Sendable, Decodable {
        let messages: Int
    }
    struct Cluster: Sendable, Decodable {
        let leader: String?
    }
    let state: State
    let cluster: Cluster?
    let created: String
}

extension NATSConnection {
    func streamState(_ stream: String) async throws -> StreamState {
        let reply = try await request(Array("{}".utf8), to: "$JS.API.STREAM.INFO.\(stream)", timeout: .seconds(5))
        return try JSONDecoder().decode(StreamState.self, from: Data(reply.payload))
    }

    /// All messages of a stream, read by a plain consumer.
    func readBack(_ stream: String) async throws -> [StoredRecord] {
        let count = try await streamState(stream).state.messages
        guard count > 0 else { return [] }
        let records = Recorder<StoredRecord>()
        let subject = "readback.\(UUID().uuidString)"
        let subscription = try subscribe(subject) { message in
            // $JS.ACK.<stream>.<consumer>.<deliveries>.<stream sequence>.<consumer sequence>.<time>.…
            let tokens = (message.reply ?? "").split(separator: ".")
            guard tokens.count > 7, let sequence = UInt64(tokens[5]), let time = Int64(tokens[7]) else { return }
            records.append(
                StoredRecord(
                    sequence: sequence, time: time, subject: message.subject, payload: message.copyPayload()))
        }
        defer { subscription.unsubscribe() }
        try await flush()
        let body = """
            {"stream_name":"\(stream)","config":{"deliver_subject":"\(subject)","deliver_policy":"all",\
            "ack_policy":"none","replay_policy":"instant"}}
            """
        let reply = try await request(
            Array(body.utf8), to: "$JS.API.CONSUMER.CREATE.\(stream)", timeout: .seconds(5))
        let answer = String(decoding: reply.payload, as: UTF8.self)
        guard !answer.contains(#""error""#) else { throw Unexpected(answer) }
        return try await records.values(count)
    }
}
