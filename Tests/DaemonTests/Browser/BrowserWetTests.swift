import Foundation
import TestSupport
import Testing

/// Strokes that grow on boards in browsers while they are drawn.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserWetTests {
    /// Runs a class whose cohorts let strokes grow: a teacher's page, and a board on a page of the test's own.
    private func withClass(
        style: String = "smooth", clock: String = "null",
        _ body: @escaping @Sendable (BrowserRoom, WetTeacher, WetStudent) async throws -> Void
    ) async throws {
        try await BrowserRoom.with(["cohorts.default.ink=progressive", "ink.style=\(style)"]) { room, _ in
            // The first stroke makes the room.
            try room.playVideo()
            try await room.publish(1)
            let teacher = WetTeacher(window: try await room.teacher())
            try await teacher.window.wait(forIndex: 1)
            try await teacher.listen()
            try room.stopVideo()
            let student = WetStudent(window: try await BrowserWindow())
            try await student.join(room, clock: clock)
            try await body(room, teacher, student)
        }
    }

    @Test(
        "a stroke grows with the video while the pen is down, no point early, and its operation changes no pixel",
        arguments: ["smooth", "stamp"])
    func grows(_ style: String) async throws {
        try await withClass(style: style) { room, teacher, student in
            // High, for the pen rests: a low wave becomes a line then.
            try await teacher.window.drawWave(2, 0..<20, .begin, height: 0.15)
            let drawn = try await teacher.points(atLeast: 20)
            #expect(try await student.points() == 0)
            #expect(try await student.window.run("return ink() === inkAtFirst") == true)
            // In the middle between two points.
            for place in [5, 12] {
                let video = ((drawn[place] + drawn[place + 1]) / 2).rounded(.up)
                try room.setVideo(Int(video))
                try await student.wait(forPoints: drawn.count { $0 < video })
                try await student.window.keepScreenshot("wet-\(style)-\(place)")
            }
            try await teacher.window.keepScreenshot("wet-\(style)-teacher")
            #expect(try await student.window.run("return own.index") == 1)
            try room.playVideo()
            try await student.wait(forPoints: 20)
            try await teacher.window.drawWave(2, 20..<30, .go, height: 0.15)
            let all = try await teacher.points(atLeast: 30)
            try await student.wait(forPoints: all.count)
            let before = try await student.window.inkedPixels()
            #expect(try await student.window.run("return ink() > inkAtFirst + 300") == true)

            // Every frame from here on shows the same.
            try await student.window.run("window.frames = watchFrames();")
            try await teacher.window.drawWave(2, 30..<30, .end, height: 0.15)
            try await student.window.wait(for: "the operation", "own.index === 2")
            try await student.window.wait(for: "more frames", "frames.since(2) >= 5")
            #expect(try await student.window.run("return frames.different") == 0)
            #expect(try await student.window.inkedPixels() == before)
            let difference = try await student.window.run(Self.wholeDrawing)
            #expect(difference == 0, "what has grown is what is drawn at once")
            // The page of the test has no icon.
            try await student.window.expectNoComplaints { $0.contains("favicon") }
        }
    }

    /// Draws the board anew on another canvas; returns how many values differ.
    private static let wholeDrawing = """
        const { Painter } = await import("/lectern/painter.js");
        while (window.folded.index < own.index) await new Promise((resolve) => setTimeout(resolve, 5));
        const other = document.createElement("canvas");
        const { width, height } = own.size;
        const painter = new Painter(other);
        painter.reset(window.folded.strokes, { style: own.style, palette: own.palette, width, height, pixels: painted.width });
        \(BrowserWindow.pictureComparison)
        await idle(painter, own.painter);
        return unequal(painted, other);
        """

    @Test("a stroke that is given up goes, on the students' boards too: a palm's, and one that the browser cancels")
    func givenUp() async throws {
        try await withClass { room, teacher, student in
            try room.playVideo()
            try await teacher.window.run(
                """
                const touch = (type, x) => point($('board'), type, x, 500,
                    { pointerId: 77, pointerType: "touch", isPrimary: false });
                touch("pointerdown", 300);
                for (let x = 310; x < 400; x += 10) touch("pointermove", x);
                """)
            try await student.window.wait(for: "the palm", "points >= 10 && ink() > inkAtFirst")
            // What is drawn with the pen comes instead.
            try await teacher.window.drawWave(2, 0..<20, .begin)
            try await student.wait(forPoints: try await teacher.points(atLeast: 20).count)
            #expect(try await student.window.run("return ink() > inkAtFirst + 100") == true)
            let drawn = try await teacher.window.inkedPixels()
            try await teacher.window.run(
                "point($('board'), 'pointercancel', 0, 0, { pointerId: window.pointer, pointerType: 'pen' })")
            try await student.window.wait(for: "nothing of it", "ink() === inkAtFirst")
            #expect(try await teacher.window.inkedPixels() < drawn)
            try await teacher.window.drawWave(2, 20..<21, .end)
            try await teacher.window.drawWave(4)
            try await student.window.wait(for: "the next one", "own.index === 2")
        }
    }

    @Test func `who joins while a stroke is drawn sees it within about a second, and lost updates heal`() async throws {
        try await withClass { room, teacher, student in
            try room.playVideo()
            // Every other update gets lost on its way, and the page does not know.
            try await teacher.window.run("window.loses = (count) => count % 2 === 0;")
            // High, for the pen rests: a low wave becomes a line then.
            try await teacher.window.drawWave(2, 0..<30, .begin, height: 0.15)
            let count = try await teacher.points(atLeast: 30).count
            try await student.wait(forPoints: count)

            let late = WetStudent(window: try await BrowserWindow())
            try await teacher.window.run("window.loses = () => false;")
            try await late.join(room)
            try await late.wait(forPoints: count)
            let wait = try await late.window.run("return window.firstAt - window.joinedAt").double ?? .infinity
            print("a student who joined saw the stroke after \(Int(wait)) ms")
            #expect(wait < 2500)
            #expect(try await late.window.inkedPixels() == (try await student.window.inkedPixels()))

            try await teacher.window.drawWave(2, 30..<40, .end, height: 0.15)
            for student in [student, late] {
                try await student.window.wait(for: "the operation", "own.index === 2 && ink() > inkAtFirst + 300")
            }
        }
    }

    @Test func `a board with the clock of its player lets strokes grow by that clock`() async throws {
        try await withClass(clock: "() => window.time") { room, teacher, student in
            try room.playVideo()
            try await teacher.window.drawWave(2, 0..<20, .begin)
            let drawn = try await teacher.points(atLeast: 20)
            try await student.window.wait(for: "what the server has sent", "received >= 20")
            #expect(try await student.points() == 0)
            func play(to place: Int, of times: [Double]) async throws {
                let time = (times[place] + times[place + 1]) / 2
                try await student.window.run("window.time = \(time); own.look();")
                try await student.wait(forPoints: times.count { $0 < time })
            }
            try await play(to: 4, of: drawn)
            try await play(to: 11, of: drawn)
            // Its operation comes, and is held as well: the stroke goes on to grow.
            try await teacher.window.drawWave(2, 20..<40, .end)
            let all = try await teacher.points(atLeast: 20)
            try await teacher.window.wait(forIndex: 2)
            try await student.window.wait(for: "the operation", "held === 1")
            try await play(to: all.count - 3, of: all)
            #expect(try await student.window.run("return own.index") == 1)
            try await student.window.run("window.time = 1e15; own.look();")
            try await student.window.wait(for: "the operation", "own.index === 2 && held === 0")
            #expect(try await student.window.run(Self.wholeDrawing) == 0)
        }
    }
}

