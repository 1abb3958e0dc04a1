import Foundation
import Hosting
import Journal
import Locking
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternServer

@Suite struct RoomListingTests {
    /// Scans that end when a test says so, and the replies.
    private final class Scans: Sendable {
        private struct State: Sendable {
            var started: [@Sendable (ScannedRooms) -> Void] = []
            var count = 0
            var given: [String: Int] = [:]
            var refused: [String] = []
        }

        private let state = Locked(State())

        func listing(limit: Int = 64) -> RoomListing {
            let sink = ReplySink(
                send: { [self] _, _, reply in state.withLock { $0.given[reply, default: 0] += 1 } },
                refuse: { [self] reply, _ in state.withLock { $0.refused.append(reply) } })
            return RoomListing(service: "a", partitions: 1, limit: limit, sink: sink) { [self] found in
                state.withLock { state in
                    state.started.append(found)
                    state.count += 1
                }
            }
        }

        var count: Int { state.withLock { $0.count } }
        var given: [String: Int] { state.withLock { $0.given } }
        var refused: [String] { state.withLock { $0.refused } }

        func end(_ reports: [RoomSummary]) {
            let started = state.withLock { state in
                defer { state.started = [] }
                return state.started
            }
            for end in started { end(ScannedRooms(rooms: reports, covered: [0])) }
        }
    }

    private func report(_ name: String) throws -> RoomSummary {
        let stored = StoredRoom(
            sequence: 1, handled: 1, cursors: [.main: 7], isQuiet: true, hasState: true, incarnation: "life")
        return RoomSummary(stored, address: try ServerConfiguration().address(name), CohortsConfiguration())
    }

    @Test func `fifty requests at once cause one scan, and each gets the whole list`() async throws {
        let scans = Scans()
        let listing = scans.listing()
        let names = (0..<50).map { "_INBOX.\($0)" }
        await withTaskGroup(of: Void.self) { group in for name in names { group.addTask { listing.ask(name) } } }
        #expect(scans.count == 1)
        #expect(scans.given.isEmpty)
        let reports = try (0..<3000).map { try report("room-\($0)") }
        let pages = RoomList.pages(of: reports, service: "a", partitions: 1, covered: [0], bytes: ReplySender.partBytes)
            .count
        scans.end(reports)
        listing.close()
        #expect(scans.count == 1)
        #expect(pages > 1 && scans.given == Dictionary(uniqueKeysWithValues: names.map { ($0, pages) }))
        #expect(scans.refused.isEmpty)
    }

