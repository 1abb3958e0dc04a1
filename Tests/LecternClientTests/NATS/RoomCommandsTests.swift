import LecternClient
import NATSClient
import NATSTestServer
import StrokeWire
import Synchronization
import TestSupport
import Testing

@Suite("Giving commands", .timeLimit(.minutes(4))) struct RoomCommandsTests {
    private static let line =
        #"{"room":"lesson-7","address":"ink.0.lesson-7","incarnation":"i3","index":3,"cohorts":[]}"#
    private static let unknown = #"{"error":{"code":"unknown-room","message":"none"}}"#

    /// A service that answers commands with these messages, each with its headers, and shows the room until one has
    /// come that it carries out.
    private final class Service: Sendable {
        let commands = Recorder<String>()
        private let isOpen = Atomic(true)
        private let connection: NATSConnection

        init(
            _ server: NATSTestServer, carriesOut: Bool = true, _ replies: [(NATSHeaders, String)]
        ) async throws {
            connection = try await Wire.connect(server)
            try connection.subscribe("ink.command.*") { [self] message in
                guard let reply = message.reply else { return }
                commands.append("\(message.subject) \(String(decoding: message.copyPayload(), as: UTF8.self))")
                if carriesOut { isOpen.store(false, ordering: .sequentiallyConsistent) }
                for (headers, text) in replies {
                    try? connection.publish(Array(text.utf8), to: reply, headers: headers)
                }
            }
            try connection.answer(try Wire.address().subject(.info)) { [self] _ in
                let isThere = isOpen.load(ordering: .sequentiallyConsistent)
                return Array((isThere ? RoomCommandsTests.line : RoomCommandsTests.unknown).utf8)
            }
            try await connection.flush()
        }

        func stop() async { await connection.close() }
    }

    private func with(
        carriesOut: Bool = true, _ replies: [(NATSHeaders, String)],
        _ body: @Sendable (Service, NATSConnection, RoomCommands) async throws -> Void
    ) async throws {
        try await NATSTestServer.with { server in
            let service = try await Service(server, carriesOut: carriesOut, replies)
            try await NATSConnection.with(server) { connection in
                let who = try #require(OperatorName("otto"))
                try await body(
                    service, connection, RoomCommands(connection: connection, root: "ink", from: who, for: "anna"))
            }
            await service.stop()
        }
    }

    private func close(_ connection: NATSConnection, _ commands: RoomCommands) async throws -> CommandEffect {
        let address = try Wire.address()
        let known = try #require(try await RoomDirectory(connection: connection, root: "ink").room(at: address))
        return try await commands.close(address, known: known)
    }

    @Test("closes a room, in the journal where there is one", arguments: [17, nil] as [UInt64?])
    func closing(sequence: UInt64?) async throws {
        let reply = CommandReply(sequence: sequence)
        try await with([([:], String(decoding: reply.encoded(), as: UTF8.self))]) { service, connection, commands in
            #expect(try await close(connection, commands) == .inForce(sequence: sequence))
            let given = try #require(service.commands.values.first)
            #expect(
                given.hasPrefix(#"ink.command.otto {"command":"close","room":"lesson-7","for":"anna","id":""#),
                "\(given)")
        }
    }

    @Test func `says that a close is in the journal when the service does not come to it`() async throws {
        try await with(carriesOut: false, [([:], #"{"done":true,"sequence":17}"#)]) { _, connection, commands in
            let effect = try await close(connection, commands)
            #expect(effect == .logged(sequence: 17))
        }
    }

    @Test func `hears how far a command is before it hears that it is done`() async throws {
        let sign: NATSHeaders = [HeaderName.progress: "1"]
        let replies: [(NATSHeaders, String)] = [
            (sign, #"{"detail":"erasing","made":1,"of":3}"#), (sign, #"{"detail":"erasing","made":2,"of":3}"#),
            ([:], #"{"done":true,"detail":"3 erased"}"#),
        ]
        try await with(replies) { _, _, commands in
            var signs: [CommandProgress] = []
            let room = try Wire.address().room
            let reply = try await commands.give(.close(room)) { signs.append($0) }
            #expect(reply == CommandReply(detail: "3 erased"))
            #expect(signs == [CommandProgress("erasing", made: 1, of: 3), CommandProgress("erasing", made: 2, of: 3)])
        }
    }

    @Test func `is told why a command is refused`() async throws {
        let error = RequestError(.notReady, "The command cannot be recorded.")
        try await with([([:], String(decoding: error.encoded(), as: UTF8.self))]) { _, _, commands in
            let room = try Wire.address().room
            await #expect(throws: RoomDirectoryError.refused(error.message)) {
                _ = try await commands.give(.close(room))
            }
        }
    }

    @Test func `hears at once that nobody takes commands, and that its user may not give them`() async throws {
        try await NATSTestServer.withUser(permissions: #"publish: { deny: "ink.command.otto" }"#) { nats in
            let room = try Wire.address().room
            let (ada, otto) = (try #require(OperatorName("ada")), try #require(OperatorName("otto")))
            await #expect(throws: RoomDirectoryError.noReply) {
                _ = try await RoomCommands(connection: nats, root: "ink", from: ada).give(.close(room))
            }
            let violation = PermissionViolation(.publish, "ink.command.otto")
            await #expect(throws: RoomDirectoryError.nats(.notPermitted(violation))) {
                _ = try await RoomCommands(connection: nats, root: "ink", from: otto).give(.close(room))
            }
        }
    }

    @Test func `the audit log has each command once, with what became of it, over all pages`() async throws {
        func entry(_ id: String, _ time: Int64, _ outcome: AuditEntry.Outcome? = nil) -> AuditEntry {
            AuditEntry(
                time: time, id: id, who: "otto", command: "close", room: "lesson-7", outcome: outcome,
                detail: outcome == .failed ? "no space" : nil)
        }
        let pages = [
            AuditPage([entry("a", 1), entry("b", 2), entry("a", 3, .done)], next: 9),
            AuditPage([entry("b", 4, .failed), entry("c", 5)], next: nil),
        ]
        try await NATSTestServer.withConnection { _, nats in
            try nats.answer("ink.audit") { request in
                (try? AuditRequest(decoding: request)).map { pages[$0.from == 9 ? 1 : 0].encoded() }
            }
            let entries = try await AuditReader(connection: nats, root: "ink").entries()
            #expect(entries.map(\.id) == ["a", "b", "c"])
            #expect(entries.map(\.outcome) == [.done, .failed, nil])
            #expect(entries.map(\.time) == [1, 2, 5])
            #expect(entries[1].detail == "no space")
        }
    }

    @Test func `an audit log whose pages lead back is not read without end`() async throws {
        try await NATSTestServer.withConnection { _, nats in
            try nats.answer("ink.audit") { _ in AuditPage([], next: 9).encoded() }
            _ = await #expect(throws: RoomDirectoryError.malformed) {
                _ = try await AuditReader(connection: nats, root: "ink").entries()
            }
        }
    }
}
