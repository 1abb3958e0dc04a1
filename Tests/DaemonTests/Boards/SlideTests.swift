import Foundation
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// Slides that are imported into rooms, and pages that are copied between them, over HTTP and by the command line, in the built
/// daemon with a journal.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct SlideTests {
    private static let settings = [
        "board.features=pages,images,lasso", "cohorts.default.stale_after=120s", "cohorts.default.max_hold=600s",
    ]

    /// A daemon, what asks it over HTTP, and who looks at its rooms over NATS.
    private struct Service: Sendable {
        let http: HTTPClient
        let daemon: DaemonProcess
        let nats: NATSTestServer
        let connection: NATSConnection

        /// The head of a room.
        func head(_ room: String, _ request: JoinRequest = JoinRequest()) async throws -> Head {
            let address = try address(room)
            return try await Head(connection.requestParts(request.encoded(), to: address.subject(.joinHead)).payload)
        }

        func board(_ room: String, cohort: CohortName) async throws -> Head {
            let subject = try address(room).subject(.join(cohort))
            return try await Head(connection.requestParts(JoinRequest().encoded(), to: subject).payload)
        }

        func address(_ room: String) throws -> RoomAddress {
            guard let id = RoomID(room) else { throw Unexpected("no room \(room)") }
            return RoomAddress(root: "ink", room: id, partitions: 1)
        }

        /// A clock that stands still.
        func setClock(_ room: String, _ media: Int, cohort: CohortName = .main, more: String = "") throws {
            try connection.publish(
                Array(#"{"m":\#(media),"r":0,"d":true\#(more)}"#.utf8), to: address(room).subject(.clock(cohort)))
        }

        /// Writes messages of a teacher and waits until each has an index.
        func write(_ messages: [String], to room: String) async throws {
            let answer = try await http.send(
                "POST", "/api/rooms/\(room)/strokes?author=anna",
                headers: [("Content-Type", "application/x-ndjson")], body: messages.joined(separator: "\n"))
            guard answer.statusCode == 200, !answer.text.contains("error"), !answer.text.contains("held") else {
                throw Unexpected("not written: \(answer.text)")
            }
        }

        func importFile(
            _ file: [UInt8], _ query: String = "author=anna", room: String = "r", headers: [(String, String)] = [],
            over http: HTTPClient? = nil
        ) async throws -> HTTPClient.Response {
            try await (http ?? self.http).send(
                "POST", "/api/rooms/\(room)/import?\(query)", headers: headers, bytes: file)
        }

        func copy(_ page: Int, of room: String = "r", _ body: String) async throws -> HTTPClient.Response {
            try await http.send("POST", "/api/rooms/\(room)/pages/\(page)/copy?author=anna", body: body)
        }
    }

    /// What a joiner sees.
    private struct Head {
        struct Entry {
            let page: Int
            let author: String
            let message: StrokeMessage
            let points: [StrokePoint]
        }

        let reply: JoinReply
        let entries: [Entry]

        init(_ bytes: [UInt8]) throws {
            reply = try JoinReply(decoding: bytes)
            guard case .board(_, _, let visible, _, _) = reply.content else { throw Unexpected("no board") }
            entries = try visible.map { operation in
                let message = try StrokeMessage(decoding: Array(operation.message))
                return Entry(
                    page: operation.page, author: operation.author.text, message: message,
                    points: message.decodePoints(of: Array(operation.message)))
            }
        }

        func entries(on page: Int) -> [Entry] { entries.filter { $0.page == page } }
    }

    private static func with(
        _ settings: [String] = settings, _ body: @escaping @Sendable (Service) async throws -> Void
    ) async throws {
        try await NATSTestServer.withConnection(jetStream: true) { nats, connection in
            let daemon = try await DaemonProcess.serving("a", nats: nats.url, http: "127.0.0.1:0", settings)
            let http = HTTPClient(port: try await daemon.httpPort())
            try await body(Service(http: http, daemon: daemon, nats: nats, connection: connection))
            #expect(await daemon.terminate() == 0)
        }
    }

    private static func pages(_ response: HTTPClient.Response) throws -> [Int] {
        guard response.statusCode == 200, case .array(let pages)? = try AnyJSON.decode(response.bytes)["pages"] else {
            throw Unexpected("\(response.statusCode): \(response.text)")
        }
        return pages.compactMap { if case .number(let number) = $0 { Int(number) } else { nil } }
    }

    private static func code(_ response: HTTPClient.Response) throws -> AnyJSON? {
        try AnyJSON.decode(response.bytes)["error"]?["code"]
    }

    @Test func `each page of a PDF becomes a page at the end, centred in its own shape, and the first is shown`()
        async throws
    {
        try await Self.with { service in
            // The board is 1000 × 500; page 4 was there before.
            try await service.write(
                [#"{"n":1,"w":1000,"h":500,"g":4,"d":[{"x":1,"y":1},{"x":9,"y":9}]}"#], to: "r")
            let sizes = (0..<12).map { $0.isMultiple(of: 2) ? (400.0, 100.0) : (100.0, 200.0) }
            let file = SlideFiles.pdf(sizes)
            let answer = try await service.importFile(file)
            #expect(try Self.pages(answer) == [1, 2, 3] + Array(5...13))
            guard case .string(let id)? = try AnyJSON.decode(answer.bytes)["id"] else { throw Unexpected("no id") }

            let head = try await service.head("r")
            #expect(head.reply.pages == BoardPages(shown: 1, order: [0, 4, 1, 2, 3] + Array(5...13)))
            #expect(head.reply.features == [.pages, .images, .lasso, .undoableClears])
            for (place, page) in ([1, 2, 3] + Array(5...13)).enumerated() {
                let entries = head.entries(on: page)
                #expect(entries.count == 1)
                let entry = try #require(entries.first)
                #expect(entry.author.hasPrefix("gw-"))
                #expect(entry.message.element == .image)
                #expect(entry.message.content == .image(try #require(AssetID(hexadecimal: id)), page: place))
                #expect(entry.message.time == nil)
                // 4 to 1 fills the width, 1 to 2 the height.
                let corners =
                    place.isMultiple(of: 2)
                    ? [StrokePoint(x: 0, y: 125), StrokePoint(x: 1000, y: 375)]
                    : [StrokePoint(x: 375, y: 0), StrokePoint(x: 625, y: 500)]
                #expect(entry.points == corners)
            }
            let line = try #require(service.daemon.lines(with: "a file was imported").first)
            #expect(line.contains("author=anna") && line.contains("room=r") && line.contains(id), "\(line)")

            // A part of the board is asked for without the others.
            let page = try await service.head("r", JoinRequest(part: .page(4)))
            #expect(page.entries.map(\.page) == [4])
            #expect(try await service.head("r", JoinRequest(part: .settings)).entries.isEmpty)
        }
    }

    @Test func `a JPEG becomes a page, in a room that nobody has written to`() async throws {
        try await Self.with { service in
            let answer = try await service.importFile(SlideFiles.jpeg(width: 512, height: 768), "author=anna&t=5000")
            #expect(try Self.pages(answer) == [1])
            let head = try await service.head("r")
            #expect(head.reply.pages == BoardPages(shown: 1, order: [0, 1]))
            #expect(head.entries.map(\.message.time) == [5000])
            #expect(head.entries.first?.points == [StrokePoint(x: 256, y: 0), StrokePoint(x: 768, y: 768)])
        }
    }

    @Test func `what cannot be read or is not offered leaves nothing in the room`() async throws {
        try await Self.with { service in
            for (file, status) in [
                (Array("GIF89a".utf8), 422), (Array("%PDF-1.7 and nothing".utf8), 422),
                ([0xFF, 0xD8, 0xFF, 0xE0], 422),
                ([], 400), (SlideFiles.pdf(Array(repeating: (9, 9), count: 501)), 413),
                (SlideFiles.pdf([(20000, 20000)]), 413),
            ] as [([UInt8], Int)] {
                let answer = try await service.importFile(file)
                #expect(answer.statusCode == status, "\(answer.text)")
            }
            #expect(try await service.importFile(SlideFiles.pdf([(9, 9)]), "t=1").statusCode == 400)
            #expect(try await service.importFile(SlideFiles.pdf([(9, 9)]), "author=anna&t=x").statusCode == 400)
            #expect(try await service.http.get("/api/rooms/r").statusCode == 404)
        }
        try await Self.with(["board.features=pages"]) { service in
            let answer = try await service.importFile(SlideFiles.pdf([(9, 9)]))
            #expect(answer.statusCode == 501)
            #expect(try Self.code(answer) == .string("unsupported"))
            #expect(try await service.http.get("/api/rooms/r").statusCode == 404)
            // The file was not even sent.
            #expect(try await JetStream(service.connection).streamInfo("INK_ASSETS").messages == 0)
            let (code, log) = try await Self.importCommand(SlideFiles.pdf([(9, 9)]), service)
            #expect(code == 1)
            #expect(log.contains("does not offer images"), "\(log)")
        }
    }

    @Test func `a room has a thousand pages at most, and nothing is written where they would be more`() async throws {
        try await Self.with { service in
            let order = (0..<990).map(String.init).joined(separator: ",")
            try await service.write([#"{"n":1,"a":6,"v":[\#(order)]}"#], to: "r")
            let answer = try await service.importFile(SlideFiles.pdf(Array(repeating: (9, 9), count: 11)))
            #expect(answer.statusCode == 409)
            #expect(try Self.code(answer) == .string("too-many-pages"))
            #expect(try await service.head("r").reply.index == 1)
            let last = try await service.importFile(SlideFiles.pdf(Array(repeating: (9, 9), count: 10)))
            #expect(try Self.pages(last) == Array(990...999))
        }
    }

    @Test func `where not all pages can be made, the answer names those that are, and no empty one is in sight`()
        async throws
    {
        try await Self.with(Self.settings + ["limits.points=60", "limits.board_points=60"]) { service in
            let answer = try await service.importFile(SlideFiles.pdf(Array(repeating: (40, 30), count: 12)))
            #expect(answer.statusCode == 502)
            #expect(try Self.code(answer) == .string("incomplete"))
            #expect(answer.text.contains("too-many-points"), "\(answer.text)")
            guard case .array(let list)? = try AnyJSON.decode(answer.bytes)["pages"] else {
                throw Unexpected("no pages")
            }
            let made = 1...list.count
            #expect(list == made.map { .number(Double($0)) })
            #expect((1...11).contains(list.count))
            let head = try await service.head("r")
            #expect(head.entries.map(\.page) == Array(made))
            #expect(
                head.reply.pages
                    == BoardPages(shown: 1, order: [0] + made, hidden: Array((list.count + 1)...12)))
            // The room is full, and the next import says so too; its page is not left behind.
            let next = try await service.importFile(SlideFiles.pdf([(40, 30)]))
            #expect(next.statusCode == 502)
            #expect(try AnyJSON.decode(next.bytes)["pages"] == .array([]))
            #expect(try await service.head("r").reply.pages.order == [0] + made)
            // So does a copy.
            let copied = try await service.copy(1, "")
            #expect(copied.statusCode == 502)
            #expect(try await service.head("r").reply.pages.order == [0] + made)
        }
    }

    @Test func `five hundred pages come with progress, below the limits of an author`() async throws {
        try await Self.with { service in
            let file = SlideFiles.pdf(Array(repeating: (40, 30), count: 500))
            let answer = try await service.importFile(file, headers: [("Accept", "application/x-ndjson")])
            #expect(answer.statusCode == 200)
            #expect(answer.fields["content-type"] == "application/x-ndjson")
            let lines = answer.text.split(separator: "\n").map { Array($0.utf8) }
            #expect(try AnyJSON.decode(try #require(lines.first)) == .object(["made": .number(0), "of": .number(500)]))
            let last = try AnyJSON.decode(try #require(lines.last))
            #expect(last["pages"] == .array((1...500).map { AnyJSON.number(Double($0)) }))
            #expect(try await service.head("r").reply.pages.order == Array(0...500))
            let metrics = try await service.http.get("/metrics").text
            #expect(metrics.contains(#"lectern_rejected_total{code="rate-limited"} 0"#))
            // One that arranges, 500 that draw, one that turns.
            #expect(try await service.head("r").reply.index == 502)
        }
    }

    @Test func `files that come at the same time, by two gateways too, have pages of their own`() async throws {
        try await Self.with { service in
            let gateway = try DaemonProcess(
                "b", nats: service.nats.url, http: "127.0.0.1:0", ["node.roles=gateway"])
            let other = HTTPClient(port: try await gateway.httpPort())
            try await eventually("the gateway is ready", is: await other.get("/readyz").statusCode == 200)
            try await service.write([#"{"n":1,"d":[{"x":1,"y":1}]}"#], to: "r")
            let all = try await withThrowingTaskGroup(of: [Int].self) { group in
                for number in 0..<6 {
                    group.addTask {
                        let file = SlideFiles.pdf(Array(repeating: (40, Double(30 + number)), count: 7))
                        let http = number.isMultiple(of: 2) ? service.http : other
                        return try Self.pages(try await service.importFile(file, over: http))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(all.joined()).count == 42)
            let head = try await service.head("r")
            #expect(Set(head.reply.pages.order) == Set(all.joined()).union([0]))
            #expect(head.reply.pages.hidden.isEmpty)
            for pages in all {
                let images = pages.flatMap { head.entries(on: $0) }
                #expect(images.count == 7)
                let slides = images.compactMap { entry -> Int? in
                    if case .image(_, let page)? = entry.message.content { page } else { nil }
                }
                #expect(slides == Array(0..<7))
            }
            #expect(await gateway.terminate() == 0)
        }
    }

    @Test func `pages turn with the video, and without a time as soon as the fastest cohort's`() async throws {
        try await Self.with { service in
            try await service.write([#"{"n":1,"t":1,"d":[{"x":1,"y":1}]}"#], to: "r")
            let slow = try #require(CohortName("hls"))
            try service.setClock("r", 60000)
            try service.setClock("r", 40000, cohort: slow)
            try await eventually("the clocks are known") {
                let state = try await service.http.get("/api/rooms/r").text
                return state.contains(#""live":true,"v":60000"#) && state.contains(#""v":40000"#) ? () : nil
            }
            #expect(try Self.pages(try await service.importFile(SlideFiles.pdf([(4, 3), (4, 3)]))) == [1, 2])
            #expect(try await service.head("r").entries(on: 2).map(\.message.time) == [60000])
            try service.setClock("r", 60001)
            try await eventually(
                "the fast cohort has turned", is: await service.board("r", cohort: .main).reply.pages.shown == 1)
            #expect(try await service.board("r", cohort: slow).reply.pages == BoardPages())
            try service.setClock("r", 60001, cohort: slow)
            try await eventually(
                "the slow cohort has turned", is: await service.board("r", cohort: slow).reply.pages.shown == 1)
            // A time that is given.
            let later = try await service.importFile(SlideFiles.pdf([(4, 3)]), "author=anna&t=70000.9")
            #expect(try Self.pages(later) == [3])
            #expect(try await service.head("r").entries(on: 3).map(\.message.time) == [70000])
            #expect(try await service.board("r", cohort: .main).reply.pages.shown == 1)
        }
    }

    @Test func `with an age imports, copies and rotations get the time at the teacher; without one they warn`()
        async throws
    {
        try await Self.with(Self.settings + ["cohorts.default.gate=auto"]) { service in
            func times(_ room: String) async throws -> [Int64?] {
                try await service.head(room).entries.map(\.message.time)
            }
            let slide = SlideFiles.pdf([(4, 3)])
            // Nobody has written to this room yet.
            try service.setClock("r", 60_000, more: #","a":8000"#)
            try await eventually(
                "the clock is known", is: await service.http.get("/api/rooms/r").text.contains(#""live":68000"#))
            let first = try await service.importFile(slide)
            #expect(try Self.pages(first) == [1])
            #expect(!first.text.contains("warning"))
            let (code, log) = try await Self.importCommand(slide, service)
            #expect(code == 0 && !log.contains("does not tell"), "\(log)")
            let copy = try await service.copy(1, "{}")
            #expect(copy.statusCode == 200 && !copy.text.contains("warning"))
            // The writers' own clocks go on from when they were told.
            let stamped = try await times("r")
            #expect(stamped.count == 3 && stamped.allSatisfy { 68_000..<69_000 ~= $0 ?? 0 }, "\(stamped)")
            // Students see none of it: their video is 8 s late.
            let seen = try await service.board("r", cohort: .main)
            #expect(seen.entries.isEmpty && seen.reply.pages == BoardPages())

            try service.setClock("r", 70_000)
            try await eventually(
                "the clock has no age", is: await service.http.get("/api/rooms/r").text.contains(#""v":70000"#))
            let blind = try await service.importFile(slide)
            #expect(try Self.pages(blind).count == 1)
            #expect(blind.text.contains(#""warning":"the clock of the students' video does not tell how late it is"#))
            let (again, warning) = try await Self.importCommand(slide, service)
            #expect(again == 0 && warning.contains("does not tell how late it is"), "\(warning)")
            #expect(try await times("r").suffix(2) == [70_000, 70_000])
        }
    }

    @Test func `a page is copied with erasers, images, lassos and long strokes, without what was undone`() async throws
    {
        try await Self.with { service in
            let long = (0..<9000).map { #"{"x":\#($0 % 500),"y":\#($0 / 90),"f":0.5}"# }.joined(separator: ",")
            let asset = String(repeating: "ab", count: 32)
            let path = #"{"x":0,"y":0},{"x":60,"y":0},{"x":60,"y":60}"#
            try await service.write(
                [
                    #"{"n":1,"c":2,"l":3,"t":1,"w":500,"h":400,"d":[{"x":1,"y":1},{"x":9,"y":9}]}"#,
                    #"{"n":2,"c":1,"l":3,"t":1,"w":250,"h":200,"g":7,"d":[{"x":1,"y":1},{"x":9.25,"y":9}]}"#,
                    #"{"n":3,"e":4,"l":20,"t":1,"g":7,"d":[{"x":5,"y":5},{"x":6,"y":6}]}"#,
                    #"{"n":4,"e":5,"i":"\#(asset)","p":3,"t":1,"g":7,"d":[{"x":0,"y":0},{"x":60,"y":60}]}"#,
                    #"{"n":5,"e":6,"m":[1,0,0,1,10,20],"k":1,"t":1,"g":7,"d":[\#(path)]}"#,
                    #"{"n":6,"c":1,"l":3,"t":1,"g":7,"d":[{"x":77,"y":1}]}"#,
                    #"{"n":7,"a":2,"g":7}"#,
                    #"{"n":8,"c":3,"l":1,"t":1,"w":500,"h":400,"g":7,"d":[\#(long)]}"#,
                ], to: "r")
            let source = try await service.head("r").entries(on: 7)
            #expect(source.count == 5)

            let copied = try await service.copy(7, #"{"to":"s","t":900}"#)
            #expect(copied.text == #"{"page":1}"#)
            let target = try await service.head("s")
            // The board is as large as the other one, whatever the board of the first stroke's author was.
            guard case .board(500, 400, _, _, _) = target.reply.content else {
                throw Unexpected("another size: \(target.reply.content)")
            }
            #expect(target.reply.pages == BoardPages(shown: 0, order: [0, 1]))
            let copy = target.entries(on: 1)
            #expect(copy.map(\.message.element) == [.freehand, .eraser, .image, .lasso, .freehand])
            #expect(copy.map(\.message.content) == source.map(\.message.content))
            #expect(copy.map(\.message.colour) == source.map(\.message.colour))
            #expect(copy.map(\.message.time) == Array(repeating: 900, count: 5))
            // The first in the units of the board, the others as they were.
            #expect(copy[0].points == [StrokePoint(x: 2, y: 2), StrokePoint(x: 18.5, y: 18)])
            #expect(copy[0].message.width == 6)
            #expect(copy.dropFirst().map(\.points) == source.dropFirst().map(\.points))

            // The same picture.
            let pictures = try await [("r", 7), ("s", 1)].asyncMap { room, page in
                try await service.http.get("/api/rooms/\(room)/board.svg?cohort=head&page=\(page)").text
            }
            #expect(pictures[0] == pictures[1])

            // In the same room, and from a page that nobody has drawn on.
            #expect(try await service.copy(7, "").text == #"{"page":1}"#)
            #expect(try await service.copy(0, #"{"to":"s"}"#).text == #"{"page":2}"#)
            #expect(try await service.copy(0, #"{"to":"t"}"#).text == #"{"page":1}"#)
            #expect(try await service.head("r").entries(on: 1).count == 5)
        }
    }

    @Test func `a file is in the other room before a copied page shows it`() async throws {
        try await Self.with { service in
            let brought = try await service.importFile(SlideFiles.pdf([(4, 3)]))
            #expect(try Self.pages(brought) == [1])
            guard case .string(let id)? = try AnyJSON.decode(brought.bytes)["id"] else { throw Unexpected("no name") }
            let order = Recorder<String>()
            for subject in ["ink.assets.\(id).in-room.*", "ink.0.s.in.*"] {
                try service.connection.subscribe(subject) { message in
                    let isImage = String(decoding: message.copyPayload(), as: UTF8.self).contains(id)
                    if message.subject.hasPrefix("ink.assets.") || isImage { order.append(message.subject) }
                }
            }
            try await service.connection.flush()
            #expect(try await service.copy(1, #"{"to":"s"}"#).text == #"{"page":1}"#)
            let subjects = try await order.values(2)
            #expect(subjects[0] == "ink.assets.\(id).in-room.s")
            #expect(subjects[1].hasPrefix("ink.0.s.in."))
        }
    }

    @Test func `a page that is moved goes out of sight when it is there, and the last one stays`() async throws {
        try await Self.with { service in
            try await service.write(
                [
                    #"{"n":1,"t":1,"d":[{"x":1,"y":1}]}"#, #"{"n":2,"t":1,"g":1,"d":[{"x":2,"y":2}]}"#,
                    #"{"n":3,"a":5,"g":1,"t":1}"#,
                ], to: "r")
            #expect(try await service.copy(1, #"{"to":"s","move":true}"#).text == #"{"page":1}"#)
            #expect(try await service.head("s").entries(on: 1).map(\.points) == [[StrokePoint(x: 2, y: 2)]])
            #expect(try await service.head("r").reply.pages == BoardPages(shown: 0, order: [0], hidden: [1]))
            // Within a room, where the copy is another page.
            #expect(try await service.copy(0, #"{"move":true}"#).text == #"{"page":2}"#)
            #expect(try await service.head("r").reply.pages == BoardPages(shown: 2, order: [2], hidden: [0, 1]))
            let last = try await service.copy(2, #"{"to":"s","move":true}"#)
            #expect(last.statusCode == 409)
            #expect(try Self.code(last) == .string("last-page"))
            #expect(try await service.head("s").reply.pages.order == [0, 1])
            for (page, body, status) in [
                (9, #"{"to":"s"}"#, 404), (1000, #"{"to":"s"}"#, 400), (0, #"{"to":"S!"}"#, 400), (0, "[]", 400),
                (0, #"{"t":"now"}"#, 400),
            ] {
                #expect(try await service.copy(page, body).statusCode == status, "\(page) \(body)")
            }
        }
    }

    @Test func `who imports and copies needs a teacher's token for every room`() async throws {
        let secret = FileManager.default.temporaryDirectory.appendingPathComponent("secret-\(UUID())").path
        try "a secret of the test with more than 32 bytes\n".write(toFile: secret, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: secret) }
        func token(_ role: String, _ rooms: String...) async throws -> [(String, String)] {
            let (code, log) = try await LecternProcess.run(
                arguments: ["token", "--secret-file", secret, "--role", role, "--expires", "1h"]
                    + rooms.flatMap { ["--room", $0] } + (role == "teacher" ? ["--author", "anna"] : []))
            #expect(code == 0, "\(log)")
            return [("Authorization", "Bearer \(log.trimmingCharacters(in: .whitespacesAndNewlines))")]
        }
        let (teacher, both) = (try await token("teacher", "r"), try await token("teacher", "r", "s"))
        let student = try await token("student", "r")
        try await Self.with(Self.settings + ["auth.mode=token", "auth.secret_file=\(secret)"]) { service in
            try await eventually(
                "it has read which tokens are revoked", is: await service.http.get("/readyz").statusCode == 200)
            let file = SlideFiles.pdf([(4, 3)])
            for (path, bytes, expected) in [
                ("r/import", file, [401, 403, 200, 200]), ("r/import?author=bob", file, [401, 403, 403, 403]),
                ("s/import", file, [401, 403, 403, 200]),
                ("r/pages/1/copy", Array(#"{"to":"s"}"#.utf8), [401, 403, 403, 200]),
                ("r/pages/1/copy", [], [401, 403, 200, 200]),
            ] as [(String, [UInt8], [Int])] {
                for (headers, status) in zip([[], student, teacher, both], expected) {
                    let answer = try await service.http.send(
                        "POST", "/api/rooms/\(path)", headers: headers, bytes: bytes)
                    #expect(answer.statusCode == status, "\(path): \(answer.text)")
                }
            }
            #expect(service.daemon.lines(with: "a file was imported").allSatisfy { $0.contains("author=anna") })
        }
    }

    /// Runs `lectern import` with a file.
    private static func importCommand(
        _ file: [UInt8], _ service: Service, _ more: String...
    ) async throws -> (Int32?, String) {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("slides-\(UUID())").path
        try Data(file).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await LecternProcess.run(
            arguments: ["import", path, "--room", "r", "--author", "ann", "--nats", service.nats.url] + more)
    }

    @Test func `the command imports slides by the teacher, and says which pages it made`() async throws {
        try await Self.with { service in
            let (code, log) = try await Self.importCommand(SlideFiles.pdf([(4, 3), (3, 4)]), service, "--t", "800")
            #expect(code == 0, "\(log)")
            #expect(log.contains("pdf, 2 pages for a board of 1024 × 768"), "\(log)")
            #expect(log.contains("pages        2 of 2 in ") && log.contains(" s: 1 2\n"), "\(log)")
            let head = try await service.head("r")
            #expect(head.entries.map(\.author) == ["ann", "ann"])
            #expect(head.entries.map(\.message.time) == [800, 800])
            #expect(head.reply.pages == BoardPages(shown: 1, order: [0, 1, 2]))
            let (again, line) = try await Self.importCommand(
                SlideFiles.jpeg(width: 9, height: 9), service, "--json", "--quiet")
            #expect(again == 0)
            #expect(line.contains(#""pages":[3],"#) && line.contains(#""complete":true"#), "\(line)")
            #expect(try await service.head("r").entries(on: 3).map(\.message.time) == [nil])
            let (broken, why) = try await Self.importCommand(Array("%PDF-1.4".utf8), service)
            #expect(broken == 1)
            #expect(why.contains("The file cannot be read"), "\(why)")
        }
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async throws -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
