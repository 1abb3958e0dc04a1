import Foundation
import NATSClient
import StrokeWire
import Synchronization

/// Publishes the strokes and clock samples of all rooms, each at its time, on a thread of its own.
///
/// The schedule does not wait for anything: a service that stalls gets what has become due meanwhile, and its stall
/// counts for every operation in it.
final class LoadGenerator: Sendable {
    /// Clock samples of a cohort a second.
    private static let samples = 4.0

    private let rooms: [LoadRoom]
    private let cohorts: [LoadCohort]
    private let clocks: [(subject: String, delay: Int64)]
    private let strokes: LoadStrokes
    private let rate: Double
    private let connection: NATSConnection
    private let floor: LoadFloor?
    private let isStopping = Atomic(false)

    /// - Parameters:
    ///   - rate: strokes a second of each room.
    ///   - floor: what gets a copy of some strokes.
    init(
        _ rooms: [LoadRoom], _ cohorts: [LoadCohort], _ strokes: LoadStrokes, rate: Double,
        over connection: NATSConnection, floor: LoadFloor?
    ) {
        self.rooms = rooms
        self.cohorts = cohorts
        self.strokes = strokes
        self.rate = rate
        self.connection = connection
        self.floor = floor
        clocks = rooms.flatMap { room in
            cohorts.map { (room.address.subject(.clock($0.name)), $0.delay) }
        }
    }

    /// Publishes clock samples until ``stop()``, and strokes from `start` until `end`.
    func run(strokesFrom start: Int64, until end: Int64) async throws {
        try await onOwnThread { [self] in try publish(from: start, until: end) }
    }

    /// Ends ``run(strokesFrom:until:)`` soon.
    func stop() {
        isStopping.store(true, ordering: .relaxed)
    }

    private func publish(from start: Int64, until end: Int64) throws {
        let begin = LoadClock.now
        let interval = Int64(1e9 / (rate * Double(rooms.count)))
        let sampling = Int64(1e9 / (Self.samples * Double(clocks.count)))
        var (nextStroke, nextSample) = (start, begin)
        var (stroke, sample) = (0, 0)
        while !isStopping.load(ordering: .relaxed) {
            let isStroke = nextStroke < end && nextStroke <= nextSample
            let due = isStroke ? nextStroke : nextSample
            let wait = due - LoadClock.now
            if wait > 0 {
                usleep(UInt32(min(wait / 1000, 50_000)))
                if wait > 60_000_000 { continue }
            }
            if isStroke {
                let room = rooms[stroke % rooms.count]
                let message = strokes.operation(after: stroke / rooms.count).timed(Self.mediaTime(due))
                try room.publish(message, due: due, connection)
                try floor?.probe(message.bytes(number: room.count), number: stroke, over: connection)
                stroke += 1
                nextStroke += interval
            } else {
                let clock = clocks[sample % clocks.count]
                // The time of a sample is when it is sent: a video player knows what it shows now.
                let media = Self.mediaTime(LoadClock.now) - clock.delay
                try connection.publish(Array(#"{"m":\#(media)}"#.utf8), to: clock.subject)
                sample += 1
                nextSample += sampling
            }
        }
    }

    /// In milliseconds, the same for all rooms; never near 0, whatever the delay of a cohort.
    private static func mediaTime(_ instant: Int64) -> Int64 { instant / 1_000_000 + 3_600_000 }
}

/// The floor of the latencies: copies of some strokes that go through the NATS server alone, at the same time.
final class LoadFloor: Sendable {
    /// Copies a second at most.
    private static let rate = 100.0

    let latencies = LatencyHistogram()
    private let inbox: String
    private let stride: Int

    /// - Parameter rate: strokes a second of all rooms.
    init(rate: Double, over connection: NATSConnection) async throws {
        stride = max(1, Int(rate / Self.rate))
        inbox = connection.makeInbox()
        try connection.subscribe(inbox) { [latencies] message in
            let now = LoadClock.now
            if let sent = message.header("Sent").flatMap({ Int64($0) }) { latencies.record(nanoseconds: now - sent) }
        }
        try await connection.flush()
    }

    func probe(_ bytes: [UInt8], number: Int, over connection: NATSConnection) throws(NATSError) {
        guard number.isMultiple(of: stride) else { return }
        try connection.publish(bytes, to: inbox, headers: ["Sent": "\(LoadClock.now)"])
    }
}
