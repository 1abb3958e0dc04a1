import Synchronization

/// Whether something has happened; may be told from anywhere.
final class Passed: Sendable {
    private let flag = Atomic<Bool>(false)

    var isNoted: Bool { flag.load(ordering: .acquiring) }
    func note() { flag.store(true, ordering: .releasing) }
}
