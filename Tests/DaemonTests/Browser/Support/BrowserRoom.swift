import Foundation
import NATSClient
import NATSTestServer
import TestSupport
import Testing

/// A room with a daemon whose pages are open in browsers. The test is its video.
final class BrowserRoom: Sendable {
    let name = "physics"
    let nats: NATSTestServer
    let address: String
    private let video: ScriptedAuthor
    private let connection: NATSConnection

    /// Starts a daemon, and a connection for the video.
    /// - Parameter strokes: how many are on the board, all of which the video has passed; nil for an empty board and no video.
    static func with(
        _ settings: [String] = [], strokes: Int? = nil,
        _ body: @escaping @Sendable (BrowserRoom, DaemonProcess) async throws -> Void
    ) async throws {
        try await NATSTestServer.withConnection(jetStream: true) { nats, connection in
            let daemon = try await DaemonProcess.serving("a", nats: nats.url, http: "127.0.0.1:0", settings)
            let room = try BrowserRoom(nats, connection, port: try await daemon.httpPort())
            if let strokes {
                try room.playVideo()
                try await room.publish(strokes)
            }
            try await body(room, daemon)
        }
    }

    /// Starts a daemon, and a video that is beyond all strokes.
    static func withVideo(
        _ settings: [String] = [], _ body: @escaping @Sendable (BrowserRoom, DaemonProcess) async throws -> Void
    ) async throws {
        try await with(settings) { room, daemon in
            try room.playVideo()
            try await body(room, daemon)
        }
    }

    /// Starts a daemon, a video that is beyond all strokes, and the page of a teacher.
    static func withTeacher(
        _ settings: [String] = [], _ body: @escaping @Sendable (BrowserRoom, BrowserWindow) async throws -> Void
    ) async throws { try await withVideo(settings) { room, _ in try await body(room, try await room.teacher()) } }

    /// Starts a daemon, a video that is beyond all strokes, and the pages of a teacher and a student.
    static func withClass(
        _ settings: [String] = [],
        _ body: @escaping @Sendable (BrowserRoom, BrowserWindow, BrowserWindow) async throws -> Void
    ) async throws {
        try await withTeacher(settings) { room, teacher in try await body(room, teacher, try await room.student()) }
    }

    private init(_ nats: NATSTestServer, _ connection: NATSConnection, port: Int) throws {
        self.nats = nats
        address = "http://127.0.0.1:\(port)"
        self.connection = connection
        video = try ScriptedAuthor("video", room: name, on: connection)
    }

    /// Where the pages are: `127.0.0.1:PORT`.
    var listener: String { String(address.dropFirst("http://".count)) }

    /// The address of the students' page, which those of the other pages begin with.
    var page: String { "\(address)/rooms/\(name)" }

    /// The time of day in milliseconds: the time line of the teacher's page.
    private var now: Int { Int(Date().timeIntervalSince1970 * 1000) }

