import NATSTestServer
import TestSupport
import Testing

/// What a browser keeps of what its teacher has drawn, where its storage fails or pages share it.
@Suite(.timeLimit(.minutes(3)), .endsProcesses, .inBrowsers) struct BrowserOutboxTests {
    @Test("where the browser gives a page no store for its choices, the teacher draws all the same")
    func noChoices() async throws {
        try await BrowserRoom.withVideo { room, _ in
            let teacher = try await BrowserWindow()
            try await teacher.runFirst(
                """
                Object.defineProperty(window, "localStorage", { get() { throw new DOMException("blocked", "SecurityError"); } });
                """)
            try await teacher.open(writingAt: "\(room.page)/teach?author=anna")
            try await teacher.drawWave(1, saved: 1)
        }
    }

    @Test func `where the browser gives a page no store, the clock page plays all the same`() async throws {
        try await BrowserRoom.with { room, _ in
            let clock = try await BrowserWindow()
            try await clock.runFirst(
                """
                for (const name of ["localStorage", "sessionStorage"]) {
                    Object.defineProperty(window, name, { get() { throw new DOMException("blocked", "SecurityError"); } });
                }
                """)
            try await clock.open("\(room.page)/clock?video=none.webm")
            try await clock.wait(for: "the clock", "!$('figures').hidden && $('frames').textContent === '0'")
        }
    }

    @Test("after a failed write and a reload, a new stroke has no number of one that was sent before")
    func failedWrite() async throws {
        try await BrowserRoom.with { room, _ in
            try room.stopVideo()
            let teacher = try await room.teacher()
            try await teacher.setOffline(true)
            try await teacher.drawWave(1)
            try await teacher.wait(for: "offline", "$('saved').textContent.startsWith('Offline, 1 stroke')")
            // As where the disk is full.
            try await teacher.run(
                """
                const transaction = IDBDatabase.prototype.transaction;
                IDBDatabase.prototype.transaction = function (names, mode) {
                    if (mode === "readwrite") throw new DOMException("full", "QuotaExceededError");
                    return transaction.call(this, names, mode);
                };
                """)
            try await teacher.drawWave(3)
            try await teacher.setOffline(false)
            try await teacher.waitUntilSaved(index: 2)
            try await teacher.open("about:blank")
            try await teacher.open(writingAt: "\(room.page)/teach?author=anna")
            try await teacher.drawWave(5, saved: 3)
            #expect(try await room.visible().map { $0["index"]?.double } == [1, 2, 3])
        }
    }

    @Test(
        "strokes of a page that was reloaded are given again after a power cut, in their place",
        arguments: [true, false])
    func powerCut(isOpenMeanwhile: Bool) async throws {
        try await BrowserRoom.with { room, daemon in
            try room.stopVideo()
            let anna = try room.author("anna")
            let teacher = try await room.teacher()
            try await teacher.drawWave(1)
            try await anna.waitUntilCovered(through: 1)
            try await teacher.drawWave(3)
            try await teacher.drawWave(5, saved: 3)
            let digest = try await teacher.digest()
            try await teacher.open("about:blank")
            let page = "\(room.page)/teach?author=anna"
            if isOpenMeanwhile { try await teacher.open(writingAt: page) }
            await daemon.kill()
            await room.nats.kill()
            try PowerCut(room.nats.store ?? "").cut("INK_LOG_0", marked: ".in.", before: #""n":2,"#)
            try await room.nats.restart()
            let heir = try DaemonProcess("b", nats: room.nats.url, http: room.listener)
            try await heir.waitForLog("the log has lost its end; rooms go on")
            if !isOpenMeanwhile { try await teacher.open(page) }
            try await teacher.waitUntilSaved(index: 3)
            #expect(try await teacher.digest() == digest)
            try await teacher.drawWave(7, index: 4)
        }
    }

    @Test func `what a page of an earlier version has left is kept, under the numbers that it has`() async throws {
        try await BrowserRoom.with { room, _ in
            let window = try await BrowserWindow(at: room.address)
            let result = try await window.run(
                """
                const { OutboxStore } = await import("/lectern/outbox-store.js");
                const stores = ["authors", "operations"];
                const entry = (n) => ({ n, messages: [`{"n":${n}}`, `{"n":${n},"o":1}`], operation: { n } });
                const text = (records) => records?.map(({ session, n, bytes }) =>
                    `${session} ${n} ${new TextDecoder().decode(bytes).replaceAll("\\n", " ")}`).join(", ");
                const seen = [];

                const first = await new Promise((resolve, reject) => {
                    const request = indexedDB.open("lectern-outbox", 1);
                    request.onupgradeneeded = () => stores.forEach((name) => request.result.createObjectStore(name));
                    [request.onsuccess, request.onerror] = [() => resolve(request.result), reject];
                });
                const transaction = first.transaction(stores, "readwrite");
                for (const name of ["room anna", "room ben"]) {
                    transaction.objectStore("authors").put({ session: `old ${name}`, next: 9 }, name);
                    for (const n of [7, 8]) transaction.objectStore("operations").put({ entry: entry(n) }, [name, n]);
                }
                await new Promise((resolve) => (transaction.oncomplete = resolve));
                // A page of that version is open, and then not.
                seen.push(await new OutboxStore("room anna").read());
                first.close();
                const store = new OutboxStore("room anna");
                let records = null;
                while (!records) records = await store.read();
                seen.push(text(records), (await new OutboxStore("room ben").read()).length);
                await store.write([{ session: "new", n: 1, bytes: new TextEncoder().encode("w\\n{}") }], [records[0]]);
                seen.push(text(await new OutboxStore("room anna").read()));
                return seen;
                """)
            #expect(
                result
                    == [
                        .null,
                        .string(#"old room anna 7 w {"n":7} {"n":7,"o":1}, old room anna 8 w {"n":8} {"n":8,"o":1}"#),
                        2,
                        .string(#"new 1 w {}, old room anna 8 w {"n":8} {"n":8,"o":1}"#),
                    ])
        }
    }

    @Test("a core that fails is replaced: nothing of what was drawn is lost, also where the browser's storage fails")
    func failingCore() async throws {
        try await BrowserRoom.with { room, _ in
            try room.stopVideo()
            let teacher = try await BrowserWindow()
            try await teacher.runFirst(
                """
                const Instance = WebAssembly.Instance;
                window.failures = 0;
                WebAssembly.Instance = function (...rest) {
                    const { exports } = new Instance(...rest);
                    const teacherNext = (...args) => {
                        if (!window.fails) return exports.teacherNext(...args);
                        [window.fails, window.failures] = [false, window.failures + 1];
                        throw new WebAssembly.RuntimeError("unreachable");
                    };
                    return { exports: { ...exports, teacherNext } };
                };
                """)
            try await teacher.open(writingAt: "\(room.page)/teach?author=anna")
            try await teacher.setOffline(true)
            try await teacher.drawWave(1)
            try await teacher.wait(for: "offline", "$('saved').textContent.startsWith('Offline, 1 stroke')")
            try await teacher.run(
                """
                window.transaction = IDBDatabase.prototype.transaction;
                IDBDatabase.prototype.transaction = function (names, mode) {
                    if (mode === "readwrite") throw new DOMException("full", "QuotaExceededError");
                    return transaction.call(this, names, mode);
                };
                """)
            try await teacher.drawWave(3)
            try await teacher.run("window.fails = true; window.dispatchEvent(new Event('online'));")
            try await teacher.wait(for: "another core", "failures === 1")
            try await teacher.run("IDBDatabase.prototype.transaction = transaction;")
            try await teacher.waitUntilWriting()
            try await teacher.setOffline(false)
            try await teacher.wait(forIndex: 2)
            try await teacher.drawWave(5, saved: 3)
        }
    }
}
