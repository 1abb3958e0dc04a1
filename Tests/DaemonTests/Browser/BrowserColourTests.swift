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
                let blue = try await window.run(
                    """
                    const canvas = document.getElementById("board");
                    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
                    let count = 0;
                    for (let at = 0; at < data.length; at += 4)
                        if (data[at + 3] === 255 && data[at] === 0x1f && data[at + 1] === 0x4f && data[at + 2] === 0xd8) count++;
                    return count;
                    """)
                #expect((blue.double ?? 0) > 100)
            }
            let difference = try await student.comparison(with: room)
            #expect(difference.inked > 100 && difference.off <= 0.001, "\(difference)")
        }
    }
}
