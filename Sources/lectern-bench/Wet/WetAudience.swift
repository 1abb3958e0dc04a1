import Locking
import NATSClient
import StrokeWire

/// Students who see strokes grow: a subscription to each cohort of some rooms.
final class WetAudience: Sendable {
    /// Rooms that are subscribed to: a subscriber of very many would itself be what is late.
    private static let mostRooms = 100
    /// A point that comes by less before its time has met the rounding of clocks.
    private static let rounding: Int64 = 100_000

    /// Points that a student has of a room's strokes, as operations or on their way to be.
    private struct Shown {
        var number = 0
        var count = 0
    }

    let cohorts: [LoadCohort]
    /// For each cohort, of each point from when the video had come to it.
    let latencies: [LatencyHistogram]
    private let rooms: Int
    /// Points that came before their time.
    let early = Counter()
    private let messages = Counter()
    private let wet = Counter()
    private let dry = Counter()

    init(_ rooms: [WetRoom], _ cohorts: [LoadCohort], over connections: [NATSConnection]) async throws {
        self.cohorts = cohorts
        self.rooms = min(rooms.count, Self.mostRooms)
        latencies = cohorts.map { _ in LatencyHistogram() }
        for room in rooms.prefix(Self.mostRooms) {
            for (position, cohort) in cohorts.enumerated() {
                let shown = Locked(Shown())
                let connection = connections[position % connections.count]
                try connection.subscribe(room.address.subject(.wet(cohort.name))) { [weak self] message in
                    let now = LoadClock.now
                    guard let self, let release = try? WetRelease(decoding: message.copyPayload()),
                        case .points(let points) = release.content
                    else { return }
                    messages.add()
                    take(
                        Int(release.number), through: points.first + points.points.count, of: room, position, shown,
                        counting: wet, at: now)
                }
                try connection.subscribe(room.address.subject(.out(cohort.name))) { [weak self] message in
                    let now = LoadClock.now
                    guard let self, let number = message.header(HeaderName.index).flatMap({ Int($0) }),
                        let stroke = room.stroke(number)
                    else { return }
                    take(number, through: stroke.points.count, of: room, position, shown, counting: dry, at: now)
                }
            }
        }
        for connection in connections { try await connection.flush() }
    }

    /// Notes the points of a stroke that a student has not had before.
    private func take(
        _ number: Int, through end: Int, of room: WetRoom, _ cohort: Int, _ shown: Locked<Shown>,
        counting count: Counter, at now: Int64
    ) {
        let first = shown.withLock { shown -> Int in
            if shown.number < number { shown = Shown(number: number) }
            guard shown.number == number, shown.count < end else { return end }
            defer { shown.count = end }
            return shown.count
        }
        guard first < end, let stroke = room.stroke(number) else { return }
        let delay = cohorts[cohort].delay
        let media = WetRoom.mediaTime(now) - Double(stroke.time + delay)
        for place in first..<min(end, stroke.points.count) {
            let late = Int64((media - (stroke.points[place].milliseconds ?? 0)) * 1e6)
            if late < -Self.rounding { early.add() }
            latencies[cohort].record(nanoseconds: late)
        }
        count.add(end - first)
    }

    /// The share of points that came with their operation alone.
    var dryShare: Double {
        Double(dry.count) / max(1, Double(dry.count + wet.count))
    }

    var messagesOfRoom: Double { Double(messages.count) / Double(rooms * cohorts.count) }
}
