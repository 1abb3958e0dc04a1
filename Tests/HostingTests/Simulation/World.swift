import HeapModule
import TestSupport
import Whiteboard

/// Virtual time, random choices and the events to come: one seed makes one history.
final class World {
    private struct Event: Comparable {
        let at: Moment
        /// The seed chooses the order of simultaneous events.
        let tie: UInt64
        let action: () -> Void

        static func < (a: Event, b: Event) -> Bool { (a.at, a.tie) < (b.at, b.tie) }
        static func == (a: Event, b: Event) -> Bool { (a.at, a.tie) == (b.at, b.tie) }
    }

    private(set) var now = Moment(nanoseconds: 0)
    var random: SeededGenerator
    let trace: Trace
    /// What the checks have found.
    private(set) var findings: [String] = []
    private var events = Heap<Event>()
    private var troubles: [(from: Moment, to: Moment)] = []
    private var identified: [ObjectIdentifier: AnyObject] = [:]

    init(seed: UInt64, isTraced: Bool) {
        random = SeededGenerator(seed: seed)
        trace = Trace(isOn: isTraced)
    }

    func at(_ moment: Moment, _ action: @escaping () -> Void) {
        events.insert(Event(at: max(now, moment), tie: random.next(), action: action))
    }

    func after(_ duration: Duration, _ action: @escaping () -> Void) { at(now + duration, action) }

    /// After a random number of milliseconds.
    func after(_ milliseconds: ClosedRange<Int>, _ action: @escaping () -> Void) {
        after(random.milliseconds(milliseconds), action)
    }

    func chance(_ thousandths: Int) -> Bool { random.chance(thousandths, in: 1000) }

    /// Runs all events until then.
    func run(until end: Moment) {
        while let next = events.min, next.at <= end {
            events.removeMin()
            now = next.at
            next.action()
        }
        now = end
    }

    /// Names an object, and keeps it, so that no later one has the same name.
    func identity(of object: AnyObject) -> ObjectIdentifier {
        identified[ObjectIdentifier(object)] = object
        return ObjectIdentifier(object)
    }

    /// Notes a fault that begins now, and how long it lasts.
    func trouble(for duration: Duration = .zero) { troubles.append((now, now + duration)) }

    /// The last moment of a fault until then.
    func lastTrouble(until moment: Moment) -> Moment {
        troubles.filter { $0.from <= moment }.map { min($0.to, moment) }.max() ?? Moment(nanoseconds: 0)
    }

    func note(_ text: @autoclosure () -> String) { trace.note(text(), at: now) }

    func report(_ text: String) {
        note("!!! \(text)")
        if findings.count < 10 { findings.append(text) }
    }
}

/// A moment of virtual time, in nanoseconds from the start. Daemons and servers have clocks of their own instead.
struct Moment: Comparable, Hashable {
    let nanoseconds: Int64

    /// For models that know no other clock.
    var instant: Instant { Instant(nanoseconds: nanoseconds) }

    static func < (earlier: Moment, later: Moment) -> Bool { earlier.nanoseconds < later.nanoseconds }
    static func + (moment: Moment, duration: Duration) -> Moment {
        Moment(nanoseconds: moment.nanoseconds + duration.nanoseconds)
    }
    static func - (later: Moment, earlier: Moment) -> Duration { .nanoseconds(later.nanoseconds - earlier.nanoseconds) }
}

/// A monotonic clock with a random origin that runs a little fast or slow.
struct LocalClock {
    private let origin: Int64
    private let began: Moment
    /// In millionths.
    private let drift: Int64

    init(at now: Moment, random: inout SeededGenerator) {
        began = now
        origin = Int64(random.int(1_000...1_000_000)) * 1_000_000_000
        drift = Int64(random.int(-200...200))
    }

    func time(at moment: Moment) -> Instant {
        let elapsed = moment.nanoseconds - began.nanoseconds
        return Instant(nanoseconds: origin + elapsed + elapsed * drift / 1_000_000)
    }

    /// The first moment at which the clock shows `time` or more.
    func moment(of time: Instant) -> Moment {
        let shown = time.nanoseconds - origin
        var elapsed = shown - shown * drift / 1_000_000
        while self.time(at: Moment(nanoseconds: began.nanoseconds + elapsed)) < time { elapsed += 1000 }
        return Moment(nanoseconds: began.nanoseconds + elapsed)
    }
}

/// Prints what happens when one schedule is replayed.
final class Trace {
    let isOn: Bool

    init(isOn: Bool) {
        self.isOn = isOn
    }

    func note(_ text: @autoclosure () -> String, at now: Moment) {
        guard isOn else { return }
        let microseconds = now.nanoseconds / 1000
        let fraction = String(1_000_000 + microseconds % 1_000_000).dropFirst()
        print("\(microseconds / 1_000_000).\(fraction)  \(text())")
    }
}
