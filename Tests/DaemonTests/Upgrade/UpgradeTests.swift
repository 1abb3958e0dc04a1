import Foundation
import Locking
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// A rolling upgrade under load, from the program of an earlier release to the built one, and back.
///
/// `LECTERN_UPGRADE_FROM` is the path of the earlier program; `make upgrade-trial` builds it.
@Suite(.enabled(if: EarlierRelease.program != nil), .timeLimit(.minutes(30)), .endsProcesses) struct UpgradeTests {
    private static let partitions = 3
    /// What the earlier release does not have is off.
    private static let settings = ["board.features=pages", "history.clear=final"]
    /// One a partition.
    private static let lessons = ["lesson", "physics", "algebra", "history", "latin"]

    @Test
    func `daemons are replaced one after another during lessons, and nothing is lost or comes twice`() async throws {
        let seed = TestSeed.choose()
        let plans = Self.lessons.enumerated().map { number, room in
            var plan = Lesson.Plan(seed: seed &+ UInt64(number))
            (plan.room, plan.partitions, plan.areClearsFinal) = (room, Self.partitions, true)
            return plan
        }
        try await NATSTestServer.with(jetStream: true) { nats in
            let trial = try await UpgradeTrial(on: nats, partitions: Self.partitions)
            defer { trial.stopReading() }
            let states = try await hold(plans[...], on: nats.url, []) { lessons in
                try await trial.upgradeAndBack(lessons)
            }
            for verdict in states { verdict.expect() }
            try await trial.conclude(states)
        }
    }

    /// Holds lessons at the same time.
    private func hold(
        _ plans: ArraySlice<Lesson.Plan>, on url: String, _ held: [Lesson],
        _ body: @Sendable @escaping ([Lesson]) async throws -> Void
    ) async throws -> [Verdict] {
        guard let plan = plans.first else {
            try await body(held)
            return []
        }
        let rest = Locked<[Verdict]>([])
        let verdict = try await Lesson.hold(plan, on: url) { lesson in
            let verdicts = try await hold(plans.dropFirst(), on: url, held + [lesson], body)
            rest.withLock { $0 = verdicts }
        }
        return [verdict] + rest.withLock { $0 }
    }

    @Test func `a checkpoint of a newer format is refused and named, and nothing is lost`() async throws {
        let address = "ink.0.lesson"
        try await NATSTestServer.withConnection(jetStream: true) { nats, connection in
            // The log is the earlier release's: it passes over the checkpoints of one that a later release made.
            let old = try await DaemonProcess.serving(
                "old", nats: nats.url, Self.settings, program: EarlierRelease.program)
            #expect(await old.terminate() == 0)
            let new = try await DaemonProcess.serving("a", nats: nats.url, ["checkpoint.interval=1s"] + Self.settings)
            _ = try await connection.request(
                Array(#"{"n":1,"t":0,"d":[{"x":1,"y":1}]}"#.utf8), to: "\(address).in.anna")
            #expect(await new.terminate() == 0)
            let jetStream = JetStream(connection)
            let stored = try #require(
                try await jetStream.lastMessage("INK_CHECKPOINT_0", subject: "\(address).checkpoint"))
            let newer = try StoredManifest(stored.payload).withFormat(200)
            _ = try await jetStream.publish(newer, to: "\(address).checkpoint")
            for program in [EarlierRelease.program, nil] {
                let daemon = try DaemonProcess(
                    "b", nats: nats.url, http: "127.0.0.1:0", Self.settings, program: program)
                try await daemon.waitForLog("has checkpoints of a newer release: a state of format 200")
                try await daemon.waitForLog("run the release that wrote them, or a later one; nothing is damaged")
                let http = HTTPClient(port: try await daemon.httpPort())
                #expect(try await http.get("/readyz").statusCode == 503)
                #expect(await daemon.terminate() == 0)
            }
            // As the newer release wrote it, it is there for a release that knows it.
            _ = try await jetStream.publish(stored.payload, to: "\(address).checkpoint")
            let known = try #require(
                try await jetStream.nextMessage(
                    "INK_CHECKPOINT_0", subject: "\(address).checkpoint", from: stored.sequence + 1))
            try await jetStream.deleteMessage("INK_CHECKPOINT_0", known.sequence)
            let (last, http) = try await DaemonProcess.servingHTTP("c", nats: nats.url)
            let room = try AnyJSON.decode(try await http.get("/api/rooms/lesson").bytes)
            #expect(room["index"] == .number(1))
            #expect(await last.terminate() == 0)
        }
    }
}

