internal import Locking
internal import Logging
internal import NATSClient
internal import StrokeWire

/// Asks the service again and again how many partitions it has. A gateway with another number would ask for most rooms in a
/// partition that is not theirs.
///
/// Services of older releases do not say their number: then nothing is known, and the gateway is ready. While no daemon
/// answers, the last number counts. Any thread.
final class PartitionWatch: Sendable {
    private enum State: Equatable {
        /// Nobody has been asked yet.
        case pending
        /// The service has this gateway's number, or has not told its own.
        case agreed
        /// The service has this number.
        case differs(Int)
    }

    private static let timeout: Duration = .seconds(2)
    /// Time between two looks whether NATS is there.
    private static let connectionInterval: Duration = .milliseconds(100)

    private let partitions: Int
    private let subject: String
    private let connection: NATSConnection
    private let logger: Logger
    private let state = Locked(State.pending)

    init(_ configuration: GatewayConfiguration, _ connection: NATSConnection, _ logger: Logger) {
        partitions = configuration.partitions
        // No room is in this partition, so that every daemon refuses with its number, and none looks for the room.
        subject = "\(configuration.root).999999999.partitions.info"
        self.connection = connection
        self.logger = logger
    }

    /// Why most rooms cannot be reached, or may not be, one sentence; nil where nothing is known against it.
    var obstacle: String? {
        switch state.withLock({ $0 }) {
        case .pending: "The gateway has not asked yet how many partitions the service has."
        case .agreed: nil
        case .differs(let count):
            "The service has \(count) partition\(count == 1 ? "" : "s"); subjects.partitions is \(partitions) here."
        }
    }

    /// Asks until cancelled.
    func run(every interval: Duration) async {
        while !Task.isCancelled {
            let isConnected = connection.state == .connected
            if isConnected { await ask() }
            try? await Task.sleep(for: isConnected ? interval : Self.connectionInterval)
        }
    }

    private func ask() async {
        do throws(NATSError) {
            let reply = try await connection.request(to: subject, timeout: Self.timeout)
            take(RequestError(decoding: reply.payload)?.partitions)
        } catch .disconnected {
            // To be asked again when NATS is back.
        } catch {
            // No daemon is there.
            state.withLock { if $0 == .pending { $0 = .agreed } }
        }
    }

    /// - Parameter count: nil where the service does not tell.
    private func take(_ count: Int?) {
        let new: State = if let count, count != partitions { .differs(count) } else { .agreed }
        let old = state.exchange(new)
        guard new != old else { return }
        if case .differs(let count) = new {
            logger.error(
                "most rooms cannot be reached: the service has another number of partitions",
                metadata: ["service": "\(count)", "subjects.partitions": "\(partitions)"])
        } else if old != .pending {
            logger.notice("rooms can be reached: the number of partitions no longer differs")
        }
    }
}
