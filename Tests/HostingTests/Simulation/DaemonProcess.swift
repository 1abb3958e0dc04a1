import StrokeWire
import TestSupport
import Whiteboard

@testable import Hosting

/// One run of a daemon until it ends or is killed: the product's `RoomHost` and `Membership` with a clock of their own,
/// between simulated streams and a simulated network.
final class DaemonProcess {
    let name: String
    let world: World
    let cluster: Cluster
    let clock: LocalClock
    private(set) var isAlive = true
    private(set) var isConnected = true
    private(set) var isStopped = false
    let buffer: SendBuffer
    /// Number of connections lost.
    private var losses = 0
    /// How many of these losses its host knows of: it does not publish on a newer connection.
    private var known = 0
    /// Since when it has been running with a connection.
    private(set) var freeSince: Moment
    /// Since when it has had the connection that it has.
    private var connectedSince: Moment
    private var backlog: [() -> Void] = []
    private var membership: Membership
    private(set) lazy var keeper = SimulatedKeeper(self)
    private lazy var output = ProcessOutput(self)
    private(set) lazy var host = RoomHost(configuration: cluster.configuration, output: output, isOutputOpen: true)
    private(set) var works: [Int: PartitionWork] = [:]
    private(set) lazy var clocks = KnownClocks(self)
    private var questions: [Question] = []
    /// Up to where the checkpoints of a partition were when it was reopened, because records were missing.
    private var reopened: [Int: UInt64] = [:]
    private var hostAlarm, memberAlarm: Moment?

    init(_ name: String, world: World, cluster: Cluster) {
        (self.name, self.world, self.cluster) = (name, world, cluster)
        (freeSince, connectedSince) = (world.now, world.now)
        buffer = SendBuffer(world: world)
        clock = LocalClock(at: world.now, random: &world.random)
        membership = Membership(name: name, partitions: cluster.configuration.partitions, at: clock.time(at: world.now))
        world.note("\(name) starts")
        world.trouble()
        world.after(.zero) { [self] in post { self.step() } }
        reportCoverage()
    }

    var now: Instant { clock.time(at: world.now) }

    /// Since when it releases what is due of a partition.
    func releasesSince(of partition: Int) -> Moment { max(connectedSince, works[partition]?.caughtUpAt ?? world.now) }

    /// Whether messages get through: a connection may be dead before the process notices.
    var isReached: Bool { isConnected && !buffer.isStalled }

    /// Whether something can be published on the connection that the host knows.
    var canPublish: Bool { isConnected && known == losses }

    /// Asks whether everything published until now has arrived.
    func confirm(_ answer: @escaping (Bool) -> Void) {
        let connection = losses
        guard canPublish else { return world.after(0...20) { [self] in post { answer(false) } } }
        buffer.send(
            { [self] in
                world.after(0...5) { [self] in post { [self] in answer(connection == losses && isConnected) } }
            },
            orLose: { [self] in world.after(0...20) { [self] in post { answer(false) } } })
    }

    /// Runs a body on the process's thread: now, or when the process continues.
    func post(_ body: @escaping () -> Void) {
        guard isAlive else { return }
        guard !isStopped else { return backlog.append(body) }
        body()
        settle()
    }

