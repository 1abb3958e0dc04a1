import Dispatch
import StrokeWire

/// Answers `<root>.rooms`, away from the threads that release operations and from the queue that answers joins.
///
/// All who ask while a list is made, and for a second after, get the same one: at most one walk over the rooms is under
/// way at a time, and there is no second one within a second. Bounded: beyond `limit` who wait or are being answered,
/// the newcomer is answered `not-ready`. Safe from any thread.
final class ListingDesk: Sendable {
    /// What the desk needs of the world.
    struct Ways: Sendable {
        /// Begins a walk; the argument is to be called once with what was found, on any thread.
        let survey: @Sendable (_ found: @escaping @Sendable ([RoomReport]) -> Void) -> Void
        let send: @Sendable (_ page: [UInt8], _ reply: String) -> Void
        let refuse: @Sendable (_ reply: String, RequestError) -> Void
    }

    private let ways: Ways
    private let budget: Budget
    private let queue = DispatchQueue(label: "lectern.listing")
    private let state = Locked<(orders: ListingOrders, isClosing: Bool)>((ListingOrders(), false))

    init(limit: Int = 64, ways: Ways) {
        budget = Budget(limit)
        self.ways = ways
    }

    /// Somebody asks; returns at once.
    func ask(_ reply: String) {
        guard budget.take() else {
            return ways.refuse(
                reply, RequestError(.notReady, "Too many ask for the list of rooms; ask again in a second."))
        }
        let now = MonotonicClock.now()
        let answer = state.withLock { state in state.isClosing ? nil : state.orders.ask(reply, at: now) }
        switch answer {
        case .pages(let pages): queue.async { self.give(pages, to: reply) }
        case .make: ways.survey { found in self.queue.async { self.publish(found) } }
        case .wait: break
        case nil: refuse(reply)
        }
    }

    /// Gives out a list that has been found, and refuses those who still wait for one.
    func close() {
        state.withLock { $0.isClosing = true }
        queue.sync {}
        for reply in state.withLock({ $0.orders.takeWaiting() }) { refuse(reply) }
    }

    private func publish(_ found: [RoomReport]) {
        let pages = RoomReport.pages(of: found)
        let waiting = state.withLock { $0.orders.made(pages, at: MonotonicClock.now()) }
        for reply in waiting { give(pages, to: reply) }
        queue.asyncAfter(deadline: .now() + .seconds(1)) {
            self.state.withLock { $0.orders.forgetOld(at: MonotonicClock.now()) }
        }
    }

    private func give(_ pages: [[UInt8]], to reply: String) {
        for page in pages { ways.send(page, reply) }
        budget.giveBack()
    }

    private func refuse(_ reply: String) {
        ways.refuse(reply, RequestError(.notReady, "The server is shutting down."))
        budget.giveBack()
    }
}
