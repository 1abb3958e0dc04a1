import Foundation
import TestSupport
import Testing

/// Pages with images and lassos on the canvas of `lectern.js`, beside pictures of them that are made of pixels.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .enabled(if: BrowserWindow.runsAll, "make browser runs it"))
struct BrowserSceneTests {
    /// What the tests share: random pages of strokes, erasers, frames and lassos, ways to paint them, and comparisons.
    private static let library = """
        const { Painter } = await import("/lectern.js");
        const [W, H] = [400, 300];
        /** Numbers of 0 … 1, the same for a seed. */
        function random(seed) {
            return () => {
                seed = (seed + 0x6d2b79f5) | 0;
                let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
                t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
                return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
            };
        }
        const colours = ["#000000", "#d92020", "#1f4fd8", "#1a9850"];
        const entry = (index, element, width, points, more = {}) =>
            ({ index, page: 0, author: "a", element, width, points, colour: "#000000", ...more });
        function randomMap(r, x, y) {
            const [angle, size, kind] = [(r() - 0.5) * 2, 0.7 + r() * 0.7, r()];
            const [sx, sy] = [kind > 0.65 && kind < 0.75 ? -size : size, kind > 0.75 ? size * 0.6 : size];
            const [a, b, c, d] = [sx * Math.cos(angle), sx * Math.sin(angle), -sy * Math.sin(angle), sy * Math.cos(angle)];
            const [dx, dy] = [(r() - 0.5) * 150, (r() - 0.5) * 120];
            return [a, b, c, d, x + dx - a * x - c * y, y + dy - b * x - d * y];
        }
        function page(seed, count) {
            const r = random(seed);
            const walk = (x, y, steps, stride) => Array.from({ length: steps }, () => {
                const point = { x, y };
                [x, y] = [x + (r() - 0.5) * stride, y + (r() - 0.5) * stride];
                return point;
            });
            return Array.from({ length: count }, (_, place) => {
                const [index, kind, x, y] = [place + 1, r(), 30 + r() * (W - 60), 30 + r() * (H - 60)];
                const colour = colours[Math.floor(r() * 4)];
                if (kind < 0.55) return entry(index, 0, 3 + r() * 6, walk(x, y, 8, 60), { colour });
                if (kind < 0.65) return entry(index, 3, 4, [{ x, y }, { x: x + r() * 80, y: y + r() * 60 }], { colour });
                if (kind < 0.75) return entry(index, 4, 14, walk(x, y, 4, 120));
                if (kind < 0.8) return entry(index, 5, 1, [{ x, y }, { x: x + 60, y: y + 50 }], { asset: "a", assetPage: 0 });
                const radius = 40 + r() * 50;
                const path = Array.from({ length: 10 }, (_, corner) => {
                    const [angle, reach] = [(corner / 10) * 2 * Math.PI, radius * (0.6 + 0.4 * r())];
                    return { x: x + reach * Math.cos(angle), y: y + reach * Math.sin(angle) };
                });
                return entry(index, 6, 1, path, { map: r() > 0.12 ? randomMap(r, x, y) : null, keepsOriginal: r() < 0.3 });
            });
        }
        const idle = async (painter) => { while (painter.progress < 1) await new Promise((resolve) => setTimeout(resolve, 1)); };
        async function painted(entries, style = "smooth", pixels = W) {
            const canvas = document.createElement("canvas");
            const painter = new Painter(canvas);
            painter.reset(entries, { style, width: W, height: H, pixels });
            await idle(painter);
            return canvas;
        }
        /** The page as the meaning of a lasso says it, with pixels a quarter as large that are cut and moved. */
        async function reference(entries, style) {
            const fine = 4;
            const canvas = () => Object.assign(document.createElement("canvas"), { width: W * fine, height: H * fine });
            let current = canvas();
            for (const item of entries) {
                if (item.element !== 6) {
                    const context = current.getContext("2d");
                    const single = await painted([{ ...item, element: item.element === 4 ? 0 : item.element }], style, W * fine);
                    context.globalCompositeOperation = item.element === 4 ? "destination-out" : "source-over";
                    context.drawImage(single, 0, 0);
                    continue;
                }
                const path = new Path2D();
                for (const { x, y } of item.points) path.lineTo(x * fine, y * fine);
                path.closePath();
                const next = canvas();
                const context = next.getContext("2d");
                context.drawImage(current, 0, 0);
                if (!item.keepsOriginal) {
                    context.globalCompositeOperation = "destination-out";
                    context.fill(path, "evenodd");
                    context.globalCompositeOperation = "source-over";
                }
                if (item.map) {
                    const inside = canvas();
                    const cut = inside.getContext("2d");
                    cut.drawImage(current, 0, 0);
                    cut.globalCompositeOperation = "destination-in";
                    cut.fill(path, "evenodd");
                    const [a, b, c, d, e, f] = item.map;
                    context.setTransform(a, b, c, d, e * fine, f * fine);
                    context.imageSmoothingQuality = "high";
                    context.drawImage(inside, 0, 0);
                    context.resetTransform();
                }
                current = next;
            }
            return createImageBitmap(current, { resizeWidth: W, resizeHeight: H, resizeQuality: "high" });
        }
        \(BrowserWindow.pixelComparison)
        const compare = async (one, other) => compared(one, await createImageBitmap(other));
        """

