import Foundation
import TestSupport
import Testing

/// Pages in browsers: the teacher's strip, students in step, small windows.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserPagesTests {
    @Test("a student sees a page turn when the video has passed it, and what is done on other pages paints nothing")
    func inStep() async throws {
        try await BrowserRoom.with { room, _ in
            let teacher = try await room.teacher()
            let student = try await room.student()
            // They have been answered: the daemon hears clocks.
            try room.stopVideo()
            #expect(try await teacher.isTrue("$('pages').hidden"))
            try await teacher.drawWave(1)
            let afterStroke = try await teacher.laterTime()
            try await teacher.click("page-add")
            try await teacher.wait(forPages: "0 [1]")
            #expect(try await teacher.inkedPixels() == 0)
            let afterTurn = try await teacher.laterTime()
            try await teacher.drawWave(4, saved: 3)
            #expect(try await student.isTrue("$('page').hidden"))

            // The video passes the stroke, the turn, and the stroke on the new page one by one.
            try room.setVideo(afterStroke)
            try await student.wait(forIndex: 1)
            let first = try await student.inkedPixels()
            #expect(first > 1000)
            #expect(try await student.page() == 0)
            try room.setVideo(afterTurn)
            try await student.wait(forIndex: 2)
            #expect(try await student.inkedPixels() == 0)
            #expect(try await student.text(of: "$('page')") == "Page 2 of 2")
            try room.playVideo()
            try await student.wait(forIndex: 3)
            #expect(try await student.digest() == (try await teacher.digest()))
            let second = try await student.comparison(with: room)
            #expect(second.inked > 1000 && second.mean <= 6 && second.off <= 0.001, "\(second)")

            // Back to the first page, by a key.
            try await teacher.press("PageUp")
            try await student.wait(forIndex: 4)
            try await teacher.wait(forPages: "[0] 1")
            try await teacher.drawWave(7)
            try await student.wait(forIndex: 5)
            #expect(try await student.page() == 0)

            // Another teacher draws, undoes and clears where nobody looks.
            let windows = [teacher, student]
            for window in windows { try await window.countPaints() }
            let ben = try room.author("ben")
            try await ben.send(#"{"n":1,"g":1,"d":[{"x":100,"y":100},{"x":500,"y":300}]}"#, appliedAt: 6)
            try await ben.send(#"{"n":2,"g":1,"a":2}"#, appliedAt: 7)
            try await ben.send(#"{"n":3,"g":1,"a":3}"#, appliedAt: 8)
            try await ben.send(#"{"n":4,"g":2,"d":[{"x":100,"y":100},{"x":500,"y":300}]}"#, appliedAt: 9)
            try await ben.send(#"{"n":5,"g":2,"a":4}"#, appliedAt: 10)
            for window in windows {
                try await window.wait(forIndex: 10)
                #expect(try await window.paints() == 0)
                #expect(try await window.page() == 0)
            }
            #expect(try await student.text(of: "$('page')") == "Page 1 of 3")

            // One who joins in the middle has the same.
            let late = try await room.student()
            try await late.wait(forIndex: 10)
            let digest = try await teacher.digest()
            for window in [late, student] {
                #expect(try await window.digest() == digest)
                #expect(try await window.text(of: "$('page')") == "Page 1 of 3")
                let picture = try await window.comparison(with: room)
                #expect(picture.inked > 1000 && picture.mean <= 6 && picture.off <= 0.001, "\(picture)")
            }
            // A turn by another teacher takes all of them along.
            try await ben.send(#"{"n":6,"a":5,"g":1}"#, appliedAt: 11)
            try await teacher.wait(forPages: "0 [1] 2")
            for window in [late, student] {
                try await window.wait(forIndex: 11)
                let picture = try await window.comparison(with: room)
                #expect(picture.inked > 1000 && picture.mean <= 6 && picture.off <= 0.001, "\(picture)")
                try await window.expectNoComplaints()
            }
            try await teacher.expectNoComplaints(but: BrowserWindow.isUsual)
            try await teacher.keepScreenshot("pages-teacher")
            try await student.keepScreenshot("pages-student")
        }
    }

    @Test("pages are moved by keys and by dragging, taken out and brought back, and a reload has them all")
    func arrange() async throws {
        try await BrowserRoom.withClass { room, teacher, student in
            for place in 0..<4 {
                if place > 0 { try await teacher.click("page-add") }
                try await teacher.drawWave(place * 2 + 1)
            }
            try await teacher.wait(forPages: "0 1 2 [3]")
            // Every page has its small picture.
            try await teacher.wait(
                for: "the small pictures",
                "[...document.querySelectorAll('.page-item canvas')].every(({ width }) => width > 0)")
            try await teacher.keepScreenshot("pages-strip")

            try await teacher.press("ArrowLeft", alt: true, onPage: 3)
            try await teacher.wait(forPages: "0 1 [3] 2")
            #expect(try await teacher.run("return document.activeElement.dataset.page") == "3")
            try await teacher.drag(page: 2, before: 0, with: .mouse)
            try await teacher.wait(forPages: "2 0 1 [3]")
            // One that was lifted beside the strip drags nothing when it comes back.
            let lifted = try await teacher.run(
                """
                const item = document.querySelector("[role=option]");
                point(item, "pointerdown", 9, 9);
                point(item, "pointermove", 90, 9, { buttons: 0 });
                return document.querySelectorAll("[data-lifted]").length;
                """)
            #expect(lifted == 0)
            try await teacher.click(page: 0)
            try await teacher.wait(forPages: "2 [0] 1 3")
            try await teacher.press("ArrowRight", onPage: 0)
            #expect(try await teacher.run("return document.activeElement.dataset.page") == "1")
            try await teacher.press("Enter", onPage: 1)
            try await teacher.wait(forPages: "2 0 [1] 3")

            // The page that is shown goes: its neighbour is seen.
            let ink = try await teacher.digest()
            try await teacher.click("page-remove")
            try await teacher.wait(forPages: "2 0 [3]")
            try await teacher.waitUntilSaved()
            try await student.wait(for: "the pages", "$('page').textContent === 'Page 3 of 3'")
            #expect(try await student.digest() == ink)
            try await teacher.run("location.reload()")
            try await teacher.waitUntilWriting()
            try await teacher.wait(forPages: "2 0 [3]")
            try await teacher.click("page-restore")
            try await teacher.wait(forPages: "2 0 3 [1]")
            try await teacher.press("Delete", onPage: 2)
            try await teacher.wait(forPages: "0 3 [1]")
            try await teacher.click("page-restore")
            try await teacher.wait(forPages: "[2] 0 3 1")
            #expect(try await teacher.inkedPixels() > 1000)
            try await student.wait(for: "the pages", "$('page').textContent === 'Page 1 of 4'")
            #expect(try await student.digest() == ink)
            try await teacher.expectNoComplaints(but: BrowserWindow.isUsual)
        }
    }

    @Test("what a teacher draws and turns without the network is seen at once, and arrives on its page")
    func offline() async throws {
        try await BrowserRoom.withClass { room, teacher, student in
            try await teacher.drawWave(1)
            try await student.wait(forIndex: 1)
            try await teacher.setOffline(true)
            try await teacher.click("page-add")
            try await teacher.wait(forPages: "0 [1]")
            #expect(try await teacher.inkedPixels() == 0)
            try await teacher.drawWave(3)
            let ink = try await teacher.inkedPixels()
            #expect(ink > 1000)
            try await teacher.press("PageUp")
            try await teacher.wait(forPages: "[0] 1")
            #expect(try await teacher.page() == 0)
            // Meanwhile another teacher turns: the ink stays on the page on which it was drawn.
            let ben = try room.author("ben")
            try await ben.send(#"{"n":1,"a":5,"g":7}"#, appliedAt: 2)
            try await teacher.setOffline(false)
            try await teacher.waitUntilSaved()
            try await student.wait(forIndex: 5)
            try await teacher.wait(forPages: "[0] 7 1")
            #expect(try await student.page() == 0)
            try await teacher.click(page: 1)
            try await student.wait(forIndex: 6)
            #expect(try await teacher.inkedPixels() == ink)
            #expect(try await student.digest() == (try await teacher.digest()))
            let picture = try await student.comparison(with: room)
            #expect(picture.inked > 1000 && picture.mean <= 6 && picture.off <= 0.001, "\(picture)")
        }
    }

    @Test(
        "the strip is there on a telephone, on its side, and on a tablet, light and dark, and moves pages under a finger"
    )
    func smallWindows() async throws {
        try await BrowserRoom.withVideo { room, _ in
            let ben = try room.author("ben")
            for page in 0..<9 {
                try await ben.send(
                    #"{"n":\#(page + 1),"g":\#(page),"c":\#(page % 8),"l":12,"d":[{"x":100,"y":\#(80 * page + 50)},{"x":900,"y":400}]}"#
                )
            }
            try await ben.send(#"{"n":10,"a":5,"g":4}"#, appliedAt: 10)
            let narrow = BrowserWindow.Size(width: 320, height: 640, scale: 2)
            let side = BrowserWindow.Size(width: 844, height: 390, scale: 2)
            let sizes: [(String, BrowserWindow.Size)] = [
                ("narrow", narrow), ("side", side), ("phone", .phone), ("tablet", .tablet), ("desktop", .desktop),
            ]
            var order = "0 1 2 3 [4] 5 6 7 8"
            for (name, size) in sizes {
                let window = try await BrowserWindow(
                    size, isDark: name == "phone" || name == "desktop", at: "\(room.page)/teach?author=\(name)")
                try await window.waitUntilWriting()
                try await window.wait(forPages: order)
                try await window.wait(for: "a picture", "document.querySelector(\"[data-page='4'] canvas\").width > 0")
                try await window.keepScreenshot("pages-\(name)")
                #expect(try await window.run("return overflow()") == 0, "\(name)")
                #expect(try await window.run("return small('button, .page-item', 40, 36)") == [], "\(name)")
                if name == "phone" {
                    try await window.click(page: 5)
                    try await window.wait(forPages: "0 1 2 3 4 [5] 6 7 8")
                    try await window.drag(page: 5, before: 4, with: .touch)
                    try await window.wait(forPages: "0 1 2 3 [5] 4 6 7 8")
                    try await window.drag(page: 5, before: 3, with: .touch)
                    try await window.wait(forPages: "0 1 2 [5] 3 4 6 7 8")
                    try await window.click(page: 4)
                    order = "0 1 2 5 3 [4] 6 7 8"
                    try await window.wait(forPages: order)
                }
                let student = try await room.student("", size)
                try await student.keepScreenshot("pages-student-\(name)")
                try await window.close()
                try await student.close()
            }
        }
    }
}

extension BrowserWindow {
    /// Whether an error is that of a room that nobody has written to yet, or one of pictures that a busy machine does not draw in
    /// time.
    static func isUsual(_ complaint: String) -> Bool {
        complaint.contains("/api/rooms/physics -") && complaint.contains("404")
            || complaint.contains("/board.png?") && (complaint.contains("503") || complaint.contains("504"))
    }

    /// Presses a button by its id.
    func click(_ id: String) async throws {
        try await wait(for: "the button \(id)", "!$('\(id)').disabled && !$('\(id)').hidden")
        try await run("$('\(id)').click()")
    }

    private static func item(_ page: Int) -> String { "document.querySelector(\"[role=option][data-page='\(page)']\")" }

    fileprivate func click(page: Int) async throws {
        try await run("\(Self.item(page)).click()")
    }

    /// Presses a key while the focus is on a page of the strip.
    fileprivate func press(_ key: String, alt: Bool = false, onPage page: Int) async throws {
        try await run(
            """
            const item = \(Self.item(page));
            item.focus();
            press(item, "\(key)", { altKey: \(alt) });
            """)
    }

    /// Waits until the strip has these pages, the one that is shown in brackets.
    func wait(forPages pages: String) async throws {
        let shown = """
            [...document.querySelectorAll("[role=option]")].map((item) =>
                item.ariaSelected === "true" ? `[${item.dataset.page}]` : item.dataset.page).join(" ")
            """
        try await wait(for: "pages \(pages)", "\(shown) === '\(pages)'")
    }

    /// The page that the canvas shows.
    func page() async throws -> Int? {
        try await run("return $('board').dataset.page").string.flatMap { Int($0) }
    }

    /// Waits until the time of day in milliseconds is another, and returns it: what follows is later.
    fileprivate func laterTime() async throws -> Int {
        let time = Int(try await run("return Date.now()").double ?? 0) + 20
        try await wait(for: "a later time", "Date.now() > \(time) + 20")
        return time
    }

    /// Counts from now on what is painted on the canvas.
    fileprivate func countPaints() async throws {
        try await run(
            """
            const context = $('board').getContext("2d");
            window.paints = 0;
            for (const name of ["drawImage", "clearRect"]) {
                const own = context[name].bind(context);
                context[name] = (...parts) => (window.paints++, own(...parts));
            }
            """)
    }

    fileprivate func paints() async throws -> Int? { try await run("return window.paints").double.map { Int($0) } }

    /// Drags a page of the strip to the place of another; a finger holds it first.
    fileprivate func drag(page: Int, before other: Int, with pointer: Pointer) async throws {
        let reply = try await run(
            """
            \(Self.item(other)).scrollIntoView({ inline: "center" });
            const centre = (item) => { const box = item.getBoundingClientRect(); return [box.left + box.width / 2, box.top + box.height / 2]; };
            const [from, to] = [\(Self.item(page)), \(Self.item(other))].map(centre);
            // Not yet at the middle of the other one.
            return [...from, to[0] - 20, to[1]];
            """)
        let numbers = try reply.numbers(4)
        let (start, end) = ((x: numbers[0], y: numbers[1]), (x: numbers[2], y: numbers[3]))
        let steps = (1...12).map { step in
            (x: start.x + (end.x - start.x) * Double(step) / 12, y: start.y + (end.y - start.y) * Double(step) / 12)
        }
        try await draw([start] + steps, with: pointer, hold: pointer == .mouse ? 0 : 600)
    }
}
