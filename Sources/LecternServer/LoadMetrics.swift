import Locking
import Metrics
import NATSClient

/// Metrics that are read when they are scraped, one scrape at a time.
struct LoadMetrics: Sendable {
    private let workers: [RoomWorker]
    private let misaddressedCount: @Sendable () -> Int
    private let stallCounts: @Sendable () -> [DeliveryStall: Int]
    private let canvasUsage: @Sendable () -> CanvasUsage
    private let stalls = DeliveryStall.allCases.map { stall in
        (stall, Counter(label: "lectern_delivery_stalls_total", dimensions: [("cause", stall.rawValue)]))
    }
    /// What pictures take of their memory, by what it is.
    private let canvases = CanvasUsage.Part.allCases.map { part in
        (part, Meter(label: "lectern_canvas_bytes", dimensions: [("part", part.rawValue)]))
    }
    private let waiting = Meter(label: "lectern_mailbox_bytes")
    private let dropped = Counter(label: "lectern_mailbox_dropped_total")
    private let misaddressed = Counter(label: "lectern_misaddressed_total")
    /// Drops already added to the counters.
    private let reported = Locked<(mailbox: Int, misaddressed: Int)>((0, 0))
    private let reportedStalls = Locked<[DeliveryStall: Int]>([:])

    /// - Parameter canvasBytes: that pictures may take.
    init(
        workers: [RoomWorker], canvasBytes: Int,
        canvasUsage: @escaping @Sendable () -> CanvasUsage, misaddressedCount: @escaping @Sendable () -> Int,
        stallCounts: @escaping @Sendable () -> [DeliveryStall: Int]
    ) {
        self.workers = workers
        self.canvasUsage = canvasUsage
        self.misaddressedCount = misaddressedCount
        self.stallCounts = stallCounts
        Meter(label: "lectern_canvas_limit_bytes").set(canvasBytes)
    }

    func report() {
        let loads = workers.map(\.load)
        waiting.set(loads.reduce(0) { $0 + $1.bytes })
        let now = (mailbox: loads.reduce(0) { $0 + $1.dropped }, misaddressed: misaddressedCount())
        let before = reported.exchange(now)
        dropped.increment(by: now.mailbox - before.mailbox)
        misaddressed.increment(by: now.misaddressed - before.misaddressed)
        let counts = stallCounts()
        let countsBefore = reportedStalls.exchange(counts)
        for (stall, counter) in stalls {
            counter.increment(by: counts[stall, default: 0] - countsBefore[stall, default: 0])
        }
        let usage = canvasUsage()
        for (part, meter) in canvases { meter.set(usage[part]) }
    }
}
