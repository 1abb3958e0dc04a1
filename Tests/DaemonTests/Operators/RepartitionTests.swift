import Foundation
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// Rooms that are moved to another number of partitions by the built program.
@Suite(.timeLimit(.minutes(10)), .endsProcesses) struct RepartitionTests {
    /// Rooms of every kind; among 4 partitions they are in several.
    static let rooms = ["rest", "history", "closed", "slides", "late", "second-life"]

    /// A stroke of two points.
    static func stroke(_ number: Int, _ more: String = "") -> String {
        #"{"n":\#(number),"l":3,"t":\#(number * 100),"d":[{"x":\#(number),"y":5},{"x":90,"y":\#(number)}]\#(more)}"#
    }

    /// Publishes messages as a teacher of a room, each acknowledged by the journal.
    static func write(
        _ messages: [String], to room: String, among partitions: Int = 1, on nats: NATSTestServer,
        session: String? = nil
    ) async throws {
        let address = RoomAddress(root: "ink", room: try #require(RoomID(room)), partitions: partitions)
        try await NATSConnection.with(nats) { connection in
            for message in messages {
                let reply = try await connection.request(
                    Array(message.utf8), to: "\(address).in.anna", headers: session.map { ["Ink-Session": $0] } ?? [:])
                let answer = String(decoding: reply.payload, as: UTF8.self)
                guard answer.contains(#""seq""#) else { throw Unexpected("\(message): \(answer)") }
            }
        }
    }

    static func run(_ arguments: String..., exits code: Int32 = 0) async throws -> String {
        let (exit, log) = try await LecternProcess.run(arguments: arguments)
        #expect(exit == code, "\(log)")
        return log
    }

    /// What a daemon says of the rooms: state, whole board, replay; and what the board is after undos.
    static func states(
        of rooms: [String] = rooms, on nats: NATSTestServer, partitions: Int, undos: Int = 0, replicas: Int = 1
    ) async throws -> [String: [String]] {
        let (daemon, http) = try await DaemonProcess.servingHTTP(
            "reader", nats: nats.url, ["subjects.partitions=\(partitions)", "journal.replicas=\(replicas)"])
        var states: [String: [String]] = [:]
        for room in rooms {
            let board = try await http.get("/api/rooms/\(room)/board.json?cohort=head")
            // A busy machine may take longer than the gateway waits.
            let replay = try await eventually("the replay of \(room)") {
                let reply = try await http.get("/api/rooms/\(room)/replay?cohort=head&from=0&to=100000000")
                return reply.statusCode == 504 ? nil : reply
            }
            let status = try AnyJSON.decode(try await http.get("/api/rooms/\(room)").bytes)
            let parts = ["incarnation", "index", "digest"].map { "\(String(describing: status[$0]))" }
            states[room] = parts + [board.text, "\(replay.statusCode) \(replay.text)"]
            guard undos > 0, room == "history" else { continue }
            let numbers = 1000..<(1000 + undos)
            let lines = numbers.map { #"{"n":\#($0),"a":2,"t":99000}"# }.joined(separator: "\n")
            let answer = try await http.send(
                "POST", "/api/rooms/\(room)/strokes?author=bert",
                headers: [("Content-Type", "application/x-ndjson")], bytes: Array(lines.utf8))
            let after = try await http.get("/api/rooms/\(room)/board.json?cohort=head")
            states["\(room), undone"] = [answer.text, after.text]
        }
        #expect(await daemon.terminate() == 0)
        return states
    }

    static func expectSame(
        _ one: [String: [String]], _ other: [String: [String]], _ what: Comment
    ) {
        #expect(one.keys.sorted() == other.keys.sorted(), what)
        for (room, parts) in one where parts != other[room] ?? [] {
            for (before, after) in zip(parts, other[room] ?? []) where before != after {
                Issue.record("\(what): \(room)\n\(before.prefix(600))\n\(after.prefix(600))")
            }
        }
    }

    /// Rooms with history, closed ones, such whose records are only in the log, and one that is only in its checkpoint.
    static func fill(
        _ nats: NATSTestServer, replicas: Int = 1
    ) async throws -> (asset: String, page: [UInt8]) {
        let settings = ["checkpoint.interval=1s", "checkpoint.operations=5", "journal.replicas=\(replicas)"]
        let first = try await DaemonProcess.serving("a", nats: nats.url, settings)
        try await write((1...20).map { stroke($0) } + [#"{"n":21,"a":2,"t":2200}"#], to: "rest", on: nats)
        #expect(await first.terminate() == 0)
        // The room is in its checkpoint alone.
        try await NATSConnection.with(nats) { connection in
            let end = try await JetStream(connection).streamInfo("INK_LOG_0").lastSequence
            try await JetStream(connection).purge("INK_LOG_0", before: end + 1)
        }
        let (second, http) = try await DaemonProcess.servingHTTP("a", nats: nats.url, settings)
        var history = (1...30).map { stroke($0) }
        history += [#"{"n":31,"a":2,"t":3100}"#, #"{"n":32,"a":2,"t":3200}"#, #"{"n":33,"a":3,"t":3300}"#]
        history += [#"{"n":34,"a":5,"g":3,"t":3400}"#, stroke(35), #"{"n":36,"a":4,"t":3600}"#, stroke(37)]
        // In two shards.
        history += [stroke(38, #","s":2,"o":1"#), stroke(38, #","s":2,"o":0"#)]
        try await write(history, to: "history", on: nats, session: "s1")
        try await write([stroke(1), stroke(2)], to: "closed", on: nats)
        try await write([stroke(1), stroke(2)], to: "second-life", on: nats)
        for room in ["closed", "second-life"] {
            try await eventually("\(room) is there", is: await http.get("/api/rooms/\(room)").statusCode == 200)
            _ = try await run("close", room, "--nats", nats.url)
        }
        try await write([stroke(5), stroke(6)], to: "second-life", on: nats)
        let file = SlideFiles.pdf([(400, 300), (400, 300)])
        let imported = try await http.send(
            "POST", "/api/rooms/slides/import?author=anna&t=100", headers: [("Content-Type", "application/pdf")],
            bytes: file)
        guard case .string(let asset)? = try AnyJSON.decode(imported.bytes)["id"] else {
            throw Unexpected("no asset: \(imported.text)")
        }
        let page = try await picture(asset, http)
        #expect(await second.terminate() == 0)
        // Nobody has read these.
        try await write((1...9).map { stroke($0) }, to: "late", on: nats)
        try await write([stroke(39), #"{"n":40,"a":2,"t":4000}"#], to: "history", on: nats, session: "s1")
        return (asset, page)
    }

    private static func picture(_ asset: String, _ http: HTTPClient) async throws -> [UInt8] {
        let answer = try await http.get("/api/rooms/slides/assets/\(asset)?cohort=head&page=1&width=200")
        #expect(answer.statusCode == 200)
        return answer.bytes
    }

    @Test
    func `rooms are the same in any number of partitions, also when they are made from their logs`() async throws {
        let folder = try TestFiles.path("repartition")
        try await NATSTestServer.with(jetStream: true) { nats in
            let (asset, page) = try await Self.fill(nats)
            _ = try await Self.run("backup", folder, "--nats", nats.url)
            let before = try await NATSTestServer.with(jetStream: true) { copy in
                _ = try await Self.run("restore", folder, "--nats", copy.url)
                return try await Self.states(on: copy, partitions: 1, undos: 7)
            }
            #expect(before["history"]?[4].hasPrefix("200") == true && before["rest"]?[4].hasPrefix("410") == true)

            let told = try await Self.run("repartition", "4", "--nats", nats.url)
            #expect(told.contains("moved to 4 partitions"))
            try await NATSConnection.with(nats) { connection in
                let streams = try await JetStream(connection).streamNames(beginningWith: "INK_")
                #expect(streams.contains("INK_LOG_3") && !streams.contains { $0.contains("MOVING") }, "\(streams)")
            }
            let backup = "\(folder)/moved"
            _ = try await Self.run("backup", backup, "--nats", nats.url)
            let moved = try await Self.states(on: nats, partitions: 4, undos: 7)
            Self.expectSame(before, moved, "moved")

            // JetStream acknowledges what comes to an old address; the author is told.
            let daemon = try await DaemonProcess.serving("c", nats: nats.url, ["subjects.partitions=4"])
            try await NATSConnection.with(nats) { connection in
                let anna = try ScriptedAuthor("anna", room: "late", on: connection)
                try await anna.send(Self.stroke(50), rejectedAs: .misaddressed)
            }
            #expect(await daemon.terminate() == 0)

            // Without any checkpoint.
            try await NATSTestServer.with(jetStream: true) { copy in
                _ = try await Self.run("restore", backup, "--nats", copy.url)
                try await NATSConnection.with(copy) { connection in
                    for partition in 0..<4 {
                        let (jetStream, stream) = (JetStream(connection), "INK_CHECKPOINT_\(partition)")
                        let last = try await jetStream.streamInfo(stream).lastSequence
                        try await jetStream.purge(stream, before: last + 1)
                    }
                }
                var rebuilt = try await Self.states(on: copy, partitions: 4, undos: 7)
                var expected = before
                // It had only its checkpoint.
                (rebuilt["rest"], expected["rest"]) = (nil, nil)
                Self.expectSame(expected, rebuilt, "made from the log")
            }

            // With new records among the moved ones, and back.
            try await Self.write([Self.stroke(39), Self.stroke(41)], to: "history", among: 4, on: nats, session: "s1")
            try await Self.write([Self.stroke(9), Self.stroke(10)], to: "late", among: 4, on: nats)
            let later = try await Self.states(on: nats, partitions: 4)
            #expect(later["history"]?[1] != moved["history"]?[1] && later["history"]?[0] == moved["history"]?[0])
            for partitions in [3, 1] {
                _ = try await Self.run("repartition", "\(partitions)", "--nats", nats.url)
                let again = try await Self.states(on: nats, partitions: partitions)
                Self.expectSame(later, again, "moved again, to \(partitions)")
            }
            let last = try await DaemonProcess.serving("b", nats: nats.url, http: "127.0.0.1:0")
            #expect(try await Self.picture(asset, HTTPClient(port: try await last.httpPort())) == page)
            let refused = try await Self.run("repartition", "2", "--nats", nats.url, exits: 1)
            #expect(refused.contains("stop all daemons of the root first: b"))
            #expect(await last.terminate() == 0)
            let same = try await Self.run("repartition", "1", "--nats", nats.url, exits: 1)
            #expect(same.contains("the number of partitions is 1 already"))
        }
    }

    @Test func `in a cluster rooms are the same, and their streams have as many replicas as before`() async throws {
        try await NATSTestServer.withCluster(of: 3) { servers in
            _ = try await Self.fill(servers[0], replicas: 3)
            let before = try await Self.states(on: servers[0], partitions: 1, replicas: 3)
            for (partitions, server) in [(3, servers[1]), (2, servers[2])] {
                _ = try await Self.run("repartition", "\(partitions)", "--nats", server.url)
                try await NATSConnection.with(server) { connection in
                    for name in try await JetStream(connection).streamNames(beginningWith: "INK_") {
                        let replicas = try await JetStream(connection).streamInfo(name).configuration.replicas
                        #expect(replicas == 3, "\(name)")
                    }
                }
                let moved = try await Self.states(on: servers[0], partitions: partitions, replicas: 3)
                Self.expectSame(before, moved, "moved to \(partitions)")
            }
        }
    }
}
