import Foundation
import TestSupport
import Testing

/// Rulings and slides under the ink of a page.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserPaperTests {
    @Test("a ruling is chosen by key or button, lies under the ink on every board, and no eraser or undo takes it away")
    func ruling() async throws {
        try await BrowserRoom.withClass { room, teacher, student in
            try await teacher.drawWave(1)
            try await teacher.press("g")
            try await teacher.wait(for: "the papers", "$('paper-dialog').open")
            #expect(
                try await teacher.run("return document.querySelector('#paper-kinds [aria-pressed=true]').value")
                    == "blank")
            try await teacher.run("document.querySelector('#paper-kinds [value=squares]').click()")
            try await student.wait(forIndex: 2)
            for window in [teacher, student] {
                // The first lines cross at 32, 32 of 1024 × 768.
                try await window.wait(forColour: "212 217 224", at: (32.5 / 1024, 0.5))
                let (mean, off, inked) = try await window.comparison(with: room)
                #expect(mean < 0.05 && off == 0 && inked > 20_000, "\(mean)")
            }
            try await teacher.press("e")
            try await teacher.drawWave(1)
            try await teacher.press("z", control: true)
            try await teacher.press("z", control: true)
            try await teacher.press("z", control: true)
            try await student.wait(forIndex: 5)
            let digests = (try await teacher.digest(), try await student.digest())
            #expect(digests.0 == digests.1)
            for window in [teacher, student] {
                let (mean, off, inked) = try await window.comparison(with: room)
                #expect(mean < 0.05 && off == 0 && inked > 20_000, "\(mean)")
            }
            // One that comes later has it too.
            let late = try await room.student()
            try await late.wait(forColour: "212 217 224", at: (32.5 / 1024, 0.5))
            try await teacher.keepScreenshot("paper-teacher")
            try await teacher.press("g")
            try await teacher.wait(
                for: "what is laid", "document.querySelector('#paper-kinds [value=squares]').ariaPressed === 'true'"
            )
            try await teacher.keepScreenshot("paper-dialog")
            try await teacher.run("document.querySelector('#paper-kinds [value=blank]').click()")
            try await student.wait(forIndex: 6)
            let (_, off, inked) = try await student.comparison(with: room)
            #expect(off == 0 && inked == 0)
            try await student.expectNoComplaints()
            try await teacher.expectNoComplaints(but: BrowserWindow.isUsual)
        }
    }

    @Test("slides are the paper of their pages: ink and eraser lie on them, a copy and a rotation take them along")
    func slides() async throws {
        try await BrowserRoom.withClass { room, teacher, student in
            try await teacher.drawWave(1, index: 1)
            try await teacher.dropSlides()
            try await teacher.wait(forPages: "0 [1] 2 3")
            for window in [teacher, student] {
                try await window.wait(forIndex: 5)
                try await window.wait(forColour: "255 0 0", at: (0.5, 0.5))
            }
            // Nothing was drawn on the page.
            #expect(try await teacher.isTrue("$('undo').disabled"))
            try await teacher.drawWave(4)
            try await teacher.press("e")
            try await teacher.drawWave(4)
            try await student.wait(forIndex: 7)
            try await student.wait(forColour: "255 0 0", at: (0.5, 0.5))
            for window in [teacher, student] {
                let (mean, off, _) = try await window.comparison(with: room)
                #expect(mean <= 6 && off <= 0.001, "\(mean) \(off)")
            }
            try await teacher.click("page-copy")
            try await teacher.wait(forPages: "0 1 2 3 [4]")
            try await teacher.wait(forColour: "255 0 0", at: (0.01, 0.01))
            try await teacher.click("page-rotate")
            // The slide is as wide as the board: on its side it leaves room on the left.
            try await teacher.wait(forColour: "0 0 0", at: (0.05, 0.5))
            try await teacher.wait(forColour: "255 0 0", at: (0.5, 0.5))
            try await teacher.waitUntilSaved()
            let (mean, off, _) = try await teacher.comparison(with: room)
            #expect(mean <= 6 && off <= 0.001, "\(mean) \(off)")
            try await teacher.keepScreenshot("paper-slide-rotated")
            try await student.expectNoComplaints()
            try await teacher.expectNoComplaints(but: BrowserWindow.isUsual)
        }
    }
}
