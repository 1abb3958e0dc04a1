import ArgumentParser
import Foundation
import LecternClient
import NATSClient
import StrokeWire

/// What is held: classes, and who comes to them.
struct LoadPlan: Sendable {
    var rooms: Int
    /// Of each room, dealt to its cohorts in turn.
    var students: Int
    /// Strokes a second of each room.
    var rate: Double
    var cohorts: [LoadCohort]
    /// Joins a second, in all rooms together.
    var joins: Double
    var seconds: Double
    /// Connections that the students share.
    var connections: Int
}

/// One load, from the first clock sample to the last operation.
final class LoadRun: Sendable {
    /// Clocks report so long before the first stroke: until the service knows the videos' time.
    private static let settling = 1.5
    /// Students wait so long for the last operations.
    private static let lastTimeout = Duration.seconds(5)

    let audience: LoadAudience
    private let joining: LoadJoins
    private let plan: LoadPlan
    private let root: String
    private let rooms: [LoadRoom]
    private let generator: LoadGenerator
    private let floor: LoadFloor
    private let teachers: NATSConnection
    private let joiners: NATSConnection
    private let students: [NATSConnection]

    /// Connects, and waits until the service answers.
    /// - Throws: exit code 2 when NATS cannot be reached or no service answers.
    init(_ plan: LoadPlan, _ strokes: LoadStrokes, url: String, root: String, partitions: Int) async throws {
        self.plan = plan
        self.root = root
        let name = String(UInt32.random(in: .min ... .max), radix: 36)
        rooms = try (0..<plan.rooms).map {
            try LoadRoom(root: root, name: "load-\(name)-\($0)", partitions: partitions)
        }
        teachers = try await Self.connect(url)
        joiners = try await Self.connect(url)
        var students: [NATSConnection] = []
        for _ in 0..<plan.connections { students.append(try await Self.connect(url)) }
        self.students = students
        try await Self.waitForService(of: rooms[0], over: joiners)
        audience = try await LoadAudience(rooms, plan.cohorts, students: plan.students, over: students)
        floor = try await LoadFloor(rate: plan.rate * Double(plan.rooms), over: students[0])
        let joins = rooms.flatMap { room in plan.cohorts.map { room.address.subject(.join($0.name)) } }
        joining = LoadJoins(joins.shuffled(), rate: plan.joins, over: joiners)
        generator = LoadGenerator(rooms, plan.cohorts, strokes, rate: plan.rate, over: teachers, floor: floor)
    }

    private static func connect(_ url: String) async throws -> NATSConnection {
        var settings = NATSSettings(url: url, name: "lectern-bench load")
        settings.inboxPrefix = settings.usualInboxPrefix
        let connection = NATSConnection(settings, logger: benchLogger)
        do throws(NATSError) {
            try settings.check()
            try await connection.connect()
        } catch {
            await connection.close()
            Progress.say("lectern-bench: cannot connect to NATS: \(error)")
            throw ExitCode(2)
        }
        return connection
    }

    /// Any answer about a room will do, also that there is no such room.
    private static func waitForService(of room: LoadRoom, over connection: NATSConnection) async throws {
        let deadline = ContinuousClock.now + .seconds(15)
        repeat {
            do throws(NATSError) {
                _ = try await connection.request(to: room.address.subject(.info), timeout: .seconds(1))
                return
            } catch .notPermitted(let violation) {
                Progress.say("lectern-bench: \(violation)")
                throw ExitCode(2)
            } catch {
                try await Task.sleep(for: .milliseconds(100))
            }
        } while ContinuousClock.now < deadline
        Progress.say("lectern-bench: no service answers at \(room.address.subject(.info))")
        throw ExitCode(2)
    }

