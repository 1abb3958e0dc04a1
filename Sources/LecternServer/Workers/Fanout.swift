import Logging
import NATSClient
import StrokeWire
import Whiteboard

/// Publishes the effects of rooms. Safe from any thread.
struct Fanout: Sendable {
    let connection: NATSConnection
    /// Bytes of a message at most when a stroke from shards is cut again.
    let maxBytes: Int
    let logger: Logger
    /// Has the output reopened soon. Needed when the connection exists but refuses a message: it gives no signal when it
    /// accepts more.
    let retry: @Sendable () -> Void

    /// Bytes from which on a message waits until the connection has sent most of what was published before: what is
    /// small must not wait behind megabytes.
    static let largeMessage = 16 * 1024
    /// Bytes that may wait for the socket before that.
    static let backlog = 1 << 20

    /// Performs one effect.
    /// - Parameter generation: of the connection to publish on; on no other.
    /// - Returns: false if it was not published and is to be tried again: on the next connection, or after `retry`.
    func perform(
        _ effect: RoomEffect, address: RoomAddress, incarnation: String, on generation: UInt64,
        _ metrics: ServerMetrics
    ) -> Bool {
        switch effect {
        case .feedback(let author, let session, let feedback):
            let message = FeedbackMessage(session: session, feedback: feedback)
            return publish(message, to: author, at: address, on: generation)
        case .head(let operation):
            return publish(operation, isLate: operation.isLate, incarnation, to: address.subject(.head), on: generation)
        case .release(let cohort, let operation, let isLate, let due):
            guard operation.messageByteCount < Self.largeMessage || connection.bufferedBytes <= Self.backlog else {
                retry()
                return false
            }
            let subject = address.subject(.out(cohort))
            guard publish(operation, isLate: isLate || operation.isLate, incarnation, to: subject, on: generation)
            else { return false }
            metrics.countRelease(cohort, isLate: isLate, lateness: MonotonicClock.now() - due)
            return true
        case .mark(let cohort, let mark):
            return send(mark.encoded(), to: address.subject(.mark(cohort)), on: generation)
        case .record:
            return true
        }
    }

    /// - Parameter generation: of the connection to publish on; nil for any.
    func publish(
        _ feedback: FeedbackMessage, to author: AuthorID, at address: RoomAddress, on generation: UInt64? = nil
    ) -> Bool {
        send(feedback.encoded(), to: address.subject(.feedback(author)), on: generation)
    }

    private func publish(
        _ operation: Operation, isLate: Bool, _ incarnation: String, to subject: String, on generation: UInt64
    ) -> Bool {
        let headers = operation.headers(incarnation: incarnation, isLate: isLate)
        for frame in operation.frames(maxBytes: maxBytes) {
            guard send(frame, to: subject, headers: headers, on: generation) else { return false }
        }
        return true
    }

    private func send(
        _ bytes: [UInt8], to subject: String, headers: NATSHeaders = [:], on generation: UInt64?
    ) -> Bool {
        do {
            try connection.publish(bytes, to: subject, headers: headers, on: generation)
            return true
        } catch .payloadTooLarge(let size, let limit) {
            // A retry cannot succeed, and the cohort must not wait for it.
            logger.error(
                "operation too large for the NATS server; raise its max_payload",
                metadata: ["subject": "\(subject)", "bytes": "\(size)", "limit": "\(limit)"])
            return true
        } catch .invalidSubject, .invalidHeader {
            // A retry cannot succeed.
            logger.error(
                "operation with a subject or header that NATS does not allow", metadata: ["subject": "\(subject)"])
            return true
        } catch .disconnected, .closed {
            return false
        } catch {
            retry()
            logger.debug("not published", metadata: ["subject": "\(subject)", "error": "\(error)"])
            return false
        }
    }
}

extension Operation {
    /// The messages that carry the operation: the author's, byte for byte, except for a stroke joined from shards that is
    /// larger than `maxBytes`; that is cut again.
    func frames(maxBytes: Int) -> [[UInt8]] {
        let bytes = restoredMessage
        guard bytes.count > maxBytes, let joined = joined(bytes) else { return [bytes] }
        return ShardCutter.cut(joined, interior: bytes[joined.points.interior], maxBytes: maxBytes)
    }

    /// The headers of a released operation.
    func headers(incarnation: String, isLate: Bool) -> NATSHeaders {
        var headers = NATSHeaders()
        headers.append(HeaderName.index, String(index))
        headers.append(HeaderName.room, incarnation)
        headers.append(HeaderName.author, author.text)
        if let reference { headers.append(HeaderName.ref, String(reference)) }
        headers.append(HeaderName.digest, digest.description)
        if isLate { headers.append(HeaderName.late, "1") }
        return headers
    }
}
