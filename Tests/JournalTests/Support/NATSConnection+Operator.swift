import Foundation
import NATSClient

/// What an operator does to a stream with the `nats` program.
extension NATSConnection {
    func purge(_ stream: String, before sequence: UInt64) async throws {
        _ = try await request(Array("{\"seq\":\(sequence)}".utf8), to: "$JS.API.STREAM.PURGE.\(stream)")
    }

    func deleteStream(_ name: String) async throws {
        _ = try await request(to: "$JS.API.STREAM.DELETE.\(name)")
    }

    func makeStream(_ name: String, _ configuration: String) async throws {
        let body = "{\"name\":\"\(name)\",\"storage\":\"file\",\"num_replicas\":1,\(configuration)}"
        _ = try await request(Array(body.utf8), to: "$JS.API.STREAM.CREATE.\(name)")
    }

    func deleteMessage(_ stream: String, _ sequence: UInt64) async throws {
        _ = try await request(Array("{\"seq\":\(sequence)}".utf8), to: "$JS.API.STREAM.MSG.DELETE.\(stream)")
    }

    /// The names of a stream's consumers.
    func consumers(of stream: String) async throws -> [String] {
        let reply = try await request(Array("{}".utf8), to: "$JS.API.CONSUMER.NAMES.\(stream)")
        let text = String(decoding: reply.payload, as: UTF8.self)
        guard let open = text.range(of: "\"consumers\":["), let close = text[open.upperBound...].firstIndex(of: "]")
        else { return [] }
        return text[open.upperBound..<close].split(separator: ",").map { $0.filter { $0 != "\"" } }
    }

    func deleteConsumer(_ name: String, of stream: String) async throws {
        _ = try await request(to: "$JS.API.CONSUMER.DELETE.\(stream).\(name)")
    }
}
