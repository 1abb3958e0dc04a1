import Foundation
import NATSClient
import TestSupport

/// What three authors do for the proof: every operation and every point at a place of its own, where it can be found.
///
/// One author draws long lines, a row each, whose points come every 40 ms; another one points along the same rows, at the same
/// pace; the third one makes dashes, at one moment each.
struct ProofLesson: Sendable {
    enum Kind: String, Sendable {
        case points, operations
        /// Places of a pointer's tip, which are seen above the board for 600 ms.
        case pointers
    }

    /// Where something is to be seen, and when.
    struct Mark: Sendable {
        let number: Int
        let x: Int
        let y: Int
        /// Media time in milliseconds.
        let time: Double
        let kind: Kind

        /// For the page: number, place, whether it is above the board.
        var text: String { "[\(number),\(x),\(y),\(kind == .pointers)]" }
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
            func style(_ time: Double) -> String {
                #""c":0,"l":3,"t":\#(Int(time)),"w":\#(Self.width),"h":\#(Self.height)"#
            }
            func mark(_ x: Int, _ time: Double, _ kind: Kind) {
                marks.append(Mark(number: marks.count, x: x, y: y, time: time, kind: kind))
            }
            // A stroke that grows, and its operation once its last point is there.
            func draw(_ author: String, _ element: Int) {
                let points = (0..<Self.pointsOfLine).map { point in
                    #"{"x":\#(20 + 18 * point),"y":\#(y).5,"m":\#(point * Self.pointTime)}"#
                }
                let stroke = #""n":\#(line + 1),"e":\#(element),\#(style(begin))"#
                for point in points.indices {
                    // Each second the whole line again.
                    let first = point % 25 == 24 ? 0 : point
                    messages.append(
                        Message(
                            time: begin + Double(point * Self.pointTime), subject: "wet-in.\(author)",
                            text: """
                                {\(stroke),"u":\(point + 1),"k":\(first),"d":[\(points[first...point].joined(separator: ","))]}
                                """))
                }
                messages.append(
                    Message(
                        time: begin + Double((Self.pointsOfLine - 1) * Self.pointTime), subject: "in.\(author)",
                        text: "{\(stroke),\"d\":[\(points.joined(separator: ","))]}"))
            }
            draw("anna", 0)
            draw("cleo", 7)
            for point in 1..<Self.pointsOfLine {
                let time = begin + Double(point * Self.pointTime)
                // The curve ends half way to its last point, or at it; that is 3 or 12 beyond the mark, and the point before it
                // 6 from it.
                mark(20 + 18 * point - 12, time, .points)
                // The tip moves from point to point, and has a radius of 5.
                if point < Self.pointsOfLine - 1 { mark(20 + 18 * point + 7, time, .pointers) }
            }
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
                marks.append(Mark(number: marks.count, x: x + 4, y: y, time: time, kind: .operations))
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
