import Foundation
import TestSupport
import Testing

/// The eraser of whole strokes on the teacher's page, and students who see what it has removed.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserEraserTests {
    @Test("what the pen touches is gone at once; one operation removes all of it, and one undo brings it back")
    func pen() async throws {
        try await BrowserRoom.withClass { room, teacher, student in
            for place in [1, 3, 5] { try await teacher.drawWave(place) }
            try await student.wait(forIndex: 3)
            try await teacher.waitUntilSaved()
            let before = try await teacher.picture()
            let ink = try await teacher.inkedPixels()
            try await teacher.press("d")
            try await teacher.erase(down: (0.05, 0.42), across: 0.3, .begin)
            try await teacher.waitForInk(below: ink / 2)
            try await teacher.keepScreenshot("strokes-erased")
            // Nothing has happened to the board yet.
            #expect(try await student.index() == 3)
            try await teacher.erase(down: (0.42, 0.42), across: 0.31, .end)
            try await student.wait(forIndex: 4)
            try await teacher.waitUntilSaved()
            #expect(try await student.digest() == (try await teacher.digest()))
            try await teacher.expectSamePicture(as: student)
            #expect(try await teacher.inkedPixels() > ink / 5, "the third wave is there")

            try await teacher.press("z", control: true)
            try await student.wait(forIndex: 5)
            try await teacher.wait(forIndex: 5)
            #expect(try await teacher.difference(to: before) == 0)
            try await teacher.press("z", control: true, shift: true)
            try await student.wait(forIndex: 6)
            let late = try await room.student()
            #expect(try await late.digest() == (try await student.digest()))
            // The board is empty, and yet there is something to undo.
            try await teacher.erase(down: (0.45, 0.6), across: 0.6, .whole)
            for window in [teacher, student, late] { try await window.wait(forIndex: 7) }
            #expect(try await teacher.inkedPixels() == 0)
            try await teacher.wait(for: "undo", "!$('undo').disabled")
            try await teacher.press("z", control: true)
            // One who joined between follows the undo by what the reply had.
            for window in [teacher, student, late] { try await window.wait(forIndex: 8) }
            #expect(try await late.digest() == (try await teacher.digest()))
            try await teacher.expectSamePicture(as: late)
            for window in [student, late] { try await window.expectNoComplaints() }
            try await teacher.expectNoComplaints(but: BrowserWindow.isUsual)
        }
    }

    @Test
    func
        `an eraser has a ring of its size around the pointer, at every zoom, and a pen that erases has one with every tool`()
        async throws
    {
        try await BrowserRoom.withTeacher { room, teacher in
            let ring = "document.querySelector('.lectern-eraser')"
            func expectRing(around place: (x: Double, y: Double), width: Double, _ what: String) async throws {
                let scale = try await teacher.box(of: BrowserWindow.canvas)[2] / 1024
                let box = try await teacher.box(of: ring)
                #expect(abs(box[2] - width * scale) < 1.5 && abs(box[3] - box[2]) < 1, "\(what): \(box) \(scale)")
                #expect(
                    abs(box[0] + box[2] / 2 - place.x) < 1.5 && abs(box[1] + box[3] / 2 - place.y) < 1.5,
                    "\(what): \(box)")
            }
            let place = try await teacher.place(0.4, 0.5)
            func point() async throws {
                try await teacher.draw(
                    [(place.x - 5, place.y), (place.x.rounded(), place.y.rounded())], with: .mouse, .go)
            }
            try await teacher.press("p")
            try await point()
            #expect(try await teacher.isTrue("\(ring) === null"))
            for key in ["e", "d"] {
                try await teacher.press(key)
                try await point()
                try await teacher.wait(for: "the ring", ring)
                try await expectRing(around: place, width: 20, key)
            }
            try await teacher.press("]")
            try await expectRing(around: place, width: 40, "broader")
            try await teacher.keepScreenshot("eraser-cursor")
            for _ in 0..<3 { try await teacher.press("+") }
            try await expectRing(around: place, width: 40, "larger")
            try await teacher.press("p")
            #expect(try await teacher.isTrue("\(ring) === null"))
            // Its button erases, whatever is chosen.
            try await teacher.run(
                """
                const send = (type, button, buttons) => $('board').dispatchEvent(new PointerEvent(type, { pointerId: 9, pointerType: "pen",
                    isPrimary: true, button, buttons, bubbles: true, cancelable: true, clientX: \(place.x), clientY: \(place.y) }));
                send("pointerdown", 5, 32);
                """)
            try await expectRing(around: place, width: 8, "a pen")
            try await teacher.run(
                "$('board').dispatchEvent(new PointerEvent('pointerleave', { pointerId: 9, pointerType: 'pen' }))"
            )
            #expect(try await teacher.isTrue("\(ring) === null"))
            try await teacher.expectNoComplaints(but: BrowserWindow.isUsual)
        }
    }

    @Test func `what was erased while the network is away stays away when its page is seen again`() async throws {
        try await BrowserRoom.withTeacher { room, teacher in
            for place in [1, 5] { try await teacher.drawWave(place) }
            try await teacher.waitUntilSaved(index: 2)
            try await teacher.clickInSight(of: "#page-add")
            try await teacher.wait(forPages: "0 [1]")
            try await teacher.press("PageUp")
            try await teacher.wait(forPages: "[0] 1")
            try await teacher.wait(for: "the page", "$('board').dataset.page === '0'")
            try await teacher.waitUntilSaved()
            // The strip of pages has made the board smaller.
            let ink = try await teacher.inkedPixels()
            try await teacher.setOffline(true)
            try await teacher.press("d")
            try await teacher.erase(down: (0.05, 0.3), across: 0.3, .whole)
            try await teacher.waitForInk(below: ink * 3 / 4)
            let left = try await teacher.inkedPixels()
            try await teacher.press("PageDown")
            try await teacher.wait(forPages: "0 [1]")
            try await teacher.waitForInk(below: 1)
            try await teacher.press("PageUp")
            try await teacher.wait(forPages: "[0] 1")
            try await teacher.wait(for: "the page", "$('board').dataset.page === '0'")
            try await teacher.waitForInk(below: left + 1)
            #expect(try await teacher.inkedPixels() == left)
            try await teacher.setOffline(false)
            try await teacher.waitUntilSaved()
            #expect(try await teacher.inkedPixels() == left)
        }
    }

    @Test("where each author undoes his own strokes, those of others stay under the eraser, and the page says why")
    func others() async throws {
        try await BrowserRoom.withClass(["history.scope=author"]) { room, teacher, student in
            try await teacher.drawWave(1, index: 1)
            let ben = try room.author("ben")
            try await ben.send(#"{"n":1,"l":4,"d":[{"x":100,"y":300},{"x":900,"y":300}]}"#, appliedAt: 2)
            for window in [teacher, student] { try await window.wait(forIndex: 2) }
            try await teacher.press("d")
            try await teacher.erase(down: (0.05, 0.6), across: 0.3, .whole)
            for window in [teacher, student] { try await window.wait(forIndex: 3) }
            #expect(try await student.digest() == (try await teacher.digest()))
            try await teacher.expectSamePicture(as: student)
            #expect(try await teacher.inkedPixels() > 0)
            // Alone it cannot be removed: nothing is sent, and it stays.
            try await teacher.run("$('notice').hidden = true")
            try await teacher.erase(down: (0.3, 0.6), across: 0.5, .whole)
            try await teacher.wait(for: "the reason", Self.saysWhy)
            try await teacher.waitUntilSaved()
            try await teacher.expectSamePicture(as: student)
            #expect(try await teacher.index() == 3)
        }
    }

    private static let saysWhy =
        "!$('notice').hidden && $('notice-text').textContent.startsWith('What others have drawn')"

    @Test("where each author changes his own, a colour makes no copy of another's stroke, and a tap no second text")
    func changes() async throws {
        try await BrowserRoom.withClass(["history.scope=author"]) { room, teacher, student in
            try await teacher.drawWave(1, index: 1)
            let ben = try room.author("ben")
            try await ben.send(#"{"n":1,"l":4,"d":[{"x":100,"y":300},{"x":900,"y":300}]}"#, appliedAt: 2)
            try await ben.send(
                #"{"n":2,"e":8,"l":60,"x":"Satz","d":[{"x":100,"y":500},{"x":400,"y":560}]}"#, appliedAt: 3)
            for window in [teacher, student] { try await window.wait(forIndex: 3) }
            try await teacher.press("t")
            try await teacher.tap(0.2, 0.69)
            try await teacher.wait(for: "the reason", Self.saysWhy)
            #expect(try await teacher.isTrue("!document.querySelector('[data-text=edited]')"))
            try await teacher.run("$('notice').hidden = true")
            try await teacher.press("s")
            try await teacher.press("a", control: true)
            try await teacher.waitForSelection()
            try await teacher.press("2")
            try await teacher.wait(for: "the reason", Self.saysWhy)
            // The teacher's stroke is drawn anew, then removed; those of others are as they were.
            for window in [teacher, student] { try await window.wait(forIndex: 5) }
            let visible = try await room.visible().compactMap { $0["index"]?.double }
            #expect(visible == [2, 3, 4])
            #expect(try await student.digest() == (try await teacher.digest()))
        }
    }
}

extension BrowserWindow {
    /// Moves the pen down over a part of the board.
    fileprivate func erase(down: (from: Double, to: Double), across: Double, _ phase: Phase) async throws {
        let (from, to) = (try await place(across, down.from), try await place(across, down.to))
        try await draw(
            (0...12).map { step in
                let part = Double(step) / 12
                return (from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part)
            }, with: .pen, phase)
    }

    /// Waits until fewer pixels have ink.
    fileprivate func waitForInk(below count: Int) async throws {
        try await wait(for: "less ink", "inkOf($('board')) < \(count)")
    }
}
