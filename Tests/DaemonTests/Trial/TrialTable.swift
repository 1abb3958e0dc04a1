import Foundation
import StrokeWire
import TestSupport

/// A phase as it went.
struct TrialMoment: Sendable {
    let phase: TrialPhase
    let begin: ContinuousClock.Instant
    let end: ContinuousClock.Instant
    /// When something was killed, or a partition ended; nil in other phases.
    let event: ContinuousClock.Instant?
    /// The partitions of the rooms that the killed daemon had.
    let partitions: Set<Int>
    /// What was done, as text.
    let what: String
}

/// The figures of a trial, by phase. An operation belongs to the phase in which it was due: when the cohort's video had come to
/// it and the journal had it in its order.
struct TrialTable: Sendable {
    private struct Phase {
        /// From due to seen, over NATS and over HTTP, and from first seen by anybody to seen by a reader over HTTP, in
        /// milliseconds.
        var nats: [Double] = []
        var http: [Double] = []
        var spread: [Double] = []
        var operations = 0
        /// The last moment at which something was seen that was more than a second late.
        var lastLate: ContinuousClock.Instant?
    }

    private var phases: [Phase]
    private let moments: [TrialMoment]
    /// By partition: when its operations were seen first, and when its log took one.
    private var released: [Int: [ContinuousClock.Instant]] = [:]
    private var logged: [Int: [ContinuousClock.Instant]] = [:]

    init(_ rooms: TrialClass, _ models: [String: ModelRoom], _ moments: [TrialMoment]) {
        self.moments = moments
        phases = moments.map { _ in Phase() }
        // JetStream's times are of the wall clock of this machine.
        let now = (ContinuousClock.now, Date().timeIntervalSince1970)
        func instant(_ nanoseconds: Int64) -> ContinuousClock.Instant {
            now.0 - .seconds(now.1 - Double(nanoseconds) / 1e9)
        }
        let readers = Dictionary(grouping: rooms.readers) { "\($0.room) \($0.cohort)" }
        for room in rooms.rooms {
            guard let model = models[room.name] else { continue }
            let times = model.operations.map { instant($0.time) }
            logged[room.address.partition, default: []] += times
            for student in room.students {
                let due = zip(model.operations, times).map { operation, time in
                    max(time, student.video.start + student.video.delay + .milliseconds(Int(operation.gateTime)))
                }
                let seen = student.record.operations
                let read = (readers["\(room.name) \(student.cohort)"] ?? []).map(\.record.operations)
                var first: [UInt64: ContinuousClock.Instant] = [:]
                for sighting in seen + read.joined() {
                    first[sighting.index] = min(first[sighting.index] ?? sighting.at, sighting.at)
                }
                released[room.address.partition, default: []] += first.values
                for sighting in seen { note(sighting, due, \.nats) }
                for sighting in read.joined() {
                    note(sighting, due, \.http)
                    if let phase = phase(at: due[Int(sighting.index) - 1]), let first = first[sighting.index] {
                        phases[phase].spread.append(first.duration(to: sighting.at) / .milliseconds(1))
                    }
                }
            }
            for time in times { if let phase = phase(at: time) { phases[phase].operations += 1 } }
        }
        for phase in phases.indices {
            phases[phase].nats.sort()
            phases[phase].http.sort()
            phases[phase].spread.sort()
        }
    }

    private func phase(at instant: ContinuousClock.Instant) -> Int? {
        moments.firstIndex { $0.begin <= instant && instant < $0.end }
    }

    private mutating func note(
        _ sighting: Sighting, _ due: [ContinuousClock.Instant], _ list: WritableKeyPath<Phase, [Double]>
    ) {
        guard due.indices.contains(Int(sighting.index) - 1), let phase = phase(at: due[Int(sighting.index) - 1]) else {
            return
        }
        let late = due[Int(sighting.index) - 1].duration(to: sighting.at)
        phases[phase][keyPath: list].append(late / .milliseconds(1))
        if late > .seconds(1) { phases[phase].lastLate = max(phases[phase].lastLate ?? sighting.at, sighting.at) }
    }

    /// From an event to the end of the pause that it made, in seconds: the longest pause that began a second before or after it.
    private func pause(_ times: [ContinuousClock.Instant], after event: ContinuousClock.Instant) -> Double {
        let sorted = times.sorted()
        let pauses = zip(sorted, sorted.dropFirst()).filter {
            event - .seconds(1) < $0 && $0 < event + .seconds(1) && $1 > event
        }
        guard let longest = pauses.max(by: { $0.0.duration(to: $0.1) < $1.0.duration(to: $1.1) }) else { return 0 }
        return event.duration(to: longest.1) / .seconds(1)
    }

    private static func text(_ sorted: [Double]) -> String {
        guard !sorted.isEmpty else { return "– · – · –" }
        return [0.5, 0.99, 1].map { part in
            String(format: "%.0f", sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))])
        }.joined(separator: " · ")
    }

    /// Markdown.
    var rows: [String] {
        var rows = [
            """
            | phase | operations/s | due → student over NATS: p50 · p99 · most, ms | due → reader over HTTP | released → reader over HTTP |
            |---|---|---|---|---|
            """
        ]
        for (moment, phase) in zip(moments, phases) {
            let rate = Double(phase.operations) / (moment.begin.duration(to: moment.end) / .seconds(1))
            rows.append(
                """
                | \(moment.phase.rawValue)\(moment.what.isEmpty ? "" : ": \(moment.what)") | \
                \(String(format: "%.0f", rate)) | \(Self.text(phase.nats)) | \(Self.text(phase.http)) | \
                \(Self.text(phase.spread)) |
                """)
        }
        return rows
    }

    /// What the events cost, a line each.
    var recoveries: [String] {
        zip(moments, phases).compactMap { moment, phase in
            guard let event = moment.event else { return nil }
            var words: [String] = []
            if !moment.partitions.isEmpty {
                let pauses = moment.partitions.map { pause(released[$0] ?? [], after: event) }.sorted()
                words.append(
                    "its rooms go on after \(Self.seconds(pauses[0])) to \(Self.seconds(pauses[pauses.count - 1]))")
            }
            if moment.phase == .server || moment.phase == .partition {
                let begin = moment.phase == .server ? event : moment.begin
                let pauses = logged.values.map { pause($0, after: begin) }.sorted()
                words.append(
                    "the logs take operations again after \(Self.seconds(pauses[0])) to \(Self.seconds(pauses.last ?? 0))"
                )
            }
            let late = phase.lastLate.map { event.duration(to: $0) / .seconds(1) }
            words.append(
                late.map { "nothing is more than 1 s late from \(Self.seconds($0)) on" }
                    ?? "nothing is more than 1 s late")
            return "\(moment.phase.rawValue): \(words.joined(separator: "; "))"
        }
    }

    private static func seconds(_ value: Double) -> String { String(format: "%.1f s", value) }
}
