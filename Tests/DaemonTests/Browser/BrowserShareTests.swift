import Foundation
import NATSClient
import TestSupport
import Testing

/// A class is begun, and its link goes to students.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserShareTests {
    private static let url = "$('share-url').value"

    /// What zbarimg, a reader of QR codes, reads from a picture.
    private static func read(_ path: String) async throws -> String {
        let output = try TestFiles.path("code.txt")
        let process = try ChildProcess(
            "/usr/bin/env", arguments: ["zbarimg", "--raw", "-q", "--nodbus", "-Sdisable", "-Sqrcode.enable", path],
            log: output)
        _ = await process.exitCode(within: .hangLimit)
        let text = try String(contentsOfFile: output, encoding: .utf8)
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    @Test("one button begins a class in a room that nobody guesses, and shows the link for its students")
    func start() async throws {
        try await BrowserRoom.with { room, _ in
            let teacher = try await BrowserWindow(at: "\(room.address)/")
            try await teacher.wait(for: "the button", "$('start').href")
            try await teacher.run("$('start').click()")
            try await teacher.wait(for: "the question", "$('name-dialog')?.open")
            try await teacher.run("$('name').value = 'Anna'; document.querySelector('#name-form button').click()")
            try await teacher.wait(for: "the link", "\(Self.url) !== \"\"")
            try await teacher.run(
                """
                for (const [id, value] of [["share-cohort", "hls"], ["share-video", "https://v.example/a.m3u8?x=1&y=2"]]) {
                    set($(id), value);
                }
                """)
            try await teacher.wait(for: "all of it", "\(Self.url).includes(\"hls\") && \(Self.url).includes(\"video\")")
            let link = try await teacher.string(Self.url)
            let parts = try #require(URLComponents(string: link))
            #expect(parts.path.contains(/^\/rooms\/class-[a-z0-9]{20}$/))
            #expect(parts.queryItems?.first { $0.name == "cohort" }?.value == "hls")
            #expect(parts.queryItems?.first { $0.name == "video" }?.value == "https://v.example/a.m3u8?x=1&y=2")
            #expect(try await teacher.run("return document.querySelectorAll('#share-code svg').length") == 1)
            #expect(try await teacher.text(of: "$('share-words')").hasPrefix("This link works on this machine alone."))
            try await teacher.keepScreenshot("share")
            if InstalledProgram("zbarimg") != nil {
                let picture = PackageRoot.path(to: ".build/browser/share.png")
                #expect(try await Self.read(picture) == link)
            }
            try await teacher.run("$('share-dialog').close()")
            try await teacher.waitUntilWriting()
            try await teacher.drawWave(1, index: 1)

            // Its own browser may teach it again; another one follows alone.
            let links = "[...document.querySelectorAll('.room-links a')].map((link) => link.textContent).join(' ')"
            try await teacher.open("\(room.address)/")
            try await teacher.wait(for: "the room", "document.querySelector('.room')")
            #expect(try await teacher.run("return \(links)") == "Follow Teach Replay")
            let other = try await BrowserWindow(at: "\(room.address)/")
            try await other.wait(for: "the room", "document.querySelector('.room')")
            #expect(try await other.run("return \(links)") == "Follow Replay")
        }
    }

    @Test func `with tokens a teacher makes links for students of his rooms, and takes them back`() async throws {
        let secret = try TokenSecret()
        try await BrowserRoom.withVideo(secret.settings) { room, _ in
            let page = room.page
            let asTeacher = ["--room", room.name, "--role", "teacher", "--author", "anna"]
            let teacher = try await BrowserWindow(writingAt: "\(page)/teach#token=\(try await secret.token(asTeacher))")
            try await teacher.drawWave(1)
            try await teacher.waitUntilSaved()
            try await teacher.run("$('share-open').click()")
            try await teacher.wait(for: "the link", "\(Self.url).includes(\"#token=\")")
            let link = try await teacher.string(Self.url)
            let student = try await BrowserWindow(at: link)
            try await student.wait(forIndex: 1)
            // It reads, and nothing else.
            let post = """
                const post = async (path, body = "{}") => (await fetch("/api/rooms/\(room.name)/" + path,
                    { method: "POST", headers: { "Content-Type": "application/json" }, body })).status;
                """
            #expect(try await student.run("\(post) return post('links')") == 403)
            #expect(try await student.run("\(post) return post('strokes?author=eve')") == 403)
            #expect(try await student.run("return (await fetch('/api/rooms/\(room.name)/readers')).status") == 403)
            // Terms that no link has, a room of others, and what is no link.
            #expect(try await teacher.run("\(post) return post('links', JSON.stringify({ expires: 5 }))") == 400)
            #expect(try await teacher.run("\(post) return post('links', JSON.stringify({ cohort: 'open' }))") == 400)
            for id in ["link.other.zzzzzz.abc", "jti", "link.\(room.name).x"] {
                let status = try await teacher.run(
                    "return (await fetch('/api/rooms/\(room.name)/links/\(id)', { method: 'DELETE' })).status")
                #expect(status == 400, "\(id)")
            }
            try await teacher.run("$('share-revoke').click()")
            try await student.wait(for: "refused", "$('connection').textContent === 'Not allowed in'")
            #expect(try await student.text(of: "$('waiting')").contains("no longer counts"))
            #expect(try await teacher.run("return \(Self.url)") == "")
            // A link that was made before is listed, and can be taken back too.
            for seconds in ["3600", "604800"] {
                try await teacher.run("set($('share-expires'), '\(seconds)', 'change')")
                try await teacher.wait(for: "a link", "\(Self.url).includes('#token=') && \(Self.url) !== window.made")
                try await teacher.run("window.made = \(Self.url)")
                if seconds == "3600" { try await student.open("about:blank") }
                if seconds == "3600", case .string(let link) = try await teacher.run("return \(Self.url)") {
                    try await student.open(link)
                    try await student.wait(forIndex: 1)
                }
            }
            try await teacher.wait(for: "the list", "$('share-made-count').textContent === '1 other link counts'")
            try await teacher.run("$('share-made').open = true; document.querySelector('#share-list button').click()")
            try await student.wait(for: "refused", "$('connection').textContent === 'Not allowed in'")
            #expect(try await teacher.isTrue("$('share-made').hidden"))
            // Of two links that are asked for, the one that is wanted is shown, whichever comes first.
            let links = try await teacher.run(
                """
                const plain = window.fetch;
                let release = null;
                window.fetch = async (...request) => {
                    const reply = await plain(...request);
                    if (!release && String(request[0]).endsWith("/links")) await new Promise((resolve) => (release = resolve));
                    return reply;
                };
                const before = \(Self.url);
                set($('share-expires'), "3600", "change");
                await until(() => release);
                set($('share-expires'), "2592000", "change");
                await until(() => \(Self.url) !== before);
                const wanted = \(Self.url);
                release();
                await until(() => $('share-made-count').textContent === "2 other links count");
                return [wanted, \(Self.url)];
                """
            ).strings
            #expect(links.count == 2 && links[0] == links[1], "\(links)")
            // A student whose own token has a name is listed by it; of a link nobody's is known.
            try await student.open(
                "\(page)#token=\(try await secret.token(["--room", room.name, "--role", "student", "--name", "李雷"]))")
            try await student.wait(forIndex: 1)
            try await teacher.wait(for: "the name", "$('ahead-names').textContent === '李雷'")
        }
    }
}
