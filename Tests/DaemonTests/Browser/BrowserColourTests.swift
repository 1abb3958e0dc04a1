import Foundation
import TestSupport
import Testing

/// Rooms whose messages have colours, not places in a palette.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserColourTests {
    @Test("in a room whose messages have colours, ink has the colour that was chosen, as on the server's picture")
    func colours() async throws {
        try await BrowserRoom.withTeacher(["colour=rgb"]) { room, teacher in
            try await teacher.waitUntilWriting()
            try await teacher.run("document.querySelectorAll(\"#colours button\")[2].click()")
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
}
