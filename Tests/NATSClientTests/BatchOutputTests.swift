import Dispatch
import Testing

@testable import NATSClient

@Suite struct BatchOutputTests {
    @Test func `Output not written when it is closed is dropped, and nobody waits for it`() {
        let output = BatchOutput()
        var batch: [UInt8] = [1, 2, 3]
        output.append(&batch)
        #expect(output.unwritten == 3)
        output.close()
        #expect(output.unwritten == 0)
        batch = [4]
        output.append(&batch)
        #expect(output.unwritten == 0)
        output.waitUntilWritten(until: .distantFuture)
    }
}
