import Foundation
import Locking
import NATSClient
import TestSupport

/// An ordinary room: one author who draws at intervals, a video clock far ahead, one student.
final class GoodRoom: Sendable {
    /// How far a stroke has come.
    enum Stage: CaseIterable {
        /// In the journal, acknowledged by JetStream.
        case stored
        /// Applied by the daemon, on `.head`.
        case applied
        /// With the students.
        case released
    }

    fileprivate struct State {
        /// When each stroke was published, and how long it took to come that far.
        var published: [ContinuousClock.Instant] = []
        var latencies: [Stage: [Int: Duration]] = [:]
        var lastIndex = 0
        /// Violations of order.
        var problems: [String] = []
    }

    static let name = "good"
    private static let address = "ink.0.good"
    private static let inbox = "_INBOX.good"
    private static let interval = Duration.milliseconds(25)

    private let teacher: NATSConnection
    private let state = Locked(State())

    init(teacher: NATSConnection, student: NATSConnection) async throws {
        self.teacher = teacher
        for (subject, stage) in [("out.main", Stage.released), ("head", .applied)] {
            _ = try student.subscribe("\(Self.address).\(subject)") { [state] message in
                let now = ContinuousClock.now
                let index = message.header("Ink-Index").flatMap { Int($0) } ?? 0
                state.withLock { $0.arrived(index, at: now, stage) }
            }
        }
        try await student.flush()
        _ = try teacher.subscribe("\(Self.inbox).*") { [state] message in
            let now = ContinuousClock.now
            let number = message.subject.split(separator: ".").last.flatMap { Int($0) } ?? 0
            _ = state.withLock { $0.note(number, at: now, .stored) }
        }
        try await teacher.flush()
    }

    /// Draws until cancelled.
    func draw() async throws {
        var tick = 0
        while !Task.isCancelled {
            if tick % 16 == 0 { try showVideo() }
            tick += 1
            try publish()
            try? await Task.sleep(for: Self.interval)
        }
    }

    private func showVideo() throws {
        try teacher.publish(Array(#"{"m":1000000,"r":0}"#.utf8), to: "\(Self.address).clock.main")
    }

    private func publish() throws {
        let number = state.withLock { state in
            state.published.append(.now)
            return state.published.count
        }
        let stroke =
            #"{"n":\#(number),"c":1,"l":3,"t":\#(number),"w":1024,"h":768,"d":[{"x":\#(number % 1000),"y":10},{"x":5,"y":9}]}"#
        try teacher.publish(
            Array(stroke.utf8), to: "\(Self.address).in.anna", reply: "\(Self.inbox).\(number)",
            headers: ["Ink-Session": "good"])
    }

    /// Strokes published so far.
    var published: Int { state.withLock { $0.published.count } }
    var problems: [String] { state.withLock { $0.problems } }

    /// Waits until all published strokes have arrived, or `isSensible` is false.
    func settle(within limit: Duration, while isSensible: () -> Bool = { true }) async throws {
        var shownAt = ContinuousClock.now
        _ = try await eventually("all strokes of the good room are released", within: limit) {
            if shownAt.duration(to: .now) > .milliseconds(400) {
                shownAt = .now
                try showVideo()
            }
            return state.withLock { $0.latencies[.released, default: [:]].count == $0.published.count } || !isSensible()
                ? true : nil
        }
    }

    /// How long the strokes from `first` on took, in their order of length.
    func latencies(from first: Int, _ stage: Stage = .released) -> Latencies {
        state.withLock { state in
            Latencies((state.latencies[stage, default: [:]].filter { $0.key >= first }).values.sorted())
        }
    }
}

extension GoodRoom.State {
    fileprivate mutating func arrived(_ index: Int, at now: ContinuousClock.Instant, _ stage: GoodRoom.Stage) {
        guard note(index, at: now, stage) else {
            problems.append("index \(index) came again, or is nobody's")
            return
        }
        guard stage == .released else { return }
        if index != lastIndex + 1 { problems.append("index \(index) came after \(lastIndex)") }
        lastIndex = index
    }

    /// - Returns: false for a stroke that has come so far already, or that nobody has published.
    fileprivate mutating func note(_ number: Int, at now: ContinuousClock.Instant, _ stage: GoodRoom.Stage) -> Bool {
        guard 1...max(1, published.count) ~= number, latencies[stage]?[number] == nil else { return false }
        latencies[stage, default: [:]][number] = published[number - 1].duration(to: now)
        return true
    }
}

/// Sorted latencies.
struct Latencies: CustomStringConvertible {
    private let sorted: [Duration]

    init(_ sorted: [Duration]) {
        self.sorted = sorted
    }

    func quantile(_ part: Double) -> Duration {
        sorted.isEmpty ? .zero : sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
    }

    /// A quantile in milliseconds, as text.
    func text(_ part: Double) -> String { "\((quantile(part) / .milliseconds(1) * 10).rounded() / 10) ms" }

    var description: String {
        "p50 \(text(0.5)), p99 \(text(0.99)), max \(text(1)) of \(sorted.count)"
    }
}

/// The resident memory of a process, sampled.
final class ProcessMemory: Sendable {
    private let identifier: Int32
    private let most = Locked(0)

    init(of identifier: Int32) {
        self.identifier = identifier
    }

    /// Resident bytes now; nil if there is no such process.
    var resident: Int? {
        let text = try? String(contentsOfFile: "/proc/\(identifier)/statm", encoding: .utf8)
        return text?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * Int(getpagesize()) }
    }

    /// Samples until cancelled.
    func watch() async {
        while !Task.isCancelled {
            let now = resident ?? 0
            most.withLock { $0 = max($0, now) }
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// The most since the last call, in bytes.
    func takeMost() -> Int {
        let now = resident ?? 0
        return most.withLock { most in
            defer { most = now }
            return max(most, now)
        }
    }
}

/// How busy the machine's processors are between two looks.
struct ProcessorLoad {
    private struct Ticks {
        var all = 0
        var idle = 0
        var process = 0

        init(of identifier: Int32) {
            func fields(_ path: String) -> [Int] {
                let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
                return (text.split(separator: "\n").first ?? "").split(separator: " ").map { Int($0) ?? 0 }
            }
            // cpu user nice system idle iowait irq softirq steal; what comes after is in user and nice already.
            let machine = fields("/proc/stat").dropFirst().prefix(8).map { $0 }
            if machine.count == 8 { (all, idle) = (machine.reduce(0, +), machine[3] + machine[4]) }
            // Its user and system time, if its name has no blank.
            let own = fields("/proc/\(identifier)/stat")
            if own.count > 14 { process = own[13] + own[14] }
        }
    }

    private let identifier: Int32
    private let begin: Ticks

    init(of identifier: Int32) {
        self.identifier = identifier
        begin = Ticks(of: identifier)
    }

    /// Since the beginning, of all the machine's processors together, and the process's part of that.
    var description: String {
        let end = Ticks(of: identifier)
        let all = max(1, end.all - begin.all)
        let busy = all - (end.idle - begin.idle)
        return "processors \(busy * 100 / all) %, daemon \((end.process - begin.process) * 100 / all) %"
    }
}
