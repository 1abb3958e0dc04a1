import LecternDemo
import StrokeWire
import TestSupport
import Testing

@testable import ClientCore
@testable import LecternClient

@Suite struct `Playing strokes while they are drawn` {
    /// A service that takes updates as the protocol says.
    private struct Receiver {
        private(set) var points: [Int64: [StrokePoint]] = [:]
        private var updates: [Int64: Int64] = [:]

        /// - Returns: the number of the stroke, and how many of its points are known now; nil where it is ignored.
        mutating func take(_ bytes: [UInt8]) throws -> (number: Int64, count: Int)? {
            let update = try WetUpdate(decoding: bytes)
            guard case .points(let new) = update.content else { throw Unexpected("given up") }
            guard update.update > updates[update.number] ?? 0 else { throw Unexpected("no new update") }
            updates[update.number] = update.update
            var known = points[update.number] ?? []
            guard new.first <= known.count else { return nil }
            known.replaceSubrange(new.first..<min(known.count, new.first + new.points.count), with: new.points)
            points[update.number] = known
            return (update.number, known.count)
        }
    }

    private static func stroke(_ number: Int, at time: Int, _ milliseconds: [Double]) -> String {
        let points = milliseconds.enumerated().map { #"{"x":\#($0),"y":1,"m":\#($1)}"# }.joined(separator: ",")
        return #"{"n":\#(number),"c":3,"l":2,"e":4,"t":\#(time),"w":800,"h":600,"d":[\#(points)]}"#
    }

    private static func plan(_ lines: [String], speed: Double = 1) throws -> PublishPlan {
        PublishPlan(try Lesson(ndjson: Array(lines.joined(separator: "\n").utf8)), speed: speed)
    }

    @Test func `points go out when the pen is there, 33 ms apart, in the stroke's style`() throws {
        let plan = try Self.plan([
            Self.stroke(1, at: 1000, [0, 10, 20, 50, 300]), #"{"n":2,"a":2,"t":1400}"#,
            Self.stroke(3, at: 1500, [0, 20]),
        ])
        var playback = WetPlayback(plan.messages, speed: 1)
        var sent: [(Duration, WetUpdate)] = []
        while let time = playback.deadline {
            for bytes in playback.updates(at: time) { sent.append((time, try WetUpdate(decoding: bytes))) }
        }
        #expect(sent.map(\.0) == [1000, 1033, 1066].map { .milliseconds($0) })
        let points = try sent.map { sent -> WetPoints in
            guard case .points(let points) = sent.1.content else { throw Unexpected("given up") }
            return points
        }
        #expect(points.map(\.first) == [0, 1, 3] && points.map(\.points.count) == [1, 2, 1])
        #expect(sent.map(\.1.update) == [1, 2, 3] && sent.allSatisfy { $0.1.number == 1 })
        let style = WetStrokeStyle(colour: 3, width: 2, element: .eraser, time: 1000, boardWidth: 800, boardHeight: 600)
        #expect(points.allSatisfy { $0.style == style && $0.predicted.isEmpty })
    }

    @Test func `a stroke comes whole once a second, and in parts where it is too large`() throws {
        let small = try Self.plan([Self.stroke(1, at: 0, (0..<300).map { Double($0 * 10) })])
        var playback = WetPlayback(small.messages, speed: 1)
        var whole: [Int] = []
        while let time = playback.deadline {
            for bytes in playback.updates(at: time) {
                let update = try WetUpdate(decoding: bytes)
                guard update.update > 1, case .points(let points) = update.content, points.first == 0 else { continue }
                whole.append(points.points.count)
            }
        }
        #expect(whole == [101, 201])

        let large = try Self.plan([Self.stroke(1, at: 0, (0..<8000).map { Double($0) })])
        playback = WetPlayback(large.messages, speed: 1)
        var firsts: Set<Int> = []
        var largest = 0
        while let time = playback.deadline {
            for bytes in playback.updates(at: time) {
                largest = max(largest, bytes.count)
                let update = try WetUpdate(decoding: bytes)
                if case .points(let points) = update.content, points.points.count > 200 { firsts.insert(points.first) }
            }
        }
        #expect(largest <= 32 << 10)
        #expect(firsts.count > 3 && firsts.contains(0))
    }

    @Test func `a lost update is there a second later, and nothing before its time`() throws {
        let seed = TestSeed.choose()
        var random = TestSupport.SeededGenerator(seed: seed)
        for speed in [0.5, 1, 4] {
            let plan = PublishPlan(try DemoLesson.make(seed: seed), speed: speed)
            let times = Dictionary(plan.messages.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
                .mapValues { (try? StrokeMessage(decoding: $0.bytes))?.time ?? 0 }
            var playback = WetPlayback(plan.messages, speed: speed)
            var receiver = Receiver()
            var lost: [Int64: Duration] = [:]
            var count = 0
            while let deadline = playback.deadline {
                let now = deadline + .microseconds(Int64.random(in: 0..<20_000, using: &random))
                for bytes in playback.updates(at: now) {
                    #expect(bytes.count <= 32 << 10)
                    count += 1
                    let number = try WetUpdate(decoding: bytes).number
                    guard Double.random(in: 0..<1, using: &random) >= 0.2 else {
                        lost[number] = lost[number] ?? now
                        continue
                    }
                    let first = receiver.points[number]?.count ?? 0
                    guard let (_, known) = try receiver.take(bytes) else {
                        // Ignored: one before it is missing, and not for long.
                        #expect(now - (lost[number] ?? now) < .seconds(5))
                        continue
                    }
                    lost[number] = nil
                    for point in receiver.points[number]?[first..<known] ?? [] {
                        let media = Double(times[number] ?? 0) + (point.milliseconds ?? 0)
                        #expect(Duration.milliseconds(media) / speed <= now + .milliseconds(1))
                    }
                }
            }
            print("\(count) updates at speed \(speed)")
            #expect(count > 300)
        }
    }

    @Test func `nothing is sent of strokes that are over at once, and where the speed leaves no time`() throws {
        let plan = try Self.plan([Self.stroke(1, at: 0, [0, 10]), Self.stroke(2, at: 50, [0, 500])], speed: 50)
        var playback = WetPlayback(plan.messages, speed: 50)
        #expect(playback.deadline == nil)
        #expect(playback.updates(at: .seconds(9)).isEmpty)
        playback = WetPlayback(plan.messages, speed: 1)
        #expect(playback.deadline != nil)
    }
}