/// The program that is upgraded from.
enum EarlierRelease {
    static let program = EnvironmentVariable("LECTERN_UPGRADE_FROM").text
}

/// A manifest of a checkpoint, as it is stored: 16 digits of FNV-1a of the JSON after a line's end.
private struct StoredManifest {
    let json: String

    init(_ bytes: [UInt8]) throws {
        json = String(decoding: bytes.dropFirst(17), as: UTF8.self)
        guard json.hasPrefix("{") else { throw Unexpected("no manifest: \(json.prefix(80))") }
    }

    var format: Int? { json.firstMatch(of: /"format":([0-9]+)/).flatMap { Int($0.1) } }
    var rules: Int? { json.firstMatch(of: /"fold":([0-9]+)/).flatMap { Int($0.1) } }

    func withFormat(_ format: Int) -> [UInt8] {
        let changed = Array(json.replacing(/"format":[0-9]+/, with: "\"format\":\(format)").utf8)
        let hash = changed.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        let digits = String(hash, radix: 16)
        return Array((String(repeating: "0", count: 16 - digits.count) + digits + "\n").utf8) + changed
    }
}

/// Three daemons that are replaced while lessons go on, with a room with pages and readers of event streams beside them.
private final class UpgradeTrial: Sendable {
    private let nats: NATSTestServer
    private let partitions: Int
    private let settings: [String]
    private let connection: NATSConnection
    private let monitor: MemberMonitor
    private let daemons = Locked<[DaemonProcess]>([])
    private let ports = Locked<[Int]>([])
    private let readers = Locked<[TrialReader]>([])
    private let pages: PagesTeacher

    init(on nats: NATSTestServer, partitions: Int) async throws {
        self.nats = nats
        self.partitions = partitions
        // What the earlier release does not have is switched on when all are new.
        settings = [
            "subjects.partitions=\(partitions)", "checkpoint.interval=1s", "checkpoint.operations=7",
            "board.features=pages", "history.clear=final",
        ]
        connection = NATSConnection(NATSSettings(nats), logger: .silent)
        try await connection.connect(within: .seconds(10))
        monitor = try MemberMonitor(connection)
        pages = try PagesTeacher(connection, partitions: partitions)
    }

    private func start(_ name: String, earlier: Bool) async throws {
        let daemon = try DaemonProcess(
            name, nats: nats.url, http: "127.0.0.1:0", settings, program: earlier ? EarlierRelease.program : nil)
        daemons.withLock { $0.append(daemon) }
        try await daemon.waitForLog("gateway listens")
        let port = try await daemon.httpPort()
        ports.withLock { $0.append(port) }
    }

