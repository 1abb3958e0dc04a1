import LecternClient
import Testing

/// The result of a lesson, compared with the model.
struct Verdict: Sendable {
    let plan: Lesson.Plan
    let model: ModelRoom
    let teachers: [TestTeacher]
    let observers: [CohortObserver]
    let positions: [TestStudent.Position]

    private var last: UInt64 { UInt64(model.operations.count) }

    /// Whether every client has everything.
    var isComplete: Bool {
        last > 0 && model.open.isEmpty && positions.allSatisfy { $0.index == last }
            && (plan.mayLose
                || observers.allSatisfy { $0.index == last } && teachers.allSatisfy { unanswered($0).isEmpty })
    }

    /// Numbers without final feedback.
    func unanswered(_ teacher: TestTeacher) -> [Int64] {
        teacher.unanswered(by: model)
    }

    /// Expects everything that must hold.
    func expect() {
        #expect(last > 0)
        for (teacher, progress) in teachers.map({ ($0, $0.progress) }) {
            let outcomes = model.outcomes[teacher.author] ?? [:]
            let lost = progress.sent.keys.filter { outcomes[$0] == nil }.sorted()
            #expect(lost.isEmpty, "acknowledged, but neither applied nor rejected, of \(teacher.author)")
            #expect(unanswered(teacher).isEmpty, "\(teacher.author) was not told")
            for case .applied(let number, let index) in progress.answers {
                #expect(outcomes[number] == .applied(index), "\(teacher.author) was told wrong of \(number)")
            }
        }
        for position in positions {
            #expect(position.index == last)
            #expect(position.digest == model.digest)
            #expect(position.report?.isSound == true, "\(position.problems)")
            if !plan.mayLose { #expect(position.report?.gaps == 0, "\(position.problems)") }
        }
        for observer in observers { expect(observer) }
        expectGiveUps()
    }

    /// Nothing is given up before its time. How much later depends on what happened to the daemons.
    private func expectGiveUps() {
        for giveUp in model.giveUps {
            guard let delay = giveUp.delay else {
                Issue.record("\(giveUp.author) \(giveUp.number) was given up, and nothing waited for it")
                continue
            }
            #expect(delay > .zero - Self.clockError, "\(giveUp.author) \(giveUp.number) was given up early")
        }
    }

    /// A daemon knows JetStream's clock this well.
    private static let clockError = Duration.milliseconds(100)

    private func expect(_ observer: CohortObserver) {
        var newest: UInt64 = 0
        var faults: [String] = []
        for sighting in observer.sightings {
            if sighting.index > newest + 1, !plan.mayLose { faults.append("\(sighting.index) after \(newest)") }
            newest = max(newest, sighting.index)
            guard sighting.index >= 1, sighting.index <= last else {
                faults.append("\(sighting.index) is no operation of the journal")
                continue
            }
            let operation = model.operations[Int(sighting.index - 1)]
            if let difference = sighting.difference(from: operation) {
                faults.append("\(sighting.index): \(difference)")
            }
            let shown = observer.video.time(at: sighting.at)
            if !sighting.isLate, operation.gateTime >= shown {
                faults.append("\(sighting.index) is \(operation.gateTime - shown) ms early")
            }
        }
        if plan.mayLose == false { #expect(newest == last, "\(observer.cohort) was not given everything") }
        let rooms = observer.rooms
        #expect(rooms.count == 1, "lives of the room: \(rooms)")
        #expect(rooms.allSatisfy { $0.hasSuffix("-\(model.firstSequence ?? 0)") })
        #expect(faults.isEmpty, "what \(observer.cohort) saw")
    }

    /// Number of repeated messages in a cohort.
    func repeats(of observer: CohortObserver) -> Int {
        observer.sightings.count - Set(observer.sightings.map(\.index)).count
    }

    /// The longest delay between due and received, of those operations that a clock released.
    func longestPause(of observer: CohortObserver, among indices: ClosedRange<UInt64>) -> Duration {
        var seen: Set<UInt64> = []
        let pauses = observer.sightings.compactMap { sighting -> Double? in
            guard indices.contains(sighting.index), seen.insert(sighting.index).inserted, !sighting.isLate,
                sighting.index <= last
            else { return nil }
            return observer.video.time(at: sighting.at) - model.operations[Int(sighting.index - 1)].gateTime
        }
        return .milliseconds(Int(pauses.max() ?? 0))
    }
}

extension Verdict: CustomStringConvertible {
    var description: String {
        let repeats = observers.map { self.repeats(of: $0) }
        let late = model.operations.count { $0.isLate }
        let rejected = model.outcomes.values.reduce(0) { sum, outcomes in
            sum + outcomes.values.count { $0 == .rejected }
        }
        return """
            \(last) operations, \(late) drawn late, \(rejected) rejected, \(model.giveUps.count) given up after \
            \(model.giveUps.compactMap(\.delay).min() ?? .zero) and more, \
            \(teachers.reduce(0) { $0 + $1.progress.acknowledged }) messages, repeats by cohort \(repeats), students at \
            \(positions.map(\.index)), joins \(positions.map { $0.report?.joins ?? 0 }), unanswered \
            \(teachers.map { unanswered($0).count })
            """
    }
}
