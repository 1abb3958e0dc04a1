import Testing

@testable import Whiteboard

@Suite("Applied numbers")
struct AppliedNumbersTests {
    @Test("Every number gives its index back, in runs and out of them")
    func remembers() {
        var applied = AppliedNumbers()
        for number in Int64(1)...1000 where number != 500 { applied.record(number, index: UInt64(number) + 7) }
        applied.record(500, index: 2000)
        for number in Int64(1)...1000 {
            #expect(applied.index(of: number) == (number == 500 ? 2000 : UInt64(number) + 7))
        }
        #expect(applied.index(of: 0) == nil)
        #expect(applied.index(of: 1001) == nil)
    }

    @Test("The oldest of more runs than the bound is forgotten")
    func bound() {
        var applied = AppliedNumbers()
        for number in Int64(0)...Int64(AppliedNumbers.bound) { applied.record(number, index: UInt64(number) * 2) }
        #expect(applied.index(of: 0) == nil)
        #expect(applied.index(of: 1) == 2)
    }
}
