import StrokeWire
import Testing

@testable import LecternGateway

@Suite("Rates of authors") struct AuthorRateTests {
    private func address(_ name: String) throws -> RoomAddress {
        RoomAddress(root: "ink", room: try #require(RoomID(name)), partitions: 1)
    }

    @Test func `one who writes in very many rooms is refused alone, and only in further rooms`() throws {
        let rates = AuthorRates(PostLimits())
        let (one, other) = (try #require(AuthorID("one")), try #require(AuthorID("other")))
        var refused = 0
        for number in 0..<12_000 where rates.take(1, bytes: 1, of: one, in: try address("room-\(number)")) != nil {
            refused += 1
        }
        #expect(refused >= 12_000 - 100 * AuthorRates.roomsOfAuthor)
        #expect(rates.take(1, bytes: 1, of: other, in: try address("room-0")) == nil)
    }

    @Test func `a second makes room for newcomers where all places are taken`() throws {
        let rates = AuthorRates(PostLimits())
        let now = ContinuousClock.now
        let rooms = try (0..<AuthorRates.roomsOfAuthor).map { try address("room-\($0)") }
        for number in 0..<AuthorRates.bound / AuthorRates.roomsOfAuthor {
            let author = try #require(AuthorID("author-\(number)"))
            #expect(rooms.allSatisfy { rates.take(1, bytes: 1, of: author, in: $0, at: now) == nil })
        }
        let late = try #require(AuthorID("late"))
        #expect(rates.take(1, bytes: 1, of: late, in: rooms[0], at: now) == 1)
        // All would have room by now; not each request looks through all of them.
        #expect(rates.take(1, bytes: 1, of: late, in: rooms[0], at: now + .milliseconds(900)) == 1)
        #expect(rates.take(1, bytes: 1, of: late, in: rooms[0], at: now + .seconds(1)) == nil)
    }

    @Test func `an author has the service's rates in each room`() throws {
        let rates = AuthorRates(PostLimits())
        let burst = 2 * PostLimits().messagesPerSecond
        let one = try #require(AuthorID("one"))
        let (first, second) = (try address("first"), try address("second"))
        #expect(rates.take(burst, bytes: 1, of: one, in: first) == nil)
        #expect(rates.take(burst / 2, bytes: 1, of: one, in: first) != nil)
        #expect(rates.take(burst, bytes: 1, of: one, in: second) == nil)
    }

    @Test func `an author has the rates that are configured, and is told them`() throws {
        let rates = AuthorRates(PostLimits(messagesPerSecond: 1000, bytesPerSecond: 50_000))
        let one = try #require(AuthorID("one"))
        let room = try address("first")
        #expect(rates.take(2000, bytes: 1, of: one, in: room) == nil)
        #expect(rates.take(2000, bytes: 1, of: one, in: room) == 2)
        #expect(rates.refusal == "The author sends more than 1000 messages or 50000 bytes a second.")
    }

    @Test func `a body that is more than any burst passes once, and what follows waits for all of it`() throws {
        let rates = AuthorRates(PostLimits(messagesPerSecond: 10, bytesPerSecond: 100_000))
        let one = try #require(AuthorID("one"))
        let (bytes, messages) = (try address("bytes"), try address("messages"))
        #expect(rates.take(1, bytes: 1 << 20, of: one, in: bytes) == nil)
        let wait = try #require(rates.take(1, bytes: 1, of: one, in: bytes))
        #expect((8...9).contains(wait))
        #expect(rates.take(64, bytes: 1, of: one, in: messages) == nil)
        #expect(rates.take(1, bytes: 1, of: one, in: messages) == 5)
    }
}
