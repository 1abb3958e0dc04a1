import TestSupport
import Testing

/// Of all pages of an author one writes.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserWriterTests {
    @Test func `of two tabs of one author one writes; the other is told, and may take over`() async throws {
        try await BrowserRoom.with { room, _ in
            try room.stopVideo()
            let teacher = try await room.teacher()
            try await teacher.drawWave(1, index: 1)
            let tabs = try await teacher.openTab("\(room.page)/teach?author=anna")
            try await teacher.wait(
                for: "the notice", "!$('notice').hidden && $('notice').textContent.includes('another tab')")
            try await teacher.wait(forIndex: 1)
            // Nothing is drawn here.
            try await teacher.drawWave(3)
            try await teacher.run("$('notice-button').click()")
            try await teacher.waitUntilWriting()
            try await teacher.drawWave(5, index: 2)
            #expect(try await teacher.isTrue("$('notice').hidden"))
            try await teacher.show(tabs.old)
            try await teacher.wait(
                for: "the notice", "!$('notice').hidden && $('notice').textContent.includes('another tab')")
            try await teacher.wait(forIndex: 2)
        }
    }

    @Test("while another device writes, no other notice takes the offer to write here away")
    func offer() async throws {
        let settings = ["cohorts.default.gate=auto", "cohorts.default.stale_after=120s"]
        try await BrowserRoom.with(settings) { room, _ in
            try await room.publish(1)
            try room.setVideo(40_000)
            let first = try await room.teacher()
            try await first.drawWave(1, index: 2)
            let second = try await BrowserWindow(at: "\(room.address)/healthz")
            // What it has left is refused.
            try await second.run(
                """
                const { OutboxStore } = await import("/lectern/outbox-store.js");
                const bytes = new TextEncoder().encode('w\\n{"n":1,"a":9}');
                await new OutboxStore(`${location.origin}/ \(room.name) anna`).write([{ session: "earlier", n: 1, bytes }], []);
                """)
            try await second.open("\(room.page)/teach?author=anna")
            try await second.wait(for: "the refusal", "$('notice-text').textContent.startsWith('Not taken')")
            try await second.run("$('notice-button').click()")
            try await second.wait(for: "what is unknown", "$('step').textContent.startsWith('Not in step yet')")
            #expect(try await second.text(of: "$('notice-text')").contains("another device"))
            try await second.run("$('notice-button').click()")
            // Who writes is asked.
            try await second.wait(for: "the question", "$('notice-button').textContent === 'Answer'")
            try await second.drawWave(3, index: 3)
        }
    }

    @Test("a teacher's board that is closed at any moment of its beginning does not write after that")
    func closing() async throws {
        try await BrowserRoom.with { room, _ in
            try room.stopVideo()
            let window = try await BrowserWindow(at: "\(room.address)/healthz")
            let result = try await window.run(
                """
                const { Teacher } = await import("/lectern.js");
                // What the browser keeps is sent by whoever writes.
                const { OutboxStore } = await import("/lectern/outbox-store.js");
                const message = JSON.stringify({ n: 1, c: 0, l: 3, d: [{ x: 1, y: 1 }, { x: 50, y: 50 }] });
                const bytes = new TextEncoder().encode(`w\\n${message}`);
                await new OutboxStore(`${location.origin}/ \(room.name) anna`).write([{ session: "earlier", n: 1, bytes }], []);
                let [late, posts] = [0, 0];
                const plain = window.fetch;
                window.fetch = (address, ...rest) => {
                    if (String(address).includes("/strokes")) posts++;
                    return plain(address, ...rest);
                };
                const made = () => {
                    const canvas = document.createElement("canvas");
                    document.body.append(canvas);
                    const teacher = new Teacher(canvas, { room: "\(room.name)", author: "anna" });
                    const close = () => {
                        teacher.close();
                        teacher.addEventListener("writer", () => late++);
                    };
                    return { teacher, close };
                };
                const turn = () => new Promise((resolve) => {
                    const { port1, port2 } = new MessageChannel();
                    port1.onmessage = resolve;
                    port2.postMessage(null);
                });
                const until = async (isSo) => {
                    for (let looks = 0; !isSo(); looks++) {
                        if (looks === 2000) throw new Error(`not ${isSo}; ${late} late, ${posts} posts, ${closed} closed`);
                        await new Promise((resolve) => setTimeout(resolve, 10));
                    }
                };
                // Each one is closed a turn later than the one before; the first that writes by then stays.
                let [last, closed] = [made(), 0];
                for (;;) {
                    for (let i = 0; i < closed && last.teacher.state !== "writer"; i++) await turn();
                    if (last.teacher.state === "writer") break;
                    last.close();
                    if (++closed === 200) throw new Error(`none writes; ${late} late, ${posts} posts`);
                    last = made();
                }
                await until(() => last.teacher.board.index === 1 && last.teacher.waiting === 0);
                // One that takes over and is closed at once.
                const other = made();
                await until(() => other.teacher.state === "elsewhere");
                other.teacher.takeOver();
                other.close();
                await until(() => last.teacher.state === "elsewhere");
                last.teacher.takeOver();
                await until(() => last.teacher.state === "writer");
                return { late, posts, closed };
                """)
            #expect(result["late"] == 0 && result["posts"] == 1, "\(result)")
            #expect(result["closed"]?.double ?? 0 > 3, "\(result)")
        }
    }

    @Test("who begins on another device is asked first, and what the first device draws by then is not lost")
    func devices() async throws {
        try await BrowserRoom.with { room, _ in
            try room.stopVideo()
            let told = "!$('notice').hidden && $('notice').textContent.includes('another device')"
            let first = try await room.teacher()
            try await first.drawWave(1, index: 1)
            let second = try await BrowserWindow(at: "\(room.page)/teach?author=anna")
            try await second.wait(for: "the question", told)
            try await second.expectNoFindings("another device")
            #expect(try await second.run("return $('board').dataset.pen") == "off")
            // Nobody is cut off by a page that is opened.
            try await first.drawWave(2, index: 2)
            try await second.run("$('notice-button').click()")
            try await second.waitUntilWriting()
            try await second.drawWave(3)
            try await first.wait(forIndex: 3)
            // The pen of the first is down when it learns of it.
            try await first.drawWave(4)
            try await first.drawWave(5, 0..<30, .begin)
            try await first.wait(for: "the notice", told)
            try await first.drawWave(5, 30..<40, .end)
            try await second.wait(forIndex: 5)
            // The second goes on as if nothing had happened.
            try await second.drawWave(6)
            try await second.drawWave(7, saved: 7)
            #expect(try await second.isTrue("$('notice').hidden"))
            try await first.waitUntilSaved()
            try await first.wait(forIndex: 7)
            #expect(try await first.digest() == (try await second.digest()))
            // Loaded again, the first asks too.
            try await first.open("\(room.page)/teach?author=anna")
            try await first.wait(for: "the question", told)
            try await first.run("$('notice-button').click()")
            try await first.waitUntilWriting()
            try await first.drawWave(8)
            try await second.wait(forIndex: 8)
            try await second.drawWave(0)
            try await second.wait(for: "the notice", told)
            try await first.wait(forIndex: 9)
            #expect(try await first.digest() == (try await second.digest()))
        }
    }
}
