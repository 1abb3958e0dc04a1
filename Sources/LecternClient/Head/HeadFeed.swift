public import NATSClient
public import StrokeWire

/// A monitor's or teacher's view of a room: its head feed over NATS.
public struct HeadFeed: Sendable {
    private let connection: NATSConnection
    private let subject: String

    /// - Parameter connection: one that `connect` was called on; what passes while it is lost is not seen.
    public init(connection: NATSConnection, address: RoomAddress) {
        self.connection = connection
        subject = address.subject(.head)
    }

    /// Follows the feed until `handle` returns false, the time is over, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - limit: how long to follow at most; nil for no limit.
    ///   - handle: told what happens, in order, on the caller's executor.
    /// - Returns: the session in its last state.
    public func follow(
        for limit: Duration? = nil, _ handle: (StudentEvent, borrowing HeadSession) -> Bool
    ) async throws(NATSError) -> HeadSession {
        let queue = EventQueue<Result<ReleasedMessage, MalformedRelease>>()
        let subscription = try connection.subscribe(subject) { message in
            do throws(MalformedRelease) {
                queue.put(.success(try ReleasedMessage(message)))
            } catch {
                queue.put(.failure(error))
            }
        }
        defer { subscription.unsubscribe() }
        var session = HeadSession()
        var reader = queue.reader()
        defer { reader.cancelAlarm() }
        let end = limit.map { ContinuousClock.now + $0 }
        while !Task.isCancelled, let event = await reader.next(until: end) {
            let happened =
                switch event {
                case .success(let message): session.receive(message)
                case .failure(let error): session.receiveMalformed(error.description)
                }
            session.inputDropped(queue.dropped)
            for event in happened where !handle(event, session) { return session }
        }
        return session
    }
}