    @Test func `each page of the list is one message, however many cohorts the rooms have`() throws {
        let long = String(repeating: "c", count: 60)
        let last = UInt64(Int64.max - 1)
        let cursors = try (0..<256).map { (try #require(CohortName("\(long)-\($0)")), CohortCursor(last)) }
        let stored = StoredRoom(
            sequence: 1, handled: 1, cursors: Dictionary(uniqueKeysWithValues: cursors), isQuiet: true, hasState: true,
            incarnation: "life")
        let names = (0..<100).map { "room-\($0)" }
        let reports = try names.map {
            RoomSummary(stored, address: try ServerConfiguration().address($0), CohortsConfiguration())
        }
        let covered = Array(0..<1024)
        let pages = RoomList.pages(
            of: reports, service: "a", partitions: 1025, covered: covered, bytes: ReplySender.partBytes)
        #expect(pages.count > 1 && pages.allSatisfy { $0.count <= ReplySender.partBytes })
        let lists = try pages.map { try RoomList(decoding: $0) }
        #expect(lists.flatMap { $0.rooms.map(\.room) } == names)
        #expect(
            lists.map(\.page)
                == (1...pages.count).map {
                    RoomList.Page(service: "a", number: $0, count: pages.count, partitions: 1025, covered: covered)
                })
    }

    @Test func `a list answers requests for a second, then it is made again`() {
        var pending = PendingListings()
        let start = Instant(nanoseconds: 1_000_000_000)
        var answers = (0..<3).map { pending.request("\($0)", at: start) }
        #expect(answers == [.make, .wait, .wait])
        let waiting = pending.complete([[1]], at: start + .seconds(2))
        #expect(waiting == ["0", "1", "2"])
        answers = [
            pending.request("3", at: start + .milliseconds(2999)), pending.request("4", at: start + .seconds(3)),
            pending.request("5", at: start + .seconds(60)),
        ]
        #expect(answers == [.pages([[1]]), .make, .wait])
    }

    @Test func `requests beyond the limit, or after closing, are refused at once`() throws {
        let scans = Scans()
        let listing = scans.listing(limit: 2)
        for name in ["a", "b", "c"] { listing.ask(name) }
        #expect(scans.refused == ["c"])
        scans.end([try report("room")])
        listing.close()
        #expect(scans.given == ["a": 1, "b": 1])
        listing.ask("d")
        #expect(scans.refused == ["c", "d"])
        #expect(scans.count == 1)
    }

    @Test func `closing refuses the requests that wait`() {
        let scans = Scans()
        let listing = scans.listing()
        listing.ask("a")
        listing.ask("b")
        listing.close()
        #expect(scans.refused == ["a", "b"])
        scans.end([])
        #expect(scans.given.isEmpty)
    }
}

@Suite struct RoomScanTests {
    @Test func `a scan covers the partitions that were served from its first turn to its last`() {
        let found = Locked<[ScannedRooms]>([])
        let scan = RoomScan(workers: 2) { rooms in found.withLock { $0.append(rooms) } }
        scan.add([], serving: [0, 1, 2], isLast: false)
        scan.add([], serving: [0, 2], isLast: true)
        scan.add([], serving: [0, 1, 2, 3], isLast: false)
        #expect(found.withLock { $0.isEmpty })
        scan.add([], serving: [0, 1, 2, 3], isLast: true)
        #expect(found.withLock { $0.map(\.covered) } == [[0, 2]])
    }

    @Test func `a scan of more rooms than a list may have is bounded in bytes and covers nothing`() {
        let found = Locked<ScannedRooms?>(nil)
        let scan = RoomScan(workers: 1) { rooms in found.withLock { $0 = rooms } }
        let muted = [String](repeating: String(repeating: "a", count: 64), count: 256)
        let longest = RoomSummary(room: "room", address: "ink.0.room", index: 7, muted: muted, cohorts: [])
        let size = longest.encoded().count
        for turn in 0...RoomScan.maxBytes / (64 * size) {
            scan.add(Array(repeating: longest, count: 64), serving: [0], isLast: false)
            #expect(found.withLock { $0 == nil }, "turn \(turn)")
        }
        scan.add([longest], serving: [0], isLast: true)
        let end = found.withLock { $0 }
        #expect(end?.covered.isEmpty == true)
        #expect(RoomScan.maxBytes - 64 * size...RoomScan.maxBytes ~= (end?.rooms.count ?? 0) * size)
    }

    /// The scan's result when another item was handled.
    private struct Progress: Sendable {
        var found: Int?
        var passed = false
        var foundWhenPassed: Int?
    }

    @Test func `a worker handles other items during a scan of its rooms`() async throws {
        let configuration = ServerConfiguration.test { $0.workers = 1 }
        let connection = NATSConnection(NATSSettings(url: "nats://127.0.0.1:1"), logger: .silent)
        let rooms = 10 * RoomScan.stride + 1
        let progress = Locked(Progress())
        try await WorkerPool.with(configuration, connection) { worker in
            for number in 1...rooms {
                try worker.deliver(Hand.stroke(1, at: 0), sequence: number, in: .test("room-\(number)"))
            }
            let scan = RoomScan(workers: 1) { found in progress.withLock { $0.found = found.rooms.count } }
            worker.post(.scan(scan, remaining: nil))
            let note = { @Sendable in
                progress.withLock { progress in
                    progress.passed = true
                    progress.foundWhenPassed = progress.found
                }
            }
            worker.post(.partition(.barrier(pass: note)))
        } _: {
            let found = try await eventually("the scan ends") { progress.withLock { $0.found } }
            #expect(found == rooms)
            let end = progress.withLock { $0 }
            #expect(end.passed && end.foundWhenPassed == nil)
        }
    }
}
