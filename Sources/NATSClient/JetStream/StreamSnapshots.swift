internal import Foundation
internal import Locking

/// Copies of whole streams, as the server makes and takes them: messages with their sequences and times, and the stream's
/// settings and its age. What depends on sequences and times is the same in a restored stream.
extension JetStream {
    /// The names of all streams that begin with a text, in their order.
    public func streamNames(beginningWith prefix: String) async throws(JetStreamError) -> [String] {
        struct Page: Decodable {
            var total: Int
            var streams: [String]?
        }
        var names: [String] = []
        while true {
            let page = try await apiRequest("STREAM.NAMES", ["offset": names.count], for: Page.self)
            let found = page.streams ?? []
            names += found
            guard !found.isEmpty, names.count < page.total else { break }
        }
        return names.filter { $0.hasPrefix(prefix) }.sorted()
    }

    /// Copies a stream. The server copies it as it is at one moment, while messages come in.
    ///
    /// - Parameter take: gets the parts in order; the server sends the next ones when it has them. nats-server 2.9 sends one
    ///   each 10 ms in any case.
    /// - Returns: what a restore needs beside the parts.
    /// - Throws: also when another connection was made meanwhile: what was sent in between is lost, and nats-server 2.9 ends a
    ///   copy that it gives up as one that is whole.
    public func snapshot(of stream: String, _ take: ([UInt8]) throws -> Void) async throws -> StreamSnapshotHeader {
        struct Request: Encodable {
            var deliverSubject: String
            var noConsumers = true
            var chunkSize: Int
        }
        let (parts, inlet) = AsyncStream.makeStream(of: Part.self)
        let inbox = connection.makeInbox()
        /// Bytes of parts that are not taken.
        let waiting = Locked(0)
        let subscription = try connection.subscribe(inbox) { message in
            let bytes = message.copyPayload()
            let count = waiting.withLock { waiting in
                waiting += bytes.count
                return waiting
            }
            guard count <= Self.waitingBytes else { return inlet.finish() }
            inlet.yield(Part(bytes: bytes, reply: message.reply, failure: message.header("Status")))
        }
        defer { subscription.unsubscribe() }
        let generation = try await connection.confirmPublished()
        let subject = "$JS.API.STREAM.SNAPSHOT.\(stream)"
        let request = try APIBody.encode(
            Request(deliverSubject: inbox, chunkSize: min(StreamSnapshotHeader.partBytes, connection.maxBody)))
        let answer = try await ask(request, subject, max(timeout, Self.idleTime))
        let header = try StreamSnapshotHeader(stream: stream, answer: answer)
        let progress = StallWatch()
        let watch = progress.start(Self.idleTime) { inlet.finish() }
        defer { watch.cancel() }
        for await part in parts {
            progress.note()
            guard connection.generation == generation else { throw JetStreamError.connection(.disconnected) }
            guard !part.bytes.isEmpty else {
                guard part.failure == nil || part.failure == "204" else {
                    throw JetStreamError.malformed("the snapshot of \(stream) has ended with \(part.failure ?? "")")
                }
                return header
            }
            try take(part.bytes)
            waiting.withLock { $0 -= part.bytes.count }
            if let reply = part.reply { try connection.publish([], to: reply) }
        }
        guard waiting.withLock({ $0 }) == 0 else {
            throw JetStreamError.malformed("the snapshot of \(stream) comes faster than it can be stored")
        }
        throw JetStreamError.noAnswer(subject: subject)
    }

    /// Bytes that may wait to be taken: the server waits with 8 MiB, if it waits.
    private static let waitingBytes = 256 << 20
    /// The longest time without a part, or without the answer to one.
    private static let idleTime = Duration.seconds(30)

    private struct Part: Sendable {
        let bytes: [UInt8]
        let reply: String?
        let failure: String?
    }

    /// Makes a stream of a copy. There must be none of its name.
    ///
    /// - Parameter next: the parts in order; nil at their end.
    /// - Throws: the server's error, also where the copy is damaged; then there is no stream.
    public func restore(_ header: StreamSnapshotHeader, parts next: () throws -> [UInt8]?) async throws {
        struct Place: Decodable {
            var deliverSubject: String
        }
        let subject = "$JS.API.STREAM.RESTORE.\(header.stream)"
        let place = try APIBody.decode(Place.self, from: try await ask(header.request, subject, Self.idleTime))
        while let part = try next() {
            // The server that it was copied from may have taken more.
            let size = connection.maxBody
            for start in stride(from: 0, to: part.count, by: size) {
                let end = min(part.count, start + size)
                _ = try await ask(Array(part[start..<end]), place.deliverSubject, Self.idleTime)
            }
        }
        struct Restored: Decodable {
            var config: Configuration
            struct Configuration: Decodable { var name: String }
        }
        _ = try APIBody.decode(Restored.self, from: try await ask([], place.deliverSubject, Self.idleTime))
    }
}

/// What a copy of a stream has beside its messages: the settings and the state, as the server has written them.
public struct StreamSnapshotHeader: Sendable, Equatable {
    /// Bytes of a part. Small, because nats-server 2.9 sends a hundred parts a second to whoever does not keep up.
    static let partBytes = 16 << 10

    public let stream: String
    /// The JSON `{"config":…,"state":…}` that the server is asked with to restore it.
    public let request: [UInt8]
    /// Its messages and their bytes, and the first and last sequence.
    public let messages, bytes, firstSequence, lastSequence: UInt64

    /// - Parameter request: as ``request`` was.
    public init(stream: String, request: [UInt8]) throws(JetStreamError) {
        try self.init(stream: stream, answer: request)
    }

    init(stream: String, answer: [UInt8]) throws(JetStreamError) {
        struct State: Decodable {
            struct Numbers: Decodable { var messages, bytes, firstSeq, lastSeq: UInt64 }
            var state: Numbers
        }
        let numbers = try APIBody.decode(State.self, from: answer).state
        // The two members as they are: a setting that this client does not know must not be lost.
        guard let object = try? JSONSerialization.jsonObject(with: Data(answer)) as? [String: Any],
            let config = object["config"], let state = object["state"],
            let body = try? JSONSerialization.data(
                withJSONObject: ["config": config, "state": state], options: [.sortedKeys, .withoutEscapingSlashes])
        else { throw .malformed(String(decoding: answer.prefix(200), as: UTF8.self)) }
        self.stream = stream
        request = Array(body)
        (messages, bytes) = (numbers.messages, numbers.bytes)
        (firstSequence, lastSequence) = (numbers.firstSeq, numbers.lastSeq)
    }
}
