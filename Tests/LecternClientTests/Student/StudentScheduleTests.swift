import StrokeWire
import Testing

@testable import LecternClient

@Suite("A student, whatever the network does")
struct StudentScheduleTests {
    @Test("ends with the board of the room, and never skips or repeats an operation", arguments: 1...40)
    func schedules(seed: Int) throws {
        let seed = UInt64(seed)
        var random = SeededGenerator(seed: seed)
        let room = try #require(
            ModelRoom(
                room: "life-1", isClearUndoable: Bool.random(using: &random),
                tail: Int.random(in: 0...60, using: &random), seed: seed))
        var student = VirtualStudent(room: room, seed: seed)
        student.loss = [0, 0.02, 0.3].randomElement(using: &random) ?? 0
        student.repeats = [0, 0.3].randomElement(using: &random) ?? 0
        student.latency = [0, 30, 400].randomElement(using: &random) ?? 0
        student.outages = [5, 40].randomElement(using: &random) ?? 5
        student.restores = [0, 3].randomElement(using: &random) ?? 0
        student.newLives = [0, 0, 1].randomElement(using: &random) ?? 0
        student.pointsPerShard = [Int.max, 3].randomElement(using: &random) ?? .max
        try student.run(for: .seconds(60), isActive: true)
        student.calm()
        try student.run(for: .seconds(40), isActive: false)
        let session = student.session
        #expect(session.board.index == student.room.index)
        #expect(session.digest == student.room.boards.last?.digest)
        #expect(session.board.visible.map(\.index) == student.room.boards.last?.visible)
        #expect(session.report.isSound)
        #expect(session.report.overflows == 0)
        #expect(session.deadline == nil, "nothing waits any more")
        for stroke in session.board.visible {
            let isSame = stroke.bytes == student.room.operations[Int(stroke.index) - 1].bytes
            #expect(isSame, "stroke \(stroke.index) is what the room has")
        }
    }

    @Test("sees every operation in a quiet network, with one join", arguments: 1...5)
    func quiet(seed: Int) throws {
        let seed = UInt64(seed)
        let room = try #require(ModelRoom(room: "life-1", isClearUndoable: false, tail: 10, seed: seed))
        var student = VirtualStudent(room: room, seed: seed)
        student.latency = 0
        try student.run(for: .seconds(1), isActive: false)
        try student.run(for: .seconds(20), isActive: true)
        try student.run(for: .seconds(5), isActive: false)
        let report = student.session.report
        #expect(report.applied == Int(student.room.index))
        #expect(report.applied > 100)
        #expect(report.joins == 1 && report.rejoins == 0 && report.gaps == 0 && report.repeats == 0)
    }
}
