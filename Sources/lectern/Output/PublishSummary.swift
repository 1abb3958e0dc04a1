import Foundation
import LecternClient
import StrokeWire

/// What `lectern publish` says about a lesson that was published.
struct PublishSummary {
    let report: TeacherReport
    let duration: Duration

    /// Overwrites the progress line on standard error.
    static func show(_ report: TeacherReport) {
        let line =
            "\rsent \(report.published)  left \(report.unsent)  applied \(report.applied)  "
            + "waiting \(report.unanswered)  sent again \(report.resent)  rejected \(report.rejections)   "
        try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
    }

    /// Leaves the progress line.
    static func endProgress() {
        StandardError.write("")
    }

    /// Some lines for people.
    var text: String {
        var lines = [
            "sent         \(report.published) messages in \(seconds) s, \(report.resent) again, \(report.withheld) withheld",
            "applied      \(report.applied) operations, last index \(report.lastIndex)",
            "rejected     \(report.rejections), given up \(report.gaveUp), not answered \(report.unanswered)"
                + ", not sent \(report.unsent), forgotten \(report.forgotten)",
            "asked again  \(report.missing) times; reconnected \(report.reconnects) times",
        ]
        for rejection in report.firstRejections {
            let number = rejection.number.map { "operation \($0)" } ?? "a message"
            lines.append("  \(number): \(rejection.rejection.code.rawValue): \(rejection.rejection.message)")
        }
        return lines.joined(separator: "\n")
    }

    /// One line for programs.
    var json: String {
        var line = JSONLine()
        line.add("sent", report.published)
        line.add("resent", report.resent)
        line.add("withheld", report.withheld)
        line.add("applied", report.applied)
        line.add("last_index", report.lastIndex)
        line.add(
            "rejected", Dictionary(uniqueKeysWithValues: report.rejected.map { ($0.key.rawValue, $0.value) }))
        line.add("gave_up", report.gaveUp)
        line.add("unanswered", report.unanswered)
        line.add("unsent", report.unsent)
        line.add("forgotten", report.forgotten)
        line.add("missing_reports", report.missing)
        line.add("malformed_feedback", report.malformedFeedback)
        line.add("reconnects", report.reconnects)
        line.add("milliseconds", Int(duration / .milliseconds(1)))
        line.add("complete", report.isComplete)
        return String(decoding: line.closed, as: UTF8.self)
    }

    private var seconds: String { String(format: "%.1f", duration / .seconds(1)) }
}
