import Synchronization
import TestSupport
import Whiteboard

/// An ordered consumer of one partition's log, as one process has it: record after record, with delays, pauses where it
/// has to be made anew, and barriers that have to be passed.
final class SimulatedReader {
    enum Event {
        case logClock(ahead: Duration)
        case record(JournalRecord)
        case barrier(pass: @Sendable () -> Void)
        case caughtUp
    }

    private final class Gate: Sendable {
        let isOpen = Atomic<Bool>(false)
    }

    private let log: SimulatedLog
    private let world: World
    private let clock: LocalClock
    private let deliver: (Event) -> Void
    /// The log's end when reading began.
    private let end: UInt64
    /// The last record delivered.
    private(set) var position: UInt64
    private var told: Duration?
    private var isCaughtUp = false
    private var isScheduled = false
    private var isEnded = false
    private var barrier: Gate?
    var isConnected = true

    init(
        _ log: SimulatedLog, from sequence: UInt64, world: World, clock: LocalClock, deliver: @escaping (Event) -> Void
    ) {
        self.log = log
        self.world = world
        self.clock = clock
        self.deliver = deliver
        position = sequence - 1
        end = log.last
        log.follow { [weak self] in self?.goOn() }
        goOn()
    }

    func cancel() { isEnded = true }

    /// Reads on after a while, unless that is going to happen already.
    func goOn() {
        guard !isScheduled, !isEnded, !isCaughtUp || position < log.last else { return }
        isScheduled = true
        let isNew = world.chance(8)
        world.after(isNew ? 100...1500 : isCaughtUp ? 0...4 : 0...1) { [weak self] in
            self?.isScheduled = false
            self?.read()
        }
    }

    private func read() {
        guard isConnected, !isEnded else { return }
        tellClock()
        // While there is more than a little to read, it comes in batches.
        for _ in 0..<world.random.int(1...16) where position < log.last && !isHeld {
            position += 1
            deliver(.record(log.record(position)))
            if world.chance(60) { setBarrier() }
        }
        if position >= end, !isCaughtUp {
            isCaughtUp = true
            deliver(.caughtUp)
        }
        goOn()
    }

    private var isHeld: Bool {
        if barrier?.isOpen.load(ordering: .relaxed) ?? true { barrier = nil }
        return barrier != nil
    }

    private func setBarrier() {
        let gate = Gate()
        barrier = gate
        deliver(.barrier { gate.isOpen.store(true, ordering: .relaxed) })
    }

    /// The difference of the clocks is known to within some milliseconds, and said again when it has changed.
    private func tellClock() {
        let ahead = log.serverTime - clock.time(at: world.now)
        if let told, abs((ahead - told).wholeNanoseconds) < 20_000_000 { return }
        let estimate = ahead + world.random.milliseconds(-8...8)
        told = estimate
        deliver(.logClock(ahead: estimate))
    }
}
