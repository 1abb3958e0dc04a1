import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

/// Authors who write to one room over a network that loses, repeats and reorders, and who send again what is missing.
/// Strokes are split into shards at random.
struct LossyClass {
    struct Loss {
        /// Percent of the messages.
        var lost = 12
        var repeated = 10
        var delayed = 4
    }

    private(set) var random: SeededGenerator
    private let loss: Loss
    /// Whether authors are muted now and then, for a moment.
    private let mutes: Bool
    /// Whether authors remove entries, which they name by indices.
    private let removes: Bool
    private let authors: [AuthorID]
    private var muted: AuthorID?
    private let began: Instant
    private(set) var arrivals: [Arrival] = []
    private var outbox: [AuthorID: [Int64: [Int: SentMessage]]] = [:]
    private var travelling: [(at: Instant, sent: SentMessage)] = []
    private var heard = 0

    init(
        seed: UInt64, at now: Instant, authors: ClosedRange<Int>, operations: Int, loss: Loss = Loss(),
        mutes: Bool = false, removes: Bool = true
    ) {
        self.mutes = mutes
        self.removes = removes
        random = SeededGenerator(seed: seed)
        began = now
        self.loss = loss
        self.authors = (0..<random.int(authors)).map { .known("author-\($0)") }
        for author in self.authors { write(author, operations) }
    }

    var isOver: Bool { travelling.isEmpty }

    /// Author and number of every operation of which a message has arrived. Without operations below the start of their
    /// author's sequence that came more than 2 s after it, which count as repeats.
    var arrived: Set<String> {
        var starts: [AuthorID: (number: Int64, at: Instant)] = [:]
        var arrived: Set<String> = []
        for arrival in arrivals {
            guard case .message(let sent) = arrival.content else { continue }
            let start = starts[sent.author] ?? (sent.number, arrival.at)
            starts[sent.author] = start
            if sent.number >= start.number || arrival.at - start.at <= .seconds(2) {
                arrived.insert("\(sent.author) \(sent.number)")
            }
        }
        return arrived
    }

    /// Lets the next message arrive, or 20 ms pass.
    mutating func step(_ probe: inout RoomProbe) {
        let limit = probe.now + .milliseconds(20)
        if let next = travelling.first, next.at <= limit {
            probe.wait(max(.zero, next.at - probe.now))
            travelling.removeFirst()
            arrivals.append(Arrival(at: probe.now, content: .message(next.sent)))
            probe.send(next.sent.bytes, by: next.sent.author)
        } else {
            probe.wait(.milliseconds(20))
        }
        if mutes { mute(&probe) }
        answer(&probe)
    }

    private mutating func mute(_ probe: inout RoomProbe) {
        if let author = muted, random.chance(1, in: 30) {
            muted = nil
            decide(.unmute(author), .unmute(author), &probe)
        } else if muted == nil, random.chance(1, in: 120), let author = authors.randomElement(using: &random) {
            muted = author
            decide(.mute(author), .mute(author), &probe)
        }
    }

    private mutating func decide(_ record: ControlRecord, _ content: Arrival.Content, _ probe: inout RoomProbe) {
        probe.record(record)
        arrivals.append(Arrival(at: probe.now, content: content))
    }

    /// All messages of one author, with the times at which they are sent.
    private mutating func write(_ author: AuthorID, _ operations: Int) {
        let start = Int64(random.int(2...40))
        var at = began + random.milliseconds(0...1000)
        for number in start..<(start + Int64(operations)) {
            at = at + random.milliseconds(5...random.int(20...600))
            var sent = SentMessage(.draw, number, by: author)
            sent.time = (at.nanoseconds - began.nanoseconds) / 1_000_000
            sent.page = random.chance(30, in: 100) ? random.int(0...3) : nil
            switch random.int(0...99) {
            case 0...67:
                stroke(sent, at)
                continue
            case 68...72 where removes:
                // Guesses: most messages are written before anything has an index.
                let named = Set((0..<random.int(1...8)).map { _ in UInt64(random.int(1...operations)) })
                (sent.kind, sent.indices) = (.remove, named.sorted().shuffled(using: &random))
            case 68...82: sent.kind = .undo
            case 83...92: sent.kind = .redo
            case 93...95: sent.kind = .clear
            case 96: (sent.kind, sent.page) = (.turn, random.int(0...4))
            case 97: (sent.kind, sent.page) = (.paper, random.int(0...4))
            default:
                let order = (0...4).shuffled(using: &random).prefix(random.int(1...5))
                (sent.kind, sent.page, sent.order) = (.arrange, nil, Array(order))
            }
            send(sent, at)
        }
    }

