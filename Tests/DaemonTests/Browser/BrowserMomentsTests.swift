import Foundation
import TestSupport
import Testing

/// The way from ink to the recording: taps on strokes, the table of contents, and the video above a board that fills the screen.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserMomentsTests {
    /// Two strokes and a text on the first page, one stroke on the second, and the first page again.
    private static func write(in room: BrowserRoom) async throws {
        let author = try room.author("anna")
        for text in [
            #"{"n":1,"t":5000,"c":0,"l":8,"d":[{"x":100,"y":200},{"x":900,"y":200}]}"#,
            #"{"n":2,"t":9000,"c":1,"l":8,"d":[{"x":500,"y":100},{"x":500,"y":400}]}"#,
            #"{"n":3,"t":12000,"e":8,"c":0,"l":60,"x":"Text","d":[{"x":100,"y":500},{"x":300,"y":560}]}"#,
            #"{"n":4,"t":20000,"a":5,"g":1}"#,
            #"{"n":5,"t":24000,"g":1,"c":2,"l":8,"d":[{"x":100,"y":300},{"x":900,"y":300}]}"#,
        ] { try await author.send(text) }
        try await author.send(#"{"n":6,"t":30000,"a":5,"g":0}"#, appliedAt: 6)
    }

    @Test(
        "in a replay a tap on a stroke goes to the moment when it was drawn, also while zoomed, and beside it nowhere")
    func replay() async throws {
        try await BrowserRoom.withVideo { room, _ in
            try await Self.write(in: room)
            let window = try await BrowserWindow(at: "\(room.page)?replay")
            try await window.goToEnd(6)
            // Nothing is there.
            try await window.tap(0.9, 0.9)
            #expect(try await window.isTrue("$('moment').hidden"))
            // The time of the slider begins a second before the first operation.
            for (x, y, time) in [(300.0, 200.0, 1000.0), (500, 200, 5000), (200, 530, 8000)] {
                try await window.goToEnd(6)
                try await window.tap(x / 1024, y / 768)
                try await window.wait(for: "the moment", "!$('moment').hidden")
                let place = try await window.sliderTime()
                #expect(abs(place - time) < 20, "\(x) \(y) \(place)")
            }
            try await window.keepScreenshot("moments-tap")
            try await window.goToEnd(6)
            for _ in 0..<2 { try await window.press("+") }
            try await window.wait(for: "a part", "document.querySelector('.lectern-part') !== null")
            let (x, y) = try await window.place(0.5, 0.5)
            // A mouse that moves the page is no tap.
            let (far, down) = try await window.place(500.0 / 1024, 300.0 / 768)
            try await window.draw((0...5).map { (far + 10 * Double($0), down) }, with: .mouse)
            let moved = try await window.place(0.5, 0.5)
            #expect(abs(moved.x - x - 50) < 2 && abs(moved.y - y) < 2, "\(x) \(y) \(moved)")
            let before = try await window.sliderTime()
            let (stroke, height) = try await window.place(500.0 / 1024, 300.0 / 768)
            try await window.draw([(stroke, height)], with: .touch)
            try await window.wait(for: "the moment", "Number($('seek').value) < \(before - 1000)")
            #expect(abs(try await window.sliderTime() - 5000) < 20)
            try await window.expectNoComplaints()
        }
    }

    @Test func `the pages of a replay are listed with their times, and a tap goes there`() async throws {
        try await BrowserRoom.withVideo { room, _ in
            try await Self.write(in: room)
            for (size, isDark) in [(BrowserWindow.Size.desktop, false), (.phone, true)] {
                let window = try await BrowserWindow(size, isDark: isDark, at: "\(room.page)?replay")
                try await window.goToEnd(6)
                try await window.clickInSight(of: "#contents-button")
                try await window.wait(
                    for: "the list", "document.querySelectorAll('#contents-list button').length === 3")
                let words = try await window.run(
                    """
                    return [...document.querySelectorAll("#contents-list button")].map((button) =>
                        button.getAttribute("aria-label") ?? [...button.children].map((part) => part.textContent).join(" "));
                    """)
                #expect(words == ["Page 1 00:05", "Page 1 again, 00:30", "Page 2 00:20"])
                try await window.expectNoFindings("contents")
                try await window.keepScreenshot("moments-contents-\(size.width)")
                try await window.clickInSight(of: "#contents-list li:last-child button")
                try await window.wait(for: "the second page", "$('board').dataset.page === '1'")
                #expect(abs(try await window.sliderTime() - 16_100) < 20)
                #expect(try await window.run("return $('contents').open") == false)
                try await window.press("c")
                try await window.wait(
                    for: "the list", "document.activeElement?.getAttribute('aria-current') === 'page'")
                try await window.run("$('contents-close').click()")
                try await window.expectNoComplaints()
            }
        }
    }

    @Test(
        "beside a recording a tap winds the video, and the list of pages shows its page; what the video lacks is said")
    func video() async throws {
        try await BrowserRoom.withVideo { room, _ in
            try await Self.write(in: room)
            let student = try await room.student("?video=none.webm&offset=4000")
            // A minute of silence is enough of a video.
            try await student.run(
                """
                const [rate, seconds] = [8000, 60];
                const file = new DataView(new ArrayBuffer(44 + rate * seconds));
                const text = (at, words) => [...words].forEach((letter, place) => file.setUint8(at + place, letter.charCodeAt(0)));
                text(0, "RIFF"), text(8, "WAVEfmt "), text(36, "data");
                for (const [at, number] of [[4, 36 + rate * seconds], [16, 16], [24, rate], [28, rate], [40, rate * seconds]]) file.setUint32(at, number, true);
                for (const [at, number] of [[20, 1], [22, 1], [32, 1], [34, 8]]) file.setUint16(at, number, true);
                for (let at = 44; at < file.byteLength; at++) file.setUint8(at, 128);
                const video = document.getElementById("video");
                video.muted = true;
                video.src = URL.createObjectURL(new Blob([file.buffer], { type: "audio/wav" }));
                await new Promise((done) => video.addEventListener("loadeddata", done, { once: true }));
                video.currentTime = 50;
                await new Promise((done) => video.addEventListener("seeked", done, { once: true }));
                """)
            try await student.wait(forIndex: 6)
            // The board is beside the video then.
            try await student.wait(
                for: "the board",
                "$('waiting').dataset.done === '' && document.querySelector('#stage.has-video')"
            )
            try await student.run("await nextFrames()")
            // The board may move while the page says what waits, so that a tap misses the stroke.
            try await eventually("the moment", every: .milliseconds(200)) {
                try await student.tap(300.0 / 1024, 200.0 / 768)
                let isThere = "return Math.abs($('video').currentTime - 1) < 0.05"
                return try await student.run(isThere) == true ? () : nil
            }
            try await student.clickInSight(of: "#contents-button")
            try await student.wait(for: "the list", "document.querySelectorAll('#contents-list button').length === 2")
            try await student.keepScreenshot("moments-video")
            try await student.clickInSight(of: "#contents-list li:last-child button")
            try await student.wait(for: "the second page", "$('board').dataset.page === '1'")
            // Its first stroke is at 24 s.
            try await student.wait(for: "its time", "Math.abs($('video').currentTime - 20.1) < 0.05")
            try await student.clickInSight(of: "#live")
            try await student.wait(for: "the class", "$('board').dataset.page === '0'")
            // What the video does not have is said.
            try await room.author("ben").send(
                #"{"n":1,"t":500000,"c":2,"l":8,"d":[{"x":100,"y":650},{"x":900,"y":650}]}"#, appliedAt: 7)
            try await student.open("\(room.page)?video=none.webm")
            try await student.wait(forIndex: 7)
            try await student.tap(300.0 / 1024, 650.0 / 768)
            try await student.wait(for: "the words", "$('moment').textContent === 'This video cannot be wound.'")
        }
    }

    @Test("in full screen the video floats above the board, is moved by hand and by keys, and keeps its corner")
    func floating() async throws {
        try await BrowserRoom.with(strokes: 5) { room, _ in
            let student = try await room.student("?demo=2")
            try await student.wait(forIndex: 5)
            try await student.clickInSight(of: "#full")
            try await student.wait(
                for: "full screen", "document.fullscreenElement && $('stage').classList.contains('floats')")
            try await student.expectFloating("bottom-right")
            try await student.keepScreenshot("floating-desktop")
            // By hand, to the nearest corner.
            let box = try await student.box(of: "$('video-move')")
            let handle = [box[0] + box[2] / 2, box[1] + box[3] / 2]
            try await student.draw(
                (0...10).map {
                    (handle[0] + (200 - handle[0]) * Double($0) / 10, handle[1] + (90 - handle[1]) * Double($0) / 10)
                }, with: .mouse)
            try await student.expectFloating("top-left")
            for (key, corner) in [
                ("ArrowRight", "top-right"), ("ArrowDown", "bottom-right"), ("ArrowLeft", "bottom-left"),
                ("ArrowUp", "top-left"),
            ] {
                try await student.run("press($('video-move'), '\(key)')")
                try await student.expectFloating(corner)
            }
            #expect(
                try await student.run(
                    "return $('video-move').ariaLabel ?? $('video-move').getAttribute('aria-label')"
                ) == "Move the video. The video is at the top left")
            // Notes are written beside it.
            try await student.press("n")
            try await student.expectFloating("top-left")
            try await student.expectNoFindings("floating")
            try await student.run("await document.exitFullscreen()")
            try await student.wait(for: "the page", "!$('stage').classList.contains('floats')")
            #expect(try await student.isTrue("$('video-move').hidden"))
            try await student.expectNoComplaints()
        }
    }

    @Test("where a browser gives the screen to videos alone, the board fills the window, with the video in its corner")
    func filling() async throws {
        try await BrowserRoom.with(strokes: 5) { room, _ in
            for (size, isDark) in [
                (BrowserWindow.Size(width: 390, height: 844), false), (.init(width: 844, height: 390), true),
            ] {
                let student = try await BrowserWindow(size, isDark: isDark)
                try await student.runFirst(
                    "Object.defineProperty(Document.prototype, \"fullscreenEnabled\", { get: () => false });")
                try await student.open("\(room.page)?demo=2")
                try await student.wait(forIndex: 5)
                try await student.run("localStorage.setItem(\"lectern-video-corner\", \"top-right\")")
                try await student.open("\(room.page)?demo=2")
                try await student.wait(forIndex: 5)
                try await student.clickInSight(of: "#full")
                try await student.expectFloating("top-right")
                try await student.expectNoFindings("filling")
                try await student.keepScreenshot("floating-\(size.width)")
                // What is opened and said above the stage is within reach, and the focus stays there.
                #expect(
                    try await student.run(
                        "return ['contents', 'news', 'view'].map((id) => document.getElementById(id).closest('[inert]') !== null)"
                    ) == [false, false, true])
                try await student.press("n")
                try await student.clickInSight(of: "#notes-done")
                #expect(try await student.run("return document.activeElement.id") == "full-end")
                try await student.clickInSight(of: "#full-end")
                try await student.wait(for: "the page", "!$('stage').classList.contains('fills')")
                #expect(try await student.run("return document.activeElement.id") == "full")
                try await student.expectNoComplaints()
            }
        }
    }
}

