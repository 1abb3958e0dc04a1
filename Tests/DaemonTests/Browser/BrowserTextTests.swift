import Foundation
import NATSTestServer
import TestSupport
import Testing

/// Texts on boards in browsers: how they are written, edited, seen and read.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserTextTests {
    fileprivate static let field = "document.querySelector('[data-text=edited]')"
    private static let escape = "\u{E00C}"
    private static let enter = "\u{E007}"

    @Test("a tap opens a field; what is typed is drawn when it is closed, and students see it in its place")
    func writes() async throws {
        try await BrowserRoom.withClass { room, teacher, student in
            try await teacher.beginText(0.2, 0.3)
            // Letters are no commands here.
            try await teacher.type("Satz 1: e < pi & so\(Self.enter)2. Zeile")
            try await teacher.keepScreenshot("text-typed")
            let typed = try await teacher.box(of: Self.field)
            try await teacher.type(Self.escape)
            try await teacher.wait(for: "no field", "!\(Self.field)")
            for window in [teacher, student] { try await window.wait(forIndex: 1) }
            let message = try await room.message(1)
            #expect(message["e"]?.double == 8 && message["x"]?.string == "Satz 1: e < pi & so\n2. Zeile")
            #expect(try await student.digest() == (try await teacher.digest()))
            try await teacher.expectSamePicture(as: student)
            try await student.keepScreenshot("text-seen")
            // The box of the message is where the field was.
            let box = try await Self.boxOfMessage(message, in: teacher)
            for (mine, other) in zip(typed.prefix(2), box.prefix(2)) {
                #expect(abs(mine - other) < 4, "\(typed) \(box)")
            }
            #expect(abs(typed[3] - box[3]) < 4)
            // The ink fills that box, and stays in it.
            let ink = try await Self.ink(of: student, message)
            #expect(ink.allSatisfy { $0 > -0.02 && $0 < 1.02 } && ink[2] > 0.9, "\(ink)")
            for window in [teacher, student] { try await window.expectNoComplaints() }
        }
    }

    @Test func `the service's picture has the text where the browser has it, within 2 % of its box`() async throws {
        try await BrowserRoom.withVideo { room, _ in
            let ben = try room.author("ben")
            let texts = ["Hamburg", "zwei\\nZeilen", "\\u05e9\\u05dc\\u05d5\\u05dd"]
            for (place, text) in texts.enumerated() {
                let student = try await room.student()
                let (top, number) = (80 + 200 * place, place + 1)
                try await ben.send(
                    #"{"n":\#(number),"c":0,"e":8,"l":60,"w":1024,"h":768,"x":"\#(text)","d":[{"x":100,"y":\#(top)},{"x":600,"y":\#(top + 120)}]}"#,
                    appliedAt: UInt64(number))
                try await student.wait(forIndex: number)
                let message = try await room.message(number)
                let seen = try await Self.ink(of: student, message)
                let drawn = try await Self.inkOfService(of: room, in: student, message)
                for (mine, other) in zip(seen, drawn) { #expect(abs(mine - other) < 0.02, "\(text): \(seen) \(drawn)") }
                try await student.close()
            }
        }
    }

    @Test("a tap on a text opens it again: the new one comes, the old one goes, and one undo brings the old one back")
    func edits() async throws {
        try await BrowserRoom.withClass { room, teacher, student in
            try await teacher.beginText(0.2, 0.3)
            try await teacher.type("alt\(Self.escape)")
            for window in [teacher, student] { try await window.wait(forIndex: 1) }
            try await teacher.openText(0.21, 0.3, "alt")
            try await teacher.type("er Text")
            // A click elsewhere ends it, and begins nothing.
            try await teacher.tap(0.7, 0.8)
            try await teacher.wait(for: "no field", "!\(Self.field)")
            for window in [teacher, student] { try await window.wait(forIndex: 3) }
            #expect(try await room.message(2)["x"]?.string == "alter Text")
            #expect(try await room.message(3)["a"]?.double == 8)
            #expect(try await Self.spoken(in: student) == ["alter Text"])
            try await teacher.expectSamePicture(as: student)
            // One that is not changed is not sent.
            try await teacher.openText(0.21, 0.3, "alter Text")
            try await teacher.type(Self.escape)
            try await teacher.press("z", control: true)
            for window in [teacher, student] { try await window.wait(forIndex: 5) }
            #expect(try await Self.spoken(in: student) == ["alt"])
            // One that is emptied goes.
            try await teacher.openText(0.21, 0.3, "alt")
            try await teacher.run("set(\(Self.field), '')")
            try await teacher.type(Self.escape)
            for window in [teacher, student] { try await window.wait(forIndex: 6) }
            #expect(try await student.inkedPixels() == 0)
            #expect(try await Self.spoken(in: student) == [])
            try await teacher.expectNoComplaints(but: BrowserWindow.isUsual)
        }
    }

    @Test
    func
        `an input method composes in the field, its keys and what is pasted are its own, and a window before this one ends nothing`()
        async throws
    {
        try await BrowserRoom.withTeacher { room, teacher in
            try await teacher.beginText(0.2, 0.3)
            try await teacher.compose(["n", "ni"])
            try await teacher.type(Self.escape)
            #expect(try await teacher.string("\(Self.field).value") == "ni")
            try await teacher.compose(["nihao"], into: "你好😀")
            // A table brings a picture beside its text.
            let isLeft = try await teacher.run(
                """
                const clipboardData = new DataTransfer();
                clipboardData.items.add(new File(["x"], "table.png", { type: "image/png" }));
                return \(Self.field).dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
                """)
            #expect(isLeft == true)
            // The field has the focus of its window all the same.
            try await teacher.run("\(Self.field).dispatchEvent(new FocusEvent(\"blur\"))")
            #expect(try await teacher.string("\(Self.field).value") == "你好😀")
            try await teacher.type(Self.escape)
            try await teacher.wait(forIndex: 1)
            #expect(try await room.message(1)["x"]?.string == "你好😀")
            #expect(try await teacher.isTrue("\(Self.field) === null"))
        }
    }

    @Test("a text that reads from right to left ends where the tap was, and grows to the left, also when it is edited")
    func rightToLeft() async throws {
        try await BrowserRoom.withTeacher { room, teacher in
            try await teacher.beginText(0.5, 0.3)
            // By its first letter, whatever is before it.
            try await teacher.type("1. שלום")
            #expect(try await teacher.string("\(Self.field).dir") == "rtl")
            let field = try await teacher.box(of: Self.field)
            try await teacher.type(Self.escape)
            try await teacher.waitUntilSaved(index: 1)
            let message = try await room.message(1)
            let box = try await Self.boxOfMessage(message, in: teacher)
            #expect(abs(field[0] + field[2] - box[0] - box[2]) < 4, "\(field) \(box)")
            let end = try #require(message["d"]?.elements.last?["x"]?.double)
            #expect(abs(end - 512) < 3)
            try await teacher.openText(0.49, 0.3, "1. שלום")
            try await teacher.type(" עולם\(Self.escape)")
            try await teacher.waitUntilSaved(index: 3)
            let edited = try #require(try await room.message(2)["d"]?.elements.last?["x"]?.double)
            #expect(abs(edited - end) < 0.1)
        }
    }

    @Test("what is typed stays in its field while its author is muted, and is drawn when the author is heard again")
    func muted() async throws {
        try await BrowserRoom.withTeacher { room, teacher in
            try await teacher.drawWave(8, index: 1)
            try await teacher.beginText(0.2, 0.3)
            try await teacher.type("Satz")
            let muted = try await LecternProcess.run("mute", room.name, "anna", "--nats", room.nats.url)
            #expect(muted.exitCode == 0, "\(muted.log)")
            try await teacher.wait(for: "no pen", "$('board').dataset.pen === 'off'")
            try await teacher.tap(0.7, 0.6)
            try await teacher.wait(for: "its mark", "\(Self.field)?.getAttribute('aria-invalid') === 'true'")
            try await teacher.keepScreenshot("text-waits")
            let heard = try await LecternProcess.run("unmute", room.name, "anna", "--nats", room.nats.url)
            #expect(heard.exitCode == 0, "\(heard.log)")
            try await teacher.wait(forIndex: 2)
            #expect(try await room.message(2)["x"]?.string == "Satz")
            #expect(try await teacher.isTrue("\(Self.field) === null"))
            try await teacher.waitUntilSaved()
            #expect(try await teacher.index() == 2)
        }
    }

    @Test func `what is typed when the page is left is not lost`() async throws {
        try await BrowserRoom.withTeacher { room, teacher in
            try await teacher.beginText(0.2, 0.3)
            try await teacher.type("Satz")
            try await teacher.open("about:blank")
            try await teacher.open("\(room.page)/teach?author=anna")
            try await teacher.wait(forIndex: 1)
            #expect(try await room.message(1)["x"]?.string == "Satz")
        }
    }

    @Test("an open field stays at its place in a page that zooms, and an emptied text goes before the room answers")
    func place() async throws {
        try await BrowserRoom.withTeacher { room, teacher in
            try await teacher.beginText(0.4, 0.3)
            try await teacher.type("alt\(Self.escape)")
            try await teacher.waitUntilSaved(index: 1)
            try await teacher.openText(0.41, 0.3, "alt")
            let message = try await room.message(1)
            for key in ["+", "+", "ArrowRight", "0"] {
                try await teacher.press(key)
                let field = try await teacher.box(of: Self.field)
                let box = try await Self.boxOfMessage(message, in: teacher)
                for side in [0, 1, 3] { #expect(abs(field[side] - box[side]) < 1, "\(key): \(field) \(box)") }
            }
            try await teacher.setOffline(true)
            try await teacher.run("set(\(Self.field), '')")
            try await teacher.type(Self.escape)
            try await teacher.wait(for: "no ink", "inkOf($('board')) === 0")
            try await teacher.setOffline(false)
            try await teacher.wait(forIndex: 2)
            #expect(try await teacher.inkedPixels() == 0)
        }
    }

    @Test func `keys alone write: Enter opens a field on the first line without a text, in what is seen`() async throws
    {
        try await BrowserRoom.with(strokes: 1) { room, _ in
            let teacher = try await room.teacher()
            try await teacher.wait(forIndex: 1)
            try await teacher.press("t")
            for (number, word) in ["one", "two"].enumerated() {
                try await teacher.press("Enter")
                try await teacher.type("\(word)\(Self.escape)")
                try await teacher.waitUntilSaved(index: number + 2)
            }
            let (one, two) = (try await room.message(2), try await room.message(3))
            #expect(one["x"]?.string == "one" && two["x"]?.string == "two")
            let tops = [one, two].compactMap { $0["d"]?.elements.first?["y"]?.double }
            #expect(tops.count == 2 && tops[1] - tops[0] >= 32, "\(tops)")
            // Another tool takes no Enter, and a button presses itself.
            try await teacher.run("press($('undo'), 'Enter')")
            try await teacher.press("p")
            try await teacher.press("Enter")
            #expect(try await teacher.run("return \(Self.field)") == .null)
            // Where a part is seen, the field is in it.
            try await teacher.press("t")
            try await teacher.run("for (const key of '++++++') press(document.body, key)")
            try await teacher.press("Enter")
            let isInSight = """
                (() => {
                    const { left, top } = \(Self.field).getBoundingClientRect();
                    return document.elementFromPoint(left + 1, top + 5) === \(Self.field);
                })()
                """
            try await teacher.wait(for: "the field in sight", isInSight)
            try await teacher.expectNoComplaints(but: BrowserWindow.isUsual)
        }
    }

    @Test func `a paste that is too long is taken as far as a text may be long, at the caret`() async throws {
        try await BrowserRoom.withTeacher { room, teacher in
            try await teacher.beginText(0.2, 0.3)
            try await teacher.run(
                """
                const field = \(Self.field);
                field.value = "AZ";
                field.setSelectionRange(1, 1);
                field.setRangeText("\u{6570}".repeat(5000) + "\t", 1, 1, "end");
                field.dispatchEvent(new InputEvent("input", { bubbles: true }));
                """)
            let seen = try await teacher.run("return [\(Self.field).value.length, \(Self.field).selectionEnd]")
            #expect(seen == [668, 667])
            try await teacher.type(Self.escape)
            try await teacher.wait(forIndex: 1)
            #expect(try await room.message(1)["x"]?.string == "A" + String(repeating: "\u{6570}", count: 666) + "Z")
        }
    }

    @Test func `screen readers have the texts of the page that is seen, as they are released`() async throws {
        try await BrowserRoom.with { room, _ in
            try room.setVideo(1000)
            let student = try await room.student()
            let ben = try room.author("ben")
            func text(_ number: Int, _ text: String, _ more: String) -> String {
                #"{"n":\#(number),"e":8,"l":40\#(more),"x":"\#(text)","d":[{"x":100,"y":100},{"x":500,"y":200}]}"#
            }
            try await ben.send(text(1, "<b>first</b>", #","t":500"#), appliedAt: 1)
            try await ben.send(text(2, "later", #","t":60000"#), appliedAt: 2)
            try await student.wait(forIndex: 1)
            try await student.wait(for: "the text", "document.querySelector('#texts p')")
            #expect(try await Self.spoken(in: student) == ["<b>first</b>"])
            #expect(try await student.isTrue("document.querySelector('#texts b') === null"))
            try room.setVideo(61_000)
            try await student.wait(forIndex: 2)
            try await student.wait(for: "both", "document.querySelectorAll('#texts p').length === 2")
            try await ben.send(#"{"n":3,"a":5,"g":1}"#, appliedAt: 3)
            try await student.wait(forIndex: 3)
            try await student.wait(for: "an empty page", "document.querySelectorAll('#texts p').length === 0")
        }
    }

    // What is where.

    private static func corners(_ message: AnyJSON) throws -> String {
        guard case .array(let points)? = message["d"], points.count == 2 else { throw Unexpected("\(message)") }
        let values: [Double] = points.flatMap { point -> [Double] in [point["x"]?.double ?? 0, point["y"]?.double ?? 0]
        }
        return "[\(values[0]), \(values[1]), \(values[2]), \(values[3])]"
    }

    private static func boxOfMessage(_ message: AnyJSON, in window: BrowserWindow) async throws -> [Double] {
        try await window.run(
            """
            const [x, y, right, bottom] = \(corners(message));
            const { left, top, width } = $('board').getBoundingClientRect();
            const scale = width / 1024;
            return [left + x * scale, top + y * scale, (right - x) * scale, (bottom - y) * scale];
            """
        ).numbers(4)
    }

    /// Where dark pixels are in the box of a message: left, top, right and bottom, as parts of the box. What lies beyond the box
    /// by a tenth counts.
    private static let measure = """
        const inkOf = (canvas, [x, y, right, bottom]) => {
            const scale = canvas.width / 1024;
            const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            const [w, h] = [right - x, bottom - y];
            let found = [Infinity, Infinity, -Infinity, -Infinity];
            for (let row = Math.max(Math.floor((y - h / 10) * scale), 0); row < (bottom + h / 10) * scale; row++) {
                for (let column = Math.max(Math.floor((x - w / 10) * scale), 0); column < (right + w / 10) * scale; column++) {
                    const at = (row * width + column) * 4;
                    if (data[at + 3] < 128 || data[at] > 128) continue;
                    const [across, down] = [(column / scale - x) / w, (row / scale - y) / h];
                    found = [Math.min(found[0], across), Math.min(found[1], down), Math.max(found[2], across), Math.max(found[3], down)];
                }
            }
            return found;
        };
        """

    private static func ink(of window: BrowserWindow, _ message: AnyJSON) async throws -> [Double] {
        try await window.run("\(measure) return inkOf($('board'), \(corners(message)));").numbers(4)
    }

    private static func inkOfService(of room: BrowserRoom, in window: BrowserWindow, _ message: AnyJSON) async throws
        -> [Double]
    {
        try await window.run(
            """
            \(measure)
            const width = $('board').width;
            const reply = await fetch(`/api/rooms/\(room.name)/board.png?cohort=head&width=${width}`);
            const bitmap = await createImageBitmap(await reply.blob());
            const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
            canvas.getContext("2d").drawImage(bitmap, 0, 0);
            return inkOf(canvas, \(corners(message)));
            """
        ).numbers(4)
    }

    private static func spoken(in window: BrowserWindow) async throws -> [String] {
        let reply = try await window.run(
            "return [...document.querySelectorAll('#texts p')].map((one) => one.textContent)")
        return reply.strings
    }
}

extension BrowserWindow {
    /// Chooses the tool for texts and taps the board, where a field opens.
    fileprivate func beginText(_ across: Double, _ down: Double) async throws {
        try await press("t")
        try await tap(across, down)
        try await wait(for: "the field", "document.activeElement === \(BrowserTextTests.field)")
    }

    /// Taps a text, which is in the field then.
    fileprivate func openText(_ across: Double, _ down: Double, _ text: String) async throws {
        try await tap(across, down)
        try await wait(for: "the text in the field", "\(BrowserTextTests.field)?.value === '\(text)'")
    }
}
