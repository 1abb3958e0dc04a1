import StrokeWire
import TestSupport
import Testing

@testable import LecternGateway

@Suite("Rates of authors")
struct AuthorRateTests {
    private func address(_ name: String) throws -> RoomAddress {
        RoomAddress(root: "ink", room: try #require(RoomID(name)), partitions: 1)
    }

    @Test("one who writes in very many rooms is refused alone, and only in further rooms")
    func manyRooms() throws {
        let rates = AuthorRates()
        let (one, other) = (try #require(AuthorID("one")), try #require(AuthorID("other")))
        var refused = 0
        for number in 0..<12_000 where rates.take(1, bytes: 1, of: one, in: try address("room-\(number)")) != nil {
            refused += 1
        }
        #expect(refused >= 12_000 - 100 * AuthorRates.roomsOfAuthor)
        #expect(rates.take(1, bytes: 1, of: other, in: try address("room-0")) == nil)
    }

    @Test("an author has the service's rates in each room")
    func rates() throws {
        let rates = AuthorRates()
        let one = try #require(AuthorID("one"))
        let (first, second) = (try address("first"), try address("second"))
        #expect(rates.take(AuthorRates.burst, bytes: 1, of: one, in: first) == nil)
        #expect(rates.take(AuthorRates.burst / 2, bytes: 1, of: one, in: first) != nil)
        #expect(rates.take(AuthorRates.burst, bytes: 1, of: one, in: second) == nil)
        #expect(rates.take(1, bytes: 4 << 20, of: one, in: try address("third")) == 2)
    }
}
