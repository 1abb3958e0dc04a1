import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

/// Random pens, lossy updates and three cohorts side by side: 300 ms behind, 12 s behind, and one in which strokes appear
/// whole.
@Suite struct `Growing strokes of random pens` {
    @Test(arguments: TestSeed.choose(12))
    func `show no point early, none before an earlier operation, and end as their operations`(seed: UInt64) throws {
        var lesson = WetLesson(seed: seed)
        try lesson.run()
        #expect(lesson.faults.isEmpty, "seed \(seed): \(lesson.faults.prefix(5))")
        #expect(lesson.checkedPoints > 200, "seed \(seed)")
    }
}

private struct WetLesson {
    private static let webrtc = CohortName("webrtc") ?? .main

    /// A stroke as its pen draws it.
    private struct Pen {
        let author: AuthorID
        let number, time: Int64
        var points: [StrokePoint] = []
        var sent = 0
        var update: Int64 = 0
        var left: Int
    }

    private var random: SeededGenerator
    private var room: RoomProbe
    /// The same without updates, with cohorts in which strokes appear whole.
    private var plain: RoomProbe
    private var pens: [AuthorID: Pen] = [:]
    private var numbers: [AuthorID: Int64] = [:]
    private var times: [String: Int64] = [:]
    /// What a student of each cohort has of each stroke.
    private var shown: [String: [StrokePoint]] = [:]
    private var lastMessage: [String: Instant] = [:]
    private var lastRelease: [CohortName: Instant] = [:]
    private var updates: [(at: Instant, author: AuthorID, bytes: [UInt8])] = []
    private var operations: [UInt64: (author: AuthorID, draw: Bool, points: [StrokePoint], end: MediaTime)] = [:]
    private var logged: [String: UInt64] = [:]
    private var appliedSeen = 0
    private var shownSeen = 0
    private let start: Instant
    private(set) var faults: [String] = []
    private(set) var checkedPoints = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let progressive = CohortSettings(ink: .progressive)
        room = RoomProbe(
            RoomConfiguration(
                cohorts: CohortsConfiguration(named: [Self.webrtc: progressive, .hls: progressive])))
        plain = RoomProbe(
            RoomConfiguration(
                cohorts: CohortsConfiguration(named: [Self.webrtc: CohortSettings(), .hls: CohortSettings()])))
        start = room.now
    }

    private var media: Int64 {
        (room.now - start) / .milliseconds(1) > 0 ? Int64((room.now - start) / .milliseconds(1)) : 0
    }

    mutating func run() throws {
        let authors = [AuthorID.alice, .bob]
        for step in 0..<3600 {
            if step % 31 == 0 { sample(Self.webrtc, behind: 300) }
            if step % 37 == 0 { sample(.hls, behind: 12_000) }
            if step % 41 == 0 { sample(.main, behind: 2000) }
            // What a sample lets out comes before what is logged in the same instant.
            try check()
            for author in authors where step < 1800 {
                try draw(author)
                try check()
            }
            deliver()
            room.wait(.milliseconds(8))
            plain.wait(.milliseconds(8))
            try check()
        }
        for cohort in [CohortName.main, Self.webrtc, .hls] {
            let expected = operations.keys.sorted()
            if room.shown(cohort) != expected { faults.append("\(cohort) has not got all operations in order") }
        }
        // A cohort in which strokes appear whole gets the same at the same instants.
        let whole = room.shown.filter { $0.cohort == .main }.map { "\($0.operation.index) \($0.at) \($0.isLate)" }
        let without = plain.shown.filter { $0.cohort == .main }.map { "\($0.operation.index) \($0.at) \($0.isLate)" }
        if whole != without { faults.append("the cohort with whole strokes differs") }
        if room.room.head.digest != plain.room.head.digest { faults.append("the boards differ") }
        if room.room.wetBytes != 0 { faults.append("\(room.room.wetBytes) bytes are left") }
    }

    private mutating func sample(_ cohort: CohortName, behind: Int64) {
        guard Int.random(in: 0..<10, using: &random) > 0 else { return }
        let value = Double(media - behind + Int64.random(in: -20...20, using: &random))
        room.clock(value, cohort)
        plain.clock(value, cohort)
    }

    private mutating func draw(_ author: AuthorID) throws {
        guard var pen = pens[author] else {
            guard Int.random(in: 0..<30, using: &random) == 0 else { return }
            let number = (numbers[author] ?? 0) + 1
            numbers[author] = number
            if Int.random(in: 0..<8, using: &random) == 0 {
                send(#"{"n":\#(number),"a":\#(Int.random(in: 2...4, using: &random)),"t":\#(media)}"#, author)
                return
            }
            times["\(author) \(number)"] = media
            pens[author] = Pen(
                author: author, number: number, time: media, left: Int.random(in: 1...120, using: &random))
            return
        }
        pen.points.append(
            StrokePoint(
                x: Double(pen.points.count), y: Double.random(in: 0...700, using: &random).rounded(),
                milliseconds: Double(media - pen.time)))
        pen.left -= 1
        if Int.random(in: 0..<2, using: &random) == 0 || pen.left == 0 { sendUpdate(&pen) }
        if Int.random(in: 0..<400, using: &random) == 0 {
            pen.update += 1
            queue(WetUpdate(number: pen.number, update: pen.update, .givenUp), author)
            // The number is used for something else.
            send(#"{"n":\#(pen.number),"a":2,"t":\#(media)}"#, author)
            pens[author] = nil
            return
        }
        guard pen.left == 0 else {
            pens[author] = pen
            return
        }
        pens[author] = nil
        // A value that the pen delivers late, in the operation alone.
        if Int.random(in: 0..<5, using: &random) == 0, let last = pen.points.indices.last {
            pen.points[last / 2].force = 0.5
        }
        let header = StrokeMessage(number: pen.number, time: pen.time)
        send(
            String(decoding: header.encoded(interior: PointEncoder.interior(of: pen.points)[...]), as: UTF8.self),
            author)
    }

    private mutating func sendUpdate(_ pen: inout Pen) {
        pen.update += 1
        var first = pen.update % 60 == 0 ? 0 : pen.sent
        if first > 2, Int.random(in: 0..<10, using: &random) == 0 {
            first -= 2
            pen.points[first].force = Double.random(in: 0...1, using: &random)
        }
        let predicted = [StrokePoint(x: -1, y: -1)]
        queue(
            WetUpdate(
                number: pen.number, update: pen.update,
                .points(
                    WetPoints(
                        style: WetStrokeStyle(time: pen.time), first: first, points: Array(pen.points[first...]),
                        predicted: predicted))), pen.author)
        pen.sent = pen.points.count
    }

    /// Updates get lost, come twice, and overtake each other.
    private mutating func queue(_ update: WetUpdate, _ author: AuthorID) {
        guard Int.random(in: 0..<12, using: &random) > 0 else { return }
        for _ in 0..<(Int.random(in: 0..<10, using: &random) == 0 ? 2 : 1) {
            let delay = Int.random(in: 0..<8, using: &random) == 0 ? Int.random(in: 0...60, using: &random) : 0
            updates.append((room.now + .milliseconds(delay), author, update.encoded()))
        }
    }

    private mutating func deliver() {
        let due = updates.filter { $0.at <= room.now }
        updates.removeAll { $0.at <= room.now }
        for update in due { room.draw(update.bytes, by: update.author) }
    }

    private mutating func send(_ text: String, _ author: AuthorID) {
        room.send(text, by: author)
        plain.send(text, by: author)
    }

    private mutating func check() throws {
        for operation in room.applied[appliedSeen...] {
            logged["\(operation.author) \(operation.number)"] = operation.index
            guard case .draw(let stroke) = operation.effect, let (header, points) = stroke.decoded() else {
                operations[operation.index] = (operation.author, false, [], .none)
                continue
            }
            let reach = points.map(GrowingPoints.reach).max() ?? 0
            operations[operation.index] = (
                operation.author, true, points, MediaTime(milliseconds: header.time ?? 0) + reach
            )
        }
        appliedSeen = room.applied.count
        for message in room.takeWet() { try check(message.cohort, message.wet, at: message.at) }
        for released in room.shown[shownSeen...] where released.cohort != .main {
            guard let operation = operations[released.operation.index] else { continue }
            let key = "\(released.cohort) \(operation.author) \(released.operation.number)"
            let last = [lastMessage[key], lastRelease[released.cohort]].compactMap(\.self).max() ?? .distantPast
            lastRelease[released.cohort] = released.at
            // A late value that came less than 33 ms after the last message had to wait for the next, and one that came
            // while the stroke was held back, for what was released just before; the operation came first.
            let isWhole = released.at - last >= .milliseconds(33)
            let final = operation.points.map { isWhole ? $0 : StrokePoint(x: $0.x, y: $0.y) }
            if let points = shown[key]?.map({ isWhole ? $0 : StrokePoint(x: $0.x, y: $0.y) }),
                points != Array(final.prefix(points.count))
            {
                faults.append("\(key) is not a part of its operation in the end")
            }
            shown[key] = nil
            if operation.draw, !released.isLate,
                let video = room.room.gate.videoTime(of: released.cohort, at: released.at),
                operation.end >= video
            {
                faults.append("\(key) was released before its end")
            }
        }
        shownSeen = room.shown.count
    }

    private mutating func check(_ cohort: CohortName?, _ wet: WetPublication, at now: Instant) throws {
        guard let cohort else { return }
        if cohort == .main { faults.append("a cohort with whole strokes gets points") }
        let release = try WetRelease(decoding: wet.body)
        let stroke = "\(release.author) \(release.number)"
        let key = "\(cohort) \(stroke)"
        guard case .points(let points) = release.content else {
            if shown[key] == nil { faults.append("\(key) is given up, but not shown") }
            shown[key] = nil
            lastMessage[key] = nil
            return
        }
        if !points.predicted.isEmpty || points.points.contains(where: { $0.x < 0 }) {
            faults.append("\(key) shows predicted points")
        }
        if let last = lastMessage[key], now - last < .milliseconds(33) { faults.append("\(key) comes too often") }
        lastMessage[key] = now
        let video = room.room.gate.videoTime(of: cohort, at: now) ?? .none
        let time = MediaTime(milliseconds: try #require(times[stroke]))
        for point in points.points {
            checkedPoints += 1
            if time + GrowingPoints.reach(of: point) >= video { faults.append("\(key) shows a point early") }
        }
        let released = room.shown.last { $0.cohort == cohort && $0.at <= now }?.operation.index ?? 0
        let own = logged[stroke] ?? UInt64.max
        for (index, operation) in operations where released < index && index < own {
            if !operation.draw || operation.author == release.author {
                faults.append("\(key) comes before operation \(index)")
            }
        }
        if release.index != nil, release.index != logged[stroke] { faults.append("\(key) has a wrong index") }
        if let index = release.index, index <= released { faults.append("\(key) comes after its operation") }
        var known = shown[key] ?? []
        guard points.first <= known.count else {
            faults.append("\(key) leaves a gap")
            return
        }
        let end = min(known.count, points.first + points.points.count)
        known.replaceSubrange(points.first..<end, with: points.points)
        shown[key] = known
    }
}
