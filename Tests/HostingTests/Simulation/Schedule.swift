import Hosting
import StrokeWire
import TestSupport
import Whiteboard

/// The history of one seed: a school at work while its daemons, streams and networks fail.
struct Schedule {
    private let world: World
    private let plan: Plan
    private let cluster: Cluster

    init(seed: UInt64, isTraced: Bool = false, fault: Fault? = nil) {
        world = World(seed: seed, isTraced: isTraced)
        plan = Plan(&world.random)
        cluster = Cluster(world: world, plan: plan, fault: fault)
    }

    /// Runs to the end.
    /// - Returns: the findings: what is not as it must be.
    func run() -> [String] {
        world.note("\(plan)")
        for room in plan.rooms { addClass(in: room) }
        for number in 0..<plan.daemons { addDaemon("daemon-\(number)") }
        addStreamFaults()
        world.run(until: plan.end)
        let verdict = Verdict(cluster: cluster, students: cluster.network.students, rooms: plan.rooms)
        verdict.check()
        defer { (cluster.network.processes, cluster.network.students, cluster.network.teachers) = ([], [], []) }
        return world.findings
    }

    /// A class in a room: teachers, the video as each cohort sees it, students who come and go.
    private func addClass(in room: RoomID) {
        let encoder = video()
        let teachers = world.random.int(1...3)
        for number in 0..<teachers {
            guard let author = AuthorID("teacher-\(number)") else { continue }
            let teacher = Teacher(
                room: room, id: author, encoder: encoder, cluster: cluster, penRest: plan.end + .seconds(-20))
            teacher.write(world.random.int(3...30), from: moment(0...6000))
            cluster.network.teachers.append(teacher)
            world.at(plan.end + .seconds(-14)) { teacher.stop() }
        }
        if world.chance(400) { muteSome(of: teachers, in: room) }
        for (cohort, delay) in zip(plan.cohorts, plan.delays) {
            let player = Player(
                room: room, cohort: cohort, encoder: encoder, delay: delay, plan: plan,
                world: world, network: cluster.network)
            player.play(from: moment(0...3000), until: plan.end)
            disturb(player)
            for number in 0..<world.random.int(1...2) { addStudent("student-\(number)", room, cohort) }
        }
        if plan.closesRooms, world.chance(300) { world.at(momentOfFault()) { decide(.close, room) } }
        if plan.closesRooms, !plan.movesRooms, world.chance(300) { world.at(momentOfFault()) { erase(room) } }
    }

    private func video() -> Encoder {
        let from = momentOfFault()
        let pauses = world.chance(400) ? [(from: from, to: from + world.random.milliseconds(300...4000))] : []
        let restarts = world.chance(400) && (plan.namesSessions || plan.restartsUnnamed) ? [momentOfFault()] : []
        // Without names a restart is one that leads far back.
        let least = plan.restartsUnnamed ? 30_000 : 0
        return Encoder(media: Int64(world.random.int(least...100_000)), pauses: pauses, restarts: restarts)
    }

    private func disturb(_ player: Player) {
        if world.chance(300) { world.at(momentOfFault()) { player.stall(for: world.random.milliseconds(200...5000)) } }
        // A jump over a restart would be another.
        if !plan.restartsUnnamed, world.chance(300) {
            // Without names a longer way back would be a new session.
            let back = plan.namesSessions ? 6000 : 2000
            world.at(momentOfFault()) { player.jump(by: world.random.milliseconds(-back...6000)) }
        }
    }

    private func addStudent(_ name: String, _ room: RoomID, _ cohort: CohortName) {
        let student = Student(name, room: room, cohort: cohort, world: world, network: cluster.network)
        cluster.network.students.append(student)
        world.at(moment(0...20_000)) { student.join() }
        if world.chance(500) {
            world.at(momentOfFault()) { student.disconnect(for: world.random.milliseconds(100...6000)) }
        }
    }

    /// Mutes authors, one that never writes among them, some for ever.
    private func muteSome(of teachers: Int, in room: RoomID) {
        for _ in 0..<world.random.int(1...3) {
            guard let author = AuthorID("teacher-\(world.random.int(0...teachers))") else { continue }
            let from = momentOfFault()
            world.at(from) { decide(.mute(author), room) }
            guard world.chance(700) else { continue }
            world.at(from + world.random.milliseconds(100...8000)) { decide(.unmute(author), room) }
        }
    }

    private func decide(_ record: ControlRecord, _ room: RoomID) {
        world.note("\(room): \(record)")
        cluster.log(of: room).take(.control(record), of: room, id: nil)
    }

