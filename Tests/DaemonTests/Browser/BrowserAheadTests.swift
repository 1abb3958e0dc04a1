import Foundation
import TestSupport
import Testing

/// What a teacher sees of the students' side, and what students see where their video breaks.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserAheadTests {
    @Test("the teacher's page says how long after the pen students see it, what they see, and how many they are")
    func ahead() async throws {
        try await BrowserRoom.with { room, _ in
            let teacher = try await room.teacher()
            let student = try await room.student()
            let now = { Int(Date().timeIntervalSince1970 * 1000) }
            try await teacher.drawWave(1, index: 1)
            _ = try await eventually("a video 6 s behind, in large letters") { () -> Void? in
                try room.setVideo(now() - 6000)
                let text = try await teacher.text(of: "$('ahead-words')")
                return text.contains(/^Students see this (5\.[5-9]|6\.\d|7\.[0-4]) s from now$/) ? () : nil
            }
            let size = try await teacher.run("return parseFloat(getComputedStyle($('ahead-words')).fontSize)")
            #expect(size.double ?? 0 >= 20)
            try await teacher.wait(for: "one student", "$('ahead-count').textContent === '1 student'")
            let other = try await room.student("?cohort=hls")
            try await teacher.wait(for: "two students", "$('ahead-count').textContent === '2 students'")
            _ = try await eventually("both cohorts") { () -> Void? in
                try room.setVideo(now() - 6000)
                try room.setVideo(now() - 12_000, "hls")
                let text = try await teacher.text(of: "$('ahead-words')")
                return text.contains(/^Students see this in .* \(main\), 1[1-3] s \(hls\)$/) ? () : nil
            }
            _ = try await eventually("the picture") { () -> Void? in
                try room.playVideo()
                let picture = "$('ahead-picture')"
                return try await teacher.isTrue("!\(picture).hidden && \(picture).naturalWidth === 320") ? () : nil
            }
            try await teacher.keepScreenshot("ahead")
            try await other.close()
            try await student.wait(forIndex: 1)
            try await teacher.wait(for: "one again", "$('ahead-count').textContent === '1 student'")
        }
    }

    @Test("a video that cannot be played hides no ink, and the board goes back in step when it plays")
    func brokenVideo() async throws {
        try await BrowserRoom.with(strokes: 40) { room, _ in
            let student = try await room.student("?video=none.webm")
            let (notice, step) = ("$('notice')", "$('step-words')")
            try await student.wait(
                for: "the words", "\(step).textContent.startsWith(\"Without the video\") && !\(notice).hidden")
            let all = try await room.student()
            let part = "return $('board').width * $('board').height"
            let seen = Double(try await student.inkedPixels()) / (try await student.run(part).double ?? .infinity)
            let whole = Double(try await all.inkedPixels()) / (try await all.run(part).double ?? 0)
            // Of two sizes, all the same ink.
            #expect(abs(seen / whole - 1) < 0.1, "\(seen) \(whole)")
            // New ink comes as well.
            try await room.publish(1, after: 40)
            try await student.wait(forIndex: 41)
            // A picture comes.
            try await student.run(
                """
                const canvas = document.createElement("canvas");
                const context = canvas.getContext("2d");
                setInterval(() => context.fillRect(Math.random() * 100, 0, 9, 9), 40);
                const video = $('video');
                video.removeAttribute("src");
                video.muted = true;
                video.srcObject = canvas.captureStream(25);
                await video.play();
                """)
            try await student.wait(for: "in step", "\(step).textContent.startsWith(\"In step\") && \(notice).hidden")
        }
    }

    @Test("a board leaves a video that stands while the class goes on, and not one that stands with the class")
    func standing() async throws {
        try await BrowserRoom.with { room, _ in
            let window = try await BrowserWindow(at: "\(room.address)/healthz")
            let result = try await window.run(
                """
                \(BrowserWindow.statements(of: "Sources/Site/pages/video-watch.js"))
                const { PlayerClock } = await import("/lectern.js");
                const canvas = document.createElement("canvas");
                const context = canvas.getContext("2d");
                setInterval(() => context.fillRect(Math.random() * 100, 0, 9, 9), 40);
                const made = async (rate, name) => {
                    const video = document.createElement("video");
                    document.body.append(video);
                    video.muted = true;
                    video.srcObject = canvas.captureStream(25);
                    await video.play();
                    // It shows one picture for ever.
                    const place = video.currentTime;
                    Object.defineProperty(video, "currentTime", { get: () => place });
                    const clock = new WatchedClock(new PlayerClock(video), video);
                    let time = 0;
                    setInterval(() => clock.noteServer(time += rate * 500), 500);
                    return new Promise((done) => {
                        const began = performance.now();
                        clock.addEventListener("broken", () => done([name, performance.now() - began, clock.time]));
                        setTimeout(() => done([name, null, clock.time]), 9000);
                    });
                };
                const [alone, together] = await Promise.all([made(1, "alone"), made(0, "together")]);
                return { after: alone[1], isFree: alone[2] === Infinity, isKept: together[1] === null && Number.isFinite(together[2]) };
                """)
            #expect((result["after"]?.double ?? 0) >= 4900, "\(result)")
            #expect(result["isFree"] == true && result["isKept"] == true, "\(result)")
        }
    }
}
