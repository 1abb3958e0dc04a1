/// What is not as it must be.
final class Findings {
    private(set) var list: [String] = []
    private let trace: Trace

    init(trace: Trace) {
        self.trace = trace
    }

    func report(_ text: String, at now: Moment) {
        trace.note("!!! \(text)", at: now)
        if list.count < 10 { list.append(text) }
    }
}
