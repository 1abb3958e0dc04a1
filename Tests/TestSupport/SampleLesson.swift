internal import Foundation
package import StrokeWire
package import Testing

/// Handwriting as the stroke messages of a teacher. Two lessons are generated, so that every clone has some; the recorded
/// ones are in `../shared/data` or the folder named by `LECTERN_SHARED_DATA`, if it is there.
package enum SampleLesson: String, CaseIterable, Sendable {
    /// A hand on a trackpad: points alone.
    case madeHand = "made-hand"
    /// A pen: with force, angles and times.
    case madePen = "made-pen"
    case cursiveShort = "cursive-short"
    case cursiveLong = "cursive-long"
    case pencil

    package static let made: [SampleLesson] = [.madeHand, .madePen]
    package static let recorded: [SampleLesson] = [.cursiveShort, .cursiveLong, .pencil]
    package static let recordedAreThere = recorded.allSatisfy { FileManager.default.isReadableFile(atPath: $0.path) }

    /// The lessons of this clone.
    package static let available = made + (recordedAreThere ? recorded : [])

    /// The short ones of them.
    package static let short = available.filter { $0 != .cursiveLong }

    private var path: String {
        let folder = EnvironmentVariable("LECTERN_SHARED_DATA").text ?? PackageRoot.path(to: "../shared/data")
        return "\(folder)/lessons/\(rawValue).ndjson"
    }

    /// The messages in order, one a line.
    package func bytes() throws -> [UInt8] {
        switch self {
        case .madeHand: LessonMaker.hand.bytes
        case .madePen: LessonMaker.pen.bytes
        case .cursiveShort, .cursiveLong, .pencil: Array(try Data(contentsOf: URL(filePath: path)))
        }
    }

    package func messages() throws -> [[UInt8]] { try bytes().split(separator: UInt8(ascii: "\n")).map(Array.init) }

    package static func allMessages() throws -> [[UInt8]] { try available.flatMap { try $0.messages() } }

    /// The number of strokes drawn, and of those left on the last board.
    package var strokeCounts: (drawn: Int, left: Int) {
        switch self {
        case .madeHand: LessonMaker.hand.strokeCounts
        case .madePen: LessonMaker.pen.strokeCounts
        case .cursiveShort: (65, 58)
        case .cursiveLong: (1147, 171)
        case .pencil: (28, 14)
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips tests of the recordings where these are missing, with the reason.
    package static var needsRecordedLessons: Self {
        .enabled(if: SampleLesson.recordedAreThere, "needs ../shared/data/lessons, or LECTERN_SHARED_DATA")
    }
}

/// A stroke of a lesson, joined from its shards.
package struct SampleStroke {
    package let element: Element
    package let width: Double
    /// `0xRRGGBB`.
    package let colour: UInt32
    package fileprivate(set) var points: [StrokePoint]
}

extension SampleLesson {
    /// The drawn strokes in order, without undo, redo and clear.
    package func strokes() throws -> [SampleStroke] {
        var strokes: [SampleStroke] = []
        var last: Int64?
        for bytes in try messages() {
            let message = try StrokeMessage(decoding: bytes)
            guard message.action == .draw else { continue }
            let points = message.decodePoints(of: bytes)
            if message.number == last {
                strokes[strokes.count - 1].points += points
            } else {
                strokes.append(
                    SampleStroke(
                        element: message.element, width: message.width, colour: Palette.standard[message.colour] ?? 0,
                        points: points))
            }
            last = message.number
        }
        return strokes
    }
}

/// Generates a lesson: cursive words, dots, shapes, an eraser, undo and redo, one clear. It is the same on every machine,
/// because it uses no function of the C library.
///
/// Handwriting is two oscillations, of the pen's height and along the line, on a hand that moves to the right; a letter
/// changes their sizes (Hollerbach: "An oscillation theory of handwriting", 1981).
struct LessonMaker {
    static let hand = LessonMaker(seed: 1, hasPen: false)
    static let pen = LessonMaker(seed: 2, hasPen: true)

    private(set) var bytes: [UInt8] = []

    private static let pointsPerShard = 48
    /// A turn by 0.45 radians from one sample to the next.
    private static let turn = (cosine: 0.900447102352677, sine: 0.43496553411123023)

    private struct Sample {
        /// In tenths of a board unit.
        let x, y: Int
        /// In thousandths.
        var force = 0
        var altitude = 0
        var azimuth = 0
        var milliseconds = 0
    }

    private var random: SeededGenerator
    private let hasPen: Bool
    private var number = 0
    private var milliseconds = 0
    private var drawn = 0
    // The numbers of strokes that can be undone and redone.
    private var done = 0
    private var undone = 0

    /// How many strokes were drawn, and how many are left at the end.
    var strokeCounts: (drawn: Int, left: Int) { (drawn, done) }

    private init(seed: UInt64, hasPen: Bool) {
        random = SeededGenerator(seed: seed)
        self.hasPen = hasPen
        writeBoard(lines: hasPen ? 3 : 7)
        command(4)
        writeBoard(lines: hasPen ? 3 : 5)
    }

    private mutating func writeBoard(lines: Int) {
        for line in 0..<lines {
            var x = 500 + random.int(0...200)
            let y = 1000 + 900 * line
            while x < 8300 {
                let word = word(from: (x, y))
                let end = word.map(\.x).max() ?? x
                draw(0, word)
                // A dot, and a stroke through the word.
                if random.chance(40, in: 100) { draw(0, [stamped(x: (x + end) / 2, y: y - 280, after: nil)]) }
                if random.chance(25, in: 100) { draw(0, straight(from: (x, y - 150), to: (end, y - 190))) }
                x = end + random.int(250...500)
                milliseconds += random.int(100...400)
            }
            if random.chance(50, in: 100) {
                let count = random.int(1...3)
                for _ in 0..<count { command(2) }
                for _ in 0..<random.int(0...count) { command(3) }
            }
        }
        draw(1, straight(from: (500, 1150), to: (4000, 1130), steps: 1))
        draw(2, straight(from: (4200, 700), to: (6100, 1150), steps: 1))
        draw(3, straight(from: (6200, 1600), to: (8000, 2100)))
        draw(4, (0...12).map { stamped(x: 900 + 150 * $0, y: $0.isMultiple(of: 2) ? 1700 : 2000, after: nil) })
    }

    // MARK: The hand

    /// A word of several letters.
    private mutating func word(from start: (x: Int, y: Int)) -> [Sample] {
        var samples: [Sample] = []
        var (cosine, sine) = (0.0, -1.0)
        var (height, width) = (100.0, 40.0)
        var x = Double(start.x)
        // On a board 1024 units wide.
        for _ in 0..<random.int(2...9) where x < 9500 {
            let nextHeight = random.pick([110.0, 110, 110, 240, 260])
            let nextWidth = Double(random.int(20...70))
            let step = Double(random.int(14...26))
            for _ in 0..<random.int(12...18) {
                (cosine, sine) = (
                    cosine * Self.turn.cosine - sine * Self.turn.sine, sine * Self.turn.cosine + cosine * Self.turn.sine
                )
                height += (nextHeight - height) / 5
                width += (nextWidth - width) / 5
                x += step
                let up = height * (1 + sine) / 2
                let place = (x: x + width * cosine + 0.16 * up, y: Double(start.y) - up)
                samples.append(
                    stamped(
                        x: Int(place.x) + random.int(-3...3), y: Int(place.y) + random.int(-3...3), after: samples.last)
                )
            }
        }
        return samples
    }

    private mutating func straight(from: (x: Int, y: Int), to: (x: Int, y: Int), steps: Int = 17) -> [Sample] {
        var samples: [Sample] = []
        for step in 0...steps {
            samples.append(
                stamped(
                    x: from.x + (to.x - from.x) * step / steps, y: from.y + (to.y - from.y) * step / steps,
                    after: samples.last))
        }
        return samples
    }

    /// A sample, with force and angles if there is a pen: more force where it moves slowly, angles that drift.
    private mutating func stamped(x: Int, y: Int, after last: Sample?) -> Sample {
        var sample = Sample(x: x, y: y)
        guard hasPen else { return sample }
        let way = last.map { max(abs($0.x - x), abs($0.y - y)) } ?? 0
        let force = max(60, 700 - 8 * way) + random.int(-20...20)
        sample.force = last.map { ($0.force * 3 + force) / 4 } ?? 110
        sample.altitude = min(1570, max(600, (last?.altitude ?? 1110) + random.int(-4...4)))
        sample.azimuth = (last?.azimuth ?? 223) + random.int(-6...6)
        sample.milliseconds = last.map { $0.milliseconds + random.pick([4, 4, 4, 5]) } ?? 0
        return sample
    }

    // MARK: The messages

    private mutating func draw(_ element: Int, _ samples: [Sample]) {
        number += 1
        drawn += 1
        done += 1
        undone = 0
        let style = #""c":\#(element == 4 ? 0 : random.int(0...7)),"l":\#(element == 4 ? 24 : random.pick([2, 3, 8]))"#
        let shards = samples.count > Self.pointsPerShard ? (samples.count - 1) / Self.pointsPerShard + 1 : 0
        for order in 0..<max(1, shards) {
            let part = samples.dropFirst(order * Self.pointsPerShard).prefix(Self.pointsPerShard)
            let points = part.map(text).joined(separator: ",")
            line(
                #"{"n":\#(number),\#(style),"s":\#(shards),"o":\#(order),"e":\#(element),"a":1,"t":\#(milliseconds),"#
                    + #""w":1024,"h":768,"d":[\#(points)]}"#)
        }
        let length = hasPen ? samples.last?.milliseconds ?? 0 : (samples.count - 1) * 1000 / 60 + 1
        milliseconds += length + random.int(60...200)
    }

    /// Undo, redo or clear.
    private mutating func command(_ action: Int) {
        switch action {
        case 2:
            guard done > 0 else { return }
            done -= 1
            undone += 1
        case 3:
            guard undone > 0 else { return }
            done += 1
            undone -= 1
        default: (done, undone) = (0, 0)
        }
        number += 1
        line(#"{"n":\#(number),"a":\#(action),"t":\#(milliseconds)}"#)
        milliseconds += random.int(150...300)
    }

    private mutating func line(_ text: String) { bytes += Array(text.utf8) + [UInt8(ascii: "\n")] }

    private func text(_ sample: Sample) -> String {
        let place = #""x":\#(decimal(sample.x, digits: 1)),"y":\#(decimal(sample.y, digits: 1))"#
        guard hasPen else { return "{\(place)}" }
        return #"{\#(place),"f":\#(decimal(sample.force, digits: 3)),"i":\#(decimal(sample.altitude, digits: 3)),"#
            + #""z":\#(decimal(sample.azimuth, digits: 3)),"m":\#(sample.milliseconds)}"#
    }

    /// A whole number of tenths or thousandths in the shortest form.
    private func decimal(_ value: Int, digits: Int) -> String {
        let scale = digits == 1 ? 10 : 1000
        let fraction = String(abs(value) % scale + scale).dropFirst()
        let sign = value < 0 ? "-" : ""
        let whole = "\(sign)\(abs(value) / scale)"
        guard let last = fraction.lastIndex(where: { $0 != "0" }) else { return whole }
        return "\(whole).\(fraction[...last])"
    }
}
