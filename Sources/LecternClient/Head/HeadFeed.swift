public import NATSClient
public import StrokeWire

/// A monitor's or teacher's view of a room: its head feed over NATS.
public struct HeadFeed: Sendable {
    private enum Event: Sendable {
        case released(ReleasedMessage)
        case malformed(String)
        case denied(Denial)
    }

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
    /// - Throws: `.notPermitted` when this user may not follow the feed.
    /// - Returns: the session in its last state.
    public func follow(
        for limit: Duration? = nil, _ handle: (StudentEvent, borrowing HeadSession) -> Bool
    ) async throws(NATSError) -> HeadSession {
        let queue = EventQueue<Event>()
        let observation = connection.onDenial { [needed = Denial(.subscribe, subject)] in
            if $0 == needed { queue.put(.denied(needed)) }
        }
        defer { observation.cancel() }
        let subscription = try connection.subscribe(subject) { message in
            do throws(MalformedRelease) {
                queue.put(.released(try ReleasedMessage(message)))
            } catch {
                queue.put(.malformed(error.description))
            }
        }
        defer { subscription.unsubscribe() }
        var session = HeadSession()
        var reader = queue.reader()
        defer { reader.cancelAlarm() }
        let end = limit.map { ContinuousClock.now + $0 }
        while !Task.isCancelled, let event = await reader.next(until: end) {
            let happened: [StudentEvent]
            switch event {
            case .released(let message): happened = session.receive(message)
            case .malformed(let why): happened = session.receiveMalformed(why)
            case .denied(let denial): throw .notPermitted(denial)
            }
            session.inputDropped(queue.dropped)
            for event in happened where !handle(event, session) { return session }
        }
        return session
    }
}
