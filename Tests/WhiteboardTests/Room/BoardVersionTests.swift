import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

@Suite struct BoardVersionTests {
    @Test(arguments: TestSeed.choose(20))
    func `a board at an earlier position is that of then, as long as the log leads to it`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let history = HistoryConfiguration.random(depth: 1...20, using: &random)
        var probe = RoomProbe(
            RoomConfiguration(history: history, log: LogRetention(tail: random.int(0...40), quiet: .seconds(3600))))
        var looks = [BoardLook(probe.room.head)]
        var (earliest, unknown, known) = (0, 0, 0)
        for number in Int64(1)...150 {
            let time = #","t":\#(number * 10)"#
            let text =
                switch random.int(0..<10) {
                case 0, 1: undo(number, time)
                case 2: redo(number, time)
                case 3 where random.chance(30, in: 100): clear(number, time)
                default: draw(number, time)
                }
            probe.send(text, by: random.chance(50, in: 100) ? .alice : .bob)
            if Int(probe.room.head.index) == looks.count { looks.append(BoardLook(probe.room.head)) }
            if random.chance(20, in: 100) { probe.clock(Double(number * 10)) }
            if random.chance(20, in: 100) { probe.clock(Double(max(0, Int(number) - random.int(1...60)) * 10), .hls) }
            let room = probe.room
            for index in UInt64(0)...room.head.index + 1 {
                for (version, end) in [
                    (room.head(at: index), room.head.index),
                    (room.board(of: .main, at: index), room.board(of: .main).index),
                    (room.board(of: .hls, at: index), room.board(of: .hls).index),
                ] {
                    guard let version else {
                        #expect(index > end || index < room.log.base.index, "seed \(seed), \(index) of \(end)")
                        unknown += 1
                        continue
                    }
                    known += 1
                    #expect(index <= end, "seed \(seed)")
                    #expect(version.index == index && version.digest == looks[Int(index)].digest, "seed \(seed)")
                    #expect(BoardLook(version.board) == looks[Int(index)], "seed \(seed), \(index)")
                }
            }
            earliest = max(earliest, Int(room.log.base.index))
        }
        #expect(known > 0 && unknown > 0, "seed \(seed)")
    }

    @Test func `a join may name an earlier position of this incarnation, not one ahead of the cohort`() throws {
        var probe = RoomProbe()
        for number in Int64(1)...9 { probe.send(draw(number, #","t":\#(number * 10)"#)) }
        probe.clock(55)
        func answer(_ request: JoinRequest) -> CatchUp? { probe.room.catchUp(request, cohort: .main) }
        let past = try #require(answer(JoinRequest(incarnation: "life", index: 3)))
        #expect(past.index == 3)
        guard case .version(let version) = past.content else { throw Unexpected("no board") }
        #expect(version.board.visible.map(\.index) == [1, 2, 3])
        let reply = try past.reply(.json)
        #expect(reply.index == 3 && reply.digest == BoardDigest(of: [1, 2, 3]))
        #expect(answer(JoinRequest(index: 5))?.index == 5)
        #expect(answer(JoinRequest(index: 6)) == nil, "its video has not come to it")
        #expect(probe.room.catchUpHead(JoinRequest(index: 9))?.index == 9)
        #expect(probe.room.catchUpHead(JoinRequest(index: 10)) == nil)
        #expect(answer(JoinRequest(incarnation: "another", index: 3)) == nil)
    }
}
