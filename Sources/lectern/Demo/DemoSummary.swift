import Foundation
import LecternClient
import LecternConfiguration
import StrokeWire
import Whiteboard

/// What the demonstration says at its end.
struct DemoSummary {
    /// Samples of a video clock tell no greater rate.
    private static let greatestRate = 2.0

    private let outcome: DemoPerformance.Outcome
    private let speed: Double
    /// The board at the end of the lesson.
    private let expected: Board

    init(outcome: DemoPerformance.Outcome, lesson: Lesson, speed: Double) {
        self.outcome = outcome
        self.speed = speed
        let room = DaemonConfiguration().room
        expected = BoardFold(lesson.messages.map(\.bytes), configuration: room, through: nil).board
    }

    private var state: DemoBoard.State { outcome.state }
    private var digest: BoardDigest { outcome.session.board.digest }

    /// Whether the student saw everything, and nothing early.
    var isGood: Bool {
        state.teacher?.isComplete == true && state.released == expected.index && digest == expected.digest
            && state.skew.early == 0 && outcome.session.report.isSound
    }

    /// Some lines for people about a lesson that was played to its end.
    func text(pictureAt path: String) -> String {
        let verdict = digest == expected.digest ? "as in the lesson" : "but the lesson has \(expected.digest)"
        return lines(
            "board      \(expected.visible.count) strokes, digest \(digest) \(verdict)",
            "picture    \(path)")
    }

    /// The same about a lesson that a signal ended.
    func text(endedBy signal: String) -> String {
        let seconds = String(format: "%.1f", outcome.duration / .seconds(1))
        return lines("ended      by \(signal) after \(seconds) s; there is no picture")
    }

    private func lines(_ last: String...) -> String {
        var lines = [""]
        if let teacher = state.teacher {
            lines += [
                "sent       \(teacher.published) messages, \(teacher.resent) again",
                "applied    \(teacher.applied) operations, \(teacher.rejections) rejected",
            ]
        }
        lines.append("released   \(state.released) operations to the student, \(state.skew.early) early")
        lines.append("lateness   p50 \(quantile(0.5)) ms, p99 \(quantile(0.99)) ms behind the video\(reservation)")
        return (lines + last + state.problems.prefix(10).map { "problem    \($0)" }).joined(separator: "\n")
    }

    private func quantile(_ share: Double) -> String {
        state.skew.quantile(share).map { String(format: "%.1f", $0) } ?? "–"
    }

    private var reservation: String {
        speed > Self.greatestRate ? ", mostly the clock's: its samples tell a rate of 2 at most" : ""
    }
}
