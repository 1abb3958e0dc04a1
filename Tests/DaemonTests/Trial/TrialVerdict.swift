import Foundation
import NATSClient
import TestSupport

/// What all clients of a trial saw, compared with the models of its rooms.
struct TrialVerdict: Sendable {
    private(set) var faults: [String] = []
    /// Operations that a policy released to a cohort, not the clock.
    private(set) var late = 0
    /// Operations that came again.
    private(set) var repeats = 0
    /// Boards that students and readers got after their first.
    private(set) var boardsAnew = 0

    init(_ rooms: TrialClass, _ models: [String: ModelRoom]) {
        for room in rooms.rooms {
            guard let model = models[room.name] else {
                faults.append("\(room.name): the journal has nothing")
                continue
            }
            judge(room.teacher, model, in: room.name)
            // Of those released late by a policy, a message on the feed says so, on whichever way it was seen.
            let records = room.students.map { ($0.cohort, $0.record) }
            let late = Dictionary(
                uniqueKeysWithValues: records.map { cohort, record in
                    (cohort, Set((record.operations + record.repeats).filter(\.isLate).map(\.index)))
                })
            for (student, (cohort, record)) in zip(room.students, records) {
                judge(record, model, student.video, late: late[cohort] ?? [], "\(room.name), student of \(cohort)")
                self.late += (late[cohort] ?? []).count { index in
                    model.operations.indices.contains(Int(index) - 1) && !model.operations[Int(index) - 1].isLate
                }
            }
        }
        for (number, reader) in rooms.readers.enumerated() {
            guard let model = models[reader.room] else { continue }
            let student = rooms.rooms.first { $0.name == reader.room }?.students.first { $0.cohort == reader.cohort }
            let late = student.map { Set(($0.record.operations + $0.record.repeats).filter(\.isLate).map(\.index)) }
            judge(reader.record, model, reader.video, late: late ?? [], "\(reader.room), reader \(number)")
        }
    }

    private mutating func judge(_ teacher: TestTeacher, _ model: ModelRoom, in room: String) {
        let outcomes = model.outcomes[teacher.author] ?? [:]
        for number in teacher.progress.sent.keys where outcomes[number] == nil {
            faults.append("\(room): \(number) was acknowledged, and is neither applied nor rejected")
        }
        for number in teacher.unanswered(by: model) { faults.append("\(room): nothing was said about \(number)") }
        for case .applied(let number, let index) in teacher.progress.answers where outcomes[number] != .applied(index) {
            faults.append("\(room): \(number) was said to be applied at \(index)")
        }
        for giveUp in model.giveUps {
            // JetStream's clock is known to a daemon only as well as its link is fast.
            guard let delay = giveUp.delay, delay > .milliseconds(-300) else {
                faults.append(
                    "\(room): \(giveUp.number) was given up early: \(giveUp.delay.map { "\($0)" } ?? "never due")")
                continue
            }
        }
    }

    /// - Parameter late: indices that a policy released to the cohort before its video showed them.
    private mutating func judge(
        _ record: TrialRecord, _ model: ModelRoom, _ video: Video, late: Set<UInt64>, _ who: String
    ) {
        faults += record.faults.map { "\(who): \($0)" }
        let last = UInt64(model.operations.count)
        var index: UInt64 = 0
        var boards = 0
        for event in record.events {
            switch event {
            case .operation(let sighting):
                if sighting.index != index + 1 { faults.append("\(who): \(sighting.index) came after \(index)") }
                index = sighting.index
                judge(sighting, model, video, late: late, who)
            case .board(let at, let start, let digest, let visible):
                boards += 1
                if start < index { faults.append("\(who): back from \(index) to \(start)") }
                index = start
                guard start > 0 else { continue }
                guard start <= last else {
                    faults.append("\(who): a board at \(start) of \(last)")
                    continue
                }
                let operation = model.operations[Int(start) - 1]
                if digest != operation.digest || plainDigestText(visible) != digest {
                    faults.append("\(who): a board at \(start) with digest \(digest), not \(operation.digest)")
                }
                if !late.contains(start), operation.gateTime >= video.time(at: at) {
                    faults.append("\(who): a board with \(start), early")
                }
            }
        }
        if index != last { faults.append("\(who): was given \(index) of \(last)") }
        for sighting in record.repeats { judge(sighting, model, video, late: late, who) }
        for (index, digest) in record.marks where index > 0 {
            if index > last || model.operations[Int(index) - 1].digest != digest {
                faults.append("\(who): a mark of \(index) with digest \(digest)")
            }
        }
        let incarnations = record.rooms.subtracting([""])
        if incarnations.count > 1 || incarnations.contains(where: { !$0.hasSuffix("-\(model.firstSequence ?? 0)") }) {
            faults.append("\(who): incarnations \(incarnations.sorted())")
        }
        repeats += record.repeats.count
        boardsAnew += max(0, boards - 1)
    }

