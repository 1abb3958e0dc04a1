import Foundation
import TestSupport
import Testing

/// The elements of `lectern.js`, in pages of another origin.
@Suite(
    .timeLimit(.minutes(5)), .endsProcesses,
    .enabled(if: BrowserWindow.runsAll && NginxServer.isInstalled, "make browser runs it, with Debian's nginx"))
struct BrowserElementTests {
    /// A room, and the folder of a server whose pages may use it.
    private struct Place: Sendable {
        let room: BrowserRoom
        let server: NginxServer

        /// Opens a page as others have them: of another origin, without a script of its own.
        func window(
            _ body: String, library: String = "lectern.js", isDark: Bool = false
        ) async throws -> BrowserWindow {
            let page = """
                <!doctype html>
                <html lang="en">
                <meta name="color-scheme" content="light dark">
                <title>Physics</title>
                <main><h1>Physics</h1>
                \(body)
                </main>
                <script type="module" src="\(room.address)/\(library)"></script>
                </html>
                """
            let name = "page-\(UInt32.random(in: .min ... .max)).html"
            try Data(page.utf8).write(to: server.folder.appending(path: name))
            let window = try await BrowserWindow(.desktop, isDark: isDark, at: "\(server.address)/\(name)")
            return window
        }
    }

    private func withPlace(_ body: @escaping @Sendable (Place) async throws -> Void) async throws {
        try await NginxServer.with { server in
            try await BrowserRoom.with(["http.allowed_origins=\(server.address)"]) { room, _ in
                try await body(Place(room: room, server: server))
            }
        }
    }

    private static let teacher = "document.querySelector('lectern-teacher')"
    private static let board = "document.querySelector('lectern-board')"

    @Test("a teacher draws and writes in one element; students see it in another in its colour, and hear the text")
    func both() async throws {
        try await withPlace { place in
            let room = place.room
            try room.playVideo()
            let teacher = try await place.window(
                #"<lectern-teacher room="\#(room.name)" author="anna" name="Anna" clock="utc"></lectern-teacher>"#)
            let student = try await place.window(
                #"<lectern-board room="\#(room.name)"></lectern-board>"#, library: "lectern-board.js")
            try await teacher.run("window.find = (selector) => \(Self.teacher).shadowRoot.querySelectorAll(selector)")
            try await teacher.wait(
                for: "the pen",
                "\(Self.teacher).teacher?.state === 'writer' && find('#colours button').length === 4 && !find('[aria-label=Text]')[0].hidden"
            )
            try await teacher.run(
                """
                find("#colours button")[2].click();
                const { canvas } = \(Self.teacher);
                point(canvas, "pointerdown", 40, 60);
                for (let step = 1; step <= 20; step++) point(canvas, "pointermove", 40 + 10 * step, 60);
                point(canvas, "pointerup", 240, 60);
                """)
            try await student.wait(for: "the stroke", "\(Self.board).board?.index === 1")
            try await student.wait(
                for: "its words",
                "\(Self.board).canvas.getAttribute('aria-label') === 'Whiteboard of physics: 1 stroke'")
            try await student.wait(for: "blue ink", "pixelsOf(\(Self.board).canvas, 0x1f, 0x4f, 0xd8) > 0")
            try await teacher.run("find('#undo')[0].click()")
            try await student.wait(for: "the undo", "\(Self.board).board.index === 2")
            try await teacher.run(
                """
                find("[aria-label=Text]")[0].click();
                for (const type of ["pointerdown", "pointerup"]) point(\(Self.teacher).canvas, type, 60, 80);
                """)
            try await teacher.wait(
                for: "the field", "\(Self.teacher).shadowRoot.activeElement?.dataset.text === 'edited'")
            try await teacher.type("Hut\u{E00C}")
            try await student.wait(for: "the text", "\(Self.board).board.index === 3")
            try await student.wait(
                for: "what is read", "\(Self.board).shadowRoot.querySelector('.texts p')?.textContent === 'Hut'")
            let digest = try await teacher.run("return \(Self.teacher).teacher.board.digest")
            #expect(try await student.run("return \(Self.board).board.digest") == digest)
        }
    }

    @Test("another room is shown at once, a video that comes later is the clock, and out of the page it is over")
    func attributes() async throws {
        try await withPlace { place in
            let room = place.room
            try room.playVideo()
            try await room.publish(3)
            let window = try await place.window("<lectern-board></lectern-board>")
            try await window.wait(
                for: "the words",
                "\(Self.board).shadowRoot?.querySelector('.cover').textContent.includes('no room')")
            try await window.run("\(Self.board).setAttribute(\"room\", \"\(room.name)\")")
            try await window.wait(for: "the board", "\(Self.board).board?.index === 3")
            // One whose video comes later in the page begins with it, and not without a clock.
            let begun = try await window.run(
                """
                document.open();
                document.write('<lectern-board room="\(room.name)" video="#late"></lectern-board>');
                const isEarly = await new Promise((done) => setTimeout(() => done(\(Self.board).board !== null), 50));
                document.write('<video id="late"></video>');
                document.close();
                return isEarly;
                """)
            #expect(begun == false)
            try await window.wait(for: "its clock", "\(Self.board).board?._options.clock")
            try await window.run("\(Self.board).removeAttribute(\"video\")")
            try await window.wait(for: "the board", "\(Self.board).board?.index === 3")
            try await window.wait(for: "the picture", "\(Self.board).shadowRoot.querySelector('.cover').hidden")
            let ended = try await window.run(
                """
                const element = \(Self.board);
                const ended = new Promise((resolve) => element.board.addEventListener("connection", ({ detail }) =>
                    detail.state === "closed" && resolve(true)));
                element.remove();
                return [await ended, element.board === null];
                """)
            #expect(ended == [true, true])
        }
    }

    @Test(.enabled(if: BrowserWindow.axe != nil, "LECTERN_AXE has axe-core"), arguments: [false, true])
    func `axe-core finds nothing in a page with both elements`(isDark: Bool) async throws {
        try await withPlace { place in
            let room = place.room
            let window = try await place.window(
                """
                <lectern-board room="\(room.name)" label="Whiteboard of physics"></lectern-board>
                <lectern-teacher room="\(room.name)" author="anna"></lectern-teacher>
                """, isDark: isDark)
            try await window.wait(
                for: "the pen",
                "\(Self.teacher).teacher?.state === 'writer' && \(Self.teacher).shadowRoot.querySelector('.cover').hidden"
            )
            try await window.expectNoFindings("both elements")
        }
    }
}
