import Hummingbird
import LecternServer
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternGateway

/// Boards over HTTP, with a real service.
@Suite(.timeLimit(.minutes(4))) struct BoardRouteTests {
    /// A gateway and a service, with a room of which `main` has seen 4 of 6 operations: the 5th is an undo.
    private static func with(
        _ body: @escaping @Sendable (RunningGateway, RoomAddress) async throws -> Void
    ) async throws {
        try await RunningGateway.with { gateway in
            var configuration = ServerConfiguration()
            configuration.room.cohorts.defaults.policy = .hold
            try await RunningServer.with(configuration, url: gateway.server.url) {
                try await body(gateway, try await lesson(gateway))
            }
        }
    }

    private static func lesson(_ gateway: RunningGateway) async throws -> RoomAddress {
        guard let room = RoomID("lesson"), let author = AuthorID("ann") else { throw Unexpected("no names") }
        let address = RoomAddress(root: "ink", room: room, partitions: 1)
        let client = gateway.service.connection
        for number in 1...6 {
            let what =
                number == 5 ? #""a":2"# : #""l":9,"w":400,"h":300,"d":[{"x":\#(number * 50),"y":9},{"x":9,"y":290}]"#
            let message = #"{"n":\#(number),"t":\#(number * 10),\#(what)}"#
            try client.publish(Array(message.utf8), to: address.subject(.input(author)))
        }
        try client.publish(Array(#"{"m":45,"r":0}"#.utf8), to: address.subject(.clock(.main)))
        try await eventually(
            "main is at 4", is: await gateway.http.get("/api/rooms/lesson/board.png").fields["ink-index"] == "4")
        try await eventually(
            "the head is at 6",
            is: await gateway.http.get("/api/rooms/lesson/board.png?cohort=head").fields["ink-index"] == "6")
        return address
    }

    @Test func `a board has an entity tag in every format, and is sent again only when it has changed`() async throws {
        try await Self.with { gateway, address in
            let http = gateway.http
            let types = [
                "png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf", "inkml": "application/inkml+xml",
                "json": "application/json",
            ]
            var tags: [String: String] = [:]
            for (format, type) in types {
                let path = "/api/rooms/lesson/board.\(format)"
                let first = try await http.get(path)
                #expect(first.status == .ok && first.headers[.contentType] == type)
                #expect(first.headers[.cacheControl] == "private, no-cache")
                let tag = try #require(first.headers[.eTag])
                let again = try await http.get(path, headers: [.ifNoneMatch: "W/\"other\", \(tag)"])
                #expect(again.status == .notModified && again.bytes.isEmpty)
                #expect(again.headers[.eTag] == tag && again.headers[.cacheControl] == "private, no-cache")
                #expect(try await http.get(path, headers: [.ifNoneMatch: "\"other\""]).bytes == first.bytes)
                let head = try await http.head(path)
                #expect(head.status == .ok && head.bytes.isEmpty)
                #expect(head.headers[.contentLength] == String(first.bytes.count) && head.headers[.eTag] == tag)
                // Another cohort of the same room, and what teachers see.
                #expect(try await http.get("\(path)?cohort=head").headers[.eTag] != tag)
                tags[path] = tag
            }
            try gateway.service.connection.publish(Array(#"{"m":55,"r":0}"#.utf8), to: address.subject(.clock(.main)))
            for (path, tag) in tags {
                let newer = try await eventually("the undo is released") {
                    let answer = try await http.get(path, headers: [.ifNoneMatch: tag])
                    return answer.status == .ok ? answer : nil
                }
                #expect(newer.headers[.eTag] != tag, "\(path)")
            }
        }
    }

    @Test func `a part of a board is a PNG, named by four numbers`() async throws {
        try await Self.with { gateway, address in
            let http = gateway.http
            let part = try await http.get("/api/rooms/lesson/board.png?x=10&y=20&w=30&h=40&width=60&cohort=head")
            #expect(part.status == .ok)
            let picture = try PNGReader(part.bytes)
            #expect(picture.width == 60 && picture.height == 80)
            for (format, query) in [
                ("png", "x=1&y=1&w=1"), ("png", "x=1&y=1&w=0&h=1"), ("png", "x=16383&y=0&w=1&h=1"),
                ("svg", "x=1&y=1&w=1&h=1"), ("png", "x=1.5&y=1&w=1&h=1"),
            ] {
                let answer = try await http.get("/api/rooms/lesson/board.\(format)?cohort=head&\(query)")
                #expect(answer.status == .badRequest, "\(query)")
                #expect(try answer.errorCode == "bad-request", "\(query)")
            }
        }
    }

    @Test func `a board at a named position is for ever the same, and never one that the cohort has not come to`()
        async throws
    {
        try await Self.with { gateway, address in
            let http = gateway.http
            let room = try #require(try await http.get("/api/rooms/lesson/board.png").fields["ink-room"])
            for format in ["png", "svg", "pdf", "inkml", "json"] {
                let now = try await http.get("/api/rooms/lesson/board.\(format)")
                let path = "/api/rooms/lesson/board.\(format)?room=\(room)"
                let named = try await http.get("\(path)&index=4")
                if format == "json" {
                    // What the cohort's gate does is of now, not of a position.
                    let text = String(decoding: now.bytes, as: UTF8.self)
                    #expect(named.bytes == Array(text.replacing(/,"gate":"[a-z]+"/, with: "").utf8))
                } else {
                    #expect(named.bytes == now.bytes)
                    #expect(named.headers[.eTag] == now.headers[.eTag])
                }
                #expect(named.status == .ok)
                #expect(named.headers[.cacheControl] == "private, max-age=31536000, immutable")
                let before = try await http.get("\(path)&index=3")
                #expect(before.status == .ok && before.bytes != now.bytes)
                #expect(before.bytes == (try await http.get("\(path)&index=3&cohort=head").bytes))
                let missing = ["\(path)&index=5", "\(path)&index=7&cohort=head", "\(path)x&index=4"]
                for path in missing {
                    let answer = try await http.get(path, headers: [.ifNoneMatch: "*"])
                    #expect(answer.status == .notFound, "\(path)")
                    #expect(try answer.errorCode == "unknown-index", "\(path)")
                    #expect(answer.headers[.cacheControl] == "no-store")
                }
                #expect(try await http.get("\(path)&index=5&cohort=head").status == .ok)
            }
        }
    }

    @Test func `a board that cannot be made has a code`() async throws {
        try await Self.with { gateway, _ in
            for (path, status, code) in [
                ("nobody/board.png", 404, "unknown-room"), ("lesson/board.png?page=1000", 400, "bad-request"),
                ("lesson/board.pdf?background=transparent", 400, "bad-request"),
                ("lesson/board.inkml?width=640", 400, "bad-request"), ("lesson/board.gif", 404, "not-found"),
            ] {
                let answer = try await gateway.http.get("/api/rooms/\(path)")
                #expect(answer.statusCode == status, "\(path)")
                #expect(try answer.errorCode == code, "\(path)")
            }
            let blank = try await gateway.http.get("/api/rooms/nobody/board.json")
            #expect(blank.status == .ok && blank.text.contains(#""index":0"#))
        }
    }
}
