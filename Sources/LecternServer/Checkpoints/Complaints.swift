import Whiteboard

/// Failures of a kind, of which one now and then is told.
struct Complaints: Sendable {
    private var count = 0
    private var toldAt = Instant.distantPast

    private static let interval = Duration.seconds(5)

    /// - Returns: how many there were since one was told, where it is time to tell again.
    mutating func add(at now: Instant) -> Int? {
        count += 1
        guard now - toldAt >= Self.interval else { return nil }
        defer { count = 0 }
        toldAt = now
        return count
    }
}
