import CoreTrial
import Foundation
import TestSupport
import Testing

/// Pages with images and lassos on the canvas of `lectern.js`, beside pictures of them that are made of pixels.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserSceneTests {
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
        const palette = ["#000000", "#d92020", "#1f4fd8", "#1a9850"];
        const rounded = (points) => points.map(({ x, y }) => ({ x: Math.round(x * 100) / 100, y: Math.round(y * 100) / 100 }));
        /** An entry of a page: a message with points, and its place in the room. */
        const entry = (index, e, l, points, more = {}) =>
            ({ index, page: 0, author: "a", message: { n: index, e, l, w: W, h: H, d: rounded(points), ...more } });
        function randomMap(r, x, y) {
            const [angle, size, kind] = [(r() - 0.5) * 2, 0.7 + r() * 0.7, r()];
            const [sx, sy] = [kind > 0.65 && kind < 0.75 ? -size : size, kind > 0.75 ? size * 0.6 : size];
            const [a, b, c, d] = [sx * Math.cos(angle), sx * Math.sin(angle), -sy * Math.sin(angle), sy * Math.cos(angle)];
            const [dx, dy] = [(r() - 0.5) * 150, (r() - 0.5) * 120];
            return [a, b, c, d, x + dx - a * x - c * y, y + dy - b * x - d * y];
        }
        /** A picture of noise: its bytes as a PNG, its id, and what a painter asks for pictures. */
        async function noise() {
            const [r, canvas] = [random(5), new OffscreenCanvas(64, 48)];
            const pixels = new ImageData(64, 48);
            for (let at = 0; at < pixels.data.length; at++) pixels.data[at] = at % 4 === 3 ? 255 : Math.floor(r() * 256);
            canvas.getContext("2d").putImageData(pixels, 0, 0);
            const file = await canvas.convertToBlob();
            const bytes = new Uint8Array(await file.arrayBuffer());
            const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
            const id = [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
            const bitmap = await createImageBitmap(file);
            return { base64: btoa(String.fromCharCode(...bytes)), id, images: { startPass() {}, retry() {}, picture: () => bitmap } };
        }
        function page(seed, count, asset = "a".repeat(64)) {
            const r = random(seed);
            const walk = (x, y, steps, stride) => Array.from({ length: steps }, () => {
                const point = { x, y };
                [x, y] = [x + (r() - 0.5) * stride, y + (r() - 0.5) * stride];
                return point;
            });
            return Array.from({ length: count }, (_, place) => {
                const [index, kind, x, y] = [place + 1, r(), 30 + r() * (W - 60), 30 + r() * (H - 60)];
                const c = Math.floor(r() * 4);
                const [pen, shape] = [kind < 0.45 ? 0 : 9, kind < 0.58 ? 3 : kind < 0.61 ? 10 : kind < 0.63 ? 1 : 2];
                const wide = pen === 9 ? 3 : 1;
                if (kind < 0.55) return entry(index, pen, wide * Math.round(3 + r() * 6), walk(x, y, 8, 60), { c });
                if (kind < 0.65) return entry(index, shape, 4, [{ x, y }, { x: x + r() * 80, y: y + r() * 60 }], { c });
                if (kind < 0.75) return entry(index, 4, 14, walk(x, y, 4, 120));
                if (kind < 0.8) return entry(index, 5, 1, [{ x, y }, { x: x + 60, y: y + 50 }], { i: asset, p: 0 });
                const radius = 40 + r() * 50;
                const path = Array.from({ length: 10 }, (_, corner) => {
                    const [angle, reach] = [(corner / 10) * 2 * Math.PI, radius * (0.6 + 0.4 * r())];
                    return { x: x + reach * Math.cos(angle), y: y + reach * Math.sin(angle) };
                });
                const m = r() > 0.12 ? randomMap(r, x, y).map((number) => Math.round(number * 1e6) / 1e6) : undefined;
                return entry(index, 6, 1, path, { m, k: m && r() < 0.3 ? 1 : undefined });
            });
        }
        /** Paints a page, at once or entry by entry. */
        async function painted(entries, style, pixels, images, inSteps) {
            const canvas = document.createElement("canvas");
            const painter = new Painter(canvas, images);
            const later = inSteps ? entries.filter((_, place) => place % 3 === 0) : [];
            painter.reset(entries.filter((entry) => !later.includes(entry)), { style, palette, width: W, height: H, pixels });
            await idle(painter);
            if (inSteps) {
                // Above the others while they have no index, then among them.
                painter.showLive(later);
                await idle(painter);
                painter.showLive([]);
                painter.change(later, entries.slice(-1));
                await idle(painter);
                painter.change(entries.slice(-1), []);
                await idle(painter);
            }
            return canvas;
        }
        \(BrowserWindow.pictureComparison)
        """

    /// Opens a page that can import `lectern.js`, and nothing else.
    private func withPage(_ body: @escaping @Sendable (BrowserWindow) async throws -> Void) async throws {
        try await BrowserRoom.with { room, _ in
            let window = try await BrowserWindow(at: "\(room.address)/healthz")
            try await body(window)
            try await window.close()
        }
    }

    /// The pages of a style: some 500 with all styles.
    private static let pagesOfStyle = 50
    /// Those that one script paints; the images of so many have their pixels, those of the others are frames.
    private static let (batch, illustrated) = (10, 3)

    @Test(
        "random pages of strokes of every pen, shapes, erasers, images, frames and nested lassos are the service's pictures in every pixel",
        arguments: KnownCalls.styles)
    func pages(_ style: String) async throws {
        try await withPage { window in
            let first = Int(TestSeed.choose() % 1_000_000)
            for seed in stride(from: first, to: first + Self.pagesOfStyle, by: Self.batch) {
                let seeds = AnyJSON.array((seed..<seed + Self.batch).map { .number(Double($0)) })
                let made = try await window.run(
                    """
                    \(Self.library)
                    const { base64, id } = await noise();
                    const lesson = (entries) => entries.map(({ message }) => JSON.stringify(message) + "\\n").join("");
                    return [base64, ...args[0].map((seed, place) => lesson(page(seed, 30, place < args[1] ? id : undefined)))];
                    """, [seeds, .number(Double(Self.illustrated))]
                ).strings
                let asset = [UInt8](try #require(Data(base64Encoded: made.first ?? "")))
                // A large one among small ones.
                let widths = (0..<Self.batch).map { $0 == 0 ? 1000 : [400, 137, 256][$0 % 3] }
                var pictures = [AnyJSON](repeating: .null, count: Self.batch)
                try await withThrowingTaskGroup(of: (Int, String).self) { group in
                    for (place, lesson) in made.dropFirst().enumerated() {
                        let asset = place < Self.illustrated ? asset : nil
                        group.addTask {
                            let file = try await LecternProcess.picture(
                                of: Array(lesson.utf8), style, width: widths[place], asset: asset)
                            return (place, file)
                        }
                    }
                    for try await (place, file) in group { pictures[place] = .string(file) }
                }
                let results = try await window.run(
                    """
                    \(Self.library)
                    const [seeds, illustrated, style, widths, pictures] = args;
                    const { id, images } = await noise();
                    const results = [];
                    for (const [place, seed] of seeds.entries()) {
                        const [i, store] = place < illustrated ? [id, images] : [undefined, null];
                        const canvas = await painted(page(seed, 30, i), style, widths[place], store, place % 5 === 1);
                        results.push([await differences(canvas, pictures[place]), inkOf(canvas)]);
                    }
                    return results;
                    """,
                    [
                        seeds, .number(Double(Self.illustrated)), .string(style),
                        .array(widths.map { .number(Double($0)) }), .array(pictures),
                    ])
                #expect(results.elements.count == Self.batch)
                for (place, result) in results.elements.enumerated() {
                    let found = try result.numbers(2)
                    #expect(found[0] == 0, "\(style), seed \(seed + place), page \(place) of its script")
                    #expect(found[1] > 100)
                }
            }
        }
    }
}
