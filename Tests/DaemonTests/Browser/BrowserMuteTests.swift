import Foundation
import NATSTestServer
import TestSupport
import Testing

/// A teacher who mutes another author, in two browsers.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserMuteTests {
    /// The button of an author in the list of a teacher's page.
    private static func button(_ author: String) -> String {
        "document.querySelector(\"#authors button[aria-label='Mute \(author)']\")"
    }

    @Test("a muted author's page says so, takes nothing and sends nothing, and goes on when the author is heard again")
    func muting() async throws {
        try await BrowserRoom.withVideo { room, _ in
            let anna = try await room.teacher("anna")
            let bob = try await room.teacher("bob")
            try await anna.drawWave(1)
            try await bob.drawWave(3)
            try await anna.wait(forIndex: 2)
            try await anna.wait(for: "bob in the list", Self.button("bob"))
            #expect(try await anna.run("return document.querySelectorAll('#authors li').length") == 1)

            // Bob's pen is down.
            try await bob.drawWave(5, 0..<20, .begin)
            try await anna.run("\(Self.button("bob")).click()")
            try await anna.wait(for: "muted", "\(Self.button("bob")).getAttribute('aria-pressed') === 'true'")
            try await bob.wait(for: "the notice", "!$('notice').hidden && $('notice').innerText.includes('muted')")
            try await bob.wait(for: "no pen", "$('board').dataset.pen === 'off'")
            let inked = try await bob.inkedPixels()
            try await bob.drawWave(5, 20..<40, .end)
            try await bob.drawWave(7)
            try await bob.press("z", control: true)
            #expect(try await bob.inkedPixels() == inked)
            try await bob.wait(for: "muted", "$('saved').textContent === 'Muted'")
            try await bob.wait(
                for: "no command", "['undo', 'import', 'paper', 'page-add'].every((id) => $(id).disabled)")
            // The room is anna's, who began it.
            try await bob.wait(for: "anna in the list", "document.querySelectorAll('#authors li').length === 1")
            #expect(try await bob.run("return document.querySelector('#authors button').checkVisibility()") == false)
            try await anna.keepScreenshot("mute-teacher")
            try await bob.keepScreenshot("mute-muted")

            let requests =
                "performance.getEntriesByType('resource').filter(({ name }) => name.includes('/strokes')).length"
            let before = try await bob.run("return \(requests)")
            try await anna.drawWave(8)
            try await bob.wait(forIndex: 3)
            #expect(try await bob.run("return \(requests)") == before)
            #expect(try await anna.digest() == (try await bob.digest()))

            try await anna.run("\(Self.button("bob")).click()")
            try await bob.waitUntilWriting()
            try await bob.wait(for: "no notice", "$('notice').hidden")
            try await bob.drawWave(7)
            try await anna.wait(forIndex: 4)
            try await bob.waitUntilSaved()
            // A gateway that imports slides is nobody to be muted.
            for (index, name) in [(5, "gw-1a2b3c4d5e6f7"), (6, "cleo")] as [(UInt64, String)] {
                let stroke = #"{"n":1,"t":0,"d":[{"x":1,"y":1},{"x":50,"y":50}]}"#
                try await room.author(name).send(stroke, appliedAt: index)
            }
            try await anna.wait(for: "cleo in the list", Self.button("cleo"))
            #expect(try await anna.run("return document.querySelectorAll('#authors li').length") == 2)
            // The room is not there at first.
            try await anna.expectNoComplaints { $0.contains("404") }
            let audit = try await LecternProcess.run("audit", "--nats", room.nats.url)
            #expect(audit.log.contains("gateway") && audit.log.contains("no token, 127.0.0.1"), "\(audit.log)")
        }
    }

    @Test("a page whose strokes are rejected learns from that that its author is muted, and drops them")
    func rejected() async throws {
        try await BrowserRoom.withVideo { room, _ in
            let bob = try await room.teacher("bob", .phone)
            try await bob.drawWave(1, index: 1)
            // Its look at the room does not come through.
            try await bob.setOffline(true)
            try await bob.drawWave(3)
            let muted = try await LecternProcess.run("mute", "physics", "bob", "--nats", room.nats.url)
            #expect(muted.exitCode == 0, "\(muted.log)")
            try await bob.setOffline(false)
            try await bob.wait(for: "the notice", "!$('notice').hidden && $('notice').innerText.includes('muted')")
            try await bob.wait(for: "muted", "$('saved').textContent === 'Muted'")
            try await bob.expectNoFindings("muted")
            try await bob.keepScreenshot("mute-phone")
            _ = try await LecternProcess.run("unmute", "physics", "bob", "--nats", room.nats.url)
            try await bob.waitUntilWriting()
            try await bob.drawWave(5, saved: 2)
        }
    }
}
