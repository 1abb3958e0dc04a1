import Foundation
import TestSupport
import Testing

/// The times that a teacher's page gives its strokes.
@Suite(.timeLimit(.minutes(4)), .endsProcesses, .inBrowsers) struct BrowserTimeLineTests {
    @Test("strokes get the time since a start, which a reload keeps, then the time of day when that is chosen")
    func choices() async throws {
        try await BrowserRoom.with { room, _ in
            let teacher = try await BrowserWindow()
            let address = "\(room.page)/teach?author=anna"
            try await teacher.open(writingAt: address)
            try await teacher.choose("since-start")
            let words = "$('time-now')"
            try await teacher.wait(for: "the question", "\(words).innerText === 'Press Start when the video begins.'")
            let begin = ContinuousClock.now
            try await teacher.run("$('time-start').click()")
            let first = try await teacher.timeOfStroke(1, in: room)
            let second = try await teacher.timeOfStroke(2, in: room)
            #expect(0 <= first && first < second && second <= begin.duration(to: .now) / .milliseconds(1))
            try await teacher.keepScreenshot("teacher-since-start")

            try await teacher.open(writingAt: address)
            try await teacher.wait(for: "the time", "\(words).innerText.endsWith(\"since the start\")")
            let third = try await teacher.timeOfStroke(3, in: room)
            #expect(second < third && third <= begin.duration(to: .now) / .milliseconds(1))

            try await teacher.choose("utc")
            try await teacher.wait(for: "the time", "\(words).innerText.includes(\"UTC, within\")")
            let before = Date().timeIntervalSince1970 * 1000
            let fourth = try await teacher.timeOfStroke(4, in: room)
            // The browser asks the server over a connection that the machine may keep waiting for a while.
            #expect(before - 50...Date().timeIntervalSince1970 * 1000 + 50 ~= fourth)
        }
    }

    @Test("a start in the address counts, also when the page is loaded again, and one that a class begins with is none")
    func start() async throws {
        try await BrowserRoom.with { room, _ in
            let teacher = try await BrowserWindow()
            let start = Date().addingTimeInterval(-90).formatted(.iso8601)
            try await teacher.open(writingAt: "\(room.page)/teach?author=anna&time=since-start&start=\(start)")
            for number in 1...2 {
                #expect(try await teacher.isTrue("!$('share-dialog').open"))
                let time = try await teacher.timeOfStroke(number, in: room)
                #expect(89_000...400_000 ~= time)
                try await teacher.open(writingAt: try await teacher.string("location.href"))
            }
            try await teacher.open(room.address)
            let begun = try await teacher.string("$('start').href")
            try await teacher.open("\(begun)&author=anna&time=since-start")
            try await teacher.wait(for: "the link", "$('share-dialog').open")
            try await teacher.wait(
                for: "the question", "$('time-now').textContent === 'Press Start when the video begins.'")
        }
    }

    @Test("after a sleep of the machine, which stops its clock, the newest measurement of the server's counts alone")
    func sleep() async throws {
        try await BrowserRoom.with { room, _ in
            let window = try await BrowserWindow(at: room.address)
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
            #expect(offsets == "100,100,60050,60050,60049,-5")
        }
    }

    @Test("a clock of the site that is stopped and started while it asks asks no more often")
    func restart() async throws {
        try await BrowserRoom.with { room, _ in
            let window = try await BrowserWindow(at: room.address)
            let timers = try await window.run(
                """
                const { LiveClock } = await import("/lectern/live-clock.js");
                const { ServerClock } = await import("/lectern/server-clock.js");
                const counts = [];
                for (const make of [(gateway) => new LiveClock({ gateway, room: "physics" }), (gateway) => new ServerClock(gateway)]) {
                    const answers = [];
                    const answer = () => new Promise((resolve) => answers.push(() => resolve({ offset: 0, roundTrip: 1 })));
                    const clock = make({ json: answer, clockOffset: answer });
                    const timers = new Set();
                    const { setTimeout, clearTimeout } = window;
                    window.setTimeout = () => { timers.add(timers.size + 1); return timers.size; };
                    window.clearTimeout = (timer) => timers.delete(timer);
                    const first = clock.start();
                    clock.stop();
                    const second = clock.start();
                    for (const reply of answers) reply();
                    await Promise.all([first, second]);
                    counts.push(answers.length, timers.size);
                    Object.assign(window, { setTimeout, clearTimeout });
                }
                return counts.join();
                """)
            #expect(timers == "2,1,2,1")
        }
    }

    @Test("without a choice strokes follow the time line of the room's video, else they get the time of day")
    func automatic() async throws {
        try await BrowserRoom.with { room, _ in
            try await room.publish(1)
            try room.setVideo(40_000)
            let teacher = try await BrowserWindow(writingAt: "\(room.page)/teach?author=anna&latency=2")
            try await teacher.wait(for: "the time", "$('time-now').innerText.endsWith(\"on the video's time line\")")
            // Between two looks at a clock that stands still it goes on, for as long as the next look takes.
            #expect(42_000...52_000 ~= (try await teacher.timeOfStroke(2, in: room)))
        }
    }

    @Test("with an age in its clock strokes get the time at the teacher, and the page says how late students are")
    func age() async throws {
        try await BrowserRoom.with(["cohorts.default.gate=auto", "cohorts.default.stale_after=120s"]) { room, _ in
            try await room.publish(1)
            let teacher = try await room.teacher()
            let ahead = "$('ahead-words')"
            try await teacher.wait(for: "no video", "\(ahead).textContent === 'Students see this at once'")
            // An open room shows it at once.
            let (student, words) = (try await room.student(), "$('step-words')")
            try await student.wait(for: "no video", "\(words).textContent === 'No video: ink is shown at once'")
            try await teacher.drawWave(2)
            try await student.wait(forIndex: 2)
            try room.setVideo(40_000, more: #","a":6000"#)
            try await teacher.wait(for: "the step", "\(ahead).textContent.startsWith(\"Students see this 6.0 s\")")
            // It is said once.
            #expect(try await teacher.isTrue("$('step').hidden"))
            #expect(46_000...56_000 ~= (try await teacher.timeOfStroke(3, in: room)))
            try await student.wait(for: "the video", "\(words).textContent === 'Ink comes when the video gets there'")
            #expect(try await student.run("return $('board').dataset.index") == "2")
            try room.setVideo(48_000, more: #","a":6000"#)
            try await student.wait(forIndex: 3)
            try await teacher.keepScreenshot("teacher-in-step")
        }
    }

    @Test("where nothing tells how late students are the page asks, measures it with a clap, and remembers the answer")
    func clap() async throws {
        try await BrowserRoom.with(["cohorts.default.gate=auto", "cohorts.default.stale_after=120s"]) { room, _ in
            try await room.publish(1)
            try room.setVideo(40_000)
            let teacher = try await room.teacher()
            let ahead = "$('ahead-words')"
            try await teacher.wait(for: "the question", "$('step').textContent.startsWith('Not in step yet')")
            #expect(try await teacher.run("return $('step').dataset.tone") == "wait")
            try await teacher.wait(for: "the field", "!$('latency').hidden")
            try await teacher.keepScreenshot("teacher-asked")
            // Until then it is what students see.
            #expect(40_000...41_500 ~= (try await teacher.timeOfStroke(2, in: room)))
            let clap = "$('latency-clap')"
            try await teacher.run(
                "\(clap).click(); await new Promise((done) => setTimeout(done, 1500)); \(clap).click()")
            try await teacher.wait(for: "the answer", "\(ahead).textContent.startsWith(\"Students see this 1.\")")
            #expect(41_500...43_500 ~= (try await teacher.timeOfStroke(3, in: room)))
            try await teacher.run(
                """
                $('latency-seconds').value = "7.5";
                $('latency-form').requestSubmit();
                """)
            try await teacher.wait(for: "the answer", "\(ahead).textContent.startsWith(\"Students see this 7.5 s\")")
            try await teacher.open(writingAt: "\(room.page)/teach?author=anna")
            try await teacher.wait(for: "the answer", "\(ahead).textContent.startsWith(\"Students see this 7.5 s\")")
            #expect(47_500...49_000 ~= (try await teacher.timeOfStroke(4, in: room)))
        }
    }

    @Test("strokes of another time line that lie below the time at the teacher are said to run ahead of the voice")
    func ahead() async throws {
        try await BrowserRoom.with(["cohorts.default.stale_after=120s"]) { room, _ in
            try await room.publish(1)
            try room.setVideo(90_000_000, more: #","a":6000"#)
            let teacher = try await room.teacher()
            try await teacher.choose("since-start")
            try await teacher.run("$('time-start').click()")
            try await teacher.wait(for: "the warning", "$('step').textContent.endsWith('ahead of your voice')")
        }
    }

    @Test(.enabled(if: MediaServer.isInstalled, "needs Debian's python3-aiortc"))
    func `with a player on the page strokes get its time`() async throws {
        let media = try await MediaServer()
        try await BrowserRoom.with(["http.media_origins=\(media.address)"]) { room, _ in
            let teacher = try await BrowserWindow()
            try await teacher.open(
                writingAt: "\(room.page)/teach?author=anna&video=\(media.address)/lesson.webm&offset=60000")
            let video = "$('time-video')"
            try await teacher.run("\(video).currentTime = 4; await new Promise((done) => (\(video).onseeked = done));")
            try await teacher.wait(for: "the time", "$('time-now').innerText.startsWith('01:04')")
            #expect(try await teacher.timeOfStroke(1, in: room) == 64_000)
            try await teacher.keepScreenshot("teacher-player")
        }
    }
}

extension BrowserWindow {
    /// Chooses the time line of a teacher's page.
    fileprivate func choose(_ kind: String) async throws {
        try await run("set($('time-kind'), '\(kind)', 'change')")
    }

    /// Draws a stroke, which becomes an operation, and returns the time that it went out with.
    fileprivate func timeOfStroke(_ index: Int, in room: BrowserRoom) async throws -> Double {
        try await drawWave(index, index: index)
        return try #require(try await room.message(index)["t"]?.double)
    }
}
