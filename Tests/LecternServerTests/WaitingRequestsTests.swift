import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternServer

@Suite struct WaitingRequestsTests {
    private func request(_ room: String) throws -> RoomRequest {
        let address = try ServerConfiguration().address(room)
        return RoomRequest(kind: .info, address: address, payload: [], reply: "_INBOX.\(room)")
    }

    @Test func `a request that is put back again and again ends five seconds after it came`() throws {
        var waiting = WaitingRequests(limit: 10)
        let request = try request("algebra")
        let start = Instant(nanoseconds: 0)
        var isAdded = waiting.add(WaitingRequests.Entry(request: request, since: start))
        #expect(isAdded)
        for tick in 1...9 {
            let taken = waiting.take(request.address.room, at: start + .milliseconds(500 * tick))
            #expect(taken.count == 1)
            for entry in taken {
                isAdded = waiting.add(entry)
                #expect(isAdded)
            }
        }
        let late = waiting.take(request.address.room, at: start + .seconds(5))
        #expect(late.isEmpty)
        #expect(waiting.rooms.isEmpty)
    }

    @Test func `beyond the limit a newcomer is refused, until one that waits is taken`() throws {
        var waiting = WaitingRequests(limit: 2)
        let start = Instant(nanoseconds: 0)
        let entries = try ["algebra", "botany", "chess"].map {
            WaitingRequests.Entry(request: try request($0), since: start)
        }
        let added = entries.map { waiting.add($0) }
        #expect(added == [true, true, false])
        let taken = waiting.take(entries[0].request.address.room, at: start)
        #expect(taken.count == 1)
        let isAdded = waiting.add(entries[2])
        #expect(isAdded)
    }
}
