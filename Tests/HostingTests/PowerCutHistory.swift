import StrokeWire
import TestSupport
import Whiteboard

@testable import Hosting

/// A log and its checkpoints, and the daemon that works on them: the product's `RoomHost`, and its rules of what is saved,
/// noticed and restored. Each stroke has an author of its own.
final class PowerCutHistory {
    enum Fault: CaseIterable {
        /// Nobody looks whether the log has lost its end.
        case passesOverLosses
        /// A state is not given what the log has had since it was cut.
        case losesTail
        /// What was in memory is not saved.
        case forgetsMemory
        /// A repair does not count, so that the incarnation stays.
        case keepsIncarnation
        /// Who has more than the room keeps it.
        case keepsLostBoards
    }

    private static let rooms = [RoomID.algebra, .botany, .chemistry]

    private var random: SeededGenerator
    private let fault: Fault?
    private var now = Instant(nanoseconds: 1_000_000_000_000)
    private var log: [JournalRecord] = []
    private var checkpoints = PowerCutCheckpoints()
    private var strokes = 0
    /// Where the log had the stroke of each author.
    private var sequences: [AuthorID: UInt64] = [:]
    private var host: RoomHost<PowerCutOutput>?
    private var output = PowerCutOutput()
    private var manifests: [RoomID: CheckpointManifest] = [:]
    private var delivered: UInt64 = 0
    private var covered: (through: UInt64, rewinds: Int) = (0, 0)
    private var students = PowerCutStudents()
    /// The author of the stroke at each index of each incarnation, as students were told.
    private var told: [String: [UInt64: AuthorID]] = [:]
    private var findings: [String] = []

    init(seed: UInt64, fault: Fault? = nil) {
        random = SeededGenerator(seed: seed)
        self.fault = fault
    }

    /// - Returns: what is not as it must be.
    func run() -> [String] {
        open()
        for _ in 0..<random.int(20...80) where findings.isEmpty {
            switch random.int(0...19) {
            case 0...11: for _ in 0..<random.int(1...6) { write() }
            case 12...14: wait(random.milliseconds(10...2000))
            case 15: wait(.seconds(35))
            case 16: noteCoverage()
            case 17:
                host = nil
                open()
            default: cutPower()
            }
        }
        checkStudents()
        return findings
    }

