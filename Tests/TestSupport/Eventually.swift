// What tests of several modules share: seeds and random data, models of the rules as they read, sample files, waiting
// for what has to happen. Nothing here knows NATS; `NATSTestServer` has that.

extension Duration {
    /// How long a test waits for what has to happen before it counts as a hang. A test that fails earlier because the
    /// machine has other work would test the machine.
    package static let hangLimit = Duration.seconds(180)
}

/// Polls until `ask` returns a value; nil and errors mean not yet.
package func eventually<Value>(
    _ what: String, within limit: Duration = .hangLimit, every interval: Duration = .milliseconds(20),
    _ ask: () async throws -> Value?
) async throws -> Value {
    let deadline = ContinuousClock.now + limit
    var last: (any Error)?
    while ContinuousClock.now < deadline {
        do {
            if let value = try await ask() { return value }
            last = nil
        } catch {
            last = error
        }
        try await Task.sleep(for: interval)
    }
    throw Unexpected("not within \(limit): \(what)\(last.map { ": \($0)" } ?? "")")
}

/// Polls until a condition is true; errors mean not yet.
package func eventually(
    _ what: String, within limit: Duration = .hangLimit, every interval: Duration = .milliseconds(20),
    is condition: @autoclosure () async throws -> Bool
) async throws {
    try await eventually(what, within: limit, every: interval) { () -> Void? in try await condition() ? () : nil }
}

/// An error that ends a test.
package struct Unexpected: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// Runs an operation; throws when it takes longer than the limit.
package func withDeadline<Result: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: limit)
            throw Unexpected("nothing came within \(limit)")
        }
        guard let first = try await group.next() else { throw Unexpected("no task") }
        group.cancelAll()
        return first
    }
}

/// Runs a body for each element at the same time.
/// - Returns: what it returns for each, in the order in which they end.
@discardableResult
package func concurrently<Element: Sendable, Value: Sendable>(
    _ elements: some Sequence<Element>, _ body: @escaping @Sendable (Element) async throws -> Value
) async throws -> [Value] {
    try await withThrowingTaskGroup(of: Value.self) { group in
        for element in elements { group.addTask { try await body(element) } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}
