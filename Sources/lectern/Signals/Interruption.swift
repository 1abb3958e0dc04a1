import ArgumentParser
import Foundation
import NIOConcurrencyHelpers
import UnixSignals

/// What SIGINT and SIGTERM do to a command: the first one ends its work in order, a second one the process at once.
final class Interruption: Sendable {
    private struct State {
        var signal: UnixSignal?
        var cancel: (@Sendable () -> Void)?
    }

    private let state = NIOLockedValueBox(State())

    /// Takes the signals from here to the end of the process.
    init() async {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        Task { for await signal in signals { receive(signal) } }
    }

    /// The first signal; nil as long as none came.
    var signal: UnixSignal? { state.withLockedValue { $0.signal } }

    /// What a command ends with that a signal has ended too early: 130 for SIGINT, 143 for SIGTERM, as shells have it.
    var exitCode: ExitCode? { signal.map { ExitCode($0.exitCode) } }

    /// Does a command's work, in a task that the first signal cancels.
    /// - Returns: what the work does; one that is cancelled returns what it has come to.
    func run<Result: Sendable>(_ work: sending @escaping () async throws -> Result) async throws -> Result {
        let task = Task { try await work() }
        let isTooLate = state.withLockedValue { state in
            state.cancel = { task.cancel() }
            return state.signal != nil
        }
        if isTooLate { task.cancel() }
        return try await task.value
    }

    private func receive(_ signal: UnixSignal) {
        let cancel: (@Sendable () -> Void)? = state.withLockedValue { state in
            // Whoever asks twice does not want to wait.
            if state.signal != nil { _exit(signal.exitCode) }
            state.signal = signal
            return state.cancel
        }
        cancel?()
    }
}

extension UnixSignal {
    fileprivate var exitCode: Int32 { 128 + rawValue }

    /// As people write it: `SIGINT`.
    var name: String { description.uppercased() }
}