/// A teacher's page that notes what it sends.
private struct WetTeacher {
    let window: BrowserWindow

    /// Notes the updates, and lets the test lose some.
    func listen() async throws {
        try await window.run(
            """
            Object.assign(window, { times: [], loses: () => false, updates: 0, pointer: null });
            document.addEventListener("pointerdown", ({ pointerId }) => { window.pointer = pointerId; }, true);
            const send = window.fetch;
            window.fetch = (address, options) => {
                if (!new URL(address).pathname.endsWith("/wet")) return send(address, options);
                for (const line of options.body.trim().split("\\n")) {
                    const { k, t, d = [] } = JSON.parse(line);
                    d.forEach(({ m }, offset) => (times[k + offset] = t + m));
                }
                return loses(++updates) ? Promise.resolve(new Response(null, { status: 202 })) : send(address, options);
            };
            """)
    }

    /// The media times of the points that were sent, once there are so many and no more come.
    func points(atLeast count: Int) async throws -> [Double] {
        try await window.wait(for: "\(count) points", "times.length >= \(count)")
        var times: [AnyJSON] = []
        while true {
            let now = try await window.run("await new Promise((resolve) => setTimeout(resolve, 100)); return times")
                .elements
            if now.count == times.count { return now.compactMap(\.double) }
            times = now
        }
    }
}

/// A board on a page of the test's own.
private struct WetStudent {
    let window: BrowserWindow

    func join(_ room: BrowserRoom, clock: String = "null") async throws {
        try await window.open("\(room.address)/healthz")
        try await window.run(
            """
            const { Board } = await import("/lectern.js");
            \(BrowserWindow.foldedBoard)
            const canvas = newCanvas("800px", "board");
            Object.assign(window, { painted: canvas, points: 0, received: 0, held: 0, time: 2 });
            // What the server sends, read beside the board.
            const events = new EventSource("/api/rooms/\(room.name)/events");
            const on = (type, body) => events.addEventListener(type, ({ data }) => body(JSON.parse(data)));
            on("board", (reply) => (window.folded = new FoldedBoard(reply)));
            on("op", (operation) => folded.apply(operation));
            on("wet", ({ k, d }) => d && (window.received = Math.max(received, k + d.length)));
            window.own = new Board(canvas, { room: "\(room.name)", clock: \(clock) });
            own.addEventListener("index", () => (window.joinedAt ??= performance.now()));
            own.addEventListener("lag", ({ detail }) => (window.held = detail.held));
            own.addEventListener("wet", ({ detail }) => {
                window.firstAt ??= performance.now();
                window.points = detail.points;
            });
            window.ink = () => inkOf(canvas);
            // Compares each frame with the first one.
            window.watchFrames = () => {
                const seen = { different: 0, indices: [], since: (index) => seen.indices.filter((i) => i >= index).length };
                let first = null;
                const look = () => {
                    const data = valuesOf(canvas);
                    first ??= data;
                    if (data.some((value, place) => value !== first[place])) seen.different++;
                    seen.indices.push(own.index);
                    if (seen.indices.length < 500) requestAnimationFrame(look);
                };
                requestAnimationFrame(look);
                return seen;
            };
            """)
        try await window.wait(for: "the board", "own.index === 1 && painted.width >= 800 && ink() > 0")
        try await window.run("window.inkAtFirst = ink();")
    }

    /// How many points of a stroke being drawn are shown.
    func points() async throws -> Int {
        Int(try await window.run("return points").double ?? -1)
    }

    /// Waits until so many points are shown, and not one more for some frames.
    func wait(forPoints count: Int) async throws {
        try await window.wait(for: "\(count) points", "points >= \(count)")
        try await window.run("await new Promise((resolve) => setTimeout(resolve, 100))")
        let shown = try await points()
        guard shown == count else { throw Unexpected("\(shown) points, not \(count)") }
    }
}
