import Foundation
import Locking
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport

/// A room of a trial: a teacher, a video clock and a student for each cohort, all over one connection to NATS.
struct TrialRoom: Sendable {
    let address: RoomAddress
    let teacher: TestTeacher
    /// The teacher's time line.
    let video: Video
    let students: [TrialStudent]

    var name: String { address.room.text }
}

/// All rooms of a trial, and the readers of some of them over HTTP.
final class TrialClass: Sendable {
    let rooms: [TrialRoom]
    let readers: [TrialReader]
    /// By the node that each prefers: a third of the rooms has each.
    let connections: [NATSConnection]
    private let plan: TrialPlan
    private let cluster: TrialCluster
    private let isEnded = Locked(false)

    /// Samples of a clock are this far apart.
    private static let clockInterval = Duration.milliseconds(500)

    init(_ plan: TrialPlan, on cluster: TrialCluster) async throws {
        self.plan = plan
        self.cluster = cluster
        connections = (1...3).map { node in
            NATSConnection(NATSSettings(url: cluster.url(from: node), name: "class \(node)"), logger: .silent)
        }
        for connection in connections { try await connection.connect(within: .seconds(10)) }
        var random = SeededGenerator(seed: plan.seed)
        let begin = ContinuousClock.now
        rooms = try (0..<plan.rooms).map { [connections] number in
            guard let room = RoomID("room-\(number)") else { throw Unexpected("no room") }
            let address = RoomAddress(root: "ink", room: room, partitions: plan.partitions)
            let connection = connections[number % connections.count]
            // Classes have begun at different times.
            let start = begin - .milliseconds(random.int(0...3_600_000))
            let cohorts = number.isMultiple(of: TrialPlan.roomsWithTwoCohorts) ? ["main", "hls"] : ["main"]
            return TrialRoom(
                address: address,
                // Ids of messages begin with the author, and are unique in a partition.
                teacher: try TestTeacher(
                    "teacher-\(number)", connection, address: "\(address)", seed: plan.seed &* 31 &+ UInt64(number),
                    isPlain: false,
                    pace: plan.pace),
                video: Video(start: start, delay: .zero),
                students: try cohorts.map { cohort in
                    try TrialStudent(
                        connection, address: "\(address)", cohort: cohort,
                        video: Video(start: start, delay: cohort == "main" ? .seconds(1) : .seconds(3)))
                })
        }
        let gateways = TrialCluster.gatewayNodes.map { number in
            let node = cluster.network.nodes[number - 1]
            return (host: node.host, port: node.door(.http))
        }
        readers = (0..<plan.readers).map { [rooms] number in
            let room = rooms[number % rooms.count]
            let student = room.students[number / rooms.count % room.students.count]
            return TrialReader(
                room: room.name, cohort: student.cohort, video: student.video, first: number % gateways.count,
                gateways: { gateways })
        }
        for (number, connection) in connections.enumerated() {
            connection.onStateChange { [weak self] state in
                guard state == .connected, let self else { return }
                for (place, room) in rooms.enumerated() where place % connections.count == number {
                    // Not all at the same moment.
                    for student in room.students { student.join(after: .milliseconds(Int.random(in: 0...1000))) }
                }
            }
            try await connection.flush()
        }
    }

