import TestSupport
import Testing

/// The names and keys of all controls of the teacher's and the student's page.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserKeysTests {
    /// What is wrong with the buttons that are seen: one has no name, no key, or the key of another.
    fileprivate static let faults = """
        // Arrow keys choose colours and widths, and move a video, a selection and a page. Panels and dialogs have Tab and Enter.
        const keyless =
            "#language, #video-move, #colours *, #widths *, .handle, .page-item, .audience :not(#help), dialog *, .import-status *";
        const seen = [...document.querySelectorAll("button")].filter((button) => button.checkVisibility());
        const faults = seen.length < args[0] ? [`${seen.length} buttons`] : [];
        const keys = new Map();
        for (const button of seen) {
            const [name, key] = [button.getAttribute("aria-label") ?? button.textContent.trim(), button.getAttribute("aria-keyshortcuts")];
            if (!name) faults.push(`no name: ${button.id}`);
            if (button.matches(keyless)) continue;
            if (!key) faults.push(`no key: ${button.id} ${name}`);
            else if (!/ \\([^()]+\\)$/.test(button.title)) faults.push(`the title has no key: ${name}`);
            // Two buttons show the whole page. G is for the picture that is selected, before the paper.
            else if (keys.has(key) && !["0", "G"].includes(key)) faults.push(`${key}: ${name}, ${keys.get(key)}`);
            keys.set(key, name);
        }
        return faults;
        """

    @Test func `each button of the teacher's page has a name and a key, and the key presses it`() async throws {
        try await BrowserRoom.withTeacher { _, teacher in
            try await teacher.expectKeys("an empty board", least: 25)
            try await teacher.drawWave(1, saved: 1)
            // A Russian keyboard, and an Arabic one, which has two letters on a key.
            try await teacher.run("press(document.body, 'т', { code: 'KeyN' })")
            try await teacher.run("press(document.body, 'لا', { code: 'KeyB' })")
            let isDark = "return document.querySelector('[aria-keyshortcuts=B]').getAttribute('aria-pressed')"
            #expect(try await teacher.run(isDark) == "true")
            try await teacher.waitForPages(2)
            try await teacher.press("y")
            try await teacher.waitForPages(3)
            try await teacher.press("m")
            try await teacher.waitForPages(2)
            try await teacher.expectKeys("pages", least: 30)
            try await teacher.press("u")
            try await teacher.waitForPages(3)
            try await teacher.waitUntilSaved()
            try await teacher.press("k")
            try await teacher.press("v")
            #expect(try await teacher.run("return $('hover').getAttribute('aria-pressed')") == "true")
            try await teacher.expectKeys("the pointer", least: 30)
            try await teacher.run("document.querySelector('.page-item').click()")
            try await teacher.waitUntilSaved()
            try await teacher.press("s")
            try await teacher.press("a", control: true)
            try await teacher.waitForSelection()
            try await teacher.expectKeys("a selection", least: 35)
            try await teacher.press("Escape")
            // A field has its letters for itself.
            let shown = "return document.querySelectorAll('.page-item').length"
            try await teacher.run("press($('time-kind'), 'n')")
            #expect(try await teacher.run(shown) == 3)
            try await teacher.press("x")
            try await teacher.wait(for: "no ink", "$('clear').disabled")
            try await teacher.run("press(document.body, 'я', { code: 'KeyZ', ctrlKey: true })")
            try await teacher.wait(for: "ink again", "!$('clear').disabled")
        }
    }

    @Test func `each button of the student's page has a name and a key, and the list has all keys`() async throws {
        try await BrowserRoom.with(strokes: 3) { room, _ in
            let student = try await room.student("?demo=2")
            try await student.wait(forIndex: 3)
            try await student.expectKeys("a demo", least: 8)
            try await student.press("d")
            try await student.wait(for: "a pause", "$('demo-word').textContent === 'Play'")
            try await student.press("n")
            try await student.drawWave(4)
            try await student.wait(for: "a note", "!$('notes-undo').disabled")
            try await student.expectKeys("notes", least: 16)
            try await student.press("x")
            try await student.wait(for: "no notes", "$('notes-clear').disabled")
            try await student.press("Escape")
            try await student.press("?")
            try await student.wait(for: "the list", "document.querySelector('dialog[open] .key-list') !== null")
            let keys = try await student.run(
                "return [...document.querySelectorAll('.key-list kbd')].map(({ textContent }) => textContent)"
            ).strings
            #expect(Set(["N", "X", "D", "B", "F", "0", "?", "Ctrl Z"]).subtracting(keys) == [])
            try await student.expectNoFindings("all keys")
            try await student.open("\(room.page)?replay")
            try await student.wait(for: "the player", "!$('play').disabled")
            try await student.expectKeys("a replay", least: 8)
            try await student.expectNoComplaints()
        }
    }
}

extension BrowserWindow {
    /// Expects that each button that is seen has a name, and a key of its own.
    fileprivate func expectKeys(
        _ state: Comment, least: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let faults = try await run(BrowserKeysTests.faults, [.number(Double(least))])
        #expect(faults == [], state, sourceLocation: sourceLocation)
    }

    fileprivate func waitForPages(_ count: Int) async throws {
        try await wait(for: "\(count) pages", "document.querySelectorAll('.page-item').length === \(count)")
    }
}
