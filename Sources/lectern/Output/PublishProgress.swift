import Foundation
import LecternClient

/// What `lectern publish` says on standard error while it publishes.
struct PublishProgress {
    private let isQuiet: Bool
    private var refusal: String?
    private var isLineOpen = false

    init(isQuiet: Bool) {
        self.isQuiet = isQuiet
    }

    /// Overwrites the progress line; a journal that refuses messages is told of on a line of its own, also when quiet.
    mutating func show(_ report: TeacherReport) {
        if let why = report.refusal, why != refusal {
            end()
            StandardError.write("lectern: the journal refuses messages: \(why); trying on")
        }
        refusal = report.refusal
        guard !isQuiet else { return }
        let journal = report.isJournalled ? "  in the journal \(report.stored)" : ""
        let line =
            "\rsent \(report.published)  left \(report.unsent)\(journal)  applied \(report.applied)  "
            + "waiting \(report.unanswered)  sent again \(report.resent)  rejected \(report.rejections)\(trouble(report))"
        try? FileHandle.standardError.write(contentsOf: Data(line.padding(toLength: 118).utf8))
        isLineOpen = true
    }

    /// Leaves the progress line.
    mutating func end() {
        if isLineOpen { StandardError.write("") }
        isLineOpen = false
    }

    private func trouble(_ report: TeacherReport) -> String {
        if !report.isConnected { return "  no connection" }
        return report.isStalled ? "  nothing gets through" : ""
    }
}

extension String {
    /// Blanks at the end cover what a longer line left.
    fileprivate func padding(toLength length: Int) -> String {
        self + String(repeating: " ", count: max(0, length - count))
    }
}
