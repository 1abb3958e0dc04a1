import Foundation
import TestSupport
import Testing

/// Pages behind an nginx that serves the gateway below a path of its own.
@Suite(
    .timeLimit(.minutes(5)), .endsProcesses,
    .enabled(if: BrowserWindow.runsAll && PathProxy.isInstalled, "make browser runs it, with Debian's nginx"))
struct BrowserPathTests {
    @Test(
        "below a path all pages work, with tokens and without, and a page of another origin has the board from there",
        arguments: [("/board/", true), ("/a/b/", false)])
    func pages(path: String, hasTokens: Bool) async throws {
        let secret = try TokenSecret()
        let port = try FreePort.find()
        let settings = ["http.base_path=\(path)", "http.allowed_origins=http://localhost:\(port)"]
        try await BrowserRoom.with(settings + (hasTokens ? secret.settings : [])) { room, _ in
            let site = try await PathProxy(path, port: port, to: room.listener)
            func token(_ arguments: String...) async throws -> String {
                hasTokens ? try await secret.token(arguments) : ""
            }
            let page = "\(site.address)rooms/\(room.name)"
            try await room.publish(1)
            try room.stopVideo()

            let teacher = try await BrowserWindow()
            let asTeacher = try await token("--room", room.name, "--role", "teacher", "--author", "anna")
            try await teacher.open(
                writingAt: hasTokens ? "\(page)/teach#token=\(asTeacher)" : "\(page)/teach?author=anna")
            try await teacher.drawWave(1, saved: 2)
            let link = "$('student-link')"
            #expect(try await teacher.run("return \(link).href") == .string(page))
            try await teacher.expectAllBelow(site)

            let student = try await BrowserWindow()
            let asStudent = try await token("--room", room.name, "--role", "student", "--cohort", "main")
            // A slash too many leads to the page all the same.
            try await student.open("\(page)/" + (hasTokens ? "#token=\(asStudent)" : ""))
            #expect(try await student.run("return location.href") == .string(page))
            try room.playVideo()
            try await student.wait(forIndex: 2)
            #expect(try await student.inkedPixels() > 1000)
            #expect(try await student.digest() == (try await teacher.digest()))
            // What a link loads comes with the session's cookie.
            let save = try await student.run("return (await fetch($('save-png').href)).status")
            #expect(save == 200)
            try await student.expectAllBelow(site)
            try await student.run("$('other').click()")
            try await student.wait(for: "the replay", "document.title.startsWith('Replay')")
            try await student.wait(forIndex: 1)
            try await student.expectAllBelow(site)

            let operators = try await token("--role", "operator")
            try await student.open("\(site.address)monitor" + (hasTokens ? "#token=\(operators)" : ""))
            try await student.wait(for: "the picture", "document.querySelector('.thumb')?.naturalWidth > 0")
            try await student.wait(for: "the metrics", "$('requests-note').textContent.includes('rejected')")
            try await student.expectAllBelow(site)
            try await student.open("\(page)/clock")
            try await student.wait(for: "the form", "!$('choose').hidden")
            try await student.expectAllBelow(site)
            try await student.run("document.querySelector('.mark').click()")
            try await student.wait(for: "the picture", "document.querySelector('.thumb')?.naturalWidth > 0")
            #expect(try await student.run("return location.href") == .string(site.address))
            try await student.expectAllBelow(site)
            try await student.run(
                """
                $('name').value = "\(room.name)";
                document.querySelector("#enter [value=follow]").click();
                """)
            try await student.wait(for: "the student's page", "location.href === '\(page)'")
            try await student.wait(forIndex: 2)

            // `localhost` is another origin than 127.0.0.1.
            try await student.open("http://localhost:\(port)\(path)healthz")
            try await student.run(
                """
                const { Board, Gateway } = await import("\(site.address)lectern.js");
                window.home = new Gateway().url;
                window.board = new Board(newCanvas("400px"), { room: "\(room.name)", token: "\(asStudent)" || undefined });
                """)
            try await student.wait(for: "the board", "board.index === 2")
            #expect(try await student.run("return home") == .string(site.address))
            // An address without a slash at its end is the same.
            let url = String(site.address.dropLast())
            let given = "new (await import(\"\(site.address)lectern.js\")).Gateway({ url: \"\(url)\" }).url"
            #expect(try await student.run("return \(given)") == .string(site.address))
        }
    }

    @Test("a board keeps names and times apart from those of other boards of its origin, and shares a person's choices")
    func names() async throws {
        let port = try FreePort.find()
        try await BrowserRoom.with(["http.base_path=/board/"]) { room, _ in
            let site = try await PathProxy("/board/", port: port, to: room.listener)
            let teacher = try await BrowserWindow(at: "\(site.address)healthz")
            try await teacher.run(
                """
                const kept = { name: "Ben", "time-kind \(room.name)": "since-start", fingers: "off" };
                for (const [name, value] of Object.entries(kept)) localStorage.setItem(`lectern-${name}`, value);
                """)
            try await teacher.open("\(site.address)rooms/\(room.name)/teach")
            try await teacher.wait(for: "the question", "$('name-dialog').open")
            try await teacher.run("$('name').value = 'Anna'; document.querySelector('#name-form button').click()")
            try await teacher.waitUntilWriting()
            let seen = "[$('author').textContent, $('time-kind').value, $('fingers').getAttribute('aria-pressed')]"
            #expect(try await teacher.run("return \(seen)") == ["Anna", "auto", "false"])
            #expect(try await teacher.run("return localStorage.getItem('lectern-name')") == "Ben")
            try await teacher.open("\(site.address)rooms/\(room.name)/teach")
            try await teacher.waitUntilWriting()
            #expect(try await teacher.run("return \(seen)") == ["Anna", "auto", "false"])
        }
    }
}

extension BrowserWindow {
    /// Expects that the page has asked for nothing but what lies below a path, and that all of it was there.
    fileprivate func expectAllBelow(
        _ site: PathProxy, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let foreign = try await run(
            """
            return performance.getEntriesByType("resource").map(({ name }) => name)
                .filter((name) => !name.startsWith("\(site.address)") && !/^(data|blob):/.test(name));
            """)
        #expect(foreign == [], sourceLocation: sourceLocation)
        try await expectNoComplaints(sourceLocation: sourceLocation)
    }
}
