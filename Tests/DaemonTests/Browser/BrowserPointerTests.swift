import Foundation
import TestSupport
import Testing

/// The teacher's pointer on boards in browsers.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserPointerTests {
    /// A page of the test's own with a board, or a lesson, whose player is at `window.time`; `pointers` are seen on it.
    private func page(_ room: BrowserRoom, _ make: String) async throws -> BrowserWindow {
        let window = try await BrowserWindow(at: "\(room.address)/healthz")
        try await window.run(
            """
            const { Board, Replay } = await import("/lectern.js");
            const canvas = newCanvas("800px", "board");
            Object.assign(window, { time: NaN, pointers: [], most: 0 });
            window.own = \(make);
            own.addEventListener("pointers", ({ detail }) => {
                window.pointers = detail.pointers;
                window.most = Math.max(most, pointers.length);
            });
            own.addEventListener("index", ({ detail }) => Object.assign(canvas.dataset, { index: detail.index, digest: detail.digest }));
            // The pointers above the board, where there are any.
            window.layer = () => document.querySelector(".lectern-pointers");
            window.play = async (time) => {
                window.time = time;
                own.look();
                await nextFrames(4);
            };
            """)
        return window
    }

    /// The time and the points of the pointer at an index of the log.
    private func pointer(
        _ index: Int, of room: BrowserRoom
    ) async throws -> (time: Double, points: [(x: Double, y: Double, m: Double)]) {
        let message = try await room.message(index)
        guard message["e"] == 7, let time = message["t"]?.double else { throw Unexpected("\(message)") }
        let points = (message["d"]?.elements ?? []).map { point in
            (point["x"]?.double ?? .nan, point["y"]?.double ?? .nan, point["m"]?.double ?? .nan)
        }
        return (time, points)
    }

    /// Where the tips are, as x.
    private func tips(in window: BrowserWindow) async throws -> [Double] {
        try await window.run("return pointers.map(({ tip }) => tip[0])").elements.compactMap(\.double)
    }

    @Test(
        "a student sees the pointer by the player's time, for a moment, and no pixel and no digest of the board changes"
    )
    func follows() async throws {
        try await BrowserRoom.with(strokes: 1) { room, _ in
            let teacher = try await room.teacher()
            try await teacher.wait(forIndex: 1)
            let student = try await page(room, "new Board(canvas, { room: '\(room.name)', clock: () => window.time })")
            try await student.run("window.time = 1e15; own.look();")
            try await student.window(forInk: 1)
            let digest = try await student.digest()
            try await student.run("window.before = valuesOf($('board')); window.time = 2;")

            // The teacher sees it under the hand, and the board below stays as it is.
            let inked = try await teacher.inkedPixels()
            try await teacher.press("k")
            try await teacher.drawWave(4, 0..<30, .begin)
            try await teacher.wait(for: "the own pointer", "document.querySelector('.lectern-pointers') !== null")
            #expect(try await teacher.inkedPixels() == inked)
            try await teacher.keepScreenshot("pointer-teacher")
            try await teacher.drawWave(4, 30..<40, .end, index: 2)
            try await teacher.wait(for: "nothing", "document.querySelector('.lectern-pointers') === null")
            #expect(try await teacher.digest() == digest)
            #expect(try await teacher.inkedPixels() == inked)

            try await student.wait(for: "what the service has released", "own.index === 1")
            let (time, points) = try await pointer(2, of: room)
            #expect(points.count >= 40)
            try await student.run("await play(\(time));")
            #expect(try await student.run("return [pointers.length, layer() === null]") == [0, true])
            for place in [5, 20, 33] {
                let (point, next) = (points[place], points[place + 1])
                try await student.run("await play(\(time + (point.m + next.m) / 2));")
                let tips = try await tips(in: student)
                let range = min(point.x, next.x) - 0.01...max(point.x, next.x) + 0.01
                #expect(tips.count == 1 && range.contains(tips[0]), "\(tips) not in \(range)")
                #expect(try await student.isTrue("inkOf(layer()) > 100"))
            }
            try await student.keepScreenshot("pointer-student")
            #expect(try await student.run("return own.index") == 2)
            let end = time + (points.last?.m ?? 0)
            try await student.run("await play(\(end + 200));")
            let opacity = try await student.run("return pointers[0].tip[2]").double ?? 0
            #expect(abs(opacity - 0.5) < 0.01)
            try await student.run("await play(\(end + 401));")
            #expect(try await student.run("return [pointers.length, layer() === null]") == [0, true])
            #expect(
                try await student.isTrue(
                    "valuesOf($('board')).every((value, place) => value === before[place])"))
            #expect(try await student.digest() == digest)

            // Who joins now, or is beyond, sees nothing of it; whoever plays the lesson, and turns back in it, sees it again.
            let late = try await page(room, "new Board(canvas, { room: \"\(room.name)\" })")
            try await late.wait(for: "the board", "own.index === 2")
            let beyond = try await page(room, "new Board(canvas, { room: '\(room.name)', clock: () => window.time })")
            try await beyond.run("window.time = \(end + 500); own.look();")
            try await beyond.wait(for: "the board", "own.index === 2")
            for window in [late, beyond] {
                #expect(try await window.run("await play(window.time); return [pointers.length, most]") == [0, 0])
            }
            let replay = try await page(room, "new Replay(canvas, { room: '\(room.name)', clock: () => window.time })")
            for _ in 0..<2 {
                try await replay.run("window.time = \(end + 5000); own.look();")
                try await replay.wait(
                    for: "its end", "own.index === 2 && own.isThere && pointers.length === 0 && layer() === null")
                try await replay.run("window.time = \(time + points[20].m + 1); own.look();")
                try await replay.wait(for: "the pointer", "pointers.length === 1 && layer() !== null")
                let tips = try await tips(in: replay)
                #expect(tips.count == 1 && abs(tips[0] - points[20].x) < 30)
            }
            for window in [student, late, beyond, replay] {
                try await window.expectNoComplaints { $0.contains("favicon") }
            }
            try await teacher.expectNoComplaints()
        }
    }

    @Test func `where strokes grow, students see the pointer while the teacher's pen is down`() async throws {
        try await BrowserRoom.with(["cohorts.default.ink=progressive"], strokes: 1) { room, _ in
            let teacher = try await room.teacher()
            try await teacher.wait(forIndex: 1)
            let student = try await page(room, "new Board(canvas, { room: \"\(room.name)\" })")
            try await student.window(forInk: 1)
            let digest = try await student.digest()
            try await teacher.press("k")
            try await teacher.drawWave(4, 0..<20, .begin)
            try await student.wait(for: "the pointer", "pointers.length === 1 && layer() !== null")
            let first = try await tips(in: student)
            try await teacher.drawWave(4, 20..<40, .go)
            try await student.wait(
                for: "it to move", "pointers.length === 1 && pointers[0].tip[0] > \((first.first ?? 0) + 50)")
            #expect(try await student.run("return own.index") == 1)
            try await teacher.drawWave(4, 40..<40, .end)
            try await student.wait(
                for: "its operation, and nothing", "own.index === 2 && pointers.length === 0 && layer() === null")
            #expect(try await student.digest() == digest)
        }
    }

    @Test(
        "a mouse points without touching where that is chosen, with at most 15 points a second, and a key keeps the choice"
    )
    func hovers() async throws {
        try await BrowserRoom.withTeacher { room, teacher in
            let toggle = "document.querySelector(\"[aria-label='Point without touching']\")"
            #expect(try await teacher.run("return \(toggle)") == .null)
            try await teacher.press("k")
            try await teacher.run(
                """
                window.move = async (milliseconds) => {
                    const begin = performance.now();
                    for (let now = begin; now < begin + milliseconds; now = performance.now()) {
                        point($('board'), "pointermove", 100 + (now - begin) / 10, 200, { buttons: 0 });
                        await new Promise((resolve) => setTimeout(resolve, 8));
                    }
                };
                await move(300);
                """)
            #expect(try await teacher.run("return document.querySelector('.lectern-pointers')") == .null)
            try await teacher.run("\(toggle).click(); await move(1500);")
            #expect(try await teacher.run("return \(toggle).getAttribute('aria-pressed')") == "true")
            #expect(try await teacher.isTrue("document.querySelector('.lectern-pointers') !== null"))
            try await teacher.run(
                "$('board').dispatchEvent(new PointerEvent('pointerleave', { pointerId: 1, pointerType: 'mouse' }));"
            )
            try await teacher.wait(forIndex: 1)
            let (_, points) = try await pointer(1, of: room)
            #expect(points.count > 8 && points.count <= 26, "\(points.count) points in 1.5 s")
            try await teacher.wait(for: "nothing", "document.querySelector('.lectern-pointers') === null")
            // Another tool points at nothing.
            try await teacher.press("p")
            try await teacher.run("await move(300);")
            #expect(try await teacher.run("return \(toggle)") == .null)
            #expect(try await teacher.run("return document.querySelector('.lectern-pointers')") == .null)
            try await teacher.waitUntilSaved()
            #expect(try await teacher.run("return $('board').dataset.index") == "1")
        }
    }
}

extension BrowserWindow {
    /// Waits until the board of the test's page is drawn through an operation.
    fileprivate func window(forInk index: Int) async throws {
        try await wait(for: "the board", "own.index === \(index) && inkOf($('board')) > 0")
    }
}
