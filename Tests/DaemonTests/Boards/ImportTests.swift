import Foundation
import InkML
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// `lectern import` and boards as InkML: the built program beside a real NATS server.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct ImportTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// The head of a room as InkML.
    private func board(_ room: String, _ service: BoardService) async throws -> InkDocument {
        let (request, subject) = (ImageRequest(format: .inkml).encoded(), try service.address(room).subject(.imageHead))
        return try InkDocument(inkML: try await service.connection.requestParts(request, to: subject).payload)
    }

    @Test func `a lesson goes through a file into a room, and comes out as it was`() async throws {
        try await BoardService.with { service in
            #expect(try await LecternProcess.run("render", "demo", "-o", folder.path("demo.inkml")).exitCode == 0)
            let command = [
                "import", folder.path("demo.inkml"), "--author", "ann", "--nats", service.nats.url, "--json", "--quiet",
            ]
            let (code, log) = try await LecternProcess.run(arguments: command + ["--room", "a", "--t", "95000"])
            #expect(code == 0, "\(log)")
            #expect(log.contains(#""applied":101,"last_index":101,"#), "\(log)")
            #expect(log.contains("101 strokes, 1843 points for a board of 1024 × 768"), "\(log)")

            let file = try InkDocument(inkML: try folder.bytes("demo.inkml"))
            let room = try await board("a", service)
            #expect(room.size == file.size)
            #expect(room.strokes.map(\.index) == (1...101).map(UInt64.init))
            let first = try #require(file.strokes.compactMap(\.time).min())
            // Indices are those of the new room, and authors; everything else is as it was.
            let expected = file.strokes.enumerated().map { place, stroke in
                var stroke = stroke
                (stroke.index, stroke.author) = (UInt64(place + 1), "ann")
                stroke.time = stroke.time.map { $0 - first + 95000 }
                return stroke
            }
            #expect(room.strokes == expected)

            // Without --t there are no times, and a second import goes on top.
            #expect(try await LecternProcess.run(arguments: command + ["--room", "a"]).exitCode == 0)
            let both = try await board("a", service).strokes
            #expect(both.count == 202)
            #expect(both.suffix(101).allSatisfy { $0.time == nil })
        }
    }

    @Test
    func `foreign ink comes to lie on the board, in the nearest colours and elements, in shards where it is long`()
        async throws
    {
        try await BoardService.with(["journal.mode=none"]) { service in
            let long = (0..<9000).map { "\($0 % 100)\($0.isMultiple(of: 2) ? "" : ".25") \($0 / 90)" }
            let file = try folder.write(
                """
                <ink xmlns="http://www.w3.org/2003/InkML"><definitions>
                <brush xml:id="b"><brushProperty name="color" value="#ee1111"/></brush></definitions>
                <trace brushRef="#b">0 0, 100 '100</trace><trace>\(long.joined(separator: ","))</trace></ink>
                """.replacing("100 '100", with: "100 100"), "foreign.inkml")
            let (code, log) = try await LecternProcess.run(
                "import", file, "--room", "b", "--author", "ann", "--nats", service.nats.url)
            #expect(code == 0, "\(log)")
            #expect(log.contains("applied      2 operations"), "\(log)")
            let strokes = try await board("b", service).strokes
            #expect(strokes.map(\.colour) == [0xd92020, 0x000000])
            // The corners at the ends of its rows are held by further points.
            let counts = strokes.map(\.points.count)
            #expect(counts.first == 2 && (9001...45_000).contains(counts.last ?? 0), "\(counts)")
            // A margin of a sixteenth of the height; the ink is as wide as it is high.
            #expect(strokes.first?.points.map(\.y) == [48, 720])
            #expect(strokes.first?.points.map(\.x) == [176, 848])

            // A highlighter is one of the board, above the ink that it marks.
            let marking = try folder.write(Self.highlighted, "marked.inkml")
            let (status, said) = try await LecternProcess.run(
                "import", marking, "--room", "h", "--author", "ann", "--nats", service.nats.url, "--t", "5000")
            #expect(status == 0 && !said.contains("transparent ink"), "\(said)")
            let marked = try await board("h", service).strokes
            #expect(marked.map(\.element) == [.freehand, .highlighter])
            #expect(marked.map(\.colour) == [0x000000, 0xf2c200])
            #expect(marked.map(\.time) == [5000, 5800])
        }
    }

    /// Black ink below a yellow highlighter, as Office writes it.
    private static let highlighted = """
        <ink xmlns="http://www.w3.org/2003/InkML"><definitions><context xml:id="ctx0"><inkSource xml:id="inkSrc0">
        <traceFormat><channel name="X" units="cm"/><channel name="Y" units="cm"/><channel name="F" max="9"/></traceFormat>
        <channelProperties><channelProperty channel="F" name="resolution" value="0" units="1/dev"/></channelProperties>
        </inkSource></context><brush xml:id="br0"><brushProperty name="width" value="0.05" units="cm"/></brush>
        <brush xml:id="br1"><brushProperty name="width" value="0.1" units="cm"/>
        <brushProperty name="height" value="0.6" units="cm"/><brushProperty name="color" value="#ffc000"/>
        <brushProperty name="transparency" value="127"/><brushProperty name="rasterOp" value="maskPen"/></brush>
        </definitions><trace contextRef="#ctx0" brushRef="#br0" timeOffset="100.2">1 1 5, 4 2 5</trace>
        <trace contextRef="#ctx0" brushRef="#br1" timeOffset="900">1 2 5, 4 2 5</trace></ink>
        """

    @Test
    func
        `where rooms have none a highlighter lies below the ink that it marks, or is an underline where ink may lie below`()
        async throws
    {
        try await BoardService.with(["journal.mode=none", "board.features=pages"]) { service in
            let file = try folder.write(Self.highlighted, "marked.inkml")
            let command = ["import", file, "--room", "h", "--author", "ann", "--nats", service.nats.url, "--t", "5000"]
            let (code, log) = try await LecternProcess.run(arguments: command)
            #expect(code == 0, "\(log)")
            #expect(log.ranges(of: "unknown-resolution: ").count == 1, "\(log)")
            #expect(log.ranges(of: "highlighters lie below").count == 1, "\(log)")
            let first = try await board("h", service).strokes
            #expect(first.map(\.colour) == [0xf2c200, 0x000000])
            #expect(first.map(\.time) == [5000, 5000])
            let band = try #require(first.first)
            #expect(try #require(band.width) > 5 * (first.last?.width ?? 0))
            // The room has ink now.
            #expect(try await LecternProcess.run(arguments: command).exitCode == 0)
            let again = try await board("h", service).strokes.suffix(2).map { $0 }
            #expect(again.map(\.colour) == [0x000000, 0xf2c200])
            #expect(again.map(\.time) == [5000, 5800])
            let line = try #require(again.last)
            #expect(line.width == band.width.map { $0 / 8 })
            #expect(line.points.first?.y == band.points.first.map { $0.y + (band.width ?? 0) / 2 })
            let opaque = Self.highlighted.replacing("<channelProperties>", with: "<!--").replacing(
                "</channelProperties>", with: "-->")
            let clear = try folder.write(
                opaque.replacing("name=\"height\" value=\"0.6\"", with: "name=\"height\" value=\"0.1\""), "clear.inkml")
            let strict = try await LecternProcess.run(
                "import", clear, "--strict", "--room", "h", "--author", "ann", "--nats", service.nats.url, "--t",
                "5000")
            #expect(strict.exitCode == 1 && strict.log.contains("passed-over: The room has no transparent ink"))
        }
        let file = try folder.write(Self.highlighted, "marked.inkml")
        let (code, log) = try await LecternProcess.run(
            "import", file, "--strict", "--room", "h", "--author", "ann", "--nats", "nats://127.0.0.1:1")
        #expect(code == 1 && log.contains("passed-over: "), "\(log)")
    }

    @Test func `a file that cannot be read is refused with its line, and nothing is published`() async throws {
        let files = [
            ("<ink><trace>1 2,\n3 x</trace></ink>", "line 2: bad-trace: "),
            ("<!DOCTYPE ink [<!ENTITY e SYSTEM \"file:///etc/passwd\">]>\n<ink><trace>&e;</trace></ink>", "doctype: "),
            ("<ink><trace brushRef=\"http://127.0.0.1:1/x#b\">1 2</trace></ink>", "line 1: external-reference: "),
            ("<ink>", "not-xml: "), ("<ink/>", "there is no ink in it"),
        ]
        for (text, message) in files {
            let file = try folder.write(text, "broken.inkml")
            // There is no server: the file is read first.
            let (code, log) = try await LecternProcess.run(
                "import", file, "--room", "a", "--author", "ann", "--nats", "nats://127.0.0.1:1")
            #expect(code == 1)
            #expect(log.hasPrefix("lectern: \(file): ") && log.contains(message), "\(log)")
        }
        let (code, log) = try await LecternProcess.run("import", folder.path("none"), "--room", "a", "--author", "ann")
        #expect(code == 1)
        #expect(log == "lectern: \(folder.path("none")): cannot be read: No such file or directory\n")
        #expect(try await LecternProcess.run("import", folder.path("none"), "--room", "a").exitCode == 64)
    }

    @Test func `InkML has no width, no background and no marks`() async throws {
        for option in [["--width", "9"], ["--transparent"], ["--debug"], ["--mesh"]] {
            let (code, log) = try await LecternProcess.run(
                arguments: ["render", "demo", "-o", folder.path("board.inkml")] + option)
            #expect(code == 64)
            #expect(log.contains("InkML is ink alone"), "\(log)")
        }
    }
}
