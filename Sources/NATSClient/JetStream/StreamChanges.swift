internal import Foundation

/// Changes to streams, for operators' commands: what the server knows of a stream's configuration and this client does not
/// stays as it is.
extension JetStream {
    /// Replaces the subjects that a stream captures. Its messages stay.
    public func capture(_ subjects: [String], by stream: String) async throws(JetStreamError) {
        try await update(stream, ["subjects": subjects])
    }

    /// Sets how many servers have a copy of a stream. With 1 that of its leader stays alone; those that come to it are made anew.
    public func setReplicas(_ count: Int, of stream: String) async throws(JetStreamError) {
        try await update(stream, ["num_replicas": count])
    }

    /// Changes fields of a stream's configuration, named as in NATS.
    package func update(_ stream: String, _ changes: [String: any Sendable]) async throws(JetStreamError) {
        try await apply("UPDATE", stream, try await configuration(of: stream).merging(changes) { $1 })
    }

    /// Creates a stream that the server fills with the messages of another one, with their sequences and times, and goes on
    /// to as long as there is a stream of that name. The copy drops no messages by age or by subject.
    ///
    /// It has one replica. One with three of a stream with gaps between its sequences lacks the messages before the last gaps
    /// for good (nats-server 2.9.10); ``setReplicas(_:of:)`` of a copy that is whole does no harm.
    /// - Parameter label: a text that the copy keeps, see ``original(of:)``; so does a copy of the copy.
    public func copy(_ stream: String, to copy: String, label: String) async throws(JetStreamError) {
        var configuration = try await configuration(of: stream)
        if configuration["mirror"] == nil {
            configuration["description"] = try CopiedStream.description(label, configuration)
        }
        configuration["subjects"] = nil
        configuration["mirror"] = ["name": stream]
        (configuration["max_age"], configuration["max_msgs_per_subject"]) = (0, -1)
        configuration["discard"] = StreamConfiguration.Discard.new.rawValue
        configuration["num_replicas"] = 1
        try await apply("CREATE", copy, configuration)
    }

    /// The stream that one was copied from by ``copy(_:to:label:)``.
    public func original(of copy: String) async throws(JetStreamError) -> CopiedStream {
        let description = try await configuration(of: copy)["description"] as? String ?? ""
        guard let original = CopiedStream(description: description) else {
            throw .malformed("the description of \(copy)")
        }
        return original
    }

    /// Creates an empty stream. What the configuration does not say is as in another stream.
    public func create(_ wanted: StreamConfiguration, like other: CopiedStream) async throws(JetStreamError) {
        guard let known = jsonObject(try APIBody.encode(wanted.wire)), var configuration = jsonObject(other.json) else {
            throw .malformed("the configuration of \(wanted.name)")
        }
        configuration["description"] = nil
        try await apply("CREATE", wanted.name, configuration.merging(known) { $1 })
    }

    /// Deletes a stream with its messages. When it returns, no server of the cluster lists it any more.
    public func delete(_ stream: String) async throws(JetStreamError) {
        try APIBody.check(try await ask([], "$JS.API.STREAM.DELETE.\(stream)", timeout))
        // The stream's leader answers before the cluster's has heard of it. Until then that one lists the stream, and nobody
        // answers a question for it (nats-server 2.9.10).
        let deadline = ContinuousClock.now + timeout
        while ContinuousClock.now < deadline {
            do throws(JetStreamError) {
                try APIBody.check(try await ask([], "$JS.API.STREAM.INFO.\(stream)", .milliseconds(250)))
            } catch  where error.isStreamMissing {
                return
            } catch .noAnswer {
                continue
            }
            guard (try? await Task.sleep(for: .milliseconds(20))) != nil else { throw .connection(.cancelled) }
        }
        throw .noAnswer(subject: "$JS.API.STREAM.INFO.\(stream)")
    }

    private func apply(
        _ operation: String, _ stream: String, _ configuration: [String: Any]
    ) async throws(JetStreamError) {
        var configuration = configuration
        configuration["name"] = stream
        guard let body = try? JSONSerialization.data(withJSONObject: configuration) else {
            throw .malformed("the configuration of \(stream)")
        }
        try APIBody.check(try await ask(Array(body), "$JS.API.STREAM.\(operation).\(stream)", timeout))
    }

    private func configuration(of stream: String) async throws(JetStreamError) -> [String: Any] {
        let answer = try await ask([], "$JS.API.STREAM.INFO.\(stream)", timeout)
        try APIBody.check(answer)
        guard let configuration = jsonObject(answer)?["config"] as? [String: Any] else {
            throw .malformed(String(decoding: answer.prefix(200), as: UTF8.self))
        }
        return configuration
    }
}

/// A stream that was copied, as it was then.
public struct CopiedStream: Sendable {
    /// The text that was given with the copy.
    public let label: String
    public let configuration: StreamConfiguration
    /// The configuration with what this client does not know.
    fileprivate let json: [UInt8]

    /// The text in the copy's description, 4 KiB at most.
    fileprivate static func description(
        _ label: String, _ configuration: [String: Any]
    ) throws(JetStreamError) -> String {
        let object: [String: Any] = ["label": label, "original": configuration]
        guard let data = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys]) else {
            throw .malformed("the configuration of a stream")
        }
        return String(decoding: data, as: UTF8.self)
    }

    fileprivate init?(description: String) {
        guard let object = jsonObject(Array(description.utf8)), let label = object["label"] as? String,
            let original = object["original"] as? [String: Any],
            let data = try? JSONSerialization.data(withJSONObject: original),
            let wire = try? APIBody.decode(StreamConfiguration.Wire.self, from: Array(data))
        else { return nil }
        self.label = label
        configuration = StreamConfiguration(wire)
        json = Array(data)
    }
}

private func jsonObject(_ bytes: [UInt8]) -> [String: Any]? {
    try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
}
