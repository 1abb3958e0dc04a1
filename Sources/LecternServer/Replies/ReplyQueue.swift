import Dispatch
import Logging
import NATSClient
import StrokeWire
import Synchronization

/// Makes and sends replies away from the threads that release operations.
///
/// Bounded: at most `limit` replies wait or are being made over all queues that share the budget; requests
/// beyond are answered `not-ready`.
final class ReplyQueue: Sendable {
    private let queue: DispatchQueue
    private let budget: Budget
    private let connection: NATSConnection
    private let logger: Logger
    private let isClosing = Atomic(false)

    /// Bytes of one message of a reply; a larger reply comes in parts.
    private static let partBytes = 256 * 1024

    init(label: String, budget: Budget, connection: NATSConnection, logger: Logger) {
        queue = DispatchQueue(label: label)
        self.budget = budget
        self.connection = connection
        self.logger = logger
    }

    /// Makes a reply on the queue and sends it.
    func answer(_ reply: String, _ make: @escaping @Sendable () throws(RequestError) -> [UInt8]) {
        guard budget.take() else {
            refuse(reply, RequestError(.notReady, "The server is busy with other requests; ask again in a second."))
            return
        }
        queue.async { [self] in
            defer { budget.giveBack() }
            guard !isClosing.load(ordering: .relaxed) else {
                return refuse(reply, RequestError(.notReady, "The server is shutting down."))
            }
            do throws(RequestError) {
                send(try make(), to: reply)
            } catch {
                refuse(reply, error)
            }
        }
    }

    /// Says no at once, from any thread.
    func refuse(_ reply: String, _ error: RequestError) {
        send(error.encoded(), to: reply)
    }

    /// Finishes the reply that is being made and refuses those that wait.
    func close() {
        isClosing.store(true, ordering: .relaxed)
        queue.sync {}
    }

    /// Sends a reply that is made, from any thread; a large one in parts.
    func send(_ bytes: [UInt8], to reply: String) {
        do {
            guard bytes.count > Self.partBytes else {
                try connection.publish(bytes, to: reply)
                return
            }
            let count = (bytes.count + Self.partBytes - 1) / Self.partBytes
            for part in 0..<count {
                let range = part * Self.partBytes..<min(bytes.count, (part + 1) * Self.partBytes)
                try connection.publish(
                    Array(bytes[range]), to: reply, headers: [HeaderName.part: "\(part + 1)/\(count)"])
            }
        } catch {
            logger.debug("reply not sent", metadata: ["reply": "\(reply)", "error": "\(error)"])
        }
    }
}
