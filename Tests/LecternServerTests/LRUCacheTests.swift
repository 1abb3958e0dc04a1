import Locking
import TestSupport
import Testing
import Whiteboard

@testable import LecternServer

@Suite struct LRUCacheTests {
    private func instant(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    @Test func `The newest value is kept beyond the limit where that is asked for`() {
        var cache = LRUCache<Int, String>(byteLimit: 10, keepsNewest: true)
        cache.insert("small", 0, bytes: 5, at: instant(1))
        cache.insert("large", 1, bytes: 50, at: instant(1))
        #expect(cache.value(0, at: instant(1)) == nil)
        #expect(cache.value(1, at: instant(1)) == "large")
        cache.insert("small", 2, bytes: 5, at: instant(1))
        #expect(cache.value(1, at: instant(1)) == nil)
        #expect(cache.byteCount == 5)
    }

    @Test func `Entries not used since an instant are evicted`() {
        var cache = LRUCache<Int, String>(byteLimit: 100)
        for key in 0..<4 { cache.insert("\(key)", key, bytes: 1, at: instant(Int64(key))) }
        #expect(cache.value(0, at: instant(10)) != nil)
        cache.evict(unusedSince: instant(3))
        #expect((0..<4).map { cache.value($0, at: instant(11)) != nil } == [true, false, false, true])
        cache.removeAll { $0 == 0 }
        #expect(cache.count == 1)
        cache.evictOldest()
        #expect(cache.isEmpty && cache.byteCount == 0)
        #expect(cache.evictOldest() == false)
    }

    @Test func `A cache holds what was inserted last, however it is used`() {
        for var generator in TestSeed.generators(50) {
            var cache = LRUCache<Int, Int>(byteLimit: 10_000)
            // The keys in the order of their use, and their bytes.
            var model: [(key: Int, bytes: Int)] = []
            for step in 0..<400 {
                let key = Int.random(in: 0..<40, using: &generator)
                let now = instant(Int64(step))
                let known = model.first { $0.key == key }
                model.removeAll { $0.key == key }
                if Bool.random(using: &generator) {
                    #expect(cache.value(key, at: now) == known?.bytes, "seed \(generator.seed)")
                    if let known { model.append(known) }
                } else {
                    let bytes = Int.random(in: 0...3000, using: &generator)
                    cache.insert(bytes, key, bytes: bytes, at: now)
                    while model.reduce(bytes, { $0 + $1.bytes }) > 10_000 { model.removeFirst() }
                    // One that is too large changes nothing.
                    cache.insert(0, -1, bytes: 10_001, at: now)
                    model.append((key, bytes))
                }
                #expect(cache.byteCount == model.reduce(0) { $0 + $1.bytes }, "seed \(generator.seed)")
                #expect(cache.count == model.count, "seed \(generator.seed)")
            }
        }
    }
}
