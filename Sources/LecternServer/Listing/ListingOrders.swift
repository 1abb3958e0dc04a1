import Whiteboard

/// Who waits for the list of rooms, and the list that was made last. A value; time is a parameter.
struct ListingOrders {
    /// A list is given out for so long after it was made.
    static let freshness = Duration.seconds(1)

    enum Answer: Equatable {
        /// Here it is, page by page.
        case pages([[UInt8]])
        /// The list has to be made; who asked is noted.
        case make
        /// It is being made; who asked is noted.
        case wait
    }

    private var pages: [[UInt8]] = []
    private var madeAt = Instant.distantPast
    private var waiting: [String] = []
    private var isMaking = false

    mutating func ask(_ reply: String, at now: Instant) -> Answer {
        if now - madeAt < Self.freshness { return .pages(pages) }
        waiting.append(reply)
        guard !isMaking else { return .wait }
        isMaking = true
        return .make
    }

    /// The list has been made.
    /// - Returns: who has waited for it.
    mutating func made(_ pages: [[UInt8]], at now: Instant) -> [String] {
        self.pages = pages
        madeAt = now
        isMaking = false
        return takeWaiting()
    }

    /// Nobody who waits will get it.
    mutating func takeWaiting() -> [String] {
        defer { waiting = [] }
        return waiting
    }

    /// Gives the memory of a list back that is given out no more.
    mutating func forgetOld(at now: Instant) {
        if now - madeAt >= Self.freshness { pages = [] }
    }
}
