import TestSupport
import Testing

@testable import LecternServer

@Suite struct FairQueueTests {
    @Test func `Groups have their turns, whatever others put, and each its items in order`() {
        for seed in TestSeed.choose(50) {
            var random = SeededGenerator(seed: seed)
            var queue = FairQueue<Int, (group: Int, number: Int)>()
            var model: [Int: [Int]] = [:]
            /// How many turns others have had since a group that waits had its last one.
            var passed: [Int: Int] = [:]
            for number in 0..<400 {
                if random.chance(1, in: 2) {
                    let group = random.int(0..<5)
                    queue.append((group, number), of: group)
                    model[group, default: []].append(number)
                } else if let item = queue.popFirst() {
                    let oldest = model[item.group]?.removeFirst()
                    #expect(oldest == item.number, "seed \(seed)")
                    for group in model.keys { passed[group, default: 0] += model[group] == [] ? 0 : 1 }
                    passed[item.group] = 0
                    #expect(passed.values.allSatisfy { $0 < 5 }, "seed \(seed)")
                } else {
                    #expect(model.values.allSatisfy { $0.isEmpty }, "seed \(seed)")
                }
                #expect(queue.count == model.values.reduce(0) { $0 + $1.count }, "seed \(seed)")
                for group in 0..<5 { #expect(queue.count(of: group) == model[group]?.count ?? 0, "seed \(seed)") }
            }
        }
    }
}
