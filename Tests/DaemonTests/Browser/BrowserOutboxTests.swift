import TestSupport
import Testing

/// What a browser keeps of what its teacher has drawn, where its storage fails or pages share it.
@Suite(
    .timeLimit(.minutes(3)), .endsProcesses, .enabled(if: BrowserWindow.runsAll, "make browser runs it"))
struct BrowserOutboxTests {
    private static let stroke = """
        const stroke = (name) => (n) => ({
            n, messages: [JSON.stringify({ n, name })], operation: { n, name } });
        const names = (outbox) => outbox.entries.map(({ operation }) => operation.name).join();
        """

    /// A page that has an outbox module and none of its databases.
    private func page(in room: BrowserRoom) async throws -> BrowserWindow {
        let window = try await BrowserWindow()
        try await window.open(room.address)
        return window
    }

    @Test("after a failed write and a reload, a new stroke has no number of one that was sent before")
    func failedWrite() async throws {
        try await BrowserRoom.with { room, _ in
            try room.stopVideo()
            let teacher = try await room.teacher()
            try await teacher.setOffline(true)
            try await teacher.drawWave(1)
            let saved = BrowserWindow.element("saved")
            try await teacher.wait(for: "offline", "\(saved).textContent.startsWith(\"Offline, 1 stroke\")")
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
            try await teacher.wait(forIndex: 2)
            try await teacher.waitUntilSaved()
            try await teacher.open("about:blank")
            try await teacher.open("\(room.address)/rooms/\(room.name)/teach?author=anna")
            try await teacher.waitUntilWriting()
            try await teacher.drawWave(5)
            try await teacher.wait(forIndex: 3)
            try await teacher.waitUntilSaved()
            let visible = try await teacher.run(
                """
                const reply = await (await fetch("/api/rooms/\(room.name)/board.json?cohort=head")).json();
                return reply.visible.map(({ index }) => index).join();
                """)
            #expect(visible == .string("1,2,3"))
        }
    }

    @Test("an outbox that is opened again keeps what is in memory only, and drops what another page has sent")
    func openedAgain() async throws {
        try await BrowserRoom.with { room, _ in
            let window = try await page(in: room)
            let result = try await window.run(
                """
                const { Outbox } = await import("/lectern/outbox.js");
                \(Self.stroke)
                const outbox = new Outbox("room anna");
                await outbox.open();
                await outbox.add(stroke("a")).kept;
                await outbox.add(stroke("b")).kept;
                const transaction = IDBDatabase.prototype.transaction;
                IDBDatabase.prototype.transaction = () => { throw new Error("full"); };
                await outbox.add(stroke("c")).kept;
                const isKept = outbox.isKept;
                await outbox.open();
                const failed = names(outbox);
                IDBDatabase.prototype.transaction = transaction;
                const other = new Outbox("room anna");
                await other.open();
                other.remove(other.entries.slice(0, 1));
                await other.add(stroke("d")).kept;
                await outbox.open();
                const again = names(outbox);
                await outbox.add(stroke("e")).kept;
                const last = new Outbox("room anna");
                await last.open();
                return [isKept, failed, again, outbox.isKept, names(last)].join(" ");
                """)
            #expect(result == .string("false a,b,c b,c,d true b,c,d,e"))
        }
    }

    @Test("what was applied, and no checkpoint holds, waits again when the room goes on in another incarnation")
    func uncovered() async throws {
        try await BrowserRoom.with { room, _ in
            let window = try await page(in: room)
            let result = try await window.run(
                """
                const { Outbox } = await import("/lectern/outbox.js");
                \(Self.stroke)
                const outbox = new Outbox("room anna");
                await outbox.open();
                for (const name of ["a", "b", "c"]) await outbox.add(stroke(name)).kept;
                outbox.applied(outbox.entries);
                const cover = (covered, room, session = outbox.session) => outbox.cover({ session, covered, room });
                const before = [outbox.length, cover(1, "life-1"), cover(9, "life-1", "another page's"), outbox.length];
                const after = [cover(1, "life-2"), names(outbox), outbox.entries.map(({ n }) => n)];
                return [before, after, cover(1, "life-2"), outbox.length].join(" ");
                """)
            #expect(result == .string("0,false,false,0 true,b,c,2,3 false 2"))
        }
    }

    @Test("two pages that write at once lose nothing to each other, and each numbers in a session of its own")
    func twoPages() async throws {
        try await BrowserRoom.with { room, _ in
            let window = try await page(in: room)
            let result = try await window.run(
                """
                const { Outbox } = await import("/lectern/outbox.js");
                \(Self.stroke)
                const [one, other] = [new Outbox("room anna"), new Outbox("room anna")];
                await one.open();
                await one.add(stroke("a")).kept;
                await other.open();
                await Promise.all([other.add(stroke("c")).kept, one.add(stroke("b")).kept]);
                const next = new Outbox("room anna");
                await next.open();
                const sessions = next.entries.map(({ session, n }) => (session === one.session ? "1" : "2") + n).join();
                const isNew = ![one.session, other.session].includes(next.session);
                await next.begin();
                const third = new Outbox("room anna");
                await third.open();
                const numbers = third.entries.map(({ session, n, messages }) =>
                    session === next.session && JSON.parse(messages[0]).n === n ? n : NaN).join();
                return [names(next), sessions, isNew, names(third), numbers].join(" ");
                """)
            #expect(result == .string("a,b,c 11,12,21 true a,b,c 1,2,3"))
        }
    }

    @Test("what a page of the version before has left is kept, under the numbers that it has")
    func firstVersion() async throws {
        try await BrowserRoom.with { room, _ in
            let window = try await page(in: room)
            let result = try await window.run(
                """
                const request = indexedDB.open("lectern-outbox", 1);
                const old = await new Promise((resolve, reject) => {
                    request.onupgradeneeded = () => {
                        request.result.createObjectStore("authors");
                        request.result.createObjectStore("operations");
                    };
                    [request.onsuccess, request.onerror] = [() => resolve(request.result), reject];
                });
                const { Outbox } = await import("/lectern/outbox.js");
                \(Self.stroke)
                const transaction = old.transaction(["authors", "operations"], "readwrite");
                for (const name of ["room anna", "room ben"]) {
                    transaction.objectStore("authors").put({ session: `old ${name}`, next: 9 }, name);
                    for (const n of [7, 8]) transaction.objectStore("operations").put({ entry: stroke(n)(n) }, [name, n]);
                }
                await new Promise((resolve) => (transaction.oncomplete = resolve));
                const blocked = new Outbox("room anna");
                await blocked.open();
                const isBlocked = [blocked.isKept, blocked.length, blocked.next].join();
                old.close();
                const outbox = new Outbox("room anna");
                for (let tries = 0; tries < 100 && !outbox.isKept; tries++) await outbox.open();
                const found = outbox.entries.map(({ session, n, messages }) => session + n + messages.length).join();
                const { entry } = outbox.add(stroke("new"));
                const ben = new Outbox("room ben");
                await ben.open();
                return [isBlocked, found, entry.n, entry.session === outbox.session, names(ben)].join(" | ");
                """)
            #expect(result == .string("false,0,1 | old room anna71,old room anna81 | 1 | true | 7,8"))
        }
    }
}
