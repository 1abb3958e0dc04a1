import Foundation
import TestSupport
import Testing

/// The colours of the teacher's page: the palette, and what is selected in another colour.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserPaletteTests {
    private static let atHand =
        "[...document.querySelectorAll('#colours button')].map((button) => button.ariaLabel).join()"
    private static let picker = "document.querySelector('.colour-dialog')"
    private static let focused = "document.activeElement.ariaLabel"

    @Test("a colour is chosen among sixteen by keys, comes to hand for the one used longest ago, and is remembered")
    func picker() async throws {
        try await BrowserRoom.withTeacher { room, teacher in
            try await teacher.wait(for: "four colours", "\(Self.atHand) === 'Black,Red,Blue,Green'")
            // Green is used, and so red goes first, then blue: neither was used.
            try await teacher.press("4")
            try await teacher.press("c")
            try await teacher.wait(for: "all colours", "\(Self.picker).open && \(Self.focused) === 'Green'")
            #expect(try await teacher.run("return \(Self.picker).querySelectorAll('button').length") == 16)
            try await teacher.keepScreenshot("colours-desktop")
            for key in ["ArrowDown", "ArrowRight", "End"] { try await teacher.pressHere(key) }
            try await teacher.wait(for: "the last one", "\(Self.focused) === 'White'")
            for key in ["ArrowLeft", "ArrowUp", "ArrowDown", "Home", "ArrowDown"] { try await teacher.pressHere(key) }
            try await teacher.wait(for: "yellow", "\(Self.focused) === 'Yellow'")
            try await teacher.run("document.activeElement.click()")
            try await teacher.wait(for: "yellow at hand", "\(Self.atHand) === 'Black,Red,Yellow,Green'")
            #expect(
                try await teacher.run("return [\(Self.picker).open, document.activeElement.ariaChecked].join()")
                    == "false,true")
            try await teacher.drawWave(2, index: 1)
            #expect(try await room.messages().last?["c"] == 8)
            // By a key that has always been there, and after a reload.
            try await teacher.press("9")
            try await teacher.press("8")
            try await teacher.wait(for: "grey at hand", "\(Self.atHand) === 'Black,Grey,Yellow,Green'")
            let student = try await room.student()
            try await student.wait(forIndex: 1)
            #expect(try await student.pixels(0xf2, 0xc2, 0x00) > 100)
            let (mean, off, _) = try await student.comparison(with: room)
            #expect(mean <= 6 && off <= 0.001)
            try await teacher.open(writingAt: "\(room.page)/teach?author=anna")
            try await teacher.wait(for: "the same at hand", "\(Self.atHand) === 'Black,Grey,Yellow,Green'")
            try await teacher.expectNoComplaints(but: BrowserWindow.isUsual)
        }
    }

    @Test(
        "the picker fits a telephone, light and dark; a palette of eight has eight, and one of four has no more than these"
    )
    func sizes() async throws {
        try await BrowserRoom.withVideo { room, _ in
            for (name, isDark) in [("light", false), ("dark", true)] {
                let phone = try await BrowserWindow(.phone, isDark: isDark, writingAt: "\(room.page)/teach?author=anna")
                try await phone.clickInSight(of: "[aria-label='All colours']")
                try await phone.wait(for: "all colours", "\(Self.picker).open")
                try await phone.keepScreenshot("colours-phone-\(name)")
                let inside = try await phone.run(
                    """
                    return [...\(Self.picker).querySelectorAll("button")].every((button) => {
                        const { left, right, top, bottom, width, height } = button.getBoundingClientRect();
                        return left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight && width >= 36 && height >= 36;
                    });
                    """)
                #expect(inside == true)
                try await phone.close()
            }
        }
        for (palette, count) in [
            ("#000000,#d92020,#1f4fd8,#1a9850,#f08c00,#7b2cbf,#6b4423,#7f7f7f", 8.0), ("#000000,#d92020", 2),
        ] {
            try await BrowserRoom.with(["palette=\(palette)"]) { room, _ in
                let teacher = try await room.teacher()
                let seen = try await teacher.run(
                    "return [\(Self.picker).querySelectorAll(\"button\").length, document.querySelector(\"[aria-label='All colours']\").hidden];"
                )
                #expect(seen == [.number(count), .bool(count <= 4)])
            }
        }
    }

    @Test("in a room whose messages have colours, ink has the colour that was chosen, as on the server's picture")
    func colours() async throws {
        try await BrowserRoom.withTeacher(["colour=rgb"]) { room, teacher in
            try await teacher.waitUntilWriting()
            try await teacher.run("document.querySelectorAll('#colours button')[2].click()")
            try await teacher.drawWave(1, index: 1)
            let student = try await room.student()
            try await student.wait(forIndex: 1)
            for window in [teacher, student] {
                #expect(try await window.pixels(0x1f, 0x4f, 0xd8) > 100)
            }
            let difference = try await student.comparison(with: room)
            #expect(difference.inked > 100 && difference.off <= 0.001, "\(difference)")
        }
    }

    @Test("what is selected takes a colour and a width of the tools, for students too, and one undo takes that back")
    func restyle() async throws {
        try await BrowserRoom.withClass { room, teacher, student in
            for place in [2, 3, 8] { try await teacher.drawWave(place) }
            try await teacher.wait(forIndex: 3)
            // An eraser cuts the second one.
            let ben = try room.author("ben")
            try await ben.send(
                #"{"n":1,"e":4,"l":30,"d":[{"x":900,"y":245},{"x":900,"y":300}],"w":1024,"h":768}"#, appliedAt: 4)
            try await teacher.waitUntilSaved(index: 4)
            let before = try await teacher.picture()
            try await teacher.select(0.5, 0.3, 0.48, 0.15, with: .pen)
            try await teacher.press("2")
            // One is red now, and the one that was cut stays black.
            for window in [teacher, student] {
                try await window.wait(forIndex: 6)
                #expect(try await window.pixels(0xd9, 0x20, 0x20) > 100)
                #expect(try await window.pixels(0, 0, 0) > 100)
            }
            try await teacher.wait(
                for: "the news",
                "$('selection-news').textContent === 'One stroke changed; one that was cut stays as it is'"
            )
            try await teacher.waitForSelection()
            try await teacher.keepScreenshot("restyled")
            #expect(try await teacher.digest() == (try await student.digest()))
            let thin = try await teacher.pixels(0xd9, 0x20, 0x20)
            try await teacher.press("]")
            try await teacher.press("]")
            for window in [teacher, student] { try await window.wait(forIndex: 8) }
            // More than one width may have been asked for while the first was on its way.
            try await teacher.waitUntilSaved()
            try await teacher.wait(for: "broad ink", "\(BrowserWindow.pixels(0xd9, 0x20, 0x20)) > \(thin * 3 / 2)")
            try await teacher.press("p")
            try await teacher.waitUntilSaved()
            try await teacher.expectSamePicture(as: student)
            let steps = (try await teacher.index() ?? 0) / 2 - 2
            for _ in 0..<steps { try await teacher.press("z", control: true) }
            try await teacher.waitUntilSaved()
            #expect(try await teacher.difference(to: before) == 0)
            try await teacher.press("z", control: true, shift: true)
            try await teacher.wait(for: "red ink again", "\(BrowserWindow.pixels(0xd9, 0x20, 0x20)) > 100")
            try await teacher.waitUntilSaved()
            try await student.wait(forIndex: try await teacher.index() ?? 0)
            #expect(try await teacher.digest() == (try await student.digest()))
            try await student.expectNoComplaints()
            try await teacher.expectNoComplaints(but: BrowserWindow.isUsual)
        }
    }

    @Test("ink that a lasso has moved takes a colour where it is, offline too, and a text takes one with its box")
    func moved() async throws {
        try await BrowserRoom.withClass { room, teacher, student in
            let ben = try room.author("ben")
            try await ben.send(
                ##"{"n":1,"e":8,"l":60,"x":"Newton","d":[{"x":300,"y":500},{"x":600,"y":560}],"w":1024,"h":768}"##,
                appliedAt: 1)
            try await teacher.drawWave(1)
            for window in [teacher, student] { try await window.wait(forIndex: 2) }
            try await teacher.waitUntilSaved()
            try await teacher.press("s")
            try await teacher.press("a", control: true)
            try await teacher.waitForSelection()
            try await teacher.press("ArrowDown", shift: true)
            try await teacher.setOffline(true)
            try await teacher.press("3")
            try await teacher.wait(for: "blue ink", "\(BrowserWindow.pixels(0x1f, 0x4f, 0xd8)) > 500")
            try await teacher.wait(for: "no black ink", "\(BrowserWindow.pixels(0, 0, 0)) === 0")
            try await teacher.setOffline(false)
            try await teacher.waitUntilSaved()
            try await student.wait(forIndex: 6)
            try await student.wait(for: "no black ink", "\(BrowserWindow.pixels(0, 0, 0)) === 0")
            #expect(try await teacher.digest() == (try await student.digest()))
            try await teacher.press("p")
            try await teacher.expectSamePicture(as: student)
            try await student.expectNoComplaints()
        }
    }

    @Test("an old slide becomes the background from the papers of the page, a picture from its selection")
    func background() async throws {
        try await BrowserRoom.withClass { room, teacher, student in
            try await teacher.dropPicture(at: (0.3, 0.3))
            try await teacher.wait(forIndex: 1)
            try await teacher.wait(forColour: "0 128 0", at: (0.3, 0.25))
            try await teacher.drawWave(2, saved: 2)
            try await teacher.press("s")
            try await teacher.tap(0.3, 0.4)
            try await teacher.waitForSelection()
            try await teacher.keepScreenshot("background-offered")
            try await teacher.clickInSight(of: "#selection-ground")
            for window in [teacher, student] {
                try await window.wait(forIndex: 4)
                try await window.wait(forColour: "0 128 0", at: (0.3, 0.19))
            }
            // It is below the ink, and nothing takes it away.
            #expect(try await Self.papers(of: room) == "slide")
            try await teacher.tap(0.3, 0.4)
            #expect(try await teacher.isTrue("$('selection').hidden"))
            try await teacher.press("g")
            try await teacher.wait(for: "the papers", "$('paper-dialog').open")
            #expect(try await teacher.isTrue("$('paper-picture').hidden"))
            try await teacher.run("$('paper-dialog').close()")

            // A slide as services before had them: an image as large as the page.
            let image = try await room.messages().first { $0["e"] == 5 }
            let asset = try #require(image?["i"]?.string)
            let ben = try room.author("ben")
            try await ben.send(#"{"n":1,"a":5,"g":1}"#, appliedAt: 5)
            try await ben.send(
                #"{"n":2,"e":5,"i":"\#(asset)","p":0,"d":[{"x":0,"y":0},{"x":1024,"y":768}],"w":1024,"h":768}"#,
                appliedAt: 6)
            try await teacher.wait(forIndex: 6)
            try await teacher.wait(forColour: "0 128 0", at: (0.5, 0.1))
            try await teacher.press("p")
            try await teacher.press("g")
            try await teacher.wait(for: "the command", "!$('paper-picture').hidden")
            try await teacher.keepScreenshot("background-papers")
            try await teacher.clickInSight(of: "#paper-picture")
            for window in [teacher, student] {
                try await window.wait(forIndex: 8)
                try await window.wait(forColour: "0 128 0", at: (0.5, 0.1))
            }
            #expect(try await Self.papers(of: room) == "slide slide")
            #expect(try await teacher.digest() == (try await student.digest()))
            try await student.expectNoComplaints()
            try await teacher.expectNoComplaints(but: BrowserWindow.isUsual)
        }
    }

    /// The papers of all pages in the log.
    private static func papers(of room: BrowserRoom) async throws -> String {
        let papers = try await room.messages().filter { $0["a"] == 7 }
        return papers.map { $0["i"] == nil ? "ruling" : "slide" }.joined(separator: " ")
    }
}

extension BrowserWindow {
    /// JavaScript that counts the pixels of a colour.
    static func pixels(_ red: Int, _ green: Int, _ blue: Int) -> String {
        "pixelsOf($('board'), \(red), \(green), \(blue))"
    }

    /// How many pixels of the board have a colour.
    func pixels(_ red: Int, _ green: Int, _ blue: Int) async throws -> Int {
        Int(try await run("return \(Self.pixels(red, green, blue))").double ?? 0)
    }

    /// Presses a key where the focus is.
    fileprivate func pressHere(_ key: String) async throws {
        try await run("press(document.activeElement, '\(key)')")
    }
}
