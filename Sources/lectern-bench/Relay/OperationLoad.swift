import ArgumentParser
import Foundation
import LecternClient
import Locking
import NATSClient
import StrokeWire
import Synchronization

/// Authors who publish strokes in a number of rooms, and the students of these rooms.
final class OperationLoad: Sendable {
    /// Operations that were published and have not come back, at most.
    private static let window = 2048

    private let connection: NATSConnection
    private let listener: NATSConnection
    private let rooms: [RoomLoad]
    private let strokes: LoadStrokes
    private let published = Counter()
    private let released = Counter()
    /// Since the round began, in nanoseconds; only at a steady rate.
    private let latencies = Locked<[Int64]?>(nil)
    /// The first operation that was not accepted.
    private let rejection = Locked<String?>(nil)

    /// - Parameter stream: to be made for what authors publish; nil where the service makes its own, or needs none.
    init(_ lesson: Lesson, url: String, root: String, rooms count: Int, stream: String?) async throws {
        strokes = try LoadStrokes(lesson, strokesOfBoard: 500)
        rooms = try (0..<count).map { try RoomLoad(root: root, number: $0) }
        connection = try await .open(url)
        listener = try await .open(url)
        if let stream {
            var configuration = StreamConfiguration(name: stream, subjects: ["\(root).*.*.in.*"])
            configuration.duplicateWindow = .seconds(120)
            _ = try await JetStream(connection).provision(configuration)
        }
        try listener.subscribe("\(root).*.*.feedback.*") { [weak self] message in
            guard let self, message.payloadSize > 8, rejection.withLock({ $0 == nil }) else { return }
            let text = String(decoding: message.copyPayload(), as: UTF8.self)
            if text.contains("\"error\"") { rejection.withLock { $0 = text } }
        }
        let byName = Dictionary(uniqueKeysWithValues: rooms.map { ($0.name, $0) })
        try listener.subscribe("\(root).*.*.out.main") { [weak self] message in
            guard let self else { return }
            released.add()
            guard latencies.withLock({ $0 != nil }) else { return }
            let name = String(message.subject.split(separator: ".")[2])
            guard let sent = byName[name]?.takeSent() else { return }
            latencies.withLock { $0?.append(Int64(DispatchTime.now().uptimeNanoseconds) - sent) }
        }
        try await listener.flush()
    }

    func close() async {
        await connection.close()
        await listener.close()
    }

    /// Publishes the first operation until it comes back.
    func warmUp(_ process: RelayProcess) async throws {
        var isFirst = true
        try await waitUntil(within: 20, every: .milliseconds(200), else: "nothing came back") {
            try process.check()
            guard released.count == 0 else { return true }
            // Without a journal the first may come before the subscription: the same is published again.
            try rooms[0].publish(strokes.messages[0], again: !isFirst, connection)
            isFirst = false
            return false
        }
        try await Task.sleep(for: .milliseconds(500))
        published.reset()
        released.reset()
    }

    /// - Parameter rate: operations a second; nil for as many as get through.
    func measure(_ process: RelayProcess, server: Int32, seconds: Double, rate: Double?) async throws -> RelayRound {
        for room in rooms { room.forgetSent() }
        latencies.withLock { $0 = rate == nil ? nil : [] }
        let start = released.count
        let processor = (process.processorTime, RelayProcess.processorTime(of: server))
        let begin = ContinuousClock.now
        try await onOwnThread { [self] in try publish(for: seconds, rate: rate) }
        // What is under way belongs to the round.
        try await waitUntil(
            within: 20, every: .milliseconds(1),
            else:
                "\(rejection.withLock { $0 } ?? ""); \(published.count - released.count) operations have not come back"
        ) { released.count >= published.count }
        let time = (ContinuousClock.now - begin) / .seconds(1)
        let count = Double(released.count - start)
        let sorted = latencies.withLock { latencies in
            defer { latencies = nil }
            return (latencies ?? []).map { Double($0) / 1e6 }.sorted()
        }
        return RelayRound(
            operations: count / time, processor: (process.processorTime - processor.0) / count * 1e6,
            server: (RelayProcess.processorTime(of: server) - processor.1) / count * 1e6, latencies: sorted)
    }

    /// On a thread of its own: it waits.
    private func publish(for seconds: Double, rate: Double?) throws {
        let begin = ContinuousClock.now
        let end = begin + .seconds(seconds)
        var count = 0
        while ContinuousClock.now < end {
            if let rate {
                let due = begin + .seconds(Double(count) / rate)
                let wait = due - ContinuousClock.now
                if wait > .zero { usleep(UInt32(wait / .microseconds(1))) }
            } else {
                while published.count - released.count >= Self.window {
                    guard ContinuousClock.now < end + .seconds(20) else { return }
                    usleep(100)
                }
            }
            let room = rooms[count % rooms.count]
            if rate != nil { room.noteSent(Int64(DispatchTime.now().uptimeNanoseconds)) }
            published.add()
            try room.publish(strokes.operation(after: room.count), connection)
            count += 1
        }
    }
}

/// A message in which the number alone changes.
struct PreparedMessage: Sendable {
    private let head: [UInt8]
    private let tail: [UInt8]

    init(_ header: StrokeMessage, interior: ArraySlice<UInt8>) {
        var header = header
        header.number = 0
        header.time = nil
        self.init(header.encoded(interior: interior))
    }

    /// - Parameter bytes: begins with `{"n":0`.
    init(_ bytes: [UInt8]) {
        let head = Array(#"{"n":"#.utf8)
        precondition(bytes.starts(with: head + [UInt8(ascii: "0")]), "a message begins with its number")
        self.head = head
        tail = Array(bytes.dropFirst(head.count + 1))
    }

    /// The same message with a media time, in milliseconds.
    func timed(_ time: Int64) -> PreparedMessage {
        PreparedMessage(head: head, tail: Array(",\"t\":\(time)".utf8) + tail)
    }

    private init(head: [UInt8], tail: [UInt8]) {
        self.head = head
        self.tail = tail
    }

    func bytes(number: Int) -> [UInt8] {
        var bytes = head
        bytes.reserveCapacity(head.count + 20 + tail.count)
        bytes.append(contentsOf: String(number).utf8)
        bytes.append(contentsOf: tail)
        return bytes
    }
}

/// One room and its author. One thread publishes; another takes what comes back.
final class RoomLoad: Sendable {
    let name: String
    private let subject: String
    private let number = Atomic<Int>(0)
    /// When the operations that have not come back were published, the oldest first.
    private let sent = Locked<[Int64]>([])

    init(root: String, number: Int) throws {
        name = "room-\(number)"
        guard let room = RoomID(name), let author = AuthorID("teacher") else { throw ExitCode.failure }
        subject = RoomAddress(root: root, room: room, partitions: 1).subject(.input(author))
    }

    /// Operations published so far.
    var count: Int { number.load(ordering: .relaxed) }

    func publish(_ message: PreparedMessage, again: Bool = false, _ connection: NATSConnection) throws {
        let number = again ? count : self.number.add(1, ordering: .relaxed).newValue
        try connection.publish(message.bytes(number: number), to: subject)
    }

    func noteSent(_ instant: Int64) { sent.withLock { $0.append(instant) } }
    func takeSent() -> Int64? { sent.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
    func forgetSent() { sent.withLock { $0 = [] } }
}
