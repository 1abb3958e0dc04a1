import Journal
import LecternServer
import NATSClient
import NATSTestServer
import ServiceLifecycle
import StrokeWire
import TestSupport

@testable import LecternGateway

/// A gateway and a real service on one NATS server: a teacher writes over NATS, and readers follow over HTTP.
struct RunningClass: Sendable {
    let gateway: RunningGateway
    let teacher: NATSConnection
    let address: RoomAddress
    let author: AuthorID

    /// Runs a body, then ends everything, also when the body throws.
    /// - Parameters:
    ///   - hasJournal: whether the log is kept.
    ///   - clock: where the video of cohort `main` stands.
    static func with(
        hasJournal: Bool = false, limits: GatewayLimits = .quick, clock: Int = 1 << 40,
        adjust: @escaping @Sendable (inout ServerConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (RunningClass) async throws -> Void
    ) async throws {
        try await RunningGateway.with(jetStream: hasJournal, limits: limits) { gateway in
            var adjusted = ServerConfiguration()
            if hasJournal { adjusted.journal = JournalSettings() }
            adjust(&adjusted)
            let configuration = adjusted
            try await RunningServer.with(configuration, url: gateway.server.url) {
                try await NATSConnection.with(gateway.server) { teacher in
                    guard let room = RoomID("r"), let author = AuthorID("anna") else { throw Unexpected("no name") }
                    let address = RoomAddress(root: configuration.root, room: room, partitions: 1)
                    let lesson = RunningClass(gateway: gateway, teacher: teacher, address: address, author: author)
                    try lesson.setClock(clock)
                    try await body(lesson)
                }
            }
        }
    }

    func read(_ query: String = "", headers: [String: String] = [:]) throws -> EventStreamClient {
        try gateway.read(query, headers: headers)
    }

    func publish(_ text: String) throws {
        try teacher.publish(Array(text.utf8), to: address.subject(.input(author)))
    }

    /// A clock that stands still at a media time.
    func setClock(_ media: Int, cohort: CohortName = .main) throws {
        try teacher.publish(Array(#"{"m":\#(media),"r":0,"d":true}"#.utf8), to: address.subject(.clock(cohort)))
    }

    /// Publishes strokes of two points with these numbers.
    func draw(_ numbers: ClosedRange<Int>, at time: Int = 1000) throws {
        for number in numbers { try publish(Self.stroke(number, at: time)) }
    }

    static func stroke(_ number: Int, at time: Int = 1000) -> String {
        #"{"n":\#(number),"c":1,"l":4,"t":\#(time),"w":400,"h":300,"d":[{"x":\#(number % 400),"y":10},{"x":200,"y":150}]}"#
    }
}

/// The service in the test's process.
final class RunningServer: Sendable {
    private let group: ServiceGroup
    private let running: Task<Void, any Error>

    /// Runs a service while `body` runs, then shuts it down, also when the body throws.
    static func with(
        _ configuration: ServerConfiguration, url: String, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let service = try await RunningServer(configuration, url: url)
        do {
            try await body()
        } catch {
            try? await service.stop()
            throw error
        }
        try await service.stop()
    }

    /// Returns once it serves.
    private init(_ configuration: ServerConfiguration, url: String) async throws {
        let (serving, isServing) = AsyncStream.makeStream(of: Never.self)
        let server = Server(
            configuration: configuration, connection: NATSConnection(NATSSettings(url: url), logger: .silent),
            logger: .silent, onServing: { isServing.finish() })
        let group = ServiceGroup(services: [server], logger: .silent)
        self.group = group
        running = Task {
            defer { isServing.finish() }
            try await group.run()
        }
        for await _ in serving {}
    }

    private func stop() async throws {
        await group.triggerGracefulShutdown()
        try await running.value
    }
}
