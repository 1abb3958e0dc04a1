import Foundation
import TestSupport
import Testing

/// Pages that are opened by a link with a token.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserTokenTests {
    @Test func `a link with a token lets everybody into what is theirs, and no further`() async throws {
        let secret = try TokenSecret()
        try await BrowserRoom.with(secret.settings) { room, _ in
            try room.playVideo("hls")
            let page = room.page
            let teacher = try await BrowserWindow()
            try await teacher.open(
                "\(page)/teach#token=\(try await secret.token(["--room", room.name, "--role", "teacher", "--author", "anna"]))"
            )
            try await teacher.waitUntilWriting()
            #expect(try await teacher.run("return location.href") == "\(page)/teach")
            #expect(try await teacher.text(of: "$('author')") == "anna")
            try await teacher.drawWave(1, saved: 1)

            let student = try await BrowserWindow()
            try await student.open(
                "\(page)#token=\(try await secret.token(["--room", room.name, "--role", "student", "--cohort", "hls"]))"
            )
            try await student.wait(forIndex: 1)
            #expect(try await student.run("return location.href") == .string(page))
            // The session is the browser's: a reload needs no link.
            try await student.open(page)
            try await student.wait(forIndex: 1)
            // A student does not teach, and is not asked for a name.
            try await student.open("\(page)/teach")
            try await student.wait(for: "refused", "$('saved').textContent === 'Not allowed in'")
            #expect(try await student.text(of: "$('notice-text')") == "Your link is for watching.")
            #expect(try await student.isTrue("!$('name-dialog').open"))
            try await student.run("$('notice-button').click()")
            try await student.wait(forIndex: 1)
            let stranger = try await BrowserWindow(at: page)
            try await stranger.wait(for: "refused", "$('connection').textContent === 'Not allowed in'")
            let words = try await stranger.text(of: "$('waiting')")
            #expect(words == "This board opens with the link that you were given.")
            try await stranger.wait(for: "the cover", "getComputedStyle($('waiting')).opacity === '1'")
            try await stranger.keepScreenshot("refused-student")
            try await stranger.open("\(page)#token=nonsense")
            try await stranger.wait(for: "the notice", "!$('notice').hidden")
            #expect(try await stranger.run("return location.href") == .string(page))

            let operators = try await secret.token(["--role", "operator"])
            try await stranger.open("\(room.address)/monitor#token=\(operators)")
            try await stranger.wait(
                for: "the room", "document.querySelector('.room-name')?.textContent === '\(room.name)'")
        }
    }

    @Test("a link is opened once the server can be reached, also by a browser that keeps nothing and has a wrong clock")
    func unreachable() async throws {
        let secret = try TokenSecret()
        try await BrowserRoom.withVideo(secret.settings) { room, _ in
            let teacher = try await BrowserWindow()
            try await teacher.runFirst(
                """
                Object.defineProperty(window, "localStorage", { get() { throw new DOMException("blocked", "SecurityError"); } });
                const time = Date.now;
                Date.now = () => time() + 30 * 86_400_000;
                const plain = window.fetch;
                window.failures = 0;
                window.fetch = (address, ...rest) => {
                    const isLost = String(address).endsWith("/api/session") && ++failures <= 2;
                    return isLost ? Promise.reject(new TypeError("Failed to fetch")) : plain(address, ...rest);
                };
                """)
            let token = try await secret.token(["--room", room.name, "--role", "teacher", "--author", "anna"])
            try await teacher.open(writingAt: "\(room.page)/teach#token=\(token)")
            #expect(try await teacher.run("return failures") == 3)
            #expect(try await teacher.text(of: "$('author')") == "anna")
            #expect(try await teacher.run("return location.href") == "\(room.page)/teach")
            try await teacher.drawWave(1, saved: 1)
        }
    }

    @Test("pages that are open when the key of tokens is changed ask for a new link, and go on with it")
    func keyChange() async throws {
        let secret = try TokenSecret()
        try await BrowserRoom.withVideo(secret.settings) { room, daemon in
            let page = room.page
            let asTeacher = ["--room", room.name, "--role", "teacher", "--author", "anna"]
            let asStudent = ["--room", room.name, "--role", "student", "--cohort", "main"]
            let old = "\(page)/teach#token=\(try await secret.token(asTeacher))"
            let teacher = try await BrowserWindow(isDark: true, at: old)
            try await teacher.waitUntilWriting()
            try await teacher.drawWave(1)
            try await teacher.waitUntilSaved()
            let student = try await BrowserWindow(at: "\(page)#token=\(try await secret.token(asStudent))")
            try await student.wait(forIndex: 1)
            try await student.wait(for: "the video", "$('step-words').textContent.startsWith('Ink comes')")

            try secret.change("another secret of 32 bytes or more, here it is")
            daemon.reload()
            try await student.wait(for: "refused", "$('connection').textContent === 'Not allowed in'")
            try await teacher.wait(for: "refused", "$('saved').textContent === 'Not allowed in'")
            #expect(try await student.text(of: "$('step-words')") == "Not in step")
            // Another size draws the board anew: it stays covered.
            try await student.run("$('sheet').style.width = '600px'")
            try await student.wait(for: "another size", "$('board').width === 600")
            for window in [student, teacher] {
                let words = try await window.text(of: "$('waiting')")
                #expect(words.contains("no longer counts") && words.contains("Open a new link"), "\(words)")
                try await window.wait(for: "the cover", "getComputedStyle($('waiting')).opacity === '1'")
            }
            try await student.keepScreenshot("key-changed-student")
            try await teacher.keepScreenshot("key-changed-teacher")
            try await teacher.press("z", control: true)
            try await teacher.wait(
                for: "a kept undo",
                "$('saved').textContent === 'Not allowed in, 1 stroke kept here'")
            // The link is dead after a reload, too.
            try await student.open(page)
            try await student.wait(for: "a new link", "$('waiting').textContent.includes('Open a new link')")
            #expect(try await student.text(of: "$('step-words')") == "Not in step")

            // Nor does it ask in another browser who teaches.
            let other = try await BrowserWindow(at: old)
            try await other.wait(for: "the words", "$('notice').textContent.includes('no longer counts')")
            try await other.wait(for: "refused", "$('saved').textContent === 'Not allowed in'")
            #expect(try await other.run("return $('name-dialog').open") == false)

            // As by a new link in another tab.
            let links = [(student, try await secret.token(asStudent)), (teacher, try await secret.token(asTeacher))]
            for (window, token) in links {
                try await window.run(
                    """
                    await fetch("/api/session", { method: "POST", body: "\(token)" });
                    dispatchEvent(new Event("online"));
                    """)
            }
            try await teacher.waitUntilSaved()
            try await teacher.waitUntilWriting()
            try await student.wait(forIndex: 2)
            #expect(try await student.text(of: "$('connection')") == "Connected")
            try await student.wait(for: "the video", "$('step-words').textContent.startsWith('Ink comes')")
            try await student.wait(for: "the board", "getComputedStyle($('waiting')).opacity === '0'")
        }
    }
}
