import StrokeWire
import Testing
import Whiteboard

/// Rule 6: the clock of a video that begins anew, without `ep`.
@Suite struct `A restart without a name` {
    @Test func `is named by others for a daemon that had followed it before it read the room's first stroke`() {
        let probe = HostProbe(gate: .video)
        for media in [60_000, 0, 250] {
            probe.sample(#"{"m":\#(media)}"#)
            probe.wait(.milliseconds(250))
        }
        probe.draw(59_900)
        for epoch: Int64 in [0, 1] { probe.log(.control(.epoch(epoch))) }
        #expect(probe.output.lateness(of: 59_900) == false)
        // A straggler of the old time line, and a stroke on the new one.
        probe.send(#"{"n":59901,"t":60100,"d":[{"x":1,"y":1}]}"#)
        #expect(probe.after(.milliseconds(2)).output.lateness(of: 59_901) == false)
        probe.send(#"{"n":59902,"t":600,"d":[{"x":1,"y":1}]}"#)
        #expect(probe.after(.milliseconds(98)).output.released() == [1, 2])
        #expect(probe.after(.milliseconds(2)).output.lateness(of: 59_902) == false)
    }

    @Test func `soon after one that all cohorts have followed is followed by each at its own time`() throws {
        let slow = try #require(CohortName("slow"))
        let probe = HostProbe(gate: .video)
        func sample(_ media: Int, slow slowMedia: Int) {
            probe.sample(#"{"m":\#(media)}"#)
            probe.sample(#"{"m":\#(slowMedia)}"#, cohort: slow)
            probe.wait(.milliseconds(250))
        }
        for media in [60_000, 20_000, 20_250, 20_500, 20_750, 21_000, 21_250, 21_500] { sample(media, slow: media) }
        probe.draw(24_000)
        for media in [0, 250] { sample(media, slow: 21_750 + media) }
        for epoch: Int64 in [0, 1] { probe.log(.control(.epoch(epoch))) }
        probe.wait(.milliseconds(2))
        #expect(probe.output.released() == [1])
        #expect(probe.output.released(slow).isEmpty)
    }
}

/// Rule 18: the teacher's ink shows that the encoder has begun anew, before the video does.
@Suite struct `A draw far below the one before` {
    private func draw(_ number: Int, at time: Int, _ probe: HostProbe) {
        probe.send(#"{"n":\#(number),"t":\#(time),"d":[{"x":1,"y":1}]}"#)
    }

    private func isForeseen(_ probe: HostProbe) -> Bool {
        probe.output.decisions.contains { if case .provisionalEpoch = $0 { true } else { false } }
    }

    @Test func `begins nothing where the video has begun anew, though the clock of a slower cohort has not`() throws {
        let hls = try #require(CohortName("hls"))
        let probe = HostProbe(gate: .video)
        draw(1, at: 99_000, probe)
        probe.sample(#"{"m":100000,"ep":1}"#)
        probe.sample(#"{"m":95000,"ep":1,"a":5000}"#, cohort: hls)
        probe.log(.control(.epoch(1)))
        probe.sample(#"{"m":0,"ep":2}"#)
        probe.log(.control(.epoch(2)))
        draw(2, at: 100, probe)
        probe.wait(.milliseconds(200))
        #expect(!isForeseen(probe))
        #expect(probe.output.released() == [1, 2])
    }

    /// The video of `main` begins anew, that of another cohort does not.
    private func begunAnew(_ ages: (main: String, again: String, other: String), _ other: CohortName) -> HostProbe {
        let probe = HostProbe(gate: .video)
        probe.sample(#"{"m":95000,"ep":1\#(ages.main)}"#)
        probe.sample(#"{"m":95000,"ep":1\#(ages.other)}"#, cohort: other)
        draw(1, at: 94_000, probe)
        probe.log(.control(.epoch(1)))
        draw(2, at: 500, probe)
        #expect(isForeseen(probe))
        probe.sample(#"{"m":1000,"ep":2\#(ages.again)}"#)
        probe.log(.control(.epoch(2)))
        #expect(probe.output.released() == [1, 2])
        return probe
    }

    @Test func `comes late to a cohort whose video does not follow, though another's has`() throws {
        let hls = try #require(CohortName("hls"))
        let probe = begunAnew((#","a":5000"#, #","a":0"#, #","a":5000"#), hls)
        #expect(probe.after(.milliseconds(9999)).output.released(hls) == [1])
        #expect(probe.after(.milliseconds(1)).output.released(hls) == [1, 2])
        #expect(probe.output.lateness(of: 2) == true)
    }

    @Test func `waits for the video of a cohort that tells no age, where another's has begun anew`() throws {
        let hls = try #require(CohortName("hls"))
        let probe = begunAnew((#","a":300"#, #","a":300"#, ""), hls)
        #expect(probe.after(.seconds(12)).output.released(hls) == [1])
        probe.sample(#"{"m":1000,"ep":2}"#, cohort: hls)
        #expect(probe.output.released(hls) == [1, 2])
        #expect(probe.output.lateness(of: 2) == false)
    }

    @Test func `begins a session though the first clock's session was named after it`() {
        let probe = HostProbe(gate: .video)
        draw(1, at: 99_000, probe)
        probe.sample(#"{"m":99500,"ep":1,"a":5000}"#)
        draw(2, at: 100, probe)
        probe.log(.control(.epoch(1)))
        #expect(isForeseen(probe))
        probe.wait(.seconds(1))
        #expect(probe.output.released() == [1])
    }

    @Test func `stays in the session before where the log has named the new one before anybody came to it`() {
        let probe = HostProbe(gate: .video)
        draw(1, at: 93_000, probe)
        draw(2, at: 500, probe)
        for epoch: Int64 in [1, 2] { probe.log(.control(.epoch(epoch))) }
        probe.sample(#"{"m":95000,"ep":1,"a":5000}"#)
        probe.wait(.milliseconds(2))
        #expect(!isForeseen(probe))
        #expect(probe.output.released() == [1, 2])
    }

    @Test func `is not compared with an absurd time from before the first sample`() {
        let probe = HostProbe(gate: .video)
        draw(1, at: 93_000, probe)
        draw(2, at: 1_000_000_000_000_000, probe)
        probe.sample(#"{"m":95000,"ep":1,"a":5000}"#)
        probe.log(.control(.epoch(1)))
        draw(3, at: 500, probe)
        #expect(isForeseen(probe))
    }

    @Test func `is not compared with an absurd time between them`() {
        let probe = HostProbe(gate: .video)
        draw(1, at: 93_000, probe)
        probe.sample(#"{"m":95000,"ep":1,"a":5000}"#)
        probe.log(.control(.epoch(1)))
        draw(2, at: 1_000_000_000_000_000, probe)
        draw(3, at: 85_000, probe)
        #expect(!isForeseen(probe))
        draw(4, at: 1_000_000_000_000_000, probe)
        draw(5, at: 500, probe)
        #expect(isForeseen(probe))
    }
}
