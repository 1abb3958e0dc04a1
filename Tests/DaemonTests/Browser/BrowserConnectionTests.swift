import TestSupport
import Testing

/// What the modules below `lectern.js` do where a server, a network or a browser fails them.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserConnectionTests {
    private func expect(_ wanted: AnyJSON, of script: String) async throws {
        try await BrowserRoom.with { room, _ in
            let window = try await BrowserWindow(at: "\(room.address)/healthz")
            #expect(try await window.run(script) == wanted)
        }
    }

    /// A gateway whose event streams have one chunk each, and which notes the ids that it is asked for.
    private static let chunks = """
        const { EventStream } = await import("/lectern/events.js");
        const { Gateway } = await import("/lectern/gateway.js");
        const gatewayOf = (text, asked) => {
            window.fetch = async (address, { headers, signal }) => {
                asked.push({ id: headers["Last-Event-ID"] ?? null, at: performance.now() });
                const start = (controller) => {
                    controller.enqueue(new TextEncoder().encode(text));
                    signal.addEventListener("abort", () => controller.error(signal.reason));
                };
                return new Response(new ReadableStream({ start }));
            };
            return new Gateway({ url: location.origin });
        };
        """

    @Test func `a stream that begins anew forgets what came behind the event that made it do so`() async throws {
        try await expect(
            [.null, "a:1 a:2"],
            of: Self.chunks + """
                const asked = [], seen = [];
                const gateway = gatewayOf(["a:1", "a:2", "a:3"].map((id) => `id: ${id}\\ndata: x\\n\\n`).join(""), asked);
                const stream = new EventStream(gateway, "events", {
                    onevent: ({ id }) => {
                        if (asked.length === 1) seen.push(id);
                        if (id === "a:2" && asked.length === 1) stream.restart();
                    },
                });
                await until(() => asked.length >= 2);
                stream.close();
                return [asked[1].id, seen.join(" ")];
                """)
    }

    @Test func `a stream that begins anew again and again waits longer each time`() async throws {
        try await expect(
            true,
            of: Self.chunks + """
                const asked = [];
                const stream = new EventStream(gatewayOf("id: a:1\\ndata: x\\n\\n", asked), "events", {
                    onevent: () => stream.restart(),
                });
                await until(() => asked.length >= 4);
                stream.close();
                return asked[3].at - asked[2].at >= 590;
                """)
    }

    @Test func `a stream that goes on is not ended by a wish to try again at once`() async throws {
        try await expect(
            "connecting live closed",
            of: Self.chunks + """
                const states = [];
                let stream;
                await new Promise((resolve) => {
                    const onstate = ({ state }) => states.push(state);
                    stream = new EventStream(gatewayOf("id: a:1\\ndata: x\\n\\n", []), "events", { onevent: resolve, onstate });
                });
                stream.retry();
                await wait(0);
                stream.close();
                await until(() => states.at(-1) === "closed");
                return states.join(" ");
                """)
    }

    @Test("a stream is resumed at once when the network comes back, which may have lost it without a word")
    func online() async throws {
        try await expect(
            [.null, "a:1"],
            of: Self.chunks + """
                const asked = [];
                let stream;
                await new Promise((onevent) => {
                    stream = new EventStream(gatewayOf("id: a:1\\ndata: x\\n\\n", asked), "events", { onevent });
                });
                dispatchEvent(new Event("online"));
                await until(() => asked.length >= 2);
                stream.close();
                return asked.map(({ id }) => id);
                """)
    }

    @Test func `a wait that a server asks for is an hour at most`() async throws {
        try await expect(
            [3_600_000, 0, 7000, .null],
            of: """
                const { Gateway } = await import("/lectern/gateway.js");
                const waits = [];
                for (const asked of ["2592000", "-5", "7", "soon"]) {
                    globalThis.fetch = async () => new Response("{}", { status: 503, headers: { "Retry-After": asked } });
                    await new Gateway({ url: location.origin }).request("api/time").catch(({ retryAfter }) => waits.push(retryAfter));
                }
                return waits;
                """)
    }

    @Test("a request ends where nothing of its answer comes, or no more of it, and does not where that comes slowly")
    func silence() async throws {
        try await expect(
            ["unanswered", "lost", 40],
            of: """
                const { Gateway } = await import("/lectern/gateway.js");
                let answer;
                window.fetch = (address, { signal }) => new Promise((resolve, reject) => {
                    signal.addEventListener("abort", () => reject(signal.reason));
                    answer(resolve, signal);
                });
                const bytes = (count, isWhole) => (resolve, signal) => resolve(new Response(new ReadableStream({
                    async start(body) {
                        signal.addEventListener("abort", () => body.error(signal.reason));
                        for (let at = 0; at < count; at++) {
                            await wait(10);
                            body.enqueue(new Uint8Array(1));
                        }
                        if (isWhole) body.close();
                    },
                })));
                const gateway = new Gateway({ url: location.origin });
                const ends = [];
                for (answer of [() => {}, bytes(1, false), bytes(40, true)]) {
                    const reply = gateway.request("api/time", { limit: 200 }).then((reply) => reply.arrayBuffer());
                    ends.push(await reply.then(({ byteLength }) => byteLength, ({ code }) => (code === "unreachable" ? "unanswered" : "lost")));
                }
                return ends;
                """)
    }

    @Test func `a server of another origin that does not answer may not let this page in`() async throws {
        try await expect(
            [false, true],
            of: """
                const { Gateway } = await import("/lectern/gateway.js");
                globalThis.fetch = () => Promise.reject(new TypeError("Failed to fetch"));
                return Promise.all([location.origin, "http://other.example/board/"].map((url) => new Gateway({ url }).request("api/time")
                    .catch(({ message }) => message.includes(`${location.origin} in (http.allowed_origins)`))));
                """)
    }

    @Test func `an answer without a body is an answer`() async throws {
        try await expect(
            [204, ""],
            of: """
                const { Gateway } = await import("/lectern/gateway.js");
                const gateway = new Gateway({ url: location.origin });
                const reply = await gateway.request("api/session", { method: "POST", body: "token" });
                return [reply.status, await reply.text()];
                """)
    }

    @Test("what is looked at again and again is not looked at twice at a time, however often its page is shown")
    func looks() async throws {
        try await expect(
            [1, 2],
            of: """
                const { whileVisible } = await import("/lectern/dom.js");
                let [calls, underWay, most] = [0, 0, 0];
                let end;
                whileVisible(1e9, async () => {
                    calls++;
                    most = Math.max(most, ++underWay);
                    await new Promise((resolve) => (end = resolve));
                    underWay--;
                });
                const look = () => document.dispatchEvent(new Event("visibilitychange"));
                look();
                look();
                end();
                await wait(0);
                look();
                return [most, calls];
                """)
    }

    @Test func `how long a connection waits is told in step with a clock that was set back by an hour`() async throws {
        try await expect(
            "Offline, trying again…",
            of: Self.chunks + """
                const { connectionWords } = await import("/lectern/words.js");
                const gateway = gatewayOf("", []);
                window.fetch = () => Promise.reject(new TypeError("none"));
                const waiting = await new Promise((resolve) => {
                    const onstate = (state) => state.state === "waiting" && resolve(state);
                    new EventStream(gateway, "events", { onevent() {}, onstate });
                });
                const time = Date.now;
                Date.now = () => time() - 3_600_000;
                return connectionWords(waiting)[1];
                """)
    }

    @Test("where its texts are never sent, a page goes on in English")
    func texts() async throws {
        try await expect(
            ["en", true],
            of: """
                localStorage.setItem("lectern-language", "zh");
                let isEnded = false;
                window.fetch = (address, { signal }) => new Promise((_, reject) => {
                    signal.addEventListener("abort", () => {
                        isEnded = true;
                        reject(signal.reason);
                    });
                });
                const { languageInUse, loading } = await import("/lectern/language.js");
                await loading;
                return [languageInUse(), isEnded];
                """)
    }

    @Test func `a request ends at its deadline, with the page, or when the network comes back`() async throws {
        try await expect(
            [true, true, true, false, true],
            of: """
                const { deadline } = await import("/lectern/gateway.js");
                const ended = ({ signal }) => new Promise((resolve) => {
                    if (signal.aborted) resolve(true);
                    signal.addEventListener("abort", () => resolve(true));
                });
                const page = new AbortController();
                const [short, long] = [deadline(10), deadline(1e9, page.signal)];
                const cleared = deadline(1, page.signal);
                cleared.clear();
                const first = await ended(short);
                page.abort();
                const back = deadline(1e9);
                dispatchEvent(new Event("online"));
                return [first, await ended(long), await ended(deadline(1e9, page.signal)), cleared.signal.aborted, await ended(back)];
                """)
    }

    @Test("an outbox opens its database again where the browser has closed it, and never takes a part for all of it")
    func closedDatabase() async throws {
        try await expect(
            [true, true, 2, false, .null, 3],
            of: """
                const { OutboxStore } = await import("/lectern/outbox-store.js");
                const record = (n) => ({ session: "s", n, bytes: new TextEncoder().encode("w\\n{}") });
                const original = IDBDatabase.prototype.transaction;
                const failing = (times) => {
                    IDBDatabase.prototype.transaction = function (...names) {
                        if (times-- > 0) throw new DOMException("closing", "InvalidStateError");
                        return original.apply(this, names);
                    };
                };
                const store = new OutboxStore("room anna");
                const seen = [await store.write([record(1)], [])];
                failing(1);
                seen.push(await store.write([record(2)], []));
                failing(1);
                seen.push((await store.read())?.length);
                // Nothing can be read or kept any more.
                failing(Infinity);
                seen.push(await store.write([record(3)], []), await store.read());
                failing(0);
                seen.push((await store.read())?.length);
                return seen;
                """)
    }

    @Test func `what a call is told may be of any length`() async throws {
        try await expect(
            [.number(8 * 400 + 1 + 4 * 400), 399, 7, 1399],
            of: """
                const { Input } = await import("/lectern/records.js");
                const count = [...Array(400).keys()];
                const input = new Input().numbers(count).byte(7).words(count.map((n) => n + 1000));
                const view = new DataView(input.bytes.slice().buffer);
                const place = 8 * 399;
                return [view.byteLength, view.getFloat64(place, true), view.getUint8(place + 8),
                    view.getUint32(view.byteLength - 4, true)];
                """)
    }

    @Test("a page with boards alone loads their core, and one that makes a teacher the teacher's alone, with its tools")
    func cores() async throws {
        try await expect(
            ["board.wasm", "lectern.wasm", false, true],
            of: """
                const { Core } = await import("/lectern/core.js");
                const [load, loaded] = [window.fetch, []];
                window.fetch = (address) => {
                    loaded.push(String(address).split("/").pop());
                    return load(address);
                };
                const board = new Core(await Core.load());
                const beside = Core.load();
                Core.expectTeacher();
                const [teacher] = await Promise.all([beside, Core.load()]);
                return [...loaded, board.hasTools, new Core(teacher).hasTools];
                """)
    }

    @Test func `a core that was closed is not called, and does not come later`() async throws {
        try await expect(
            [0, true, .null],
            of: """
                const { Core, CoreHost } = await import("/lectern/core.js");
                const [early, late] = [new CoreHost(), new CoreHost()];
                let ready = 0;
                early.add({ onready: () => ready++ });
                early.close();
                const core = await new Promise((resolve) => late.add({ onready: resolve }));
                await Core.load();
                const before = late.call((core) => core.bytes) > 0;
                late.close();
                return [ready, before, late.call((core) => core.bytes) ?? null];
                """)
    }
}
