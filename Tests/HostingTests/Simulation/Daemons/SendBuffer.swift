import TestSupport

/// What a process has published and its NATS library has buffered: it arrives in order, a moment later; what has not
/// arrived when the connection is lost never does.
final class SendBuffer {
    private struct Item {
        let arrive: () -> Void
        let lose: () -> Void
    }

    private let world: World
    private var items: [Item] = []
    private var isScheduled = false
    /// While the connection is dead and nobody has noticed.
    private(set) var isStalled = false

    init(world: World) {
        self.world = world
    }

    func send(_ arrive: @escaping () -> Void, orLose lose: @escaping () -> Void = {}) {
        items.append(Item(arrive: arrive, lose: lose))
        schedule()
    }

    private func schedule() {
        guard !isScheduled, !isStalled else { return }
        isScheduled = true
        let delay = world.chance(30) ? 5...120 : 0...1
        world.after(delay) { [weak self] in
            guard let self else { return }
            isScheduled = false
            guard !isStalled else { return }
            let arrived = items
            items = []
            for item in arrived { item.arrive() }
        }
    }

    func stall() { isStalled = true }

    /// The connection is lost, and all that had not arrived.
    func lose() {
        isStalled = false
        let lost = items
        items = []
        for item in lost { item.lose() }
    }
}
