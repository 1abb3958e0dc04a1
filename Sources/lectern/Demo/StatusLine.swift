import Foundation
import NIOConcurrencyHelpers

/// A line that is written over itself on a terminal, and every two seconds a line of its own elsewhere.
final class StatusLine: Sendable {
    private let isTerminal = isatty(STDOUT_FILENO) == 1
    private let shown = NIOLockedValueBox(0)

    /// Shows the line; called twice a second.
    func show(_ line: String) {
        let count = shown.withLockedValue { shown in
            shown += 1
            return shown
        }
        if isTerminal {
            print("\r\u{1B}[K\(line)", terminator: "")
        } else if count % 4 == 1 {
            print(line)
        }
        fflush(nil)
    }

    func end() {
        if isTerminal { print("") }
    }
}