    /// Carries out what the last call has made due, and sets the alarms.
    private func settle() {
        while let progress = output.takeProgress() {
            switch progress {
            case .ready(let partition): membership.opened(partition, at: now)
            case .closed(let partition, let isWhole):
                if let work = works.removeValue(forKey: partition), isWhole {
                    keeper.note(covered: work.delivered, of: partition)
                    keeper.foldNotes(of: partition, after: .zero)
                }
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

    /// Timers fire late, never early.
    private func alarm(_ wake: Instant, pending: Moment?, _ action: @escaping () -> Void) -> Moment? {
        let at = clock.moment(of: wake)
        if let pending, pending <= at { return pending }
        let lateness = world.chance(20) ? 0...80 : 0...1
        world.at(at + world.random.milliseconds(lateness)) { [self] in post(action) }
        return at
    }

    /// Carries out what membership asks for.
    private func step() {
        for action in membership.advance(to: now) {
            switch action {
            case .announce(let announcement): if isReached { cluster.network.announce(announcement) }
            case .open(let partition): open(partition)
            case .close(let partition): close(partition)
            case .abandon(let partition): close(partition, saving: .nothing)
            }
        }
        memberAlarm = alarm(membership.nextWake, pending: memberAlarm) { [self] in
            memberAlarm = nil
            step()
        }
    }

    func report(_ text: String) { world.report("\(name): \(text)") }
}

/// What comes to a process over core NATS.
extension DaemonProcess {
    /// A student's join that waits for its room to come into memory.
    private struct Question {
        let room: RoomID
        let cohort: CohortName
        let request: JoinRequest
        let answer: (CatchUp) -> Void
    }

    func hear(_ announcement: Announcement) {
        post { [self] in
            _ = membership.receive(announcement, at: now)
            step()
        }
    }

    func hear(_ sample: [UInt8], of room: RoomID, _ cohort: CohortName) {
        post { [self] in
            // The sample may release operations at once, so it is noted before the host gets it.
            let known = listeningRoom(room)
            world.note("\(name) hears \(String(decoding: sample, as: UTF8.self)) of \(room) \(cohort)")
            let logged = clocks.loggedSession(of: room)
            if let known { clocks.receive(sample, of: known, cohort, logged) }
            let incoming = IncomingSample(
                room: room, partition: cluster.partition(of: room), cohort: cohort,
                bytes: faulty(sample), arrivedAt: now)
            host.sample(incoming, at: now)
            if known == nil, let made = listeningRoom(room) { clocks.receive(sample, of: made, cohort, logged) }
        }
    }

    func hear(_ update: [UInt8], of room: RoomID, by author: AuthorID, _ session: String?) {
        post { [self] in
            cluster.wet.hear(update, of: room, by: author, session, process: self)
            host.draw(
                IncomingWetUpdate(
                    room: room, partition: cluster.partition(of: room), author: author, session: session,
                    bytes: update), at: now)
        }
    }

    private func faulty(_ bytes: [UInt8]) -> [UInt8] {
        guard var sample = try? ClockSample(decoding: bytes) else { return bytes }
        switch cluster.fault {
        case .aheadOfVideo: sample.media = sample.media + 500_000
        case .waitsInPauses where sample.state != .play: (sample.state, sample.rate) = (.play, 0)
        default: return bytes
        }
        return sample.encoded()
    }

    /// The room, where it is in memory or being loaded, and takes clock samples.
    private func listeningRoom(_ room: RoomID) -> HostedRoom? {
        guard let work = works[cluster.partition(of: room)], work.isCaughtUp, !work.isClosing else { return nil }
        return host.rooms[room]
    }

    func hear(_ request: JoinRequest, of room: RoomID, _ cohort: CohortName, answer: @escaping (CatchUp) -> Void) {
        post { [self] in reply(to: Question(room: room, cohort: cohort, request: request, answer: answer)) }
    }

    private func answerQuestions() {
        guard !questions.isEmpty, output.takeOpened() else { return }
        let waiting = questions
        questions = []
        for question in waiting { reply(to: question) }
    }

    private func reply(to question: Question) {
        let assignment = membership.assignment
        guard assignment.isValid(at: now), assignment.answers(cluster.partition(of: question.room)) else { return }
        switch host.look(for: question.room, partition: cluster.partition(of: question.room), at: now) {
        case .here(let hosted):
            let isCurrent = host.isCurrent(hosted, at: now)
            if let found = hosted.room?.catchUp(question.request, cohort: question.cohort, isCurrent: isCurrent) {
                question.answer(found)
            }
        case .absent:
            let blank = Room(configuration: cluster.configuration.room, at: now)
            if let found = blank.catchUp(question.request, cohort: question.cohort) { question.answer(found) }
        case .waking, .recovering, .full, .elsewhere: questions.append(question)
        }
    }
}

extension DaemonProcess {
    private func open(_ partition: Int) {
        let work = PartitionWork(partition, of: self)
        works[partition] = work
        work.readCatalogue()
    }

    private func close(_ partition: Int, saving: ClosingSave = .unsaved) {
        works[partition]?.close(saving: saving)
    }

    /// Opens a partition again of which the log lacks records: newer checkpoints hold them, or they are of a room that was
    /// erased, and then opening it once more with the same checkpoints changes nothing.
    func reopen(_ partition: Int, covered: UInt64) {
        let isFirst = reopened.updateValue(covered, forKey: partition) != covered
        if isFirst || cluster.fault == .refusesGaps { close(partition, saving: .nothing) }
    }

    /// Updates every second through which record the checkpoints of each partition hold everything.
    private func reportCoverage() {
        world.after(1000...1100) { [self] in
            guard isAlive else { return }
            post { [self] in
                for (partition, work) in works where work.reader != nil && !work.isClosing {
                    guard membership.serving.contains(partition) else { continue }
                    let covered =
                        cluster.fault == .overstatesCoverage
                        ? work.delivered : host.covered(of: partition, through: work.delivered)
                    keeper.note(covered: covered, of: partition)
                    keeper.foldNotes(of: partition, after: .seconds(8))
                }
            }
            reportCoverage()
        }
    }
}

/// Faults, and the end.
extension DaemonProcess {
    /// SIGKILL: its memory is gone.
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

    /// SIGSTOP, and SIGCONT later: it then handles what has come meanwhile.
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
        // The client notices when the server leaves a PING unanswered.
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
        for (_, work) in works.sorted(by: { $0.key < $1.key }) {
            work.reader?.isConnected = isOpen
            if !isOpen { work.reader?.interrupt() }
        }
        post { [self] in
            if isOpen, known != losses {
                known = losses
                closeOutput()
            }
            if isOpen {
                connectedSince = world.now
                clocks.forgetEarly()
                host.setOutput(isOpen: true, at: now)
            } else {
                closeOutput()
            }
        }
        if isOpen { for (_, work) in works.sorted(by: { $0.key < $1.key }) { work.reader?.goOn() } }
    }

    private func closeOutput() {
        cluster.ledger.lose(self)
        cluster.wet.lose(self)
        host.setOutput(isOpen: false, at: now)
    }

    /// SIGTERM: hands its partitions over, saves the rest, and ends.
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

    /// Waits until all partitions are closed, or until `last`.
    private func end(by last: Moment, then: @escaping () -> Void) {
        guard isAlive else { return }
        if works.isEmpty || world.now >= last { return then() }
        world.after(.milliseconds(50)) { [self] in end(by: last, then: then) }
    }
}
