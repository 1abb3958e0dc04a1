import ArgumentParser
import Foundation
import Locking
import NATSClient
import StrokeWire

/// A room in which one pen draws. One thread draws; others look up when a point was drawn.
///
/// The room is new, and nothing of it is rejected: so the author's numbers are the indices of the log.
final class WetRoom: Sendable {
    /// A stroke as its pen has drawn it.
    struct Drawn {
        /// Media time in milliseconds.
        var time: Int64
        var points: [StrokePoint] = []
    }

    let address: RoomAddress
    let author: AuthorID
    let input: String
    let updates: String
    private let strokes = Locked<[Drawn]>([])

    init(root: String, name: String) throws {
        guard let room = RoomID(name), let author = AuthorID("pen") else { throw ExitCode.failure }
        self.author = author
        address = RoomAddress(root: root, room: room, partitions: 1)
        input = address.subject(.input(author))
        updates = address.subject(.wetInput(author))
    }

    static func cohort(_ name: String) throws -> CohortName {
        guard let cohort = CohortName(name) else { throw ExitCode.failure }
        return cohort
    }

    func begin(_ stroke: Drawn) { strokes.withLock { $0.append(stroke) } }

    /// Adds points to the last stroke.
    func add(_ points: [StrokePoint]) { strokes.withLock { $0[$0.count - 1].points += points } }

    /// The stroke of a number, from 1, as far as it is drawn.
    func stroke(_ number: Int) -> Drawn? {
        strokes.withLock { $0.indices.contains(number - 1) ? $0[number - 1] : nil }
    }

    /// Strokes begun.
    var count: Int { strokes.withLock { $0.count } }

    /// The media time of an instant, in milliseconds, the same for all rooms; never near 0.
    static func mediaTime(_ instant: Int64) -> Double { Double(instant) / 1e6 + 3_600_000 }
}

/// The pens of all rooms and the clocks of their cohorts, on a thread of their own. The schedule does not wait for
/// anything.
final class WetPens: Sendable {
    static let updatesPerSecond = 60
    /// Updates of a stroke, and of the pause after it.
    private static let strokeUpdates = 90
    private static let pauseUpdates = 18
    /// The whole stroke goes out with every so many updates.
    private static let wholeEvery = 60
    private static let samplesPerSecond = 4

    private let rooms: [WetRoom]
    private let clocks: [(subject: String, delay: Int64)]
    private let points: Int
    private let sendsUpdates: Bool
    private let connection: NATSConnection
    /// Points drawn so far.
    let drawn = Counter()

    /// - Parameters:
    ///   - points: of an update.
    ///   - sendsUpdates: whether anything goes out before the operation.
    init(
        _ rooms: [WetRoom], _ cohorts: [LoadCohort], points: Int, sendsUpdates: Bool, over connection: NATSConnection
    ) {
        self.rooms = rooms
        self.points = points
        self.sendsUpdates = sendsUpdates
        self.connection = connection
        clocks = rooms.flatMap { room in cohorts.map { (room.address.subject(.clock($0.name)), $0.delay) } }
    }

    /// Publishes clock samples from now on, and draws from `start` until `end`.
    func draw(from start: Int64, until end: Int64, clocksUntil last: Int64) async throws {
        try await onOwnThread { [self] in try publish(from: start, until: end, clocksUntil: last) }
    }

    private func publish(from start: Int64, until end: Int64, clocksUntil last: Int64) throws {
        let sampling = 1_000_000_000 / Int64(Self.samplesPerSecond * clocks.count)
        let stepping = 1_000_000_000 / Int64(Self.updatesPerSecond * rooms.count)
        var (nextStep, nextSample) = (start, LoadClock.now)
        var (step, sample) = (0, 0)
        // A stroke that has begun is drawn to its end.
        let strokes = Int64(Self.strokeUpdates + Self.pauseUpdates) * Int64(rooms.count)
        let steps = (end - start) / stepping / strokes * strokes
        while nextSample < last {
            let isStep = step < steps && nextStep <= nextSample
            let due = isStep ? nextStep : nextSample
            let wait = due - LoadClock.now
            if wait > 50_000 { usleep(UInt32(wait / 1000)) }
            if isStep {
                try move(rooms[step % rooms.count], step: step / rooms.count, at: due)
                step += 1
                nextStep = start + Int64(step) * stepping
            } else {
                let clock = clocks[sample % clocks.count]
                // The time of a sample is when it is sent: a video player knows what it shows now.
                let media = WetRoom.mediaTime(LoadClock.now) - Double(clock.delay)
                try connection.publish(Array(#"{"m":\#(media)}"#.utf8), to: clock.subject)
                sample += 1
                nextSample += sampling
            }
        }
    }

    /// One pen draws points, or lifts.
    private func move(_ room: WetRoom, step: Int, at due: Int64) throws {
        let position = step % (Self.strokeUpdates + Self.pauseUpdates)
        guard position < Self.strokeUpdates else { return }
        let now = WetRoom.mediaTime(due)
        if position == 0 { room.begin(WetRoom.Drawn(time: Int64(now) - 16)) }
        let number = room.count
        guard let stroke = room.stroke(number) else { return }
        let interval = 1000 / Double(Self.updatesPerSecond * points)
        let added = (0..<points).map { place in
            let index = stroke.points.count + place
            // Milliseconds to a tenth, as pens have them.
            let milliseconds = now - Double(stroke.time) - Double(points - 1 - place) * interval
            return point(index, milliseconds: (milliseconds * 10).rounded(.down) / 10)
        }
        room.add(added)
        drawn.add(points)
        if sendsUpdates {
            let isWhole = position > 0 && position.isMultiple(of: Self.wholeEvery)
            let predicted = (0..<2).map { point(stroke.points.count + points + $0, milliseconds: nil) }
            let update = WetUpdate(
                number: Int64(number), update: Int64(position + 1),
                .points(
                    WetPoints(
                        style: WetStrokeStyle(
                            colour: 1, width: 3, time: stroke.time, boardWidth: 1024, boardHeight: 768),
                        first: isWhole ? 0 : stroke.points.count, points: isWhole ? stroke.points + added : added,
                        predicted: predicted)))
            try connection.publish(update.encoded(), to: room.updates)
        }
        guard position == Self.strokeUpdates - 1 else { return }
        let header = StrokeMessage(
            number: Int64(number), colour: 1, width: 3, time: stroke.time, boardWidth: 1024, boardHeight: 768)
        try connection.publish(
            header.encoded(interior: PointEncoder.interior(of: stroke.points + added)[...]), to: room.input)
    }

    /// A point of a line of loops.
    private func point(_ index: Int, milliseconds: Double?) -> StrokePoint {
        let angle = Double(index) / 6
        return StrokePoint(
            x: (100 + 3 * Double(index) + 20 * cos(angle)).rounded(), y: (300 + 40 * sin(angle)).rounded(),
            force: 0.5, milliseconds: milliseconds)
    }
}
