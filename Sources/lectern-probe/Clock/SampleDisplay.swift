import Dispatch
import Foundation
import Locking
import StrokeWire

/// Shows samples on standard output: one line that is written anew on a terminal, else a line of JSON each. Of many clocks
/// the line on a terminal says how many are in which state.
///
/// Nothing waits for those who read it: lines that they do not take are dropped and counted.
final class SampleDisplay: Sendable {
    private struct State {
        var isLineOpen = false
        /// Lines that are not written yet.
        var waiting = 0
        var dropped = 0
        /// Of many clocks, by their names.
        var states: [String: String] = [:]
    }

    /// Lines that may wait, some hundred bytes each.
    private static let mostWaiting = 256

    private let isTerminal: Bool
    private let state = Locked(State())
    private let queue = DispatchQueue(label: "lectern-probe output")
    private let writing = DispatchGroup()

    static let standard = SampleDisplay(isTerminal: isatty(STDOUT_FILENO) == 1)

    private init(isTerminal: Bool) {
        self.isTerminal = isTerminal
    }

    /// - Parameter name: of one clock of many.
    func show(_ sample: ClockSample, of name: String?, buffered: Int64, published: Int, skipped: Int) {
        if isTerminal, let name {
            showState("\(sample.state)", of: name)
        } else if isTerminal {
            let seconds = Double(sample.media.microseconds) / 1e6
            let lost = skipped == 0 ? "" : ", \(skipped) not sent"
            rewrite(
                String(
                    format: "%@  media %.3f s  buffered %.1f s  %d samples%@", "\(sample.state)".padded(to: 5), seconds,
                    Double(buffered) / 1e6, published, lost))
        } else {
            let body = String(decoding: sample.encoded(), as: UTF8.self)
            let wall = Int64(sample.wallTime ?? 0)
            let member = name.map { "\"clock\":\"\($0)\"," } ?? ""
            write("{\(member)\"at\":\(wall),\"buffered\":\(buffered / 1000),\"sample\":\(body)}\n")
        }
    }

    func showWaiting(of name: String?, error: String?) {
        guard isTerminal else { return }
        if let name {
            showState("wait", of: name)
        } else {
            rewrite("waiting for media times" + (error.map { ": \($0)" } ?? ""))
        }
    }

    private func showState(_ state: String, of name: String) {
        let counts: [String: Int]? = self.state.withLock {
            guard $0.states.updateValue(state, forKey: name) != state else { return nil }
            return $0.states.values.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        guard let counts else { return }
        rewrite(counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
    }

    /// Lines that nobody took.
    var dropped: Int { state.withLock { $0.dropped } }

    /// Ends the line, and waits a second at most for what is not written yet.
    func finish() {
        if state.withLock({ $0.isLineOpen }) { write("\n") }
        _ = writing.wait(timeout: .now() + 1)
        let lost = state.withLock { isTerminal ? 0 : $0.dropped + $0.waiting }
        if lost > 0 { StandardError.write("lectern-probe: lines that nobody read: \(lost)") }
    }

    private func rewrite(_ line: String) {
        state.withLock { $0.isLineOpen = true }
        write("\r\u{1b}[K" + line.prefix(200))
    }

    private func write(_ text: String) {
        let hasPlace = state.withLock { state in
            let hasPlace = state.waiting < Self.mostWaiting
            if hasPlace { state.waiting += 1 } else { state.dropped += 1 }
            return hasPlace
        }
        guard hasPlace else { return }
        queue.async(group: writing) { [state] in
            // A reader that has gone ends the program by SIGPIPE, but not the clock of a class: libnats ignores that.
            try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
            state.withLock { $0.waiting -= 1 }
        }
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        count >= width ? self : self + String(repeating: " ", count: width - count)
    }
}
