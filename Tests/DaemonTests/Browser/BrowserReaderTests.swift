import Foundation
import TestSupport
import Testing

/// The pages for those who see them in colours of their own, work by keys, listen, or print.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserReaderTests {
    @Test func `in forced colours the colours and widths of pens are seen, and ink lies on paper`() async throws {
        try await BrowserRoom.with { room, _ in
            let teacher = try await room.teacher()
            try await teacher.emulate(["forced-colors": "active", "prefers-color-scheme": "dark"])
            try await teacher.keepScreenshot("forced-colours")
            let seen = try await teacher.run(
                """
                const dots = (selector) => [...document.querySelectorAll(selector)].map((button) => {
                    const dot = getComputedStyle(button, "::before");
                    return [dot.backgroundColor, parseFloat(dot.width), getComputedStyle(button).backgroundColor];
                });
                const [colours, widths] = [dots(".swatch"), dots(".width")];
                return {
                    colours: new Set(colours.map(([colour]) => colour)).size,
                    widths: new Set(widths.map(([, width]) => width)).size,
                    unseen: widths.filter(([colour, , ground]) => colour === ground).length,
                    paper: getComputedStyle($('board')).backgroundColor,
                };
                """)
            #expect(seen["colours"] == 16 && seen["widths"] == 4 && seen["unseen"] == 0, "\(seen)")
            #expect(seen["paper"] == "rgb(255, 255, 255)", "\(seen)")
        }
    }

    @Test("the borders of fields stand out, 3 to 1 or more", arguments: [false, true])
    func borders(isDark: Bool) async throws {
        try await BrowserRoom.with { room, _ in
            let window = try await BrowserWindow(isDark: isDark)
            for page in ["/", "/rooms/\(room.name)/teach?author=anna"] {
                try await window.open(room.address + page)
                let least = try await window.run(
                    """
                    const parts = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map((part) => {
                        const value = Number(part) / 255;
                        return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
                    });
                    const light = (colour) => { const [r, g, b] = parts(colour); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
                    const contrast = (one, other) => {
                        const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
                        return (high + 0.05) / (low + 0.05);
                    };
                    const ground = getComputedStyle(document.body).backgroundColor;
                    const fields = [...document.querySelectorAll(".field")].map((field) => getComputedStyle(field));
                    return Math.min(...fields.flatMap(({ borderTopColor, backgroundColor }) =>
                        [contrast(borderTopColor, backgroundColor), contrast(borderTopColor, ground)]));
                    """)
                #expect(least.double ?? 0 >= 3, "\(page)")
            }
        }
    }

    @Test func `letters choose tools unless they are switched off, or a field has the focus`() async throws {
        try await BrowserRoom.with { room, _ in
            let teacher = try await room.teacher()
            let chosen = "document.querySelector('#elements [aria-checked=true]').getAttribute('aria-label')"
            try await teacher.press("r")
            #expect(try await teacher.run("return \(chosen)") == "Rectangle")
            // Letters choose among the options of a list.
            try await teacher.run("press($('time-kind'), 'l')")
            #expect(try await teacher.run("return \(chosen)") == "Rectangle")
            try await teacher.run("$('keys').click()")
            try await teacher.press("l")
            #expect(try await teacher.run("return \(chosen)") == "Rectangle")
            // It is remembered, and for all pages.
            try await teacher.open(writingAt: "\(room.page)/teach?author=anna")
            try await teacher.press("e")
            #expect(try await teacher.run("return \(chosen)") == "Rectangle")
            // With Ctrl they are no single letters.
            try await teacher.drawWave(1, index: 1)
            try await teacher.press("z", control: true)
            try await teacher.wait(forIndex: 2)
            try await teacher.run("$('keys').click()")
            try await teacher.press("l")
            #expect(try await teacher.run("return \(chosen)") == "Line")
        }
    }

    @Test("a screen reader is told who draws, of pages, and how it stands, without numbers that change all the time")
    func news() async throws {
        try await BrowserRoom.withVideo { room, _ in
            let student = try await room.student("?demo=0")
            try await student.run(
                """
                window.told = [];
                for (const id of ["news", "page", "step"]) {
                    const part = document.getElementById(id);
                    if (part.getAttribute("role") !== "status") told.push(`${id} is no status`);
                    const spoken = id === "step" ? $('step-spoken') : part;
                    new MutationObserver(() => spoken.textContent && told.push(spoken.textContent))
                        .observe(spoken, { childList: true, characterData: true, subtree: true });
                }
                """)
            let teacher = try await room.teacher()
            for place in 1...3 { try await teacher.drawWave(place) }
            try await student.wait(forIndex: 3)
            try await teacher.press("d")
            try await teacher.drawWave(1)
            try await student.wait(forIndex: 4)
            try await teacher.run("$('clear').click()")
            try await student.wait(forIndex: 5)
            try await teacher.press("g")
            try await teacher.wait(for: "the papers", "$('paper-dialog').open")
            try await teacher.run("document.querySelector('#paper-kinds [value=squares]').click()")
            try await student.wait(forIndex: 6)
            try await teacher.run("$('page-add').click()")
            try await student.wait(for: "the page", "told.includes(\"Page 2 of 2\")")
            let words = try await student.run("return told").strings
            #expect(words.count { $0 == "anna is drawing" } == 1, "\(words)")
            #expect(words.contains("anna has removed something"), "\(words)")
            #expect(words.contains("anna has cleared the page"), "\(words)")
            #expect(words.contains("anna has changed the paper"), "\(words)")
            #expect(
                !words.contains { $0.contains("no status") || $0.contains("strokes wait for") && $0.contains(/[0-9]/) },
                "\(words)")
        }
    }

    @Test("on paper a student's page is the board and its title", arguments: ["", "?demo=2"])
    func printing(query: String) async throws {
        try await BrowserRoom.with(strokes: 3) { room, _ in
            let student = try await room.student(query)
            try await student.emulate([:], media: "print")
            let seen = try await student.run(
                """
                const seen = [...document.querySelectorAll("body *")].filter((item) =>
                    item.checkVisibility() && ![...item.children].some((child) => child.checkVisibility())
                    && item.getBoundingClientRect().width > 1);
                const { width, height } = $('board').getBoundingClientRect();
                return [seen.map(({ id }) => id).sort().join(" "), width > 0.6 * innerWidth || height > 0.6 * innerHeight];
                """)
            #expect(seen == ["board room", true], "\(seen)")
        }
    }
}
