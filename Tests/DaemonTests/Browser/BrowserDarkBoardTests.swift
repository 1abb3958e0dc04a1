import Foundation
import TestSupport
import Testing

/// The dark board that a person chooses: a view of one browser.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserDarkBoardTests {
    private static let isDark = "$('sheet').dataset.dark === ''"
    private static let ground = "getComputedStyle($('board')).backgroundColor"

    @Test(
        "a student's board is dark by a key, and remembered; the class, the digest and the service's picture are as before"
    )
    func student() async throws {
        try await BrowserRoom.withClass { room, teacher, student in
            try await teacher.drawWave(2)
            try await teacher.press("8")
            try await teacher.drawWave(4)
            try await teacher.press("g")
            try await teacher.run("document.querySelector('#paper-kinds [value=squares]').click()")
            for window in [teacher, student] { try await window.wait(forIndex: 3) }
            let (digest, picture) = (try await student.digest(), try await room.picture(width: 512))
            try await student.press("b")
            try await student.wait(for: "a dark board", Self.isDark)
            #expect(try await student.run("return \(Self.ground)") == "rgb(27, 30, 35)")
            // Black and grey are light now, and lines are dark.
            #expect(try await student.pixels(0xf0, 0xf0, 0xf0) > 100)
            #expect(try await student.pixels(0xb1, 0xb1, 0xb1) > 100)
            #expect(try await student.pixels(0, 0, 0) == 0)
            try await student.wait(forColour: "58 64 72", at: (32.5 / 1024, 0.5))
            try await student.keepScreenshot("dark-board-student")
            #expect(try await teacher.pixels(0, 0, 0) > 100)
            #expect(try await student.digest() == digest)
            #expect(try await room.picture(width: 512) == picture)
            // New ink, a part of the page, and a reload.
            try await teacher.press("1")
            try await teacher.drawWave(6)
            try await student.wait(forIndex: 4)
            try await student.press("+")
            try await student.wait(
                for: "a part", "document.querySelector('.lectern-part')?.style.background.includes('27, 30, 35')")
            try await student.press("0")
            try await student.open(room.page)
            try await student.wait(for: "a dark board", Self.isDark)
            #expect(try await student.pixels(0, 0, 0) == 0)
            try await student.clickInSight(of: "[aria-label='Dark board']")
            try await student.wait(for: "a light board", "!(\(Self.isDark))")
            try await student.expectSamePicture(as: teacher)
            let (mean, off, _) = try await student.comparison(with: room)
            #expect(mean <= 6 && off <= 0.001)
            try await student.expectNoComplaints()
        }
    }

    @Test("a teacher draws on a dark board; a page with a slide stays light, and so does a replay that is not dark")
    func teacher() async throws {
        try await BrowserRoom.withVideo { room, _ in
            let teacher = try await room.teacher("anna", .phone)
            try await teacher.clickInSight(of: "[aria-label='Dark board']")
            try await teacher.drawWave(2)
            try await teacher.wait(for: "light ink", "\(BrowserWindow.pixels(0xf0, 0xf0, 0xf0)) > 100")
            try await teacher.wait(for: "a dark board", Self.isDark)
            try await teacher.waitUntilSaved(index: 1)
            try await teacher.keepScreenshot("dark-board-phone")
            try await teacher.dropSlides()
            try await teacher.wait(forPages: "0 [1] 2 3")
            try await teacher.wait(forColour: "255 0 0", at: (0.5, 0.5))
            try await teacher.wait(for: "a light board", "!(\(Self.isDark))")
            try await teacher.drawWave(3)
            try await teacher.wait(for: "black ink", "\(BrowserWindow.pixels(0, 0, 0)) > 100")
            try await teacher.run("document.querySelector(\"[role=option][data-page='0']\").click()")
            try await teacher.wait(for: "a dark board", Self.isDark)
            try await teacher.open("\(room.page)?replay")
            try await teacher.wait(for: "a dark replay", Self.isDark)
            try await teacher.press("b")
            try await teacher.wait(for: "a light replay", "!(\(Self.isDark))")
        }
    }
}
