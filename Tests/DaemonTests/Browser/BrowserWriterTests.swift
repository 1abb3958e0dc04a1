import TestSupport
import Testing

/// Of all pages of an author one writes.
@Suite(
    .timeLimit(.minutes(5)), .endsProcesses, .enabled(if: BrowserWindow.runsAll, "make browser runs it"))
struct BrowserWriterTests {
    @Test("of two tabs of one author one writes; the other is told, and may take over")
    func tabs() async throws {
        try await BrowserRoom.with { room, _ in
            try room.stopVideo()
            let teacher = try await room.teacher()
            try await teacher.drawWave(1)
            try await teacher.wait(forIndex: 1)
            let tabs = try await teacher.openTab("\(room.address)/rooms/\(room.name)/teach?author=anna")
            let (notice, button) = (BrowserWindow.element("notice"), BrowserWindow.element("notice-button"))
            try await teacher.wait(
                for: "the notice", "!\(notice).hidden && \(notice).textContent.includes(\"another tab\")")
            try await teacher.wait(forIndex: 1)
            // Nothing is drawn here.
            try await teacher.drawWave(3)
            try await teacher.run("\(button).click()")
            try await teacher.waitUntilWriting()
            try await teacher.drawWave(5)
            try await teacher.wait(forIndex: 2)
            #expect(try await teacher.run("return \(notice).hidden") == .bool(true))
            try await teacher.show(tabs.old)
            try await teacher.wait(
                for: "the notice", "!\(notice).hidden && \(notice).textContent.includes(\"another tab\")")
            try await teacher.wait(forIndex: 2)
        }
    }

    @Test("a teacher's board that is closed at any moment of its beginning does not write after that")
    func closing() async throws {
        try await BrowserRoom.with { room, _ in
            try room.stopVideo()
            let window = try await BrowserWindow()
            try await window.open("\(room.address)/healthz")
            let result = try await window.run(
                """
                const { Teacher } = await import("/lectern.js");
                // What the browser keeps is sent by whoever writes.
                const { Outbox } = await import("/lectern/outbox.js");
                const outbox = new Outbox(`${location.origin}/ \(room.name) anna`);
                await outbox.open();
                await outbox.add((n) => {
                    const operation = { n, c: 0, l: 3, d: [{ x: 1, y: 1 }, { x: 50, y: 50 }] };
                    return { n, operation, messages: [JSON.stringify(operation)] };
                }).kept;
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
            #expect(result["late"] == .number(0) && result["posts"] == .number(1), "\(result)")
            #expect(result["closed"]?.double ?? 0 > 3, "\(result)")
        }
    }

    @Test("a teacher who begins on another device is told of on the first, and may take over again")
    func devices() async throws {
        try await BrowserRoom.with { room, _ in
            try room.stopVideo()
            let first = try await room.teacher()
            try await first.drawWave(1)
            try await first.wait(forIndex: 1)
            let second = try await room.teacher()
            try await second.drawWave(3)
            try await second.wait(forIndex: 2)
            try await first.wait(forIndex: 2)
            // Drawn before it is known here that another device writes: nothing of it is lost.
            try await first.drawWave(5)
            let notice = BrowserWindow.element("notice")
            try await first.wait(
                for: "the notice", "!\(notice).hidden && \(notice).textContent.includes(\"another device\")")
            try await first.run("\(BrowserWindow.element("notice-button")).click()")
            try await first.wait(forIndex: 3)
            try await second.wait(forIndex: 3)
            #expect(try await first.digest() == (try await second.digest()))
        }
    }
}
