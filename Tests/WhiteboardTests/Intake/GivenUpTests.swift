import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

@Suite struct `What comes after it was given up` {
    private var probe = RoomProbe()

    /// Number 1 is applied, 2 … `last` - 1 are given up, `last` is applied.
    private mutating func giveUp(before last: Int64, _ text: String? = nil) {
        probe.send(draw(1), text ?? draw(last))
        probe.wait(.seconds(2))
        _ = probe.takeTold()
    }

    @Test
    mutating func `One that was given up while smaller numbers are still waited for is settled once it is drawn`() {
        probe.send(draw(1), draw(5))
        probe.record(.gaveUp(3...3))
        probe.send(draw(3))
        _ = probe.takeTold()
        probe.send(draw(2), draw(4))
        #expect(probe.takeTold() == ["applied 2 as 3", "applied 4 as 4", "applied 5 as 5"])
        probe.send(draw(3))
        #expect(probe.takeTold() == ["applied 3 as 2"])
    }

    @Test mutating func `It is late itself; its release is not, where the clock released it in time`() {
        probe.clock(100_000)
        giveUp(before: 3)
        probe.send(draw(2, #","t":1"#))
        #expect(probe.shown() == [1, 2, 3])
        #expect(probe.shown.map(\.operation.isLate) == [false, false, true])
        #expect(probe.shown.allSatisfy { !$0.isLate })
    }

    @Test("However many are drawn out of order, none is drawn twice while a smaller number is still waited for")
    mutating func onceAhead() {
        probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(messagesPerSecond: 1_000_000)))
        probe.send(draw(1), draw(4000))
        probe.record(.gaveUp(3...3999))
        let late = stride(from: Int64(3), to: 3999, by: 2)
        for number in late { probe.send(draw(number)) }
        // As many as are remembered; the others are rejected.
        #expect(probe.applied.count == 1 + 1024)
        #expect(probe.takeTold().last == "rejected 3997 0 too-many-pending")
        for number in late { probe.send(draw(number)) }
        #expect(probe.applied.count == 1 + 1024)
        probe.send(draw(2))
        for number in late { probe.send(draw(number)) }
        probe.wait(.seconds(10))
        for number in late { probe.send(draw(number)) }
        #expect(Set(probe.applied.map(\.number)).count == probe.applied.count)
    }

