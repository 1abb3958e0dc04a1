import Locking
import Metrics
import NATSClient

/// Metrics that are read when they are scraped.
struct LoadMetrics: Sendable {
    let workers: [RoomWorker]
    let misaddressedCount: @Sendable () -> Int
    let stallCounts: @Sendable () -> [DeliveryStall: Int]
    let canvasUsage: @Sendable () -> CanvasUsage
    private let stalls = DeliveryStall.allCases.map { stall in
        (stall, Counter(label: "lectern_delivery_stalls_total", dimensions: [("cause", stall.rawValue)]))
    }
    private let canvases = CanvasMetrics()
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
        canvases.limit.set(canvasBytes)
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
        canvases.set(canvasUsage())
    }
}

/// What pictures take of their memory, by what it is.
private struct CanvasMetrics: Sendable {
    let limit = Meter(label: "lectern_canvas_limit_bytes")
    private let tiles = Meter(label: "lectern_canvas_bytes", dimensions: [("part", "tiles")])
    private let versions = Meter(label: "lectern_canvas_bytes", dimensions: [("part", "versions")])
    private let scenes = Meter(label: "lectern_canvas_bytes", dimensions: [("part", "scenes")])
    private let files = Meter(label: "lectern_canvas_bytes", dimensions: [("part", "files")])
    private let underWay = Meter(label: "lectern_canvas_bytes", dimensions: [("part", "under-way")])

    func set(_ usage: CanvasUsage) {
        tiles.set(usage.tiles)
        versions.set(usage.versions)
        scenes.set(usage.scenes)
        files.set(usage.files)
        underWay.set(usage.underWay)
    }
}
