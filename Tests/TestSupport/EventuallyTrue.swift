/// Polls until a condition is true; errors mean not yet.
package func eventually(
    _ what: String, within limit: Duration = .hangLimit, every interval: Duration = .milliseconds(20),
    is condition: @autoclosure () async throws -> Bool
) async throws {
    try await eventually(what, within: limit, every: interval) { () -> Void? in try await condition() ? () : nil }
}
