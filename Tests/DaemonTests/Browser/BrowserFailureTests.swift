import Foundation
import TestSupport
import Testing

/// A board whose core fails: WebAssembly ends an instance that traps.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .enabled(if: BrowserWindow.runsAll, "make browser runs it"))
struct BrowserFailureTests {
    /// Has an instance of the core trap, by a selection of more corners than there is memory, with the next event, as often as
    /// `window.traps` says.
    private static let trap = """
        const Real = WebAssembly.Instance;
        Object.assign(window, { traps: 0, instances: 0, faults: [] });
        WebAssembly.Instance = function (module, imports) {
            const { exports } = new Real(module, imports);
            window.instances++;
            const studentReceive = (...values) => {
                if (window.traps > 0) {
                    window.traps--;
                    exports.select(1e9);
                }
                exports.studentReceive(...values);
            };
            return { exports: { ...exports, studentReceive } };
        };
        """

    @Test(
        "a core that traps is replaced: the board is joined again in the same pixels, and the server hears of it once")
    func replaced() async throws {
        try await BrowserRoom.with { room, daemon in
            try room.playVideo()
            try await room.publish(3)
            let window = try await BrowserWindow()
            try await window.open("\(room.address)/healthz")
            try await window.run(
                """
                \(Self.trap)
                const { Board, Gateway } = await import("/lectern.js");
                const gateway = new Gateway({ url: location.origin });
                const request = gateway.request.bind(gateway);
                gateway.request = (path, options) => {
                    if (path.endsWith("observations")) faults.push(JSON.parse(options.body).fault);
                    return request(path, options);
                };
                window.boards = [0, 1].map(() => {
                    const canvas = document.createElement("canvas");
                    canvas.style.width = "600px";
                    document.body.append(canvas);
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
                await new Promise((resolve) => setTimeout(resolve, 50));
                const [one, other] = boards.map(({ canvas }) => canvas);
                return { faults: faults.length, unequal: unequal(one, other), ink: inkOf(one), digest:
                    boards[0].board.digest === boards[1].board.digest };
                """)
            #expect(result["faults"] == .number(1) && result["unequal"] == .number(0))
            #expect(result["digest"] == .bool(true) && (result["ink"]?.double ?? 0) > 100)
        }
    }
}
