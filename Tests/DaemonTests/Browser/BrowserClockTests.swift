import Foundation
import NATSClient
import TestSupport
import Testing

/// The clock page beside a real media server. What its pictures show is compared with what the room believes.
@Suite(
    .timeLimit(.minutes(3)), .endsProcesses,
    .enabled(if: BrowserWindow.runsAll && MediaServer.isInstalled, "make browser runs it, with Debian's python3-aiortc")
)
struct BrowserClockTests {
    /// Milliseconds by which the room's clock may be off the picture that is shown: three frames, on a busy machine.
    private static let bound = 100.0

    @Test(
        "over WebRTC the room's clock is at the picture that is shown, stalls with it, and comes back with its server")
    func webRTC() async throws {
        let secret = try TokenSecret()
        let media = try await MediaServer(["--token", "media"])
        try await BrowserRoom.with(secret.settings + ["http.media_origins=\(media.address)"]) { room, _ in
            try await room.publish(1)
            let operatorToken = try await secret.token(["--role", "operator"])
            let asClock = ["--room", room.name, "--role", "clock", "--cohort", "webrtc"]
            let clockToken = try await secret.token(asClock)
            let page = try await BrowserWindow()
            let address = "\(room.page)/clock?whep=\(media.address)/whep"
            try await page.open("\(address)#token=\(clockToken)&media-token=wrong")
            try await page.wait(for: "the refusal", "$('notice').innerText.includes('does not let this page in')")
            try await page.open("about:blank")
            try await page.open("\(address)#token=\(clockToken)&media-token=media")
            try await page.waitForClock("play")
            #expect(try await page.run("return location.hash") == "")
            #expect(try await page.text(of: "$('cohort')") == "Cohort webrtc")
            #expect(try await page.run("return $('video').dataset.carrier") == "capture")
            try await page.expectClockAtPicture(in: room, "webrtc", operatorToken, within: Self.bound)
            try await page.keepScreenshot("clock-webrtc")

            try await media.send("hold")
            try await page.waitForClock("stall")
            // The capture time is rounded to a millisecond, the picture's is cut off.
            _ = try await eventually("the room's clock stands at the last picture") { () -> Void? in
                let stalled = try await page.clockAndPicture(in: room, "webrtc", operatorToken)
                return stalled.before == stalled.after && abs(stalled.clock - stalled.before) <= 1 ? () : nil
            }
            try await media.send("play")
            try await page.waitForClock("play")
            try await page.expectClockAtPicture(in: room, "webrtc", operatorToken, within: Self.bound)

            await media.kill()
            try await page.waitForClock("stall")
            try await page.wait(for: "the loss", "$('state').innerText.startsWith('Offline')")
            let again = try await MediaServer(["--token", "media", "--port", String(media.port)])
            try await page.waitForClock("play")
            try await page.expectClockAtPicture(in: room, "webrtc", operatorToken, within: Self.bound)
            await again.kill()
        }
    }

    @Test("a page without a video asks for it; without a capture time in the stream the clock is that of arrival")
    func arrival() async throws {
        let media = try await MediaServer(["--no-capture-time"])
        try await BrowserRoom.with(["http.media_origins=\(media.address)"]) { room, _ in
            try await room.publish(1)
            let page = try await BrowserWindow(at: "\(room.page)/clock?cohort=live")
            try await page.wait(for: "the form", "!$('choose').hidden")
            try await page.keepScreenshot("clock-form")
            try await page.run(
                """
                $('address').value = "\(media.address)/whep";
                document.querySelector("#choose button").click();
                """)
            try await page.waitForClock("play")
            #expect(try await page.run("return $('video').dataset.carrier") == "utc-delay")
            try await page.expectClockAtPicture(in: room, "live", nil, within: Self.bound)
        }
    }

    @Test func `a recording's clock is the player's: it plays, jumps and pauses with it`() async throws {
        let media = try await MediaServer()
        try await BrowserRoom.with(["http.media_origins=\(media.address)"]) { room, _ in
            try await room.publish(1)
            let page = try await BrowserWindow(at: "\(room.page)/clock?video=\(media.address)/lesson.webm")
            // The test reads the pictures.
            try await page.run("$('video').crossOrigin = 'anonymous'; $('video').load();")
            try await page.waitForClock("play")
            try await page.expectClockAtPicture(in: room, "main", nil, within: Self.bound)
            try await page.run("$('video').currentTime = 7.5; $('video').pause()")
            try await page.waitForClock("pause")
            let paused = try await eventually("the clock is at the paused picture") {
                let measured = try await page.clockAndPicture(in: room, "main", nil)
                // Half a second into a pause the clock is one millisecond ahead, so that ink of that moment appears.
                return measured.clock == measured.before + 1 ? measured : nil
            }
            #expect(paused.before == 7500)
        }
    }
}

