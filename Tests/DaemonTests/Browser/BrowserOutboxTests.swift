import Locking
import NATSTestServer
import TestSupport
import Testing

/// What a browser keeps of what its teacher has drawn, where its storage fails or pages share it.
@Suite(
    .timeLimit(.minutes(3)), .endsProcesses, .enabled(if: BrowserWindow.runsAll, "make browser runs it"))
struct BrowserOutboxTests {
    /// Runs a script in a page that has an outbox module and none of its databases; returns what it returns.
    private func run(_ script: String) async throws -> AnyJSON {
        let result = Locked(AnyJSON.null)
        try await BrowserRoom.with { room, _ in
            let window = try await BrowserWindow()
            try await window.open(room.address)
            let value = try await window.run(
                """
                const { Outbox } = await import("/lectern/outbox.js");
                const stroke = (name) => (n) => ({
                    n, messages: [JSON.stringify({ n, name })], operation: { n, name } });
                const names = (outbox) => outbox.entries.map(({ operation }) => operation.name).join();
                const opened = async (name = "room anna") => {
                    const outbox = new Outbox(name);
                    await outbox.open();
                    return outbox;
                };
                \(script)
                """)
            result.withLock { $0 = value }
        }
        return result.withLock { $0 }
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
        let result = try await run(
            """
            const outbox = await opened();
            await outbox.add(stroke("a")).kept;
            await outbox.add(stroke("b")).kept;
            const transaction = IDBDatabase.prototype.transaction;
            IDBDatabase.prototype.transaction = () => { throw new Error("full"); };
            await outbox.add(stroke("c")).kept;
            const isKept = outbox.isKept;
            await outbox.open();
            const failed = names(outbox);
            IDBDatabase.prototype.transaction = transaction;
            const other = await opened();
            other.remove(other.entries.slice(0, 1));
            await other.add(stroke("d")).kept;
            await outbox.open();
            const again = names(outbox);
            await outbox.add(stroke("e")).kept;
            return [isKept, failed, again, outbox.isKept, names(await opened())].join(" ");
            """)
        #expect(result == .string("false a,b,c b,c,d true b,c,d,e"))
    }

    @Test("what no checkpoint holds waits again when a room is restored, also after a reload")
    func uncovered() async throws {
        let result = try await run(
            """
            const outbox = await opened();
            outbox.follow("log-7");
            for (const name of ["a", "b", "c"]) await outbox.add(stroke(name)).kept;
            const applied = (one) => one.applied(one.entries);
            applied(outbox);
            outbox.cover({ session: outbox.session, covered: 1 });
            outbox.cover({ session: "another device's", covered: 9 });
            const next = await opened();
            await next.add(stroke("d")).kept;
            const before = [outbox.length, outbox.follow("log-7"), next.length];
            const after = [next.follow("log.1-9"), names(next), next.entries.map(({ n }) => n)];
            applied(next);
            const last = await opened();
            const kept = [last.length, last.follow("log.1-9"), last.follow("log.2-12"), names(last)];
            return [before, after, kept].join(" ");
            """)
        #expect(result == .string("0,false,1 true,b,c,d,2,3,1 0,false,true,b,c,d"))
    }

    @Test("what was applied is forgotten when a checkpoint holds a later session's, and when the room has another life")
    func forgotten() async throws {
        let result = try await run(
            """
            const fill = async (name) => {
                const outbox = await opened(name);
                await outbox.add(stroke("a")).kept;
                outbox.applied(outbox.entries);
                outbox.follow("log-7");
                return outbox;
            };
            await fill("covered");
            const covered = await opened("covered");
            await covered.add(stroke("b")).kept;
            covered.applied(covered.entries);
            covered.cover({ session: covered.session, covered: 1 });
            await fill("closed");
            const closed = await opened("closed");
            closed.follow("log-9");
            await fill("erased");
            const erased = await opened("erased");
            erased.follow("");
            await fill("another log");
            const other = await opened("another log");
            other.follow("gol.1-9");
            const left = [covered, closed, erased, other].map(({ hasUncovered }) => hasUncovered);
            for (const name of ["covered", "closed", "erased", "another log"]) {
                left.push((await opened(name)).hasUncovered);
            }
            return left.join();
            """)
        #expect(result == .string(Array(repeating: "false", count: 8).joined(separator: ",")))
    }

