import Foundation
import NATSTestServer
import TestSupport
import Testing

/// Somebody who has never seen the program: from its start to a class in step, with the mouse and what the pages say.
@Suite(
    .timeLimit(.minutes(5)), .endsProcesses,
    .enabled(if: BrowserWindow.runsAll && NginxServer.isInstalled, "make browser runs it, with Debian's nginx"))
struct BrowserNewcomerTests {
    private static let mostClicks = 6
    /// A frame of the video, in milliseconds: ink comes with its picture or the next one.
    private static let goal = 40.0
    private static let dashes = 24
    /// Those without a video see ink after so many milliseconds at most, on a busy machine.
    private static let mostDelay = 3000.0
    private static let sizes = [
        (320, 568), (568, 320), (390, 844), (844, 390), (768, 1024), (1024, 768), (1440, 1000), (2560, 1440),
    ]

    @Test("in six clicks a newcomer has two students in step: one without a video, one whose HLS stream is 6 s late")
    func firstClass() async throws {
        try await NginxServer.with { server in
            try await NATSTestServer.with(jetStream: true) { nats in
                // As it comes, with no settings of its own.
                let daemon = try LecternProcess(["serve", "--nats", nats.url, "--http", "127.0.0.1:0"])
                try await daemon.waitForLog(" serving")
                try await Self.hold(at: "http://127.0.0.1:\(try await daemon.httpPort())", server)
            }
        }
    }

    /// Where a dash begins, in fractions of the board: a grid of 6 columns and 4 rows.
    fileprivate static func place(of dash: Int) -> (x: Double, y: Double) {
        let (column, row) = (Double(dash % 6), Double(dash / 6))
        return (0.05 + 0.15 * column, (row + 1) / 6)
    }

    private static func hold(at address: String, _ server: NginxServer) async throws {
        let video = BarCodeVideo(.hls, on: server, segmentTime: 2)
        let origin = try await video.start()
        // A player of HLS begins three segments before the end.
        _ = try await eventually("four segments") {
            let text = try String(contentsOf: server.folder.appending(path: "video.m3u8"), encoding: .utf8)
            return text.split(separator: "\n").count { $0.hasSuffix(".m4s") } >= 4 ? true : nil
        }

        var clicks = 0
        let teacher = try await BrowserWindow()
        func click(_ selector: String, in window: BrowserWindow) async throws {
            try await window.clickInSight(of: selector)
            clicks += 1
        }
        try await teacher.open("\(address)/")
        try await teacher.wait(for: "the button", "$('start').href")
        try await click("#start", in: teacher)
        try await teacher.wait(for: "the question", "$('name-dialog')?.open")
        try await teacher.type("Anna")
        try await click("#name-form button", in: teacher)
        let url = "$('share-url')?.value"
        try await teacher.wait(for: "the link", "\(url)")
        // The first student points a telephone at the code.
        let student = try await BrowserWindow(.phone, at: try await teacher.string(url))
        try await click("#share-video", in: teacher)
        try await teacher.type(video.playlist)
        try await teacher.wait(for: "the video in the link", "\(url).includes(\"video=\")")
        try await click("#share-copy", in: teacher)
        let link = try await teacher.string(url)
        try await click("#share-dialog .row button:not([id])", in: teacher)
        try await teacher.waitUntilWriting()
        let watcher = try await BrowserWindow()
        // The test reads the pictures of another origin.
        try await watcher.runFirst(
            """
            const source = Object.getOwnPropertyDescriptor(HTMLMediaElement.prototype, "src");
            Object.defineProperty(HTMLMediaElement.prototype, "src", { ...source, set(address) {
                this.crossOrigin = "anonymous";
                source.set.call(this, address);
            } });
            """)
        try await watcher.open(link)
        try await watcher.wait(for: "the video", "$('video').readyState >= 2")
        try await watcher.play(by: { try await click("#video", in: watcher) })
        try await watcher.wait(
            for: "the time of the video",
            "$('step-words').textContent === 'Nothing has been drawn yet'")
        print("clicks: \(clicks)")
        #expect(clicks <= Self.mostClicks)

        // A lesson, with the broadest pen, which covers the pixels that are looked at.
        try await teacher.run("[...document.querySelectorAll('#widths [role=radio]')].at(-1).click()")
        try await watcher.watchScreen((0..<Self.dashes).map(Self.place(of:)))
        var delays: [Double] = []
        for dash in 0..<Self.dashes {
            try await teacher.drawDash(dash)
            let drawn = ContinuousClock.now
            try await student.wait(forIndex: dash + 1)
            delays.append((ContinuousClock.now - drawn) / .milliseconds(1))
        }
        try await teacher.waitUntilSaved()
        #expect(try await student.text(of: "$('step-words')") == "No video: ink is shown at once")
        #expect(try await teacher.text(of: "$('ahead-words')") == "Students see this at once")
        try await watcher.wait(for: "ink that waits", "$('step-words').textContent.includes('for the video')")
        try await watcher.keepScreenshot("newcomer-hls")
        try await student.keepScreenshot("newcomer-phone")
        try await teacher.keepScreenshot("newcomer-teacher")
        try await watcher.wait(for: "all ink", "newcomer.waiting === 0")
        #expect(try await watcher.text(of: "$('step-words')") == "In step with the video")

        let late = try await watcher.run(
            "return Date.now() - \(origin) - (newcomer.shown - 1048576) * \(BarCodeVideo.pictureTime)")
        let table = try ProofTable(
            try await teacher.marks(), log: try await watcher.run("return newcomer.log"), timeOrigin: 0,
            origins: [origin], phases: [.init(name: "newcomer", start: 0)])
        print(
            "video \(Int(late.double ?? -1)) ms late; without a video ink after \(delays.sorted()[Self.dashes / 2]) ms")
        print("\(ProofTable.head)\n\(table.rows[0])")
        #expect(5000...9000 ~= (late.double ?? 0))
        let row = table.rows[0]
        #expect(row.early == 0 && row.missing == 0 && row.delays.count == Self.dashes, "\(row)")
        #expect(row.delay(0.5) <= Self.goal, "\(row)")
        #expect(delays.sorted()[Self.dashes / 2] <= Self.mostDelay, "\(delays)")

        for (width, height) in Self.sizes {
            for (name, window) in [("teacher", teacher), ("student", student), ("hls", watcher)] {
                try await window.resize(to: .init(width: width, height: height))
                try await window.keepScreenshot("newcomer-\(name)-\(width)x\(height)")
                let board = try await window.run("return Math.min($('board').clientWidth, $('board').clientHeight)")
                let least = 0.55 * Double(min(width, height))
                #expect(board.double ?? 0 >= least, "\(name) \(width) x \(height)")
            }
        }
        for window in [teacher, student, watcher] {
            // Until the first stroke the room is not there.
            try await window.expectNoComplaints { $0.contains("404") }
        }
    }
}