    private func erase(_ room: RoomID) {
        decide(.erase, room)
        deleteErased(room)
    }

    /// Deletes what is stored of an erased room when its end is saved, and all before it of the partition.
    private func deleteErased(_ room: RoomID) {
        world.after(200...1200) {
            let partition = cluster.partition(of: room)
            let (log, checkpoints) = (cluster.logs[partition], cluster.checkpoints[partition])
            guard let end = log.erasure(of: room), let saved = checkpoints.newest(of: room)?.sequence,
                saved >= end, checkpoints.catalogue().covered >= end
            else { return deleteErased(room) }
            world.note("what is stored of \(room) before \(end) is deleted")
            log.delete(through: end - 1, of: room)
            checkpoints.delete(room, before: end)
        }
    }

    private func addDaemon(_ name: String) {
        world.at(moment(0...4000)) { keepRunning(name) }
        for _ in 0..<world.random.int(0...3) {
            world.at(momentOfFault()) {
                if let process = running(name) { breakDown(process) }
            }
        }
    }

    private func running(_ name: String) -> DaemonProcess? {
        cluster.network.processes.last { $0.name == name && $0.isAlive }
    }

    private func start(_ name: String) {
        guard running(name) == nil, !cluster.isResting else { return }
        cluster.network.processes.append(DaemonProcess(name, world: world, cluster: cluster))
    }

    private func breakDown(_ process: DaemonProcess) {
        switch world.random.int(0...9) {
        case 0...3: process.crash()
        case 4...5: process.stop(for: world.random.milliseconds(100...30_000))
        case 6...7: process.disconnect(for: world.random.milliseconds(50...6000))
        default: process.leave()
        }
    }

    /// The supervisor restarts a daemon some time after its end.
    private func keepRunning(_ name: String) {
        start(name)
        world.after(300...8000) { keepRunning(name) }
    }

    /// All daemons end, the rooms are moved to another number of partitions, and the daemons start again.
    private func moveRooms() {
        // What daemons have sent arrives.
        rest(400...400) { cluster.moveRooms() }
    }

    /// All daemons end, and records that are sent until they start again expire before anybody reads them. Nothing
    /// else is lost, and the rooms go on without them. What somebody has read and no checkpoint holds does not expire:
    /// some would have it, others not.
    private func expireRecords() {
        rest(400...6000) {
            for (log, checkpoints) in zip(cluster.logs, cluster.checkpoints) {
                let covered = checkpoints.catalogue().covered
                let isAllSaved = log.readThrough <= covered && covered <= log.last
                let end = isAllSaved ? UInt64(world.random.int(Int(covered)...Int(log.last))) : covered
                world.note("records of log \(log.partition) expire through \(end)")
                log.expire(through: end)
            }
        }
    }

    /// All daemons end, and start again after something else.
    private func rest(_ milliseconds: ClosedRange<Int>, then body: @escaping () -> Void) {
        cluster.isResting = true
        for process in cluster.network.processes { process.leave() }
        world.after(.seconds(4)) {
            for process in cluster.network.processes { process.crash() }
            world.after(milliseconds) {
                body()
                cluster.isResting = false
            }
        }
    }

    /// Logs lose their leader and records, checkpoints are damaged, rooms are moved.
    private func addStreamFaults() {
        if plan.movesRooms { world.at(momentOfFault()) { moveRooms() } }
        if plan.expiresRecords { world.at(momentOfFault()) { expireRecords() } }
        for log in cluster.logs where world.chance(250) {
            world.at(momentOfFault()) { log.loseLeader(for: world.random.milliseconds(500...6000)) }
        }
        if plan.trimsLogs { for log in cluster.logs { trim(log) } }
        // The end of a room goes to the cohorts that the room knows, and a damaged checkpoint may lack some.
        let needsLogs = !plan.trimsLogs && !plan.expiresRecords
        for checkpoints in cluster.checkpoints where !plan.closesRooms && needsLogs && world.chance(500) {
            world.at(momentOfFault()) {
                guard let room = checkpoints.rooms.randomElement(using: &world.random) else { return }
                world.note("the newest checkpoint of \(room) goes bad")
                checkpoints.damage(room, isManifest: world.chance(500))
                cluster.ledger.spoil([room])
            }
            if world.chance(300) { world.at(momentOfFault()) { cluster.ledger.spoil(checkpoints.damageRecord()) } }
        }
    }