    /// A stroke, which nobody reads while no daemon runs.
    private func write() {
        strokes += 1
        guard let author = AuthorID("ann-\(strokes)") else { return }
        let stroke = Array(#"{"n":1,"t":1,"d":[{"x":1,"y":1}]}"#.utf8)
        sequences[author] = append(.message(author: author, session: nil, bytes: stroke), to: random.pick(Self.rooms))
        deliver()
    }

    @discardableResult
    private func append(_ content: JournalRecord.Content, to room: RoomID) -> UInt64 {
        now = now + .microseconds(1)
        let sequence = UInt64(log.count + 1)
        log.append(JournalRecord(partition: 0, room: room, content: content, sequence: sequence, loggedAt: now))
        return sequence
    }

    private func records(of room: RoomID, after sequence: UInt64 = 0) -> [JournalRecord] {
        log.filter { $0.room == room && $0.sequence > sequence }
    }

    // MARK: The cut

    private func cutPower() {
        let memory = host == nil ? [:] : boards()
        let isAlive = random.chance(600, in: 1000)
        let losesLog = random.chance(850, in: 1000)
        if losesLog { log.removeLast(random.int(0...min(log.count, 30))) }
        if !losesLog || random.chance(300, in: 1000) {
            checkpoints.lose(random.int(0...min(checkpoints.unsynced, 12)))
        }
        // Servers take a while to start.
        now = now + .seconds(1)
        guard isAlive else {
            host = nil
            forgetUnknown()
            if random.chance(500, in: 1000) { for _ in 0..<random.int(1...40) { write() } }
            return open()
        }
        // It has read what is gone, or finds another record at the place of its last one: it saves its rooms.
        if fault != .forgetsMemory { closeHost() }
        host = nil
        open()
        let after = boards()
        for (room, strokes) in memory {
            for stroke in strokes where after[room]?.contains(stroke) != true {
                findings.append("\(room) lacks \(stroke), which its daemon had")
            }
        }
    }

    /// What was released within the second before a daemon was killed, and no checkpoint tells of, nobody can know. Students are
    /// told by the next mark that they have another board.
    private func forgetUnknown() {
        let kept = Set(log.compactMap(\.author))
        for (life, entries) in told {
            let manifests = Self.rooms.compactMap { checkpoints.best($0, at: now) }
            let known = manifests.first { "\($0.room) \($0.incarnation)" == life }?.handled ?? 0
            told[life] = entries.filter { kept.contains($1) || sequences[$1] ?? 0 <= known }
        }
    }

    private func closeHost() {
        guard let host else { return }
        host.close(0, saving: .everything, at: now)
        serve(isCertain: true)
        let limit = now + .seconds(20)
        while !output.isClosed, let wake = host.nextWake, wake <= limit {
            now = max(now, wake)
            host.advance(to: now)
            serve(isCertain: true)
        }
        if !output.isClosed { findings.append("the partition is not closed") }
    }

    // MARK: The daemon

    /// Opens the partition; a repair may be interrupted and begun again.
    private func open() {
        var expected: [RoomID: Set<AuthorID>] = [:]
        for room in Self.rooms { expected[room] = available(room) }
        while !begin() {}
        let boards = boards()
        for room in Self.rooms {
            let (found, wanted) = (boards[room] ?? [], expected[room] ?? [])
            if found.count != Set(found).count { findings.append("\(room) has something twice: \(found)") }
            if Set(found) != wanted {
                findings.append(
                    """
                    \(room): lacks \(wanted.subtracting(found).map(\.text).sorted()), has \
                    \(Set(found).subtracting(wanted).map(\.text).sorted())
                    """)
            }
        }
    }

    /// What the best checkpoint of a room and the log have together.
    private func available(_ room: RoomID) -> Set<AuthorID> {
        let state = checkpoints.best(room, at: now)?.state.flatMap { checkpoints.room(of: $0, at: now) }
        return Set(records(of: room).compactMap(\.author)).union(state.map { $0.head.visible.map(\.author) } ?? [])
    }

    /// - Returns: false where it was interrupted.
    private func begin() -> Bool {
        let rooms = Dictionary(
            uniqueKeysWithValues: Self.rooms.compactMap { room in checkpoints.best(room, at: now).map { (room, $0) } })
        covered = checkpoints.coverage
        var decisions: [RoomID: UInt64] = [:]
        if fault != .passesOverLosses, let rewind = search(rooms) {
            covered.through = min(covered.through, rewind.end)
            for manifest in rewind.rooms {
                guard !random.chance(100, in: 1000) else { return false }
                checkpoints.append(.base(manifest))
                guard !random.chance(100, in: 1000) else { return false }
                var decision = rewind.decision(about: manifest, base: checkpoints.last)
                if fault == .keepsIncarnation { decision = .mute(.unused) }
                decisions[manifest.room] = append(.control(decision), to: manifest.room)
            }
            guard !random.chance(100, in: 1000) else { return false }
            covered.rewinds += 1
            checkpoints.append(.coverage(through: covered.through, rewinds: covered.rewinds))
            checkpoints.sync()
        }
        covered.through = min(covered.through, UInt64(log.count))
        manifests = rooms
        output = PowerCutOutput()
        let host = RoomHost(
            configuration: HostConfiguration(
                room: PowerCutCheckpoints.configuration,
                checkpoints: CheckpointSchedule(), idle: .seconds(60), rooms: 100, departing: 0,
                waitingBytes: 1 << 20, sleepingBytes: 1 << 20, unsentBytes: 1 << 20, wetBytes: 1 << 20),
            output: output, isOutputOpen: true)
        self.host = host
        var stored = rooms.mapValues { StoredRoom($0) }
        for (room, sequence) in decisions { stored[room]?.setTold(before: sequence) }
        host.open(0, prefix: "log", stored: stored, kept: nil, at: now)
        host.setLogClock(of: 0, ahead: .zero)
        delivered = covered.through
        deliver()
        host.caughtUp(0, at: now)
        host.setLevel(of: 0, until: .distantFuture, at: now)
        serve()
        for room in Self.rooms { join(room) }
        return true
    }

    /// The student of a room joins it again.
    private func join(_ room: RoomID) {
        _ = host?.look(for: room, partition: 0, at: now)
        serve()
        guard let host, case .here(let hosted) = host.look(for: room, partition: 0, at: now) else {
            return students.leave(room)
        }
        guard let room = hosted.room else { return }
        students.join(
            hosted.id, room, isCurrent: host.isCurrent(hosted, at: now) && fault != .keepsLostBoards)
    }

    private func checkStudents() {
        let boards = boards()
        for room in Self.rooms where host != nil && students.strokes(in: room) != nil {
            join(room)
            let strokes = students.strokes(in: room) ?? []
            if strokes != boards[room] ?? [] { findings.append("the student of \(room) has \(strokes)") }
        }
    }

    private func search(_ rooms: [RoomID: CheckpointManifest]) -> LogRewind? {
        var search = RewindSearch(
            rooms.values, covered: covered.through, first: 1, last: UInt64(log.count), wasRepaired: covered.rewinds > 0)
        while let sequence = search.next() {
            search.found(sequence <= UInt64(log.count) ? log[Int(sequence) - 1].loggedAt : nil)
        }
        return search.rewind
    }

    private func deliver() {
        guard let host else { return }
        while delivered < UInt64(log.count) {
            delivered += 1
            host.take(log[Int(delivered) - 1], arrivedAt: now, at: now)
        }
        serve()
    }

    private func wait(_ duration: Duration) {
        guard let host else { return }
        let end = now + duration
        while let wake = host.nextWake, wake <= end {
            now = max(now, wake)
            host.advance(to: now)
            serve()
        }
        now = end
    }

    private func noteCoverage() {
        guard let host else { return }
        let through = host.covered(of: 0, through: delivered)
        guard through > covered.through else { return }
        covered.through = through
        checkpoints.append(.coverage(through: through, rewinds: covered.rewinds))
    }

    /// Answers the host's requests until there are no more.
    /// - Parameter isCertain: whether no save fails.
    private func serve(isCertain: Bool = false) {
        guard let host else { return }
        while true {
            let (isAsked, saves, fetches, decisions) = output.takeRequests()
            note()
            for decision in decisions { append(.control(decision.record), to: decision.room) }
            if isAsked { host.confirmed(true, at: now) }
            for save in saves { host.saved(save.room, isSaved: store(save, isCertain: isCertain), at: now) }
            for fetch in fetches {
                let found = fetched(fetch.room, fetch.stored, fetch.restoration)
                host.restored(
                    fetch.room, found.room, sequence: found.sequence, restorations: found.restorations,
                    tail: found.tail, at: now)
            }
            if let wake = host.nextWake, wake <= now { host.advance(to: now) }
            guard isAsked || !saves.isEmpty || !fetches.isEmpty || !decisions.isEmpty else { return }
        }
    }

    /// Compares what students are told with what they were told before.
    private func note() {
        for release in output.takeReleases() {
            students.follow(release.author, at: release.index, of: release.incarnation, in: release.room)
            let life = "\(release.room) \(release.incarnation)"
            let before = told[life, default: [:]].updateValue(release.author, forKey: release.index)
            if let before, before != release.author {
                findings.append("\(life) has \(before) and \(release.author) at \(release.index)")
            }
        }
    }

    /// The authors of the strokes of each room, from the bottom.
    private func boards() -> [RoomID: [AuthorID]] {
        var boards: [RoomID: [AuthorID]] = [:]
        guard let host else { return boards }
        for room in Self.rooms {
            _ = host.look(for: room, partition: 0, at: now)
            serve()
            guard case .here(let hosted) = host.look(for: room, partition: 0, at: now) else { continue }
            boards[room] = hosted.room?.head.visible.map(\.author)
        }
        return boards
    }

    // MARK: Checkpoints

    /// - Returns: whether it was stored.
    private func store(_ request: SaveRequest, isCertain: Bool) -> Bool {
        guard isCertain || !random.chance(50, in: 1000) else { return false }
        let known = manifests[request.room]
        var manifest = CheckpointManifest(request, log: "log", after: known)
        switch request.state {
        case .none: break
        case .unchanged: manifest.keepState(of: known, or: checkpoints.manifests(of: request.room).last)
        case .changed(let checkpoint):
            let bytes = checkpoint.encoded()
            checkpoints.append(.state(bytes))
            guard isCertain || !random.chance(50, in: 1000) else { return false }
            manifest.begin(
                CheckpointManifest.State(
                    parts: [checkpoints.last], bytes: bytes.count, hash: FNV1a64.hash(bytes),
                    slot: known?.freeSlot() ?? 0), after: checkpoints.manifests(of: request.room).last)
        }
        checkpoints.append(.manifest(manifest))
        manifests[request.room] = manifest
        return true
    }

    private struct Fetched {
        var room: Room?
        var sequence: UInt64 = 0
        var restorations: UInt32 = 0
        var tail: [JournalRecord] = []
    }

    /// What `CheckpointKeeper` of the daemon finds of a room.
    private func fetched(_ id: RoomID, _ stored: StoredRoom, _ restoration: RoomRestoration?) -> Fetched {
        if let manifest = checkpoints.best(id, at: now),
            (manifest.restorations, manifest.sequence) >= (stored.restorations, stored.sequence),
            let state = manifest.state, let room = checkpoints.room(of: state, at: now)
        {
            manifests[id] = manifest
            return Fetched(room: room, sequence: manifest.sequence, restorations: manifest.restorations)
        }
        if let restoration, let fetched = restored(id, restoration, before: stored.sequence) { return fetched }
        for manifest in CheckpointManifest.ranked(checkpoints.manifests(of: id)).reversed()
        where manifest.restorations >= restoration?.number ?? 0 {
            for generation in manifest.generations {
                guard let room = checkpoints.room(of: generation.state, at: now) else { continue }
                return Fetched(
                    room: room, sequence: generation.sequence, restorations: manifest.restorations,
                    tail: records(of: id, after: generation.sequence))
            }
        }
        guard let restoration else { return Fetched(tail: records(of: id)) }
        return Fetched(
            restorations: restoration.number, tail: records(of: id).filter { $0.sequence <= stored.sequence })
    }

    private func restored(_ id: RoomID, _ restoration: RoomRestoration, before decision: UInt64) -> Fetched? {
        guard let base = checkpoints.base(restoration.checkpoint), base.room == id else { return nil }
        for (place, generation) in base.generations.enumerated() {
            guard let room = checkpoints.room(of: generation.state, at: now) else { continue }
            let after = min(restoration.after, generation.sequence)
            let records = records(of: id, after: fault == .losesTail ? decision - 1 : after)
            return Fetched(
                room: room, sequence: after, restorations: restoration.number,
                tail: restoration.tail(
                    of: records, decision: decision, held: place == 0 ? base.loggedAt : nil))
        }
        return nil
    }
}

extension JournalRecord {
    fileprivate var author: AuthorID? { if case .message(let author, _, _) = content { author } else { nil } }
}

extension AuthorID {
    fileprivate static let unused = AuthorID("nobody") ?? { preconditionFailure("no author") }()
}