extension BrowserWindow {
    /// Clicks on the video; a click may only show its controls.
    fileprivate func play(by click: () async throws -> Void) async throws {
        try await click()
        try await wait(for: "playing", "!$('video').paused")
    }

    /// Draws a short line in a grid of 6 columns and 4 rows.
    fileprivate func drawDash(_ dash: Int) async throws {
        let box = try await box(of: Self.canvas)
        let place = BrowserNewcomerTests.place(of: dash)
        let (left, top) = (box[0] + box[2] * place.x, box[1] + box[3] * place.y)
        try await draw((0..<5).map { step in (x: left + box[2] * 0.01 * Double(step), y: top) }, with: .mouse)
    }

    /// Notes from now on which pictures are shown, and when ink comes to places: fractions of the board's width and height.
    fileprivate func watchScreen(_ places: [(x: Double, y: Double)]) async throws {
        let marks = places.enumerated().map { "[\($0 + 1), \($1.x + 0.02), \($1.y) * canvas.height / canvas.width]" }
        try await run(
            """
            \(Self.statements(of: "Tests/DaemonTests/Proof/Player/screen.js"))
            const canvas = $('board');
            window.newcomer = new ScreenLog($('video'), canvas, () => 1);
            newcomer.expect([\(marks.joined(separator: ","))]);
            """)
    }

    /// The strokes of the room, and the media times that the teacher's page has given them.
    fileprivate func marks() async throws -> [ProofLesson.Mark] {
        let reply = try await run(
            """
            const reply = await (await fetch(location.pathname.replace("/teach", "/board.json").replace("/rooms", "/api/rooms")
                + "?cohort=head")).json();
            return reply.visible.map(({ index, message }) => [index, message.t]);
            """)
        guard case .array(let strokes) = reply else { throw Unexpected("no strokes: \(reply)") }
        return strokes.compactMap { stroke in
            guard case .array(let pair) = stroke, let index = pair[0].double, let time = pair[1].double else {
                return nil
            }
            return ProofLesson.Mark(number: Int(index), x: 0, y: 0, time: time, kind: .operations)
        }
    }
}