    private mutating func stroke(_ sent: SentMessage, _ at: Instant) {
        var sent = sent
        sent.parts = random.chance(40, in: 100) ? random.int(2...6) : 1
        sent.base = random.int(0...1)
        let cuts = [0] + (1..<sent.parts).map { _ in random.int(0...20) }.sorted() + [random.int(21...24)]
        if random.chance(12, in: 100) { sent.entry = .pointer } else if sent.number % 7 == 3 { sent.entry = .text }
        for part in 0..<sent.parts {
            (sent.part, sent.ink) = (part, Array(cuts[part]..<cuts[part + 1]))
            send(sent, at)
        }
    }

    private mutating func send(_ sent: SentMessage, _ at: Instant) {
        outbox[sent.author, default: [:]][sent.number, default: [:]][sent.part + sent.base] = sent
        post(sent, at)
    }

    private mutating func post(_ sent: SentMessage, _ at: Instant) {
        if random.chance(loss.lost, in: 100) { return }
        for _ in 0..<(random.chance(loss.repeated, in: 100) ? 2 : 1) {
            let delay = random.milliseconds(random.chance(loss.delayed, in: 100) ? 500...9000 : 1...120)
            travelling.append((at + delay, sent))
        }
        travelling.sort { $0.at < $1.at }
    }

    /// Sends again what the authors are told is missing.
    private mutating func answer(_ probe: inout RoomProbe) {
        for told in probe.told[heard...] {
            var wanted: [SentMessage] = []
            let mine = outbox[told.author] ?? [:]
            switch told.feedback {
            case .missingRange(let from, let to):
                wanted = (from...to).flatMap { mine[$0].map { Array($0.values) } ?? [] }
            case .missingShards(let number, let orders): wanted = orders.compactMap { mine[number]?[$0] }
            case .applied, .gaveUp, .rejected, .covered, .behindLive: break
            }
            for sent in wanted { post(sent, probe.now + .milliseconds(30)) }
        }
        heard = probe.told.count
    }
}

/// A lossy class with more trouble: an author who restarts sequences with and without a session, one who sends anything,
/// and the clocks of three cohorts through several encoder sessions.
struct TroubledClass {
    private(set) var random: SeededGenerator
    private var lesson: LossyClass
    /// Whether clocks jump, pause, end and tell their age, and some operations have absurd times.
    private let isWild: Bool
    private var epoch: Int64 = 1
    /// When the teacher's time line was at 0.
    private var epochBegan: Instant
    /// The time line before, which delayed videos still show.
    private var earlier: (epoch: Int64, began: Instant)
    private let cohorts: [CohortName]

    static let names = ["main", "hls", "web"].compactMap { CohortName($0) }

    init(seed: UInt64, at now: Instant, operations: Int, isWild: Bool) {
        random = SeededGenerator(seed: seed)
        lesson = LossyClass(seed: random.next(), at: now, authors: 1...3, operations: operations, mutes: true)
        // Its restart is one that authors' times show.
        epochBegan = now + .seconds(isWild ? -100 : 0)
        earlier = (epoch, epochBegan)
        self.isWild = isWild
        cohorts = Array(Self.names.prefix(random.int(1...3)))
    }

    var isOver: Bool { lesson.isOver }

    mutating func step(_ probe: inout RoomProbe) {
        lesson.step(&probe)
        if random.chance(15, in: 100) { sample(&probe) }
        if random.chance(10, in: 100) { countAnew(&probe) }
        if random.chance(4, in: 100) { probe.send(Malformed.message(&random), by: .known("mallory")) }
        if random.chance(1, in: 100) { startEpoch(probe.now) }
    }

