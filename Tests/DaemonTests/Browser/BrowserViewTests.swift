import Foundation
import TestSupport
import Testing

/// A part of the board, larger: what is seen of it, and what is drawn there.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserViewTests {
    @Test("a part is as sharp as the service draws it, and the whole page comes back pixel by pixel")
    func sharp() async throws {
        try await BrowserRoom.with(strokes: 40) { room, _ in
            let student = try await room.student()
            try await student.wait(forIndex: 40)
            try await student.run("$('sheet').style.width = '800px'")
            try await student.wait(for: "another size", "$('board').width === 800")
            let before = try await student.picture()
            for _ in 0..<2 { try await student.press("+") }
            try await student.waitForPart(1800)
            let seen = try await student.run(
                """
                const part = document.querySelector(".lectern-part");
                const [board, own] = [$('board'), part].map((canvas) => canvas.getBoundingClientRect());
                const reply = await fetch("/api/rooms/\(room.name)/board.png?width=1800&background=transparent");
                const picture = await createImageBitmap(await reply.blob(), { premultiplyAlpha: "none" });
                const { width, height } = part;
                const whole = new OffscreenCanvas(width, height).getContext("2d");
                const [x, y] = [own.left - board.left, own.top - board.top];
                whole.drawImage(picture, -Math.round(x), -Math.round(y));
                const expected = whole.getImageData(0, 0, width, height).data;
                const { data } = part.getContext("2d").getImageData(0, 0, width, height);
                let [most, ink] = [0, 0];
                for (let i = 3; i < data.length; i += 4) {
                    if (data[i] > 0) ink++;
                    most = Math.max(most, Math.abs(data[i] - expected[i]));
                }
                return { most, ink, off: Math.max(Math.abs(x - Math.round(x)), Math.abs(own.left - Math.round(own.left))), width, scaled: own.width };
                """)
            // Edges of strokes that go beyond the part are rounded otherwise.
            #expect((seen["most"]?.double ?? 255) <= 4, "\(seen)")
            #expect((seen["ink"]?.double ?? 0) > 1000, "\(seen)")
            #expect((seen["off"]?.double ?? 1) < 0.01, "pixels of the part are pixels of the screen: \(seen)")
            #expect(seen["width"] == seen["scaled"], "\(seen)")
            try await student.keepScreenshot("view-student")
            // What comes meanwhile is on both.
            try await room.publish(1, after: 40)
            try await student.wait(forIndex: 41)
            try await student.clickInSight(of: "#whole")
            try await student.waitForWhole()
            #expect(try await student.difference(to: before) > 0)
            let (mean, off, _) = try await student.comparison(with: room)
            #expect(mean < 0.05 && off == 0)
            try await student.expectNoComplaints()
        }
    }

    @Test("at 16 times the pen draws where it is on the board, and the lasso takes what it surrounds")
    func precision() async throws {
        try await BrowserRoom.withTeacher { room, teacher in
            let board = try await teacher.box(of: BrowserWindow.canvas)
            let middle = [board[0] + board[2] / 2, board[1] + board[3] / 2].map { $0.rounded() }
            for _ in 0..<8 { try await teacher.press("+") }
            try await teacher.waitForPart(16 * board[2])
            try await teacher.draw(
                (0...8).map { (middle[0] + 20 * Double($0), middle[1] + 10 * Double($0)) }, with: .mouse)
            try await teacher.waitUntilSaved(index: 1)
            let points = try await room.visible().last?["message"]?["d"]?.elements ?? []
            let ends = [points.first, points.last].flatMap { [$0?["x"]?.double, $0?["y"]?.double].compactMap(\.self) }
            try #require(ends.count == 4)
            #expect(abs(try await teacher.box(of: BrowserWindow.canvas)[2] - 16 * board[2]) < 0.1)
            let pixel = 64 / board[2]
            #expect(abs(ends[2] - ends[0] - 160 * pixel) < 0.02, "\(ends)")
            #expect(abs(ends[3] - ends[1] - 80 * pixel) < 0.02, "\(ends)")
            // It is seen where the pen was, and nowhere beside it.
            for (place, isInked) in [(0.0, true), (0.5, true), (1, true), (-0.3, false), (1.3, false)] {
                let (x, y) = (middle[0] + 160 * place, middle[1] + 80 * place)
                #expect(try await teacher.isInked(x, y) == isInked, "at \(place)")
            }
            try await teacher.keepScreenshot("view-teacher-16")

            // The lasso and its handles are where the ink is.
            try await teacher.press("s")
            try await teacher.draw(
                [(-40, -40), (200, -40), (200, 120), (-40, 120), (-40, -38)].map {
                    (middle[0] + $0.0, middle[1] + $0.1)
                }, with: .mouse)
            try await teacher.waitForSelection()
            try await teacher.keepScreenshot("view-teacher-lasso")
            try await teacher.draw((0...8).map { (middle[0] + 80 + 10 * Double($0), middle[1] + 40) }, with: .mouse)
            try await teacher.run("$('selection-done').click()")
            try await teacher.wait(forIndex: 2)
            let moved = try #require(try await room.visible().last?["message"]?["m"]?.numbers(6))
            #expect(abs(moved[4] - 80 * pixel) < 0.02 && abs(moved[5]) < 0.02, "\(moved)")
            try await teacher.expectNoComplaints(but: BrowserWindow.isUsual)
        }
    }

    @Test("a zoom that is taken back before it is painted leaves nothing: what is drawn at the edge is seen")
    func takenBack() async throws {
        try await BrowserRoom.withTeacher { room, teacher in
            try await teacher.run("for (const key of ['+', '0']) press(document.body, key)")
            try await teacher.drawWave(0, index: 1)
            try await teacher.waitForWhole()
            #expect(try await teacher.inkedPixels() > 1000)
        }
    }

    @Test("an element that begins anew while a part is seen shows the whole page, with one button of each kind")
    func anew() async throws {
        try await BrowserRoom.with(strokes: 3) { room, _ in
            let window = try await BrowserWindow(at: room.address)
            try await window.run(
                """
                await import("/lectern.js");
                document.body.innerHTML = '<lectern-teacher room="\(room.name)" author="anna"></lectern-teacher>';
                window.holder = document.querySelector("lectern-teacher");
                window.find = (selector) => [...holder.shadowRoot.querySelectorAll(selector)];
                """)
            let isThere = "holder.teacher?.board.index === 3 && find('[aria-label^=Pointer]')[0]?.hidden === false"
            try await window.wait(for: "the board", isThere)
            // One that comes back to the page asks no question of before.
            try await window.run(
                """
                find("#clear-dialog")[0].showModal();
                holder.remove();
                while (holder.teacher) await new Promise((resolve) => setTimeout(resolve));
                document.body.append(holder);
                """)
            try await window.wait(for: "the board", isThere)
            #expect(try await window.isTrue("!find(\"#clear-dialog\")[0].open"))
            try await window.run("find('[aria-label^=Pointer]')[0].click(); holder.view.zoomTo(3);")
            try await window.wait(for: "a part", "find('.lectern-part').length === 1")
            try await window.run("window.before = holder.teacher; holder.setAttribute('label', 'Physics');")
            try await window.wait(
                for: "another board", "holder.teacher !== before && holder.teacher?.board.index === 3")
            let seen = try await window.run(
                """
                return [holder.canvas.style.transform, find(".sheet")[0].style.clipPath, find("[data-zoomed], .lectern-part").length,
                    find('[aria-label="Point without touching"]').length, holder.view.zoom];
                """)
            #expect(seen == ["", "", 0, 1, 1], "\(seen)")
        }
    }

    @Test("a wheel that turns slowly zooms, too, and what rests close to the whole page becomes it")
    func slowWheel() async throws {
        try await BrowserRoom.withTeacher { room, teacher in
            func turn(_ count: Int, by delta: Int) async throws {
                try await teacher.run(
                    """
                    const canvas = $('board');
                    const { left, top } = canvas.getBoundingClientRect();
                    for (let turn = 0; turn < \(count); turn++) {
                        canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: \(delta), ctrlKey: true, bubbles: true, cancelable: true,
                            clientX: Math.max(left, 0) + 200, clientY: Math.max(top, 0) + 200 }));
                    }
                    """)
            }
            try await turn(50, by: -1)
            try await teacher.expectZoom(exp(0.5))
            try await turn(49, by: 1)
            try await teacher.waitForWhole()
            try await teacher.expectZoom(1)
        }
    }

    @Test("a pinch zooms where the fingers are: it leaves no ink, is no tap, and two fingers still tap to undo")
    func pinch() async throws {
        try await BrowserRoom.withVideo { room, _ in
            let teacher = try await room.teacher("anna", .tablet)
            let student = try await room.student("", .phone)
            try await teacher.drawWave(1, with: .touch)
            for window in [teacher, student] { try await window.wait(forIndex: 1) }
            // The line above the board grows with it.
            try await teacher.wait(for: "what students see", "!$('ahead-picture').hidden")
            for (number, window) in [teacher, student].enumerated() {
                let (x, y) = try await window.place(0.5, 0.5)
                func pinch(from: Double, to: Double) async throws {
                    // Within the time of a tap.
                    try await window.drawTogether(
                        [-1.0, 1].map { side in
                            (after: 0, points: (0...10).map { (x + side * (from + (to - from) * Double($0) / 10), y) })
                        })
                }
                let before =
                    try await window.run("return $('board').getBoundingClientRect().width").double ?? 0
                try await pinch(from: 30, to: 120)
                try await window.wait(
                    for: "a part",
                    "$('board').getBoundingClientRect().width > \(before) * 2 && document.querySelector('.lectern-part') !== null"
                )
                let after = try await window.place(0.5, 0.5)
                // Places of fingers are whole pixels.
                #expect(abs(after.x - x) < 4 && abs(after.y - y) < 4, "\(after) \(x) \(y)")
                #expect(try await window.index() == 1)
                try await window.keepScreenshot("view-pinch-\(number)")
                // Together they move it, and what is seen does not leave the page.
                try await window.drawTogether(
                    [-20.0, 20].map { side in
                        (after: 0, points: (0...10).map { (x + side + 6 * Double($0), y + 4 * Double($0)) })
                    })
                let moved = try await window.place(0.5, 0.5)
                #expect(abs(moved.x - after.x - 60) < 2 && abs(moved.y - after.y - 40) < 2, "\(moved) \(after)")
                try await pinch(from: 120, to: 20)
                try await window.waitForWhole()
            }
            #expect(try await teacher.run("return $('saved').textContent") == "All saved")
            #expect(try await teacher.index() == 1)
            let (x, y) = try await teacher.place(0.5, 0.5)
            try await teacher.drawTogether([-40.0, 40].map { (after: 0, points: [(x + $0, y)]) })
            try await teacher.wait(forIndex: 2)
            #expect(try await teacher.inkedPixels() == 0)
            // A finger that draws first, and one that comes to pinch.
            try await teacher.drawTogether([
                (after: 0, points: (0...20).map { (x - 6 * Double($0), y) }),
                (after: 8, points: (0...10).map { (x + 40 + 12 * Double($0), y) }),
            ])
            try await teacher.wait(for: "a part", "document.querySelector('.lectern-part') !== null")
            #expect(try await teacher.partInk() == 0)
            #expect(try await teacher.index() == 2)
            try await teacher.expectNoComplaints(but: BrowserWindow.isUsual)
        }
    }

    @Test("wheels, keys and a mouse zoom and move; another page begins at its top left, as large as the one before")
    func keys() async throws {
        try await BrowserRoom.withClass { room, teacher, student in
            try await teacher.drawWave(1)
            try await student.wait(forIndex: 1)
            try await teacher.wait(for: "what students see", "!$('ahead-picture').hidden")
            for window in [teacher, student] {
                try await window.press("+")
                try await window.press("=")
                try await window.press("-")
                try await window.expectZoom(1.5)
                let before = try await window.place(0, 0)
                try await window.press("ArrowRight")
                #expect(try await window.place(0, 0).x < before.x - 50)
                try await window.press("ArrowLeft")
                try await window.press("0")
                try await window.expectZoom(1)
                for _ in 0..<3 { try await window.press("+") }
                let place = try await window.place(0.45, 0.4)
                try await window.run(
                    """
                    const [x, y] = [\(place.x), \(place.y)];
                    for (let turn = 0; turn < 12; turn++) {
                        document.elementFromPoint(x, y).dispatchEvent(new WheelEvent("wheel", {
                            deltaY: -10, ctrlKey: true, clientX: x, clientY: y, bubbles: true, cancelable: true }));
                    }
                    """)
                try await window.expectZoom(pow(1.5, 3) * exp(1.2))
                let after = try await window.place(0.45, 0.4)
                #expect(abs(after.x - place.x) < 4 && abs(after.y - place.y) < 4, "\(after) \(place)")
                try await window.wait(for: "a part", "document.querySelector('.lectern-part') !== null")
            }
            // A mouse moves the student's page; on the teacher's it draws, but for Space.
            let corner = try await student.place(0, 0)
            let from = try await student.place(0.45, 0.4)
            try await student.draw([from, (from.x + 30, from.y + 20), (from.x + 60, from.y + 40)], with: .mouse)
            let dragged = try await student.place(0, 0)
            #expect(abs(dragged.x - corner.x - 60) < 1.5 && abs(dragged.y - corner.y - 40) < 1.5)
            let own = try await teacher.place(0, 0)
            let at = try await teacher.place(0.45, 0.4)
            try await teacher.press(" ")
            try await teacher.draw([at, (at.x + 30, at.y + 20), (at.x + 60, at.y + 40)], with: .mouse)
            let pulled = try await teacher.place(0, 0)
            #expect(abs(pulled.x - own.x - 60) < 1.5 && abs(pulled.y - own.y - 40) < 1.5)
            try await teacher.run("document.dispatchEvent(new KeyboardEvent('keyup', { key: ' ', bubbles: true }))")
            #expect(try await teacher.index() == 1)
            try await teacher.draw([at, (at.x + 30, at.y + 20), (at.x + 60, at.y + 40)], with: .mouse)
            for window in [teacher, student] { try await window.wait(forIndex: 2) }

            try await teacher.run("$('page-add').click()")
            for window in [teacher, student] {
                try await window.wait(forIndex: 3)
                try await window.expectZoom(pow(1.5, 3) * exp(1.2))
                // The teacher's strip of pages takes some of the height first.
                try await window.wait(
                    for: "its top left",
                    """
                    (() => {
                        const board = $('board').getBoundingClientRect();
                        const stage = $('stage');
                        const { left, top } = stage.getBoundingClientRect();
                        const { paddingLeft, paddingTop } = getComputedStyle(stage);
                        return Math.abs(board.left - left - parseFloat(paddingLeft)) < 1.5 && Math.abs(board.top - top - parseFloat(paddingTop)) < 1.5;
                    })()
                    """)
                try await window.expectNoComplaints { $0.contains("404") }
            }
            try await student.run("$('keys').click()")
            try await student.press("0")
            try await student.expectZoom(pow(1.5, 3) * exp(1.2))
        }
    }

    @Test("a telephone held upright begins with a tall board at its width, and one tap shows all of it")
    func upright() async throws {
        try await BrowserRoom.withTeacher(["board.width=700", "board.height=1600"]) { room, teacher in
            try await teacher.drawWave(0, index: 1)
            let student = try await room.student("", .phone)
            try await student.wait(for: "a part", "document.querySelector('.lectern-part') !== null")
            let (board, stage) = (try await student.box(of: "$('board')"), try await student.box(of: "$('stage')"))
            #expect(0.9...1 ~= board[2] / stage[2] && abs(board[1] - stage[1]) < 20, "\(board) \(stage)")
            try await student.keepScreenshot("view-upright")
            try await student.clickInSight(of: "#whole")
            try await student.waitForWhole()
            #expect(try await student.isTrue("$('whole').hidden"))
            let wide = try await room.student()
            try await wide.expectZoom(1)
        }
    }

    @Test func `the pointer, strokes that grow and the eraser of whole strokes are where the part is`() async throws {
        try await BrowserRoom.withTeacher { room, teacher in
            let student = try await room.student("?cohort=head")
            for window in [teacher, student] {
                for _ in 0..<4 { try await window.press("+") }
                try await window.expectZoom(pow(1.5, 4))
            }
            let (x, y) = try await teacher.place(0.5, 0.5)
            try await teacher.draw((0...10).map { (x - 100 + 20 * Double($0), y) }, with: .pen, .begin)
            try await teacher.draw((1...10).map { (x - 100 + 20 * Double($0), y) }, with: .pen, .go)
            // It grows under the pen before the room has it.
            #expect(try await teacher.partInk() > 500)
            try await teacher.draw([(x + 100, y)], with: .pen, .end)
            try await student.wait(forIndex: 1)
            try await student.wait(for: "ink", "document.querySelector('.lectern-part') !== null")
            #expect(try await student.partInk() > 500)
            try await teacher.press("k")
            try await teacher.draw((0...10).map { (x - 50 + 10 * Double($0), y - 60) }, with: .pen, .begin)
            try await teacher.draw((1...10).map { (x - 50 + 10 * Double($0), y - 60) }, with: .pen, .go)
            let tip = try await teacher.run(
                """
                const layer = document.querySelector(".lectern-pointers");
                const { left, top, width } = layer.getBoundingClientRect();
                const { data } = layer.getContext("2d").getImageData(Math.round(\(x) + 50 - left), Math.round(\(y) - 60 - top), 1, 1);
                return [data[3], width, innerWidth, layer.previousElementSibling.className];
                """)
            #expect(tip.elements.first == 255, "\(tip)")
            #expect((tip.elements[1].double ?? .infinity) <= (tip.elements[2].double ?? 0), "\(tip)")
            try await teacher.keepScreenshot("view-pointer")
            try await teacher.draw([(x + 50, y - 60)], with: .pen, .end)
            try await teacher.wait(forIndex: 2)
            try await teacher.press("d")
            try await teacher.draw((0...8).map { (x, y - 40 + 10 * Double($0)) }, with: .pen)
            for window in [teacher, student] { try await window.wait(forIndex: 3) }
            #expect(try await teacher.partInk() == 0)
            #expect(try await student.partInk() == 0)
        }
    }
}

extension BrowserWindow {
    /// Waits until a part is painted of a page so many pixels wide.
    fileprivate func waitForPart(_ width: Double) async throws {
        try await wait(
            for: "a part",
            "Math.abs($('board').getBoundingClientRect().width - \(width)) < 1 && document.querySelector('.lectern-part') !== null"
        )
    }

    fileprivate func waitForWhole() async throws {
        try await wait(
            for: "the whole page",
            "!$('board').style.transform && document.querySelector('.lectern-part') === null")
    }

    fileprivate func expectZoom(_ zoom: Double) async throws {
        let seen =
            try await run("return $('board').getBoundingClientRect().width / $('board').clientWidth").double
            ?? 0
        #expect(abs(seen - zoom) < 0.001 * zoom, "\(seen)")
    }

    /// The number of pixels with ink of the part that is seen.
    fileprivate func partInk() async throws -> Int {
        Int(try await run("await nextFrames(1); return inkOf(document.querySelector('.lectern-part'))").double ?? -1)
    }

    /// Whether a pixel of the part that is seen has ink, by its place in the window.
    fileprivate func isInked(_ x: Double, _ y: Double) async throws -> Bool {
        try await isTrue("isInked(document.querySelector('.lectern-part'), \(x), \(y))")
    }
}
