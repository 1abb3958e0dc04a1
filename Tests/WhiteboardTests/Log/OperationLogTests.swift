import StrokeWire
import Testing

@testable import Whiteboard

@Suite("Log of operations")
struct OperationLogTests {
    /// With what an operation takes without its message, 1000 bytes.
    private func operation(_ index: UInt64) -> Whiteboard.Operation {
        Operation(
            index: index, author: .alice, number: Int64(index), effect: .undo(reference: 1), isLate: false, time: nil,
            digest: .empty, message: [UInt8](repeating: 32, count: 1000 - 256), isJoined: false)
    }

    @Test("A tail is what comes after an index through another, nil where the log does not reach back so far")
    func tail() {
        var log = OperationLog()
        #expect(log.tail(after: 0, through: 0)?.map(\.index) == [])
        for index in UInt64(1)...10 { log.append(operation(index)) }
        log.pack(through: 4)
        for _ in 0..<3 { _ = log.popFirst() }
        #expect(log.firstIndex == 4)
        #expect(log.lastIndex == 10)
        #expect(log.tail(after: 2, through: 9) == nil)
        #expect(log.tail(after: 3, through: 6)?.map(\.index) == [4, 5, 6])
        #expect(log.tail(after: 6, through: 6)?.map(\.index) == [])
        #expect(log.tail(after: 10, through: 10)?.map(\.index) == [])
        #expect(log[7].index == 7)
    }

    @Test("Bytes are held until every cohort has released them, then kept with the tail, then given back")
    func bytes() {
        var log = OperationLog(after: 20)
        #expect(log.lastIndex == 20)
        for index in UInt64(21)...30 { log.append(operation(index)) }
        #expect(log.heldBytes == 10_000)
        log.pack(through: 24)
        #expect(log.heldBytes == 6000)
        #expect(log.releasedBytes == 4000)
        log.pack(through: 24)
        _ = log.popFirst()
        #expect(log.releasedBytes == 3000)
        log.pack(through: .max)
        #expect(log.heldBytes == 0)
        while log.count > 0 { _ = log.popFirst() }
        #expect(log.releasedBytes == 0)
        #expect(log.firstIndex == 31)
    }
}
