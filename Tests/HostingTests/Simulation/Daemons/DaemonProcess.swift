import Hosting
import StrokeWire
import TestSupport
import Whiteboard

/// One run of a daemon, from its start until it ends or is killed: the real `RoomHost` and the real `Membership`, with a
/// clock of their own, between simulated streams and a simulated network.
final class DaemonProcess {
    let name: String
    let world: World
    let site: Site
    let clock: LocalClock
    private(set) var isAlive = true
    private(set) var isConnected = true
    private(set) var isStopped = false
    let buffer: SendBuffer
    /// How many connections it has lost.
    private(set) var losses = 0
    /// How many of these losses its host was told of: it publishes on no newer connection.
    private var known = 0
    /// Since when nothing has held it up.
    private(set) var freeSince: Moment
    private var backlog: [() -> Void] = []
    var membership: Membership
    lazy var keeper = Keeper(self)
    lazy var output = ProcessOutput(self)
    lazy var host = RoomHost(configuration: site.configuration, output: output, isOutputOpen: true)
    var works: [Int: PartitionWork] = [:]
    var clocks = ClockBook()
    var readings: [RoomID: Reading] = [:]
    var keptSamples: [KeptSample] = []
    var questions: [Question] = []
    private var hostAlarm: Moment?
    private var memberAlarm: Moment?

    init(_ name: String, world: World, site: Site) {
        self.name = name
        self.world = world
        self.site = site
        freeSince = world.now
        buffer = SendBuffer(world: world)
        clock = LocalClock(at: world.now, random: &world.random)
        membership = Membership(
            name: name, partitions: site.configuration.partitions, at: clock.time(at: world.now))
        world.note("\(name) starts")
        world.trouble()
        world.after(.zero) { [self] in post { self.step() } }
        reportCoverage()
    }

    var now: Instant { clock.time(at: world.now) }

    /// Whether anything comes to it or from it: a connection may be dead before anybody notices.
    var isReached: Bool { isConnected && !buffer.isStalled }

    /// Whether something can be published on the connection that the host knows.
    var canPublish: Bool { isConnected && known == losses }

    /// Finds out whether all that it has published until now has arrived.
    func confirm(_ answer: @escaping (Bool) -> Void) {
        let connection = losses
        guard canPublish else { return world.after(0...20) { [self] in post { answer(false) } } }
        buffer.send(
            { [self] in
                world.after(0...5) { [self] in post { [self] in answer(connection == losses && isConnected) } }
            },
            orLose: { [self] in world.after(0...20) { [self] in post { answer(false) } } })
    }

    /// Has something done on the process's thread: now, or when it is not stopped any more.
    func post(_ body: @escaping () -> Void) {
        guard isAlive else { return }
        guard !isStopped else { return backlog.append(body) }
        body()
        settle()
    }

    /// Carries out what has become due by what was done, and sets the alarms.
    private func settle() {
        bookKept()
        while let progress = output.takeProgress() {
            switch progress {
            case .ready(let partition): membership.opened(partition, at: now)
            case .closed(let partition):
                works[partition] = nil
                membership.closed(partition, at: now)
            }
            step()
        }
        answerQuestions()
        if let wake = host.nextWake {
            hostAlarm = alarm(wake, pending: hostAlarm) { [self] in
                hostAlarm = nil
                host.advance(to: now)
                if let wake = host.nextWake, wake <= now { report("wants to be woken again at once") }
            }
        }
    }

    /// Timers come late, never early.
    private func alarm(_ wake: Instant, pending: Moment?, _ action: @escaping () -> Void) -> Moment? {
        let at = clock.moment(of: wake)
        if let pending, pending <= at { return pending }
        let lateness = world.chance(20) ? 0...80 : 0...1
        world.at(at + world.random.milliseconds(lateness)) { [self] in post(action) }
        return at
    }

    /// What membership asks for.
    func step() {
        for action in membership.advance(to: now) {
            switch action {
            case .announce(let announcement): if isReached { site.wire.announce(announcement) }
            case .open(let partition): open(partition)
            case .close(let partition): close(partition)
            case .abandon(let partition): close(partition, discarding: true)
            }
        }
        memberAlarm = alarm(membership.nextWake, pending: memberAlarm) { [self] in
            memberAlarm = nil
            step()
        }
    }

    func report(_ text: String) { site.findings.report("\(name): \(text)", at: world.now) }

    // MARK: What befalls it

    /// All of its memory is gone.
    func crash() {
        guard isAlive else { return }
        world.note("\(name) is gone")
        world.trouble()
        isAlive = false
        isConnected = false
        buffer.lose()
        backlog = []
        for work in works.values { work.reader?.cancel() }
        works = [:]
    }

    /// Stands still, as after SIGSTOP, and then goes on with what has come meanwhile.
    func stop(for duration: Duration) {
        guard isAlive, !isStopped else { return }
        world.note("\(name) stands still for \(duration)")
        world.trouble(for: duration)
        isStopped = true
        world.after(duration) { [self] in
            guard isAlive else { return }
            world.note("\(name) goes on")
            isStopped = false
            freeSince = world.now
            let waiting = backlog
            backlog = []
            for body in waiting { post(body) }
        }
    }

    func disconnect(for duration: Duration) {
        guard isAlive, isReached else { return }
        // Nobody notices before the server has left a PING unanswered.
        let unnoticed = world.chance(300) ? Duration.zero : world.random.milliseconds(0...2500)
        world.note("\(name) has no connection for \(duration), and knows it in \(unnoticed)")
        world.trouble(for: unnoticed + duration)
        buffer.stall()
        for work in works.values { work.reader?.isConnected = false }
        world.after(unnoticed) { [self] in
            guard isAlive else { return }
            losses += 1
            buffer.lose()
            setConnected(false)
        }
        world.after(unnoticed + duration) { [self] in
            guard isAlive else { return }
            world.note("\(name) has its connection back")
            setConnected(true)
        }
    }

    private func setConnected(_ isOpen: Bool) {
        isConnected = isOpen
        freeSince = world.now
        for work in works.values { work.reader?.isConnected = isOpen }
        post { [self] in
            if isOpen, known != losses {
                known = losses
                host.setOutput(isOpen: false, at: now)
            }
            host.setOutput(isOpen: isOpen, at: now)
        }
        if isOpen { for (_, work) in works.sorted(by: { $0.key < $1.key }) { work.reader?.goOn() } }
    }

    /// Hands over what it has, saves the rest, and ends.
    func leave() {
        guard isAlive else { return }
        world.note("\(name) leaves")
        world.trouble()
        post { [self] in
            membership.leave(at: now)
            step()
        }
        let drainTimeout = Duration.seconds(10)
        let wait = membership.hasSuccessor ? drainTimeout : .zero
        end(by: world.now + wait) { [self] in
            post { [self] in for partition in works.keys.sorted() { close(partition) } }
            end(by: world.now + drainTimeout) { [self] in crash() }
        }
    }

    /// Waits until everything is let go of, but not for ever.
    private func end(by last: Moment, then: @escaping () -> Void) {
        guard isAlive else { return }
        if works.isEmpty || world.now >= last { return then() }
        world.after(.milliseconds(50)) { [self] in end(by: last, then: then) }
    }
}
