public import NATSClient
public import StrokeWire

/// What came of closing a room.
public enum RoomClosing: Sendable, Equatable {
    /// The room's life is over. The place of the decision in the room's journal; nil without one.
    case closed(sequence: UInt64?)
    /// The decision is at this place in the journal, and takes effect when the service comes to it.
    case logged(sequence: UInt64)
    /// No sign of the service having taken it.
    case unconfirmed
}

extension RoomDirectory {
    /// How long the journal, and then the service, may take.
    private static let patience = Duration.seconds(15)
    private static let effectPatience = Duration.seconds(5)

    /// Ends this life of a room: its board, stacks, log and numbers are forgotten by all who follow it, and the next
    /// message begins another life.
    ///
    /// - Parameter known: the room as it was, from ``room(at:)``.
    /// - Throws: what NATS says to it; what JetStream says when it refuses it.
    public func close(
        _ address: RoomAddress, known: RoomSummary
    ) async throws(JetStreamError) -> RoomClosing {
        // The same id each time: closed twice, the life that began in between would be lost.
        let headers: NATSHeaders = [HeaderName.msgID: "\(address.room)/close/\(Teacher.newSession())"]
        let deadline = ContinuousClock.now + Self.patience
        while ContinuousClock.now < deadline, !Task.isCancelled {
            do throws(JetStreamError) {
                let acknowledgement = try await JetStream(connection).publish(
                    ControlRecord.close.encoded(), to: address.subject(.control), headers: headers,
                    timeout: .seconds(2))
                let isClosed = await isOver(known, at: address, within: Self.effectPatience)
                return isClosed
                    ? .closed(sequence: acknowledgement.sequence) : .logged(sequence: acknowledgement.sequence)
            } catch {
                switch error {
                case .noAnswer, .connection(.disconnected):
                    // A service without a journal takes it and does not say so.
                    if await isOver(known, at: address, within: .milliseconds(500)) { return .closed(sequence: nil) }
                case .notCaptured:
                    try? await Task.sleep(for: .milliseconds(500))
                default:
                    throw error
                }
            }
        }
        return .unconfirmed
    }

    /// Whether the life that was known is over.
    private func isOver(_ known: RoomSummary, at address: RoomAddress, within limit: Duration) async -> Bool {
        let deadline = ContinuousClock.now + limit
        repeat {
            // A service that is silent for a moment may be changing places with another one.
            if let now = try? await room(at: address).map(\.incarnation) ?? "", now != known.incarnation { return true }
            try? await Task.sleep(for: .milliseconds(100))
        } while ContinuousClock.now < deadline && !Task.isCancelled
        return false
    }
}