    private mutating func judge(
        _ sighting: Sighting, _ model: ModelRoom, _ video: Video, late: Set<UInt64>, _ who: String
    ) {
        guard sighting.index >= 1, sighting.index <= UInt64(model.operations.count) else {
            faults.append("\(who): \(sighting.index) is no operation of the journal")
            return
        }
        let operation = model.operations[Int(sighting.index) - 1]
        if let difference = sighting.difference(from: operation) {
            faults.append("\(who): \(sighting.index): \(difference)")
        }
        let shown = video.time(at: sighting.at)
        if !sighting.isLate, !(sighting.isTail && late.contains(sighting.index)), operation.gateTime >= shown {
            faults.append("\(who): \(sighting.index) is \(operation.gateTime - shown) ms early")
        }
    }
}

extension TrialRecord {
    /// Operations in the order in which they were taken.
    var operations: [Sighting] {
        events.compactMap { if case .operation(let sighting) = $0 { sighting } else { nil } }
    }
}

/// The boards of all rooms at the end, on every way, compared with the models.
struct TrialBoards: Sendable {
    let rooms: TrialClass
    let cluster: TrialCluster
    let models: [String: ModelRoom]

    /// - Parameter known: the incarnations of a look before; nil for none.
    /// - Returns: faults, and the incarnation of each room.
    func compare(with known: [String: String]? = nil) async -> (faults: [String], incarnations: [String: String]) {
        let clients = TrialCluster.gatewayNodes.map { ("gateway \($0)", cluster.client(of: $0)) }
        var faults: [String] = []
        var incarnations: [String: String] = [:]
        await withTaskGroup(of: (String, Set<String>, [String]).self) { group in
            var waiting = rooms.rooms[...]
            for _ in 0..<8 {
                guard let room = waiting.popFirst() else { break }
                group.addTask { await look(at: room, clients) }
            }
            while let (name, found, wrong) = await group.next() {
                faults += wrong
                if found.count != 1 { faults.append("\(name): incarnations \(found.sorted())") }
                incarnations[name] = found.first
                if let known, known[name] != found.first {
                    faults.append("\(name): incarnation \(found.sorted()), before \(known[name] ?? "none")")
                }
                if let room = waiting.popFirst() { group.addTask { await look(at: room, clients) } }
            }
        }
        return (faults, incarnations)
    }

    private func look(
        at room: TrialRoom, _ clients: [(String, HTTPClient)]
    ) async -> (String, Set<String>, [String]) {
        guard let model = models[room.name] else { return (room.name, [], ["\(room.name): no model"]) }
        var incarnations: Set<String> = []
        var faults: [String] = []
        /// After a restart a cohort is behind until its clock has come.
        func expect(_ way: String, _ get: () async throws -> [UInt8]) async {
            do {
                try await eventually("\(room.name), \(way)", within: .seconds(20), every: .milliseconds(250)) {
                    let board = try TrialBoard(try await get())
                    if let difference = board.difference(from: model) { throw Unexpected(difference) }
                    incarnations.insert(board.room)
                }
            } catch {
                faults.append("\(error)")
            }
        }
        let connection = rooms.connections[0]
        for cohort in room.students.map(\.cohort) + ["head"] {
            let request = cohort == "head" ? "join-head" : "join.\(cohort)"
            await expect(request) {
                try await connection.requestParts(Array("{}".utf8), to: "\(room.address).\(request)").payload
            }
            for (name, client) in clients {
                await expect("\(name), \(cohort)") {
                    let response = try await client.get("/api/rooms/\(room.name)/board.json?cohort=\(cohort)")
                    guard response.statusCode == 200 else { throw Unexpected("\(response.statusCode)") }
                    return response.bytes
                }
            }
        }
        return (room.name, incarnations, faults)
    }
}