    @Test("what was applied is kept up to a number, beyond which the oldest is forgotten, also by the browser")
    func bounded() async throws {
        let result = try await run(
            """
            const outbox = await opened();
            const transaction = IDBDatabase.prototype.transaction;
            IDBDatabase.prototype.transaction = () => { throw new Error("full"); };
            for (let i = 0; i < 10_003; i++) outbox.add(stroke(i));
            IDBDatabase.prototype.transaction = transaction;
            outbox.applied(outbox.entries);
            await outbox.add(stroke("last")).kept;
            const next = await opened();
            next.follow("log.1-7");
            return [next.length, next.entries[0].n, next.entries.at(-1).operation.name].join();
            """)
        #expect(result == .string("10001,4,last"))
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
            try await teacher.drawWave(5)
            try await teacher.wait(forIndex: 3)
            try await teacher.waitUntilSaved()
            let digest = try await teacher.digest()
            try await teacher.open("about:blank")
            let page = "\(room.address)/rooms/\(room.name)/teach?author=anna"
            if isOpenMeanwhile {
                try await teacher.open(page)
                try await teacher.waitUntilWriting()
            }
            await daemon.kill()
            await room.nats.kill()
            try PowerCut(room.nats.store ?? "").cut("INK_LOG_0", marked: ".in.", before: #""n":2,"#)
            try await room.nats.restart()
            let heir = try DaemonProcess("b", nats: room.nats.url, http: room.listener)
            try await heir.waitForLog("the log has lost its end; rooms go on")
            if !isOpenMeanwhile { try await teacher.open(page) }
            try await teacher.wait(forIndex: 3)
            try await teacher.waitUntilSaved()
            #expect(try await teacher.digest() == digest)
            try await teacher.drawWave(7)
            try await teacher.wait(forIndex: 4)
        }
    }

    @Test("two pages that write at once lose nothing to each other, and each numbers in a session of its own")
    func twoPages() async throws {
        let result = try await run(
            """
            const one = await opened();
            await one.add(stroke("a")).kept;
            const other = await opened();
            await Promise.all([other.add(stroke("c")).kept, one.add(stroke("b")).kept]);
            const next = await opened();
            const sessions = next.entries.map(({ session, n }) => (session === one.session ? "1" : "2") + n).join();
            const isNew = ![one.session, other.session].includes(next.session);
            await next.begin();
            const third = await opened();
            const numbers = third.entries.map(({ session, n, messages }) =>
                session === next.session && JSON.parse(messages[0]).n === n ? n : NaN).join();
            return [names(next), sessions, isNew, names(third), numbers].join(" ");
            """)
        #expect(result == .string("a,b,c 11,12,21 true a,b,c 1,2,3"))
    }

    @Test("what a page of the version before has left is kept, under the numbers that it has")
    func firstVersion() async throws {
        let result = try await run(
            """
            const request = indexedDB.open("lectern-outbox", 1);
            const old = await new Promise((resolve, reject) => {
                request.onupgradeneeded = () => {
                    request.result.createObjectStore("authors");
                    request.result.createObjectStore("operations");
                };
                [request.onsuccess, request.onerror] = [() => resolve(request.result), reject];
            });
            const transaction = old.transaction(["authors", "operations"], "readwrite");
            for (const name of ["room anna", "room ben"]) {
                transaction.objectStore("authors").put({ session: `old ${name}`, next: 9 }, name);
                for (const n of [7, 8]) transaction.objectStore("operations").put({ entry: stroke(n)(n) }, [name, n]);
            }
            await new Promise((resolve) => (transaction.oncomplete = resolve));
            const blocked = await opened();
            const isBlocked = [blocked.isKept, blocked.length, blocked.next].join();
            old.close();
            const outbox = new Outbox("room anna");
            for (let tries = 0; tries < 100 && !outbox.isKept; tries++) await outbox.open();
            const found = outbox.entries.map(({ session, n, messages }) => session + n + messages.length).join();
            const { entry } = outbox.add(stroke("new"));
            const ben = await opened("room ben");
            return [isBlocked, found, entry.n, entry.session === outbox.session, names(ben)].join(" | ");
            """)
        #expect(result == .string("false,0,1 | old room anna71,old room anna81 | 1 | true | 7,8"))
    }
}
