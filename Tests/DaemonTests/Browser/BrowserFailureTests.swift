import Foundation
import TestSupport
import Testing

/// A board whose core fails: WebAssembly ends an instance that traps.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserFailureTests {
    /// Has an instance of the core fail as one does that traps, with the next event, or look at a lesson, as often as
    /// `window.traps` says.
    private static let trap = """
        const Real = WebAssembly.Instance;
        Object.assign(window, { traps: 0, instances: 0, faults: [] });
        WebAssembly.Instance = function (module, imports) {
            const { exports } = new Real(module, imports);
            window.instances++;
            const trapping = (name) => (...values) => {
                if (window.traps > 0) {
                    window.traps--;
                    throw new WebAssembly.RuntimeError("unreachable");
                }
                return exports[name](...values);
            };
            const traps = Object.fromEntries(["studentReceive", "replayAdd", "replayLook"].map((name) => [name, trapping(name)]));
            return { exports: { ...exports, ...traps } };
        };
        """

    @Test(
        "a core that traps is replaced: the board is joined again in the same pixels, and the server hears of it once")
    func replaced() async throws {
        try await BrowserRoom.withVideo { room, daemon in
            try await room.publish(3)
            let window = try await BrowserWindow(at: "\(room.address)/healthz")
            try await window.run(
                """
                \(Self.trap)
                const { Board, Gateway } = await import("/lectern.js");
                const gateway = noteBodies(new Gateway({ url: location.origin }), "observations", ({ fault }) => faults.push(fault));
                window.boards = [0, 1].map(() => {
                    const canvas = newCanvas("600px");
                    return { canvas, board: new Board(canvas, { gateway, room: "\(room.name)" }) };
                });
                window.said = [];
                boards[0].board.addEventListener("divergence", ({ detail }) => said.push(detail.message));
                window.painted = ({ canvas, board }) => board.painter.progress === 1 && canvas.width >= 600;
                """)
            try await window.wait(
                for: "both boards", "boards.every(({ board }) => board.index === 3) && boards.every(painted)")
            // Whichever board is told first.
            try await window.run("window.traps = 1;")
            try await room.publish(2, after: 3)
            try await window.wait(
                for: "both boards again",
                "instances === 3 && boards.every(({ board }) => board.isJoined && board.index === 5) && boards.every(painted)"
            )
            let result = try await window.run(
                """
                \(BrowserWindow.pictureComparison)
                await idle(...boards.map(({ board }) => board.painter));
                await wait(50);
                const [one, other] = boards.map(({ canvas }) => canvas);
                return { faults: faults.length, unequal: unequal(one, other), ink: inkOf(one), digest:
                    boards[0].board.digest === boards[1].board.digest };
                """)
            #expect(result["faults"] == 1 && result["unequal"] == 0)
            #expect(result["digest"] == true && (result["ink"]?.double ?? 0) > 100)
        }
    }

    @Test func `a page that gets the core of another release says so, and goes on with its own`() async throws {
        try await BrowserRoom.withVideo { room, _ in
            try await room.publish(1)
            let window = try await BrowserWindow()
            try await window.runFirst(
                """
                const Real = WebAssembly.Instance;
                window.isOther = true;
                WebAssembly.Instance = function (module, imports) {
                    const { exports } = new Real(module, imports);
                    return { exports: window.isOther ? { ...exports, version: () => 0 } : exports };
                };
                """)
            try await window.open(room.page)
            try await window.wait(for: "the words", "$('connection').textContent.includes('load this page again')")
            try await window.run("window.isOther = false")
            try await window.wait(forIndex: 1)
        }
    }

    @Test("a core that traps whatever is done is replaced ever more seldom, and the board says that it waits")
    func replacedAgain() async throws {
        try await BrowserRoom.withVideo { room, _ in
            try await room.publish(3)
            let window = try await BrowserWindow(at: "\(room.address)/healthz")
            try await window.run(
                """
                \(Self.trap)
                window.traps = 4;
                const { Board, Gateway } = await import("/lectern.js");
                const gateway = noteBodies(new Gateway({ url: location.origin }), "observations", ({ fault }) => faults.push(fault));
                window.board = new Board(newCanvas("600px"), { gateway, room: "\(room.name)" });
                window.waits = [];
                board.addEventListener("connection", ({ detail }) => detail.code === "core-failed" && waits.push(detail.state));
                """)
            try await window.wait(for: "the board", "board.index === 3 && board.painter.progress === 1")
            let result = try await window.run("return [instances, faults.length, waits]")
            #expect(result == [5, 4, ["waiting"]])
        }
    }

    @Test
    func
        `a teacher's core that traps is replaced without haste: the server hears of it, and nothing that was drawn is lost`()
        async throws
    {
        try await BrowserRoom.with { room, _ in
            let teacher = try await BrowserWindow()
            try await teacher.runFirst(
                """
                \(Self.trap.replacing("[\"studentReceive\", \"replayAdd\", \"replayLook\"]", with: "[\"teacherLive\"]"))
                {
                    const original = globalThis.fetch;
                    globalThis.fetch = (address, options) => {
                        if (String(address).includes("/observations")) faults.push(JSON.parse(options.body).fault);
                        return original(address, options);
                    };
                }
                """)
            try await teacher.open(writingAt: "\(room.page)/teach?author=anna")
            try await teacher.drawWave(1, index: 1)
            try await teacher.setOffline(true)
            try await teacher.drawWave(2)
            try await teacher.wait(for: "its record", "$('saved').textContent.includes('kept here')")
            // The third one as well, where it begins with what the first has left.
            try await teacher.run(
                "window.begun = performance.now(); window.instancesBefore = instances; window.traps = 2;")
            try await teacher.press("z", control: true)
            try await teacher.wait(for: "another instance", "traps === 0 && instances === instancesBefore + 2")
            #expect(try await teacher.isTrue("performance.now() - begun > 700"))
            try await teacher.setOffline(false)
            try await teacher.waitUntilWriting()
            try await teacher.drawWave(3)
            try await teacher.waitUntilSaved(index: 3)
            // The undo went with the core that had it in hand.
            #expect(try await room.messages().map { $0["a"]?.double ?? 1 } == [1, 1, 1])
            try await teacher.wait(for: "what the server hears", "faults.length === 2")
        }
    }

    @Test("a core that traps in a lesson is replaced: it is fetched again, shown in the same pixels, and reported once")
    func replay() async throws {
        try await BrowserRoom.with { room, _ in
            try await room.publish(40)
            try room.playVideo()
            let window = try await BrowserWindow(at: "\(room.address)/healthz")
            let result = try await window.run(
                """
                \(Self.trap)
                \(BrowserWindow.pictureComparison)
                const { Gateway, Replay } = await import("/lectern.js");
                const gateway = noteBodies(new Gateway({ url: location.origin }), "observations", ({ fault }) => faults.push(fault));
                const canvas = newCanvas("600px");
                let time = 25;
                const own = new Replay(canvas, { gateway, room: "\(room.name)", clock: () => time });
                const shown = async () => {
                    const end = performance.now() + 20_000;
                    const isShown = () => own.isThere && canvas.width >= 600 && own.painter.progress === 1;
                    while (!isShown() && performance.now() < end) await wait();
                    await idle(own.painter);
                    await wait(20);
                    return { index: own.index, digest: own.digest, values: valuesOf(canvas) };
                };
                const first = await shown();
                const results = [];
                // While the player looks, and while a reply is added.
                for (const traps of [1, 2]) {
                    window.traps = traps;
                    own.look();
                    const again = await shown();
                    const isSame = again.digest === first.digest && first.values.every((value, place) => value === again.values[place]);
                    results.push([again.index, isSame, window.traps]);
                }
                time = 40.5;
                own.look();
                return { results, faults: faults.length, instances, last: (await shown()).index, ink: inkOf(canvas) > 100 };
                """)
            let same = AnyJSON.array([24, true, 0])
            #expect(result["results"] == [same, same])
            #expect(result["faults"] == 3 && result["instances"] == 4)
            #expect(result["last"] == 40 && result["ink"] == true)
        }
    }

    @Test func `an event without end is refused at its limit, and comments without end are not`() async throws {
        try await BrowserRoom.with { room, _ in
            let window = try await BrowserWindow(at: "\(room.address)/healthz")
            let heard = try await window.run(
                """
                const { EventParser } = await import("/lectern/events.js");
                const bytes = (text) => new TextEncoder().encode(text);
                const events = [];
                const parser = new EventParser(({ data }) => events.push(data.length), 100);
                for (let turn = 0; turn < 30; turn++) parser.add(bytes(": still here\\n"));
                for (let turn = 0; turn < 3; turn++) parser.add(bytes(`data: ${"x".repeat(80)}\\n\\n`));
                const codes = ["data: " + "x".repeat(30), "data: a\\n"].map((part) => {
                    const parser = new EventParser(() => {}, 100);
                    try {
                        for (let turn = 0; turn < 30; turn++) parser.add(bytes(part));
                    } catch (error) {
                        return error.code;
                    }
                });
                return [...events, ...codes];
                """)
            #expect(heard == [80, 80, 80, "too-large", "too-large"])
        }
    }
}
