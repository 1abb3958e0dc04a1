import Foundation
import TestSupport
import Testing

/// Gestures with the lasso of the teacher's page, and what they have made of the picture.
extension BrowserWindow {
    /// Where a part of the board is in the window, in CSS pixels.
    /// - Parameters:
    ///   - across, down: parts of its width and height.
    func place(_ across: Double, _ down: Double) async throws -> (x: Double, y: Double) {
        let box = try await box(of: Self.canvas)
        return (box[0] + box[2] * across, box[1] + box[3] * down)
    }

    /// Takes the lasso and draws a loop around a part of the board.
    func select(
        _ across: Double, _ down: Double, _ reachAcross: Double, _ reachDown: Double, with pointer: Pointer
    ) async throws {
        try await press("s")
        try await drawLoop(across, down, reachAcross, reachDown, with: pointer)
    }

    /// Draws a loop around a part of the board, and waits for the selection.
    func drawLoop(
        _ across: Double, _ down: Double, _ reachAcross: Double, _ reachDown: Double, with pointer: Pointer
    ) async throws {
        let start = try await place(0, 0)
        let end = try await place(1, 1)
        try await draw(
            (0..<24).map { step in
                let angle = 2 * Double.pi * Double(step) / 24
                return (
                    start.x + (end.x - start.x) * (across + reachAcross * cos(angle)),
                    start.y + (end.y - start.y) * (down + reachDown * sin(angle))
                )
            }, with: pointer)
        try await waitForSelection()
    }

    func tap(_ across: Double, _ down: Double) async throws {
        try await draw([try await place(across, down)], with: .mouse)
    }

    func waitForSelection() async throws {
        try await wait(for: "a selection", "!$('selection').hidden")
    }

    func dragSelection(
        from start: (Double, Double), to end: (Double, Double), with pointer: Pointer
    ) async throws {
        let (from, to) = (try await place(start.0, start.1), try await place(end.0, end.1))
        try await draw(
            (0...8).map { step in
                let part = Double(step) / 8
                return (from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part)
            }, with: pointer)
    }

    /// Drags a handle of the selection by so many CSS pixels.
    func dragHandle(
        _ selector: String, by shift: (x: Double, y: Double), with pointer: Pointer, shift isFree: Bool = false
    ) async throws {
        if isFree {
            let hold = "(event) => Object.defineProperty(event, 'shiftKey', { value: true })"
            try await run("document.addEventListener('pointermove', \(hold), { capture: true })")
        }
        let box = try await box(of: "document.querySelector(\"\(selector)\")")
        let (x, y) = (box[0] + box[2] / 2, box[1] + box[3] / 2)
        try await draw((0...6).map { (x + shift.x * Double($0) / 6, y + shift.y * Double($0) / 6) }, with: pointer)
    }

    /// The index of the last operation shown.
    func index() async throws -> Int? {
        try await run("return $('board').dataset.index").string.flatMap { Int($0) }
    }

    /// The canvas as a picture, in base64.
    func picture() async throws -> String {
        try await string("$('board').toDataURL().split(',')[1]")
    }

    /// The canvas with what is dragged above it, as it is seen.
    func seenPicture() async throws -> String {
        try await run(
            """
            const board = $('board');
            const canvas = Object.assign(document.createElement("canvas"), { width: board.width, height: board.height });
            const context = canvas.getContext("2d");
            context.drawImage(board, 0, 0);
            const lifted = document.querySelector("#lift canvas");
            if (lifted) {
                const zoom = board.width / board.clientWidth;
                context.setTransform(new DOMMatrix([zoom, 0, 0, zoom, 0, 0]).multiply(new DOMMatrix(getComputedStyle(lifted).transform)));
                context.drawImage(lifted, 0, 0);
            }
            return canvas.toDataURL().split(",")[1];
            """
        ).required(as: \.string)
    }

    /// The mean difference of the canvas to a picture over the pixels that are inked in either; infinite where pixels are off
    /// by more than 96.
    func difference(to picture: String) async throws -> Double {
        let result = try await run(
            """
            const picture = await createImageBitmap(new Blob([Uint8Array.from(atob(args[0]), (c) => c.charCodeAt(0))]));
            \(Self.pixelComparison)
            return compared($('board'), picture);
            """, [.string(picture)])
        guard let mean = result["mean"]?.double, let off = result["off"]?.double else { throw Unexpected("\(result)") }
        return off > 0.001 ? .infinity : mean
    }

    /// Expects the canvases of two windows to be equal, where both are 1024 pixels wide.
    func expectSamePicture(
        as other: BrowserWindow, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        for window in [self, other] {
            try await window.run("$('sheet').style.width = '1024px'")
            try await window.wait(for: "another size", "$('board').width === 1024")
        }
        let difference = try await difference(to: try await other.picture())
        #expect(difference < 0.5, sourceLocation: sourceLocation)
        for window in [self, other] { try await window.run("$('sheet').style.width = ''") }
    }

    /// The `m` and `k` of the operation after an index, as JSON.
    func lastLasso(in room: BrowserRoom, after index: Int) async throws -> String {
        let reply = try await run(
            """
            const answer = await fetch("/api/rooms/\(room.name)/replay?cohort=head&after=\(index)&limit=1");
            const { m, k } = (await answer.json()).ops[0].message;
            return JSON.stringify({ m, k });
            """)
        return try reply.required(as: \.string)
    }
}
