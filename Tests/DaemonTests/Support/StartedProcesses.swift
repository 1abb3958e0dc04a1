import NATSClient
import Testing

/// The programs that a test has started.
///
/// One that is left running looks for its NATS server for ever, and sooner or later finds that of another test on the
/// same port.
final class StartedProcesses: Sendable {
    @TaskLocal static var ofThisTest: StartedProcesses?

    private let children = Locked<[ChildProcess]>([])

    func add(_ child: ChildProcess) {
        children.withLock { $0.append(child) }
    }

    func end() async {
        for child in children.withLock({ $0 }) where !child.hasExited { await child.end(patience: .zero) }
    }
}

/// Ends what a test has started, however the test ends.
struct EndsProcesses: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let started = StartedProcesses()
        let result: Result<Void, any Error>
        do {
            result = .success(try await StartedProcesses.$ofThisTest.withValue(started) { try await function() })
        } catch {
            result = .failure(error)
        }
        await started.end()
        try result.get()
    }
}

extension Trait where Self == EndsProcesses {
    /// For every suite whose tests start programs.
    static var endsProcesses: Self { Self() }
}
