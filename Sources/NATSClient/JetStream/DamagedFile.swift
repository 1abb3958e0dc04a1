public import Logging

/// Streams with one replica whose newest file has a damaged place, as a power cut leaves it.
///
/// nats-server 2.9 goes on in that file: it acknowledges what it writes there, and cannot read it, nor can it after another
/// restart (tried with 2.9.10). What it writes to the next file can be read. From 2.10 on a server goes on behind what it can
/// read.
extension JetStream {
    private static let probe = Array("probe".utf8)
    private static let mark = Array("end of a damaged file".utf8)
    private static let fillerBytes = 512 << 10
    /// Bytes of a file; fewer where the stream has a limit, of which it is a quarter (nats-server 2.9).
    private static let fileBytes = 8 << 20
    /// The server forgets what it holds of a file in memory 2 s after the last use. Of a damaged file that is being written
    /// some messages are mixed up there.
    private static let cacheTime = Duration.seconds(3)

    /// Whether a stream cannot read what it stores. Where its last message is there, that costs two requests; else a message
    /// is written.
    /// - Parameter filler: a subject of the stream that its readers pass over.
    public func storesUnreadably(_ stream: String, filler: String) async throws(JetStreamError) -> Bool {
        let info = try await streamInfo(stream)
        guard info.configuration.replicas == 1, info.lastSequence > 0 || info.messages > 0 else { return false }
        // A server that has lost count of its messages may have another one there.
        if let time = info.lastTime, try await message(stream, info.lastSequence)?.time == time { return false }
        // The last message may be deleted.
        return try await !isReadable(Self.probe, stream, filler)
    }

    /// Has a stream go on in another file where it cannot read what it stores. Nothing is deleted; a repeat does no harm, nor
    /// do two clients at once: nobody reads before the file is full. A server that is asked for messages of a damaged file while
    /// others write to it destroys what it could still read there (11 of 24 cases with two clients; none of 20 without).
    /// - Parameter filler: a subject of the stream that its readers pass over; up to 8.5 MiB are written to it.
    /// - Returns: whether that was so; then what was readable can be read again.
    /// - Throws: `.unreadable`.
    @discardableResult
    public func leaveDamagedFile(
        of stream: String, filler: String, logger: Logger
    ) async throws(JetStreamError) -> Bool {
        guard try await storesUnreadably(stream, filler: filler) else { return false }
        let limit = try await streamInfo(stream).configuration.maxBytes
        let fileBytes = limit > 0 ? min(Self.fileBytes, Int(limit / 4) + 100) : Self.fileBytes
        let bytes = [UInt8](repeating: 0, count: min(Self.fillerBytes, fileBytes, connection.maxBody))
        var written: [UInt64] = []
        while written.count * bytes.count < 4 * fileBytes {
            written.append(try await publish(bytes, to: filler).sequence)
            guard written.count * bytes.count >= fileBytes else { continue }
            if try await isReadable(Self.mark, stream, filler) {
                try? await Task.sleep(for: Self.cacheTime)
                logger.error(
                    "a stream acknowledged records that it cannot read: its file is damaged; it continues in a new file",
                    metadata: ["stream": "\(stream)"])
                return true
            }
        }
        // A file that does not end so is not left by more: the next attempt begins with as much space as this one.
        for sequence in written { try? await deleteMessage(stream, sequence) }
        throw .unreadable(stream: stream)
    }

    /// The sequence of the first message behind the oldest damaged file that a stream still has and has left; nil where there
    /// is none. Clients that fill a file at once leave several such places: what lies between two of them was written to a
    /// whole file, and may be the only copy of what the damaged one had. The stream is read where there is one.
    public func endOfDamagedFile(
        of stream: String, filler: String, logger: Logger
    ) async throws(JetStreamError) -> UInt64? {
        guard let last = try await lastMessage(stream, subject: filler), last.payload == Self.mark else { return nil }
        let first = try await streamInfo(stream).firstSequence
        guard first < last.sequence else { return nil }
        var oldest = last.sequence
        try await readToEnd(
            OrderedConsumerSettings(stream: stream, start: first + 1), logger: logger,
            decode: { message, metadata in
                message.subject == filler && message.copyPayload() == Self.mark ? metadata.streamSequence : nil
            }, take: { oldest = min(oldest, $0) })
        return oldest
    }

    private func isReadable(
        _ bytes: [UInt8], _ stream: String, _ subject: String
    ) async throws(JetStreamError) -> Bool {
        let stored = try await publish(bytes, to: subject)
        guard let message = try await message(stream, stored.sequence) else { return false }
        return message.subject == subject && message.payload == bytes
    }
}