    @Test mutating func `Nor is one from below the start of its count drawn twice`() {
        probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(messagesPerSecond: 1_000_000)))
        probe.send(draw(5000))
        let late = stride(from: Int64(4999), to: 2, by: -2)
        for number in late { probe.send(draw(number)) }
        #expect(probe.applied.count > 1024)
        for number in late { probe.send(draw(number)) }
        #expect(Set(probe.applied.map(\.number)).count == probe.applied.count)
    }

    @Test mutating func `A refused message under a number that was given up leaves it given up`() {
        giveUp(before: 4)
        probe.send(#"{"n":2,"e":77,"d":[]}"#, draw(2))
        #expect(probe.takeTold() == ["rejected 2 0 unknown-element e", "applied 2 as 3"])
    }

    @Test mutating func `So it does while smaller numbers are still waited for`() {
        probe.send(draw(1), draw(5))
        probe.record(.gaveUp(3...4))
        probe.send(#"{"n":4,"e":77,"d":[]}"#, draw(4))
        #expect(probe.takeTold().last == "applied 4 as 2")
        #expect(probe.applied.last?.isLate == true)
    }
}

@Suite struct `Settled numbers` {
    private var settled = SettledNumbers()
    private let rejected = SettledNumbers.Reason.rejected(.tooLate)

    @Test func `Agree with a plain dictionary, whatever is inserted and removed`() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
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
            for number in Int64(0)...210 { #expect(settled.reason(of: number) == plain[number], "seed \(random.seed)") }
            let free = settled.unsettled(in: 0...210).flatMap { Array($0) }
            #expect(free == (Int64(0)...210).filter { plain[$0] == nil }, "seed \(random.seed)")
        }
    }

    @Test mutating func `Neighbours with one reason are one range`() {
        for number in Int64(0)..<5000 { settled.insert(number...number, rejected, expected: 0) }
        #expect(settled.entries.count == 1)
    }

    @Test mutating func `Of more ranges than the bound ahead of the next expected number, the oldest is a gap again`() {
        let bound = Int64(SettledNumbers.bound)
        settled.insert(7...7, rejected, expected: 5)
        for place in 1...bound { settled.insert((10 * place)...(10 * place), rejected, expected: 5) }
        #expect(settled.entries.count == SettledNumbers.bound)
        #expect(settled.reason(of: 7) == nil)
        #expect(settled.reason(of: 10) != nil)
        #expect(settled.reason(of: 10 * bound) != nil)
    }

    @Test mutating func `Ranges behind and ahead of the next expected number do not crowd each other out`() {
        let bound = Int64(SettledNumbers.bound)
        for place in 1...bound { settled.insert((10 * place)...(10 * place), rejected, expected: 0) }
        let expected = 10 * bound + 1
        for place in (bound + 1)...(2 * bound) {
            settled.insert((10 * place)...(10 * place), rejected, expected: expected)
        }
        #expect(settled.entries.count == 2 * SettledNumbers.bound)
        #expect(settled.reason(of: 10) != nil)
    }

    @Test mutating func `A range that late strokes cut into pieces does not grow beyond the bound`() {
        settled.insert(0...9999, .gaveUp(head: 0), expected: 0)
        for number in stride(from: Int64(1), to: 9999, by: 2) { settled.remove(number, expected: 10_000) }
        #expect(settled.entries.count <= 2 * SettledNumbers.bound)
    }
}

@Suite struct `Applied numbers` {
    @Test func `Agree with a plain dictionary, in whatever order numbers are applied`() {
        var random = SeededGenerator(seed: TestSeed.choose())
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
            for number in Int64(-1)...410 { #expect(applied.index(of: number) == plain[number], "seed \(random.seed)") }
            let copy = AppliedNumbers(applied.runs)
            for number in Int64(-1)...410 { #expect(copy.index(of: number) == plain[number], "seed \(random.seed)") }
        }
    }

    @Test func `The oldest of more runs than the bound is forgotten`() {
        var applied = AppliedNumbers()
        for number in Int64(0)...Int64(AppliedNumbers.bound) { applied.record(number, index: UInt64(number) * 2) }
        #expect(applied.index(of: 0) == nil)
        #expect(applied.index(of: 1) == 2)
    }
}

@Suite struct `A sorted table` {
    @Test func `Agrees with a plain dictionary, whatever is inserted, changed and removed`() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
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
                    #expect((changed != nil) == (plain[number] != nil), "seed \(random.seed)")
                    plain[number]? += 1
                default:
                    #expect(table.remove(number) == plain.removeValue(forKey: number), "seed \(random.seed)")
                }
                #expect(table.count == plain.count, "seed \(random.seed)")
                #expect(table[number] == plain[number], "seed \(random.seed)")
                guard step % 50 == 0 else { continue }
                let sorted = plain.keys.sorted()
                try #require(table.map(\.number) == sorted, "seed \(random.seed)")
                #expect(table.map(\.value) == sorted.map { plain[$0] }, "seed \(random.seed)")
                #expect(table.first?.number == sorted.first && table.last?.number == sorted.last, "seed \(random.seed)")
                #expect(
                    table.elements(from: number).map(\.number) == sorted.filter { $0 >= number }, "seed \(random.seed)")
                #expect(table.first(from: number)?.number == sorted.first { $0 >= number }, "seed \(random.seed)")
                #expect(table.last(below: number)?.number == sorted.last { $0 < number }, "seed \(random.seed)")
            }
        }
    }
}