    /// Holds the classes to their end.
    func hold() async throws {
        let start = LoadClock.now + Int64(Self.settling * 1e9)
        let end = start + Int64(plan.seconds * 1e9)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [self] in try await generator.run(strokesFrom: start, until: end) }
            group.addTask { [self] in
                try await Task.sleep(for: .seconds(Self.settling))
                await joining.run(until: end)
            }
            group.addTask { [self] in
                defer { generator.stop() }
                try await showProgress(from: start, until: end)
                try await waitForLast(since: end)
            }
            try await group.waitForAll()
        }
    }

    private func showProgress(from start: Int64, until end: Int64) async throws {
        let isTerminal = isatty(STDERR_FILENO) == 1
        var told = 0
        while LoadClock.now < end {
            try await Task.sleep(for: .milliseconds(isTerminal ? 200 : 1000))
            let elapsed = min(plan.seconds, Double(LoadClock.now - start) / 1e9)
            let tenth = Int(elapsed / plan.seconds * 10)
            guard elapsed > 0, isTerminal || tenth > told else { continue }
            told = tenth
            let slowest = audience.latencies.map { $0.percentile(99) }.filter { !$0.isNaN }.max()
            let text = String(
                format: "%.0f of %.0f s: %d operations published, %d received, %d joins, p99 %.2f ms", elapsed,
                plan.seconds, rooms.reduce(0) { $0 + $1.count }, audience.received.count, Int(joining.latencies.count),
                slowest ?? 0)
            if isTerminal {
                // Erases what is left of a longer line.
                FileHandle.standardError.write(Data("\r\(text)\u{1b}[K".utf8))
            } else {
                Progress.say(text)
            }
        }
        if isTerminal { FileHandle.standardError.write(Data("\n".utf8)) }
    }

    /// Waits for the cohort whose video is last, and a little longer.
    private func waitForLast(since end: Int64) async throws {
        let delay = plan.cohorts.map(\.delay).max() ?? 0
        let deadline = end + delay * 1_000_000 + Int64(Self.lastTimeout / .nanoseconds(1))
        while audience.received.count < audience.expectedCount, LoadClock.now < deadline {
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// - Returns: why rooms stay; nil where all are closed.
    private func closeRooms() async -> String? {
        guard let user = OperatorName(joiners.settings.userName ?? "operator") else {
            return "the NATS user's name is none by which commands are given"
        }
        let commands = RoomCommands(connection: joiners, root: root, from: user, for: "lectern-bench load")
        for (count, room) in rooms.enumerated() {
            do throws(RoomDirectoryError) {
                _ = try await commands.give(.close(room.address.room))
            } catch {
                return "\(rooms.count - count) of \(rooms.count), \(error)"
            }
        }
        return nil
    }

    /// Closes the rooms, where this user may, and the connections.
    func close() async {
        if let reason = await closeRooms() { Progress.say("lectern-bench: rooms named load-… stay: \(reason)") }
        for connection in [teachers, joiners] + students { await connection.close() }
    }
}

extension LoadRun {
    /// Of what goes through the NATS server alone.
    var floorLatencies: LatencyHistogram { floor.latencies }

    func report(into report: inout BenchReport) {
        report.add("rooms", Double(plan.rooms))
        report.add("students", Double(plan.rooms * plan.students))
        report.add("operations published a second", Double(rooms.reduce(0) { $0 + $1.count }) / plan.seconds)
        report.add("operations received by students a second", Double(audience.received.count) / plan.seconds)
        for (cohort, latencies) in zip(plan.cohorts, audience.latencies) {
            report.add("released to \(cohort.name)", latencies)
        }
        report.add("NATS alone", floor.latencies)
        if plan.joins > 0 {
            report.add("joins a second", Double(joining.latencies.count) / plan.seconds)
            report.add("joined", joining.latencies)
            report.add("bytes of a join's reply, mean", joining.meanBytes)
            report.add("joins that failed", Double(joining.failures.count))
        }
        report.add("operations lost", Double(lost))
        report.add("operations repeated", Double(audience.repeats.count))
        report.add("times an author was asked again", Double(audience.requestedAgain.count))
        report.add("operations refused", Double(audience.rejected.count))
    }

    private var lost: Int { max(0, audience.expectedCount - audience.received.count) }

    /// Why the run counts as failed, a sentence each.
    func faults(maxP99: Double?) -> [String] {
        var faults: [String] = []
        if lost > 0 { faults.append("\(lost) of \(audience.expectedCount) operations did not come to their students") }
        if audience.droppedCount > 0 {
            faults.append("this program was too slow and dropped \(audience.droppedCount) messages: use fewer students")
        }
        let rejected = audience.rejected
        if rejected.count > 0 { faults.append("\(rejected.count) operations were refused; \(rejected.first ?? "")") }
        if joining.failures.count > 0 { faults.append("\(joining.failures.count) joins failed") }
        if let maxP99 {
            for (cohort, latencies) in zip(plan.cohorts, audience.latencies) {
                let p99 = latencies.percentile(99)
                // No figure at all is no success.
                guard !(p99 <= maxP99) else { continue }
                faults.append(String(format: "p99 of %@ is %.2f ms, above %g ms", cohort.name.text, p99, maxP99))
            }
        }
        return faults
    }
}
