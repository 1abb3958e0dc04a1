import Foundation
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// Slides that are imported into rooms, over HTTP and by the command line, in the built daemon with a journal.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct SlideTests {
    /// Runs `lectern import` with a file.
    private static func importCommand(
        _ file: [UInt8], _ service: BoardService, _ more: String...
    ) async throws -> (Int32?, String) {
        let path = try TestFiles.write(file, "slides")
        return try await LecternProcess.run(
            arguments: ["import", path, "--room", "r", "--author", "ann", "--nats", service.nats.url] + more)
    }

    @Test
    func `each page of a PDF, or a JPEG, becomes a page at the end, centred in its shape, and the first is shown`()
        async throws
    {
        try await BoardService.with(BoardService.boards) { service in
            // The board is 1000 × 500; page 4 was there before.
            try await service.write([#"{"n":1,"w":1000,"h":500,"g":4,"d":[{"x":1,"y":1},{"x":9,"y":9}]}"#], to: "r")
            let sizes = (0..<12).map { $0.isMultiple(of: 2) ? (400.0, 100.0) : (100.0, 200.0) }
            let file = SlideFiles.pdf(sizes)
            let answer = try await service.importFile(file)
            #expect(try answer.pages == [1, 2, 3] + Array(5...13))
            guard case .string(let id)? = try AnyJSON.decode(answer.bytes)["id"] else { throw Unexpected("no id") }

            let head = try await service.head("r")
            #expect(head.reply.pages == BoardPages(shown: 1, order: [0, 4, 1, 2, 3] + Array(5...13)))
            #expect(head.reply.features == [.pages, .images, .lasso, .undoableClears])
            for (place, page) in ([1, 2, 3] + Array(5...13)).enumerated() {
                let entries = head.entries(on: page)
                #expect(entries.count == 1)
                let entry = try #require(entries.first)
                #expect(entry.author.hasPrefix("gw-") && entry.name == .string("anna"))
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

            // A JPEG, in a room that nobody has written to.
            let picture = SlideFiles.jpeg(width: 512, height: 768)
            #expect(try await service.importFile(picture, "author=anna&t=5000", room: "jpeg").pages == [1])
            let other = try await service.head("jpeg")
            #expect(other.reply.pages == BoardPages(shown: 1, order: [0, 1]))
            #expect(other.entries.map(\.message.time) == [5000])
            #expect(other.entries.first?.points == [StrokePoint(x: 256, y: 0), StrokePoint(x: 768, y: 768)])

            // A part of the board is asked for without the others.
            let page = try await service.head("r", JoinRequest(part: .page(4)))
            #expect(page.entries.map(\.page) == [4])
            #expect(try await service.head("r", JoinRequest(part: .settings)).entries.isEmpty)
        }
    }

    @Test func `a file that cannot be read or is not offered leaves nothing in the room`() async throws {
        try await BoardService.with(BoardService.boards) { service in
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
        try await BoardService.with(["board.features=pages"]) { service in
            let answer = try await service.importFile(SlideFiles.pdf([(9, 9)]))
            #expect(answer.statusCode == 501)
            #expect(try answer.errorCode == .string("unsupported"))
            #expect(try await service.http.get("/api/rooms/r").statusCode == 404)
            // The file was not even sent.
            #expect(try await JetStream(service.connection).streamInfo("INK_ASSETS").messages == 0)
            let (code, log) = try await Self.importCommand(SlideFiles.pdf([(9, 9)]), service)
            #expect(code == 1)
            #expect(log.contains("does not offer images"), "\(log)")
        }
    }

    @Test func `a room has a thousand pages at most, and nothing is written where they would be more`() async throws {
        try await BoardService.with(BoardService.boards) { service in
            let order = (0..<990).map(String.init).joined(separator: ",")
            try await service.write([#"{"n":1,"a":6,"v":[\#(order)]}"#], to: "r")
            let answer = try await service.importFile(SlideFiles.pdf(Array(repeating: (9, 9), count: 11)))
            #expect(answer.statusCode == 409)
            #expect(try answer.errorCode == .string("too-many-pages"))
            #expect(try await service.head("r").reply.index == 1)
            let last = try await service.importFile(SlideFiles.pdf(Array(repeating: (9, 9), count: 10)))
            #expect(try last.pages == Array(990...999))
        }
    }

    @Test func `the answer names the pages that were made where not all can be, and no empty one is in sight`()
        async throws
    {
        try await BoardService.with(BoardService.boards + ["limits.points=60", "limits.board_points=60"]) { service in
            let answer = try await service.importFile(SlideFiles.pdf(Array(repeating: (40, 30), count: 12)))
            #expect(answer.statusCode == 502)
            #expect(try answer.errorCode == .string("incomplete"))
            #expect(answer.text.contains("too-many-points"), "\(answer.text)")
            guard case .array(let list)? = try AnyJSON.decode(answer.bytes)["pages"] else {
                throw Unexpected("no pages")
            }
            let made = 1...list.count
            #expect(list == made.map { .number(Double($0)) })
            #expect((1...11).contains(list.count))
            let head = try await service.head("r")
            #expect(head.entries.map(\.page) == Array(made))
            #expect(head.reply.pages == BoardPages(shown: 1, order: [0] + made, hidden: Array((list.count + 1)...12)))
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
        try await BoardService.with(BoardService.boards) { service in
            let file = SlideFiles.pdf(Array(repeating: (40, 30), count: 500))
            let answer = try await service.importFile(file, headers: [("Accept", "application/x-ndjson")])
            #expect(answer.statusCode == 200)
            #expect(answer.fields["content-type"] == "application/x-ndjson")
            #expect(answer.fields["x-accel-buffering"] == "no")
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
        try await BoardService.with(BoardService.boards) { service in
            let gateway = try DaemonProcess("b", nats: service.nats.url, http: "127.0.0.1:0", ["node.roles=gateway"])
            let other = HTTPClient(port: try await gateway.httpPort())
            try await eventually("the gateway is ready", is: await other.get("/readyz").statusCode == 200)
            try await service.write([#"{"n":1,"d":[{"x":1,"y":1}]}"#], to: "r")
            let all = try await concurrently(0..<6) { number in
                let file = SlideFiles.pdf(Array(repeating: (40, Double(30 + number)), count: 7))
                let http = number.isMultiple(of: 2) ? service.http : other
                return try (try await service.importFile(file, over: http)).pages
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
        try await BoardService.with(BoardService.boards) { service in
            try await service.write([#"{"n":1,"t":1,"d":[{"x":1,"y":1}]}"#], to: "r")
            let slow = try #require(CohortName("hls"))
            try service.setClock("r", 60000)
            try service.setClock("r", 40000, cohort: slow)
            try await eventually("the clocks are known") {
                let state = try await service.http.get("/api/rooms/r").text
                return state.contains(#""live":true,"v":60000"#) && state.contains(#""v":40000"#) ? () : nil
            }
            #expect(try (try await service.importFile(SlideFiles.pdf([(4, 3), (4, 3)]))).pages == [1, 2])
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
            #expect(try later.pages == [3])
            #expect(try await service.head("r").entries(on: 3).map(\.message.time) == [70000])
            #expect(try await service.board("r", cohort: .main).reply.pages.shown == 1)
        }
    }

    @Test
    func `with an age imports, copies and rotations get the time at the teacher; without one they warn`() async throws {
        try await BoardService.with(BoardService.boards + ["cohorts.default.gate=auto"]) { service in
            func times(_ room: String) async throws -> [Int64?] {
                try await service.head(room).entries.map(\.message.time)
            }
            let slide = SlideFiles.pdf([(4, 3)])
            // Nobody has written to this room yet.
            try service.setClock("r", 60_000, more: #","a":8000"#)
            try await eventually(
                "the clock is known", is: await service.http.get("/api/rooms/r").text.contains(#""live":68000"#))
            let first = try await service.importFile(slide)
            #expect(try first.pages == [1])
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
            #expect(try blind.pages.count == 1)
            #expect(blind.text.contains(#""warning":"the clock of the students' video does not tell how late it is"#))
            let (again, warning) = try await Self.importCommand(slide, service)
            #expect(again == 0 && warning.contains("does not tell how late it is"), "\(warning)")
            #expect(try await times("r").suffix(2) == [70_000, 70_000])
        }
    }

    @Test func `importing and copying needs a teacher's token for every room`() async throws {
        let secret = try TokenSecret()
        let teacher = try await secret.headers("--role", "teacher", "--author", "anna", "--room", "r")
        let both = try await secret.headers("--role", "teacher", "--author", "anna", "--room", "r", "--room", "s")
        let student = try await secret.headers("--role", "student", "--room", "r")
        try await BoardService.with(BoardService.boards + secret.settings) { service in
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

    @Test func `the command imports slides by the teacher, and says which pages it made`() async throws {
        try await BoardService.with(BoardService.boards) { service in
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
