import Locking
import Metrics
import NATSClient

/// Metrics that are read when they are scraped.
struct LoadMetrics: Sendable {
    let workers: [RoomWorker]
    let connections: [NATSConnection]
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
    private let slowConsumer = Counter(label: "lectern_nats_dropped_total")
    /// Drops already added to the counters.
    private let reported = Locked<(mailbox: Int, nats: Int, misaddressed: Int)>((0, 0, 0))
    private let reportedStalls = Locked<[DeliveryStall: Int]>([:])
    private let connected = Meter(label: "lectern_nats_connected")

    /// - Parameter canvasBytes: that pictures may take.
    init(
        workers: [RoomWorker], connections: [NATSConnection], canvasBytes: Int,
        canvasUsage: @escaping @Sendable () -> CanvasUsage, misaddressedCount: @escaping @Sendable () -> Int,
        stallCounts: @escaping @Sendable () -> [DeliveryStall: Int]
    ) {
        self.workers = workers
        self.connections = connections
        self.canvasUsage = canvasUsage
        self.misaddressedCount = misaddressedCount
        self.stallCounts = stallCounts
        canvases.limit.set(canvasBytes)
    }

    func report() {
        let loads = workers.map(\.load)
        waiting.set(loads.reduce(0) { $0 + $1.bytes })
        let now = (
            mailbox: loads.reduce(0) { $0 + $1.dropped }, nats: connections.reduce(0) { $0 + $1.droppedMessages },
            misaddressed: misaddressedCount()
        )
        let before = reported.withLock { reported in
            defer { reported = now }
            return reported
        }
        dropped.increment(by: now.mailbox - before.mailbox)
        slowConsumer.increment(by: now.nats - before.nats)
        misaddressed.increment(by: now.misaddressed - before.misaddressed)
        let counts = stallCounts()
        let countsBefore = reportedStalls.withLock { reported in
            defer { reported = counts }
            return reported
        }
        for (stall, counter) in stalls {
            counter.increment(by: counts[stall, default: 0] - countsBefore[stall, default: 0])
        }
        canvases.set(canvasUsage())
        connected.set(connections.allSatisfy { $0.state == .connected } ? 1 : 0)
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
