import ArgumentParser
import Foundation
import Locking
import UnixSignals

/// Handles SIGINT and SIGTERM for a command: the first one cancels its work, a second one ends the process at once.
final class InterruptHandler: Sendable {
    private struct State {
        var first: (signal: UnixSignal, time: ContinuousClock.Instant)?
        var cancel: (@Sendable () -> Void)?
    }

    /// What comes so soon is the first one again: timeout(1), npm and others send it to the process and to its group.
    private static let echoTime = Duration.milliseconds(200)

    private let state = Locked(State())

    /// Traps the signals from now to the end of the process.
    init() async {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        Task { for await signal in signals { receive(signal) } }
    }

    /// The first signal; nil before it.
    var signal: UnixSignal? { state.withLock { $0.first?.signal } }

    /// The exit code of a command that a signal ended: 130 for SIGINT, 143 for SIGTERM, as in shells.
    var exitCode: ExitCode? { signal.map { ExitCode($0.exitCode) } }

    /// Runs a command's work in a task that the first signal cancels.
    /// - Returns: the result of the work; a cancelled one returns what it has so far.
    func run<Result: Sendable>(_ work: sending @escaping () async throws -> Result) async throws -> Result {
        let task = Task { try await work() }
        let isTooLate = state.withLock { state in
            state.cancel = { task.cancel() }
            return state.first != nil
        }
        if isTooLate { task.cancel() }
        return try await task.value
    }

    private func receive(_ signal: UnixSignal) {
        let cancel: (@Sendable () -> Void)? = state.withLock { state in
            if let first = state.first {
                // The second signal: do not wait for the work to end.
                if first.time.duration(to: .now) > Self.echoTime { _exit(signal.exitCode) }
                return nil
            }
            state.first = (signal, .now)
            return state.cancel
        }
        cancel?()
    }
}

extension UnixSignal {
    fileprivate var exitCode: Int32 { 128 + rawValue }

    /// The signal's name: `SIGINT`.
    var name: String { description.uppercased() }
}
