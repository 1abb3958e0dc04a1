import ArgumentParser
import Foundation
import LecternClient
import StrokeWire

/// Options of a command that publishes, for its waiting and its output.
struct PublishingOptions: ParsableArguments {
    @Option(
        help: "Longest wait for answers at the end, or while nothing gets through: 500ms, 10s, 2m. Default: 10s.",
        transform: duration)
    var answerTimeout = Duration.seconds(10)

    @Flag(help: "Print no progress.")
    var quiet = false

    @Flag(help: "Print the summary as one line of JSON.")
    var json = false
}

/// The progress line of a command that publishes, on standard error.
struct PublishProgress {
    private let isQuiet: Bool
    private var refusal: String?
    private var isLineOpen = false

    init(isQuiet: Bool) {
        self.isQuiet = isQuiet
    }

    /// Overwrites the progress line. A refusal of the journal gets a line of its own, also when quiet.
    mutating func show(_ report: TeacherReport) {
        if let why = report.refusal, why != refusal {
            end()
            StandardError.write("lectern: the journal refuses messages: \(why); retrying")
        }
        refusal = report.refusal
        guard !isQuiet else { return }
        let journal = report.isJournalled ? "  in the journal \(report.stored)" : ""
        let line =
            "\rsent \(report.published)  left \(report.unsent)\(journal)  applied \(report.applied)  "
            + "waiting \(report.unanswered)  sent again \(report.resent)  rejected \(report.rejections)\(trouble(report))"
        // Blanks cover the rest of a longer line.
        let rest = String(repeating: " ", count: max(0, 118 - line.count))
        try? FileHandle.standardError.write(contentsOf: Data((line + rest).utf8))
        isLineOpen = true
    }

    /// Ends the progress line.
    mutating func end() {
        if isLineOpen { StandardError.write("") }
        isLineOpen = false
    }

    private func trouble(_ report: TeacherReport) -> String {
        if !report.isConnected { return "  no connection" }
        return report.isStalled ? "  nothing gets through" : ""
    }
}

/// The summary of a command that publishes.
struct PublishSummary {
    let report: TeacherReport
    let duration: Duration
    /// Whether strokes were sent while they were being drawn, too.
    var hasWetInk = true

    /// Prints the summary, and ends the command unless every operation was applied.
    /// - Parameter isOver: the error where another session of the author has ended this one.
    func endCommand(
        asJSON: Bool, _ interrupts: InterruptHandler, _ room: RoomOptions, isOver: (_ session: String) -> String
    ) throws {
        StandardOutput.write(asJSON ? json : text)
        guard let exitCode else { return }
        if let session = report.endedSession {
            StandardError.write("lectern: \(isOver(session))")
        } else if let signal = interrupts.signal {
            StandardError.write("lectern: ended by \(signal.name)")
        } else if report.hasNoResponse {
            StandardError.write("lectern: \(room.unanswered)")
        }
        throw interrupts.exitCode ?? exitCode
    }

    /// The exit code; nil when every operation was applied.
    private var exitCode: ExitCode? {
        if report.isComplete { return nil }
        let isOpen = report.hasArrived && report.rejections == 0 && report.gaveUp == 0 && report.endedSession == nil
        return isOpen ? .unanswered : .failed
    }

    var text: String {
        var lines = [
            "sent         \(report.published) messages in \(seconds) s, \(report.resent) again, \(report.withheld) withheld"
        ]
        if hasWetInk { lines.append("wet ink      \(report.wetUpdates) updates of strokes being drawn") }
        lines += [
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
            lines.append("Everything is in the journal; the service answers for it when it runs again.")
        }
        if report.behindLive > 0 {
            let distance = String(format: "%.1f", Double(report.behindLive) / 1000)
            lines.append(
                "Times lie \(distance) s below the time at the teacher: students see this ink before its voice.")
        }
        for rejection in report.firstRejections {
            let number = rejection.number.map { "operation \($0)" } ?? "a message"
            lines.append("  \(number): \(rejection.rejection.code.rawValue): \(rejection.rejection.message)")
        }
        return lines.joined(separator: "\n")
    }

    /// The summary as one line of JSON.
    var json: String {
        var line = JSONLine()
        line.add("sent", report.published)
        line.add("resent", report.resent)
        line.add("withheld", report.withheld)
        line.add("wet_updates", report.wetUpdates)
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
        if let session = report.endedSession { line.add("ended_session", session) }
        line.add("behind_live", report.behindLive)
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