extension BrowserWindow {
    /// Goes to the end of a lesson of so many operations.
    fileprivate func goToEnd(_ index: Int) async throws {
        try await wait(for: "the lesson", "!$('seek').disabled")
        try await press("End")
        try await wait(forIndex: index)
        try await run("await nextFrames()")
    }

    /// The place of the slider in milliseconds.
    fileprivate func sliderTime() async throws -> Double {
        try await run(
            """
            await nextFrames();
            return Number($('seek').value);
            """
        ).double ?? .nan
    }

    /// The video is in a corner of the stage, small, and inside of it; the board is as large as it can be.
    fileprivate func expectFloating(_ corner: String) async throws {
        let seen = try await run(
            """
            await nextFrames();
            const [side, stage, board] = ["video-side", "stage", "board"].map((id) => document.getElementById(id).getBoundingClientRect());
            const right = side.left + side.right > stage.left + stage.right;
            const bottom = side.top + side.bottom > stage.top + stage.bottom;
            const isInside = side.left >= stage.left && side.right <= stage.right && side.top >= stage.top && side.bottom <= stage.bottom;
            const isLarge = Math.min(stage.width - board.width, stage.height - board.height) <= 70;
            return [`${bottom ? "bottom" : "top"}-${right ? "right" : "left"}`, isInside, side.width <= 400, isLarge];
            """)
        #expect(seen == [.string(corner), true, true, true], "\(seen)")
    }
}
