import StrokeWire
import Testing

@testable import Whiteboard

@Suite("Limits of what a room takes in")
struct LimitTests {
    @Test(
        "A number at most 100,000 ahead of the next expected is taken, one beyond is out of range and settles nothing")
    func lead() {
        var probe = RoomProbe()
        probe.send(draw(1))
        probe.send(draw(100_003))
        probe.send(#"{"n":100003,"e":9}"#)
        #expect(
            probe.takeTold() == [
                "applied 1 as 1", "rejected 100003 0 out-of-range n", "rejected 100003 0 unknown-element e",
            ])
        probe.send(draw(100_002))
        #expect(probe.takeTold() == ["missing 2...100001"])
        probe.wait(.seconds(2))
        probe.send(draw(100_003))
        #expect(probe.applied.map(\.number) == [1, 100_002, 100_003])
    }

    @Test("32 authors a room; a place is free when its author has been silent for 10 minutes with nothing pending")
    func authors() {
        var probe = RoomProbe()
        probe.send(draw(1))
        probe.send(shard(1, 0, of: 2), by: .bob)
        for number in 3...32 { probe.send(draw(1), by: .known("author-\(number)")) }
        probe.wait(.milliseconds(1))
        probe.send(draw(2))
        let late = AuthorID.known("late")
        probe.send(draw(7), by: late)
        probe.send("no json", by: late)
        #expect(probe.takeTold(late) == ["rejected 7 0 room-full", "rejected - - room-full"])
        // The stroke under assembly is given up after 10 s.
        probe.wait(.seconds(600) - .milliseconds(2))
        probe.send(draw(7), by: late)
        #expect(probe.takeTold(late) == ["rejected 7 0 room-full"])
        probe.wait(.milliseconds(1))
        probe.send(draw(7), by: late)
        #expect(probe.takeTold(late) == ["applied 7 as 33"])
        #expect(probe.room.status(at: probe.now).authors == 32)
        // Alice was not silent for so long.
        probe.send(draw(1))
        #expect(probe.takeTold().last == "applied 1 as 1")
    }

    @Test("200 messages a second, bursts of twice that; what is beyond is rejected and settled")
    func messageRate() {
        var probe = RoomProbe()
        for number in Int64(1)...402 { probe.send(draw(number)) }
        #expect(probe.applied.count == 400)
        #expect(probe.takeTold().suffix(2) == ["rejected 401 0 rate-limited", "rejected 402 0 rate-limited"])
        probe.send(draw(1), by: .bob)
        probe.wait(.milliseconds(5))
        probe.send(draw(403))
        probe.wait(.milliseconds(10))
        probe.send(draw(402))
        #expect(probe.takeTold() == ["applied 403 as 402", "rejected 402 0 rate-limited"])
    }

    @Test("1 MiB a second, bursts of twice that")
    func byteRate() {
        var probe = RoomProbe()
        let filler = #","q":"\#(String(repeating: "a", count: 200_000))""#
        for number in Int64(1)...11 { probe.send(draw(number, filler)) }
        #expect(probe.applied.count == 10)
        #expect(probe.takeTold().last == "rejected 11 0 rate-limited")
        probe.send(draw(12))
        #expect(probe.applied.count == 11)
    }

    @Test("64 strokes under assembly an author; given-up ones make room first")
    func assembling() {
        var probe = RoomProbe()
        for number in Int64(1)...64 { probe.send(shard(number, 0, of: 2)) }
        probe.send(shard(65, 0, of: 2))
        #expect(probe.takeTold() == ["rejected 65 0 too-many-pending"])
        probe.wait(.seconds(10))
        for number in Int64(66)...129 { probe.send(shard(number, 0, of: 2)) }
        #expect(probe.counts.intake.rejected == [.tooManyPending: 1])
        #expect(probe.room.assemblingCount == 64)
    }

    @Test("Bytes pending are bounded; what was given up makes room first")
    func pendingBytes() {
        var probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(pendingBytes: 1000)))
        let filler = #","q":"\#(String(repeating: "a", count: 700))""#
        probe.send(shard(1, 0, of: 3, filler))
        probe.send(shard(1, 1, of: 3, filler))
        #expect(probe.takeTold() == ["rejected 1 1 too-many-pending"])
        probe.send(shard(2, 0, of: 3, filler))
        probe.wait(.seconds(10))
        _ = probe.takeTold()
        probe.send(shard(3, 0, of: 3, filler))
        #expect(probe.takeTold() == [])
        probe.wait(.seconds(10))
        _ = probe.takeTold()
        probe.send(shard(3, 1, of: 3, filler))
        #expect(probe.takeTold() == ["rejected 3 1 too-many-pending"])
    }

    @Test("The stroke that everything waits for is taken however much waits")
    func fillsTheGap() {
        var probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(pendingBytes: 1000)))
        let filler = #","q":"\#(String(repeating: "a", count: 700))""#
        probe.send(draw(1))
        probe.send(draw(3, filler))
        probe.send(draw(2, filler))
        #expect(probe.applied.map(\.number) == [1, 2, 3])
    }

    @Test("As many operations again are held while a decision is on its way, no more")
    func held() {
        var probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(held: 4)))
        probe.decisionsReturn = [.milliseconds(900)]
        probe.send(draw(1))
        for number in Int64(3)...11 { probe.send(draw(number)) }
        #expect(probe.takeTold().last == "rejected 11 0 too-many-pending")
        probe.wait(.milliseconds(900))
        #expect(probe.applied.map(\.number) == [1, 3, 4, 5, 6, 7, 8, 9, 10])
        probe.send(draw(12))
        #expect(probe.applied.last?.number == 12)
    }

    @Test("64 session names are remembered")
    func sessions() {
        var sessions = Sessions()
        for number in 0...Sessions.bound { sessions.begin("s\(number)") }
        if case .new = sessions.standing(of: "s0") {} else { Issue.record("the oldest name was not forgotten") }
        if case .earlier = sessions.standing(of: "s1") {} else { Issue.record("a name was forgotten") }
        if case .current = sessions.standing(of: "s64") {} else { Issue.record("the current name was forgotten") }
    }
}
