import Foundation
import Locking
import UnixSignals

/// SIGINT and SIGTERM: the first one cancels the work, a second one ends the process at once.
enum SignalHandler {
    /// Runs the work of a command; a cancelled one returns what it has so far.
    static func run<Result: Sendable>(_ work: @escaping @Sendable () async -> Result) async -> Result {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let task = Task { await work() }
        let listener = Task {
            var isSecond = false
            for await signal in signals {
                if isSecond { _exit(128 + signal.rawValue) }
                isSecond = true
                task.cancel()
            }
        }
        defer { listener.cancel() }
        return await task.value
    }
}
