import StrokeWire

/// Runs asynchronous work on a fixed number of lanes: one piece after the other for one room, several rooms at once.
struct Lanes: Sendable {
    typealias Work = @Sendable () async -> Void

    private let inlets: [AsyncStream<Work>.Continuation]
    private let tasks: [Task<Void, Never>]

    init(count: Int) {
        var inlets: [AsyncStream<Work>.Continuation] = []
        var tasks: [Task<Void, Never>] = []
        for _ in 0..<count {
            let (works, inlet) = AsyncStream.makeStream(of: Work.self)
            inlets.append(inlet)
            tasks.append(Task { for await work in works { await work() } })
        }
        self.inlets = inlets
        self.tasks = tasks
    }

    func run(for room: RoomID, _ work: @escaping Work) {
        inlets[Int(FNV1a64.mixed(room.text.utf8) % UInt64(inlets.count))].yield(work)
    }

    func stop() {
        for inlet in inlets { inlet.finish() }
        for task in tasks { task.cancel() }
    }
}
