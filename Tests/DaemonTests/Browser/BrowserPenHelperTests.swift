import Foundation
import TestSupport
import Testing

/// What helps the hand of a teacher: even shapes, strokes that the system took back, and the buttons of a pen.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserPenHelperTests {
    @Test(
        "a rough rectangle whose pen rests is even before it is lifted, for students too, and one undo makes it rough again"
    )
    func shapes() async throws {
        try await BrowserRoom.withClass { room, teacher, student in
            let corners = [(0.3, 0.3), (0.7, 0.31), (0.69, 0.7), (0.31, 0.69), (0.3, 0.31)]
            var path: [(x: Double, y: Double)] = []
            for (from, to) in zip(corners, corners.dropFirst()) {
                for step in 0..<12 {
                    let part = Double(step) / 12
                    path.append(
                        try await teacher.place(from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part))
                }
            }
            try await teacher.draw(path, with: .pen, .begin)
            try await teacher.wait(for: "the even shape", "\(Self.isStraight)")
            try await teacher.keepScreenshot("shape-even")
            let end = path[path.count - 1]
            try await teacher.draw([(end.x + 40, end.y + 40)], with: .pen, .end)
            for window in [teacher, student] { try await window.wait(forIndex: 1) }
            let even = try await Self.last(in: room)
            #expect(even.element == 3 && even.points.count == 2, "\(even)")
            try await teacher.press("z", control: true)
            for window in [teacher, student] { try await window.wait(forIndex: 3) }
            let rough = try await Self.last(in: room)
            #expect(rough.element == 0 && rough.points.count > 20, "\(rough)")
            #expect(try await teacher.digest() == (try await student.digest()))
            try await teacher.press("z", control: true)
            for window in [teacher, student] { try await window.wait(forIndex: 4) }
            #expect(try await teacher.inkedPixels() == 0)
            try await teacher.expectNoComplaints(but: BrowserWindow.isUsual)
        }
    }

    /// The element and the points of the last message of a room.
    private static func last(in room: BrowserRoom) async throws -> (element: Double, points: [AnyJSON]) {
        let message = try await room.messages().last
        return (message?["e"]?.double ?? 0, message?["d"]?.elements ?? [])
    }

    /// Whether a row of pixels along the upper side of the rectangle is inked.
    private static let isStraight = """
        (() => {
            const canvas = document.getElementById("board");
            const { width, height } = canvas;
            const { data } = canvas.getContext("2d").getImageData(0, Math.round(height * 0.28), width, Math.round(height * 0.05));
            for (let y = 0; y < Math.round(height * 0.05); y++) {
                let inked = 0;
                for (let x = Math.round(width * 0.35); x < width * 0.65; x++) if (data[4 * (y * width + x) + 3] === 255) inked++;
                if (inked >= Math.floor(width * 0.65) - Math.round(width * 0.35)) return true;
            }
            return false;
        })()
        """

    @Test("a stroke that the system takes back is offered for five seconds, and drawn again as it was")
    func lost() async throws {
        try await BrowserRoom.withTeacher { room, teacher in
            try await teacher.loseStroke()
            #expect(try await teacher.inkedPixels() == 0)
            #expect(try await teacher.text(of: "$('notice')").contains("took back"))
            try await teacher.wait(for: "the end of the offer", "$('notice').hidden")
            #expect(try await teacher.index() ?? 0 == 0)
            try await teacher.loseStroke()
            try await teacher.keepScreenshot("stroke-offered")
            try await teacher.clickInSight(of: "#notice-button")
            try await teacher.wait(forIndex: 1)
            #expect(try await teacher.isTrue("$('notice').hidden"))
            let points = try await Self.last(in: room).points
            #expect(points.count == 20 && points[1]["f"] == 0.5, "\(points)")
        }
    }

    @Test("a stroke that is offered is drawn whatever the tool is then, and its offer ends with its page")
    func offered() async throws {
        try await BrowserRoom.withTeacher { room, teacher in
            let (left, top) = try await teacher.place(0, 0)
            try await teacher.draw((0...10).map { (left + 150, top + 50 + 10 * Double($0)) }, with: .mouse)
            try await teacher.wait(forIndex: 1)
            try await teacher.loseStroke()
            // An eraser of whole strokes, which what is drawn again crosses.
            try await teacher.press("d")
            try await teacher.clickInSight(of: "#notice-button")
            try await teacher.waitUntilSaved(index: 2)
            #expect(try await teacher.index() == 2)
            #expect(try await Self.last(in: room).points.count == 20)
            try await teacher.press("p")
            try await teacher.loseStroke()
            try await teacher.run("$('page-add').click()")
            try await teacher.wait(forIndex: 3)
            #expect(try await teacher.isTrue("$('notice').hidden"))
        }
    }

    @Test func `the eraser end of a pen and the button on its barrel erase, whatever the tool is`() async throws {
        try await BrowserRoom.withTeacher { room, teacher in
            for (number, (button, buttons)) in [(5, 32), (2, 2), (0, 3)].enumerated() {
                try await teacher.run(
                    """
                    for (const [type, x, button] of [["pointerdown", 100, \(button)], ["pointermove", 300, -1], ["pointerup", 300, \(button)]]) {
                        point($('board'), type, x, 100, { pointerType: "pen", button, buttons: \(buttons), pressure: 0.5 });
                    }
                    """)
                try await teacher.wait(forIndex: number + 1)
                #expect(try await Self.last(in: room).element == 4, "\(button)")
            }
        }
    }

    @Test func `that a pen alone draws can be chosen before the first pen, and is remembered`() async throws {
        try await BrowserRoom.withVideo { room, _ in
            let teacher = try await BrowserWindow(.tablet)
            try await teacher.runFirst("Object.defineProperty(navigator, \"maxTouchPoints\", { value: 5 });")
            for visit in 0..<2 {
                try await teacher.open(writingAt: "\(room.page)/teach?author=anna")
                if visit == 0 { try await teacher.clickInSight(of: "#fingers") }
                #expect(try await teacher.run("return $('fingers').getAttribute('aria-pressed')") == "false")
                let (x, y) = try await teacher.place(0.3, 0.3)
                try await teacher.drawTogether([(after: 0, points: (0...10).map { (x + 10 * Double($0), y) })])
                #expect(try await teacher.inkedPixels() == 0)
            }
            try await teacher.clickInSight(of: "#fingers")
            try await teacher.drawWave(4, with: .touch, index: 1)
        }
    }
}

extension BrowserWindow {
    /// Draws a stroke that the system takes back, and waits until it is offered.
    fileprivate func loseStroke() async throws {
        try await run(
            """
            const send = (type, x, y) => point($('board'), type, x, y, { pointerType: "pen", pressure: 0.5 });
            send("pointerdown", 100, 100);
            for (let at = 1; at < 20; at++) send("pointermove", 100 + 10 * at, 100 + at);
            send("pointercancel", 0, 0);
            """)
        try await wait(for: "the offer", "!$('notice').hidden")
    }
}
