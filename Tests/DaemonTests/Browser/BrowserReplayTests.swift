import Foundation
import StrokeWire
import TestSupport
import Testing

/// Recorded lessons in browsers: `Replay` of `lectern.js`, and the student's page with `?replay`.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserReplayTests {
    /// Two authors who draw, undo, redo, clear, turn and arrange pages at random, and move ink by lassos where there are any. Some strokes have points with times, as
    /// from a pen. What is refused, an undo of nothing, gets no index.
    private func play(_ count: Int, in room: BrowserRoom, seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let authors = [try room.author("anna"), try room.author("ben")]
        var numbers = [0, 0]
        var time = 1000
        for number in 1...count {
            let who = random.int(0..<2)
            numbers[who] += 1
            time += random.int(0..<400)
            let action = number > count - 4 ? 99 : random.int(0..<32)
            let page = random.int(0..<3) == 0 ? #","g":\#(random.int(0..<4))"# : ""
            let head = #"{"n":\#(numbers[who]),"t":\#(time - random.int(0..<300))\#(action == 9 ? "" : page)"#
            let message =
                switch action {
                case 0..<5: "\(head),\"a\":2}"
                case 5..<8: "\(head),\"a\":3}"
                case 8: "\(head),\"a\":4}"
                case 9: "\(head),\"a\":5,\"g\":\(random.int(0..<4))}"
                case 11: "\(head),\(lasso(random: &random))}"
                case 10: "\(head),\"a\":6,\"v\":\(Array((0..<4).shuffled(using: &random).prefix(random.int(1..<5))))}"
                default: "\(head),\"c\":\(random.int(0..<8)),\"l\":4,\"d\":[\(points(random: &random))]}"
                }
            if number > count - 4 {
                try await authors[who].send(message) {
                    if case .applied(let n, _) = $0 { n == numbers[who] } else { false }
                }
            } else {
                try await authors[who].send(message)
            }
        }
    }

    /// A square that is turned and moved, or a copy of it.
    private func lasso(random: inout SeededGenerator) -> String {
        let (x, y) = (random.int(50..<600), random.int(50..<500))
        let corners = [(x, y), (x + 250, y), (x + 250, y + 250), (x, y + 250)]
        let path = corners.map { #"{"x":\#($0.0),"y":\#($0.1)}"# }.joined(separator: ",")
        let map = "[0.8,0.6,-0.6,0.8,\(random.int(100..<400)),\(random.int(-300..<200))]"
        return #""e":6,"d":[\#(path)],"m":\#(map),"k":\#(random.int(0..<2))"#
    }

    private func points(random: inout SeededGenerator) -> String {
        let (x, y) = (random.int(50..<800), random.int(50..<700))
        let hasTimes = random.int(0..<2) == 0
        return (0..<10).map { step in
            let time = hasTimes ? #","m":\#(step * 40)"# : ""
            return #"{"x":\#(x + step * 12),"y":\#(y + (step % 3) * 15)\#(time)}"#
        }.joined(separator: ",")
    }

    /// Opens a page with a `Replay` whose player is `window.time`, and what the test compares it with: the server's answers,
    /// `expected(time)` of them, and a board `folded(time)` and painted at once.
    private func open(_ room: BrowserRoom, _ options: String = "{}") async throws -> BrowserWindow {
        let window = try await BrowserWindow(at: "\(room.address)/healthz")
        try await window.run(
            """
            const { Painter, Replay } = await import("/lectern.js");
            \(BrowserWindow.foldedBoard)
            const canvas = newCanvas("800px", "board");
            const ops = [];
            let first = null;
            for (let after; ; ) {
                const address = `/api/rooms/\(room.name)/replay?limit=37${after ? `&after=${after}` : ""}`;
                const part = await (await fetch(address)).json();
                first ??= part;
                ops.push(...part.ops);
                if (!(after = part.next)) break;
            }
            const dueOf = (op) => op.end ?? op.e ?? -Infinity;
            const countAt = (time) => {
                const next = ops.findIndex((op) => !(dueOf(op) < time));
                return next < 0 ? ops.length : next;
            };
            const state = Object.assign(window, { time: NaN, ops, requests: [], most: 0, seen: [] });
            const send = window.fetch;
            window.fetch = (address, options) => {
                if (String(address).includes("/replay?")) requests.push(new URL(address).searchParams);
                return send(address, options);
            };
            window.own = new Replay(canvas, { room: "\(room.name)", clock: () => window.time, ...\(options) });
            own.addEventListener("divergence", ({ detail }) => seen.push(detail.message));
            own.addEventListener("lesson", ({ detail }) => (window.most = Math.max(most, detail.fetched)));
            window.expected = (time) => {
                const count = countAt(time);
                // What the server says of the page that is shown.
                const page = ops.slice(0, count).findLast(({ message }) => message.a === 5 || message.a === 6)?.page ?? 0;
                return `${count} ${count > 0 ? ops[count - 1].digest : "0000000000000000"} ${page}`;
            };
            window.seek = async (time) => {
                window.time = time;
                own.look();
                const end = performance.now() + 5000;
                while (!own.isThere && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 2));
                return `${own.index} ${own.digest} ${own.page}`;
            };
            \(BrowserWindow.pictureComparison)
            // What a board at a time looks like, drawn at once: its strokes, and above them those that grow.
            window.isDrawn = async (time) => {
                const board = new FoldedBoard(first.board);
                const count = countAt(time);
                for (const op of ops.slice(0, count)) board.apply(op);
                const authors = new Set();
                const growing = [];
                for (const { author, message, page } of ops.slice(count)) {
                    if ((message.a ?? 1) > 1 || message.e === 6) break;
                    if (authors.has(author)) continue;
                    authors.add(author);
                    if (!message.d.some(({ m }) => m > 0) || page !== board.shown) continue;
                    const d = message.d.filter(({ m }) => message.t + (m ?? 0) < time);
                    if (d.length > 0) growing.push({ index: 1e6 + growing.length, message: { ...message, d } });
                }
                const other = document.createElement("canvas");
                const painter = new Painter(other);
                painter.reset([...board.strokes, ...growing], { style: board.style, palette: board.palette, ...own.size, pixels: canvas.width });
                await idle(painter, own.painter);
                window.growing = growing.length;
                return unequal(canvas, other) === 0;
            };
            """)
        try await window.wait(for: "the lesson", "own.last > 0")
        try await window.run("await seek(0)")
        try await window.wait(for: "the board", "$('board').width === 800")
        return window
    }

    /// Seeks to random times and compares each board, and some pictures.
    private func seeks(_ count: Int, pictures: Int, in window: BrowserWindow, seed: UInt64) async throws -> AnyJSON {
        try await window.run(
            """
            let [seed, count, pictures] = args;
            const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
            const wrong = [];
            const { from, to } = own.span;
            let [time, grown, backwards] = [from, 0, 0];
            for (let i = 0; i < count; i++) {
                const before = time;
                // Far, a little forwards, a little backwards, and just at an operation.
                const kind = random();
                if (kind < 0.4) time = from - 500 + random() * (to - from + 1000);
                else if (kind < 0.6) time += random() * 900;
                else if (kind < 0.8) time -= random() * 900;
                else time = ops[Math.floor(random() * ops.length)].e + (random() < 0.5 ? 0 : 0.001);
                if (time < before) backwards++;
                const is = await seek(time);
                if (is !== expected(time)) wrong.push(`at ${time} after ${before}: ${is}, not ${expected(time)}`);
                else if (i % Math.ceil(count / pictures) === 0) {
                    if (!await isDrawn(time)) wrong.push(`the picture at ${time} after ${before}`);
                    grown += window.growing;
                }
            }
            // As the server says it elsewhere.
            for (let i = 0; i < 5; i++) {
                await seek(from + random() * (to - from));
                if (own.index === 0) continue;
                const address = `/api/rooms/${own.room}/board.json?room=${own.incarnation}&index=${own.index}`;
                const { digest, pages } = await (await fetch(address)).json();
                const isSame = JSON.stringify({ hidden: [], ...pages }, ["shown", "order", "hidden"])
                    === JSON.stringify(own.pages, ["shown", "order", "hidden"]);
                if (digest !== own.digest || !isSame) wrong.push(`board.json at ${own.index}`);
            }
            return { wrong, seen, grown: grown > 0, backwards: backwards > 0 };
            """, [.number(Double(seed % 2_000_000_000 + 1)), .number(Double(count)), .number(Double(pictures))])
    }

    @Test("at any time, forwards and backwards, the board is the fold of what the player has passed, and is drawn so")
    func randomSeeks() async throws {
        let seed = TestSeed.choose()
        let features = "board.features=pages,images,lasso"
        try await BrowserRoom.with(["limits.messages_per_second=100000", "log.tail=10000", features]) { room, _ in
            try await play(500, in: room, seed: seed)
            try room.playVideo()
            let right: AnyJSON = [
                "wrong": [], "seen": [], "grown": true, "backwards": true,
            ]
            let window = try await open(room)
            let all = try await seeks(200, pictures: 40, in: window, seed: seed)
            #expect(all == right, "seed \(seed): \(all.text)")
            // All of it was fetched, and nothing twice.
            try await window.wait(for: "the whole lesson", "most === own.last && own.last === ops.length")
            let fetched = try await window.run("return requests.length")
            #expect(try await seeks(100, pictures: 1, in: window, seed: seed / 2)["wrong"] == [], "seed \(seed)")
            let polls = try await window.run(
                "return requests.slice(args[0]).every((query) => query.get('after') == own.last)", [fetched])
            #expect(polls == true)

            // A page that may keep a quarter of it fetches again.
            let small = try await open(room, "{ mostPoints: 1000 }")
            let few = try await seeks(60, pictures: 20, in: small, seed: seed)
            #expect(few == right, "seed \(seed): \(few.text)")
            #expect(try await small.isTrue("requests.some((query) => query.has(\"from\")) && most < ops.length"))
        }
    }

    @Test("the page plays a lesson that goes on: to what was released and no further, with its own controls and keys")
    func page() async throws {
        try await BrowserRoom.with { room, _ in
            try await room.publish(8)
            // Strokes at 1, 2 … 8 ms of media time: nothing from 5 ms on.
            try room.setVideo(5)
            let window = try await BrowserWindow(at: "\(room.page)?replay")
            try await window.wait(for: "its end", "$('step').textContent.startsWith('The end of what was released')")
            #expect(try await window.run("return $('board').dataset.index") == "4")
            try await window.run("document.body.append(Object.assign(document.createElement('p'), { id: 'same' }))")
            try room.playVideo()
            // It comes without a reload.
            try await window.wait(forIndex: 8)
            #expect(try await window.isTrue("$('same') !== null"))
            let board = try await window.run(
                "return (await (await fetch('/api/rooms/\(room.name)/board.json')).json()).digest")
            #expect(AnyJSON.string(try await window.digest()) == board)

            // At its end it stands. Play begins anew; Home, End and the slider seek.
            try await window.wait(for: "the end", "$('play').getAttribute('aria-label') === 'Play'")
            try await window.press("Home")
            try await window.wait(for: "the beginning", "$('board').dataset.index === '0'")
            #expect(try await window.inkedPixels() == 0)
            try await window.press(" ")
            try await window.wait(for: "it plays", "$('play').getAttribute('aria-label') === 'Pause'")
            try await window.press(" ")
            try await window.wait(for: "it stands", "$('play').getAttribute('aria-label') === 'Play'")
            try await window.run(
                """
                const slider = $('seek');
                // A second before the first stroke at 1 ms.
                set(slider, "1004");
                """)
            try await window.wait(for: "the middle", "$('board').dataset.index === '4'")
            try await window.press("ArrowRight")
            try await window.wait(forIndex: 8)
            try await window.press("ArrowLeft")
            try await window.wait(for: "the beginning", "$('board').dataset.index === '0'")
            try await window.press("End")
            try await window.wait(forIndex: 8)
            try await window.expectNoComplaints()
            try await window.keepScreenshot("replay-page")
        }
    }

    @Test func `a lesson whose beginning the journal has lost is said to be gone`() async throws {
        try await BrowserRoom.with { room, _ in
            try await room.publish(5)
            try room.playVideo()
            try await room.purgeJournal(before: 3)
            let window = try await BrowserWindow(at: "\(room.page)?replay")
            try await window.wait(for: "the refusal", "$('waiting').textContent.includes('no longer kept')")
            #expect(try await window.isTrue("$('waiting').dataset.done === undefined"))
            #expect(try await window.inkedPixels() == 0)
            // The page of the start has the way here.
            try await window.open(room.address)
            try await window.wait(
                for: "the link",
                "document.querySelector(\"a[href$='/rooms/\(room.name)?replay']\")?.textContent === \"Replay\"")
        }
    }
}
