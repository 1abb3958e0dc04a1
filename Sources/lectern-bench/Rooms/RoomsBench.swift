import ArgumentParser
import Foundation
import LecternClient
import NATSClient

/// A town's worth of rooms in one process.
struct RoomsBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rooms",
        abstract: "Keep very many rooms: memory, checkpoints, and a service that comes back.",
        discussion: """
            Every room gets the first strokes of the lesson. What memory is in use is asked of the allocator. With \
            --nats the same messages are written to a journal, the rooms taking turns, and the service is started on \
            it three times: without streams, to make them; to fold and release the whole log; and to come back from \
            its checkpoints. The streams are deleted afterwards.
            """)

    @Option(help: ArgumentHelp("A lesson file instead of the one that comes with the program.", valueName: "file"))
    var lesson: String?

    @Option(help: "How many rooms.")
    var rooms = 10_000

    @Option(help: "How many strokes each has, at most.")
    var strokes = 200

    @Option(
        help: ArgumentHelp(
            "A server with JetStream to measure the service on too; 'embedded' starts one.", valueName: "url"))
    var nats: String?

    @Flag(help: "One JSON object instead of a table.")
    var json = false

    func validate() throws {
        guard rooms > 0, strokes > 0 else { throw ValidationError("--rooms and --strokes are 1 or more") }
    }

    func run() async throws {
        let lesson = try self.lesson.map { try Lesson(contentsOfFile: $0) } ?? DemoLesson.make()
        let messages = try RoomMessages(lesson, strokes: strokes)
        var report = BenchReport(json: json)
        report.add("rooms", Double(rooms))
        report.add("strokes a room", Double(messages.strokes))
        report.add("points a stroke", Double(messages.points) / Double(messages.strokes))
        try RoomsInMemory(messages: messages, count: rooms).measure(into: &report)
        if let nats { try await measureService(messages, nats, &report) }
        report.print()
    }

    private func measureService(_ messages: RoomMessages, _ nats: String, _ report: inout BenchReport) async throws {
        guard nats == "embedded" else {
            return try await RoomsInService(messages: messages, count: rooms, url: nats).measure(into: &report)
        }
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("lectern-bench-\(UUID())")
        defer { try? FileManager.default.removeItem(at: directory) }
        var settings = EmbeddedServer.Settings()
        settings.storeDirectory = directory.path
        let server = try await EmbeddedServer.start(settings)
        do {
            try await RoomsInService(messages: messages, count: rooms, url: server.url).measure(into: &report)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }
}
