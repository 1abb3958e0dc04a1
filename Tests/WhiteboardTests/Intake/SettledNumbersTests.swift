import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

@Suite("Settled numbers")
struct SettledNumbersTests {
    private let rejected = SettledNumbers.Reason.rejected(.tooLate)

    @Test("Agree with a plain dictionary, whatever is inserted and removed")
    func agreesWithDictionary() throws {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            var settled = SettledNumbers()
            var plain: [Int64: SettledNumbers.Reason] = [:]
            for _ in 0..<120 {
                let from = Int64(random.int(0...200))
                let to = from + Int64(random.int(0...6))
                let reason = random.chance(50, in: 100) ? rejected : .gaveUp(head: UInt64(random.int(0...1)))
                if random.chance(30, in: 100) {
                    settled.remove(from, expected: 0)
                    plain[from] = nil
                } else if (from...to).allSatisfy({ plain[$0] == nil }) {
                    settled.insert(from...to, reason, expected: 0)
                    for number in from...to { plain[number] = reason }
                }
            }
            for number in Int64(0)...210 { #expect(settled.reason(of: number) == plain[number], "seed \(seed)") }
            let free = settled.unsettled(in: 0...210).flatMap { Array($0) }
            #expect(free == (Int64(0)...210).filter { plain[$0] == nil }, "seed \(seed)")
        }
    }

    @Test("Neighbours with one reason are one range")
    func merges() {
        var settled = SettledNumbers()
        for number in Int64(0)..<5000 { settled.insert(number...number, rejected, expected: 0) }
        #expect(settled.entries.count == 1)
    }

    @Test("Of more ranges than the bound ahead of the next expected number, the oldest is a gap again")
    func boundAhead() {
        var settled = SettledNumbers()
        let bound = Int64(SettledNumbers.bound)
        settled.insert(7...7, rejected, expected: 5)
        for place in 1...bound { settled.insert((10 * place)...(10 * place), rejected, expected: 5) }
        #expect(settled.entries.count == SettledNumbers.bound)
        #expect(settled.reason(of: 7) == nil)
        #expect(settled.reason(of: 10) != nil)
        #expect(settled.reason(of: 10 * bound) != nil)
    }

    @Test("Ranges behind and ahead of the next expected number do not crowd each other out")
    func boundBelow() {
        var settled = SettledNumbers()
        let bound = Int64(SettledNumbers.bound)
        for place in 1...bound { settled.insert((10 * place)...(10 * place), rejected, expected: 0) }
        let expected = 10 * bound + 1
        for place in (bound + 1)...(2 * bound) {
            settled.insert((10 * place)...(10 * place), rejected, expected: expected)
        }
        #expect(settled.entries.count == 2 * SettledNumbers.bound)
        #expect(settled.reason(of: 10) != nil)
    }

    @Test("A range that late strokes cut into pieces does not grow beyond the bound")
    func boundAfterRemovals() {
        var settled = SettledNumbers()
        settled.insert(0...9999, .gaveUp(head: 0), expected: 0)
        for number in stride(from: Int64(1), to: 9999, by: 2) { settled.remove(number, expected: 10_000) }
        #expect(settled.entries.count <= 2 * SettledNumbers.bound)
    }
}