    /// Moves every cohort's video to an encoder session in which all operations are due, later than any that samples
    /// without a session have stood for.
    mutating func end(_ probe: inout RoomProbe) {
        // Past the greatest times of operations.
        for cohort in probe.room.cursors.keys.sorted() { probe.clock(3e9, cohort, #","ep":\#(epoch + 1000)"#) }
        probe.wait(.seconds(30))
    }

    private mutating func startEpoch(_ now: Instant) {
        earlier = (epoch, epochBegan)
        epoch += Int64(random.int(1...3))
        if isWild && random.chance(50, in: 100) { epochBegan = now }
    }

    private mutating func sample(_ probe: inout RoomProbe) {
        guard let cohort = cohorts.randomElement(using: &random) else { return }
        let delay = cohort == .main ? 300 : 4000
        let isDelayed = isWild && probe.now - epochBegan < .milliseconds(delay)
        let shown = isDelayed ? earlier : (epoch: epoch, began: epochBegan)
        var media = Double((probe.now - shown.began).nanoseconds / 1_000_000 - Int64(delay))
        var more = random.chance(80, in: 100) ? #","ep":\#(shown.epoch)"# : ""
        if isWild {
            if random.chance(50, in: 100) { more += #","a":\#(delay)"# }
            if random.chance(5, in: 100) { media += Double(random.int(-40_000...40_000)) }
            if random.chance(5, in: 100) { more += #","d":true"# }
            more += ["", "", "", #","s":"pause""#, #","s":"stall""#, #","s":"end""#, #","r":500"#][random.int(0...6)]
        }
        probe.clock(media, cohort, more)
    }

    private mutating func countAnew(_ probe: inout RoomProbe) {
        let number = Int64(random.int(0...9))
        let session = random.chance(60, in: 100) ? "s\(random.int(0...3))" : nil
        let elapsed = (probe.now - epochBegan).nanoseconds / 1_000_000
        let wild = isWild && random.chance(10, in: 100)
        let time = #","t":\#(wild ? [elapsed + 1_000_000_000, .max, .min][random.int(0...2)] : elapsed)"#
        let texts = [
            draw(number, x: random.int(0...9), points: random.int(1...9), time), draw(number), undo(number, time),
            redo(number), shard(number, random.int(0...3), of: random.int(2...3), time),
        ]
        probe.send(texts[random.int(0...4)], by: .known("carol"), session: session)
    }
}

/// A daemon that dies at some moment, and what another needs to go on from there.
struct Restart {
    private let checkpoint: [UInt8]
    private let checkpointed: Int
    private var cursors: [CohortName: CohortCursor] = [:]
    private var resumed = 0
    private var applied = 0
    private var told = 0
    private var shown = 0
    private var died: Instant

    /// The room's last checkpoint.
    init(checkpoint probe: RoomProbe) {
        checkpoint = probe.room.checkpoint().encoded()
        checkpointed = probe.inputs.count
        died = probe.logTime
    }

    /// The cursors last saved.
    mutating func note(_ probe: RoomProbe) { cursors = probe.room.cursors }

    /// Ends the daemon. The room that lives on loses its clocks, as a restarted one does, which knows of them what was
    /// saved last.
    mutating func die(_ probe: inout RoomProbe) {
        probe.take(.clocksLost(cursors.isEmpty ? nil : cursors))
        died = probe.logTime
        resumed = probe.inputs.count
        (applied, told, shown) = (probe.applied.count, probe.told.count, probe.shown.count)
    }

    /// Another daemon with another clock restores the room, applies the tail of the log, restores the cursors, and gets
    /// what `probe` got from then on.
    func restored(for probe: RoomProbe, logAhead: Duration) throws -> RoomProbe {
        let now = died + (.zero - logAhead)
        let room = try Room(
            restoring: checkpoint, configuration: probe.room.configuration, at: now, logClockAhead: logAhead)
        var restored = RoomProbe(room, at: now, logAhead: logAhead)
        restored.decisionsReturn = []
        for (at, input) in probe.inputs[checkpointed..<resumed] {
            switch input {
            case .message, .record: restored.recover(input, loggedAt: at)
            case .sample, .output, .clocksLost: break
            }
        }
        restored.restoreCursors(cursors)
        for (at, input) in probe.inputs[resumed...] {
            restored.wait(max(.zero, at - restored.logTime))
            restored.take(input)
        }
        restored.wait(max(.zero, probe.logTime - restored.logTime))
        return restored
    }

    func expectSame(_ restored: RoomProbe, _ probe: RoomProbe, _ seed: UInt64) {
        #expect(restored.applied.map(\.wholeSummary) == probe.applied[applied...].map(\.wholeSummary), "seed \(seed)")
        #expect(answers(restored.told[...]) == answers(probe.told[told...]), "seed \(seed)")
        #expect(restored.room.head.digest == probe.room.head.digest, "seed \(seed)")
        #expect(restored.room.cursors == probe.room.cursors, "seed \(seed)")
        for cohort in probe.room.cursors.keys {
            expectSameReleases(restored, probe, cohort, seed)
            expectSameJoin(restored.room, probe.room, cohort, seed)
        }
    }

    private func answers(_ told: ArraySlice<RoomProbe.Told>) -> [String] {
        let answers = told.filter { told in
            // A hint comes once a minute; another process does not know of earlier ones.
            if case .behindLive = told.feedback { return false }
            return !told.isReminder
        }
        return answers.map { "\($0.author) \($0.feedback.summary)" }
    }

    private func expectSameReleases(_ restored: RoomProbe, _ probe: RoomProbe, _ cohort: CohortName, _ seed: UInt64) {
        func releases(_ shown: ArraySlice<RoomProbe.Shown>, _ ahead: Duration) -> [String] {
            shown.filter { $0.cohort == cohort && $0.operation.index > released }.map {
                "\($0.operation.wholeSummary) \($0.isLate) \($0.at + ahead)"
            }
        }
        let released = probe.shown[..<shown].last { $0.cohort == cohort }?.operation.index ?? 0
        #expect(
            releases(restored.shown[...], restored.logAhead) == releases(probe.shown[shown...], probe.logAhead),
            "seed \(seed)")
        let again = restored.shown.filter { $0.cohort == cohort }
        let start = cursors[cohort]?.released ?? again.first.map { $0.operation.index - 1 } ?? released
        #expect(again.map(\.operation.index) == Array(start..<(start + UInt64(again.count))).map { $0 + 1 })
        for release in again where release.operation.index <= released {
            let before = probe.shown.first { $0.cohort == cohort && $0.operation.index == release.operation.index }
            #expect(before?.operation.wholeSummary == release.operation.wholeSummary, "seed \(seed)")
        }
    }

    private func expectSameJoin(_ restored: Room, _ room: Room, _ cohort: CohortName, _ seed: UInt64) {
        let requests = [nil, room.cursors[cohort]?.released, UInt64.max].map {
            JoinRequest(incarnation: "life", have: $0)
        }
        for request in requests {
            let reply = restored.catchUp(request, cohort: cohort)
            let expected = room.catchUp(request, cohort: cohort)
            #expect(reply?.summary == expected?.summary, "seed \(seed)")
        }
    }
}

extension Whiteboard.Operation {
    /// All fields that are sent.
    fileprivate var wholeSummary: String {
        "\(summary) \(time ?? -1) \(digest) \(String(decoding: restoredMessage, as: UTF8.self)) \(isJoined)"
    }
}

extension CatchUp {
    fileprivate var summary: String {
        switch content {
        case .tail(let operations): "\(incarnation) \(index) \(digest) \(operations.map(\.wholeSummary))"
        case .version(let version): "\(incarnation) \(version.index) \(version.digest)"
        case .board(let board):
            """
            \(incarnation) \(index) \(digest) \(board.size) \(board.visible.map(\.message.bytes)) \
            \(board.undone.map(\.index)) \(board.undoableRemovals.map(\.removal.index)) \(board.weight) \(board.lastClears.pages.map { ($0, board.lastClears[$0]) }) \
            \(board.pages.shown) \(board.pages.order) \(board.pages.hidden) \(board.pages.papers) \(board.visible.map(\.page))
            """
        }
    }
}
