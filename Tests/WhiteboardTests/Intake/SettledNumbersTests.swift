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

    @Test("Agree with a plain dictionary, in whatever order numbers are applied")
    func agreesWithDictionary() {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            var applied = AppliedNumbers()
            var plain: [Int64: UInt64] = [:]
            var index: UInt64 = 0
            for number in (Int64(0)..<400).shuffled(using: &random) {
                for number in number..<(number + Int64(random.int(1...4))) where plain[number] == nil {
                    index += random.chance(80, in: 100) ? 1 : 2
                    applied.record(number, index: index)
                    plain[number] = index
                }
            }
            for number in Int64(-1)...410 { #expect(applied.index(of: number) == plain[number], "seed \(seed)") }
            let copy = AppliedNumbers(applied.runs)
            for number in Int64(-1)...410 { #expect(copy.index(of: number) == plain[number], "seed \(seed)") }
        }
    }

    @Test("The oldest of more runs than the bound is forgotten")
    func bound() {
        var applied = AppliedNumbers()
        for number in Int64(0)...Int64(AppliedNumbers.bound) { applied.record(number, index: UInt64(number) * 2) }
        #expect(applied.index(of: 0) == nil)
        #expect(applied.index(of: 1) == 2)
    }
}

@Suite("A sorted table")
struct SortedTableTests {
    @Test("Agrees with a plain dictionary, whatever is inserted, changed and removed")
    func agreesWithDictionary() throws {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        for spread in [20, 300, 5000] {
            var table = SortedTable<Int>()
            var plain: [Int64: Int] = [:]
            for step in 0..<4000 {
                let number = Int64(random.int(0...spread))
                // The table grows, then shrinks.
                switch random.int(0...9) {
                case 0...(step < 2000 ? 5 : 2):
                    table.insert(step, at: number)
                    plain[number] = step
                case 6:
                    let changed: Void? = table.update(number) { $0 += 1 }
                    #expect((changed != nil) == (plain[number] != nil), "seed \(seed)")
                    plain[number]? += 1
                default:
                    #expect(table.remove(number) == plain.removeValue(forKey: number), "seed \(seed)")
                }
                #expect(table.count == plain.count, "seed \(seed)")
                #expect(table[number] == plain[number], "seed \(seed)")
                guard step % 50 == 0 else { continue }
                let sorted = plain.keys.sorted()
                try #require(table.map(\.number) == sorted, "seed \(seed)")
                #expect(table.map(\.value) == sorted.map { plain[$0] }, "seed \(seed)")
                #expect(table.first?.number == sorted.first && table.last?.number == sorted.last, "seed \(seed)")
                #expect(table.elements(from: number).map(\.number) == sorted.filter { $0 >= number }, "seed \(seed)")
                #expect(table.first(from: number)?.number == sorted.first { $0 >= number }, "seed \(seed)")
                #expect(table.last(below: number)?.number == sorted.last { $0 < number }, "seed \(seed)")
            }
        }
    }
}
