import Testing

@testable import Whiteboard

@Suite("Token bucket")
struct TokenBucketTests {
    private let start = Instant(nanoseconds: 0)

    @Test("Holds a burst of twice the rate, then refills at the rate, to the nanosecond")
    func burst() {
        var bucket = TokenBucket(rate: 200, at: start)
        for _ in 0..<400 {
            #expect(bucket.holds(1, at: start) == true)
            bucket.take(1)
        }
        #expect(bucket.holds(1, at: start) == false)
        #expect(bucket.holds(1, at: start + .nanoseconds(4_999_999)) == false)
        #expect(bucket.holds(1, at: start + .milliseconds(5)) == true)
        #expect(bucket.holds(2, at: start + .milliseconds(5)) == false)
    }

    @Test("Is never fuller than twice the rate, and takes nothing from a clock that goes back")
    func full() {
        var bucket = TokenBucket(rate: 10, at: start)
        #expect(bucket.holds(21, at: .distantFuture) == false)
        #expect(bucket.holds(20, at: .distantPast) == true)
        bucket.take(20)
        #expect(bucket.holds(1, at: .distantPast) == false)
    }

    @Test("Takes any rate that a configuration may name", arguments: [Int.min, 0, 1, 4_000_000_000, Int.max])
    func rates(_ rate: Int) {
        var bucket = TokenBucket(rate: rate, at: start)
        #expect(bucket.holds(2, at: start + .seconds(1)) == true)
        bucket.take(2)
        #expect(bucket.holds(1, at: start + .seconds(1_000_000)) == true)
    }
}
