import ArgumentParser
import Foundation
import LecternClient
import StrokeWire

/// What `lectern publish` says about a lesson that was published.
struct PublishSummary {
    let report: TeacherReport
    let duration: Duration

    /// What the command ends with; nil when every operation was applied.
    var exitCode: ExitCode? {
        if report.isComplete { return nil }
        return report.hasArrived && report.rejections == 0 && report.gaveUp == 0 ? .unanswered : .failed
    }

    /// Some lines for people.
    var text: String {
        var lines = [
            "sent         \(report.published) messages in \(seconds) s, \(report.resent) again, \(report.withheld) withheld",
            "applied      \(report.applied) operations, last index \(report.lastIndex)",
            report.isJournalled
                ? "in journal   \(report.stored) messages; \(report.unstored) operations are not there, refused \(report.refusals) times"
                : "in journal   nothing: no journal acknowledges messages",
            "rejected     \(report.rejections), given up \(report.gaveUp), not answered \(report.unanswered)"
                + ", not sent \(report.unsent)",
            "asked again  \(report.missing) times; reconnected \(report.reconnects) times",
        ]
        if let refusal = report.refusal { lines.append("the journal refuses messages: \(refusal)") }
        if exitCode == .unanswered {
            lines.append("Everything is in the journal; what became of it the service says when it is there.")
        }
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
        line.add("journalled", report.isJournalled)
        line.add("acknowledged", report.stored)
        line.add("unacknowledged", report.unstored)
        line.add("refused", report.refusals)
        if let refusal = report.refusal { line.add("refusal", refusal) }
        line.add("missing_reports", report.missing)
        line.add("malformed_feedback", report.malformedFeedback)
        line.add("reconnects", report.reconnects)
        line.add("milliseconds", Int(duration / .milliseconds(1)))
        line.add("arrived", report.hasArrived)
        line.add("complete", report.isComplete)
        return String(decoding: line.closed, as: UTF8.self)
    }

    private var seconds: String { String(format: "%.1f", duration / .seconds(1)) }
}