    /// Opens a page that can import `lectern.js`, and nothing else.
    private func withPage(_ body: @escaping @Sendable (BrowserWindow) async throws -> Void) async throws {
        try await BrowserRoom.with { room, _ in
            let window = try await BrowserWindow()
            try await window.open("\(room.address)/healthz")
            try await body(window)
            try await window.close()
        }
    }

    @Test(
        "pages with nested lassos look as if pixels had been cut and moved, but sharper",
        arguments: ["smooth", "pencil", "bspline"])
    func meaning(_ style: String) async throws {
        try await withPage { window in
            let seed = Int(TestSeed.choose() % 1_000_000)
            for number in 0..<6 {
                let result = try await window.run(
                    """
                    \(Self.library)
                    const entries = page(args[0], 30);
                    return compare(await painted(entries, args[1]), await reference(entries, args[1]));
                    """, [.number(Double(seed + number)), .string(style)])
                guard let mean = result["mean"]?.double, let off = result["off"]?.double else {
                    throw Unexpected("no result: \(result)")
                }
                // Pixels are blurred by each move, and no worse.
                #expect(mean <= 6 && off <= 0.02, "\(style), seed \(seed + number): \(mean), \(off)")
            }
        }
    }

    @Test("a page after any changes below and above its lassos is that of its entries, painted from nothing")
    func incremental() async throws {
        try await withPage { window in
            let seed = Int(TestSeed.choose() % 1_000_000)
            for number in 0..<6 {
                let result = try await window.run(
                    """
                    \(Self.library)
                    const entries = page(args[0], 30);
                    const r = random(args[0] + 99);
                    const canvas = document.createElement("canvas");
                    const painter = new Painter(canvas);
                    painter.reset([], { style: "smooth", width: W, height: H, pixels: W });
                    await idle(painter);
                    const there = new Set();
                    let worst = { mean: 0, off: 0 };
                    for (let step = 0; step < 90; step++) {
                        // Some at a time, as an undo of a clear brings them.
                        const chosen = step < 30 ? [entries[step]] : entries.filter(() => r() < (r() < 0.1 ? 0.3 : 0.03));
                        const shown = chosen.filter((entry) => !there.has(entry));
                        const hidden = chosen.filter((entry) => there.has(entry));
                        painter.change(shown, hidden);
                        for (const entry of shown) there.add(entry);
                        for (const entry of hidden) there.delete(entry);
                        if (step % 6 !== 5) continue;
                        await idle(painter);
                        const now = await compare(canvas, await painted(entries.filter((entry) => there.has(entry))));
                        if (now.mean > worst.mean) worst = now;
                    }
                    return worst;
                    """, [.number(Double(seed + number))])
                guard let mean = result["mean"]?.double, let off = result["off"]?.double else {
                    throw Unexpected("no result: \(result)")
                }
                // Edges of clips are rounded otherwise where less is painted.
                #expect(mean <= 1 && off == 0, "seed \(seed + number): \(mean), \(off)")
            }
        }
    }