    /// The video has reached no stroke yet, and stands still.
    func stopVideo(_ cohort: String = "main") throws {
        try video.clock(now - 600_000, cohort, #","d":true"#)
    }

    /// The video is beyond all strokes, and stands still.
    func playVideo(_ cohort: String = "main") throws {
        try video.clock(now + 600_000, cohort, #","d":true"#)
    }

    /// The video stands still at a media time.
    func setVideo(_ media: Int, _ cohort: String = "main", more: String = "") throws {
        try video.clock(media, cohort, #","d":true"# + more)
    }

    /// An author whose messages the test sends.
    func author(_ name: String) throws -> ScriptedAuthor { try ScriptedAuthor(name, room: self.name, on: connection) }

    /// Takes the first messages from the journal.
    func purgeJournal(before sequence: Int) async throws {
        let body = Array(#"{"seq":\#(sequence)}"#.utf8)
        let reply = try await connection.request(body, to: "$JS.API.STREAM.PURGE.INK_LOG_0")
        let answer = String(decoding: reply.payload, as: UTF8.self)
        guard answer.contains(#""success":true"#) else { throw Unexpected(answer) }
    }

    /// Publishes so many strokes as an author of its own, after those published before, and waits until the last one is
    /// applied. The media time of a stroke is its number, in milliseconds.
    func publish(_ count: Int, after last: Int = 0) async throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        for number in last + 1...last + count {
            let (x, y) = (Double.random(in: 50...900, using: &random), Double.random(in: 50...700, using: &random))
            let points = (0..<12).map { step in
                #"{"x":\#((x + Double(step) * 6).rounded()),"y":\#((y + 20 * sin(Double(step) / 2)).rounded())}"#
            }
            let text =
                #"{"n":\#(number),"c":\#(number % 8),"l":3,"t":\#(number),"d":[\#(points.joined(separator: ","))]}"#
            if number == last + count {
                try await video.send(text, appliedAt: UInt64(number))
            } else {
                try await video.send(text)
            }
        }
    }

    /// The messages of the log after an index.
    func messages(after index: Int = 0, limit: Int = 100) async throws -> [AnyJSON] {
        let reply = try await http.get("/api/rooms/\(name)/replay?cohort=head&after=\(index)&limit=\(limit)")
        return try AnyJSON.decode(reply.bytes)["ops"]?.elements.compactMap { $0["message"] } ?? []
    }

    /// The entries of the board at the log's end, from the bottom to the top: `index`, `message` and more.
    func visible() async throws -> [AnyJSON] {
        let reply = try await http.get("/api/rooms/\(name)/board.json?cohort=head")
        return try AnyJSON.decode(reply.bytes)["visible"]?.elements ?? []
    }

    /// The message at an index of the log.
    func message(_ index: Int) async throws -> AnyJSON {
        guard let message = try await messages(after: index - 1, limit: 1).first else {
            throw Unexpected("no \(index)")
        }
        return message
    }

    private var http: HTTPClient { HTTPClient(port: Int(address.split(separator: ":").last ?? "") ?? 0) }

    /// Opens a teacher's page in a browser of its own, ready to draw.
    func teacher(_ author: String = "anna", _ size: BrowserWindow.Size = .desktop) async throws -> BrowserWindow {
        try await BrowserWindow(size, writingAt: "\(page)/teach?author=\(author)")
    }

    /// Opens a student's page in a browser of its own, connected.
    func student(_ query: String = "", _ size: BrowserWindow.Size = .desktop) async throws -> BrowserWindow {
        let window = try await BrowserWindow(size, at: page + query)
        try await window.wait(for: "the board", "$('waiting').dataset.done !== undefined")
        return window
    }

    /// The server's picture of the board as released, in base64. Where the machine is busy the first requests end before it.
    func picture(width: Int) async throws -> String {
        let http = http
        return try await eventually("the server's picture") {
            for path in ["/api/rooms/\(name)/board.png", "/rooms/\(name)/board.png"] {
                let reply = try await http.get("\(path)?width=\(width)")
                if reply.statusCode == 200 { return Data(reply.bytes).base64EncodedString() }
            }
            return nil
        }
    }
}

extension BrowserWindow {
    static let canvas = "$('board')"

    /// Waits until the page draws.
    func waitUntilWriting() async throws {
        try await wait(for: "the pen", "$('board').dataset.pen === 'on'")
        try await wait(for: "the board", "$('waiting').dataset.done !== undefined")
    }

    /// Waits until the board shows an operation.
    func wait(forIndex index: Int, within limit: Duration = .hangLimit) async throws {
        try await wait(for: "operation \(index)", "Number($('board').dataset.index) >= \(index)", within: limit)
    }

    /// Waits until everything drawn has its answer, and the board shows an operation if one is given.
    func waitUntilSaved(index: Int? = nil, within limit: Duration = .hangLimit) async throws {
        if let index { try await wait(forIndex: index) }
        try await wait(for: "all saved", "$('saved').textContent === 'All saved'", within: limit)
    }

    /// The digest of what the board shows.
    func digest() async throws -> String {
        try await run("return $('board').dataset.digest ?? null").string ?? ""
    }

    /// The number of pixels with ink.
    func inkedPixels() async throws -> Int {
        Int(try await run("return inkOf($('board'))").double ?? 0)
    }

    /// Draws a wave on the board, or a part of it.
    /// - Parameters:
    ///   - place: from 0, at the top, to 9.
    ///   - steps: of the 40 points of the wave.
    ///   - height: of its crests, as a part of the board's height.
    ///   - index: of the operation that the board has to show then; nil for not waiting.
    ///   - saved: the same where everything has to have its answer, too.
    func drawWave(
        _ place: Int, with pointer: Pointer = .pen, _ steps: Range<Int> = 0..<40, _ phase: Phase = .whole,
        height: Double = 0.03, index: Int? = nil, saved: Int? = nil
    ) async throws {
        let box = try await box(of: Self.canvas)
        try await draw(
            steps.map { step in
                let across = 0.1 + 0.8 * Double(step) / 39
                let down = 0.07 + 0.09 * Double(place) + height * sin(Double(step) / 3)
                return (box[0] + box[2] * across, box[1] + box[3] * down)
            }, with: pointer, phase)
        if let index = index ?? saved { try await wait(forIndex: index) }
        if saved != nil { try await waitUntilSaved() }
    }

    /// Chooses a tool by its key.
    func press(_ key: String, control: Bool = false, shift: Bool = false) async throws {
        try await run("press(document.body, '\(key)', { ctrlKey: \(control), shiftKey: \(shift) })")
    }

    /// Compares the canvas, drawn one pixel a board unit, with the server's picture of that width: the mean difference, the
    /// fraction of pixels that are off by more than 96, and how many are inked.
    func comparison(with room: BrowserRoom) async throws -> (mean: Double, off: Double, inked: Double) {
        try await run("$('sheet').style.width = '1024px'")
        try await wait(for: "another size", "$('board').width === 1024")
        let result = try await run(
            """
            const canvas = $('board');
            const picture = await createImageBitmap(new Blob([Uint8Array.from(atob(args[0]), (c) => c.charCodeAt(0))]));
            \(Self.pixelComparison)
            return compared(canvas, picture);
            """, [.string(try await room.picture(width: 1024))])
        guard let mean = result["mean"]?.double, let off = result["off"]?.double, let inked = result["inked"]?.double
        else { throw Unexpected("no comparison: \(result)") }
        return (mean, off, inked)
    }

    /// JavaScript that compares two pictures of one size on white paper.
    static let pixelComparison = """
        function compared(one, other) {
            const pixels = (image) => {
                const paper = new OffscreenCanvas(other.width, other.height).getContext("2d", { willReadFrequently: true });
                paper.fillStyle = "#fff";
                paper.fillRect(0, 0, other.width, other.height);
                paper.drawImage(image, 0, 0);
                return paper.getImageData(0, 0, other.width, other.height).data;
            };
            const [a, b] = [pixels(one), pixels(other)];
            let [inked, sum, off] = [0, 0, 0];
            for (let i = 0; i < a.length; i += 4) {
                if (a[i] + a[i + 1] + a[i + 2] === 765 && b[i] + b[i + 1] + b[i + 2] === 765) continue;
                inked++;
                const difference = [0, 1, 2].map((k) => Math.abs(a[i + k] - b[i + k]));
                sum += (difference[0] + difference[1] + difference[2]) / 3;
                if (Math.max(...difference) > 96) off++;
            }
            return { inked, mean: inked ? sum / inked : 0, off: inked ? off / inked : 0 };
        }
        """
}
