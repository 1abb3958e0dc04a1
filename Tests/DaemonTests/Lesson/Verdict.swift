import LecternClient
import Testing

/// What a lesson came to, held against the model of what it had to be.
struct Verdict: Sendable {
    let plan: Lesson.Plan
    let model: ModelRoom
    let pens: [Pen]
    let witnesses: [Witness]
    let standings: [Pupil.Standing]

    private var last: UInt64 { UInt64(model.operations.count) }

    /// Whether all has reached everybody.
    var isComplete: Bool {
        last > 0 && !model.isPending && standings.allSatisfy { $0.index == last }
            && (plan.mayLose
                || witnesses.allSatisfy { $0.index == last } && pens.allSatisfy { unanswered($0).isEmpty })
    }

    /// Numbers that the service has said nothing final of.
    func unanswered(_ pen: Pen) -> [Int64] {
        let words = pen.progress.words
        return (model.authors[pen.author]?.outcomes ?? [:]).compactMap { number, outcome in
            switch outcome {
            case .applied(let index): words.contains(.applied(number: number, index: index)) ? nil : number
            case .rejected: words.contains(.rejected(number: number)) ? nil : number
            }
        }
    }

    /// Holds everything that must be so against what is.
    func expect() {
        #expect(last > 0)
        for (pen, progress) in pens.map({ ($0, $0.progress) }) {
            let outcomes = model.authors[pen.author]?.outcomes ?? [:]
            let lost = progress.sent.keys.filter { outcomes[$0] == nil }.sorted()
            #expect(lost.isEmpty, "acknowledged, but neither applied nor rejected, of \(pen.author)")
            #expect(unanswered(pen).isEmpty, "\(pen.author) was not told")
            for case .applied(let number, let index) in progress.words {
                #expect(outcomes[number] == .applied(index), "\(pen.author) was told wrong of \(number)")
            }
        }
        for standing in standings {
            #expect(standing.index == last)
            #expect(standing.digest == model.digest)
            #expect(standing.report?.isSound == true, "\(standing.problems)")
            if !plan.mayLose { #expect(standing.report?.gaps == 0, "\(standing.problems)") }
        }
        for witness in witnesses { expect(witness) }
    }

    private func expect(_ witness: Witness) {
        var newest: UInt64 = 0
        var rooms: Set<String> = []
        var faults: [String] = []
        for sighting in witness.sightings {
            rooms.insert(sighting.room)
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
            let shown = witness.video.time(at: sighting.at)
            if !sighting.isLate, operation.gateTime >= shown {
                faults.append("\(sighting.index) is \(operation.gateTime - shown) ms early")
            }
        }
        if plan.mayLose == false { #expect(newest == last, "\(witness.cohort) was not given everything") }
        #expect(rooms.count == 1, "lives of the room: \(rooms)")
        #expect(rooms.allSatisfy { $0.hasSuffix("-\(model.firstSequence ?? 0)") })
        #expect(faults.isEmpty, "what \(witness.cohort) saw")
    }

    /// Messages that a cohort got more than once.
    func repeats(of witness: Witness) -> Int {
        witness.sightings.count - Set(witness.sightings.map(\.index)).count
    }

    /// The longest time that a cohort got an operation after it was due: of those after `index` that a clock released.
    func longestPause(of witness: Witness, after index: UInt64) -> Duration {
        var seen: Set<UInt64> = []
        let pauses = witness.sightings.compactMap { sighting -> Double? in
            guard sighting.index > index, seen.insert(sighting.index).inserted, !sighting.isLate,
                sighting.index <= last
            else { return nil }
            return witness.video.time(at: sighting.at) - model.operations[Int(sighting.index - 1)].gateTime
        }
        return .milliseconds(Int(pauses.max() ?? 0))
    }
}

extension Witness.Sighting {
    /// What is not as it should be.
    fileprivate func difference(from operation: ModelOperation) -> String? {
        if author != operation.author { return "by \(author), not \(operation.author)" }
        if digest != operation.digest { return "digest \(digest), not \(operation.digest)" }
        if reference != operation.reference { return "about \(reference ?? 0), not \(operation.reference ?? 0)" }
        if operation.isLate, !isLate { return "not marked late" }
        let messages = operation.messages
        if messages[0].isSharded {
            guard let joined = try? ModelMessage(body) else { return "cannot be read" }
            return joined.points == messages.flatMap(\.points) ? nil : "other points"
        }
        return body == messages[0].bytes ? nil : "other bytes"
    }
}

extension Verdict: CustomStringConvertible {
    var description: String {
        let repeats = witnesses.map { self.repeats(of: $0) }
        let late = model.operations.count { $0.isLate }
        let rejected = model.authors.values.reduce(0) { sum, author in
            sum + author.outcomes.values.count { $0 == .rejected }
        }
        return """
            \(last) operations, \(late) drawn late, \(rejected) rejected, \
            \(pens.reduce(0) { $0 + $1.progress.acknowledged }) messages, repeats by cohort \(repeats), students at \
            \(standings.map(\.index)), joins \(standings.map { $0.report?.joins ?? 0 }), unanswered \
            \(pens.map { unanswered($0).count })
            """
    }
}
