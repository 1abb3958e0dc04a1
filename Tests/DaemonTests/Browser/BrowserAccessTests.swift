import Foundation
import TestSupport
import Testing

/// The pages in their main states, looked through by axe-core for what keeps people from using them.
@Suite(
    .timeLimit(.minutes(5)), .endsProcesses,
    .enabled(if: BrowserWindow.runsAll && BrowserWindow.axe != nil, "make browser runs it, with axe-core"))
struct BrowserAccessTests {
    /// A window as large as a desk's and one as small as a telephone's, light and dark.
    private static let windows: [(BrowserWindow.Size, Bool)] = [
        (.desktop, false), (.desktop, true), (.phone, false), (.phone, true),
    ]

    @Test("axe-core finds nothing on the teacher's page", arguments: BrowserAccessTests.windows)
    func teacher(size: BrowserWindow.Size, isDark: Bool) async throws {
        try await BrowserRoom.with { room, _ in
            try room.stopVideo()
            let page = "\(room.page)/teach"
            let window = try await BrowserWindow(size, isDark: isDark, at: page)
            try await window.wait(for: "the question", "$('name-dialog').open")
            try await window.expectNoFindings("who teaches")
            try await window.open(writingAt: "\(page)?author=anna")
            try await window.expectNoFindings("an empty board")
            try await window.drawWave(1, saved: 1)
            let other = try room.author("bob")
            try await other.send(#"{"n":1,"t":0,"d":[{"x":1,"y":1},{"x":50,"y":50}]}"#, appliedAt: 2)
            let button = "$('audience-button')"
            try await window.run("if (getComputedStyle($('audience')).display === 'none') \(button).click()")
            try await window.wait(for: "the cohort", "document.querySelector('.cohort')")
            try await window.wait(for: "the other author", "document.querySelector('#authors button')")
            try await window.expectNoFindings("the audience")
            if size.width < 1000 { try await window.run("\(button).click()") }
            try await window.run("$('page-add').click()")
            try await window.wait(for: "the pages", "document.querySelectorAll('.page-item').length === 2")
            try await window.expectNoFindings("pages")
            try await window.run("document.querySelector('.page-item').click()")
            try await window.waitUntilSaved()
            try await window.press("s")
            try await window.press("a", control: true)
            try await window.waitForSelection()
            try await window.expectNoFindings("a selection")
            try await window.press("p")
            try await window.wait(for: "no selection", "$('selection').hidden")
            try await window.press("c")
            try await window.wait(for: "the colours", "document.querySelector('.colour-dialog').open")
            try await window.expectNoFindings("all colours")
            try await window.run("document.querySelector('.colour-dialog').close()")
            try await window.press("b")
            try await window.wait(for: "the dark board", "$('sheet').dataset.dark === ''")
            try await window.expectNoFindings("a dark board")
            try await window.press("b")
            try await window.press("t")
            try await window.tap(0.2, 0.3)
            try await window.wait(for: "the field", "document.activeElement.tagName === 'TEXTAREA'")
            try await window.type("Text")
            try await window.expectNoFindings("a text is typed")
            try await window.press("p")
            try await window.seePart()
            try await window.expectNoFindings("a text, in a part of the page")
            try await window.press("0")
            for dialog in ["clear-dialog", "import-dialog", "paper-dialog", "password-dialog"] {
                try await window.run("$('\(dialog)').showModal()")
                try await window.expectNoFindings("\(dialog)")
                try await window.run("$('\(dialog)').close()")
            }
            try await window.run("$('share-open').click()")
            try await window.wait(for: "the link", "!$('share-copy').disabled")
            try await window.expectNoFindings("the link for students")
            try await window.run("$('share-dialog').close()")
            try await window.setOffline(true)
            try await window.drawWave(3)
            try await window.wait(for: "offline", "$('saved').textContent.startsWith('Offline')")
            try await window.expectNoFindings("offline")
            try await window.setOffline(false)
            try await window.waitUntilSaved()
            // As by another tab, which writes from then on.
            try await window.run(
                """
                for (const { name } of (await navigator.locks.query()).held) {
                    navigator.locks.request(name, { steal: true }, () => new Promise(() => {})).catch(() => {});
                }
                """)
            try await window.wait(for: "the notice", "!$('notice').hidden")
            try await window.expectNoFindings("a notice")
            try await window.open("\(room.address)/rooms/No%20room/teach")
            try await window.expectNoFindings("no such room")
        }
    }

    @Test(
        "axe-core finds nothing on the pages of students, the clock, operators, and the start",
        arguments: BrowserAccessTests.windows)
    func others(size: BrowserWindow.Size, isDark: Bool) async throws {
        try await BrowserRoom.with { room, _ in
            let window = try await BrowserWindow(size, isDark: isDark, at: "\(room.address)/")
            try await window.wait(for: "no room", "!$('none').hidden")
            try await window.expectNoFindings("a start without rooms")
            try room.playVideo()
            try await room.publish(3)
            try await room.author("bob").send(
                #"{"n":1,"t":3,"e":8,"l":40,"x":"Text","d":[{"x":100,"y":100},{"x":500,"y":200}]}"#, appliedAt: 4)
            let page = room.page
            try await window.open(page)
            try await window.wait(forIndex: 4)
            try await window.expectNoFindings("a board")
            try await window.seePart()
            try await window.expectNoFindings("a part of the page")
            try await window.open("\(page)?demo=2")
            try await window.wait(for: "the demo", "!$('demo').hidden")
            try await window.wait(for: "the board", "$('waiting').dataset.done !== undefined")
            try await window.expectNoFindings("a demo")
            try await window.open("\(page)?replay")
            try await window.wait(for: "the player", "!$('play').disabled")
            try await window.expectNoFindings("a replay")
            try await window.open("\(page)?video=none.webm")
            try await window.wait(for: "the notice", "!$('notice').hidden")
            try await window.expectNoFindings("a video that cannot be played")
            try await window.open("\(room.address)/rooms/No%20room")
            try await window.expectNoFindings("no such room")
            try await window.open("\(page)/clock")
            try await window.wait(for: "the form", "!$('choose').hidden")
            try await window.expectNoFindings("the form of a clock")
            try await window.open("\(page)/clock?video=none.webm")
            try await window.wait(for: "the notice", "!$('notice').hidden")
            try await window.expectNoFindings("a clock")

            // A reader tells how far ink and picture are apart.
            try await window.run(
                """
                const body = JSON.stringify({ v: 1, index: 1, skew: 5 });
                const headers = { "Content-Type": "application/x-ndjson" };
                await fetch("/api/rooms/\(room.name)/observations?reader=a", { method: "POST", headers, body });
                """)
            try await window.open("\(room.address)/monitor")
            try await window.wait(for: "the room", "document.querySelector('.room-name')")
            try await window.wait(for: "the report", "!$('skew').hidden")
            try await window.expectNoFindings("the monitor")
            try await window.run("set($('filter'), 'another')")
            try await window.wait(for: "no room", "!$('none').hidden")
            try await window.expectNoFindings("a monitor without rooms")
            try await window.open("\(room.address)/")
            try await window.wait(for: "the room", "document.querySelector('.room-name')")
            try await window.expectNoFindings("a start with rooms")
        }
    }

    @Test func `axe-core finds what is wrong on a page`() async throws {
        try await BrowserRoom.with { room, _ in
            let window = try await BrowserWindow(at: "\(room.address)/")
            try await window.run("document.body.append(document.createElement('button'))")
            #expect(try await window.findings().contains { $0.hasPrefix("button-name: ") })
        }
    }
}

extension BrowserWindow {
    /// The script of axe-core, from the file in `LECTERN_AXE`.
    static let axe = EnvironmentVariable("LECTERN_AXE").text.flatMap {
        try? String(contentsOfFile: $0, encoding: .utf8)
    }

    /// What axe-core finds by all of its rules, good practice among them: the rule, and where it is broken.
    fileprivate func findings() async throws -> [String] {
        let reply = try await run(
            """
            if (!window.axe) { \(Self.axe ?? "") }
            // Colours change by and by.
            const passing = document.getAnimations().filter(({ effect }) => effect.getTiming().iterations === 1);
            await Promise.all(passing.map(({ finished }) => finished.catch(() => {})));
            const { violations } = await axe.run(document, { resultTypes: ["violations"] });
            return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
            """)
        guard case .array = reply else { throw Unexpected("no findings: \(reply)") }
        return reply.strings
    }

    /// Zooms until a part of the page is seen.
    fileprivate func seePart() async throws {
        for _ in 0..<3 { try await press("+") }
        try await wait(for: "a part", "document.querySelector('.lectern-part') !== null")
    }

    /// Expects that axe-core finds nothing, where it is there.
    func expectNoFindings(
        _ state: Comment, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        guard Self.axe != nil else { return }
        #expect(try await findings() == [], state, sourceLocation: sourceLocation)
    }
}
