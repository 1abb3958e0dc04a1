import Synchronization

/// A bounded queue of events from any thread to one task, which waits with a deadline.
///
/// A full queue drops and counts new events: the protocol repairs lost messages (by marks and joins for a student, by
/// repeated feedback for a teacher), but not a reader whose memory grows without bound.
final class EventQueue<Event: Sendable>: Sendable {
    private enum Signal: Sendable {
        case event(Event)
        case alarm(Int)
    }

    private let signals: AsyncStream<Signal>
    private let input: AsyncStream<Signal>.Continuation
    private let droppedEvents = Atomic(0)

    init(bound: Int = 65_536) {
        (signals, input) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(bound))
    }

    /// Events lost because the queue was full.
    var dropped: Int { droppedEvents.load(ordering: .relaxed) }

    /// Adds an event; never blocks.
    func put(_ event: Event) {
        if case .dropped = input.yield(.event(event)) { droppedEvents.add(1, ordering: .relaxed) }
    }

    /// The reader of the queue. Make only one.
    func reader() -> Reader { Reader(queue: self) }

    /// Takes events in order.
    struct Reader {
        private let queue: EventQueue
        private var iterator: AsyncStream<Signal>.Iterator
        private var alarm: (number: Int, time: ContinuousClock.Instant, task: Task<Void, Never>)?
        private var alarms = 0

        fileprivate init(queue: EventQueue) {
            self.queue = queue
            iterator = queue.signals.makeAsyncIterator()
        }

        /// The next event; nil after `deadline`, or when the task is cancelled.
        mutating func next(until deadline: ContinuousClock.Instant?) async -> Event? {
            if let deadline, deadline <= .now { return nil }
            setAlarm(deadline)
            while let signal = await iterator.next(isolation: #isolation) {
                switch signal {
                case .event(let event):
                    return event
                case .alarm(let number) where number == alarm?.number:
                    alarm = nil
                    return nil
                case .alarm:
                    continue
                }
            }
            cancelAlarm()
            return nil
        }

        /// Cancels the task of the alarm.
        mutating func cancelAlarm() {
            alarm?.task.cancel()
            alarm = nil
        }

        private mutating func setAlarm(_ deadline: ContinuousClock.Instant?) {
            guard alarm?.time != deadline else { return }
            cancelAlarm()
            guard let deadline else { return }
            alarms += 1
            let number = alarms
            let input = queue.input
            let task = Task {
                guard (try? await Task.sleep(until: deadline, clock: .continuous)) != nil else { return }
                input.yield(.alarm(number))
            }
            alarm = (number, deadline, task)
        }
    }
}