    /// A log is nearly full: daemons delete the records that checkpoints hold, again and again.
    private func trim(_ log: SimulatedLog) {
        world.after(300...3000) {
            let covered = cluster.checkpoints[log.partition].catalogue().covered
            world.note("log \(log.partition) is trimmed through \(covered)")
            log.delete(through: covered)
            trim(log)
        }
    }

    private func moment(_ milliseconds: ClosedRange<Int>) -> Moment {
        Moment(nanoseconds: 0) + world.random.milliseconds(milliseconds)
    }

    /// Before the calm, after which nothing fails.
    private func momentOfFault() -> Moment { moment(500...Int(plan.calm.nanoseconds / 1_000_000)) }
}

/// What all daemons of a schedule share: streams, network, checks.
final class Cluster {
    let world: World
    let plan: Plan
    private(set) var logs: [SimulatedLog]
    private(set) var checkpoints: [SimulatedCheckpoints]
    /// Whether no daemon may start.
    var isResting = false
    let network: SimulatedNetwork
    let fault: Fault?
    let ledger: Ledger
    let wet: WetLedger
    /// A cohort in a life of its room, counted from 0.
    struct Listening: Hashable {
        let room: RoomID
        let life: Int
        let cohort: CohortName
    }

    /// The greatest media time of each cohort that a process has heard, in nanoseconds.
    private var heard: [String: Int64] = [:]
    /// When a process first heard a cohort's clock.
    private(set) var heardSince: [Listening: Moment] = [:]

    init(world: World, plan: Plan, fault: Fault?) {
        (self.fault, self.world, self.plan) = (fault, world, plan)
        logs = (0..<plan.partitions).map { SimulatedLog(partition: $0, prefix: "log\($0)", world: world) }
        checkpoints = (0..<plan.partitions).map { _ in SimulatedCheckpoints() }
        network = SimulatedNetwork(world: world)
        ledger = Ledger(world: world)
        wet = WetLedger(plan: plan, world: world)
    }

    var configuration: HostConfiguration { plan.configuration(partitions: logs.count) }
    func partition(of room: RoomID) -> Int { RoomAddress.partition(of: room, among: logs.count) }
    func log(of room: RoomID) -> SimulatedLog { logs[partition(of: room)] }

    /// Moves all rooms to another number of partitions; no daemon runs.
    func moveRooms() {
        var repartition = Repartition(to: 3 - logs.count, world: world)
        for (log, stored) in zip(logs, checkpoints) {
            _ = ledger.open(log.partition, stored.catalogue())
            repartition.move(log, stored)
        }
        repartition.end()
        (logs, checkpoints) = (repartition.logs, repartition.checkpoints)
        // Their sequences are others now.
        ledger.spoil(plan.rooms)
        world.note("the rooms are in \(logs.count) partitions")
    }

    /// A process hears a sample.
    /// - Returns: the greatest media time before it, in nanoseconds; nil for none.
    func hear(_ sample: ClockSample, of room: RoomID, _ cohort: CohortName, life: Int) -> Int64? {
        let listening = Listening(room: room, life: life, cohort: cohort)
        heardSince[listening] = heardSince[listening] ?? world.now
        let media = sample.media.microseconds * 1000
        let before = heard.updateValue(media, forKey: "\(room) \(cohort)")
        if let before, before > media { heard["\(room) \(cohort)"] = before }
        return before
    }
}

/// Faults of a daemon that the checks must find.
enum Fault: String, CaseIterable {
    /// Every eighth release goes nowhere.
    case losesReleases
    /// No rejection is published.
    case losesAnswers
    /// Cursors in checkpoints are ahead of what was released.
    case overstatesCursors
    /// A record has the notes of its second alone.
    case forgetsNotes
    /// Releases count before the server confirms them.
    case savesUnconfirmed
    /// After a lost connection, unconfirmed messages are not published again.
    case forgetsUnconfirmed
    /// The checkpoints count for more records than they hold.
    case overstatesCoverage
    /// A gap is given up as soon as its author is told of it.
    case givesUpEarly
    /// Gaps are given up by what was read of the log before an interruption.
    case decidesBehind
    /// Records that were deleted before they were read are passed over.
    case passesOverDeletions
    /// A partition whose log lacks records is opened again and again.
    case refusesGaps
    /// Decisions reach the log seconds late.
    case decidesLate
    /// The video is taken to be half a second ahead of its clock samples.
    case aheadOfVideo
    /// Pauses and stalls count as waiting.
    case waitsInPauses
    /// Points of growing strokes are published twice.
    case repeatsPoints
    /// Nobody is told to forget a stroke.
    case forgetsStrokes
}
