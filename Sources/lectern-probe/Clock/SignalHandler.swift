import Foundation
import Locking
import UnixSignals

/// SIGINT and SIGTERM: the first one cancels the work, a second one ends the process at once.
enum SignalHandler {
    /// What comes so soon is the first one again: timeout(1), npm and others send it to the process and to its group.
    private static let echoTime = Duration.milliseconds(200)

    /// Runs the work of a command; a cancelled one returns what it has so far.
    static func run<Result: Sendable>(_ work: @escaping @Sendable () async -> Result) async -> Result {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let task = Task { await work() }
        let listener = Task {
            var first: ContinuousClock.Instant?
            for await signal in signals {
                if let first, first.duration(to: .now) > Self.echoTime { _exit(128 + signal.rawValue) }
                first = first ?? .now
                task.cancel()
            }
        }
        defer { listener.cancel() }
        return await task.value
    }
}
