import Logging
import NATSClient
import StrokeWire
import Whiteboard

/// Publishes what rooms ask for. Safe from any thread.
struct Fanout: Sendable {
    let connection: NATSConnection
    /// Bytes of a message at most, where a stroke may be cut.
    let maxBytes: Int
    let logger: Logger

    /// Carries out one effect.
    /// - Returns: false where it could not be published for want of a connection.
    func perform(
        _ effect: RoomEffect, address: RoomAddress, incarnation: String, _ metrics: ServerMetrics
    ) -> Bool {
        switch effect {
        case .feedback(let author, let feedback):
            return publish(feedback, to: author, at: address)
        case .head(let operation):
            return publish(operation, isLate: operation.isLate, incarnation, to: address.subject(.head))
        case .release(let cohort, let operation, let isLate, let due):
            guard publish(operation, isLate: isLate, incarnation, to: address.subject(.out(cohort))) else {
                return false
            }
            metrics.countRelease(cohort, isLate: isLate, lateness: MonotonicClock.now() - due)
            return true
        case .mark(let cohort, let mark):
            return send(mark.encoded(), to: address.subject(.mark(cohort)))
        case .record:
            return true
        }
    }

    func publish(_ feedback: Feedback, to author: AuthorID, at address: RoomAddress) -> Bool {
        send(feedback.encoded(), to: address.subject(.feedback(author)))
    }

    private func publish(_ operation: Operation, isLate: Bool, _ incarnation: String, to subject: String) -> Bool {
        let headers = operation.headers(incarnation: incarnation, isLate: isLate)
        for frame in operation.frames(maxBytes: maxBytes) {
            guard send(frame, to: subject, headers: headers) else { return false }
        }
        return true
    }

    private func send(_ bytes: [UInt8], to subject: String, headers: NATSHeaders = [:]) -> Bool {
        do {
            try connection.publish(bytes, to: subject, headers: headers)
            return true
        } catch .payloadTooLarge(let size, let limit) {
            // Waiting would not make it smaller: the cohort must not stand still for it.
            logger.error(
                "operation too large for the NATS server; raise its max_payload",
                metadata: ["subject": "\(subject)", "bytes": "\(size)", "limit": "\(limit)"])
            return true
        } catch {
            logger.debug("not published", metadata: ["subject": "\(subject)", "error": "\(error)"])
            return false
        }
    }
}
