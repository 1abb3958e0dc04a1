import Foundation
import NATSClient
import TestSupport

/// What two authors write for the proof: every operation and every point at a place of its own, where it can be found.
///
/// One author draws long lines, a row each, whose points come every 40 ms; the other one makes dashes, at one moment each.
struct ProofLesson: Sendable {
    /// Where ink is to be, and when.
    struct Mark: Sendable {
        let number: Int
        let x: Int
        let y: Int
        /// Media time in milliseconds.
        let time: Double
        let isPoint: Bool
    }

    static let (width, height) = (1000, 600)
    /// Milliseconds from the beginning of a line to that of the next, of its points, and of dashes from the beginning of a
    /// line: not where the line ends, so that no operation waits for another.
    private static let (period, pointTime, dashTimes) = (2400, 40, [310, 730, 1110, 1570, 2250])
    private static let pointsOfLine = 50

    let marks: [Mark]
    /// In the order of their times.
    private let messages: [Message]

    /// What an author sends.
    private struct Message: Sendable {
        /// When, as a media time: that of the pen.
        let time: Double
        let subject: String
        let text: String
    }

    /// A lesson of so many lines that begins at a media time. A dash a second before it gives the board its size.
    init(_ count: Int, from start: Double) {
        let first =
            #"{"n":1,"l":3,"t":\#(Int(start) - 1000),"w":\#(Self.width),"h":\#(Self.height),"d":[{"x":5,"y":5}]}"#
        var marks: [Mark] = []
        var messages = [Message(time: start - 1000, subject: "in.ben", text: first)]
        for line in 0..<count {
            let begin = start + Double(line * Self.period)
            let y = 6 + 8 * line
            let points = (0..<Self.pointsOfLine).map { point in
                #"{"x":\#(20 + 18 * point),"y":\#(y).5,"m":\#(point * Self.pointTime)}"#
            }
            func style(_ time: Double) -> String {
                #""c":0,"l":3,"t":\#(Int(time)),"w":\#(Self.width),"h":\#(Self.height)"#
            }
            for point in points.indices {
                let time = begin + Double(point * Self.pointTime)
                // Each second the whole line again.
                let first = point % 25 == 24 ? 0 : point
                messages.append(
                    Message(
                        time: time, subject: "wet-in.anna",
                        text: """
                            {"n":\(line + 1),"u":\(point + 1),"k":\(first),\(style(begin)),"d":[\(points[first...point].joined(separator: ","))]}
                            """))
                // The curve ends half way to its last point, or at it; that is 3 or 12 beyond the mark, and the point before it
                // 6 from it.
                guard point > 0 else { continue }
                marks.append(Mark(number: marks.count, x: 20 + 18 * point - 12, y: y, time: time, isPoint: true))
            }
            let end = begin + Double((Self.pointsOfLine - 1) * Self.pointTime)
            messages.append(
                Message(
                    time: end, subject: "in.anna",
                    text: #"{"n":\#(line + 1),\#(style(begin)),"d":[\#(points.joined(separator: ","))]}"#))
            for (place, offset) in Self.dashTimes.enumerated() {
                let number = line * Self.dashTimes.count + place
                let (x, y) = (20 + 18 * (number % 50), 6 + 8 * (count + number / 50))
                let time = begin + Double(offset)
                messages.append(
                    Message(
                        time: time, subject: "in.ben",
                        text: """
                            {"n":\(number + 2),\(style(time)),"d":[{"x":\(x),"y":\(y).5},{"x":\(x + 8),"y":\(y).5}]}
                            """))
                marks.append(Mark(number: marks.count, x: x + 4, y: y, time: time, isPoint: false))
            }
        }
        self.marks = marks.sorted { $0.time < $1.time }
        self.messages = messages.sorted { $0.time < $1.time }
    }

    /// Publishes all of it, each message when its media time is the time of day, until the task is cancelled.
    func publish(to room: String, over connection: NATSConnection) async throws {
        for message in messages {
            let wait = message.time - Date().timeIntervalSince1970 * 1000
            try await Task.sleep(for: .milliseconds(max(wait, 0)))
            try connection.publish(Array(message.text.utf8), to: "ink.0.\(room).\(message.subject)")
        }
    }
}
