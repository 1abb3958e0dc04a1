import ArgumentParser
import Foundation
import LecternClient
import Locking
import NATSClient
import StrokeWire

/// Rooms whose videos report their time four times a second, with a stroke every ten seconds each.
final class ClockLoad: Sendable {
    private static let interval = 0.25
    private static let strokeInterval = 10.0

    private let connection: NATSConnection
    private let listener: NATSConnection
    private let rooms: [RoomLoad]
    private let clocks: [String]
    private let root: String
    private let roomsPerMessage: Int
    private let messages: [PreparedMessage]

    /// - Parameter roomsPerMessage: samples in a message; 1 for messages of a room each.
    init(_ lesson: Lesson, url: String, root: String, rooms count: Int, roomsPerMessage: Int = 1) async throws {
        messages = try LoadStrokes(lesson).messages
        rooms = try (0..<count).map { try RoomLoad(root: root, number: $0) }
        clocks = rooms.map { "\(root).0.\($0.name).clock.main" }
        self.root = root
        self.roomsPerMessage = roomsPerMessage
        connection = try await .open(url)
        listener = try await .open(url)
    }

    func close() async {
        await connection.close()
        await listener.close()
    }

    func measure(
        _ process: RelayProcess, server: Int32, rounds: Int, seconds: Double
    ) async throws -> [ClockRound] {
        let due = Locked<[String: [Int64]]>([:])
        let lateness = Locked<[Double]>([])
        try listener.subscribe("*.*.*.out.main") { message in
            let now = Int64(DispatchTime.now().uptimeNanoseconds)
            let name = String(message.subject.split(separator: ".")[2])
            guard let first = due.withLock({ $0[name]?.first }) else { return }
            due.withLock { _ = $0[name]?.removeFirst() }
            lateness.withLock { $0.append(Double(now - first) / 1e6) }
        }
        try await listener.flush()
        try await Task.sleep(for: .seconds(1))
        var measured: [ClockRound] = []
        for round in 0...rounds {
            Progress.say(round == 0 ? "warming up" : "round \(round) of \(rounds)")
            lateness.withLock { $0 = [] }
            let before = (process.processorTime, RelayProcess.processorTime(of: server))
            let begin = ContinuousClock.now
            try await onOwnThread { [self] in try publish(for: max(seconds, 5), due) }
            let time = (ContinuousClock.now - begin) / .seconds(1)
            guard round > 0 else { continue }
            measured.append(
                ClockRound(
                    samples: Double(rooms.count) / Self.interval,
                    processor: (process.processorTime - before.0) / time,
                    server: (RelayProcess.processorTime(of: server) - before.1) / time,
                    lateness: lateness.withLock { $0 }.sorted()))
        }
        return measured
    }

    /// The media time is that of this machine; the video of each room is one second behind.
    private func publish(for seconds: Double, _ due: Locked<[String: [Int64]]>) throws {
        let begin = ContinuousClock.now
        let steps = Int(seconds / Self.interval * Double(rooms.count))
        for step in 0..<steps {
            let wait = begin + .seconds(Double(step) * Self.interval / Double(rooms.count)) - ContinuousClock.now
            if wait > .microseconds(200) { usleep(UInt32(wait / .microseconds(1))) }
            let number = step % rooms.count
            let now = Int64(DispatchTime.now().uptimeNanoseconds)
            let media = now / 1_000_000
            if roomsPerMessage > 1 {
                if number.isMultiple(of: roomsPerMessage) {
                    try publishBatch(number..<min(number + roomsPerMessage, rooms.count), media - 1000)
                }
            } else {
                try connection.publish(Array(#"{"m":\#(media - 1000)}"#.utf8), to: clocks[number])
            }
            let turn = step / rooms.count + number
            guard turn.isMultiple(of: Int(Self.strokeInterval / Self.interval)) else { continue }
            due.withLock { $0[rooms[number].name, default: []].append((media + 1000) * 1_000_000) }
            try rooms[number].publish(messages[turn % messages.count].timed(media), connection)
        }
    }
}

extension ClockLoad {
    private func publishBatch(_ numbers: Range<Int>, _ media: Int64) throws {
        var batch = ClockBatch()
        for number in numbers {
            guard let room = RoomID(rooms[number].name),
                batch.add(ClockSample(media: MediaTime(milliseconds: media)), room: room, cohort: .main)
            else { throw BenchFailure("a message does not take \(numbers.count) samples") }
        }
        try connection.publish(batch.encoded(), to: ClockBatch.subject(root: root, partition: 0))
    }
}

/// What one round of clocks came to.
struct ClockRound {
    /// Clock samples a second.
    var samples: Double
    /// Cores that the daemon used.
    var processor: Double
    /// Cores that the NATS server used.
    var server: Double
    /// Of the operations that were released, in milliseconds; sorted.
    var lateness: [Double]
}
