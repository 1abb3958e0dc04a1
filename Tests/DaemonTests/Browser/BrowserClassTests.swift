// The pages in Chromium, driven over WebDriver. A test opens a `BrowserRoom` with the windows of teachers and students, is the
// room's video itself, draws with real pointers, and reads pixels and states back. Pictures are kept in `.build/browser`.
// The first suite here runs with all tests where there is a browser, the others by `make browser`.

import Foundation
import NATSTestServer
import TestSupport
import Testing

/// One class in two browsers: the short test of the pages.
@Suite(
    .timeLimit(.minutes(5)), .endsProcesses,
    .enabled(if: BrowserWindow.isInstalled, "needs Debian's chromium and chromium-driver"))
struct BrowserSmokeTests {
    @Test("a student sees what a teacher draws when the video has passed it, as on the server's picture")
    func inStep() async throws {
        try await BrowserRoom.with { room, _ in
            try room.stopVideo()
            let teacher = try await room.teacher()
            let student = try await room.student()
            try await teacher.drawWave(1)
            try await teacher.press("2")
            try await teacher.drawWave(3, with: .mouse)
            try await teacher.press("r")
            try await teacher.drawWave(5, saved: 3)
            #expect(try await teacher.inkedPixels() > 1000)
            // The video is not there yet.
            #expect(try await student.inkedPixels() == 0)
            try room.playVideo()
            try await student.wait(forIndex: 3)
            #expect(try await student.inkedPixels() > 1000)
            #expect(try await student.digest() == (try await teacher.digest()))
            let difference = try await student.comparison(with: room)
            #expect(difference.inked > 1000 && difference.mean <= 6 && difference.off <= 0.001, "\(difference)")
            try await student.expectNoComplaints()
            try await teacher.keepScreenshot("class-teacher")
            try await student.keepScreenshot("class-student")
        }
    }
}

