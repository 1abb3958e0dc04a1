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
        try await NATSTestServer.withConnection { _, nats in
            let lists = [
                [line("b", index: 3), line("a", index: 7)], [line("b", index: 4, asleep: true)],
                [line("a", index: 7, asleep: true), line("UPPER", index: 1)],
            ]
            for (number, list) in lists.enumerated() {
                let text = #"{"page":\#(page(number, of: 3)),"rooms":[\#(list.joined(separator: ","))]}"#
                try nats.answer("ink.rooms") { _ in Array(text.utf8) }
            }
            let list = try await RoomDirectory(connection: nats, root: "ink", window: .seconds(600)).rooms()
            let rooms = list.rooms
            #expect(list.isComplete)
            #expect(rooms.map(\.room) == ["a", "b"])
            #expect(rooms.map(\.index) == [7, 4])
            #expect(rooms.map(\.visible) == [2, nil])
            #expect(rooms.first?.cohorts.first?.video == 12.5)
            await #expect(throws: RoomDirectoryError.noReply) {
                try await RoomDirectory(connection: nats, root: "chalk").rooms()
            }
        }
    }

    /// The page of a service that covers one partition.
    private func page(_ number: Int, of partitions: Int) -> String {
        #"{"service":"\#(number)","number":1,"count":1,"partitions":\#(partitions),"covered":[\#(number)]}"#
    }

    @Test func `says of which partitions rooms may be missing when a service does not reply`() async throws {
        try await NATSTestServer.withConnection { _, nats in
            let text = #"{"page":\#(page(1, of: 3)),"rooms":[\#(line("a", index: 3))]}"#
            try nats.answer("ink.rooms") { _ in Array(text.utf8) }
            let list = try await RoomDirectory(connection: nats, root: "ink", window: .milliseconds(300)).rooms()
            #expect(list.rooms.map(\.room) == ["a"])
            #expect(list.missing == [0, 2])
        }
    }

    @Test func `lists also the rooms of a page that comes in parts, beside another service's`() async throws {
        try await NATSTestServer.withConnection { _, nats in
            let pages = [["a", "b"], ["c"]].enumerated().map { number, names in
                let lines = names.map { line($0, index: 3) }.joined(separator: ",")
                return Array(#"{"page":\#(page(number, of: 2)),"rooms":[\#(lines)]}"#.utf8)
            }
            for (number, page) in pages.enumerated() {
                try nats.subscribe("ink.rooms") { [nats] message in
                    guard let reply = message.reply else { return }
                    let count = number + 2
                    for part in 0..<count {
                        let range = page.count * part / count..<page.count * (part + 1) / count
                        try? nats.publish(
                            Array(page[range]), to: reply, headers: [HeaderName.part: "\(part + 1)/\(count)"])
                    }
                }
            }
            let list = try await RoomDirectory(connection: nats, root: "ink", window: .seconds(600)).rooms()
            #expect(list.rooms.map(\.room) == ["a", "b", "c"])
        }
    }
}
