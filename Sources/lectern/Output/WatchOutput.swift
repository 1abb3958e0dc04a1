import LecternClient
import StrokeWire

/// What `lectern watch` prints: a line of JSON for each operation and each join, problems for people.
struct WatchOutput {
    private let untilIndex: UInt64?
    private let start = ContinuousClock.now
    private var index: UInt64 = 0
    /// What the service last said no to a join with.
    private(set) var refusal: String?

    /// - Parameter untilIndex: the operation that the watch ends with; nil to go on.
    init(untilIndex: UInt64?) {
        self.untilIndex = untilIndex
    }

    /// Whether the watch has come as far as was asked for.
    var isReached: Bool { untilIndex.map { index >= $0 } ?? true }

    /// Prints what happened.
    /// - Returns: whether the watch goes on.
    mutating func show(_ event: StudentEvent) -> Bool {
        switch event {
        case .problem(let problem):
            if case .joinFailed(.refused(let why)) = problem { refusal = why }
            StandardError.write("\(at) ms: \(problem)")
            return true
        case .joined(let room, let index, let digest, let visible):
            self.index = index
            var line = JSONLine()
            line.add("event", "joined")
            line.add("index", index)
            line.add("room", room)
            line.add("digest", digest.description)
            line.add("visible", visible)
            line.add("at", at)
            StandardOutput.write(bytes: line.closed)
        case .applied(let operation, let room, let digest):
            index = operation.index
            var line = JSONLine()
            line.add("index", operation.index)
            line.add("room", room)
            line.add("author", operation.author.text)
            if let reference = operation.reference { line.add("ref", reference) }
            if operation.isLate { line.add("late", true) }
            line.add("digest", digest.description)
            line.add("at", at)
            line.add("message", json: operation.bytes)
            StandardOutput.write(bytes: line.closed)
        }
        return untilIndex == nil || !isReached
    }

    /// One line for people.
    func summary(of report: StudentReport) -> String {
        "index \(index): applied \(report.applied), late \(report.late), joins \(report.joins), "
            + "rejoins \(report.rejoins), failed joins \(report.failedJoins), gaps \(report.gaps), "
            + "repeats \(report.repeats), divergences \(report.divergences), conflicts \(report.conflicts), "
            + "malformed \(report.malformed), overflows \(report.overflows)"
    }

    private var at: Int { Int(start.duration(to: .now) / .milliseconds(1)) }
}
