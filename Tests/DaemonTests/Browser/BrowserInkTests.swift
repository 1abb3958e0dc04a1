import Foundation
import NATSTestServer
import TestSupport
import Testing

/// The canvas of `lectern.js` beside the server's picture, for every style.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .enabled(if: BrowserWindow.runsAll, "make browser runs it"))
struct BrowserInkTests {
    /// How far a canvas may be from the server's picture, over the pixels that are inked in either.
    private static let mostMean = 6.0
    private static let mostOff = 0.001

    private static let styles = [
        "smooth", "quadratic", "bspline", "calligraphy", "pen", "stamp", "stamp-square", "stamp-marker",
        "stamp-highlighter", "pencil",
    ]

    /// Folds the operations of a lesson, paints them, and compares with a picture.
    private static let comparison = """
        const [lines, style, width, oneByOne, base64] = args;
        const { BoardModel, Painter } = await import("/lectern.js");
        const palette = "#000000 #d92020 #1f4fd8 #1a9850 #f08c00 #7b2cbf #6b4423 #7f7f7f".split(" ");
        const model = new BoardModel();
        model.join({ room: "r", index: 0, palette, style, board: { w: 1024, h: 768 }, visible: [], redo: [] });
        const canvas = document.createElement("canvas");
        const painter = new Painter(canvas);
        const options = { style, width: 1024, height: 768, pixels: width };
        if (oneByOne) painter.reset([], options);
        const [undo, redo] = [[], []];
        let [index, stroke] = [0, null];
        for (const line of lines) {
            const message = JSON.parse(line);
            const action = message.a || 1;
            let ref;
            if (action === 1) {
                stroke = stroke ? { ...stroke, d: [...stroke.d, ...message.d] } : message;
                if (message.s > 1 && message.o !== message.s - 1) continue;
            }
            index++;
            if (action === 1) { undo.push(index); redo.length = 0; }
            else if (action === 2) redo.push((ref = undo.pop()));
            else if (action === 3) undo.push((ref = redo.pop()));
            else undo.length = redo.length = 0;
            const change = model.apply({ index, author: "a", ref, message: action === 1 ? { ...stroke, s: 0, o: 0 } : message });
            stroke = null;
            if (oneByOne) painter.change(change.shown, change.hidden);
        }
        if (!oneByOne) painter.reset(model.strokes, options);
        while (painter.progress < 1) await new Promise((resolve) => setTimeout(resolve, 5));
        const picture = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))]));
        \(BrowserWindow.pixelComparison)
        const sizes = canvas.width === picture.width && canvas.height === picture.height;
        return { digest: model.digest, sizes, ...compared(canvas, picture) };
        """

    @Test(
        "the canvas equals the server's picture in every style, drawn at once and operation by operation",
        arguments: styles)
    func equal(_ style: String) async throws {
        try await NATSTestServer.with(jetStream: true) { nats in
            let daemon = try DaemonProcess("a", nats: nats.url, http: "127.0.0.1:0")
            let port = try await daemon.httpPort()
            let window = try await BrowserWindow()
            try await window.open("http://127.0.0.1:\(port)/rooms/ink")
            for lesson in SampleLesson.available {
                for width in [1024, 1600] {
                    let result = try await compare(lesson, style, width, in: window)
                    guard let inked = result["inked"]?.double, let mean = result["mean"]?.double,
                        let off = result["off"]?.double
                    else { throw Unexpected("no result: \(result)") }
                    print(
                        String(
                            format: "%@ %@ %d: %.0f pixels, mean difference %.2f of 255, %.3f %% off by more than 96",
                            lesson.rawValue, style, width, inked, mean, off * 100))
                    #expect(result["sizes"] == .bool(true))
                    #expect(inked > 1000)
                    #expect(mean <= Self.mostMean, "\(lesson) \(style) \(width)")
                    #expect(off <= Self.mostOff, "\(lesson) \(style) \(width)")
                }
            }
            try await window.close()
        }
    }

    @Test("curves and digests are those of the test vectors")
    func vectors() async throws {
        try await NATSTestServer.with(jetStream: true) { nats in
            let daemon = try DaemonProcess("a", nats: nats.url, http: "127.0.0.1:0")
            let port = try await daemon.httpPort()
            let window = try await BrowserWindow()
            try await window.open("http://127.0.0.1:\(port)/rooms/ink")
            let folder = PackageRoot.path(to: "Sources/StrokeWire/StrokeWire.docc/Resources")
            func vectors(_ name: String) throws -> AnyJSON {
                .string(String(decoding: try Data(contentsOf: URL(filePath: "\(folder)/\(name).json")), as: UTF8.self))
            }
            let wrong = try await window.run(
                """
                const { trace } = await import("/lectern/curves.js");
                const { mix } = await import("/lectern/model.js");
                const wrong = [];
                for (const { name, style, e, l, d, segments } of JSON.parse(args[0]).cases) {
                    const traced = [];
                    const note = (kind) => (...numbers) => traced.push([kind, ...numbers]);
                    const sink = { begin: note("begin"), line: note("line"), quadratic: note("quadratic"), cubic: note("cubic") };
                    trace({ element: e, width: l, points: d }, style, sink);
                    const wanted = segments.map(({ segment, control = [], control1 = [], control2 = [], to, width, opacity, controlWidth }) =>
                        [segment, ...control, ...control1, ...control2, ...to, width, opacity, controlWidth ?? []].flat());
                    const isSame = traced.length === wanted.length && traced.flat().every((value, place) => {
                        const other = wanted.flat()[place];
                        return value === other || Math.abs(value - other) < 2e-6;
                    });
                    if (!isSame) wrong.push(name);
                }
                const mask = (1n << 64n) - 1n;
                for (const { indices, digest } of JSON.parse(args[1]).boards) {
                    if (!indices.every(Number.isSafeInteger)) continue;
                    const sum = indices.reduce((sum, index) => (sum + mix(index)) & mask, 0n);
                    if (sum.toString(16).padStart(16, "0") !== digest) wrong.push(digest);
                }
                return wrong;
                """, [try vectors("styles"), try vectors("digests")])
            #expect(wrong == .array([]))
        }
    }

    private func compare(
        _ lesson: SampleLesson, _ style: String, _ width: Int, in window: BrowserWindow
    ) async throws -> AnyJSON {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("ink-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (source, picture) = (folder.path + "/lesson.ndjson", folder.path + "/board.png")
        try Data(lesson.bytes()).write(to: URL(filePath: source))
        // As in the settings: a style, and its tip.
        let ink = style.split(separator: "-").map(String.init)
        let run = try await LecternProcess.run(
            "render", source, "-o", picture, "--style", ink[0], "--tip", ink.count > 1 ? ink[1] : "round", "--width",
            "\(width)")
        guard run.exitCode == 0 else { throw Unexpected(run.log) }
        let lines = try lesson.messages().map { AnyJSON.string(String(decoding: $0, as: UTF8.self)) }
        // The short lessons at once too.
        var result = AnyJSON.null
        for oneByOne in SampleLesson.short.contains(lesson) ? [false, true] : [true] {
            let own = try await window.run(
                Self.comparison,
                [
                    .array(lines), .string(style), .number(Double(width)), .bool(oneByOne),
                    .string(try Data(contentsOf: URL(filePath: picture)).base64EncodedString()),
                ])
            // Neither way of drawing makes a difference.
            #expect(result == .null || result == own)
            result = own
        }
        return result
    }
}
