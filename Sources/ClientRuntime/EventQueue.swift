import Synchronization

/// A bounded queue of events from any thread to one task, which waits with a deadline.
///
/// A full queue drops and counts new events: the protocol repairs lost messages (by marks and joins for a student, by
/// repeated feedback for a teacher, by the id of the last event for a stream), but not a reader whose memory grows without
/// bound.
package final class EventQueue<Event: Sendable>: Sendable {
    private enum Signal: Sendable {
        case event(Event, bytes: Int)
        case alarm(Int)
        /// Events were dropped.
        case loss
    }

    private let signals: AsyncStream<Signal>
    private let input: AsyncStream<Signal>.Continuation
    private let bound: Int
    private let byteBound: Int
    private let waitingEvents = Atomic(0)
    private let waitingBytes = Atomic(0)
    private let droppedEvents = Atomic(0)
    /// Whether the reader is still to be woken for events that were dropped.
    private let hasLoss = Atomic(false)

    /// - Parameters:
    ///   - bound: events that may wait.
    ///   - bytes: what the events that wait may weigh together.
    package init(bound: Int = 65_536, bytes: Int = .max) {
        // Bounded by ``put(_:bytes:)``: an alarm is never dropped, nor the one notice of a loss.
        (signals, input) = AsyncStream.makeStream()
        self.bound = bound
        byteBound = bytes
    }

    /// Events lost because the queue was full.
    package var dropped: Int { droppedEvents.load(ordering: .relaxed) }

    /// Adds an event; never blocks. One that is dropped wakes the reader.
    /// - Parameter bytes: what it weighs. One without weight is not dropped for that of others.
    package func put(_ event: Event, bytes: Int = 0) {
        let events = waitingEvents.add(1, ordering: .relaxed).newValue
        let waiting = waitingBytes.add(bytes, ordering: .relaxed).newValue
        if events <= bound, bytes == 0 || waiting <= byteBound,
            case .enqueued = input.yield(.event(event, bytes: bytes))
        {
            return
        }
        forget(bytes)
        droppedEvents.add(1, ordering: .relaxed)
        if !hasLoss.exchange(true, ordering: .acquiringAndReleasing) { input.yield(.loss) }
    }

    private func forget(_ bytes: Int) {
        waitingEvents.subtract(1, ordering: .relaxed)
        waitingBytes.subtract(bytes, ordering: .relaxed)
    }

    /// The reader of the queue. Make only one.
    package func reader() -> Reader { Reader(queue: self) }

    /// Takes events in order.
    package struct Reader {
        private let queue: EventQueue
        private var iterator: AsyncStream<Signal>.Iterator
        private var alarm: (number: Int, time: ContinuousClock.Instant, task: Task<Void, Never>?)?
        private var alarms = 0

        fileprivate init(queue: EventQueue) {
            self.queue = queue
            iterator = queue.signals.makeAsyncIterator()
        }

        /// The next event; nil after `deadline`, when events were dropped, or when the task is cancelled. Events that were queued before a deadline has
        /// passed, or before the call for one that is past, come first: a reader that is slow reads all the same.
        package mutating func next(until deadline: ContinuousClock.Instant?) async -> Event? {
            setAlarm(deadline)
            while let signal = await iterator.next(isolation: #isolation) {
                switch signal {
                case .event(let event, let bytes):
                    queue.forget(bytes)
                    return event
                case .alarm(let number) where number == alarm?.number:
                    alarm = nil
                    return nil
                case .alarm:
                    continue
                case .loss:
                    // What is dropped from here on is told anew.
                    _ = queue.hasLoss.exchange(false, ordering: .acquiringAndReleasing)
                    return nil
                }
            }
            cancelAlarm()
            return nil
        }

        package mutating func cancelAlarm() {
            alarm?.task?.cancel()
            alarm = nil
        }

        private mutating func setAlarm(_ deadline: ContinuousClock.Instant?) {
            guard alarm?.time != deadline else { return }
            cancelAlarm()
            guard let deadline else { return }
            alarms += 1
            let number = alarms
            let input = queue.input
            guard deadline > .now else {
                input.yield(.alarm(number))
                alarm = (number, deadline, nil)
                return
            }
            let task = Task {
                guard (try? await Task.sleep(until: deadline, clock: .continuous)) != nil else { return }
                input.yield(.alarm(number))
            }
            alarm = (number, deadline, task)
        }
    }
}
