import Foundation
import TestSupport
import Testing

/// A student who turns back pages while the class goes on.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserBackTests {
    @Test("pages are turned by buttons and keys while the class goes on, and one tap goes back to it")
    func back() async throws {
        try await BrowserRoom.withClass { room, teacher, student in
            try await teacher.drawWave(1)
            for window in [teacher, student] { try await window.wait(forIndex: 1) }
            #expect(try await student.isTrue("$('turn').hidden"))
            let first = try await student.picture()
            try await teacher.run("$('page-add').click()")
            try await student.wait(forIndex: 2)
            try await teacher.drawWave(4)
            try await student.wait(forIndex: 3)
            let page = "$('page')"
            #expect(try await student.text(of: page) == "Page 2 of 2")
            #expect(try await student.isTrue("$('live').hidden"))
            try await student.clickInSight(of: "#page-back")
            try await student.wait(for: "the first page", "\(page).textContent === 'Page 1 of 2' && !$('live').hidden")
            try await student.waitForPicture(first)
            try await student.keepScreenshot("back-desktop")
            // The class goes on, on its page and on this one.
            try await teacher.drawWave(6)
            try await student.wait(forIndex: 4)
            #expect(try await student.difference(to: first) == 0)
            #expect(try await student.run("return $('board').dataset.page") == "0")
            try await student.clickInSight(of: "#live")
            try await student.wait(for: "the class", "\(page).textContent === 'Page 2 of 2' && $('live').hidden")
            try await student.expectSamePicture(as: teacher)
            try await student.press("PageUp")
            try await student.wait(for: "the first page", "!$('live').hidden")
            // The class comes to it, and is followed from there on.
            try await teacher.press("PageUp")
            try await student.wait(forIndex: 5)
            try await student.wait(for: "the class", "$('live').hidden")
            try await teacher.press("PageDown")
            try await student.wait(forIndex: 6)
            try await student.wait(for: "the other page", "\(page).textContent === 'Page 2 of 2'")
            try await student.expectSamePicture(as: teacher)
            // One that is taken out of sight cannot be seen on.
            try await student.press("PageUp")
            try await student.wait(for: "the first page", "!$('live').hidden")
            try await teacher.run("press(document.querySelector('#page-list [role=option]'), 'Delete')")
            try await student.wait(forIndex: 7)
            try await student.wait(for: "the class", "$('live').hidden")
            try await student.expectNoComplaints()
        }
    }

    @Test(.enabled(if: BrowserWindow.axe != nil, "with axe-core"), arguments: [false, true])
    func `the buttons have room on each screen, beside no words, and axe-core finds nothing`(isDark: Bool) async throws
    {
        try await BrowserRoom.withTeacher { room, teacher in
            try await teacher.drawWave(1)
            try await teacher.run("$('page-add').click()")
            try await teacher.wait(forIndex: 2)
            for (width, height) in [(320, 568), (390, 844), (844, 390), (820, 1180), (1440, 1000)] {
                let student = try await BrowserWindow(
                    .init(width: width, height: height), isDark: isDark, at: room.page)
                try await student.wait(forIndex: 2)
                try await student.clickInSight(of: "#page-back")
                try await student.wait(for: "the first page", "!$('live').hidden")
                let seen = try await student.run(
                    """
                    const page = document.scrollingElement;
                    const words = document.createRange();
                    words.selectNodeContents($("step-words"));
                    const [said, turn] = [words.getBoundingClientRect(), $("turn").getBoundingClientRect()];
                    const isBeside = said.right <= turn.left || said.left >= turn.right || said.bottom <= turn.top || said.top >= turn.bottom;
                    return [!isBeside || page.scrollWidth > page.clientWidth || page.scrollHeight > page.clientHeight,
                        ...["page-back", "page-next", "live"].map((id) => {
                            const { left, right, bottom, height } = document.getElementById(id).getBoundingClientRect();
                            return left >= 0 && right <= innerWidth && bottom <= innerHeight && height >= 44;
                        })];
                    """)
                #expect(seen == [false, true, true, true], "\(width): \(seen)")
                try await student.expectNoFindings("\(width)")
                try await student.keepScreenshot("back-\(width)\(isDark ? "-dark" : "")")
            }
        }
    }
}

extension BrowserWindow {
    /// Waits until the board is that of a picture.
    fileprivate func waitForPicture(_ picture: String) async throws {
        try await eventually("the picture", is: await difference(to: picture) == 0)
    }
}
