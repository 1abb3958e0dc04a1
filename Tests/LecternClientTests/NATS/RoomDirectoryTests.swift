import LecternClient
import NATSClient
import NATSTestServer
import StrokeWire
import Synchronization
import Testing

@Suite("Asking services about their rooms", .timeLimit(.minutes(4))) struct RoomDirectoryTests {
    private func line(_ room: String, index: Int, asleep: Bool = false) -> String {
        let visible = asleep ? "null" : "2"
        return """
            {"room":"\(room)","address":"ink.0.\(room)","asleep":\(asleep),"authors":1,"incarnation":"i\(index)","index":\(index),\
            "visible":\(visible),"cohorts":[{"cohort":"main","held":1,"index":\(index),"v":12.5}]}
            """
    }

    @Test("lists the rooms of all services, each once as the one who is further has it, when all partitions are there")
    func rooms() async throws {
        try await NATSTestServer.with { server in
            let services = try await Wire.connect(server)
            let lists = [
                [line("b", index: 3), line("a", index: 7)], [line("b", index: 4, asleep: true)],
                [line("a", index: 7, asleep: true), line("UPPER", index: 1)],
            ]
            for (number, list) in lists.enumerated() {
                try services.subscribe("ink.rooms") { [services] message in
                    guard let reply = message.reply else { return }
                    let text = #"{"page":\#(page(number, of: 3)),"rooms":[\#(list.joined(separator: ","))]}"#
                    try? services.publish(Array(text.utf8), to: reply)
                }
            }
            try await services.flush()
            try await NATSConnection.with(server) { connection in
                let list = try await RoomDirectory(connection: connection, root: "ink", window: .seconds(600)).rooms()
                let rooms = list.rooms
                #expect(list.isComplete)
                #expect(rooms.map(\.room) == ["a", "b"])
                #expect(rooms.map(\.index) == [7, 4])
                #expect(rooms.map(\.visible) == [2, nil])
                #expect(rooms.first?.cohorts.first?.video == 12.5)
                await #expect(throws: RoomDirectoryError.noReply) {
                    try await RoomDirectory(connection: connection, root: "chalk").rooms()
                }
            }
            await services.close()
        }
    }

    /// The page of a service that covers one partition.
    private func page(_ number: Int, of partitions: Int) -> String {
        #"{"service":"\#(number)","number":1,"count":1,"partitions":\#(partitions),"covered":[\#(number)]}"#
    }

    @Test func `says of which partitions rooms may be missing when a service does not reply`() async throws {
        try await NATSTestServer.with { server in
            let service = try await Wire.connect(server)
            let text = #"{"page":\#(page(1, of: 3)),"rooms":[\#(line("a", index: 3))]}"#
            try service.subscribe("ink.rooms") { [service] message in
                if let reply = message.reply { try? service.publish(Array(text.utf8), to: reply) }
            }
            try await service.flush()
            try await NATSConnection.with(server) { connection in
                let directory = RoomDirectory(connection: connection, root: "ink", window: .milliseconds(300))
                let list = try await directory.rooms()
                #expect(list.rooms.map(\.room) == ["a"])
                #expect(list.missing == [0, 2])
            }
            await service.close()
        }
    }

    @Test func `lists also the rooms of a page that comes in parts, beside another service's`() async throws {
        try await NATSTestServer.with { server in
            let services = try await Wire.connect(server)
            let pages = [["a", "b"], ["c"]].enumerated().map { number, names in
                let lines = names.map { line($0, index: 3) }.joined(separator: ",")
                return Array(#"{"page":\#(page(number, of: 2)),"rooms":[\#(lines)]}"#.utf8)
            }
            for (number, page) in pages.enumerated() {
                try services.subscribe("ink.rooms") { [services] message in
                    guard let reply = message.reply else { return }
                    let count = number + 2
                    for part in 0..<count {
                        let range = page.count * part / count..<page.count * (part + 1) / count
                        try? services.publish(
                            Array(page[range]), to: reply, headers: [HeaderName.part: "\(part + 1)/\(count)"])
                    }
                }
            }
            try await services.flush()
            try await NATSConnection.with(server) { connection in
                let list = try await RoomDirectory(connection: connection, root: "ink", window: .seconds(600)).rooms()
                #expect(list.rooms.map(\.room) == ["a", "b", "c"])
            }
            await services.close()
        }
    }
}
