import Hosting
import StrokeWire
import Synchronization
import TestSupport
import Testing
import Whiteboard

@testable import LecternServer

@Suite struct ListingDeskTests {
    /// Walks that end when they are told to, and who has got what.
    private final class Office: Sendable {
        private struct State: Sendable {
            var walks: [@Sendable ([RoomReport]) -> Void] = []
            var walkCount = 0
            var given: [String: Int] = [:]
            var refused: [String] = []
        }

        private let state = Locked(State())

        var ways: ListingDesk.Ways {
            ListingDesk.Ways(
                survey: { [self] found in
                    state.withLock { state in
                        state.walks.append(found)
                        state.walkCount += 1
                    }
                },
                send: { [self] _, reply in state.withLock { $0.given[reply, default: 0] += 1 } },
                refuse: { [self] reply, _ in state.withLock { $0.refused.append(reply) } })
        }

        var walkCount: Int { state.withLock { $0.walkCount } }
        var given: [String: Int] { state.withLock { $0.given } }
        var refused: [String] { state.withLock { $0.refused } }

        func endWalks(_ reports: [RoomReport]) {
            let walks = state.withLock { state in
                defer { state.walks = [] }
                return state.walks
            }
            for walk in walks { walk(reports) }
        }
    }

    private func report(_ name: String) throws -> RoomReport {
        let stored = StoredRoom(
            sequence: 1, handled: 1, cursors: [.main: 7], isQuiet: true, hasState: true, incarnation: "life")
        return RoomReport(stored, address: try ServerConfiguration().address(name))
    }

    @Test func `fifty who ask at once make one walk, and each gets the whole list`() async throws {
        let office = Office()
        let desk = ListingDesk(ways: office.ways)
        let names = (0..<50).map { "_INBOX.\($0)" }
        await withTaskGroup(of: Void.self) { group in
            for name in names { group.addTask { desk.ask(name) } }
        }
        #expect(office.walkCount == 1)
        #expect(office.given.isEmpty)
        office.endWalks(try (0..<450).map { try report("room-\($0)") })
        desk.close()
        #expect(office.walkCount == 1)
        #expect(office.given == Dictionary(uniqueKeysWithValues: names.map { ($0, 3) }))
        #expect(office.refused.isEmpty)
    }

    @Test func `a list is given out for a second, then it is made anew`() {
        var orders = ListingOrders()
        let start = Instant(nanoseconds: 1_000_000_000)
        var answers = (0..<3).map { orders.ask("\($0)", at: start) }
        #expect(answers == [.make, .wait, .wait])
        let waiting = orders.made([[1]], at: start + .seconds(2))
        #expect(waiting == ["0", "1", "2"])
        answers = [
            orders.ask("3", at: start + .milliseconds(2999)), orders.ask("4", at: start + .seconds(3)),
            orders.ask("5", at: start + .seconds(60)),
        ]
        #expect(answers == [.pages([[1]]), .make, .wait])
    }

    @Test func `who asks beyond the limit, or at the end, is refused and not kept waiting`() throws {
        let office = Office()
        let desk = ListingDesk(limit: 2, ways: office.ways)
        for name in ["a", "b", "c"] { desk.ask(name) }
        #expect(office.refused == ["c"])
        office.endWalks([try report("room")])
        desk.close()
        #expect(office.given == ["a": 1, "b": 1])
        desk.ask("d")
        #expect(office.refused == ["c", "d"])
        #expect(office.walkCount == 1)
    }

    @Test func `who still waits at the end is refused`() {
        let office = Office()
        let desk = ListingDesk(ways: office.ways)
        desk.ask("a")
        desk.ask("b")
        desk.close()
        #expect(office.refused == ["a", "b"])
        office.endWalks([])
        #expect(office.given.isEmpty)
    }
}
