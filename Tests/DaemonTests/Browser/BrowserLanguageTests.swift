import Foundation
import TestSupport
import Testing

/// The pages in the reader's language.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserLanguageTests {
    /// The texts of a page, and those that are read, which are English though there is a translation.
    private static let english = """
        const { texts } = await (await fetch("/language.json?language=zh")).json();
        const found = [];
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        for (let node; (node = walker.nextNode()); ) if (!node.parentNode.closest("script, noscript")) found.push(node.data);
        for (const name of ["aria-label", "alt", "placeholder", "title"]) {
            for (const element of document.querySelectorAll(`[${name}]`)) {
                found.push(element.getAttribute(name).replace(/ \\([^()]*\\)$/, ""));
            }
        }
        return found.map((text) => text.trim()).filter((text) => text in texts && texts[text] !== text);
        """

    @Test func `no page says anything in English where Chinese is asked for`() async throws {
        try await BrowserRoom.with(strokes: 3) { room, _ in
            let window = try await BrowserWindow()
            let board = "rooms/\(room.name)"
            for (path, ready) in [
                ("/?", "document.querySelector('.room')"),
                ("/\(board)?", "$('board').dataset.index === '3'"),
                ("/\(board)?demo=2&", "/^[0-9]+:[0-9]+:[0-9]+$/.test($('demo-time').textContent)"),
                ("/\(board)?replay&", "$('length').textContent.length > 3"),
                ("/\(board)/teach?author=anna&", "$('board').dataset.pen === 'on'"),
                ("/\(board)/clock?", "true"), ("/monitor?", "document.querySelector('.room')"), ("/nowhere?", "true"),
            ] {
                try await window.open("\(room.address)\(path)language=zh")
                try await window.wait(for: "the language of \(path)", "document.documentElement.lang === 'zh'")
                try await window.wait(for: path, ready)
                #expect(try await window.run(Self.english) == [], "\(path)")
            }
            try await window.expectNoComplaints { $0.contains("404") }
            // An element in somebody's page.
            try await window.open("\(room.address)/nowhere?language=zh")
            try await window.run(
                """
                await import("/lectern.js");
                document.body.innerHTML = `<lectern-teacher room="\(room.name)" author="bob"></lectern-teacher>`;
                """)
            try await window.wait(
                for: "the tools",
                "document.body.firstChild.shadowRoot.querySelector('#undo')?.getAttribute('aria-label') === '撤销'")
        }
    }

    @Test("what the server refuses is told in the reader's language, by its code where its sentence has no translation")
    func reasons() async throws {
        try await BrowserRoom.with { room, _ in
            let window = try await BrowserWindow()
            func reasons(_ language: String) async throws -> AnyJSON {
                try await window.open("\(room.address)/nowhere?language=\(language)")
                return try await window.run(
                    """
                    const { loading, reasonOf } = await import("/lectern/language.js");
                    await loading;
                    return [
                        reasonOf("muted", "The author anna is muted."), reasonOf("odd", "Nobody knows."),
                        await new (await import("/lectern/gateway.js")).Gateway({ url: location.origin }).json("api/rooms/A")
                            .catch(({ message }) => message),
                    ];
                    """)
            }
            let chinese = "房间名为 1 到 64 个字符：a 到 z、0 到 9、_ 和 -。"
            #expect(try await reasons("zh") == ["您已被禁言。", "Nobody knows.", .string(chinese)])
            let name = "The name of a room is 1 to 64 characters of a to z, 0 to 9, _ and -."
            #expect(try await reasons("en") == ["The author anna is muted.", "Nobody knows.", .string(name)])
        }
    }

    @Test func `a browser that wants English asks for no translation`() async throws {
        try await BrowserRoom.with { room, _ in
            let window = try await BrowserWindow(at: "\(room.page)?language=en-GB")
            try await window.wait(for: "the page", "document.title.startsWith('\(room.name)')")
            let asked =
                "return performance.getEntriesByType('resource').some(({ name }) => name.includes('language.json'))"
            #expect(try await window.run(asked) == false)
            #expect(try await window.run("return document.documentElement.lang") == "en")
        }
    }

    @Test func `a reader chooses a language, which all pages of the browser have until another is chosen`() async throws
    {
        try await BrowserRoom.with(strokes: 3) { room, _ in
            let window = try await BrowserWindow(at: "\(room.page)?language=en")
            func choose(_ name: String, _ language: String) async throws {
                try await window.clickInSight(of: "#language")
                let choice =
                    "[...document.querySelectorAll('.languages button')].find((one) => one.textContent === '\(name)')"
                try await window.wait(for: "the choice of \(name)", choice)
                try await window.expectNoFindings("the languages")
                try await window.keepScreenshot("languages-\(language)")
                try await window.run("\(choice).click()")
                try await window.wait(for: name, "document.documentElement.lang === '\(language)'")
                try await window.wait(for: "the board", "$('waiting').dataset.done === ''")
            }
            try await choose("中文", "zh")
            #expect(try await window.string("location.search") == "")
            try await window.open("\(room.page)/teach?author=anna")
            try await window.wait(for: "Chinese", "document.documentElement.lang === 'zh'")
            // Where all is in English nothing is fetched for it.
            try await window.open(room.page)
            try await choose("English", "en")
            #expect(try await window.text(of: "$('connection')") == "Connected")
            try await window.expectNoComplaints()
        }
    }

    @Test(
        "a language that is written from right to left turns the pages round, and nothing is beside the window",
        arguments: [
            BrowserWindow.Size.desktop, .phone,
        ])
    func rightToLeft(size: BrowserWindow.Size) async throws {
        let folder = try TestFiles.folder("languages")
        let texts = [
            "Undo": "تراجع", "Redo": "إعادة", "Connected": "متصل", "Fetching the board…": "جارٍ جلب اللوحة…",
            "In step with the video": "متزامن مع الفيديو", "All saved": "تم حفظ الكل", "Audience": "الجمهور",
        ]
        let file = try JSONSerialization.data(withJSONObject: ["language": "ar", "direction": "rtl", "texts": texts])
        try file.write(to: folder.appending(path: "ar.json"))
        try await BrowserRoom.with(["http.languages=\(folder.path)"], strokes: 3) { room, _ in
            let window = try await BrowserWindow(size)
            for path in ["?", "?replay&", "/teach?author=anna&"] {
                try await window.open("\(room.page)\(path)language=ar")
                try await window.wait(for: "the direction", "document.documentElement.dir === 'rtl'")
                try await window.wait(for: "the board", "$('waiting').dataset.done === ''")
                #expect(try await window.run("return overflow()") == 0, "\(path)")
                try await window.expectNoFindings("right to left, \(path)")
                try await window.keepScreenshot("right-to-left-\(size.width)-\(path.count)")
            }
            #expect(try await window.run("return $('undo').title") == "تراجع (Ctrl Z)")
            let tools = try await window.run(
                """
                const [tools, stage] = ["#tools", "#stage"].map((name) => document.querySelector(name).getBoundingClientRect());
                return tools.left >= stage.right || tools.top >= stage.bottom || tools.bottom <= stage.top;
                """)
            #expect(tools == true)
            // The right arrow key goes to what is at the right.
            let ways = try await window.run(
                """
                const ways = [];
                const left = () => document.activeElement.getBoundingClientRect().left;
                for (const group of ["#widths", ".colour-grid"]) {
                    if (group === ".colour-grid") document.querySelector("[aria-haspopup=dialog][aria-keyshortcuts=C]").click();
                    const [first, second] = document.querySelectorAll(`${group} button`);
                    for (const target of group === "#widths" ? [first] : []) target.click(), target.focus();
                    const before = left();
                    press(document.activeElement, "ArrowLeft");
                    ways.push(document.activeElement === second && left() < before);
                }
                return ways;
                """)
            #expect(ways == [true, true])
        }
    }

    @Test func `a figure with a sign and a unit reads from left to right in a page from right to left`() async throws {
        let folder = try TestFiles.folder("languages")
        let file = try JSONSerialization.data(withJSONObject: [
            "language": "ar", "direction": "rtl", "texts": [String: String](),
        ])
        try file.write(to: folder.appending(path: "ar.json"))
        try await BrowserRoom.with(["http.languages=\(folder.path)"], strokes: 3) { room, _ in
            let window = try await BrowserWindow(at: "\(room.address)/monitor?language=ar")
            try await window.wait(for: "the figure", "/< [0-9.]+ m?s/.test($('lateness').textContent)")
            let places = try await window.run(
                """
                const text = $("lateness").firstChild;
                const left = (at) => {
                    const range = document.createRange();
                    range.setStart(text, at);
                    range.setEnd(text, at + 1);
                    return range.getBoundingClientRect().left;
                };
                const places = ["<", " ", "s"].map((sign) => left(text.data.indexOf(sign)));
                return places[0] < places[1] && places[1] < places[2];
                """)
            #expect(places == true)
            try await window.keepScreenshot("right-to-left-monitor")
        }
    }
}
