import Foundation
import TestSupport
import Testing

/// The lasso of the teacher's page, and students who see what it has done.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserLassoTests {
    private static let features = ["board.features=pages,images,lasso"]

    @Test("a loop of the pen selects, a drag moves, and one operation says so when the selection is dropped")
    func pen() async throws {
        try await BrowserRoom.withClass(Self.features) { room, teacher, student in
            for place in [1, 3, 5] { try await teacher.drawWave(place) }
            try await student.wait(forIndex: 3)
            let before = try await teacher.picture()
            try await teacher.select(0.4, 0.25, 0.15, 0.12, with: .pen)
            try await teacher.keepScreenshot("lasso-selected")
            // Nothing has happened to the board yet.
            #expect(try await teacher.difference(to: before) == 0)
            try await teacher.dragSelection(from: (0.4, 0.25), to: (0.55, 0.7), with: .pen)
            let moved = try await teacher.seenPicture()
            try await teacher.keepScreenshot("lasso-moved")
            #expect(try await student.index() == 3)
            try await teacher.press("Escape")
            try await student.wait(forIndex: 4)
            try await teacher.waitUntilSaved()
            #expect(try await student.digest() == (try await teacher.digest()))
            // It lies where it was seen under the pen.
            #expect(try await teacher.difference(to: moved) < 2)
            try await teacher.expectSamePicture(as: student)
            #expect(try await teacher.inkedPixels() > 1000)

            // One undo takes it back, and a redo brings it again; so it comes to one who joins late.
            try await teacher.press("z", control: true)
            try await student.wait(forIndex: 5)
            #expect(try await teacher.difference(to: before) == 0)
            try await teacher.press("z", control: true, shift: true)
            try await student.wait(forIndex: 6)
            let late = try await room.student()
            #expect(try await late.digest() == (try await teacher.digest()))
            try await teacher.expectSamePicture(as: late)
            // An undo of what lies below it by another teacher leaves the rest where it was moved.
            let ben = try room.author("ben")
            try await ben.send(#"{"n":1,"e":4,"l":40,"d":[{"x":100,"y":420},{"x":900,"y":560}]}"#, appliedAt: 7)
            try await student.wait(forIndex: 7)
            try await teacher.wait(forIndex: 7)
            try await teacher.expectSamePicture(as: student)
            for window in [student, late] { try await window.expectNoComplaints() }
            try await teacher.expectNoComplaints(but: BrowserWindow.isUsual)
        }
    }

    @Test("keys alone select the page, move, copy, turn, scale and delete; a selection that is left alone says nothing")
    func keys() async throws {
        try await BrowserRoom.withTeacher(Self.features) { room, teacher in
            try await teacher.drawWave(4, index: 1)
            let ink = try await teacher.inkedPixels()
            try await teacher.press("s")
            try await teacher.press("a", control: true)
            try await teacher.waitForSelection()
            #expect(try await teacher.run("return document.activeElement.id") == "selection")
            try await teacher.press("Escape")
            #expect(try await teacher.index() == 1)

            // Moved by 10 and 2: one operation, with the sum of all.
            try await teacher.press("a", control: true)
            try await teacher.waitForSelection()
            try await teacher.press("ArrowDown", shift: true)
            for _ in 0..<2 { try await teacher.press("ArrowRight") }
            try await teacher.press("Enter")
            try await teacher.waitUntilSaved(index: 2)
            #expect(try await teacher.lastLasso(in: room, after: 1) == #"{"m":[1,0,0,1,2,10]}"#)

            // A copy lies beside the original.
            try await teacher.press("a", control: true)
            try await teacher.press("d", control: true)
            try await teacher.press("Escape")
            try await teacher.waitUntilSaved(index: 3)
            let copy = try await teacher.lastLasso(in: room, after: 2)
            #expect(copy.contains(#""k":1"#), "\(copy)")
            #expect(try await teacher.inkedPixels() > ink + 1000)

            // Handles take the focus: arrows turn and scale there.
            try await teacher.press("a", control: true)
            try await teacher.run(
                """
                const turn = $('selection-turn');
                turn.focus();
                for (let step = 0; step < 6; step++) press(turn, "ArrowRight");
                const corner = document.querySelector("#selection [data-across]");
                corner.focus();
                for (let step = 0; step < 4; step++) press(corner, "ArrowDown");
                """)
            try await teacher.keepScreenshot("lasso-keys")
            try await teacher.press("Escape")
            try await teacher.waitUntilSaved(index: 4)
            let scale = pow(1.05, -4.0)
            let map = try await teacher.lastLasso(in: room, after: 3)
            let number = map.firstMatch(of: /"m":\[(-?[0-9.]+),/).flatMap { Double($0.1) }
            #expect(abs((number ?? 0) - scale * cos(Double.pi / 6)) < 1e-4, "\(map)")

            // Undo before it is dropped leaves it where it was.
            try await teacher.press("a", control: true)
            try await teacher.press("ArrowDown", shift: true)
            try await teacher.press("z", control: true)
            #expect(try await teacher.index() == 4)
            try await teacher.press("a", control: true)
            try await teacher.press("Delete")
            try await teacher.wait(forIndex: 5)
            #expect(try await teacher.inkedPixels() == 0)
            try await teacher.press("z", control: true)
            try await teacher.wait(forIndex: 6)
            #expect(try await teacher.inkedPixels() > 0)
            try await teacher.expectNoComplaints(but: BrowserWindow.isUsual)
        }
    }

    @Test("handles scale and turn, another tool drops, and nested lassos with erasers look the same everywhere")
    func handles() async throws {
        try await BrowserRoom.withClass(Self.features) { room, teacher, student in
            // Fingers draw where no pen does.
            for place in [1, 2, 4] { try await teacher.drawWave(place, with: .mouse) }
            try await teacher.press("e")
            try await teacher.drawWave(3, with: .mouse, index: 4)
            try await teacher.select(0.35, 0.3, 0.18, 0.2, with: .touch)
            try await teacher.dragHandle("[data-across='1'][data-down='1']", by: (60, 50), with: .touch)
            try await teacher.dragHandle("#selection-turn", by: (90, 40), with: .touch)
            try await teacher.dragSelection(from: (0.38, 0.33), to: (0.55, 0.6), with: .touch)
            try await teacher.press("p")
            try await teacher.wait(forIndex: 5)
            // What is drawn now is above, and erased by no eraser that was moved over it.
            try await teacher.drawWave(7, with: .mouse)
            try await teacher.select(0.6, 0.65, 0.2, 0.2, with: .mouse)
            // With Alt a copy is dragged; with Shift the shape is free.
            try await teacher.run(
                """
                const path = $('selection-path');
                const { left, top, width, height } = path.getBoundingClientRect();
                const at = (x, y, more) => ({ pointerId: 1, button: 0, buttons: 1, bubbles: true, cancelable: true, clientX: x, clientY: y, ...more });
                path.setPointerCapture = () => {};
                path.dispatchEvent(new PointerEvent("pointerdown", at(left + width / 2, top + height / 2, { altKey: true })));
                path.dispatchEvent(new PointerEvent("pointermove", at(left + width / 2 - 200, top + height / 2 - 150)));
                path.dispatchEvent(new PointerEvent("pointerup", at(left + width / 2 - 200, top + height / 2 - 150)));
                """)
            try await teacher.dragHandle("[data-across='-1'][data-down='1']", by: (-50, 70), with: .mouse, shift: true)
            try await teacher.keepScreenshot("lasso-nested")
            try await teacher.click("selection-done")
            try await teacher.wait(forIndex: 7)
            try await student.wait(forIndex: 7)
            try await teacher.waitUntilSaved()
            #expect(try await student.digest() == (try await teacher.digest()))
            try await teacher.expectSamePicture(as: student)
            #expect(try await teacher.lastLasso(in: room, after: 6).contains(#""k":1"#))
            let picture = try await student.comparison(with: room)
            #expect(picture.inked > 1000 && picture.mean <= 6 && picture.off <= 0.001, "\(picture)")
            // A lasso below others goes: they hold for what is left.
            for index in 8...9 {
                try await teacher.press("z", control: true)
                try await student.wait(forIndex: index)
            }
            try await teacher.wait(forIndex: 9)
            try await teacher.expectSamePicture(as: student)
            try await teacher.expectNoComplaints(but: BrowserWindow.isUsual)
        }
    }

    @Test("another selection ends the wait for ink that is to have another colour, and keeps its own picture")
    func nextSelection() async throws {
        try await BrowserRoom.withTeacher { room, teacher in
            try await teacher.drawWave(6, saved: 1)
            try await teacher.setOffline(true)
            try await teacher.drawWave(2)
            try await teacher.select(0.4, 0.25, 0.15, 0.08, with: .pen)
            // The room does not answer for the stroke.
            try await teacher.press("3")
            try await teacher.drawLoop(0.5, 0.61, 0.2, 0.08, with: .pen)
            let (x, y) = try await teacher.place(0.5, 0.61)
            try await teacher.draw([(x, y), (x, y + 60), (x, y + 120)], with: .mouse, hold: 500)
            let seen = try await teacher.seenPicture()
            try await teacher.press("Escape")
            try await teacher.press("p")
            #expect(try await teacher.difference(to: seen) < 2)
            try await teacher.setOffline(false)
            try await teacher.waitUntilSaved(index: 3)
            #expect(try await teacher.index() == 3)
        }
    }

    @Test("a pinch on a selection zooms and leaves it where it was, and it can be dragged afterwards")
    func pinch() async throws {
        try await BrowserRoom.withVideo(Self.features) { room, _ in
            let teacher = try await room.teacher("anna", .tablet)
            try await teacher.drawWave(4, with: .touch, index: 1)
            try await teacher.select(0.5, 0.45, 0.3, 0.15, with: .touch)
            let (x, y) = try await teacher.place(0.5, 0.45)
            try await teacher.drawTogether(
                [-1.0, 1].map { side in (after: 0, points: (0...10).map { (x + side * (30 + 9 * Double($0)), y + 20) })
                })
            try await teacher.wait(for: "a part", "document.querySelector('.lectern-part') !== null")
            try await teacher.keepScreenshot("lasso-pinched")
            let map = "$('selection-path').getAttribute('transform')"
            #expect(try await teacher.run("return \(map)") == "matrix(1 0 0 1 0 0)")
            try await teacher.press("0")
            try await teacher.wait(for: "the whole page", "document.querySelector('.lectern-part') === null")
            try await teacher.dragSelection(from: (0.5, 0.45), to: (0.5, 0.7), with: .touch)
            try await teacher.click("selection-done")
            try await teacher.wait(forIndex: 2)
            let moved = try await teacher.lastLasso(in: room, after: 1)
            let shift = try #require(moved.firstMatch(of: /"m":\[1,0,0,1,(-?[0-9.]+),([0-9.]+)\]/), "\(moved)")
            let (across, down) = (Double(shift.1) ?? .nan, Double(shift.2) ?? .nan)
            #expect(abs(across) < 2 && abs(down - 192) < 2, "\(moved)")
        }
    }

    @Test("what was turned and scaled is drawn once as sharp as it will be, and not again while it rests")
    func resting() async throws {
        try await BrowserRoom.withTeacher(Self.features) { room, teacher in
            try await teacher.drawWave(4, index: 1)
            try await teacher.select(0.5, 0.45, 0.3, 0.15, with: .pen)
            // The first picture is that of the first turn.
            let result = try await teacher.run(
                """
                const rests = [];
                const plain = window.setTimeout;
                window.setTimeout = (body, milliseconds, ...rest) => {
                    if (milliseconds === 180) rests.push(milliseconds);
                    return plain(body, milliseconds, ...rest);
                };
                let pictures = 0;
                new MutationObserver(() => pictures++).observe($('lift'), { childList: true });
                for (let turn = 0; turn < 3; turn++) press($('selection-turn'), "ArrowRight");
                press(document.querySelector("#selection [data-across]"), "ArrowRight");
                await until(() => pictures === 2);
                window.setTimeout = plain;
                return rests.length;
                """)
            #expect(result == 3)
        }
    }

    @Test("a lasso without the network is seen at once, survives a reload, and is sent when the network is back")
    func offline() async throws {
        try await BrowserRoom.withClass(Self.features) { room, teacher, student in
            for place in [2, 4] { try await teacher.drawWave(place) }
            try await teacher.waitUntilSaved(index: 2)
            try await teacher.setOffline(true)
            try await teacher.select(0.5, 0.35, 0.2, 0.2, with: .pen)
            try await teacher.dragSelection(from: (0.5, 0.35), to: (0.6, 0.75), with: .pen)
            try await teacher.press("Escape")
            try await teacher.press("p")
            try await teacher.drawWave(8)
            let seen = try await teacher.picture()
            try await teacher.open("about:blank")
            try await teacher.setOffline(false)
            try await teacher.open(writingAt: "\(room.page)/teach?author=anna")
            try await teacher.waitUntilSaved(index: 4)
            try await student.wait(forIndex: 4)
            #expect(try await teacher.difference(to: seen) < 0.5)
            #expect(try await student.digest() == (try await teacher.digest()))
            try await teacher.expectSamePicture(as: student)
        }
    }

    @Test(
        "an image that is not there is a frame for all, and a tap on it selects it with its ink, wherever it was moved")
    func frames() async throws {
        try await BrowserRoom.withClass(Self.features) { room, teacher, student in
            let ben = try room.author("ben")
            let asset = String(repeating: "0123456789abcdef", count: 4)
            try await ben.send(
                #"{"n":1,"e":5,"i":"\#(asset)","d":[{"x":200,"y":150},{"x":500,"y":350}],"w":1024,"h":768}"#,
                appliedAt: 1)
            try await teacher.wait(forIndex: 1)
            #expect(try await teacher.inkedPixels() > 500)
            try await teacher.drawWave(2)
            try await teacher.press("s")
            try await teacher.tap(0.34, 0.32)
            try await teacher.waitForSelection()
            try await teacher.dragSelection(from: (0.34, 0.32), to: (0.6, 0.6), with: .mouse)
            // A tap beside it drops it, and one on its new place takes it again.
            try await teacher.tap(0.05, 0.95)
            try await teacher.wait(forIndex: 3)
            try await teacher.tap(0.6, 0.6)
            try await teacher.waitForSelection()
            try await teacher.keepScreenshot("lasso-frame")
            try await teacher.press("Delete")
            try await student.wait(forIndex: 4)
            try await teacher.wait(forIndex: 4)
            try await teacher.expectSamePicture(as: student)
            // All of it and the ink on it is gone, and the rest of the stroke is not.
            let left = try await teacher.run(
                """
                const canvas = $('board');
                const context = canvas.getContext("2d");
                const inked = (x, y, w, h) => context.getImageData(canvas.width * x, canvas.height * y, canvas.width * w, canvas.height * h)
                    .data.some((value, place) => place % 4 === 3 && value > 8);
                // But for the edges of the cut, whose path is rounded to hundredths of a unit.
                return [inked(0.46, 0.46, 0.29, 0.28), inked(0.1, 0.15, 0.09, 0.2), inked(0.2, 0.2, 0.28, 0.25)];
                """)
            #expect(left == [false, true, false])
        }
    }

    @Test func `selections can be handled on a telephone, on its side, and on a tablet, light and dark`() async throws {
        try await BrowserRoom.withVideo(Self.features) { room, _ in
            let ben = try room.author("ben")
            for line in 0..<6 {
                try await ben.send(
                    #"{"n":\#(line + 1),"c":\#(line),"l":6,"d":[{"x":100,"y":\#(110 * line + 80)},{"x":900,"y":\#(110 * line + 120)}]}"#
                )
            }
            try await ben.send(#"{"n":7,"a":5,"g":1}"#, appliedAt: 7)
            try await ben.send(#"{"n":8,"a":5,"g":0}"#, appliedAt: 8)
            let side = BrowserWindow.Size(width: 844, height: 390, scale: 2)
            let narrow = BrowserWindow.Size(width: 320, height: 640, scale: 2)
            for (name, size, isDark) in [
                ("phone", .phone, false), ("phone-dark", .phone, true), ("narrow", narrow, false), ("side", side, true),
                ("tablet", .tablet, false), ("desktop", .desktop, true),
            ] as [(String, BrowserWindow.Size, Bool)] {
                let window = try await BrowserWindow(
                    size, isDark: isDark, writingAt: "\(room.page)/teach?author=\(name)")
                try await window.wait(forIndex: 8)
                try await window.press("s")
                // In a corner: nothing to hold it by may be out of the window.
                try await window.drawLoop(0.2, 0.15, 0.15, 0.12, with: .touch)
                try await window.keepScreenshot("lasso-\(name)")
                let wrong = try await window.run(
                    """
                    return [...document.querySelectorAll("#selection button, #tools button, .page-commands button")].filter((button) => {
                        const { left, top, right, bottom, width, height } = button.getBoundingClientRect();
                        if (width === 0) return false;
                        const least = button.closest("#selection") ? 44 : 36;
                        return width < least || height < least || (button.closest("#selection-tools")
                            && (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight));
                    }).map((button) => button.ariaLabel);
                    """)
                #expect(wrong == [], "\(name)")
                #expect(try await window.run("return overflow()") == 0, "\(name)")
                try await window.close()
            }
        }
    }
}
