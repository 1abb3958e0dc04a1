import Foundation
import NATSClient
import StrokeWire

/// Students who join, one after the other at a steady rate, without waiting for each other.
final class LoadJoins: Sendable {
    /// How long a student waits for a reply.
    private static let timeout = Duration.seconds(5)

    let latencies = LatencyHistogram()
    private let subjects: [String]
    private let rate: Double
    private let connection: NATSConnection
    /// Joins that got no board in time.
    let failures = Counter()
    private let bytes = Counter()

    /// - Parameters:
    ///   - subjects: of join requests; they take turns.
    ///   - rate: joins a second.
    init(_ subjects: [String], rate: Double, over connection: NATSConnection) {
        self.subjects = subjects
        self.rate = rate
        self.connection = connection
    }

    /// Bytes of a reply, on average.
    var meanBytes: Double { Double(bytes.count) / Double(max(1, latencies.count)) }

    /// Joins until the instant; returns when all have been answered.
    func run(until end: Int64) async {
        guard rate > 0 else { return }
        let begin = ContinuousClock.now
        await withDiscardingTaskGroup { group in
            for number in 0... {
                try? await Task.sleep(until: begin + .seconds(Double(number) / rate), clock: .continuous)
                if LoadClock.now >= end || Task.isCancelled { return }
                group.addTask { [self] in await join(subjects[number % subjects.count]) }
            }
        }
    }

    private func join(_ subject: String) async {
        let begin = LoadClock.now
        let reply = try? await connection.requestParts(
            JoinRequest().encoded(), to: subject, timeout: Self.timeout)
        guard let reply, RequestError(decoding: reply.payload) == nil else {
            return failures.add()
        }
        latencies.record(nanoseconds: LoadClock.now - begin)
        bytes.add(reply.payload.count)
    }
}
