import CoreTrial
import TestSupport
import Testing

@Suite(.serialized) struct `Functions of the core, whatever a page, a service or another client sends` {
    @Test(arguments: TestSeed.choose(8)) func `no call traps, and the same calls have the same answers`(seed: UInt64) {
        var generator = HostileCalls(seed: seed)
        for calls in [generator.student(2000), generator.picture(600), generator.teacher(3000), generator.replay(1000)]
        {
            CoreCall.reset()
            let first = calls.map { $0.run() }
            CoreCall.reset()
            for (place, call) in calls.enumerated() {
                let hash = call.run()
                guard hash == first[place] else {
                    Issue.record("seed \(seed): call \(place), \(call.function), has another answer")
                    return
                }
            }
        }
    }

    @Test func `what is drawn while a post is under way is posted when that is answered`() {
        let calls = KnownCalls.outbox()
        #expect(calls.count { $0.function == .teacher && $0.numbers[0] == 4 } == 41)
    }

    @Test(arguments: SampleLesson.short) func `the calls that are known trap as little`(lesson: SampleLesson) throws {
        CoreCall.reset()
        for call in try KnownCalls.vectors() { _ = call.run() }
        for style in KnownCalls.styles {
            let hashes = try KnownCalls.lesson(lesson, in: style).map { $0.run() }
            #expect(Set(hashes.suffix(16)).count > 2, "pixels of \(style)")
        }
    }
}
