import ArgumentParser
import Journal
import LecternServer
import NATSClient
import StrokeWire
import Whiteboard

/// The service over a journal of very many rooms: its first fold, and how it comes back from its checkpoints.
struct RoomsInService {
    let messages: RoomMessages
    let count: Int
    let url: String
    /// Its own, so that a server may have other streams.
    private let root = "bench\(UInt32.random(in: .min ... .max))"

    init(messages: RoomMessages, count: Int, url: String) {
        self.messages = messages
        self.count = count
        self.url = url
    }

    func measure(into report: inout BenchReport) async throws {
        let client = NATSConnection(NATSSettings(url: url), logger: BenchService.logger)
        try await client.connect()
        do {
            try await measure(client, into: &report)
        } catch {
            await deleteStreams(client)
            await client.close()
            throw error
        }
        await deleteStreams(client)
        await client.close()
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
        report.add("first fold and release: bytes a point, awake", bytesPerPoint(since: memory))
        let saving = try await ContinuousClock().measure { try await waitForCheckpoints(client) }
        report.add("all rooms saved: seconds after that", saving / .seconds(1))
        try await rest()
        report.add("first fold and release: bytes a point, at rest", bytesPerPoint(since: memory))
        let stopping = try await ContinuousClock().measure { try await first.stop() }
        report.add("stop: seconds", stopping / .seconds(1))

        let asleep = ProcessMemory.now.allocated
        let (second, recovering) = try await start()
        report.add("recovery: seconds until it serves", recovering / .seconds(1))
        report.add("recovery: rooms a second", Double(count) / (recovering / .seconds(1)))
        report.add("recovery: bytes a room", Double(ProcessMemory.now.allocated - asleep) / Double(count))
        Progress.say("joining every room")
        let joining = try await ContinuousClock().measure { try await joinAll(client) }
        report.add("every room joined: rooms a second", Double(count) / (joining / .seconds(1)))
        try await rest()
        report.add("every room joined: bytes a point, at rest", bytesPerPoint(since: asleep))
        try await second.stop()
    }

    private func start() async throws -> (service: BenchService, time: Duration) {
        var configuration = ServerConfiguration()
        configuration.root = root
        configuration.journal = JournalSettings()
        configuration.room = RoomMessages.configuration
        configuration.rooms = count
        let begin = ContinuousClock.now
        let service = try await BenchService(configuration, url: url)
        return (service, ContinuousClock.now - begin)
    }

    /// As if all classes were held at the same time.
    private func fill(_ client: NATSConnection) async throws {
        let subjects = try addresses.map { $0.subject(.input(messages.author)) }
        for (number, message) in messages.messages.enumerated() {
            for (position, subject) in subjects.enumerated() {
                // JetStream drops what comes faster than it writes: its answer to one says that it has those before.
                if position.isMultiple(of: 1000) || position == subjects.count - 1 {
                    _ = try await client.request(message, to: subject, timeout: .seconds(30))
                } else {
                    try client.publish(message, to: subject)
                }
            }
            Progress.say(number + 1, of: messages.messages.count, "messages of every room published")
        }
        let stored = try await JetStream(client).streamInfo(stream("LOG")).messages
        guard stored == UInt64(messages.messages.count * count) else {
            throw ValidationError("the log has \(stored) of \(messages.messages.count * count) messages")
        }
    }

    /// Every room has a state and a note of it.
    private func waitForCheckpoints(_ client: NATSConnection) async throws {
        while try await JetStream(client).streamInfo(stream("CHECKPOINT")).messages < UInt64(2 * count) {
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Until all rooms have had time to go to rest.
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
                    // Every one is fetched; decoding them all would take longer.
                    guard number.isMultiple(of: 100) else { return }
                    let index = try JoinReply(decoding: reply.payload).index
                    guard index == strokes else { throw ValidationError("\(address) is at \(index)") }
                }
            }
            try await group.waitForAll()
        }
    }

    private var addresses: [RoomAddress] {
        get throws {
            try (0..<count).map { number in
                guard let room = RoomID("room-\(number)") else { throw ExitCode.failure }
                return RoomAddress(root: root, room: room, partitions: 1)
            }
        }
    }

    private func bytesPerPoint(since start: Int) -> Double {
        Double(ProcessMemory.now.allocated - start) / Double(count * messages.points)
    }

    private func stream(_ kind: String) -> String { "\(root.uppercased())_\(kind)_0" }

    private func deleteStreams(_ client: NATSConnection) async {
        for kind in ["LOG", "CHECKPOINT"] {
            _ = try? await client.request(to: "$JS.API.STREAM.DELETE.\(stream(kind))", timeout: .seconds(30))
        }
    }
}