    /// Ends the daemon that has run for longest, and starts one of the same name.
    private func replaceOldest(earlier: Bool, killing: Bool = false) async throws {
        let oldest = daemons.withLock { $0.removeFirst() }
        ports.withLock { _ = $0.removeFirst() }
        if killing { await oldest.kill() } else { #expect(await oldest.terminate() == 0, "\(oldest.log.suffix(2000))") }
        try await start(oldest.name, earlier: earlier)
        try await served()
    }

    private func served() async throws {
        for partition in 0..<partitions { _ = try await monitor.owner(among: 3, of: partition) }
    }

    func upgradeAndBack(_ lessons: [Lesson]) async throws {
        for name in ["a", "b", "c"] { try await start(name, earlier: true) }
        try await served()
        let rooms = (lessons.map(\.plan.room) + [PagesTeacher.room]).map { room in
            TrialReader(room: room, cohort: "head", video: Video(start: .now, delay: .zero), first: 0) { [self] in
                ports.withLock { $0.suffix(1).map { (host: "127.0.0.1", port: $0) } }
            }
        }
        readers.withLock { $0 = rooms }
        // They go on until the lessons are over.
        for reader in rooms { Task { await reader.follow() } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [pages] in try await pages.write() }
            let goOn = { (what: String) in
                for lesson in lessons { try await lesson.goesOn(by: 8, within: .seconds(60)) }
                try await self.pages.goesOn()
                print("upgrade: \(what); lessons at \(lessons.map { $0.observers[0].index })")
            }
            try await goOn("three daemons of the earlier release")
            let before = try await formats()
            try await replaceOldest(earlier: false)
            try await goOn("one is new")
            try await replaceOldest(earlier: false, killing: true)
            try await goOn("two are new, the second after SIGKILL")
            try await replaceOldest(earlier: false)
            try await goOn("all are new")
            try await lessons[0].welcomeNewcomer()
            try await saved(lessons.map(\.address) + [pages.address])
            let after = try await formats()
            print("upgrade: checkpoints of \(before) before and \(after) after")
            if before.isSuperset(of: after) {
                try await replaceOldest(earlier: true)
                try await goOn("one is back at the earlier release")
                try await replaceOldest(earlier: true, killing: true)
                try await replaceOldest(earlier: true)
                try await goOn("all are back")
                try await replaceOldest(earlier: false)
                try await goOn("and one is new again")
            } else {
                let oldest = try #require(daemons.withLock { $0.first })
                #expect(await oldest.terminate() == 0)
                let refusing = try DaemonProcess(oldest.name, nats: nats.url, settings, program: EarlierRelease.program)
                try await refusing.waitForLog("of a newer release")
                #expect(await refusing.terminate() == 0)
                daemons.withLock { _ = $0.removeFirst() }
                ports.withLock { _ = $0.removeFirst() }
                try await start(oldest.name, earlier: false)
                try await goOn("the earlier release has refused")
            }
            pages.stop()
            try await group.waitForAll()
        }
    }

    func stopReading() {
        for reader in readers.withLock({ $0 }) { reader.stop() }
    }

    /// Waits until every room has a new checkpoint.
    private func saved(_ rooms: [RoomAddress]) async throws {
        let jetStream = JetStream(connection)
        for room in rooms {
            let before = try await jetStream.streamInfo("INK_CHECKPOINT_\(room.partition)").lastSequence
            try await eventually("\(room) is saved") {
                let manifest = try await jetStream.lastMessage(
                    "INK_CHECKPOINT_\(room.partition)", subject: "\(room).checkpoint")
                return manifest.map { $0.sequence > before } == true ? () : nil
            }
        }
    }

    /// Formats and rules of the checkpoints that are stored.
    private func formats() async throws -> Set<String> {
        var found: Set<String> = []
        for partition in 0..<partitions {
            for record in try await connection.readBack("INK_CHECKPOINT_\(partition)")
            where record.subject.hasSuffix(".checkpoint") && !record.subject.contains("COVERED") {
                let manifest = try StoredManifest(record.payload)
                if let format = manifest.format, let rules = manifest.rules { found.insert("\(format)/\(rules)") }
            }
        }
        return found
    }

    /// Compares what readers of event streams and a room with pages have, then what either release makes of it all.
    func conclude(_ verdicts: [Verdict]) async throws {
        for reader in readers.withLock({ $0 }) {
            let (index, digest) =
                verdicts.first { $0.plan.room == reader.room }.map {
                    (UInt64($0.model.operations.count), $0.model.digest)
                } ?? pages.state
            try await eventually("the reader of \(reader.room) has all", is: reader.index == index)
            #expect(reader.record.digest == digest && reader.record.faults.isEmpty, "\(reader.record.faults)")
            print("upgrade: event stream of \(reader.room) to \(index), \(reader.connections) connections")
            reader.stop()
        }
        for daemon in daemons.withLock({ $0 }) { daemon.terminateSoon() }
        for daemon in daemons.withLock({ $0 }) { #expect(await daemon.exitCode() == 0) }
        let expected =
            verdicts.map { (room: $0.plan.room, index: $0.model.operations.count, digest: $0.model.digest) }
            + [(room: PagesTeacher.room, index: Int(pages.state.index), digest: pages.state.digest)]
        let program = try await formats().count == 1 ? [nil, EarlierRelease.program] : [nil]
        for program in program {
            let (daemon, http) = try await DaemonProcess.servingHTTP("z", nats: nats.url, settings, program: program)
            for room in expected {
                let state = try AnyJSON.decode(try await http.get("/api/rooms/\(room.room)").bytes)
                #expect(state["index"] == .number(Double(room.index)) && state["digest"] == .string(room.digest))
            }
            #expect(await daemon.terminate() == 0)
        }
        await connection.close()
    }
}
