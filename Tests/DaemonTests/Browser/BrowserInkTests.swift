import CoreTrial
import Foundation
import NATSTestServer
import TestSupport
import Testing

/// The canvas of `lectern.js` beside the server's picture, for every style.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserInkTests {
    /// Folds the operations of a lesson, paints them, and compares with a picture.
    private static let comparison = """
        const [lines, style, width, oneByOne, base64] = args;
        const { Painter } = await import("/lectern.js");
        \(BrowserWindow.foldedBoard)
        const palette = "#000000 #d92020 #1f4fd8 #1a9850 #f08c00 #7b2cbf #6b4423 #7f7f7f".split(" ");
        const board = new FoldedBoard({ index: 0, palette, style, visible: [] });
        const canvas = document.createElement("canvas");
        const painter = new Painter(canvas);
        const options = { style, palette, width: 1024, height: 768, pixels: width };
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
            const change = board.apply({ index, author: "a", ref, message: action === 1 ? { ...stroke, s: 0, o: 0 } : message });
            stroke = null;
            if (oneByOne) painter.change(change.shown, change.hidden);
        }
        if (!oneByOne) painter.reset(board.strokes, options);
        while (painter.progress < 1) await new Promise((resolve) => setTimeout(resolve, 5));
        \(BrowserWindow.pictureComparison)
        return { inked: inkOf(canvas), different: await differences(canvas, base64) };
        """

    @Test(
        "the canvas equals the server's picture in every style, drawn at once and operation by operation",
        arguments: KnownCalls.styles)
    func equal(_ style: String) async throws {
        try await NATSTestServer.with(jetStream: true) { nats in
            let daemon = try DaemonProcess("a", nats: nats.url, http: "127.0.0.1:0")
            let port = try await daemon.httpPort()
            let window = try await BrowserWindow(at: "http://127.0.0.1:\(port)/rooms/ink")
            for lesson in SampleLesson.available {
                for width in [1024, 1600] {
                    let result = try await compare(lesson, style, width, in: window)
                    #expect(result["different"] == 0, "\(lesson) \(style) \(width)")
                    #expect((result["inked"]?.double ?? 0) > 1000)
                }
            }
            try await window.close()
        }
    }

    private func compare(
        _ lesson: SampleLesson, _ style: String, _ width: Int, in window: BrowserWindow
    ) async throws -> AnyJSON {
        let picture = try await LecternProcess.picture(of: lesson.bytes(), style, width: width)
        let lines = try lesson.messages().map { AnyJSON.string(String(decoding: $0, as: UTF8.self)) }
        // The short lessons at once too.
        var result = AnyJSON.null
        for oneByOne in SampleLesson.short.contains(lesson) ? [false, true] : [true] {
            let own = try await window.run(
                Self.comparison,
                [.array(lines), .string(style), .number(Double(width)), .bool(oneByOne), .string(picture)])
            // Neither way of drawing makes a difference.
            #expect(result == .null || result == own)
            result = own
        }
        return result
    }
}