    /// Holds all classes while `body` runs; then teachers end, what is under way arrives, and `afterwards` runs, with
    /// video clocks, students and readers still there.
    func hold(
        _ body: @Sendable () async throws -> Void, afterwards: @Sendable ([String: ModelRoom]) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in connections.indices { group.addTask { await self.showVideos(number) } }
            for room in rooms {
                for student in room.students { student.join(after: .milliseconds(Int.random(in: 0...2000))) }
            }
            for reader in readers { group.addTask { await reader.follow() } }
            do {
                try await withThrowingTaskGroup(of: Void.self) { writing in
                    var random = SeededGenerator(seed: plan.seed ^ 1)
                    for room in rooms {
                        let wait = plan.pace * Double.random(in: 0..<1, using: &random)
                        writing.addTask {
                            try await room.teacher.rest(wait)
                            try await room.teacher.write(room.video)
                        }
                    }
                    do { try await body() } catch {
                        writing.cancelAll()
                        throw error
                    }
                    for room in rooms { room.teacher.stop() }
                    try await writing.waitForAll()
                }
                try await afterwards(try await settle())
            } catch {
                end()
                throw error
            }
            end()
            try await group.waitForAll()
        }
    }

    private func end() {
        isEnded.withLock { $0 = true }
        stopAudience()
    }

    /// Students and readers take nothing any more.
    func stopAudience() {
        for room in rooms { for student in room.students { student.stop() } }
        for reader in readers { reader.stop() }
    }

    func close() async {
        for connection in connections { await connection.close() }
    }

    /// Publishes the clocks of the rooms of a connection.
    private func showVideos(_ connection: Int) async {
        var number = 0
        while !isEnded.withLock({ $0 }) {
            number += 1
            for (place, room) in rooms.enumerated() where place % connections.count == connection {
                for student in room.students {
                    let time = student.video.time()
                    // Without a connection the sample is lost.
                    try? connections[connection].publish(
                        Array(#"{"m":\#(time),"q":\#(number)}"#.utf8), to: "\(room.address).clock.\(student.cohort)")
                }
            }
            try? await Task.sleep(for: Self.clockInterval)
        }
    }

    /// Waits until every student and reader has a board, and something was released in every room.
    func waitUntilUnderWay() async throws {
        try await eventually("all classes are under way", within: .seconds(120), every: .milliseconds(200)) {
            try cluster.check()
            return rooms.allSatisfy { $0.students.allSatisfy { $0.index > 0 } } && readers.allSatisfy(\.hasBoard)
                ? () : nil
        }
    }

    /// The models of all rooms, of what the journal has now.
    func models() async throws -> [String: ModelRoom] {
        var records: [String: [StoredRecord]] = [:]
        for partition in 0..<plan.partitions {
            for record in try await journal(of: partition) {
                let tokens = record.subject.split(separator: ".", maxSplits: 3)
                guard tokens.count == 4 else { continue }
                records[String(tokens[2]), default: []].append(record)
            }
        }
        return try Dictionary(
            uniqueKeysWithValues: records.map { room, records in (room, try ModelRoom(records, room: room)) })
    }

    /// What is in a partition's log, in its order. A consumer reads the copy of one server: several read it, so that
    /// copies that differ are noticed.
    private func journal(of partition: Int) async throws -> [StoredRecord] {
        let stream = "INK_LOG_\(partition)"
        var all: [UInt64: StoredRecord] = [:]
        var readings: [Set<UInt64>] = []
        for _ in 1...3 {
            let records = try await connections[0].readBack(stream, within: .seconds(10), isPartEnough: true)
            readings.append(Set(records.map(\.sequence)))
            for record in records {
                guard let other = all.updateValue(record, forKey: record.sequence) else { continue }
                if other.subject != record.subject || other.payload != record.payload {
                    throw Unexpected("\(stream): copies differ at \(record.sequence)")
                }
            }
        }
        for reading in readings {
            let lacking = Set(all.keys).subtracting(reading).sorted()
            guard lacking.isEmpty else {
                throw Unexpected(
                    "\(stream): a copy of \(reading.count) lacks \(lacking.count) records: \(lacking.prefix(20))")
            }
        }
        return all.values.sorted { $0.sequence < $1.sequence }
    }

    /// Waits until checkpoints hold all records of all logs.
    func waitUntilCovered() async throws {
        for partition in 0..<plan.partitions {
            try await eventually("checkpoints hold log \(partition)", within: .seconds(120), every: .milliseconds(500))
            {
                let last = try await journal(of: partition).last?.sequence ?? 0
                return try await coverage(of: partition) >= last ? () : nil
            }
        }
    }

    private func coverage(of partition: Int) async throws -> UInt64 {
        struct Answer: Decodable {
            struct Message: Decodable {
                let data: Data
            }
            let message: Message
        }
        let body = Array(#"{"last_by_subj":"ink.\#(partition).COVERED.checkpoint"}"#.utf8)
        let reply = try await connections[0].request(body, to: "$JS.API.STREAM.MSG.GET.INK_CHECKPOINT_\(partition)")
        let answer = try JSONDecoder().decode(Answer.self, from: Data(reply.payload))
        let text = String(decoding: answer.message.data, as: UTF8.self)
        return text.firstMatch(of: /"covered":([0-9]+)/).flatMap { UInt64($0.1) } ?? 0
    }

    /// Has another teacher of each room draw a stroke after power cuts, and waits until it is applied behind all
    /// others, and until all copies of the logs are equal.
    func goOn(after models: [String: ModelRoom]) async throws {
        let goals = try await withThrowingTaskGroup(of: (TestTeacher, TestTeacher.Answer).self) { group in
            for (number, room) in rooms.enumerated() {
                let count = UInt64(models[room.name]?.operations.count ?? 0)
                let teacher = try TestTeacher(
                    "late-\(number)", connections[0], address: "\(room.address)", seed: plan.seed, isPlain: true,
                    pace: plan.pace)
                group.addTask {
                    let number = try await teacher.draw(room.video)
                    return (teacher, .applied(number: number, index: count + 1))
                }
            }
            return try await group.reduce(into: [(TestTeacher, TestTeacher.Answer)]()) { $0.append($1) }
        }
        try await eventually("all rooms go on", within: .seconds(60), every: .milliseconds(200)) { () -> Void? in
            let open = goals.filter { !$0.progress.answers.contains($1) }
            guard open.isEmpty else {
                throw Unexpected("\(open.count) wait: \(open.prefix(10).map { "\($0.author): \($1), \($0.last)" })")
            }
            return ()
        }
        for partition in 0..<plan.partitions {
            _ = try await eventually("the copies are equal", within: .seconds(60), every: .seconds(1)) {
                try await journal(of: partition)
            }
        }
    }

    /// Waits until no number is open any more, everybody has everything, and all authors were told of all numbers.
    private func settle() async throws -> [String: ModelRoom] {
        let models = try await eventually("no number is open", within: .seconds(90), every: .seconds(1)) {
            () -> [String: ModelRoom]? in
            let now = try await self.models()
            for (room, model) in now where !model.open.isEmpty {
                throw Unexpected("\(room), of \(model.operations.count) operations: \(model.open)")
            }
            return now
        }
        do {
            try await eventually(
                "everybody has everything", within: .seconds(60), every: .milliseconds(200), is: behind(models).isEmpty)
        } catch {
            var words: [String] = []
            let behind = behind(models)
            for (room, who) in behind.prefix(10) {
                let reply = try? await connections[0].request(to: "\(room.address).info")
                words.append("\(who); \(String(decoding: reply?.payload ?? [], as: UTF8.self))")
            }
            throw Unexpected("\(error): \(behind.count) are behind:\n\(words.joined(separator: "\n"))")
        }
        try await ask(again: models)
        return models
    }

    /// Who does not have everything yet.
    private func behind(_ models: [String: ModelRoom]) -> [(room: TrialRoom, who: String)] {
        let students = rooms.flatMap { room in
            room.students.filter { $0.index < UInt64(models[room.name]?.operations.count ?? 0) }
                .map { (room, "the student of \(room.address), \($0)") }
        }
        let behind = readers.enumerated().filter { $1.index < UInt64(models[$1.room]?.operations.count ?? 0) }
        return students
            + behind.compactMap { number, reader in
                rooms.first { $0.name == reader.room }.map {
                    ($0, "reader \(number) of \(reader.room), \(reader.cohort), at \(reader.index)")
                }
            }
    }

    /// Sends numbers again whose feedback may have been lost on the way, until all authors know.
    private func ask(again models: [String: ModelRoom]) async throws {
        try await eventually("every number is answered", within: .seconds(60), every: .seconds(1)) { () -> Void? in
            var open = 0
            for room in rooms {
                guard let model = models[room.name] else { continue }
                for number in room.teacher.unanswered(by: model) {
                    open += 1
                    try await room.teacher.ask(again: number)
                }
            }
            return open == 0 ? () : nil
        }
    }
}

extension TestTeacher {
    /// Numbers without final feedback.
    func unanswered(by model: ModelRoom) -> [Int64] {
        let answers = progress.answers
        return (model.outcomes[author] ?? [:]).compactMap { number, outcome in
            switch outcome {
            case .applied(let index): answers.contains(.applied(number: number, index: index)) ? nil : number
            case .rejected: answers.contains(.rejected(number: number)) ? nil : number
            }
        }
    }
}
