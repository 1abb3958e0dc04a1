import ArgumentParser
import StrokeWire
import Whiteboard

/// What updates of strokes being drawn cost a room, without a network: those of an honest pen, alone and beside others,
/// and the worst that the rules allow.
struct WetCosts {
    private static let seconds = 5
    private var room: Room
    private var effects = RoomEffects()
    private var now = Instant(nanoseconds: 0)
    private var published = 0

    init() {
        var configuration = RoomConfiguration()
        configuration.cohorts.defaults.gate = .none
        configuration.cohorts.defaults.ink = .progressive
        room = Room(configuration: configuration, at: now)
    }

    /// - Parameters:
    ///   - strokes: of other authors, each with a point now and then.
    ///   - update: the `u`-th of the pen, from 1, of which a second has so many.
    /// - Returns: processor time of an update, in microseconds, and bytes published for one.
    private static func measure(
        beside strokes: Int = 0, rate: Int = 60, _ update: (Int64) -> WetUpdate
    ) throws -> (time: Double, bytes: Double) {
        var costs = WetCosts()
        let authors = try (0..<max(1, strokes / 4)).map { number in
            guard let author = AuthorID("other-\(number)") else { throw ExitCode.failure }
            return author
        }
        guard let pen = AuthorID("pen") else { throw ExitCode.failure }
        func drawOthers(_ u: Int64) {
            for stroke in 0..<strokes {
                let update = points(u, first: 0, count: 1, y: 0, number: Int64(stroke % 4 + 1))
                costs.draw(update.encoded(), by: authors[stroke / 4])
            }
        }
        drawOthers(1)
        var time = Duration.zero
        var bytes = 0
        for u in 1...Int64(seconds * rate) {
            if u % Int64(4 * rate) == 0 { drawOthers(u) }
            costs.now = costs.now + .nanoseconds(1_000_000_000 / Int64(rate))
            let encoded = update(u).encoded()
            costs.published = 0
            time += ContinuousClock().measure { costs.draw(encoded, by: pen) }
            bytes += costs.published
        }
        let count = Double(seconds * rate)
        return (time / .microseconds(1) / count, Double(bytes) / count)
    }

    private mutating func draw(_ bytes: [UInt8], by author: AuthorID) {
        room.receive(wetUpdate: bytes, of: author, session: nil, at: now, into: &effects)
        room.advance(to: now, into: &effects)
        for case .wet(_, let wet) in effects.list { published += wet.body.count }
        effects.removeAll()
    }

    private static func points(
        _ u: Int64, first: Int, count: Int, y: Double, number: Int64 = 1
    ) -> WetUpdate {
        WetUpdate(
            number: number, update: u,
            .points(
                WetPoints(
                    style: WetStrokeStyle(time: 0), first: first,
                    points: (first..<first + count).map { StrokePoint(x: Double($0 % 1000), y: y) })))
    }

    static func report(into report: inout BenchReport) throws {
        func honest(_ u: Int64) -> WetUpdate { points(u, first: Int(u - 1) * 2, count: 2, y: 1) }
        let alone = try measure(honest)
        report.add("wet ink, an update of two points: CPU, µs", alone.time)
        report.add("  bytes published to a cohort and the head", alone.bytes)
        for strokes in [32, 124] {
            let beside = try measure(beside: strokes, honest)
            report.add("  beside \(strokes) strokes of others: CPU, µs", beside.time)
        }
        // A stroke of 50,000 points, in which one of the first changes 200 times a second.
        let worst = try measure(rate: 200) { u in
            u <= 50
                ? points(u, first: Int(u - 1) * 1000, count: 1000, y: 1)
                : points(u, first: Int(u % 7), count: 1, y: Double(u % 500))
        }
        report.add("wet ink, a changed point far behind the end: CPU, µs", worst.time)
        report.add("  bytes published to a cohort and the head", worst.bytes)
    }
}