/// A media server of its own process, written with aiortc, that ends with the test.
final class MediaServer: Sendable {
    private static let python = "/usr/bin/python3"

    /// Whether Debian's packages for it are there.
    static let isInstalled = ["aiortc", "aiohttp"].allSatisfy { module in
        FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/\(module)/__init__.py")
    }

    let port: Int
    private let process: ChildProcess

    var address: String { "http://127.0.0.1:\(port)" }

    /// Starts it, and waits until it listens.
    init(_ arguments: [String] = []) async throws {
        let log = try TestFiles.url("whep-peer.log")
        guard let started = StartedProcesses.ofThisTest else { throw Unexpected("nobody would end the media server") }
        let script = PackageRoot.path(to: "Tests/WHEPPeer/whep-peer.py")
        let process = try ChildProcess(Self.python, arguments: [script] + arguments, log: log.path)
        started.add(process)
        self.process = process
        port = try await eventually("the media server listens") {
            let said = (try? Data(contentsOf: log)).map { String(decoding: $0, as: UTF8.self) } ?? ""
            guard !process.hasExited else { throw Unexpected("the media server has ended: \(said)") }
            return said.firstMatch(of: /listening on port ([0-9]+)\n/).flatMap { Int($0.1) }
        }
    }

    /// Tells it to `hold` its pictures, or to `play` on.
    func send(_ command: String) async throws {
        let reply = try await HTTPClient(port: port).send("POST", "/\(command)")
        guard reply.statusCode == 200 else { throw Unexpected("\(command): \(reply.statusCode)") }
    }

    /// Kills it with SIGKILL, as in a crash.
    func kill() async {
        Foundation.kill(process.identifier, SIGKILL)
        await process.end(timeout: .zero)
    }
}

extension BrowserWindow {
    /// Waits until the clock page says that its video is in a state.
    func waitForClock(_ state: String) async throws {
        try await wait(for: state, "$('video').dataset.state === '\(state)'")
    }

    /// The media time of a cohort, and the times that the picture shows before and after it was asked for.
    func clockAndPicture(
        in room: BrowserRoom, _ cohort: String, _ token: String?
    ) async throws -> (before: Double, clock: Double, after: Double) {
        let authorization = token.map { #""Authorization": "Bearer \#($0)""# } ?? ""
        let reply = try await run(
            """
            const picture = () => {
                const paper = new OffscreenCanvas(8, 6).getContext("2d", { willReadFrequently: true });
                paper.imageSmoothingEnabled = false;
                paper.drawImage($('video'), 0, 0, 8, 6);
                const { data } = paper.getImageData(0, 0, 8, 6);
                let time = 0;
                for (let i = 0; i < data.length; i += 4) time = 2 * time + (data[i] > 117 ? 1 : 0);
                return time;
            };
            const before = picture();
            const room = await (await fetch("/api/rooms/\(room.name)", { headers: { \(authorization) } })).json();
            const after = picture();
            return { before, after, clock: room.cohorts?.find((one) => one.cohort === "\(cohort)")?.v ?? null };
            """)
        guard let before = reply["before"]?.double, let after = reply["after"]?.double,
            let clock = reply["clock"]?.double
        else { throw Unexpected("no clock: \(reply)") }
        return (before, clock, after)
    }

    /// Compares the clock of a cohort with the pictures that are shown: the middle one of several measurements, of which
    /// one may fall into a moment in which the machine had no time for the browser.
    func expectClockAtPicture(
        in room: BrowserRoom, _ cohort: String, _ token: String?, within bound: Double,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        // The room has heard of the state that the page is in.
        _ = try await eventually("the room's clock runs") { () -> Void? in
            let (before, clock, _) = try await clockAndPicture(in: room, cohort, token)
            return abs(clock - before) <= 1000 ? () : nil
        }
        var differences: [Double] = []
        for _ in 0..<11 {
            let (before, clock, after) = try await clockAndPicture(in: room, cohort, token)
            differences.append(clock < before ? clock - before : clock > after ? clock - after : 0)
        }
        differences.sort { abs($0) < abs($1) }
        #expect(abs(differences[5]) <= bound, "\(differences)", sourceLocation: location)
    }
}