    @Test("a lasso that waits for its answer is seen at once, and what is drawn meanwhile lies where it belongs")
    func live() async throws {
        try await withPage { window in
            let result = try await window.run(
                """
                \(Self.library)
                const entries = page(11, 24);
                const options = { style: "smooth", width: W, height: H, pixels: W };
                const canvas = document.createElement("canvas");
                const painter = new Painter(canvas);
                painter.reset(entries.slice(0, 10), options);
                await idle(painter);
                const results = [];
                const lasso = { ...entries.find(({ element }) => element === 6), index: 0 };
                const stroke = entry(0, 0, 5, [{ x: 20, y: 20 }, { x: 380, y: 280 }, { x: 390, y: 20 }]);
                const check = async (list) => results.push(await compare(canvas, await painted(list)));
                painter.showLive([lasso]);
                await check([...entries.slice(0, 10), lasso]);
                painter.showLive([lasso, stroke]);
                await check([...entries.slice(0, 10), lasso, stroke]);
                // Another teacher draws below it.
                painter.change([entries[10]], []);
                painter.showLive([lasso, stroke]);
                await check([...entries.slice(0, 11), lasso, stroke]);
                // The answer is there.
                const settled = { ...lasso, index: 12 };
                painter.change([settled], []);
                painter.showLive([stroke]);
                await check([...entries.slice(0, 11), settled, stroke]);
                painter.showLive([]);
                await check([...entries.slice(0, 11), settled]);
                return results.map(({ mean, off }) => [mean, off]);
                """)
            guard case .array(let results) = result, results.count == 5 else { throw Unexpected("\(result)") }
            for (step, numbers) in results.enumerated() {
                guard case .array(let pair) = numbers else { throw Unexpected("\(numbers)") }
                #expect((pair[0].double ?? 9) <= 0.2 && pair[1].double == 0, "step \(step): \(pair)")
            }
        }
    }

    @Test(
        "64 nested lassos on 1,000 strokes make no more items than they move or cut, and beyond a bound pixels are moved"
    )
    func nested() async throws {
        try await withPage { window in
            let result = try await window.run(
                """
                \(Self.library)
                const { Scene, Snapshot } = await import("/lectern/scene.js");
                const strokes = Array.from({ length: 1000 }, (_, n) => {
                    const [x, y] = [20 + (n % 40) * 9, 20 + Math.floor(n / 40) * 10];
                    return entry(n + 1, 0, 1.5, [{ x, y }, { x: x + 4, y: y + 4 }]);
                });
                const square = (left, top, right, bottom) =>
                    [{ x: left, y: top }, { x: right, y: top }, { x: right, y: bottom }, { x: left, y: bottom }];
                const lassos = (count, map, keepsOriginal) => Array.from({ length: count }, (_, n) =>
                    entry(1001 + n, 6, 1, square(-400, -400, 800, 800), { map, keepsOriginal }));
                // About the middle of the board: nothing comes to the border of the path.
                const [cosine, sine] = [Math.cos(0.05), Math.sin(0.05)];
                const turn = [cosine, sine, -sine, cosine, 200 - 200 * cosine + 150 * sine, 150 - 200 * sine - 150 * cosine];
                const began = performance.now();
                const moved = new Scene("smooth", 1).items([...strokes, ...lassos(64, turn, false)]).length;
                const time = performance.now() - began;
                const copied = new Scene("smooth", 1).items([...strokes, ...lassos(64, turn, true)]);
                const canvas = await painted([...strokes, ...lassos(8, turn, true)]);
                return { moved, time, copied: copied.length, isPixels: copied.some((item) => (item.source ?? item) instanceof Snapshot),
                    inked: (await compare(canvas, await painted([]))).inked };
                """)
            #expect(result["moved"] == .number(1000))
            #expect(result["isPixels"] == .bool(true))
            #expect((result["copied"]?.double ?? 0) <= 8192)
            #expect((result["inked"]?.double ?? 0) > 1000)
            print("64 nested lassos on 1,000 strokes: \(Int(result["time"]?.double ?? 0)) ms for their items")
        }
    }
}