/// Classes in browsers, with all that may go wrong.
@Suite(.timeLimit(.minutes(10)), .endsProcesses, .inBrowsers) struct BrowserClassTests {
    @Test("undo, redo, clear and the eraser come to the student as to the teacher, and to one who joins late")
    func commands() async throws {
        try await BrowserRoom.withClass { room, teacher, student in
            for place in 1...3 { try await teacher.drawWave(place) }
            try await student.wait(forIndex: 3)
            let three = try await student.inkedPixels()
            try await teacher.press("z", control: true)
            try await student.wait(forIndex: 4)
            let two = try await student.inkedPixels()
            #expect(two < three)
            try await teacher.press("z", control: true, shift: true)
            try await student.wait(forIndex: 5)
            #expect(try await student.inkedPixels() == three)
            try await teacher.press("e")
            try await teacher.drawWave(2)
            try await student.wait(forIndex: 6)
            #expect(try await student.inkedPixels() < three)

            let late = try await room.student()
            #expect(try await late.digest() == (try await teacher.digest()))
            #expect(try await late.inkedPixels() == (try await student.inkedPixels()))
            let difference = try await late.comparison(with: room)
            #expect(difference.mean <= 6 && difference.off <= 0.001, "\(difference)")

            // A clear is taken back as it was given: without a question.
            let erased = try await student.inkedPixels()
            try await teacher.run("$('clear').click()")
            try await student.wait(forIndex: 7)
            #expect(try await student.inkedPixels() == 0)
            #expect(try await student.digest() == "0000000000000000")
            try await teacher.wait(for: "undo", "!$('undo').disabled")
            try await teacher.wait(for: "nothing to clear", "$('clear').disabled")
            try await teacher.press("z", control: true)
            try await student.wait(forIndex: 8)
            #expect(try await student.inkedPixels() == erased)
            #expect(try await student.digest() == (try await late.digest()))
            try await teacher.wait(for: "redo", "!$('redo').disabled")
        }
    }

    @Test func `where a clear is final, the page asks before it clears`() async throws {
        try await BrowserRoom.withTeacher(["history.clear=final"]) { room, teacher in
            try await teacher.drawWave(1, index: 1)
            try await teacher.run("$('clear').click()")
            try await teacher.wait(for: "the question", "$('clear-dialog').open")
            try await teacher.run("document.querySelector('#clear-dialog [value=clear]').click()")
            try await teacher.wait(forIndex: 2)
            #expect(try await teacher.inkedPixels() == 0)
            try await teacher.wait(for: "nothing to undo", "$('undo').disabled")
            // Escape gives no answer, also where there was one before.
            try await teacher.drawWave(1, index: 3)
            try await teacher.run("$('clear').click()")
            try await teacher.wait(for: "the question", "$('clear-dialog').open")
            try await teacher.run("$('clear-dialog').close(); await nextFrames()")
            try await teacher.drawWave(2, index: 4)
            #expect(try await room.visible().count == 2)
        }
    }

    @Test("kills of the daemon and of NATS are sat through by both pages, and nothing drawn is lost")
    func kills() async throws {
        try await BrowserRoom.withVideo { room, daemon in
            let teacher = try await room.teacher()
            let student = try await room.student()
            try await teacher.drawWave(1)
            try await student.wait(forIndex: 1)

            await daemon.kill()
            try await teacher.drawWave(2)
            _ = try await DaemonProcess.serving("a", nats: room.nats.url, http: room.listener)
            try room.playVideo()
            try await teacher.wait(forIndex: 2)
            try await student.wait(forIndex: 2)

            await room.nats.kill()
            try await teacher.drawWave(3)
            try await room.nats.restart()
            try await eventually("the video is heard") { () -> Void? in
                try room.playVideo()
                return try await student.isTrue("Number($('board').dataset.index) >= 3") ? () : nil
            }
            try await teacher.waitUntilSaved()
            try await teacher.wait(forIndex: 3)
            #expect(try await student.digest() == (try await teacher.digest()))
            #expect(try await student.inkedPixels() > 1000)
        }
    }

    @Test("a name in any script is shown as it was typed, live and in the replay, and is an author of its own")
    func names() async throws {
        try await BrowserRoom.withVideo { room, _ in
            let names = ["王老师", "Анна", "محمد", "<i>Zoë</i> & \"co\"", "李老师"]
            let student = try await room.student()
            let form = "document.querySelector('#name-form button').click()"
            for (place, name) in names.enumerated() {
                let teacher = try await BrowserWindow(at: "\(room.page)/teach")
                try await teacher.wait(for: "the question", "$('name-dialog').open")
                for bad in ["   ", "a\u{202e}b", "a\u{7}b", String(repeating: "名", count: 65)] where place == 0 {
                    try await teacher.run("$('name').value = args[0]; \(form)", [.string(bad)])
                    #expect(try await teacher.isTrue("$('name-dialog').open"), "\(bad)")
                    try await teacher.run("$('name').dispatchEvent(new Event('input'))")
                }
                try await teacher.run("$('name').value = args[0]; \(form)", [.string(name)])
                try await teacher.waitUntilWriting()
                try await teacher.drawWave(place + 1)
                try await student.wait(forIndex: place + 1)
                #expect(try await student.text(of: "$('writer-name')") == name)
                #expect(try await teacher.text(of: "$('author')") == name)
                guard place == names.count - 1 else {
                    try await teacher.close()
                    continue
                }
                // Each of the others is another author; who joins late knows them by their strokes.
                let list = "[...document.querySelectorAll('.author-name')].map((one) => one.textContent)"
                try await teacher.wait(for: "the others", "\(list).length === \(names.count - 1)")
                let shown = try await teacher.run("return \(list).sort()")
                #expect(
                    shown
                        == .array(
                            names.dropLast().sorted { $0.utf16.lexicographicallyPrecedes($1.utf16) }.map(AnyJSON.string)
                        ))
            }
            try await student.open("\(room.page)?replay")
            try await student.wait(forIndex: names.count)
            #expect(try await student.text(of: "$('writer-name')") == names.last)
            #expect(try await student.run("return document.querySelectorAll('#writer i').length") == 0)
        }
    }

    @Test("a page of another origin loads the library, follows and draws where its origin is allowed, and nowhere else")
    func otherOrigin() async throws {
        try await BrowserRoom.with { room, daemon in
            let port = room.address.split(separator: ":").last ?? ""
            let script = """
                const { Teacher } = await import("\(room.address)/lectern.js");
                const canvas = document.createElement("canvas");
                canvas.style.cssText = "width: 800px; touch-action: none";
                canvas.id = "board";
                document.body.replaceChildren(canvas);
                window.own = new Teacher(canvas, { room: "\(room.name)", author: "anna" });
                own.board.addEventListener("connection", ({ detail }) => (window.connection = detail));
                own.board.addEventListener("index", ({ detail }) => (canvas.dataset.index = detail.index));
                """
            let window = try await BrowserWindow()
            // The same machine under another name.
            try await window.open("http://localhost:\(port)/healthz")
            try await window.run(script)
            try await window.wait(for: "no way in", "window.connection?.state === 'waiting'")

            await daemon.kill()
            _ = try await DaemonProcess.serving(
                "a", nats: room.nats.url, http: room.listener, ["http.allowed_origins=http://localhost:\(port)"])
            try await window.open("http://localhost:\(port)/healthz")
            try await window.run(script)
            try await window.wait(for: "the pen", "own.state === 'writer' && window.connection?.state === 'live'")
            try await window.drawWave(1, index: 1)
            try await window.wait(for: "an answer", "own.waiting === 0")
        }
    }

    @Test func `in the demo one can draw, and its class goes on until a signal ends it`() async throws {
        let folder = try TestFiles.url("demo")
        let demo = try LecternProcess(["demo", "--speed", "50", "--latency", "1s", "--output", folder.path, "--keep"])
        try await demo.waitForLog("teacher    http")
        let address = try #require(demo.log.firstMatch(of: /teacher    (http\S+)/)).1
        try await demo.waitForLog("The class goes on")
        let teacher = try await BrowserWindow(writingAt: address + "&author=guest")
        let student = try await BrowserWindow(at: String(address.prefix { $0 != "?" }).replacing("/teach", with: ""))
        try await student.wait(forIndex: 110)
        try await teacher.drawWave(9, index: 111)
        try await student.wait(forIndex: 111)
        #expect(try await student.digest() == (try await teacher.digest()))
        try await student.keepScreenshot("demo-student")
        demo.send(SIGINT)
        #expect(await demo.exitCode() == 0, "\(demo.log)")
    }

    @Test func `every page keeps its pictures, on a telephone, a tablet and a desk, light and dark`() async throws {
        try await BrowserRoom.with(strokes: 40) { room, _ in
            let sizes: [(String, BrowserWindow.Size)] = [("phone", .phone), ("tablet", .tablet), ("desktop", .desktop)]
            for (name, size) in sizes {
                for isDark in [false, true] {
                    let window = try await BrowserWindow(size, isDark: isDark)
                    let pages = [
                        "start": "/", "monitor": "/monitor", "student": "/rooms/\(room.name)",
                        "replay": "/rooms/\(room.name)?replay",
                        "demo": "/rooms/\(room.name)?demo=2", "teacher": "/rooms/\(room.name)/teach?author=anna",
                    ]
                    for (page, path) in pages {
                        try await window.open(room.address + path)
                        try await window.wait(
                            for: "the page", "document.querySelector('.status:not([data-tone=wait])')")
                        try await window.wait(
                            for: "the board", "!$('waiting') || getComputedStyle($('waiting')).opacity === '0'")
                        try await window.keepScreenshot("\(page)-\(name)\(isDark ? "-dark" : "")")
                        // Nothing reaches beyond the sides of the window, however long names and words are.
                        try await window.run(
                            """
                            const set = (id, text) => { const found = document.getElementById(id); if (found) found.textContent = text; };
                            $('writer')?.removeAttribute("hidden");
                            for (const id of ["writer-name", "author", "room", "cohort"]) set(id, "n".repeat(64));
                            for (const id of ["saved", "connection"]) set(id, "Offline, 12 strokes kept here");
                            """)
                        #expect(try await window.run("return overflow()") == 0, "\(page) \(name)")
                        // A finger hits every button.
                        #expect(try await window.run("return small('button, .button')") == [], "\(page) \(name)")
                    }
                    try await window.close()
                }
            }
        }
    }
}
