import Foundation
import TestSupport
import Testing

/// The times that a teacher's page gives its strokes.
@Suite(
    .timeLimit(.minutes(4)), .endsProcesses, .enabled(if: BrowserWindow.runsAll, "make browser runs it"))
struct BrowserTimeLineTests {
    @Test("strokes get the time since a start, which a reload keeps, then the time of day when that is chosen")
    func choices() async throws {
        try await BrowserRoom.with { room, _ in
            let teacher = try await BrowserWindow()
            let address = "\(room.address)/rooms/\(room.name)/teach?author=anna"
            try await teacher.open(address)
            try await teacher.waitUntilWriting()
            try await teacher.choose("since-start")
            let words = BrowserWindow.element("time-now")
            try await teacher.wait(for: "the question", "\(words).innerText === \"Press Start when the video begins.\"")
            let begin = ContinuousClock.now
            try await teacher.run("\(BrowserWindow.element("time-start")).click()")
            let first = try await teacher.timeOfStroke(1)
            let second = try await teacher.timeOfStroke(2)
            #expect(0 <= first && first < second && second <= begin.duration(to: .now) / .milliseconds(1))
            try await teacher.keepScreenshot("teacher-since-start")

            try await teacher.open(address)
            try await teacher.waitUntilWriting()
            try await teacher.wait(for: "the time", "\(words).innerText.endsWith(\"since the start\")")
            let third = try await teacher.timeOfStroke(3)
            #expect(second < third && third <= begin.duration(to: .now) / .milliseconds(1))

            try await teacher.choose("utc")
            try await teacher.wait(for: "the time", "\(words).innerText.includes(\"UTC, within\")")
            let before = Date().timeIntervalSince1970 * 1000
            let fourth = try await teacher.timeOfStroke(4)
            // The browser asks the server over a connection that the machine may keep waiting for a while.
            #expect(before - 50...Date().timeIntervalSince1970 * 1000 + 50 ~= fourth)
        }
    }

    @Test("after a sleep of the machine, which stops its clock, the newest measurement of the server's counts alone")
    func sleep() async throws {
        try await BrowserRoom.with { room, _ in
            let window = try await BrowserWindow()
            try await window.open(room.address)
            let offsets = try await window.run(
                """
                const { ServerClock } = await import("/lectern/server-clock.js");
                let answer;
                const clock = new ServerClock({ clockOffset: async () => answer });
                const offsets = [];
                for (const [offset, roundTrip] of [[100, 4], [101, 80], [60_050, 40], [60_100, 200], [60_049, 10], [-5, 900]]) {
                    answer = { offset, roundTrip };
                    await clock.measure();
                    offsets.push(clock.offset);
                }
                return offsets.join();
                """)
            #expect(offsets == .string("100,100,60050,60050,60049,-5"))
        }
    }

    @Test("without a choice strokes follow the time line of the room's video, else they get the time of day")
    func automatic() async throws {
        try await BrowserRoom.with { room, _ in
            try await room.publish(1)
            try room.setVideo(40_000)
            let teacher = try await BrowserWindow()
            try await teacher.open("\(room.address)/rooms/\(room.name)/teach?author=anna&latency=2")
            try await teacher.waitUntilWriting()
            let words = BrowserWindow.element("time-now")
            try await teacher.wait(for: "the time", "\(words).innerText.endsWith(\"on the video's time line\")")
            #expect(41_000...43_000 ~= (try await teacher.timeOfStroke(2)))
        }
    }

    @Test(
        "with a player on the page strokes get its time",
        .enabled(if: MediaServer.isInstalled, "needs Debian's python3-aiortc"))
    func player() async throws {
        let media = try await MediaServer()
        try await BrowserRoom.with(["http.media_origins=\(media.address)"]) { room, _ in
            let teacher = try await BrowserWindow()
            try await teacher.open(
                "\(room.address)/rooms/\(room.name)/teach?author=anna&video=\(media.address)/lesson.webm&offset=60000")
            try await teacher.waitUntilWriting()
            let video = BrowserWindow.element("time-video")
            try await teacher.run("\(video).currentTime = 4; await new Promise((done) => (\(video).onseeked = done));")
            try await teacher.wait(
                for: "the time", "\(BrowserWindow.element("time-now")).innerText.startsWith(\"01:04\")")
            #expect(try await teacher.timeOfStroke(1) == 64_000)
            try await teacher.keepScreenshot("teacher-player")
        }
    }
}

extension BrowserWindow {
    /// Chooses the time line of a teacher's page.
    fileprivate func choose(_ kind: String) async throws {
        try await run(
            """
            const choice = \(Self.element("time-kind"));
            choice.value = "\(kind)";
            choice.dispatchEvent(new Event("change"));
            """)
    }

    /// Draws a stroke, which becomes an operation, and returns the time that it went out with.
    fileprivate func timeOfStroke(_ index: Int) async throws -> Double {
        try await drawWave(index)
        try await wait(forIndex: index)
        let reply = try await run(
            """
            const reply = await (await fetch(location.pathname.replace("/teach", "/board.json").replace("/rooms", "/api/rooms")
                + "?cohort=head")).json();
            return reply.visible.find((one) => one.index === \(index)).message.t;
            """)
        guard let time = reply.double else { throw Unexpected("no time: \(reply)") }
        return time
    }
}
