import ArgumentParser
import Journal
import LecternServer
import Logging
import NATSClient
import ServiceLifecycle
import StrokeWire
import Whiteboard

/// The service over a journal of very many rooms: the first fold of the log, and the recovery from checkpoints.
struct RoomsInService {
    let messages: RoomMessages
    let count: Int
    let url: String
    /// A root of its own, so that the server may have other streams.
    private let root = "bench\(UInt32.random(in: .min ... .max))"

    /// Classes as they are: every room gets a stroke each 20 ms. What the service takes then, with the tails of the logs
    /// and all else that is not at rest.
    /// - Parameter isDurable: whether the journal is JetStream's.
    func measurePace(isDurable: Bool, into report: inout BenchReport) async throws {
        let client = try await NATSConnection.open(url)
        let start = ProcessMemory.now
        let (service, _) = try await self.start(isDurable: isDurable)
        let name = isDurable ? "at pace, JetStream" : "at pace, core NATS"
        let subjects = try addresses.map { $0.subject(.input(messages.author)) }
        for (number, message) in messages.messages.enumerated() {
            for subject in subjects { try client.publish(message, to: subject) }
            try await Task.sleep(for: .milliseconds(20))
            Progress.say(number + 1, of: messages.messages.count, "messages of every room published")
        }
        let end = ProcessMemory.now
        let strokes = Double(count * messages.strokes)
        report.add(
            "\(name): bytes a stroke", Double(end.allocated - start.allocated) / strokes, atMost: isDurable ? 165 : 120)
        report.add("\(name): resident bytes a stroke", Double(end.resident - start.resident) / strokes)
        try await service.stop()
        await deleteStreams(client)
        await client.close()
    }

    func measure(into report: inout BenchReport) async throws {
        let client = try await NATSConnection.open(url)
        try await run {
            try await measure(client, into: &report)
        } finally: {
            await deleteStreams(client)
            await client.close()
        }
    }

    private func measure(_ client: NATSConnection, into report: inout BenchReport) async throws {
        try await start().service.stop()
        try await fill(client)

        let memory = ProcessMemory.now.allocated
        Progress.say("folding the log")
        let (first, folding) = try await start()
        let all = messages.messages.count * count
        report.add("first fold and release: seconds until it serves", folding / .seconds(1))
        report.add("first fold and release: messages a second", Double(all) / (folding / .seconds(1)))
        report.add("first fold and release: bytes a stroke, awake", bytesPerStroke(since: memory))
        let saving = try await ContinuousClock().measure { try await waitForCheckpoints(client) }
        report.add("all rooms saved: seconds after that", saving / .seconds(1))
        report.add("all rooms saved: bytes a stroke", bytesPerStroke(since: memory))
        try await rest()
        report.add("first fold and release: bytes a stroke, at rest", bytesPerStroke(since: memory))
        let stopping = try await ContinuousClock().measure { try await first.stop() }
        report.add("stop: seconds", stopping / .seconds(1))

        let beforeRecovery = ProcessMemory.now.allocated
        let (second, recovering) = try await start()
        report.add("recovery: seconds until it serves", recovering / .seconds(1))
        report.add("recovery: rooms a second", Double(count) / (recovering / .seconds(1)))
        report.add("recovery: bytes a room", Double(ProcessMemory.now.allocated - beforeRecovery) / Double(count))
        Progress.say("joining every room")
        let joining = try await ContinuousClock().measure { try await joinAll(client) }
        report.add("every room joined: rooms a second", Double(count) / (joining / .seconds(1)))
        try await rest()
        report.add("every room joined: bytes a stroke, at rest", bytesPerStroke(since: beforeRecovery))
        try await second.stop()
    }

    private func start(isDurable: Bool = true) async throws -> (service: BenchService, time: Duration) {
        var configuration = ServerConfiguration()
        configuration.root = root
        configuration.journal = isDurable ? JournalSettings() : nil
        configuration.room = RoomMessages.configuration
        configuration.rooms = count
        let begin = ContinuousClock.now
        let service = try await BenchService(configuration, url: url)
        return (service, ContinuousClock.now - begin)
    }

    /// Fills the log as if all classes were held at once.
    private func fill(_ client: NATSConnection) async throws {
        try await messages.publish(to: addresses, over: client)
        let stored = try await JetStream(client).streamInfo(stream("LOG")).messages
        guard stored == UInt64(messages.messages.count * count) else {
            throw ValidationError("the log has \(stored) of \(messages.messages.count * count) messages")
        }
    }

    /// Waits until every room has a checkpoint: a state and its note.
    private func waitForCheckpoints(_ client: NATSConnection) async throws {
        while try await JetStream(client).streamInfo(stream("CHECKPOINT")).messages < UInt64(2 * count) {
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Waits until all rooms are quiet.
    private func rest() async throws {
        try await Task.sleep(for: RoomMessages.configuration.log.quiet + .seconds(2))
    }

    private func joinAll(_ client: NATSConnection) async throws {
        let addresses = try addresses
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, address) in addresses.enumerated() {
                if number >= 64 { try await group.next() }
                group.addTask { [strokes = UInt64(messages.strokes)] in
                    let reply = try await client.requestParts(
                        JoinRequest().encoded(), to: address.subject(.join(.main)), timeout: .seconds(30))
                    // Decodes one reply of a hundred: decoding them all would take longer than joining.
                    guard number.isMultiple(of: 100) else { return }
                    let index = try JoinReply(decoding: reply.payload).index
                    guard index == strokes else { throw ValidationError("\(address) is at \(index)") }
                }
            }
            try await group.waitForAll()
        }
    }

    private var addresses: [RoomAddress] {
        get throws { try RoomAddress.rooms(count, root: root) }
    }

    private func bytesPerStroke(since start: Int) -> Double {
        Double(ProcessMemory.now.allocated - start) / Double(count * messages.strokes)
    }

    private func stream(_ kind: String) -> String { "\(root.uppercased())_\(kind)_0" }

    private func deleteStreams(_ client: NATSConnection) async {
        for kind in ["LOG", "CHECKPOINT"] {
            _ = try? await client.request(to: "$JS.API.STREAM.DELETE.\(stream(kind))", timeout: .seconds(30))
        }
    }
}

/// The service in this process.
private struct BenchService {
    private let group: ServiceGroup
    private let running: Task<Void, any Error>

    /// Starts the service, and returns when it serves.
    /// - Throws: an error of its start.
    init(_ configuration: ServerConfiguration, url: String) async throws {
        let (serving, isServing) = AsyncStream.makeStream(of: Never.self)
        let server = Server(
            configuration: configuration, connection: NATSConnection(NATSSettings(url: url), logger: benchLogger),
            logger: benchLogger, onServing: { isServing.finish() })
        let group = ServiceGroup(services: [server], logger: benchLogger)
        self.group = group
        running = Task {
            defer { isServing.finish() }
            try await group.run()
        }
        for await _ in serving {}
    }

    /// Shuts the service down gracefully, with all rooms saved.
    func stop() async throws {
        await group.triggerGracefulShutdown()
        try await running.value
    }
}
