internal import Foundation

/// Changes to streams, for operators' commands: what the server knows of a stream's configuration and this client does not
/// stays as it is.
extension JetStream {
    /// Replaces the subjects that a stream captures. Its messages stay.
    public func capture(_ subjects: [String], by stream: String) async throws(JetStreamError) {
        try await change("UPDATE", stream, like: stream) { $0["subjects"] = subjects }
    }

    /// Creates a stream that the server fills with the messages of another one, with their sequences and times, and keeps
    /// up with it.
    /// - Parameter note: a text that the copy keeps, see ``note(of:)``.
    public func copy(_ stream: String, to copy: String, note: String) async throws(JetStreamError) {
        try await change("CREATE", copy, like: stream) { configuration in
            configuration["subjects"] = nil
            configuration["mirror"] = ["name": stream]
            configuration["description"] = note
        }
    }

    /// Creates an empty stream with the settings of another one.
    /// - Parameter note: as in ``copy(_:to:note:)``.
    public func create(
        _ stream: String, capturing subjects: [String], like other: String, note: String? = nil
    ) async throws(JetStreamError) {
        try await change("CREATE", stream, like: other) { configuration in
            configuration["subjects"] = subjects
            (configuration["mirror"], configuration["mirror_direct"]) = (nil, nil)
            configuration["description"] = note
        }
    }

    /// Deletes a stream with its messages.
    public func delete(_ stream: String) async throws(JetStreamError) {
        let subject = "$JS.API.STREAM.DELETE.\(stream)"
        try APIBody.check(try await ask([], subject, timeout))
    }

    /// The text that a stream was created with; empty where it has none.
    public func note(of stream: String) async throws(JetStreamError) -> String {
        try await configuration(of: stream)["description"] as? String ?? ""
    }

    private func change(
        _ operation: String, _ stream: String, like other: String, _ edit: (inout [String: Any]) -> Void
    ) async throws(JetStreamError) {
        var configuration = try await configuration(of: other)
        configuration["name"] = stream
        edit(&configuration)
        guard let body = try? JSONSerialization.data(withJSONObject: configuration) else {
            throw .malformed("the configuration of \(other)")
        }
        try APIBody.check(try await ask(Array(body), "$JS.API.STREAM.\(operation).\(stream)", timeout))
    }

    private func configuration(of stream: String) async throws(JetStreamError) -> [String: Any] {
        let answer = try await ask([], "$JS.API.STREAM.INFO.\(stream)", timeout)
        try APIBody.check(answer)
        guard let object = try? JSONSerialization.jsonObject(with: Data(answer)) as? [String: Any],
            let configuration = object["config"] as? [String: Any]
        else { throw .malformed(String(decoding: answer.prefix(200), as: UTF8.self)) }
        return configuration
    }
}
