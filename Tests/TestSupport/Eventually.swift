/// Polls until `ask` returns a value; nil and errors mean not yet.
package func eventually<Value>(
    _ what: String, within limit: Duration = .seconds(30), every interval: Duration = .milliseconds(20),
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

/// An error that ends a test.
package struct Unexpected: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
