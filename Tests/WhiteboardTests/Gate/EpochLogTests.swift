import StrokeWire
import Testing
import Whiteboard

/// Rule 6: epochs take effect where the room's log brings them.
@Suite("Epochs and the log")
struct EpochLogTests {
    @Test("The first `ep` names the epoch that is there; its operations stay in it")
    func naming() throws {
        var room = VirtualRoom()
        try room.sample(1000)
        room.log(1500)
        #expect(try room.sample(1000, ep: 7) == .newEpochs([7]))
        #expect(room.gate.epoch == 7)
        #expect(room.shown() == [])
        room.log(1600)
        room.wait(.milliseconds(601))
        #expect(room.shown() == [1, 2])
    }

    @Test("A sample waits for its epoch to be logged; the room is reminded once a second; records may repeat")
    func waitsForLog() throws {
        var gate = Gate(configuration: CohortsConfiguration(), at: .init(nanoseconds: 0))
        func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }
        func sample(_ media: Int64, _ q: Int64, ep: Int64) -> ClockSample {
            ClockSample(media: MediaTime(milliseconds: media), number: q, epoch: ep)
        }
        #expect(gate.receive(sample(0, 1, ep: 2), cohort: .main, at: at(0)) == .newEpochs([2]))
        #expect(gate.receive(sample(250, 2, ep: 2), cohort: .main, at: at(250)) == .awaitingEpoch)
        #expect(gate.receive(sample(0, 1, ep: 2), cohort: .main, at: at(260)) == .ignored(.repeated))
        #expect(gate.videoTime(of: .main, at: at(300)) == nil)
        #expect(gate.receive(sample(1000, 5, ep: 2), cohort: .main, at: at(1000)) == .newEpochs([2]))
        for _ in 0..<2 { gate.beginEpoch(2, at: at(1100), now: at(1100)) }
        gate.beginEpoch(1, at: at(1100), now: at(1100))
        gate.beginEpoch(-3, at: at(1100), now: at(1100))
        #expect(gate.epoch == 2)
        #expect(gate.videoTime(of: .main, at: at(1100)) == MediaTime(milliseconds: 1100))
    }

    @Test("Operations become due when the log has brought the epoch, not when its sample came")
    func dueWithEpoch() throws {
        var gate = Gate(configuration: CohortsConfiguration(), at: .init(nanoseconds: 0))
        let (start, sampled, logged) = (Instant(nanoseconds: 0), Instant(nanoseconds: 5), Instant(nanoseconds: 900))
        gate.beginEpoch(1, at: start, now: start)
        let sample = ClockSample(media: MediaTime(milliseconds: 11), epoch: 2)
        #expect(gate.receive(sample, cohort: .main, at: sampled) == .newEpochs([2]))
        gate.beginEpoch(2, at: logged, now: logged)
        gate.append(time: 10, at: start, now: logged)
        var releases: [Release] = []
        gate.release(at: Instant(nanoseconds: 1000), into: &releases)
        #expect(releases.map(\.due) == [logged])
    }

    @Test("A sample that waited for the log is forgotten when a later one of its epoch was taken meanwhile")
    func overtaken() throws {
        var gate = Gate(configuration: CohortsConfiguration(), at: .init(nanoseconds: 0))
        func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }
        let waiting = ClockSample(media: MediaTime(microseconds: 100_000), epoch: 1)
        #expect(gate.receive(waiting, cohort: .main, at: at(0)) == .newEpochs([1]))
        let later = ClockSample(media: MediaTime(microseconds: 300_000))
        #expect(gate.receive(later, cohort: .main, at: at(500)) == .taken)
        gate.beginEpoch(1, at: at(600), now: at(600))
        #expect(gate.videoTime(of: .main, at: at(600)) == MediaTime(microseconds: 400_000))
    }

    @Test("A restart without `ep` that waits for the log is dropped when the epoch gets a greater name meanwhile")
    func namedMeanwhile() throws {
        let hls = try CohortName.named("hls")
        var gate = Gate(configuration: CohortsConfiguration(), at: .init(nanoseconds: 0))
        let now = Instant(nanoseconds: 0)
        func sample(_ media: Int64, ep: Int64? = nil) -> ClockSample {
            ClockSample(media: MediaTime(microseconds: media), epoch: ep, isDiscontinuity: true)
        }
        #expect(gate.receive(sample(60_000_000), cohort: .main, at: now) == .taken)
        gate.append(time: 70_000, at: now, now: now)
        #expect(gate.receive(sample(0), cohort: .main, at: now) == .newEpochs([0, 1]))
        #expect(gate.receive(sample(60_000_000, ep: 7), cohort: hls, at: now) == .newEpochs([7]))
        for epoch in [7, 0, 1] as [Int64] { gate.beginEpoch(epoch, at: now, now: now) }
        var releases: [Release] = []
        gate.release(at: now, into: &releases)
        #expect(releases == [])
        #expect(gate.receive(sample(0), cohort: .main, at: now) == .newEpochs([8]))
        gate.beginEpoch(8, at: now, now: now)
        gate.release(at: now, into: &releases)
        #expect(releases.map(\.cohort) == [.main])
    }

    @Test("Hundreds of epochs leave the gate as it was")
    func manyEpochs() throws {
        var room = VirtualRoom()
        for epoch in 0..<500 {
            try room.sample(0, ep: Int64(epoch))
            room.log(Int64(epoch % 7))
            room.wait(.milliseconds(epoch % 5))
        }
        try room.sample(10, ep: 499, d: true)
        #expect(room.shown() == Array(1...500))
        #expect(room.late() == [])
    }
}
