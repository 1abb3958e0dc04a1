import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// The list of rooms of several daemons, over HTTP and by `lectern rooms`.
@Suite(.timeLimit(.minutes(10)), .endsProcesses) struct RoomListTests {
    private static let partitions = 8

    /// The daemon that serves each partition, once both run and each partition has one.
    private func owners(_ monitor: MemberMonitor) async throws -> [String] {
        var owners: [String] = []
        for partition in 0..<Self.partitions { owners.append(try await monitor.owner(among: 2, of: partition)) }
        return owners
    }

    private func write(_ count: Int, on connection: NATSConnection) async throws -> [RoomAddress] {
        let author = try #require(AuthorID("ann"))
        let stroke = Array(#"{"n":1,"t":1000,"w":400,"h":300,"d":[{"x":1,"y":2},{"x":30,"y":40}]}"#.utf8)
        var rooms: [RoomAddress] = []
        for number in 0..<count {
            let room = try #require(RoomID("room-\(number)"))
            let address = RoomAddress(root: "ink", room: room, partitions: Self.partitions)
            // The journal acknowledges it.
            _ = try await connection.request(stroke, to: address.subject(.input(author)), timeout: .seconds(30))
            rooms.append(address)
        }
        return rooms
    }

    private func names(_ lines: String) throws -> Set<String> {
        let lists = try lines.split(separator: "\n").filter { $0.hasPrefix("{") }
            .map { try RoomSummary(decoding: Array($0.utf8)) }
        return Set(lists.map(\.room))
    }

    @Test
    func `two daemons make one list; while one hangs it says of which partitions rooms may be missing`() async throws {
        try await NATSTestServer.withConnection(jetStream: true) { nats, connection in
            let monitor = try MemberMonitor(connection)
            let settings = ["subjects.partitions=\(Self.partitions)"]
            let (a, http) = try await DaemonProcess.servingHTTP("a", nats: nats.url, settings)
            let b = try await DaemonProcess.serving("b", nats: nats.url, settings)
            let owners = try await owners(monitor)
            let hanging = owners.indices.filter { owners[$0] == "b" }
            try #require(!hanging.isEmpty && hanging.count < Self.partitions)
            let rooms = try await write(24, on: connection)
            let all = Set(rooms.map(\.room.text))
            func waitForWholeList() async throws {
                // A list may be two seconds old.
                try await eventually("the list has the rooms of all partitions") {
                    let response = try await http.get("/api/rooms")
                    let list = try? RoomList(decoding: response.bytes)
                    let isComplete = response.text.hasPrefix(#"{"complete":true,"#)
                    return isComplete && Set(list?.rooms.map(\.room) ?? []) == all ? () : nil
                }
            }
            try await waitForWholeList()

            var notice = ""
            for _ in 1...5 where notice.isEmpty {
                b.pause()
                let (code, log) = try await LecternProcess.run("rooms", "--json", "--nats", nats.url)
                if code == 3 {
                    notice = String(log.split(separator: "\n").first { !$0.hasPrefix("{") } ?? "")
                    let others = rooms.filter { !hanging.contains($0.partition) }.map(\.room.text)
                    // It may have more, of partitions that the daemon has handed over a moment ago.
                    #expect(try names(log).isSuperset(of: others))
                } else {
                    // The other daemon took over before it was asked.
                    #expect(code == 0)
                    b.resume()
                    _ = try await self.owners(monitor)
                }
            }
            let missing = hanging.map(String.init).joined(separator: ", ")
            #expect(notice == "lectern: rooms may be missing: no service has answered for partition \(missing)")

            // The other one takes over, and nothing is missing any more.
            try await waitForWholeList()
            let (code, log) = try await LecternProcess.run("rooms", "--json", "--nats", nats.url)
            #expect(code == 0)
            #expect(try names(log) == all)
            b.resume()
            for daemon in [a, b] { #expect(await daemon.terminate() == 0) }
        }
    }
}
