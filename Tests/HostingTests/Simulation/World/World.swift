import HeapModule
import TestSupport

/// Time, chance, and what is going to happen: one seed makes one history.
final class World {
    private struct Event: Comparable {
        let at: Moment
        /// What falls together happens in an order that the seed chooses.
        let tie: UInt64
        let action: () -> Void

        static func < (a: Event, b: Event) -> Bool { (a.at, a.tie) < (b.at, b.tie) }
        static func == (a: Event, b: Event) -> Bool { (a.at, a.tie) == (b.at, b.tie) }
    }

    private(set) var now = Moment(nanoseconds: 0)
    var random: SeededGenerator
    let trace: Trace
    private var events = Heap<Event>()
    private var troubles: [(from: Moment, to: Moment)] = []

    init(seed: UInt64, isTraced: Bool) {
        random = SeededGenerator(seed: seed)
        trace = Trace(isOn: isTraced)
    }

    func at(_ moment: Moment, _ action: @escaping () -> Void) {
        events.insert(Event(at: max(now, moment), tie: random.next(), action: action))
    }

    func after(_ duration: Duration, _ action: @escaping () -> Void) { at(now + duration, action) }

    /// After so many milliseconds, as chance has it.
    func after(_ milliseconds: ClosedRange<Int>, _ action: @escaping () -> Void) {
        after(random.milliseconds(milliseconds), action)
    }

    func chance(_ thousandths: Int) -> Bool { random.chance(thousandths, in: 1000) }

    /// Lets everything happen until then.
    func run(until end: Moment) {
        while let next = events.min, next.at <= end {
            events.removeMin()
            now = next.at
            next.action()
        }
        now = end
    }

    /// Something goes wrong, for so long.
    func trouble(for duration: Duration = .zero) { troubles.append((now, now + duration)) }

    /// The last moment until then at which something was going wrong.
    func lastTrouble(until moment: Moment) -> Moment {
        troubles.filter { $0.from <= moment }.map { min($0.to, moment) }.max() ?? Moment(nanoseconds: 0)
    }

    func note(_ text: @autoclosure () -> String) { trace.note(text(), at: now) }
}
