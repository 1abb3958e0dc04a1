import Testing
import Whiteboard

@testable import LecternServer

@Suite struct CommandQueueTests {
    private let start = Instant(nanoseconds: 1_000_000_000_000)
    private var queue = CommandQueue<String>()

    private mutating func begin() -> [String] { queue.begin(at: start).begun.map(\.work) }

    @Test mutating func `erasures do not take the slots of others`() {
        for number in 0..<10 { #expect(queue.add("erase \(number)", to: .erasures, at: start) == nil) }
        for number in 0..<5 { #expect(queue.add("mute \(number)", to: .others, at: start) == nil) }
        #expect(begin() == ["erase 0", "erase 1", "mute 0", "mute 1", "mute 2", "mute 3"])
        #expect(begin().isEmpty)
        queue.end(in: .others)
        queue.end(in: .erasures)
        #expect(begin() == ["erase 2", "mute 4"])
    }

    @Test mutating func `each lane is bounded for itself, what is under way included`() {
        for _ in 0..<64 { #expect(queue.add("erase", to: .erasures, at: start) == nil) }
        #expect(queue.add("erase", to: .erasures, at: start) == .full)
        #expect(begin().count == 2)
        #expect(queue.add("erase", to: .erasures, at: start) == .full)
        #expect(queue.add("mute", to: .others, at: start) == nil)
        queue.end(in: .erasures)
        #expect(queue.add("erase", to: .erasures, at: start) == nil)
    }

    @Test
    mutating func `a waiting command has a sign of life, and without one is dropped when its client has given up`() {
        for name in ["a", "b", "c", "d"] { #expect(queue.add(name, to: .erasures, at: start) == nil) }
        #expect(begin() == ["a", "b"])
        let told = queue.signOfLife(at: start + .seconds(10))
        #expect(told.map(\.work) == ["c", "d"] && told.map(\.ahead) == [2, 3])
        #expect(queue.add("e", to: .erasures, at: start + .seconds(20)) == nil)
        #expect(queue.begin(at: start + .seconds(25)).dropped.isEmpty)
        queue.end(in: .erasures)
        let late = queue.begin(at: start + .milliseconds(25_001))
        #expect(late.dropped == ["c", "d"] && late.begun.map(\.work) == ["e"])
    }

    @Test mutating func `a closed queue gives back what waits, and takes and begins nothing more`() {
        for name in ["a", "b", "c"] { #expect(queue.add(name, to: .erasures, at: start) == nil) }
        #expect(begin() == ["a", "b"])
        #expect(queue.close() == ["c"])
        queue.end(in: .erasures)
        #expect(begin().isEmpty)
        #expect(queue.add("d", to: .others, at: start) == .closed)
    }
}
