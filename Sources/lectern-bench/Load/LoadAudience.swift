import Locking
import NATSClient
import StrokeWire

/// The students of a load: each is a subscription to a cohort of a room, which checks that every operation comes, once.
final class LoadAudience: Sendable {
    /// What a student has received of a room that begins with index 1.
    private struct Received {
        private var bits: [UInt64] = []

        /// - Returns: false for an index that it has already.
        mutating func insert(_ index: Int) -> Bool {
            let (word, bit) = ((index - 1) / 64, UInt64(1) << UInt64((index - 1) % 64))
            while bits.count <= word { bits.append(0) }
            guard bits[word] & bit == 0 else { return false }
            bits[word] |= bit
            return true
        }
    }

    /// For each cohort, from the moment at which an operation was due to be released.
    let latencies: [LatencyHistogram]
    private let rooms: [LoadRoom]
    private let cohorts: [LoadCohort]
    private let students: Int
    private let connections: [NATSConnection]
    /// Operations that students have received, repeats not counted.
    let received = Counter()
    /// Operations that came to a student again.
    let repeats = Counter()
    /// Times that the service asked an author for what is missing.
    let requestedAgain = Counter()
    private let rejections = Locked<(count: Int, first: String?)>((0, nil))

    /// Subscribes the students.
    /// - Parameter students: for each room, dealt to its cohorts in turn.
    init(
        _ rooms: [LoadRoom], _ cohorts: [LoadCohort], students: Int, over connections: [NATSConnection]
    ) async throws {
        self.rooms = rooms
        self.cohorts = cohorts
        self.students = students
        self.connections = connections
        latencies = cohorts.map { _ in LatencyHistogram() }
        for (number, room) in rooms.enumerated() {
            for student in 0..<students {
                try subscribe(to: room, student % cohorts.count, connections[(number + student) % connections.count])
            }
            try connections[number % connections.count].subscribe(room.feedback) { [weak self] message in
                self?.hear(message)
            }
        }
        for connection in connections { try await connection.flush() }
    }

    private func subscribe(to room: LoadRoom, _ cohort: Int, _ connection: NATSConnection) throws {
        let delay = cohorts[cohort].delay * 1_000_000
        let seen = Locked(Received())
        try connection.subscribe(room.address.subject(.out(cohorts[cohort].name))) { [weak self] message in
            let now = LoadClock.now
            guard let self, let index = message.header(HeaderName.index).flatMap({ Int($0) }),
                let due = room.due(index)
            else { return }
            guard seen.withLock({ $0.insert(index) }) else {
                repeats.add()
                return
            }
            received.add()
            latencies[cohort].record(nanoseconds: now - due - delay)
        }
    }

    private func hear(_ message: borrowing NATSMessage) {
        switch try? Feedback(decoding: message.copyPayload()) {
        case .missingShards, .missingRange: requestedAgain.add()
        case .rejected(_, _, let rejection):
            rejections.withLock { rejections in
                rejections.count += 1
                rejections.first = rejections.first ?? "\(rejection.code.rawValue): \(rejection.message)"
            }
        case .gaveUp: rejections.withLock { $0 = ($0.count + 1, $0.first ?? "an operation was lost and given up") }
        case .applied, .covered, .behindLive, nil: break
        }
    }

    /// Operations that they should have received by the end.
    var expectedCount: Int { rooms.reduce(0) { $0 + $1.count } * students }

    /// Operations that were refused or given up, and why the first was.
    var rejected: (count: Int, first: String?) { rejections.withLock { $0 } }

    /// Messages that this program was too slow to take: those it counts as lost are not the service's.
    var droppedCount: Int { connections.reduce(0) { $0 + $1.droppedMessages } }
}
