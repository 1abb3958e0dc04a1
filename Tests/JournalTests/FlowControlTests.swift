import Journal
import Locking
import NATSClient
import NATSTestServer
import StrokeWire
import Testing
import Whiteboard

@Suite struct FlowControlTests {
    /// Bytes of a record's body, and the number of records: far more than flow control lets pass.
    private static let (size, count) = (32 << 10, 1500)

    private func fill(_ test: TestJournal) async throws {
        _ = try await test.journal.provision(0)
        let body = [UInt8](repeating: 1, count: Self.size)
        for number in 1...Self.count {
            if number % 50 == 0 {
                _ = try await test.jetStream.publish(body, to: "ink.0.physics.in.anna")
            } else {
                try test.connection.publish(body, to: "ink.0.physics.in.anna")
            }
        }
    }

    /// Reads the log from its beginning.
    private func read(
        _ test: TestJournal, _ records: Recorder<UInt64>, onBarrier: @escaping @Sendable (FlowControlBarrier) -> Void
    ) -> PartitionReader {
        test.journal.read(0, from: 1, now: MonotonicClock.now) { event in
            switch event {
            case .record(let record): records.append(record.sequence)
            case .barrier(let barrier): onBarrier(barrier)
            default: break
            }
        }
    }

    @Test func `Until a barrier is passed the server holds back what follows`() async throws {
        try await TestJournal.with(heartbeat: .seconds(1)) { test, _ in
            try await fill(test)
            let records = Recorder<UInt64>()
            let barriers = BarrierKeeper()
            let reader = read(test, records) { barriers.take($0) }
            // Heartbeats continue while the server waits; at the third it has sent all that flow control lets pass.
            let stalled = Recorder<Void>()
            try test.connection.subscribe("_INBOX.*.delivery.*") { message in
                if message.header("Nats-Consumer-Stalled") != nil { stalled.append(()) }
            }
            _ = try await stalled.values(3)
            let held = records.values.count
            #expect(held > 0)
            #expect(held * Self.size <= 4 << 20)
            barriers.open()
            _ = try await records.values(Self.count)
            #expect(barriers.count > 3)
            #expect(records.values == (1...Self.count).map { UInt64($0) })
            reader.cancel()
        }
    }

    @Test func `Nor does a reader that is slow get more with each new connection`() async throws {
        try await TestJournal.with { test, _ in
            try await fill(test)
            let records = Recorder<UInt64>()
            let barriers = BarrierKeeper()
            let reader = read(test, records) { barriers.take($0) }
            let states = test.connection.recordStates()
            _ = try await records.values(20)
            for round in 1...5 {
                test.connection.cut()
                _ = try await states.values(2 * round)
                // There is a new consumer, which waits.
                _ = try await test.consumerName()
            }
            #expect(records.values.count * Self.size <= 4 << 20)
            barriers.open()
            _ = try await records.values(Self.count)
            #expect(records.values == (1...Self.count).map { UInt64($0) })
            reader.cancel()
        }
    }

    @Test func `A barrier of a consumer that is gone may be passed all the same`() async throws {
        try await TestJournal.with { test, _ in
            try await fill(test)
            let (records, barriers) = (Recorder<UInt64>(), Recorder<FlowControlBarrier>())
            let reader = read(test, records) { barrier in
                barriers.append(barrier)
                if barriers.values.count > 1 { barrier.pass() }
            }
            let first = try await barriers.values(1)[0]
            test.connection.cut()
            _ = try await records.values(Self.count)
            first.pass()
            first.pass()
            #expect(records.values == (1...Self.count).map { UInt64($0) })
            reader.cancel()
        }
    }
}

/// Keeps barriers until it is opened; passes them from then on.
final class BarrierKeeper: Sendable {
    private struct State {
        var kept: [FlowControlBarrier] = []
        var isOpen = false
        var count = 0
    }

    private let state = Locked(State())

    /// The number of barriers so far.
    var count: Int { state.withLock { $0.count } }

    func take(_ barrier: FlowControlBarrier) {
        let passes = state.withLock { state in
            state.count += 1
            if !state.isOpen { state.kept.append(barrier) }
            return state.isOpen
        }
        if passes { barrier.pass() }
    }

    func open() {
        let kept = state.withLock { state in
            state.isOpen = true
            defer { state.kept = [] }
            return state.kept
        }
        for barrier in kept { barrier.pass() }
    }
}
