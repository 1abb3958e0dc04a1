import Foundation
import TestSupport
import Testing

/// A student's own notes above the board.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserNotesTests {
    @Test("notes are written above each page, kept in the browser alone, erased, undone, cleared and hidden")
    func writing() async throws {
        try await BrowserRoom.withClass { room, teacher, student in
            try await teacher.drawWave(1)
            for window in [teacher, student] { try await window.wait(forIndex: 1) }
            let board = try await student.picture()
            try await student.run(
                """
                window.sent = [];
                const send = window.fetch;
                window.fetch = (address, options) => {
                    if (options?.method && options.method !== "GET") sent.push(`${address} ${options.body}`);
                    return send(address, options);
                };
                """)
            try await student.clickInSight(of: "#notes")
            try await student.wait(for: "the bar", "!$('notes-bar').hidden")
            try await student.drawWave(4)
            try await student.waitForNotes(1)
            try await student.press("2")
            try await student.drawWave(6, with: .mouse)
            try await student.waitForNotes(2)
            let points = try await student.notePoints(0)
            #expect(abs((points.first ?? 0) - 102) < 2 && abs((points.dropLast().last ?? 0) - 922) < 2, "\(points)")
            try await student.keepScreenshot("notes-desktop")
            // An eraser takes what it touches, as one step.
            try await student.press("e")
            let (x, y) = try await student.place(0.5, 0.3)
            let (_, bottom) = try await student.place(0.5, 0.9)
            try await student.draw((0...20).map { (x, y + (bottom - y) * Double($0) / 20) }, with: .mouse)
            try await student.waitForNotes(0)
            try await student.press("z", control: true)
            try await student.waitForNotes(2)
            // The class turns the page while somebody writes.
            try await student.press("1")
            try await student.drawWave(8, with: .pen, 0..<20, .begin)
            try await teacher.run("$('page-add').click()")
            try await student.wait(forIndex: 2)
            try await student.waitForNotes(0)
            try await student.drawWave(8, with: .pen, 20..<40, .end)
            try await student.drawWave(3)
            try await student.waitForNotes(1)
            try await student.clickInSight(of: "#page-back")
            try await student.waitForNotes(3)
            // They are there again when the page is loaded anew, and nobody else has them.
            #expect(try await student.difference(to: board) == 0)
            #expect(try await student.run("return sent.filter((text) => text.includes('colour'))") == [])
            try await student.open(room.page)
            try await student.wait(forIndex: 2)
            try await student.waitForNotes(1)
            try await student.press("h")
            try await student.wait(for: "nothing", "$('notes-layer').hidden")
            try await student.press("n")
            try await student.wait(for: "the notes", "!$('notes-layer').hidden")
            try await student.clickInSight(of: "#notes-clear")
            try await student.waitForNotes(0)
            try await student.clickInSight(of: "#notes-undo")
            try await student.waitForNotes(1)
            try await student.press("Escape")
            #expect(try await student.isTrue("$('notes-bar').hidden"))
            #expect(try await student.run("return getComputedStyle($('notes-layer')).pointerEvents") == "none")
            #expect(
                try await teacher.run("return Object.keys(localStorage).some((key) => key.includes('notes'))")
                    == false)
            try await student.expectNoComplaints()
        }
    }

    @Test func `a palm that touches the board beside a pen takes nothing from it, and writes nothing`() async throws {
        try await BrowserRoom.with(strokes: 1) { room, _ in
            let student = try await room.student("", .tablet)
            try await student.press("n")
            try await student.wait(for: "the bar", "!$('notes-bar').hidden")
            try await student.drawWave(4, with: .pen, 0..<20, .begin)
            try await student.run(
                """
                const layer = $('notes-layer');
                const { left, top, width, height } = layer.getBoundingClientRect();
                for (const [type, x] of [["pointerdown", 0.7], ["pointermove", 0.72], ["pointerup", 0.72]]) {
                    layer.dispatchEvent(new PointerEvent(type, { pointerId: 77, pointerType: "touch", isPrimary: true, bubbles: true, cancelable: true,
                        clientX: left + width * x, clientY: top + height * 0.8 }));
                }
                """)
            try await student.drawWave(4, with: .pen, 20..<40, .end)
            try await student.waitForNotes(1)
            let points = try await student.notePoints(0)
            #expect(abs((points.first ?? 0) - 102) < 2 && abs((points.dropLast().last ?? 0) - 922) < 2, "\(points)")
        }
    }

    @Test func `a palm that touches the board before the first pen leaves no note`() async throws {
        try await BrowserRoom.with(strokes: 1) { room, _ in
            let student = try await room.student("", .tablet)
            try await student.press("n")
            try await student.wait(for: "the bar", "!$('notes-bar').hidden")
            func touch(_ types: String...) async throws {
                try await student.run(
                    """
                    const { width, height } = $('notes-layer').getBoundingClientRect();
                    args[0].forEach((type, place) => point($('notes-layer'), type, width * (0.7 + 0.02 * place), height * 0.8,
                        { pointerId: 77, pointerType: "touch", button: 0 }));
                    """, [.array(types.map(AnyJSON.string))])
            }
            try await touch("pointerdown", "pointermove", "pointermove")
            try await student.drawWave(4, with: .pen)
            try await touch("pointermove", "pointerup")
            try await student.waitForNotes(1)
            #expect(abs((try await student.notePoints(0).first ?? 0) - 102) < 2)
        }
    }

    @Test func `while zoomed a note lies where it was written, a finger writes, and two fingers zoom`() async throws {
        try await BrowserRoom.with(strokes: 3) { room, _ in
            let student = try await room.student("", .tablet)
            try await student.wait(forIndex: 3)
            try await student.press("n")
            try await student.wait(for: "the bar", "!$('notes-bar').hidden")
            for _ in 0..<4 { try await student.press("+") }
            try await student.wait(for: "a part", "document.querySelector('.lectern-part') !== null")
            let (x, y) = try await student.place(0.5, 0.5)
            try await student.draw((0...10).map { (x + 10 * Double($0), y + 5 * Double($0)) }, with: .touch)
            try await student.waitForNotes(1)
            let box = try await student.box(of: BrowserWindow.canvas)
            let points = try await student.notePoints(0)
            try #require(points.count >= 4)
            let scale = 1024 / box[2]
            for (point, place) in [
                (points[0], (x.rounded() - box[0]) * scale), (points[1], (y.rounded() - box[1]) * scale),
                (points[points.count - 2], ((x + 100).rounded() - box[0]) * scale),
                (points[points.count - 1], ((y + 50).rounded() - box[1]) * scale),
            ] {
                #expect(abs(point - place) < 0.02, "\(points) \(box)")
            }
            #expect(try await student.isNoted(x + 50, y + 25))
            try await student.keepScreenshot("notes-zoomed")
            // Two fingers write nothing.
            try await student.drawTogether(
                [-1.0, 1].map { side in (after: 0, points: (0...10).map { (x + side * (150 - 12 * Double($0)), y) }) })
            try await student.wait(for: "less", "$('board').getBoundingClientRect().width < \(box[2]) / 2")
            try await student.waitForNotes(1)
            try await student.press("0")
            try await student.wait(for: "the whole page", "document.querySelector('.lectern-part') === null")
            let middle = try await student.place((points[0] + 10) / 1024, (points[1] + 5) / 768)
            #expect(try await student.isNoted(middle.x, middle.y))
            try await student.expectNoComplaints()
        }
    }

    @Test func `PNG and PDF have the notes, made in the browser`() async throws {
        try await BrowserRoom.withVideo { room, _ in
            let author = try room.author("anna")
            try await author.send(#"{"n":1,"t":1,"c":0,"l":4,"d":[{"x":100,"y":100},{"x":900,"y":100}]}"#)
            try await author.send(#"{"n":2,"t":2,"a":5,"g":1}"#, appliedAt: 2)
            let student = try await room.student()
            try await student.wait(forIndex: 2)
            try await student.press("n")
            try await student.press("2")
            try await student.drawWave(3)
            try await student.waitForNotes(1)
            try await student.clickInSight(of: "#page-back")
            try await student.press("1")
            try await student.drawWave(5)
            try await student.waitForNotes(1)
            try await student.run(
                """
                window.files = [];
                const make = URL.createObjectURL;
                URL.createObjectURL = (blob) => (files.push(blob), make.call(URL, blob));
                HTMLAnchorElement.prototype.click = new Proxy(HTMLAnchorElement.prototype.click, {
                    apply: (click, link) => link.href.startsWith("blob:") || click.call(link),
                });
                """)
            try await student.clickInSight(of: "#save-png")
            try await student.wait(for: "a picture", "files.length === 1")
            let picture = try PNGReader(try await student.file(0))
            #expect(picture.width == 2048 && picture.height == 1536)
            #expect(picture.count(of: 0xFFDE_6F2F) > 2000, "the blue note of the first page")
            #expect(picture.count(of: 0xFF3A_3AD6) == 0)
            #expect(picture.count(of: 0xFF00_0000) > 2000, "the teacher's line")
            try await student.clickInSight(of: "#save-pdf")
            try await student.wait(for: "a document", "files.length === 2")
            let pages = try Self.pages(of: try await student.file(1))
            try #require(pages.count == 2)
            for (page, isBlue) in zip(pages, [true, false]) {
                #expect((page.count(of: 0xFFDE_6F2F) > 500) == isBlue)
                #expect((page.count(of: 0xFF3A_3AD6) > 500) == !isBlue)
            }
            #expect(pages[0].count(of: 0xFF00_0000) > 500)
            // Where the notes lie: the picture of the first page, half as large.
            let half = picture.rows(of: 0xFFDE_6F2F)
            let rows = pages[0].rows(of: 0xFFDE_6F2F)
            #expect(abs(Double(half.lowerBound) / 2 - Double(rows.lowerBound)) < 3, "\(half) \(rows)")
            #expect(abs(Double(half.upperBound) / 2 - Double(rows.upperBound)) < 3, "\(half) \(rows)")
            // Notes that are hidden are in no file.
            try await student.press("h")
            try await student.clickInSight(of: "#save-png")
            try await student.wait(for: "the board alone", "files.length === 3")
            #expect(try PNGReader(try await student.file(2)).count(of: 0xFFDE_6F2F) == 0)
            try await student.expectNoComplaints()
        }
    }

    /// Pictures of the pages of a PDF, 1024 pixels wide, by Poppler.
    private static func pages(of file: [UInt8]) throws -> [PNGReader] {
        let folder = try TestFiles.folder("notes")
        let document = folder.appending(path: "notes.pdf")
        try Data(file).write(to: document)
        let errors = Pipe()
        let program = Process()
        program.executableURL = URL(filePath: "/usr/bin/pdftoppm")
        program.arguments = [
            "-png", "-scale-to-x", "1024", "-scale-to-y", "768", document.path, folder.appending(path: "page").path,
        ]
        program.standardError = errors
        try program.run()
        let said = errors.fileHandleForReading.readDataToEndOfFile()
        program.waitUntilExit()
        #expect(program.terminationStatus == 0 && said.isEmpty, "\(String(decoding: said, as: UTF8.self))")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".png") }
        return try names.sorted().map { try PNGReader([UInt8](Data(contentsOf: folder.appending(path: $0)))) }
    }

    @Test func `where no more is kept the page says so, and shows what it keeps`() async throws {
        try await BrowserRoom.with(strokes: 1) { room, _ in
            let student = try await room.student()
            try await student.run(
                "localStorage.setItem(\"lectern-notes /other 0\", `[${\"1,\".repeat(2 ** 20 - 100)}1]`)")
            try await student.press("n")
            try await student.drawWave(3)
            let words = "$('notes-words')"
            try await student.wait(for: "the words", "!\(words).hidden && \(words).textContent.includes(\"full\")")
            try await student.waitForNotes(0)
            try await student.keepScreenshot("notes-full")
            // In another page of the browser.
            try await student.run(
                """
                const key = "lectern-notes /other 0";
                localStorage.removeItem(key);
                dispatchEvent(new StorageEvent("storage", { key }));
                """)
            try await student.drawWave(3)
            try await student.waitForNotes(1)
            #expect(try await student.isTrue("\(words).hidden"))
            // What another page of the browser writes is seen here.
            try await student.run(
                """
                const key = Object.keys(localStorage).find((key) => key.startsWith("lectern-notes "));
                localStorage.removeItem(key);
                dispatchEvent(new StorageEvent("storage", { key }));
                """)
            try await student.waitForNotes(0)
            try await student.expectNoComplaints()
        }
    }

    @Test(.enabled(if: BrowserWindow.axe != nil, "with axe-core"), arguments: [false, true])
    func `the tools have room on each screen, and axe-core finds nothing`(isDark: Bool) async throws {
        try await BrowserRoom.with(strokes: 5) { room, _ in
            for query in ["", "?demo=2"] {
                let student = try await BrowserWindow(isDark: isDark, at: "\(room.page)\(query)")
                try await student.wait(forIndex: 5)
                try await student.press("n")
                for (width, height) in [(320, 568), (390, 844), (844, 390), (568, 320), (820, 1180), (1440, 1000)] {
                    try await student.resize(to: BrowserWindow.Size(width: width, height: height))
                    let seen = try await student.run(
                        """
                        const page = document.scrollingElement;
                        const board = $('board').getBoundingClientRect();
                        const bar = $('notes-bar').getBoundingClientRect();
                        return {
                            isScrolled: page.scrollWidth > page.clientWidth || page.scrollHeight > page.clientHeight,
                            isApart: bar.left >= board.right - 1 || bar.top >= board.bottom - 1,
                            isInside: bar.left >= 0 && bar.right <= innerWidth && bar.bottom <= innerHeight && board.left >= 0,
                            small: small("#notes-bar button, #notes").length,
                        };
                        """)
                    let right: AnyJSON = [
                        "isScrolled": false, "isApart": true, "isInside": true,
                        "small": 0,
                    ]
                    #expect(seen == right, "\(query) \(width) x \(height): \(seen)")
                    if query.isEmpty { try await student.expectNoFindings("\(width)") }
                }
                try await student.drawWave(4)
                try await student.waitForNotes(1)
                try await student.keepScreenshot("notes-\(query.isEmpty ? "" : "demo-")\(isDark ? "dark" : "light")")
            }
        }
    }
}

extension BrowserWindow {
    /// Waits until so many strokes of notes are seen.
    fileprivate func waitForNotes(_ count: Int) async throws {
        try await wait(for: "\(count) notes", "$('notes-layer').dataset.notes === '\(count)'")
    }

    /// The places of a note as they are kept, in board units: x, y, x, y …
    fileprivate func notePoints(_ place: Int) async throws -> [Double] {
        try await run(
            """
            const key = Object.keys(localStorage).find((key) => key.startsWith("lectern-notes "));
            const [parts, ...notes] = JSON.parse(localStorage.getItem(key));
            const [, , ...steps] = notes[\(place)];
            const places = [];
            for (const step of steps) places.push(places.length < 2 ? step : places.at(-2) + step);
            return places.map((place) => place / parts);
            """
        ).elements.compactMap(\.double)
    }

    /// Whether there is a note at a place of the window.
    fileprivate func isNoted(_ x: Double, _ y: Double) async throws -> Bool {
        try await run("await nextFrames(1); return isInked($('notes-layer'), \(x), \(y))") == true
    }

    /// A file that the page has made.
    fileprivate func file(_ number: Int) async throws -> [UInt8] {
        let text = try await run(
            """
            const bytes = new Uint8Array(await files[\(number)].arrayBuffer());
            return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
            """)
        guard case .string(let encoded) = text, let data = Data(base64Encoded: encoded) else {
            throw Unexpected("no file")
        }
        return [UInt8](data)
    }
}

extension PNGReader {
    /// How many pixels have a colour, `0xAABBGGRR`.
    fileprivate func count(of colour: UInt32) -> Int { pixels.count { $0 == colour } }

    /// The first and the last row with a colour.
    fileprivate func rows(of colour: UInt32) -> ClosedRange<Int> {
        let first = pixels.firstIndex(of: colour) ?? 0
        return first / width...max(first, pixels.lastIndex(of: colour) ?? 0) / width
    }
}
